//! What can happen to the rebuilds of a read model.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, names};
use crate::kernel::UserId;

/// Events of the rebuilds of a read model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RebuildEvent {
    /// Staff want one.
    Ordered(Ordered),
}

/// An order to build a read model anew, or to compare it with the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ordered {
    /// Who wants it.
    pub by: UserId,
    /// When.
    pub at: Timestamp,
    /// Compare only.
    pub verify: bool,
}

impl AggregateEvent for RebuildEvent {
    names! {
        Ordered = "rebuild.ordered",
    }
}
