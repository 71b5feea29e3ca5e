//! Why a command to messages is refused.

crate::rejections! {
    /// Refusals of a person's messages.
    pub enum MessagesError {
        /// Not a message of theirs, or deleted.
        Unknown: NotFound "NOT_FOUND" = "no such message",
    }
}
