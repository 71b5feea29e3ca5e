//! Sending codes and checking them.
//!
//! ```text
//!   verifier.issue(..) --> a step: stands in the unit that asks for the code
//!        '--> SendCodes, by the log: makes the code anew and hands it to the messenger
//!   verifier.check(..) --> counts the guess (committed), compares, and answers the unit in which the code is confirmed;
//!                          the caller adds what the code authorises, and submits both at once
//! ```

use std::sync::Arc;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use bursar_domain::kernel::{UserId, VerificationId};
use bursar_domain::messages::Channel;
use bursar_domain::verifications::{
    Issued, NewVerification, Policy, Purpose, Verification, VerificationStatus, Verifications,
    VerificationsCommand, VerificationsError,
};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;

use crate::keys::{Keys, ResetToken};
use crate::messages::{Message, Messenger, NotSent};
use crate::owned::CommandError;
use crate::processes::{Done, Task, Work};
use crate::{Committed, Context, Journal, Unit};

/// What the bank allows for its codes and for the tokens it mails.
#[derive(Debug, Clone, Copy)]
pub struct Policies {
    /// Six digits.
    pub code: Policy,
    /// 256 bits, in a mail.
    pub token: Policy,
    /// Six digits with which somebody accepts a device.
    pub offer: Policy,
}

impl Policies {
    const fn of(&self, purpose: Purpose) -> Policy {
        match purpose {
            Purpose::Identity
            | Purpose::Email
            | Purpose::Phone
            | Purpose::SecondFactor
            | Purpose::PinReset => self.code,
            Purpose::PasswordReset => self.token,
            Purpose::DeviceTransfer => self.offer,
        }
    }
}

/// A verification to be begun.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// What it is for.
    pub purpose: Purpose,
    /// How the code travels.
    pub channel: Channel,
    /// Phone number or email address.
    pub destination: String,
    /// The session or device it is bound to; empty for nothing but the person.
    pub bound_to: String,
}

/// A guess at a code.
pub struct Guess<'a> {
    /// Whose verification.
    pub user: UserId,
    /// What it must be for.
    pub purpose: Purpose,
    /// Which; none for the newest of the purpose.
    pub id: Option<VerificationId>,
    /// What it must be bound to.
    pub bound_to: &'a str,
    /// The guess.
    pub code: &'a str,
}

/// Issues codes and checks them. Cheap to clone.
#[derive(Clone)]
pub struct Verifier {
    journal: Journal,
    keys: Arc<Keys>,
    policies: Policies,
}

impl Verifier {
    /// The verifier of this bank.
    #[must_use]
    pub const fn new(journal: Journal, keys: Arc<Keys>, policies: Policies) -> Self {
        Self { journal, keys, policies }
    }

    /// The step that begins a verification: `unit.step(user, verifier.issue(wanted))`. The unit is refused with
    /// `TOO_MANY_CODES` (429) when the person had enough of them today.
    #[must_use]
    pub fn issue(&self, wanted: Wanted) -> VerificationsCommand {
        let Wanted { purpose, channel, destination, bound_to } = wanted;
        let sources = self.journal.sources();
        VerificationsCommand::Issue(Box::new(NewVerification {
            id: VerificationId::mint(sources),
            purpose,
            channel,
            destination,
            bound_to,
            at: sources.clock.now(),
            policy: self.policies.of(purpose),
        }))
    }

    /// Sends a new code in the place of the last one.
    ///
    /// # Errors
    /// `NOT_FOUND`; `INVALID_STATE`; `RESEND_TOO_SOON` and `TOO_MANY_CODES` (429).
    pub async fn resend(
        &self,
        context: Context,
        user: UserId,
        id: VerificationId,
    ) -> Result<Committed, CommandError> {
        let (verifications, _) = self.journal.load::<Verifications>(&user.to_string()).await?;
        let verification =
            verifications.get(id).ok_or_else(|| CommandError::refused(VerificationsError::Unknown))?;
        let policy = self.policies.of(verification.issued.purpose);
        let at = self.journal.sources().clock.now();
        let resend = VerificationsCommand::Resend { id, at, policy };
        Ok(self.journal.submit(Unit::new(context).step(user, resend)).await?)
    }

    /// The newest verification of a purpose, if there is one.
    ///
    /// # Errors
    /// When the store cannot be reached.
    pub async fn newest(&self, user: UserId, purpose: Purpose) -> Result<Option<Verification>, CommandError> {
        let (verifications, _) = self.journal.load::<Verifications>(&user.to_string()).await?;
        Ok(verifications.newest(purpose).cloned())
    }

    /// Counts the guess, compares it, and answers the unit that confirms the code: add what the code authorises, and
    /// submit. A request whose idempotency key is known makes no second guess; its unit is answered from the log.
    ///
    /// # Errors
    /// `NOT_FOUND`; `INVALID_STATE` (with `currentState`); `INVALID_CODE` (with `remainingTries`).
    pub async fn check(&self, context: Context, guess: Guess<'_>) -> Result<Unit, CommandError> {
        if self.journal.knows(&context).await? {
            return Ok(Unit::new(context));
        }
        let Guess { user, purpose, id, bound_to, code } = guess;
        let (verifications, _) = self.journal.load::<Verifications>(&user.to_string()).await?;
        let bound = verifications.bound(purpose, bound_to);
        let bound = bound.filter(|bound| id.is_none_or(|id| id == bound.issued.id));
        let unknown = || CommandError::refused(VerificationsError::Unknown);
        let id = bound.ok_or_else(unknown)?.issued.id;
        let at = self.journal.sources().clock.now();
        let count = Context { idempotency: None, expected_version: None, ..context.clone() };
        self.journal.submit(Unit::new(count).step(user, VerificationsCommand::Try { id, at })).await?;
        // Read again: the code may have been sent anew while this guess was on its way.
        let (verifications, _) = self.journal.load::<Verifications>(&user.to_string()).await?;
        let verification = verifications.get(id).ok_or_else(unknown)?;
        let right = self.keys.code(user, id, verification.resends);
        if verify_slices_are_equal(right.as_bytes(), code.trim().as_bytes()).is_err() {
            let remaining = verification.remaining_tries();
            return Err(CommandError::refused(VerificationsError::WrongCode { remaining }));
        }
        Ok(Unit::new(context).step(user, VerificationsCommand::Confirm { id, at }))
    }

    /// The unit that uses up a token of a mail; nothing else about the token needs to be checked.
    ///
    /// The unit is refused with `NOT_FOUND` when a newer token has taken its place, and with `INVALID_STATE` when it was
    /// used or is too old.
    #[must_use]
    pub fn redeem(&self, context: Context, token: &ResetToken) -> Unit {
        let at = self.journal.sources().clock.now();
        Unit::new(context).step(token.user, VerificationsCommand::Confirm { id: token.verification, at })
    }
}

/// Sends codes of one purpose.
pub struct SendCodes {
    purpose: Purpose,
    journal: Journal,
    keys: Arc<Keys>,
    messenger: Arc<dyn Messenger>,
    /// Where the app takes what is sent, when the bank has one: `https://app.example.com/reset`.
    link: Option<String>,
}

impl SendCodes {
    /// The task of a purpose.
    #[must_use]
    pub const fn new(
        purpose: Purpose,
        journal: Journal,
        keys: Arc<Keys>,
        messenger: Arc<dyn Messenger>,
        link: Option<String>,
    ) -> Self {
        Self { purpose, journal, keys, messenger, link }
    }

    async fn send(&self, work: &Work) -> Result<Done, CommandError> {
        let Ok(user) = work.subject.parse() else { return Ok(Done::Finished) };
        let (verifications, _) = self.journal.load::<Verifications>(&work.subject).await?;
        // A code that came too late is not sent. Where several count, all are: one may have been overtaken by the next before it
        // was sent, and a way out drops a message that it has already.
        let all = verifications.all(self.purpose);
        let pending = all.filter(|kept| kept.status(work.now) == VerificationStatus::Pending);
        let mut sent = Ok(Done::Finished);
        for message in pending.filter_map(|pending| self.message(user, pending)) {
            if let Err(NotSent) = self.messenger.send(message).await {
                sent = Err(CommandError::unavailable());
            }
        }
        sent
    }

    fn message(&self, user: UserId, verification: &Verification) -> Option<Message> {
        let Issued { id, purpose, channel, destination, bound_to, .. } = &verification.issued;
        let (subject, body, data) = match purpose {
            Purpose::PasswordReset => {
                let token = self.keys.reset_token(user, *id);
                let link = self.link.as_ref().map(|link| format!("{link}?token={}", token.as_str()));
                let body = format!(
                    "Somebody, we hope you, wants to set a new password. To do so, use {}. Who did not ask for it does \
                     nothing: the password stays as it is.",
                    link.as_deref().unwrap_or(token.as_str()),
                );
                ("Set your password", body, json!({"token": token.as_str(), "link": link}))
            }
            Purpose::Identity
            | Purpose::Email
            | Purpose::Phone
            | Purpose::SecondFactor
            | Purpose::PinReset => {
                let code = self.keys.code(user, *id, verification.resends);
                let link =
                    self.link.as_ref().map(|link| format!("{link}?verificationId={id}&code={}", *code));
                let or = link.as_ref().map(|link| format!(" Or open {link}")).unwrap_or_default();
                let body =
                    format!("{} is your code. Tell it to nobody: the bank never asks for it.{or}", *code);
                ("Your code", body, json!({"code": *code, "link": link}))
            }
            Purpose::DeviceTransfer => {
                let code = self.keys.code(user, *id, verification.resends);
                let body = format!(
                    "Somebody wants to give you a device. {} is the code with which you accept it (transfer {bound_to}). Tell \
                     it to nobody: the bank never asks for it.",
                    *code,
                );
                ("A device for you", body, json!({"code": *code, "transferId": bound_to}))
            }
        };
        let mut data = data;
        data["verificationId"] = json!(id);
        data["purpose"] = json!(purpose);
        Some(Message {
            id: format!("{id}:{}", verification.resends),
            channel: *channel,
            to: destination.get()?.clone(),
            subject: subject.to_owned(),
            body,
            data,
        })
    }
}

impl Task for SendCodes {
    fn name(&self) -> &'static str {
        self.purpose.task()
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.send(work).boxed()
    }
}
