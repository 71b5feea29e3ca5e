//! Telling an address one thing: the request, its signature, and what is made of the answer.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::hmac;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bursar_domain::kernel::WebhookId;
use bursar_domain::webhooks::Endpoint;
use jiff::fmt::rfc2822;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::RETRY_AFTER;
use reqwest::redirect::Policy;
use reqwest::{Response, StatusCode, Url};

use super::guard::{Blocked, Guard, Lookup};
use crate::keys::Keys;

/// How long an address gets to answer.
const PATIENCE: Duration = Duration::from_secs(15);
/// Bytes of an answer that are kept.
const KEPT: usize = 500;

/// There can be no HTTP client.
#[derive(Debug, thiserror::Error)]
#[error("webhooks cannot be called: {0}")]
pub struct NoClient(#[from] reqwest::Error);

/// What became of a try.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Attempted {
    /// The status and the beginning of the answer, or why there was none.
    pub(super) answer: Result<(u16, String), &'static str>,
    /// How long the other side wants to be left alone, if it says so.
    pub(super) wait: Option<SignedDuration>,
}

impl Attempted {
    pub(super) const fn unanswered(reason: &'static str) -> Self {
        Self { answer: Err(reason), wait: None }
    }

    pub(super) fn is_taken(&self) -> bool {
        matches!(self.answer, Ok((200..=299, _)))
    }

    pub(super) fn is_gone(&self) -> bool {
        matches!(self.answer, Ok((410, _)))
    }
}

/// Calls addresses.
pub(super) struct Sender {
    client: reqwest::Client,
    guard: Guard,
    keys: Arc<Keys>,
}

impl Sender {
    pub(super) fn new(keys: Arc<Keys>, lookup: Arc<dyn Lookup>, private_too: bool) -> Result<Self, NoClient> {
        let guard = Guard::new(lookup, private_too);
        let client = reqwest::Client::builder()
            .timeout(PATIENCE)
            // A redirect is another address, which nobody has asked for; a proxy would look names up by itself.
            .redirect(Policy::none())
            .no_proxy()
            .user_agent(concat!("bursar/", env!("CARGO_PKG_VERSION")))
            .pool_max_idle_per_host(2)
            .dns_resolver(guard.clone())
            .build()?;
        Ok(Self { client, guard, keys })
    }

    /// Tells an address something. The id is the same at every try; the signature is made anew.
    pub(super) async fn send(
        &self,
        id: WebhookId,
        endpoint: &Endpoint,
        message: &str,
        body: String,
        now: Timestamp,
    ) -> Attempted {
        // It was checked when it was written.
        let Ok(url) = Url::parse(&endpoint.settings.url) else {
            return Attempted::unanswered("UNREACHABLE");
        };
        if !self.guard.admits_literal(&url) {
            return Attempted::unanswered("BLOCKED_ADDRESS");
        }
        let timestamp = now.as_second().to_string();
        let signatures = endpoint.generations(now).map(|generation| {
            sign(self.keys.webhook_secret(id, generation).as_slice(), message, &timestamp, &body)
        });
        let request = self
            .client
            .post(url)
            .header("content-type", "application/json")
            .header("webhook-id", message)
            .header("webhook-timestamp", &timestamp)
            .header("webhook-signature", signatures.collect::<Vec<_>>().join(" "));
        match request.body(body).send().await {
            Ok(answer) => {
                let (status, wait) = (answer.status(), wait(&answer, now));
                Attempted { answer: Ok((status.as_u16(), beginning(answer).await)), wait }
            }
            Err(error) => Attempted::unanswered(reason(&error)),
        }
    }
}

/// One signature of Standard Webhooks: HMAC-SHA256 over id, time and body.
fn sign(secret: &[u8], message: &str, timestamp: &str, body: &str) -> String {
    let mut signed = hmac::Context::with_key(&hmac::Key::new(hmac::HMAC_SHA256, secret));
    for part in [message, ".", timestamp, ".", body] {
        signed.update(part.as_bytes());
    }
    format!("v1,{}", BASE64.encode(signed.sign()))
}

/// How long a server that is too busy wants to be left alone (RFC 9110, `Retry-After`): seconds, or until a date.
fn wait(answer: &Response, now: Timestamp) -> Option<SignedDuration> {
    let is_busy = matches!(answer.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE);
    let said = answer.headers().get(RETRY_AFTER).filter(|_| is_busy)?.to_str().ok()?;
    until(said.trim(), now)
}

fn until(said: &str, now: Timestamp) -> Option<SignedDuration> {
    if !said.is_empty() && said.bytes().all(|byte| byte.is_ascii_digit()) {
        // More than fits is for ever, which whoever asks shortens.
        return Some(said.parse().map_or(SignedDuration::MAX, SignedDuration::from_secs));
    }
    let date = rfc2822::DateTimeParser::new().parse_timestamp(said).ok()?;
    Some(date.duration_since(now)).filter(SignedDuration::is_positive)
}

/// The first bytes of an answer, as text; the rest is not read.
async fn beginning(mut answer: Response) -> String {
    let mut bytes = Vec::new();
    while bytes.len() < KEPT {
        match answer.chunk().await {
            Ok(Some(chunk)) => bytes.extend_from_slice(chunk.get(..KEPT).unwrap_or(&chunk)),
            Ok(None) | Err(_) => break,
        }
    }
    bytes.truncate(KEPT);
    let text = String::from_utf8_lossy(&bytes);
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}

/// Why there was no answer, in a word: nothing that the other side has said.
fn reason(error: &reqwest::Error) -> &'static str {
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(error) = cause {
        if error.is::<Blocked>() {
            return "BLOCKED_ADDRESS";
        }
        cause = error.source();
    }
    if error.is_timeout() { "TIMEOUT" } else { "UNREACHABLE" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_is_that_of_the_specification() {
        // The vector of the reference libraries.
        let secret = BASE64.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let signed = sign(&secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", r#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn who_is_busy_says_seconds_or_a_date() {
        let now: Timestamp = "1994-11-06T08:49:00Z".parse().unwrap();
        for (said, seconds) in [
            ("120", Some(120)),
            ("0", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(37)),
            ("Sun, 06 Nov 1994 08:48:37 GMT", None),
            ("", None),
            ("-5", None),
            ("1.5", None),
            ("soon", None),
        ] {
            assert_eq!(until(said, now), seconds.map(SignedDuration::from_secs), "{said}");
        }
        assert_eq!(until("99999999999999999999", now), Some(SignedDuration::MAX));
    }
}
