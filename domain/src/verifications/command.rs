//! What a person's verifications can be asked.

use jiff::Timestamp;

use super::{Issued, Purpose};
use crate::kernel::{Personal, VerificationId, add_seconds};
use crate::messages::Channel;

/// Commands to a person's verifications.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerificationsCommand {
    /// Begin one, in the place of the one of the same purpose.
    Issue(Box<NewVerification>),
    /// Send a new code.
    Resend {
        /// Which.
        id: VerificationId,
        /// Now.
        at: Timestamp,
        /// What the bank allows.
        policy: Policy,
    },
    /// Count a guess. Committed before the guess is looked at, so that guesses made at once are all counted.
    Try {
        /// Which.
        id: VerificationId,
        /// Now.
        at: Timestamp,
    },
    /// The guess was right. Stands in the unit of whatever the code authorises.
    Confirm {
        /// Which.
        id: VerificationId,
        /// Now.
        at: Timestamp,
    },
}

impl VerificationsCommand {
    /// Which verification it is about.
    #[must_use]
    pub const fn id(&self) -> VerificationId {
        match self {
            Self::Issue(new) => new.id,
            Self::Resend { id, .. } | Self::Try { id, .. } | Self::Confirm { id, .. } => *id,
        }
    }
}

/// A verification to be begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewVerification {
    /// Its id, minted by the use case.
    pub id: VerificationId,
    /// What it is for.
    pub purpose: Purpose,
    /// How the code travels.
    pub channel: Channel,
    /// Phone number or email address.
    pub destination: String,
    /// What it is bound to: the session that asked, the device; empty when it is bound to nothing but the person.
    pub bound_to: String,
    /// Now.
    pub at: Timestamp,
    /// What the bank allows.
    pub policy: Policy,
}

/// What a bank allows for codes of a purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Seconds a code counts.
    pub lifetime: i64,
    /// Guesses a verification takes.
    pub tries: u32,
    /// Seconds before the code is sent again.
    pub resend_after: i64,
    /// Codes of a purpose that are sent to a person in a UTC day.
    pub a_day: u32,
}

impl NewVerification {
    pub(super) fn into_event(self) -> Issued {
        Issued {
            id: self.id,
            purpose: self.purpose,
            channel: self.channel,
            destination: Personal::new(self.destination),
            bound_to: self.bound_to,
            tries: self.policy.tries,
            issued_at: self.at,
            resend_at: add_seconds(self.at, self.policy.resend_after),
            expires_at: add_seconds(self.at, self.policy.lifetime),
        }
    }
}
