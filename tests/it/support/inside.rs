//! The router without a network: a request is a future, which can be dropped anywhere.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

use axum::body::to_bytes;
use bursar_api::app::App;
use tower::ServiceExt as _;

use super::client::{Answer, Request};

/// A server's answer.
pub async fn answer(app: &App, request: Request) -> Answer {
    let response = bursar_api::router(app.clone()).oneshot(request.into_http()).await.unwrap();
    let (parts, body) = response.into_parts();
    let text = String::from_utf8_lossy(&to_bytes(body, usize::MAX).await.unwrap()).into_owned();
    let body = serde_json::from_str(&text).unwrap_or_default();
    Answer { status: parts.status.as_u16(), headers: parts.headers, text, body }
}

/// Polls the future so many times, whenever it asks to be, and then drops it. None when it was not ready by then.
pub async fn polled<F: Future>(future: F, mut times: usize) -> Option<F::Output> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        times -= 1;
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending if times == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}
