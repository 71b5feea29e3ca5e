//! Why a verification is refused.

crate::rejections! {
    /// Refusals of a person's verifications.
    pub enum VerificationsError {
        /// Not a verification of theirs, or not the newest.
        Unknown: NotFound "NOT_FOUND" = "no such verification",
        /// The code is not the one that was sent.
        WrongCode {
            /// Guesses left.
            remaining: u32 => "remainingTries",
        }: Unprocessable "INVALID_CODE" = "the code is wrong",
        /// Neither pending nor about to be.
        InvalidState {
            /// The state it is in.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the verification is {state}",
        /// The code was sent a moment ago.
        TooSoon {
            /// Seconds to wait.
            retry_after: i64 => "retryAfter",
        }: Throttled "RESEND_TOO_SOON" = "a code was sent a moment ago; wait {retry_after} seconds",
        /// Enough for today.
        TooMany {
            /// Codes a day.
            allowed: u32 => "limit",
            /// Seconds until tomorrow.
            retry_after: i64 => "retryAfter",
        }: Throttled "TOO_MANY_CODES" = "no more than {allowed} codes are sent in a day",
    }
}
