//! Closures: a customer asks for an account to be closed, staff decide, and other staff do it.
//!
//! ```text
//!   Pending --approve--> Approved --finalize--> Completed    interest posted, balance paid out, account closed: one unit
//!      |  '----reject----,  |
//!      '-----cancel------+--'--> Rejected, Cancelled
//! ```
//!
//! Whether the account can be closed is the ledger's business: it is asked when the customer asks, and once more when it
//! happens.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use command::ClosureCommand;
pub use error::ClosureError;
pub use event::{ClosureEvent, Completed, Requested, Swept};

use crate::aggregate::Aggregate;
use crate::kernel::UserId;

/// An application to close an account, by its id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Closure {
    /// Not asked for.
    #[default]
    Absent,
    /// Nobody has decided.
    Pending(Box<Requested>),
    /// It is to be closed.
    Approved(Box<Requested>, UserId),
    /// Staff said no.
    Rejected(Box<Requested>),
    /// The customer wants it no more.
    Cancelled(Box<Requested>),
    /// The account is closed.
    Completed(Box<Requested>),
}

crate::spelled! {
    /// Where an application is.
    pub enum ClosureStatus {
        /// Nobody has decided.
        Pending = "PENDING",
        /// It is to be closed.
        Approved = "APPROVED",
        /// Staff said no.
        Rejected = "REJECTED",
        /// The customer wants it no more.
        Cancelled = "CANCELLED",
        /// The account is closed.
        Completed = "COMPLETED",
    }
}

impl Closure {
    /// Where it is; none before it was asked for.
    #[must_use]
    pub const fn status(&self) -> Option<ClosureStatus> {
        match self {
            Self::Absent => None,
            Self::Pending(_) => Some(ClosureStatus::Pending),
            Self::Approved(..) => Some(ClosureStatus::Approved),
            Self::Rejected(_) => Some(ClosureStatus::Rejected),
            Self::Cancelled(_) => Some(ClosureStatus::Cancelled),
            Self::Completed(_) => Some(ClosureStatus::Completed),
        }
    }

    /// What was asked for, wherever it is.
    #[must_use]
    pub const fn requested(&self) -> Option<&Requested> {
        match self {
            Self::Absent => None,
            Self::Pending(requested)
            | Self::Approved(requested, _)
            | Self::Rejected(requested)
            | Self::Cancelled(requested)
            | Self::Completed(requested) => Some(requested),
        }
    }

    fn refuse(&self) -> ClosureError {
        self.status()
            .map_or(ClosureError::Unknown, |status| ClosureError::InvalidState { state: status.as_str() })
    }
}

/// Nobody decides about an account of their own.
fn by_somebody_else(requested: &Requested, by: UserId) -> Result<(), ClosureError> {
    if requested.owner == by { Err(ClosureError::SamePerson) } else { Ok(()) }
}

impl Aggregate for Closure {
    const TYPE: &'static str = "closure";
    type Command = ClosureCommand;
    type Event = ClosureEvent;
    type Error = ClosureError;

    fn decide(&self, command: ClosureCommand) -> Result<Vec<ClosureEvent>, ClosureError> {
        let event = match (self, command) {
            (Self::Absent, ClosureCommand::Request(requested)) => ClosureEvent::Requested(requested),
            (Self::Pending(requested), ClosureCommand::Approve { by, note }) => {
                by_somebody_else(requested, by)?;
                ClosureEvent::Approved { by, note }
            }
            (
                Self::Pending(requested) | Self::Approved(requested, _),
                ClosureCommand::Reject { by, reason },
            ) => {
                by_somebody_else(requested, by)?;
                ClosureEvent::Rejected { by, reason }
            }
            (Self::Pending(_) | Self::Approved(..), ClosureCommand::Cancel) => ClosureEvent::Cancelled,
            (Self::Approved(requested, approver), ClosureCommand::Finalize(completed)) => {
                by_somebody_else(requested, completed.by)?;
                if *approver == completed.by {
                    return Err(ClosureError::SamePerson);
                }
                ClosureEvent::Completed(completed)
            }
            (
                Self::Absent
                | Self::Pending(_)
                | Self::Approved(..)
                | Self::Rejected(_)
                | Self::Cancelled(_)
                | Self::Completed(_),
                _,
            ) => return Err(self.refuse()),
        };
        Ok(vec![event])
    }

    fn evolve(&mut self, event: &ClosureEvent) {
        if let ClosureEvent::Requested(requested) = event {
            *self = Self::Pending(requested.clone());
            return;
        }
        let Some(requested) = self.requested().cloned().map(Box::new) else { return };
        *self = match event {
            ClosureEvent::Requested(_) => return,
            ClosureEvent::Approved { by, .. } => Self::Approved(requested, *by),
            ClosureEvent::Rejected { .. } => Self::Rejected(requested),
            ClosureEvent::Cancelled => Self::Cancelled(requested),
            ClosureEvent::Completed(_) => Self::Completed(requested),
        };
    }

    fn owner(&self) -> Option<UserId> {
        self.requested().map(|requested| requested.owner)
    }
}
