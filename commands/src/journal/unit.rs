//! A unit of work: what one request asks for, all of it or nothing.

use bursar_domain::kernel::UserId;
use bursar_domain::{Command, Event, Kind, Metadata, Position, Recorded, Rejection, StreamId};
use std::fmt::Display;

/// Who asks, on which request, and how a repeat is recognised.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Goes into the events.
    pub metadata: Metadata,
    /// Present when the caller sent an idempotency key, or a process made one from a due date.
    pub idempotency: Option<Idempotency>,
    /// The version the first aggregate that was there before must have (`If-Match`), or the unit is refused with
    /// `PRECONDITION_FAILED` (412).
    pub expected_version: Option<i64>,
}

/// An idempotency key, hashed with everything that scopes it, and what was asked under it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Idempotency {
    /// Keyed hash of caller, method, path and key.
    pub key: [u8; 16],
    /// Keyed hash of the request body.
    pub fingerprint: [u8; 16],
}

/// One command or several that stand or fall together.
#[derive(Debug)]
pub struct Unit {
    pub(super) context: Context,
    pub(super) steps: Vec<Step>,
    pub(super) claims: Vec<Claim>,
    pub(super) releases: Vec<Release>,
}

/// One command and the aggregate it is for.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) stream: StreamId,
    pub(super) work: Work,
    /// The id was minted for this unit, so that nothing needs to be read first.
    pub(super) fresh: bool,
    /// Whose the aggregate must be; to anybody else it is not there.
    pub(super) owner: Option<UserId>,
}

/// How a step comes to its events.
#[derive(Debug)]
pub(super) enum Work {
    /// The aggregate decides.
    Decide(Command),
    /// They were decided elsewhere, on the state after `expected` events (cqrs-es' commit).
    Append { expected: i64, events: Vec<Event> },
}

/// A value that may exist once, and the aggregate that wants it.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    pub(super) namespace: &'static str,
    pub(super) hash: [u8; 32],
    pub(super) holder: String,
    /// The code of the refusal when somebody else has it.
    pub(super) taken: &'static str,
}

/// A value that its holder has no more use for.
#[derive(Debug, Clone)]
pub(super) struct Release {
    pub(super) namespace: &'static str,
    pub(super) hash: [u8; 32],
    pub(super) holder: String,
}

impl Unit {
    /// An empty unit.
    #[must_use]
    pub const fn new(context: Context) -> Self {
        Self { context, steps: Vec::new(), claims: Vec::new(), releases: Vec::new() }
    }

    /// Adds a command to an existing aggregate (or one that may exist).
    #[must_use]
    pub fn step(self, id: impl Display, command: impl Into<Command>) -> Self {
        self.push(id, command.into(), false)
    }

    /// Adds the first command to an aggregate whose id was minted for this unit.
    #[must_use]
    pub fn create(self, id: impl Display, command: impl Into<Command>) -> Self {
        self.push(id, command.into(), true)
    }

    /// Adds a command to an aggregate of `owner`'s. One that is somebody else's and one that does not exist are the
    /// same refusal, `NOT_FOUND`; whose it is, is read in the unit's own transaction.
    #[must_use]
    pub fn step_of(self, owner: UserId, id: impl Display, command: impl Into<Command>) -> Self {
        let mut unit = self.push(id, command.into(), false);
        if let Some(step) = unit.steps.last_mut() {
            step.owner = Some(owner);
        }
        unit
    }

    fn push(mut self, id: impl Display, command: Command, fresh: bool) -> Self {
        let stream = StreamId::new(command.kind(), id);
        self.steps.push(Step { stream, work: Work::Decide(command), fresh, owner: None });
        self
    }

    pub(super) fn append(mut self, kind: Kind, id: &str, expected: i64, events: Vec<Event>) -> Self {
        let stream = StreamId::new(kind, id);
        self.steps.push(Step { stream, work: Work::Append { expected, events }, fresh: false, owner: None });
        self
    }

    /// Claims a value for `holder`; the unit is refused with the code `taken` (409) when somebody else has it.
    #[must_use]
    pub fn claim(
        mut self,
        namespace: &'static str,
        hash: [u8; 32],
        holder: impl Display,
        taken: &'static str,
    ) -> Self {
        self.claims.push(Claim { namespace, hash, holder: holder.to_string(), taken });
        self
    }

    /// Takes a claim of `holder`'s back, before the unit's own claims are looked at. One that is somebody else's stays
    /// as it is.
    #[must_use]
    pub fn release(mut self, namespace: &'static str, hash: [u8; 32], holder: impl Display) -> Self {
        self.releases.push(Release { namespace, hash, holder: holder.to_string() });
        self
    }
}

/// A unit that is in the log.
#[derive(Debug, Clone)]
pub struct Committed {
    /// Its events, in order. Empty when everything asked for was so already.
    pub events: Vec<Recorded>,
    /// The last position of the unit; of the log, when the unit had no events.
    pub position: Position,
    /// Whether this repeats an earlier request with the same idempotency key.
    pub replayed: bool,
}

impl Committed {
    /// The first event that `pick` knows, and what it makes of it.
    ///
    /// # Errors
    /// [`NoSuchEvent`], which no use case and its handler come to.
    pub fn event<'a, T>(
        &'a self,
        pick: impl Fn(&'a Event) -> Option<T>,
    ) -> Result<(&'a Recorded, T), NoSuchEvent> {
        let found = self.events.iter().find_map(|recorded| Some((recorded, pick(&recorded.event)?)));
        found.ok_or(NoSuchEvent)
    }
}

/// A unit does not hold the event that its answer is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the unit holds no such event")]
pub struct NoSuchEvent;

/// Why a unit is not in the log.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// An aggregate or the ledger refused it.
    #[error("{0}")]
    Refused(Box<dyn Rejection>),
    /// The idempotency key stands for a request with another body.
    #[error("the idempotency key was used with another body")]
    KeyReused,
    /// The queue is full; try again.
    #[error("too many requests are waiting to be written")]
    Busy,
    /// The store cannot be reached, or the journal is shutting down; nothing was written.
    #[error("the store is not available")]
    Unavailable,
}

/// The aggregate is not at the version the caller has seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it has changed since you read it")]
pub(super) struct PreconditionFailed;

impl Rejection for PreconditionFailed {
    fn code(&self) -> &'static str {
        "PRECONDITION_FAILED"
    }

    fn kind(&self) -> bursar_domain::RejectionKind {
        bursar_domain::RejectionKind::Stale
    }
}

/// A unique value is somebody else's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("already in use: {namespace}")]
pub struct Taken {
    pub(super) namespace: &'static str,
    pub(super) code: &'static str,
}

impl Rejection for Taken {
    fn code(&self) -> &'static str {
        self.code
    }

    fn kind(&self) -> bursar_domain::RejectionKind {
        bursar_domain::RejectionKind::Conflict
    }
}

/// Somebody else appended to the stream first.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the aggregate has changed since it was read")]
pub(super) struct StaleVersion;

impl Rejection for StaleVersion {
    fn code(&self) -> &'static str {
        "STALE_VERSION"
    }

    fn kind(&self) -> bursar_domain::RejectionKind {
        bursar_domain::RejectionKind::Conflict
    }
}

/// An event that has no JSON form, or personal parts and nobody whose key seals them. No event of the catalogue is like that.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unwritable(pub(super) String);

impl Rejection for Unwritable {
    fn code(&self) -> &'static str {
        "UNWRITABLE_EVENT"
    }

    fn kind(&self) -> bursar_domain::RejectionKind {
        bursar_domain::RejectionKind::Conflict
    }
}
