//! Second factors of a person: an app that shows codes (TOTP, RFC 6238), short messages, and the devices that were let in
//! with one.
//!
//! The secret of an app is in no event: it is a function of the bank's key and the enrolment's id. A try is an event of its
//! own, committed before the code is looked at; a code of an app is good once, because its time step is remembered.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use command::MfaCommand;
pub use error::MfaError;
pub use event::{MfaEvent, Passed};

use crate::aggregate::Aggregate;
use crate::kernel::{EnrolmentId, SessionId};

/// Tries in one session.
pub const TRIES: usize = 5;
/// Tries in any 24 hours without a right one between them, in however many sessions: whoever knows the password must not
/// try codes by logging in again and again.
pub const TRIES_A_DAY: usize = 20;
/// Devices remembered; the one that was used longest ago goes first.
const DEVICES: usize = 50;
const DAY: SignedDuration = SignedDuration::from_hours(24);

/// A person's second factors, by user id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mfa {
    /// An app that is yet to show that it has the secret.
    pub pending: Option<EnrolmentId>,
    /// An app that has.
    pub totp: Option<EnrolmentId>,
    /// The last time step whose code was taken.
    last_step: i64,
    /// Whether codes by short message are asked for.
    pub sms: bool,
    /// Tries since the last right one: when, and in which session.
    tries: Vec<(Timestamp, SessionId)>,
    /// Keyed hashes of the devices that were let in.
    devices: Vec<String>,
}

impl Mfa {
    /// Whether a password is not enough.
    #[must_use]
    pub const fn is_required(&self) -> bool {
        self.totp.is_some() || self.sms
    }

    /// Whether a second factor was once given on the device.
    #[must_use]
    pub fn knows(&self, device: &str) -> bool {
        self.devices.iter().any(|known| known == device)
    }

    /// Tries left in a session.
    #[must_use]
    pub fn remaining(&self, session: SessionId) -> usize {
        TRIES.saturating_sub(self.tries.iter().filter(|(_, other)| *other == session).count())
    }

    fn allow(&self, session: SessionId, at: Timestamp) -> Result<(), MfaError> {
        if self.remaining(session) == 0 {
            return Err(MfaError::Exhausted);
        }
        let recent: Vec<_> = self.tries.iter().filter(|(tried, _)| at.duration_since(*tried) < DAY).collect();
        match recent.first() {
            Some((first, _)) if recent.len() >= TRIES_A_DAY => {
                let retry_after = (DAY - at.duration_since(*first)).as_secs().max(1);
                Err(MfaError::TooMany { retry_after })
            }
            _ => Ok(()),
        }
    }

    fn fresh(&self, step: i64) -> Result<(), MfaError> {
        if step > self.last_step { Ok(()) } else { Err(MfaError::WrongCode { remaining: 0 }) }
    }
}

impl Aggregate for Mfa {
    const TYPE: &'static str = "mfa";
    type Command = MfaCommand;
    type Event = MfaEvent;
    type Error = MfaError;

    fn decide(&self, command: MfaCommand) -> Result<Vec<MfaEvent>, MfaError> {
        match command {
            MfaCommand::EnrolTotp { id } if self.totp.is_none() => Ok(vec![MfaEvent::TotpEnrolled { id }]),
            MfaCommand::EnrolTotp { .. } => Err(MfaError::InvalidState { state: "ENROLLED" }),
            MfaCommand::ConfirmTotp { id, step } if self.pending == Some(id) => {
                Ok(vec![MfaEvent::TotpConfirmed { id, step }])
            }
            MfaCommand::ConfirmTotp { .. } => Err(MfaError::InvalidState { state: "NOT_ENROLLED" }),
            MfaCommand::RemoveTotp { step } if self.totp.is_some() => {
                self.fresh(step)?;
                Ok(vec![MfaEvent::TotpRemoved])
            }
            MfaCommand::RemoveTotp { .. } => Err(MfaError::InvalidState { state: "NOT_ENROLLED" }),
            MfaCommand::EnrolSms if self.sms => Err(MfaError::InvalidState { state: "ENROLLED" }),
            MfaCommand::EnrolSms => Ok(vec![MfaEvent::SmsEnrolled]),
            MfaCommand::RemoveSms if self.sms => Ok(vec![MfaEvent::SmsRemoved]),
            MfaCommand::RemoveSms => Err(MfaError::InvalidState { state: "NOT_ENROLLED" }),
            MfaCommand::Try { session, at } => {
                self.allow(session, at)?;
                Ok(vec![MfaEvent::Tried { session, at }])
            }
            MfaCommand::Pass(passed) => {
                if let Some(step) = passed.step {
                    self.fresh(step)?;
                }
                Ok(vec![MfaEvent::Passed(passed)])
            }
        }
    }

    fn evolve(&mut self, event: &MfaEvent) {
        match event {
            MfaEvent::TotpEnrolled { id } => self.pending = Some(*id),
            MfaEvent::TotpConfirmed { id, step } => {
                (self.pending, self.totp, self.last_step) = (None, Some(*id), *step);
                self.tries.clear();
            }
            MfaEvent::TotpRemoved => (self.totp, self.last_step) = (None, 0),
            MfaEvent::SmsEnrolled => {
                self.sms = true;
                self.tries.clear();
            }
            MfaEvent::SmsRemoved => self.sms = false,
            MfaEvent::Tried { session, at } => {
                self.tries.retain(|(tried, _)| at.duration_since(*tried) < DAY);
                self.tries.push((*at, *session));
            }
            MfaEvent::Passed(passed) => {
                self.tries.clear();
                self.last_step = passed.step.unwrap_or(self.last_step);
                self.devices.retain(|known| *known != passed.device);
                self.devices.push(passed.device.clone());
                if self.devices.len() > DEVICES {
                    self.devices.remove(0);
                }
            }
        }
    }
}
