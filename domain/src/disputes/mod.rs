//! Disputes: a payer says that a payment was wrong, and the bank decides.
//!
//! ```text
//!   Pending --start review--> UnderReview --win--> Won        the bank gives the money back
//!      |                          |---------lose-> Lost
//!      '----------withdraw--------'------------> Withdrawn
//! ```
//!
//! The payment is told in the same unit, and decides whether it may be disputed.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use command::DisputeCommand;
pub use error::DisputeError;
pub use event::{DisputeEvent, DisputeReason, Opened};

use crate::aggregate::Aggregate;
use crate::kernel::UserId;

/// A dispute, by its id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dispute {
    /// Not begun.
    #[default]
    Absent,
    /// Nobody has looked at it yet.
    Pending(Box<Opened>),
    /// Somebody looks into it.
    UnderReview(Box<Opened>),
    /// The payer was right.
    Won(Box<Opened>),
    /// The payer was wrong.
    Lost(Box<Opened>),
    /// The payer took it back.
    Withdrawn(Box<Opened>),
}

crate::spelled! {
    /// Where a dispute is.
    pub enum DisputeStatus {
        /// Nobody has looked at it yet.
        Pending = "PENDING",
        /// Somebody looks into it.
        UnderReview = "UNDER_REVIEW",
        /// The payer was right, and has the money back.
        Won = "WON",
        /// The payer was wrong.
        Lost = "LOST",
        /// The payer took it back.
        Withdrawn = "WITHDRAWN",
    }
}

impl Dispute {
    /// Where it is; none before it was begun.
    #[must_use]
    pub const fn status(&self) -> Option<DisputeStatus> {
        match self {
            Self::Absent => None,
            Self::Pending(_) => Some(DisputeStatus::Pending),
            Self::UnderReview(_) => Some(DisputeStatus::UnderReview),
            Self::Won(_) => Some(DisputeStatus::Won),
            Self::Lost(_) => Some(DisputeStatus::Lost),
            Self::Withdrawn(_) => Some(DisputeStatus::Withdrawn),
        }
    }

    /// How it was begun, wherever it is.
    #[must_use]
    pub const fn opened(&self) -> Option<&Opened> {
        match self {
            Self::Absent => None,
            Self::Pending(opened)
            | Self::UnderReview(opened)
            | Self::Won(opened)
            | Self::Lost(opened)
            | Self::Withdrawn(opened) => Some(opened),
        }
    }

    fn refuse(&self) -> DisputeError {
        match self.status() {
            None => DisputeError::Unknown,
            Some(status) => DisputeError::InvalidState { state: status.as_str() },
        }
    }

    fn into_opened(self) -> Option<Box<Opened>> {
        match self {
            Self::Absent => None,
            Self::Pending(opened)
            | Self::UnderReview(opened)
            | Self::Won(opened)
            | Self::Lost(opened)
            | Self::Withdrawn(opened) => Some(opened),
        }
    }
}

impl Aggregate for Dispute {
    const TYPE: &'static str = "dispute";
    type Command = DisputeCommand;
    type Event = DisputeEvent;
    type Error = DisputeError;

    fn decide(&self, command: DisputeCommand) -> Result<Vec<DisputeEvent>, DisputeError> {
        let event = match (self, command) {
            (Self::Absent, DisputeCommand::Open(opened)) => DisputeEvent::Opened(opened),
            (Self::Pending(_), DisputeCommand::StartReview { note }) => DisputeEvent::ReviewStarted { note },
            (Self::UnderReview(_), DisputeCommand::Win { refunded_by, note }) => {
                DisputeEvent::Won { refunded_by, note }
            }
            (Self::UnderReview(_), DisputeCommand::Lose { note }) => DisputeEvent::Lost { note },
            (Self::Pending(_) | Self::UnderReview(_), DisputeCommand::Withdraw { reason }) => {
                DisputeEvent::Withdrawn { reason }
            }
            (
                Self::Absent
                | Self::Pending(_)
                | Self::UnderReview(_)
                | Self::Won(_)
                | Self::Lost(_)
                | Self::Withdrawn(_),
                _,
            ) => return Err(self.refuse()),
        };
        Ok(vec![event])
    }

    fn evolve(&mut self, event: &DisputeEvent) {
        let into = match event {
            DisputeEvent::Opened(opened) => {
                *self = Self::Pending(opened.clone());
                return;
            }
            DisputeEvent::ReviewStarted { .. } => Self::UnderReview,
            DisputeEvent::Won { .. } => Self::Won,
            DisputeEvent::Lost { .. } => Self::Lost,
            DisputeEvent::Withdrawn { .. } => Self::Withdrawn,
        };
        *self = std::mem::take(self).into_opened().map_or(Self::Absent, into);
    }

    fn owner(&self) -> Option<UserId> {
        self.opened().map(|opened| opened.owner)
    }
}
