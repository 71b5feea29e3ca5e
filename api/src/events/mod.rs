//! A person's own events, as they happen: server-sent events (HTML Living Standard, section 9.2).

mod streams;

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::sse::{Event as Frame, Sse};
use axum::response::{IntoResponse as _, Response};
use bursar_domain::Position;
use bursar_domain::kernel::UserId;
use futures_util::stream::unfold;
use tokio::sync::mpsc;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::auth::{Allowed, AuditRead, ReadAccount, permit};
use crate::openapi::ReadProblems;
use crate::problem::Problem;
use crate::query;
use crate::request::{After, Field as _, Queried};
pub use streams::{Said, Seat, Streams};

/// Frames that wait for the network.
const WAITING: usize = 16;
/// How often is looked whether the caller may still listen.
const LOOK: Duration = Duration::from_secs(1);
/// Looks between two signs of life.
const QUIET: u32 = 15;
/// How long a caller may take nothing.
const STUCK: Duration = Duration::from_secs(30);

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(stream_events))
}

query! {
    /// What is listened to.
    StreamQuery {
        /// Events after this position of the log, 0 for all; only new ones when absent. `Last-Event-ID` comes first.
        after: Option<After> = "after",
        /// Staff with `AUDIT_READ`: whose events; the caller's own when absent.
        user: Option<UserId> = "userId",
    }
}

/// Streams the caller's own events as they happen: of their accounts, payments, cards, loans and so on.
///
/// Each has its position in the log as its id; whoever comes back with `Last-Event-ID` goes on after it, without gaps and
/// without repeats. Ends when the token expires or the session is over, when the caller does not keep up, and when the
/// server stops.
#[utoipa::path(
    get, path = "/v1/events/stream", tag = "Events", params(StreamQuery),
    responses(
        (status = 200, description = "Events: `id` is the position, `event` the name, `data` as in webhooks.",
         body = String, content_type = "text/event-stream"),
        ReadProblems
    )
)]
async fn stream_events(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    Queried(query): Queried<StreamQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let subject = query.user.unwrap_or_else(|| caller.user());
    if subject != caller.user() {
        permit::<AuditRead>(&caller)?;
    }
    let seat = app.streams.seat(caller.user())?;
    let head = *app.journal.head().borrow();
    let after = last_event(&headers)?.or(query.after.map(|After(after)| after)).unwrap_or(head);
    let (first, reached) = app.streams.page(subject, after, head).await?;
    let (sender, receiver) = mpsc::channel(WAITING);
    let listening = Listening { app, headers, subject, reached, sender };
    tokio::spawn(async move {
        listening.run(first).await;
        drop(seat);
    });
    let frames = unfold(receiver, |mut receiver| async move {
        Some((Ok::<_, Infallible>(receiver.recv().await?), receiver))
    });
    let mut response = Sse::new(frames).into_response();
    // Proxies must not gather what is to be there at once.
    response
        .headers_mut()
        .insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

/// The last event that the caller has.
fn last_event(headers: &HeaderMap) -> Result<Option<Position>, Problem> {
    let Some(id) = headers.get("last-event-id") else { return Ok(None) };
    let read = id.to_str().ok().and_then(|id| After::from_text(id.to_owned()).ok());
    let wrong = || Problem::bad_request("/Last-Event-ID", "MALFORMED", "expected the id of an event");
    read.map(|After(position)| Some(position)).ok_or_else(wrong)
}

/// A caller who listens.
struct Listening {
    app: App,
    /// The request's, with the token in it.
    headers: HeaderMap,
    subject: UserId,
    /// Everything up to here was said.
    reached: Position,
    sender: mpsc::Sender<Frame>,
}

/// The stream is over.
struct Over;

impl From<Problem> for Over {
    fn from(_: Problem) -> Self {
        Self
    }
}

impl Listening {
    async fn run(mut self, first: Vec<Said>) {
        // Whatever ends it, the caller comes back and goes on.
        let mut closing = self.app.streams.closed();
        tokio::select! {
            _ = self.listen(first) => {}
            _ = closing.wait_for(|closed| *closed) => {}
        }
    }

    async fn listen(&mut self, first: Vec<Said>) -> Result<(), Over> {
        self.send(Frame::default().comment("the stream begins")).await?;
        self.say(first).await?;
        // What is long past first, so that nobody is kept in mind meanwhile.
        let head = *self.app.journal.head().borrow();
        self.catch_up(head).await?;
        let (joined, mut live) = self.app.streams.join(self.subject);
        self.catch_up(joined).await?;
        let mut quiet = 0;
        loop {
            tokio::select! {
                said = live.recv() => {
                    let Some(said) = said else { return Err(Over) };
                    if said.position > self.reached {
                        self.reached = said.position;
                        self.say(vec![said]).await?;
                        quiet = 0;
                    }
                }
                () = tokio::time::sleep(LOOK) => {
                    self.may_listen().await?;
                    quiet += 1;
                    if quiet == QUIET {
                        quiet = 0;
                        self.send(Frame::default().comment("")).await?;
                    }
                }
                () = self.sender.closed() => return Err(Over),
            }
        }
    }

    async fn catch_up(&mut self, through: Position) -> Result<(), Over> {
        while self.reached < through {
            let (said, reached) = self.app.streams.page(self.subject, self.reached, through).await?;
            self.reached = reached;
            self.say(said).await?;
        }
        Ok(())
    }

    async fn may_listen(&self) -> Result<(), Over> {
        self.app.auth.authenticate(&self.headers).await?;
        Ok(())
    }

    async fn say(&self, said: Vec<Said>) -> Result<(), Over> {
        if !said.is_empty() {
            self.may_listen().await?;
        }
        for Said { position, event_type, data } in said {
            let frame = Frame::default().id(position.to_string()).event(event_type).data(&*data);
            self.send(frame).await?;
        }
        Ok(())
    }

    async fn send(&self, frame: Frame) -> Result<(), Over> {
        tokio::time::timeout(STUCK, self.sender.send(frame)).await.map_err(|_| Over)?.map_err(|_| Over)
    }
}
