//! What can happen to a person's verifications.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, Due, When, names};
use crate::kernel::{Personal, VerificationId};
use crate::messages::Channel;

/// Events of a person's verifications. Codes never appear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VerificationsEvent {
    /// One has begun; its first code is to be sent.
    Issued(Box<Issued>),
    /// A new code is to be sent.
    Resent(Resent),
    /// Somebody made a guess.
    Tried {
        /// At which.
        id: VerificationId,
    },
    /// A guess was right.
    Confirmed {
        /// Which.
        id: VerificationId,
        /// What it was for.
        purpose: Purpose,
    },
}

/// A verification as it began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Issued {
    /// Its id.
    pub id: VerificationId,
    /// What it is for.
    pub purpose: Purpose,
    /// How the code travels.
    pub channel: Channel,
    /// Phone number or email address.
    pub destination: Personal<String>,
    /// What it is bound to; empty for nothing but the person.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub bound_to: String,
    /// Guesses it takes.
    pub tries: u32,
    /// When.
    pub issued_at: Timestamp,
    /// When the code may be asked for again.
    pub resend_at: Timestamp,
    /// When the code stops to count.
    pub expires_at: Timestamp,
}

/// A new code for a verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resent {
    /// Which.
    pub id: VerificationId,
    /// What it is for.
    pub purpose: Purpose,
    /// The how manieth repetition: 1 for the first.
    pub resends: u32,
    /// When.
    pub sent_at: Timestamp,
    /// When it may be asked for again.
    pub resend_at: Timestamp,
    /// When the new code stops to count.
    pub expires_at: Timestamp,
}

crate::spelled! {
    /// What a verification is for.
    pub enum Purpose {
        /// That they are who they say: the phone number on file.
        Identity = "IDENTITY",
        /// That a mailbox is theirs.
        Email = "EMAIL",
        /// That a phone is theirs.
        Phone = "PHONE",
        /// The second factor of a login.
        SecondFactor = "SECOND_FACTOR",
        /// That they may set a password without the old one: a token, not a code.
        PasswordReset = "PASSWORD_RESET",
        /// That they may set a device's PIN without the old one.
        PinReset = "PIN_RESET",
        /// That a device is meant for them.
        DeviceTransfer = "DEVICE_TRANSFER",
    }
}

impl Purpose {
    /// The process that sends codes of this purpose. Each has its own, so that two sent at once do not overtake each other.
    #[must_use]
    pub const fn task(self) -> &'static str {
        match self {
            Self::Identity => "verification.send_identity",
            Self::Email => "verification.send_email",
            Self::Phone => "verification.send_phone",
            Self::SecondFactor => "verification.send_second_factor",
            Self::PasswordReset => "verification.send_password_reset",
            Self::PinReset => "verification.send_pin_reset",
            Self::DeviceTransfer => "verification.send_device_transfer",
        }
    }
}

crate::spelled! {
    /// Where a verification stands.
    pub enum VerificationStatus {
        /// It waits for the code.
        Pending = "PENDING",
        /// The code was right.
        Verified = "VERIFIED",
        /// The code was wrong once too often.
        Failed = "FAILED",
        /// It took too long.
        Expired = "EXPIRED",
    }
}

impl AggregateEvent for VerificationsEvent {
    names! {
        Issued = "verifications.issued",
        Resent = "verifications.resent",
        Tried = "verifications.tried",
        Confirmed = "verifications.confirmed",
    }

    fn dues(&self) -> Vec<Due> {
        let due = |purpose: Purpose, when| vec![Due { task: purpose.task(), when }];
        match self {
            Self::Issued(issued) => due(issued.purpose, When::Now),
            Self::Resent(resent) => due(resent.purpose, When::Now),
            Self::Confirmed { purpose, .. } => due(*purpose, When::Never),
            Self::Tried { .. } => Vec::new(),
        }
    }
}
