//! Why a session command is refused. One answer for all: a token tells nothing about itself.

crate::rejections! {
    /// Refusals of a session.
    pub enum SessionError {
        /// Unknown, expired, ended or foreign.
        InvalidToken: Unauthenticated "INVALID_TOKEN" = "the token is not valid",
    }
}
