//! Verifications: codes and links that prove somebody has a phone or a mailbox in their hands.
//!
//! One stream a person, so that what may be sent to somebody in a day, and which code is the newest, is decided where
//! all of it is known. The codes are in no event: each is a function of the bank's key, the verification and its
//! generation, made anew when it is sent and when it is compared.
//!
//! ```text
//!   issue -> PENDING -- try, at most so often --> confirm -> VERIFIED
//!              |  ^ resend: a new code,              '---------> FAILED after the last try
//!              '--'  not before its time             '---------> EXPIRED by the clock
//! ```

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

pub use command::{NewVerification, Policy, VerificationsCommand};
pub use error::VerificationsError;
pub use event::{Issued, Purpose, Resent, VerificationStatus, VerificationsEvent};

use crate::aggregate::Aggregate;
use crate::kernel::{VerificationId, add_seconds, end_of_day, seconds_until, utc_date};

/// A person's verifications, by user id: those that count. Of each purpose that is the newest, but for devices that others
/// want to give them: there it is the newest of each offer, so that nobody voids the offer of somebody else with one of theirs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verifications {
    kept: BTreeMap<VerificationId, Verification>,
    /// Codes sent for each purpose, on the latest UTC day that one was.
    sent: BTreeMap<Purpose, (Date, u32)>,
}

/// One verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verification {
    /// How it began.
    pub issued: Issued,
    /// Codes made so far beyond the first; part of what the code is a function of.
    pub resends: u32,
    /// When the latest code was made.
    pub sent_at: Timestamp,
    /// When the latest code stops to count.
    pub expires_at: Timestamp,
    /// Guesses so far, right or wrong.
    pub tries: u32,
    /// Whether a guess was right.
    pub is_confirmed: bool,
}

impl Verification {
    /// Where it stands at `now`.
    #[must_use]
    pub fn status(&self, now: Timestamp) -> VerificationStatus {
        if self.is_confirmed {
            VerificationStatus::Verified
        } else if now >= self.expires_at {
            VerificationStatus::Expired
        } else if self.tries >= self.issued.tries {
            VerificationStatus::Failed
        } else {
            VerificationStatus::Pending
        }
    }

    /// How many guesses are left.
    #[must_use]
    pub const fn remaining_tries(&self) -> u32 {
        self.issued.tries.saturating_sub(self.tries)
    }

    /// Whether it still counts when `newer` has begun.
    fn stands_beside(&self, newer: &Issued) -> bool {
        self.issued.purpose != newer.purpose
            || newer.purpose == Purpose::DeviceTransfer
                && self.issued.bound_to != newer.bound_to
                && newer.issued_at < self.expires_at
    }

    /// Why nothing more can be done with it at `at`, if nothing can. The last try may still turn out to be right.
    fn open(&self, at: Timestamp, at_most: u32) -> Result<(), VerificationsError> {
        match self.status(at) {
            VerificationStatus::Pending => Ok(()),
            VerificationStatus::Failed if self.tries <= at_most => Ok(()),
            closed => Err(VerificationsError::InvalidState { state: closed.as_str() }),
        }
    }
}

impl Verifications {
    /// The newest verification of a purpose.
    #[must_use]
    pub fn newest(&self, purpose: Purpose) -> Option<&Verification> {
        self.all(purpose).next_back()
    }

    /// Those of a purpose that count, the oldest first.
    pub fn all(&self, purpose: Purpose) -> impl DoubleEndedIterator<Item = &Verification> {
        self.kept.values().filter(move |kept| kept.issued.purpose == purpose)
    }

    /// The verification of a purpose that is bound to this.
    #[must_use]
    pub fn bound(&self, purpose: Purpose, bound_to: &str) -> Option<&Verification> {
        self.all(purpose).find(|kept| kept.issued.bound_to == bound_to)
    }

    /// The verification `id`, unless a newer one of its purpose has taken its place.
    #[must_use]
    pub fn get(&self, id: VerificationId) -> Option<&Verification> {
        self.kept.get(&id)
    }

    fn known(&self, id: VerificationId) -> Result<&Verification, VerificationsError> {
        self.get(id).ok_or(VerificationsError::Unknown)
    }

    /// Whether one more code may be sent on the day of `at`.
    fn allow(&self, purpose: Purpose, at: Timestamp, a_day: u32) -> Result<(), VerificationsError> {
        let sent =
            self.sent.get(&purpose).filter(|(day, _)| *day == utc_date(at)).map_or(0, |(_, sent)| *sent);
        if sent < a_day {
            return Ok(());
        }
        let tomorrow = end_of_day(utc_date(at));
        Err(VerificationsError::TooMany { allowed: a_day, retry_after: seconds_until(at, tomorrow) })
    }

    fn resend(
        &self,
        id: VerificationId,
        at: Timestamp,
        policy: Policy,
    ) -> Result<VerificationsEvent, VerificationsError> {
        let verification = self.known(id)?;
        if verification.is_confirmed || verification.status(at) == VerificationStatus::Failed {
            return Err(VerificationsError::InvalidState { state: verification.status(at).as_str() });
        }
        let not_before = add_seconds(verification.sent_at, policy.resend_after);
        if at < not_before {
            return Err(VerificationsError::TooSoon { retry_after: seconds_until(at, not_before) });
        }
        let purpose = verification.issued.purpose;
        self.allow(purpose, at, policy.a_day)?;
        Ok(VerificationsEvent::Resent(Resent {
            id,
            purpose,
            resends: verification.resends.saturating_add(1),
            sent_at: at,
            resend_at: add_seconds(at, policy.resend_after),
            expires_at: add_seconds(at, policy.lifetime),
        }))
    }

    fn count(&mut self, purpose: Purpose, at: Timestamp) {
        let (day, sent) = self.sent.entry(purpose).or_insert_with(|| (utc_date(at), 0));
        if *day != utc_date(at) {
            (*day, *sent) = (utc_date(at), 0);
        }
        *sent = sent.saturating_add(1);
    }

    fn change(&mut self, id: VerificationId, change: impl FnOnce(&mut Verification)) {
        if let Some(verification) = self.kept.get_mut(&id) {
            change(verification);
        }
    }
}

impl Aggregate for Verifications {
    const TYPE: &'static str = "verifications";
    type Command = VerificationsCommand;
    type Event = VerificationsEvent;
    type Error = VerificationsError;

    fn decide(&self, command: VerificationsCommand) -> Result<Vec<VerificationsEvent>, VerificationsError> {
        match command {
            VerificationsCommand::Issue(new) => {
                self.allow(new.purpose, new.at, new.policy.a_day)?;
                Ok(vec![VerificationsEvent::Issued(Box::new(new.into_event()))])
            }
            VerificationsCommand::Resend { id, at, policy } => Ok(vec![self.resend(id, at, policy)?]),
            VerificationsCommand::Try { id, at } => {
                let verification = self.known(id)?;
                verification.open(at, 0)?;
                Ok(vec![VerificationsEvent::Tried { id }])
            }
            VerificationsCommand::Confirm { id, at } => {
                let verification = self.known(id)?;
                verification.open(at, verification.issued.tries)?;
                let purpose = verification.issued.purpose;
                Ok(vec![VerificationsEvent::Confirmed { id, purpose }])
            }
        }
    }

    fn evolve(&mut self, event: &VerificationsEvent) {
        match event {
            VerificationsEvent::Issued(issued) => {
                let verification = Verification {
                    resends: 0,
                    sent_at: issued.issued_at,
                    expires_at: issued.expires_at,
                    tries: 0,
                    is_confirmed: false,
                    issued: (**issued).clone(),
                };
                self.count(issued.purpose, issued.issued_at);
                self.kept.retain(|_, kept| kept.stands_beside(issued));
                self.kept.insert(issued.id, verification);
            }
            VerificationsEvent::Resent(resent) => {
                self.count(resent.purpose, resent.sent_at);
                self.change(resent.id, |verification| {
                    verification.resends = resent.resends;
                    verification.sent_at = resent.sent_at;
                    verification.expires_at = resent.expires_at;
                });
            }
            VerificationsEvent::Tried { id } => {
                self.change(*id, |verification| verification.tries = verification.tries.saturating_add(1));
            }
            VerificationsEvent::Confirmed { id, .. } => self.change(*id, |v| v.is_confirmed = true),
        }
    }
}
