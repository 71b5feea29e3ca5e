//! What a document can be asked.

use super::Uploaded;
use crate::kernel::UserId;

/// Commands to a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DocumentCommand {
    /// It is handed in.
    Upload(Box<Uploaded>),
    /// Staff: it is believed.
    Verify {
        /// Who says so.
        by: UserId,
        /// What they saw, for the file.
        note: Option<String>,
    },
    /// Staff: it is not believed.
    Reject {
        /// Who says so.
        by: UserId,
        /// Why; the customer can read it.
        reason: String,
    },
}
