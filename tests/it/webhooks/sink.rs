//! Whoever is told: an HTTP server that writes down what it hears, and answers as the test wants.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_lc_rs::hmac;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::Value;
use tokio::net::TcpListener;

/// One thing heard.
#[derive(Debug, Clone)]
pub struct Heard {
    pub id: String,
    pub timestamp: String,
    pub signature: String,
    pub body: String,
}

impl Heard {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub fn event_type(&self) -> String {
        self.json()["type"].as_str().unwrap().to_owned()
    }

    /// The check of the specification, written without a look at what signs.
    pub fn is_signed_by(&self, secret: &str) -> bool {
        let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
        let signed = format!("{}.{}.{}", self.id, self.timestamp, self.body);
        self.signature.split(' ').any(|signature| {
            let Some(tag) = signature.strip_prefix("v1,").and_then(|tag| BASE64.decode(tag).ok()) else {
                return false;
            };
            hmac::verify(&key, signed.as_bytes(), &tag).is_ok()
        })
    }
}

/// What is answered.
#[derive(Debug, Clone)]
pub enum Say {
    Status(u16),
    /// Not now, but after what `Retry-After` says.
    Busy(u16, String),
    /// Goes on for ever.
    Flood,
    /// To where it was told.
    Redirect,
    /// Only after this long.
    Late(Duration),
}

#[derive(Clone, Default)]
struct Mind {
    heard: Arc<Mutex<Vec<Heard>>>,
    says: Arc<Mutex<VecDeque<Say>>>,
    always: Arc<Mutex<Option<Say>>>,
}

/// The server.
pub struct Sink {
    pub address: SocketAddr,
    mind: Mind,
}

impl Sink {
    pub async fn open() -> Self {
        let mind = Mind::default();
        let router = Router::new().route("/{*any}", post(hear)).with_state(mind.clone());
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, mind }
    }

    pub fn url(&self) -> String {
        format!("http://{}/hooks", self.address)
    }

    /// Answers the next requests so; then 204, or what it says always.
    pub fn next(&self, says: &[Say]) {
        self.mind.says.lock().unwrap().extend(says.iter().cloned());
    }

    pub fn always(&self, say: Say) {
        *self.mind.always.lock().unwrap() = Some(say);
    }

    pub fn heard(&self) -> Vec<Heard> {
        self.mind.heard.lock().unwrap().clone()
    }

    /// What it has heard, once it is so much.
    pub async fn hears(&self, least: usize) -> Vec<Heard> {
        for _ in 0..1_000 {
            let heard = self.heard();
            if heard.len() >= least {
                return heard;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("heard {} of {least}", self.heard().len());
    }
}

async fn hear(State(mind): State<Mind>, headers: HeaderMap, body: Bytes) -> Response {
    let header = |name: &str| headers[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "application/json");
    mind.heard.lock().unwrap().push(Heard {
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp"),
        signature: header("webhook-signature"),
        body: String::from_utf8(body.to_vec()).unwrap(),
    });
    let next = mind.says.lock().unwrap().pop_front();
    let always = mind.always.lock().unwrap().clone();
    match next.or(always) {
        None => StatusCode::NO_CONTENT.into_response(),
        Some(Say::Status(status)) => (StatusCode::from_u16(status).unwrap(), "said\nso").into_response(),
        Some(Say::Busy(status, after)) => {
            (StatusCode::from_u16(status).unwrap(), [("retry-after", after)]).into_response()
        }
        Some(Say::Redirect) => (StatusCode::TEMPORARY_REDIRECT, [("location", "/elsewhere")]).into_response(),
        Some(Say::Late(late)) => {
            tokio::time::sleep(late).await;
            StatusCode::NO_CONTENT.into_response()
        }
        Some(Say::Flood) => {
            let chunks = futures_util::stream::repeat_with(|| {
                Ok::<_, std::io::Error>(Bytes::from(vec![b'x'; 65_536]))
            });
            (StatusCode::INTERNAL_SERVER_ERROR, axum::body::Body::from_stream(chunks)).into_response()
        }
    }
}
