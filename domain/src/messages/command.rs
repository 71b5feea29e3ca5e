//! What a person's messages can be asked.

use super::{Channel, Notice};
use crate::kernel::MessageId;

/// Commands to a person's messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessagesCommand {
    /// Tell them something.
    Post(Box<Notice>),
    /// It was handed over to whoever delivers it. Nothing happens when it was before.
    Deliver {
        /// Which.
        id: MessageId,
        /// By which way.
        channel: Channel,
    },
    /// It will not be sent by this way.
    GiveUp {
        /// Which.
        id: MessageId,
        /// By which way.
        channel: Channel,
    },
    /// They do not want to see it any more.
    Delete {
        /// Which.
        id: MessageId,
    },
}
