//! Why a command to an address that is told is refused.

crate::rejections! {
    /// Refusals of an address.
    pub enum WebhookError {
        /// No such address, or not any more.
        Unknown: NotFound "NOT_FOUND" = "no such webhook",
        /// Not in this state.
        InvalidState {
            /// The state it is in.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the webhook is {state}",
        /// The bank has its most.
        Full {
            /// How many.
            allowed: usize => "allowed",
        }: Unprocessable "LIMIT_EXCEEDED" = "a bank has at most {allowed} webhooks",
    }
}
