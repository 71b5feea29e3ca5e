//! What can happen to resets.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, Due, When, names};
use crate::kernel::UserId;

/// The process that issues the token.
pub const SEND_RESET: &str = "resets.send";

/// Events of a name's resets. Neither the name nor the token appears.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResetsEvent {
    /// Somebody wants a new password.
    Requested(Requested),
}

/// A request for a new password.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requested {
    /// Who has the name; none when nobody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<UserId>,
    /// When.
    pub at: Timestamp,
    /// Until when the token will count, as it was said to whoever asked.
    pub expires_at: Timestamp,
}

impl AggregateEvent for ResetsEvent {
    names! {
        Requested = "resets.requested",
    }

    fn dues(&self) -> Vec<Due> {
        vec![Due { task: SEND_RESET, when: When::Now }]
    }
}
