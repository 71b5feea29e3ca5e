//! Secrets that people hold for a while: made from ids and a key, and checked without being kept.

use bursar_domain::kernel::{SessionId, UserId, VerificationId};
use zeroize::Zeroizing;

use super::{hex, sha256};

/// A token that sets a password. No `Debug`.
pub struct ResetToken {
    /// Whose password.
    pub user: UserId,
    /// The verification it uses up.
    pub verification: VerificationId,
    pub(super) text: Zeroizing<String>,
}

impl ResetToken {
    /// What the mail holds.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// A refresh token (RFC 6749). No `Debug`.
pub struct RefreshToken {
    /// The session it belongs to.
    pub session: SessionId,
    /// How many were issued in that session before it.
    pub generation: u32,
    pub(super) text: Zeroizing<String>,
}

impl RefreshToken {
    /// What the client gets.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// SHA-256 of the text, hex: what the log holds.
    #[must_use]
    pub fn hash(&self) -> String {
        hex(&sha256(self.text.as_bytes()))
    }
}
