//! Why a session command is refused. One answer for all: a token tells nothing about itself.

use crate::kernel::{Rejection, RejectionKind};

/// Refusals of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// Unknown, expired, ended or foreign.
    #[error("the token is not valid")]
    InvalidToken,
}

impl Rejection for SessionError {
    fn code(&self) -> &'static str {
        "INVALID_TOKEN"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Unauthenticated
    }
}
