//! What only a test bank has: the messages it would have sent, and a clock that can be moved.
//!
//! Elsewhere these routes do not exist: the router leaves them out, so that they answer like any unknown path.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::State;
use bursar_commands::journal::{StoreError, head, recall, remember};
use bursar_commands::messages::{self, Messenger, NotSent};
use bursar_domain::Clock as _;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::Value;
use sqlx::PgPool;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::openapi::PublicProblems;
use crate::problem::Problem;
use crate::request::{Queried, Search, Submission};
use crate::sources::BankClock;
use crate::{query, request};

/// Where a moved clock is remembered, so that a restart does not set it back.
const CLOCK: &str = "sandbox_clock";
/// Messages kept; the oldest go first.
const MOST: usize = 1_000;
/// The clock is moved at most this far at once.
const FARTHEST: SignedDuration = SignedDuration::from_hours(24 * 366 * 10);

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_sandbox_messages)).routes(routes!(move_clock))
}

/// The time a test bank's clock starts at: never before its log, nor before where it was moved to.
///
/// # Errors
/// When the store cannot be reached.
pub async fn restore(clock: &BankClock, pool: &PgPool) -> Result<(), StoreError> {
    let moved = recall(pool, CLOCK).await?.and_then(|text| String::from_utf8(text).ok()?.parse().ok());
    let (_, recorded) = head(pool).await?;
    clock.set(clock.now().max(recorded).max(moved.unwrap_or(recorded)));
    Ok(())
}

/// A message to a customer.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// `SMS`, `EMAIL` or `PUSH`.
    pub channel: &'static str,
    /// Email address or phone number.
    pub to: String,
    /// What it is about.
    pub subject: String,
    /// What people read.
    pub body: String,
    /// What it is for: `code`, `token`, `link` ...
    pub data: Value,
    /// When.
    pub sent_at: Timestamp,
}

/// The test bank's outbox and clock.
#[derive(Debug)]
pub struct Sandbox {
    clock: Arc<BankClock>,
    /// Each by its id, which is the same at every try.
    messages: Mutex<VecDeque<(String, Message)>>,
}

impl Sandbox {
    /// An empty outbox, and the clock to move.
    #[must_use]
    pub fn new(clock: Arc<BankClock>) -> Self {
        Self { clock, messages: Mutex::default() }
    }

    /// Keeps a message instead of sending it; one that it has already is dropped, as a gateway would.
    pub fn keep(&self, id: String, message: Message) {
        let mut messages = self.messages();
        if messages.iter().any(|(known, _)| *known == id) {
            return;
        }
        if messages.len() >= MOST {
            messages.pop_front();
        }
        messages.push_back((id, message));
    }

    /// The messages to somebody, or to everybody, newest first.
    #[must_use]
    pub fn sent(&self, to: Option<&str>) -> Vec<Message> {
        let messages = self.messages();
        let theirs = messages.iter().rev().map(|(_, message)| message);
        theirs.filter(|m| to.is_none_or(|to| m.to == to)).cloned().collect()
    }

    fn messages(&self) -> MutexGuard<'_, VecDeque<(String, Message)>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Messenger for Sandbox {
    fn carries(&self, _: messages::Channel) -> bool {
        true
    }

    fn send(&self, message: messages::Message) -> BoxFuture<'_, Result<(), NotSent>> {
        let messages::Message { id, channel, to, subject, body, data } = message;
        let channel = channel.as_str();
        self.keep(id, Message { channel, to, subject, body, data, sent_at: self.clock.now() });
        ready(Ok(())).boxed()
    }
}

fn sandbox(app: &App) -> Result<&Sandbox, Problem> {
    app.sandbox.as_deref().ok_or_else(|| Problem::not_found("resource"))
}

/// Messages "sent".
#[derive(Debug, Serialize, ToSchema)]
pub struct Messages {
    messages: Vec<Message>,
}

query! {
    /// Whose messages.
    MessageQuery {
        /// Email address or phone number.
        to: Search = "to",
    }
}

/// Sandbox: the codes and mails the bank would have sent, newest first.
#[utoipa::path(
    get, path = "/v1/sandbox/messages", tag = "Sandbox", security(()), params(MessageQuery),
    responses((status = 200, description = "The messages.", body = Messages), PublicProblems)
)]
async fn list_sandbox_messages(
    State(app): State<App>,
    Queried(query): Queried<MessageQuery>,
) -> Result<Answer<Messages>, Problem> {
    Ok(Answer::ok(Messages { messages: sandbox(&app)?.sent(query.to.0.as_deref()) }))
}

request! {
    /// By how much, or to when, the clock moves forward; one of the two.
    ClockRequest {
        /// ISO 8601 duration, such as `P1D`.
        advance: Option<SignedDuration> = "advance",
        /// A time in the future.
        to: Option<Timestamp> = "to",
    }
}

/// The bank's time.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClockResult {
    now: Timestamp,
}

/// Sandbox: moves the bank's clock forward.
#[utoipa::path(
    post, path = "/v1/sandbox/clock", tag = "Sandbox", security(()), request_body = ClockRequest,
    responses((status = 200, description = "Moved.", body = ClockResult), PublicProblems)
)]
async fn move_clock(
    State(app): State<App>,
    submission: Submission<ClockRequest>,
) -> Result<Answer<ClockResult>, Problem> {
    let clock = &sandbox(&app)?.clock;
    let body = submission.body;
    let step = match (body.advance, body.to) {
        (Some(step), None) => step,
        (None, Some(to)) => to.duration_since(clock.now()),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Problem::bad_request("/advance", "CONFLICT", "give advance or to, one of them"));
        }
    };
    if step.is_negative() || step > FARTHEST {
        let message = "the clock moves forward, at most ten years at once";
        return Err(Problem::bad_request("/advance", "OUT_OF_RANGE", message));
    }
    clock.advance(step);
    // What is due by now is done, and can be read, before anybody looks. The clock has moved however long that takes.
    app.processes.run_due().await?;
    drop(app.caught_up(&[]).await);
    let now = clock.now();
    remember(&app.pool, CLOCK, now.to_string().as_bytes()).await?;
    Ok(Answer::ok(ClockResult { now }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outbox_is_bounded_and_newest_first() {
        let sandbox = Sandbox::new(Arc::default());
        for n in 0..MOST + 5 {
            let message = Message {
                channel: "EMAIL",
                to: if n % 2 == 0 { "ada" } else { "bola" }.to_owned(),
                subject: n.to_string(),
                body: String::new(),
                data: Value::Null,
                sent_at: Timestamp::UNIX_EPOCH,
            };
            sandbox.keep(n.to_string(), message.clone());
            sandbox.keep(n.to_string(), message);
        }
        assert_eq!(sandbox.sent(None).len(), MOST);
        assert_eq!(sandbox.sent(Some("ada"))[0].subject, (MOST + 4).to_string());
        assert_eq!(sandbox.sent(Some("ada")).len(), MOST / 2);
    }
}
