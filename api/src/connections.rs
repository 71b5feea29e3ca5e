//! Connections: each is taken, gets so long to say what it wants, and is let go when the server stops.

use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::serve::Listener;
use hyper::Request;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpStream;
use tokio::sync::watch;

/// Answers everybody who comes by `listener` until `stop` is ready, and then those whose requests are under way. Who has not
/// sent the headers of a request after `patience` is cut off, be it their first or their next one.
pub async fn serve(
    mut listener: impl Listener<Io = TcpStream, Addr = SocketAddr>,
    router: Router,
    patience: Duration,
    stop: impl Future<Output = ()>,
) {
    let mut http = Builder::new(TokioExecutor::new());
    http.http1().timer(TokioTimer::new()).header_read_timeout(patience);
    let router = TowerToHyperService::new(router);
    let (stopping, _) = watch::channel(false);
    let mut stop = pin!(stop);
    loop {
        let (stream, address) = tokio::select! {
            came = listener.accept() => came,
            () = stop.as_mut() => break,
        };
        tokio::spawn(connection(
            http.clone(),
            router.clone(),
            stream,
            address,
            patience,
            stopping.subscribe(),
        ));
    }
    drop(listener);
    stopping.send_replace(true);
    stopping.closed().await;
}

async fn connection(
    http: Builder<TokioExecutor>,
    router: TowerToHyperService<Router>,
    stream: TcpStream,
    address: SocketAddr,
    patience: Duration,
    mut stopping: watch::Receiver<bool>,
) {
    let asks = Arc::new(AtomicBool::new(false));
    let has_asked = Arc::clone(&asks);
    let service = service_fn(move |mut request: Request<Incoming>| {
        asks.store(true, Ordering::Relaxed);
        request.extensions_mut().insert(ConnectInfo(address));
        router.call(request)
    });
    let mut served = pin!(http.serve_connection(TokioIo::new(stream), service));
    // The timer of HTTP/1 runs once it is known that it is HTTP/1, and HTTP/2 has none.
    let mut first = pin!(tokio::time::sleep(patience));
    let (mut is_first, mut is_stopping) = (true, false);
    loop {
        tokio::select! {
            biased;
            ended = served.as_mut() => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ends");
                }
                return;
            }
            // An error is a server that is gone.
            _ = stopping.wait_for(|stopping| *stopping), if !is_stopping => {
                is_stopping = true;
                served.as_mut().graceful_shutdown();
            }
            () = first.as_mut(), if is_first => {
                is_first = false;
                if !has_asked.load(Ordering::Relaxed) {
                    return;
                }
            }
        }
    }
}
