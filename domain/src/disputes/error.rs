//! Why a dispute command is refused.

crate::rejections! {
    /// Refusals of a dispute.
    pub enum DisputeError {
        /// No such dispute.
        Unknown: NotFound "NOT_FOUND" = "no such dispute",
        /// Not in this state.
        InvalidState {
            /// The state it is in.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the dispute is {state}",
    }
}
