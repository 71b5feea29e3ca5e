//! What an address that is told can be asked.

use jiff::Timestamp;

use super::{DisableReason, Settings};
use crate::envelope::Position;

/// Commands to an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebhookCommand {
    /// Tell it from now on.
    Create(Box<Settings>),
    /// Tell it elsewhere, or other things.
    Change(Box<Settings>),
    /// Sign with a new secret; the old one signs too for a day.
    RotateSecret {
        /// When.
        at: Timestamp,
    },
    /// Tell it again, also what has waited.
    Enable,
    /// Tell it nothing for now.
    Disable {
        /// Why.
        reason: DisableReason,
    },
    /// Never tell it anything again.
    Remove,
    /// Tell it that this is a test.
    Test,
    /// Tell it everything once more that happened after a position.
    Replay {
        /// The position; 0 for everything.
        after: Position,
    },
    /// Tell it one thing once more.
    Redeliver {
        /// The position of the event.
        position: Position,
    },
}
