//! What surrounds an event in the log.

use std::fmt;

use compact_str::CompactString;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::catalogue::{Event, Kind};
use crate::kernel::UserId;

/// Place in one journal: 1, 2, 3 ... without gaps, in commit order. 0 is before the first event.
pub type Position = i64;

/// One aggregate's stream of events.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId {
    /// The noun.
    pub kind: Kind,
    /// Which one: `txn_...`, `usr_...`, an account number.
    pub id: CompactString,
}

impl StreamId {
    /// The stream of the `kind` named `id`.
    pub fn new(kind: Kind, id: impl fmt::Display) -> Self {
        Self { kind, id: compact_str::format_compact!("{id}") }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.id)
    }
}

/// Who caused an event, on which request, and whose it is. All values are text, because cqrs-es keeps them so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// The user who acted, or `system:<process>`.
    #[serde(default)]
    pub actor: CompactString,
    /// The request (`X-Request-Id`) or the due key of a process.
    #[serde(default)]
    pub correlation_id: CompactString,
    /// Whose the aggregate is, where it has an owner. The journal fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<UserId>,
}

impl Metadata {
    /// What `actor` causes on a request or at a due key.
    #[must_use]
    pub fn by(actor: impl Into<CompactString>, correlation_id: impl Into<CompactString>) -> Self {
        Self { actor: actor.into(), correlation_id: correlation_id.into(), owner: None }
    }
}

/// An event where it stands in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// Its place in the journal.
    pub position: Position,
    /// The aggregate it happened to.
    pub stream: StreamId,
    /// Its place in that stream, from 1.
    pub sequence: i64,
    /// When it was recorded, UTC, microseconds; never earlier than the event before it.
    pub recorded_at: Timestamp,
    /// Who and why.
    pub metadata: Metadata,
    /// What happened.
    pub event: Event,
}
