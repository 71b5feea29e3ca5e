//! Second factors: enrolling them, and finishing a login with one.

mod totp;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bursar_domain::kernel::{EnrolmentId, SessionId, UserId};
use bursar_domain::messages::{Category, Channel, MessagesCommand};
use bursar_domain::mfa::{Mfa, MfaCommand, MfaError, Passed};
use bursar_domain::sessions::{Live, Session, SessionCommand, SessionError};
use bursar_domain::users::{User, UserCommand, UserError};
use bursar_domain::verifications::{Purpose, VerificationsCommand};
use zeroize::Zeroizing;

use crate::keys::Keys;
use crate::messages::notice;
use crate::owned::{CommandError, once};
use crate::sessions::{self, Lifetimes, Opening};
use crate::verifications::{Guess, Verifier, Wanted};
use crate::{Committed, Context, Journal, Unit};

bursar_domain::spelled! {
    /// How a second factor is given.
    pub enum Method {
        /// A code that an app shows.
        Totp = "TOTP",
        /// A code that came by short message.
        Sms = "SMS",
    }
}

/// Second factors at work. Cheap to clone.
#[derive(Clone)]
pub struct SecondFactors {
    journal: Journal,
    keys: Arc<Keys>,
    verifier: Verifier,
    /// Codes looked at so far.
    looks: Arc<AtomicU64>,
}

/// A code of an app that was found to be right, and the unit in which it counts.
struct Shown {
    unit: Unit,
    step: i64,
}

/// A login that is to be finished.
pub struct Completion {
    /// Whose.
    pub user: UserId,
    /// The session that waits.
    pub session: SessionId,
    /// The device it was begun on.
    pub device_id: String,
    /// How the factor is given.
    pub method: Method,
    /// The code.
    pub code: String,
}

impl SecondFactors {
    /// The second factors of this bank.
    #[must_use]
    pub fn new(journal: Journal, keys: Arc<Keys>, verifier: Verifier) -> Self {
        Self { journal, keys, verifier, looks: Arc::default() }
    }

    /// How many codes of apps were looked at: never more than were counted before.
    #[must_use]
    pub fn looks(&self) -> u64 {
        self.looks.load(Ordering::Relaxed)
    }

    /// The second factors of somebody.
    ///
    /// # Errors
    /// When the store cannot be reached.
    pub async fn of(&self, user: UserId) -> Result<Mfa, CommandError> {
        Ok(self.journal.load::<Mfa>(&user.to_string()).await?.0)
    }

    /// The secret of an app, base32: what is typed into it or shown as a QR code.
    #[must_use]
    pub fn secret(&self, user: UserId, id: EnrolmentId) -> Zeroizing<String> {
        totp::base32(self.keys.totp_secret(user, id).as_slice())
    }

    /// Gives an app a secret. It counts once the app has shown a code.
    ///
    /// # Errors
    /// `INVALID_STATE` while another app counts.
    pub async fn enrol_totp(&self, context: Context, user: UserId) -> Result<Committed, CommandError> {
        let id = EnrolmentId::mint(self.journal.sources());
        Ok(self.journal.submit(Unit::new(context).step(user, MfaCommand::EnrolTotp { id })).await?)
    }

    /// The app shows its first code, and is asked for one from now on.
    ///
    /// # Errors
    /// `INVALID_CODE`, `INVALID_STATE`, `TRIES_EXHAUSTED`, `TOO_MANY_TRIES` (429).
    pub async fn confirm_totp(
        &self,
        context: Context,
        user: UserId,
        session: SessionId,
        code: &str,
    ) -> Result<Committed, CommandError> {
        let id = self.of(user).await?.pending;
        let Some(Shown { unit, step }) = self.look(&context, user, session, id, code).await? else {
            return sessions::repeated(&self.journal, context, user, Self::none()).await;
        };
        let confirm = id.map(|id| MfaCommand::ConfirmTotp { id, step });
        let unit = confirm.into_iter().fold(unit, |unit, confirm| unit.step(user, confirm));
        Ok(self.journal.submit(self.told(unit, user, "An app shows codes for your logins now.")).await?)
    }

    /// No app is asked for codes any more; it shows a last one.
    ///
    /// # Errors
    /// As [`confirm_totp`](Self::confirm_totp).
    pub async fn remove_totp(
        &self,
        context: Context,
        user: UserId,
        session: SessionId,
        code: &str,
    ) -> Result<Committed, CommandError> {
        let id = self.of(user).await?.totp;
        let Some(Shown { unit, step }) = self.look(&context, user, session, id, code).await? else {
            return sessions::repeated(&self.journal, context, user, Self::none()).await;
        };
        let unit = unit.step(user, MfaCommand::RemoveTotp { step });
        Ok(self
            .journal
            .submit(self.told(unit, user, "No app is asked for codes at your logins any more."))
            .await?)
    }

    /// Sends a code to the phone on file, with which codes by short message are enrolled.
    ///
    /// # Errors
    /// `INVALID_STATE` when they are; `TOO_MANY_CODES` (429); `NOT_FOUND` when there is no phone.
    pub async fn enrol_sms(
        &self,
        context: Context,
        user: UserId,
        session: SessionId,
    ) -> Result<Committed, CommandError> {
        once(&self.journal, context, async |context| {
            if self.of(user).await?.sms {
                return Err(CommandError::refused(MfaError::InvalidState { state: "ENROLLED" }));
            }
            self.send(context, user, session).await
        })
        .await
    }

    async fn send(
        &self,
        context: Context,
        user: UserId,
        session: SessionId,
    ) -> Result<Committed, CommandError> {
        let (person, _) = self.journal.load::<User>(&user.to_string()).await?;
        let send =
            self.message_to(&person, session).ok_or_else(|| CommandError::refused(UserError::Unknown))?;
        Ok(self.journal.submit(Unit::new(context).step(user, send)).await?)
    }

    /// The code came through; codes by short message are asked for from now on.
    ///
    /// # Errors
    /// Those of [`Verifier::check`].
    pub async fn confirm_sms(
        &self,
        context: Context,
        user: UserId,
        session: SessionId,
        code: &str,
    ) -> Result<Committed, CommandError> {
        let unit = self.verifier.check(context, Self::guess(user, &session.to_string(), code)).await?;
        let unit = unit.step(user, MfaCommand::EnrolSms);
        Ok(self
            .journal
            .submit(self.told(unit, user, "Codes for your logins come by short message now."))
            .await?)
    }

    /// No codes by short message any more.
    ///
    /// # Errors
    /// `INVALID_STATE` when they are not asked for.
    pub async fn remove_sms(&self, context: Context, user: UserId) -> Result<Committed, CommandError> {
        let unit = Unit::new(context).step(user, MfaCommand::RemoveSms);
        Ok(self.journal.submit(self.told(unit, user, "No codes come by short message any more.")).await?)
    }

    /// Sends a code for a login that waits for one, or the next one.
    ///
    /// # Errors
    /// `INVALID_STATE` when codes by short message are not asked for; `INVALID_TOKEN` for another device;
    /// `RESEND_TOO_SOON` and `TOO_MANY_CODES` (429).
    pub async fn resend(
        &self,
        context: Context,
        user: UserId,
        session: SessionId,
        device_id: &str,
    ) -> Result<Committed, CommandError> {
        // Answered as then: the login may be over.
        once(&self.journal, context, async |context| {
            let (waiting, _) = self.journal.load::<Session>(&session.to_string()).await?;
            let begun_here =
                |live: &Live| live.started.user_id == user && live.started.device_id == device_id;
            if !matches!(&waiting, Session::Live(live) if begun_here(live)) {
                return Err(CommandError::refused(SessionError::InvalidToken));
            }
            let mfa = self.of(user).await?;
            // A login from a new device asks for a message even when nobody enrolled for them.
            if mfa.totp.is_some() && !mfa.sms {
                return Err(CommandError::refused(MfaError::InvalidState { state: "TOTP" }));
            }
            let newest = self.verifier.newest(user, Purpose::SecondFactor).await?;
            match newest.filter(|newest| newest.issued.bound_to == session.to_string()) {
                Some(sent) => self.verifier.resend(context, user, sent.issued.id).await,
                None => self.send(context, user, session).await,
            }
        })
        .await
    }

    /// The step that sends a code for a session to the phone on file, if there is one.
    pub(crate) fn message_to(&self, user: &User, session: SessionId) -> Option<VerificationsCommand> {
        let destination = user.person()?.phone_number.get()?.clone();
        let (purpose, channel) = (Purpose::SecondFactor, Channel::Sms);
        Some(self.verifier.issue(Wanted { purpose, channel, destination, bound_to: session.to_string() }))
    }

    /// What a device is remembered by.
    pub(crate) fn device(&self, user: UserId, device_id: &str) -> String {
        self.keys.device(user, device_id)
    }

    /// Finishes a login: the session that waited ends, and the whole one begins.
    ///
    /// # Errors
    /// `INVALID_TOKEN` unless the session waits; `INVALID_CODE`, `TRIES_EXHAUSTED`, `TOO_MANY_TRIES` (429).
    pub async fn complete(
        &self,
        lifetimes: Lifetimes,
        context: Context,
        wanted: Completion,
    ) -> Result<Committed, CommandError> {
        let Completion { user: id, session, device_id, method, code } = wanted;
        let (waiting, _) = self.journal.load::<Session>(&session.to_string()).await?;
        let live = match waiting {
            Session::Live(live) if live.started.user_id == id && live.started.device_id == device_id => live,
            _ => return sessions::repeated(&self.journal, context, id, SessionError::InvalidToken).await,
        };
        let (user, _) = self.journal.load::<User>(&id.to_string()).await?;
        let device = self.device(id, &device_id);
        let (unit, step) = match method {
            Method::Totp => {
                let app = self.of(id).await?.totp;
                match self.look(&context, id, session, app, &code).await? {
                    Some(Shown { unit, step }) => (unit, Some(step)),
                    None => {
                        return sessions::repeated(&self.journal, context, id, Self::none()).await;
                    }
                }
            }
            Method::Sms => {
                self.try_once(&context, id, session).await?;
                let bound_to = session.to_string();
                (self.verifier.check(context, Self::guess(id, &bound_to, &code)).await?, None)
            }
        };
        let unit = unit.step(id, MfaCommand::Pass(Passed { step, device }));
        let unit = self.finish(unit, lifetimes, id, &user, session, &live);
        let submitted = self.journal.submit(unit).await;
        Ok(submitted.map_err(sessions::not_admitted(SessionError::InvalidToken))?)
    }

    /// The session that waited ends, and another begins in its place.
    fn finish(
        &self,
        unit: Unit,
        lifetimes: Lifetimes,
        user_id: UserId,
        user: &User,
        session: SessionId,
        live: &Live,
    ) -> Unit {
        let sources = self.journal.sources();
        let started = &live.started;
        let remember_me = started.awaits.as_ref().is_some_and(|factor| factor.remember_me);
        let unit = unit
            .step(session, SessionCommand::Complete { at: sources.clock.now() })
            .step(user_id, UserCommand::Admit { session: Some(session), epoch: started.epoch });
        let opening = Opening { user_id, user, device_id: started.device_id.clone(), remember_me };
        opening.start(unit, sources, &self.keys, lifetimes)
    }

    fn guess<'a>(user: UserId, bound_to: &'a str, code: &'a str) -> Guess<'a> {
        Guess { user, purpose: Purpose::SecondFactor, id: None, bound_to, code }
    }

    /// What is said when there is nothing to show a code of.
    const fn none() -> MfaError {
        MfaError::InvalidState { state: "NOT_ENROLLED" }
    }

    /// Counts a try, in a commit of its own. A request that was carried out before is not counted again.
    async fn try_once(
        &self,
        context: &Context,
        user: UserId,
        session: SessionId,
    ) -> Result<(), CommandError> {
        if self.journal.knows(context).await? {
            return Ok(());
        }
        let at = self.journal.sources().clock.now();
        let count = Context { idempotency: None, expected_version: None, ..context.clone() };
        self.journal.submit(Unit::new(count).step(user, MfaCommand::Try { session, at })).await?;
        Ok(())
    }

    /// Counts a try, and then looks at the code; none when there is no app, or when the request was carried out before.
    async fn look(
        &self,
        context: &Context,
        user: UserId,
        session: SessionId,
        app: Option<EnrolmentId>,
        code: &str,
    ) -> Result<Option<Shown>, CommandError> {
        let Some(app) = app else { return Ok(None) };
        if self.journal.knows(context).await? {
            return Ok(None);
        }
        self.try_once(context, user, session).await?;
        self.looks.fetch_add(1, Ordering::Relaxed);
        let secret = self.keys.totp_secret(user, app);
        let now = self.journal.sources().clock.now().as_second();
        let Some(step) = totp::step_of(secret.as_slice(), code.trim(), now) else {
            let remaining = self.of(user).await?.remaining(session);
            return Err(CommandError::refused(MfaError::WrongCode { remaining }));
        };
        Ok(Some(Shown { unit: Unit::new(context.clone()), step }))
    }

    /// Adds the news that how they log in has changed.
    fn told(&self, unit: Unit, user: UserId, body: &str) -> Unit {
        let body = format!("{body} If it was not you, call the bank at once.");
        let news = notice(self.journal.sources(), Category::Security, "How you log in has changed", body);
        unit.step(user, MessagesCommand::Post(Box::new(news)))
    }
}
