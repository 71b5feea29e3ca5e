//! Why a second factor is refused.

crate::rejections! {
    /// Refusals of a person's second factors.
    pub enum MfaError {
        /// Not the code that the app shows, or one that was taken before.
        WrongCode {
            /// Tries left in this session.
            remaining: usize => "remainingTries",
        }: Unprocessable "INVALID_CODE" = "the code is wrong",
        /// Too many wrong codes in one session.
        Exhausted: Unprocessable "TRIES_EXHAUSTED" = "too many wrong codes; log in again",
        /// Too many wrong codes in however many sessions.
        TooMany {
            /// Seconds to wait.
            retry_after: i64 => "retryAfter",
        }: Throttled "TOO_MANY_TRIES" = "too many wrong codes; wait {retry_after} seconds",
        /// Nothing that this could be done with.
        InvalidState {
            /// What there is.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the second factor is {state}",
    }
}
