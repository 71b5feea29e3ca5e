//! Why a reset is refused.

crate::rejections! {
    /// Refusals of a reset. They depend on how often it was asked for and not on whether anybody has the name.
    pub enum ResetsError {
        /// Enough for today.
        TooMany {
            /// Requests a day.
            allowed: u32 => "limit",
            /// Seconds until tomorrow.
            retry_after: i64 => "retryAfter",
        }: Throttled "TOO_MANY_RESETS" = "a new password was asked for {allowed} times today",
    }
}
