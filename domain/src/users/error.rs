//! Why a user command is refused.

use serde_json::{Value, json};

use crate::kernel::{Rejection, RejectionKind};

/// Refusals of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UserError {
    /// No user of that id.
    #[error("no such user")]
    Unknown,
    /// Not in this state.
    #[error("the user is {0}")]
    InvalidState(&'static str),
}

impl Rejection for UserError {
    fn code(&self) -> &'static str {
        match self {
            Self::Unknown => "NOT_FOUND",
            Self::InvalidState(_) => "INVALID_STATE",
        }
    }

    fn kind(&self) -> RejectionKind {
        match self {
            Self::Unknown => RejectionKind::NotFound,
            Self::InvalidState(_) => RejectionKind::Conflict,
        }
    }

    fn members(&self) -> Vec<(&'static str, Value)> {
        match self {
            Self::Unknown => Vec::new(),
            Self::InvalidState(state) => vec![("currentState", json!(state))],
        }
    }
}
