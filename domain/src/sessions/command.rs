//! What a session can be asked.

use jiff::Timestamp;

use super::{EndReason, Started};

/// Commands to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionCommand {
    /// Begin it.
    Start(Box<Started>),
    /// Trade a refresh token for the next pair.
    Refresh(Box<Refresh>),
    /// The second factor was given. Refused unless it waits for one.
    Complete {
        /// Now.
        at: Timestamp,
    },
    /// End it.
    End {
        /// Why.
        reason: EndReason,
    },
}

/// A refresh token presented for exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refresh {
    /// SHA-256 of the token presented, hex.
    pub presented_hash: String,
    /// The device it came from.
    pub device_id: String,
    /// SHA-256 of the token after the current one, hex.
    pub successor_hash: String,
    /// Id of the next access token.
    pub jti: String,
    /// Now.
    pub at: Timestamp,
    /// When the successor ends, the session's absolute end aside.
    pub expires_at: Timestamp,
}
