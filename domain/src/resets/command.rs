//! What can be asked about resets.

use super::Requested;

/// Commands about a name's resets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResetsCommand {
    /// Somebody wants a new password.
    Request {
        /// What will have been asked.
        request: Requested,
        /// Requests under one name that are taken in a UTC day.
        a_day: u32,
    },
}
