//! Why a user command is refused.

crate::rejections! {
    /// Refusals of a user.
    pub enum UserError {
        /// No user of that id.
        Unknown: NotFound "NOT_FOUND" = "no such user",
        /// A phone number that is not theirs.
        ForeignPhone: Unprocessable "PHONE_NOT_YOURS" = "the phone number is not the one you are known by",
        /// They are not who they say, or what they say does not fit what is on file. Which of it is not told.
        IdentityMismatch: Unprocessable "IDENTITY_MISMATCH" = "this does not match what is on file",
        /// A mailbox that is neither theirs nor about to be.
        EmailMismatch: Unprocessable "EMAIL_MISMATCH" = "this is not your email address",
        /// Two pictures at once.
        AvatarChanged: Conflict "AVATAR_CHANGED" = "another picture was set in the meantime",
        /// What was looked up is not what they say any more.
        IdentityChanged: Conflict "IDENTITY_CHANGED" = "names or phone number have changed since the identity was looked up",
        /// A code for a mailbox or a phone that is neither theirs nor about to be.
        NotWaiting: Conflict "CONTACT_CHANGED" = "another address or number has taken its place",
        /// Whoever asked for an erasure cannot agree to it.
        ApproverIsMaker: Forbidden "APPROVER_IS_MAKER" = "another member of staff must agree",
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
