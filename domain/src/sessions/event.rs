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
    /// The user's epoch: how often all their sessions had been ended before.
    #[serde(default, skip_serializing_if = "is_first")]
    pub epoch: u32,
    /// What is still missing, when the password was not enough. Such a session is good for giving it and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaits: Option<SecondFactor>,
}

/// A login that is not finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondFactor {
    /// Until when the second factor can be given.
    pub expires_at: Timestamp,
    /// Whether the login asked for a session that outlives the day.
    pub remember_me: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
const fn is_first(epoch: &u32) -> bool {
    *epoch == 0
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
        /// The device must not be used, or is somebody else's.
        DeviceStopped = "DEVICE_STOPPED",
        /// The second factor was given: another session has taken its place.
        Completed = "COMPLETED",
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
