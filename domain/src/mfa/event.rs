//! What can happen to a person's second factors.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, names};
use crate::kernel::{EnrolmentId, SessionId};

/// Events of a person's second factors. Neither secrets nor codes appear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MfaEvent {
    /// An app was given a secret.
    TotpEnrolled {
        /// What the secret is a function of.
        id: EnrolmentId,
    },
    /// It has shown a right code, and is asked for one from now on.
    TotpConfirmed {
        /// Which.
        id: EnrolmentId,
        /// The time step of the code.
        step: i64,
    },
    /// No code of an app is asked for any more.
    TotpRemoved,
    /// Codes by short message are asked for from now on.
    SmsEnrolled,
    /// None are asked for any more.
    SmsRemoved,
    /// Somebody entered a code.
    Tried {
        /// The session it was in.
        session: SessionId,
        /// When.
        at: Timestamp,
    },
    /// A login was completed with a right code.
    Passed(Passed),
}

/// A right code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passed {
    /// The time step of an app's code, which is not taken again; none for a short message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<i64>,
    /// Keyed hash of the device.
    pub device: String,
}

impl AggregateEvent for MfaEvent {
    names! {
        TotpEnrolled = "mfa.totp_enrolled",
        TotpConfirmed = "mfa.totp_confirmed",
        TotpRemoved = "mfa.totp_removed",
        SmsEnrolled = "mfa.sms_enrolled",
        SmsRemoved = "mfa.sms_removed",
        Tried = "mfa.tried",
        Passed = "mfa.passed",
    }
}
