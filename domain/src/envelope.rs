//! What surrounds an event in the log.

use std::fmt;

use compact_str::CompactString;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::catalogue::{Event, Kind};

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

/// Who caused an event and on which request. All values are text, because cqrs-es keeps them so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Metadata {
    /// The user who acted, or `system:<process>`.
    #[serde(default)]
    pub actor: CompactString,
    /// The request (`X-Request-Id`) or the due key of a process.
    #[serde(default)]
    pub correlation_id: CompactString,
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
