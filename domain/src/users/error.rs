//! Why a user command is refused.

crate::rejections! {
    /// Refusals of a user.
    pub enum UserError {
        /// No user of that id.
        Unknown: NotFound "NOT_FOUND" = "no such user",
        /// A phone number that is not theirs.
        ForeignPhone: Unprocessable "PHONE_NOT_YOURS" = "the phone number is not the one you are known by",
        /// Whoever asked for an erasure cannot agree to it.
        ApproverIsMaker: Forbidden "APPROVER_IS_MAKER" = "another member of staff must agree",
        /// Not in this state.
        InvalidState {
            /// The state they are in.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the user is {state}",
    }
}
