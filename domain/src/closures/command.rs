//! What an application to close an account can be asked.

use super::{Completed, Requested};
use crate::kernel::UserId;

/// Commands to an application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClosureCommand {
    /// Begin it.
    Request(Box<Requested>),
    /// Staff: it is to be closed.
    Approve {
        /// Who says so.
        by: UserId,
        /// For the file and the customer.
        note: Option<String>,
    },
    /// Staff: it is not.
    Reject {
        /// Who says so.
        by: UserId,
        /// Why; the customer reads it.
        reason: String,
    },
    /// The customer wants it no more.
    Cancel,
    /// Staff: it is closed, in the same unit.
    Finalize(Box<Completed>),
}
