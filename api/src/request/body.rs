//! From bytes to a checked request.

use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody as _};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::Value;

use super::fields::Field;
use crate::problem::Problem;

/// The bytes of a JSON body. A DELETE may go without one, and so may whatever asks for nothing in it: it is then an empty
/// object.
///
/// # Errors
/// 415 when it is not JSON, 413 above `most` bytes, 400 when the client stops half-way.
pub async fn read(
    parts: &Parts,
    mut body: Body,
    most: usize,
    asks_for_nothing: bool,
) -> Result<Bytes, Problem> {
    if (parts.method == Method::DELETE || asks_for_nothing) && body.is_end_stream() {
        return Ok(Bytes::from_static(b"{}"));
    }
    if !is_json(&parts.headers) {
        let detail = "the body must be JSON, with Content-Type: application/json";
        return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED_MEDIA_TYPE", detail));
    }
    match Limited::new(&mut body, most).collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            pass_over(body).await;
            let detail = format!("the body has more than {most} bytes");
            Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "TOO_LARGE", detail))
        }
        Err(_) => Err(Problem::bad_request("", "INCOMPLETE", "the body ended early")),
    }
}

/// How much of a body that is too large is read and thrown away, in bytes, and for how long.
const PASSED_OVER: usize = 16 * 1024 * 1024;
const HEARD_OUT: Duration = Duration::from_secs(3);

/// Whoever is still sending when the connection ends never hears why: a client that means no harm is heard out.
async fn pass_over(mut body: Body) {
    let rest = async {
        let mut passed = 0;
        while let Some(Ok(frame)) = body.frame().await {
            passed += frame.data_ref().map_or(0, Bytes::len);
            if passed > PASSED_OVER {
                return;
            }
        }
    };
    // It may have stopped to hear us.
    drop(tokio::time::timeout(HEARD_OUT, rest).await);
}

/// The request in `bytes`.
///
/// # Errors
/// 400 with every field that is wrong.
pub fn parse<T: Field>(bytes: &[u8]) -> Result<T, Problem> {
    let value: Value = serde_json::from_slice(bytes).map_err(|e| {
        // The message names line and column, never the text.
        let message = format!("not JSON: line {} column {}", e.line(), e.column());
        Problem::bad_request("", "MALFORMED_JSON", message)
    })?;
    T::read(value).map_err(Problem::invalid)
}

fn is_json(headers: &HeaderMap) -> bool {
    let Some(Ok(media)) = headers.get(CONTENT_TYPE).map(|value| value.to_str()) else { return false };
    let media = media.split(';').next().unwrap_or("").trim();
    media.eq_ignore_ascii_case("application/json")
}
