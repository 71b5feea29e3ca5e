//! What can happen to a session.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, names};
use crate::kernel::{Permission, UserId};

/// Events of a session. Tokens never appear, only the SHA-256 of refresh tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEvent {
    /// A login succeeded.
    Started(Box<Started>),
    /// The refresh token was exchanged.
    Refreshed(Issued),
    /// The answer to an exchange was lost and given again.
    Reissued(Issued),
    /// Its tokens are worthless from now on.
    Ended {
        /// Why.
        reason: EndReason,
    },
}

/// How a session began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Started {
    /// Whose it is.
    pub user_id: UserId,
    /// The device the family is bound to.
    pub device_id: String,
    /// What its access tokens allow.
    pub permissions: Vec<Permission>,
    /// The first tokens.
    pub first: Issued,
    /// No refresh reaches beyond this.
    pub absolute_expires_at: Timestamp,
    /// Seconds a refresh token lives.
    pub refresh_seconds: i64,
}

/// A pair of tokens that was handed out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issued {
    /// 0 for the first pair.
    pub generation: u32,
    /// Id of the access token (`jti`).
    pub jti: String,
    /// SHA-256 of the refresh token, hex.
    pub refresh_hash: String,
    /// When, UTC.
    pub issued_at: Timestamp,
    /// When the refresh token ends.
    pub refresh_expires_at: Timestamp,
}

crate::spelled! {
    /// Why a session ended.
    pub enum EndReason {
        /// The user logged out.
        Revoked = "REVOKED",
        /// An old refresh token came back: somebody has a copy.
        TokenReused = "TOKEN_REUSED",
        /// The refresh token came from another device.
        ForeignDevice = "FOREIGN_DEVICE",
    }
}

impl AggregateEvent for SessionEvent {
    names! {
        Started = "session.started",
        Refreshed = "session.refreshed",
        Reissued = "session.reissued",
        Ended = "session.ended",
    }
}
