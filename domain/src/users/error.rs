//! Why a user command is refused.

crate::rejections! {
    /// Refusals of a user.
    pub enum UserError {
        /// No user of that id.
        Unknown: NotFound "NOT_FOUND" = "no such user",
        /// A phone number that is not theirs.
        ForeignPhone: Unprocessable "PHONE_NOT_YOURS" = "the phone number is not the one you are known by",
        /// Whatever they were admitted by no longer counts. A use case says it in its own words.
        NotAdmitted: Unauthenticated "NOT_ADMITTED" = "this access has ended",
        /// Their sessions were ended in the meantime.
        Overtaken: Conflict "OVERTAKEN" = "your access has changed in the meantime; try again",
        /// Not in this state.
        InvalidState {
            /// The state they are in.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the user is {state}",
    }
}
