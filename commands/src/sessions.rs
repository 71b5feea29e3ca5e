//! Logging in, exchanging refresh tokens, logging out, and ending every session of somebody.

use bursar_domain::devices::Description;
use bursar_domain::kernel::{Permission, SessionId, Sources, UserId, add_seconds, uuid_v7};
use bursar_domain::sessions::{
    EndReason, Issued, Refresh, SecondFactor, Session, SessionCommand, SessionError, Started,
};
use bursar_domain::users::{SessionsEndReason, SessionsEnded, User, UserCommand};
use bursar_domain::{Rejection, RejectionKind};

use crate::certificates::NotProven;
use crate::devices;
use crate::keys::{Keys, RefreshToken};
use crate::mfa::SecondFactors;
use crate::owned::CommandError;
use crate::passwords::{Password, Passwords};
use crate::users;
use crate::{Committed, Context, Journal, SubmitError, Unit};

/// How long refresh tokens live, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct Lifetimes {
    /// A refresh token of an ordinary login.
    pub refresh: i64,
    /// A refresh token of a login with `rememberMe`.
    pub remembered: i64,
    /// A session, however often it is refreshed.
    pub absolute: i64,
    /// A login that waits for a second factor.
    pub pending: i64,
}

/// Who wants to log in, and from where.
pub struct Login {
    /// The email address.
    pub username: String,
    /// The password.
    pub password: Password,
    /// The device the session is bound to.
    pub device_id: String,
    /// That device, as its app describes it.
    pub device: Description,
    /// Whether the session shall outlive the day.
    pub remember_me: bool,
}

/// What a login needs besides the password.
#[derive(Clone)]
pub struct Factors {
    /// Second factors.
    pub second: SecondFactors,
    /// Whether a device on which none was ever given needs one.
    pub on_new_device: bool,
}

/// Unknown user or wrong password: one answer, after the same work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("user name or password is wrong")]
pub struct InvalidCredentials;

impl Rejection for InvalidCredentials {
    fn code(&self) -> &'static str {
        "INVALID_CREDENTIALS"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Unauthenticated
    }
}

/// Begins a session. The event holds everything the tokens are made from.
///
/// # Errors
/// `INVALID_CREDENTIALS`.
pub async fn login(
    journal: &Journal,
    keys: &Keys,
    passwords: &Passwords,
    factors: &Factors,
    lifetimes: Lifetimes,
    mut context: Context,
    login: Login,
) -> Result<Committed, CommandError> {
    let found = users::by_email(journal, keys, &login.username).await?;
    // Somebody unknown is looked up like everybody else, so that the answer takes no less time.
    let id = found.unwrap_or_else(|| UserId::mint(journal.sources()));
    let (user, _) = journal.load::<User>(&id.to_string()).await?;
    let mfa = factors.second.of(id).await?;
    let device = factors.second.device(id, &login.device_id);
    let right = passwords.verify(login.password, user.password_hash()).await;
    // Whoever may do nothing has no business here, whatever they know.
    let (Some(user_id), true) = (found, right && !user.permissions().is_empty()) else {
        return Err(CommandError::refused(InvalidCredentials));
    };
    context.metadata.actor = user_id.to_string().into();
    let seen = devices::see(journal.sources(), login.device_id.clone(), login.device);
    let opening =
        Opening { user_id, user: &user, device_id: login.device_id, remember_me: login.remember_me };
    let unit = Unit::new(context);
    let new_device = factors.on_new_device && !mfa.knows(&device);
    let unit = if mfa.is_required() || new_device {
        // A code is sent when nothing else shows one.
        let sends = mfa.totp.is_none();
        opening.wait(unit, journal.sources(), lifetimes, sends.then_some(&factors.second))
    } else {
        opening.start(unit, journal.sources(), keys, lifetimes)
    };
    let unit = unit.step(user_id, seen);
    // What was read may have changed by now: the password, or whether they are let in at all.
    Ok(journal.submit(unit).await.map_err(not_admitted(InvalidCredentials))?)
}

/// Whoever has proven to have a device's key.
pub struct CertificateLogin {
    /// Whose device it is.
    pub user: UserId,
    /// The device.
    pub device_id: String,
}

/// Begins a session for the owner of a device. The context's key is the proof's, which is good once.
///
/// # Errors
/// [`NotProven`].
pub async fn login_with_certificate(
    journal: &Journal,
    keys: &Keys,
    lifetimes: Lifetimes,
    mut context: Context,
    login: CertificateLogin,
) -> Result<Committed, CommandError> {
    let CertificateLogin { user: user_id, device_id } = login;
    let (user, _) = journal.load::<User>(&user_id.to_string()).await?;
    context.metadata.actor = user_id.to_string().into();
    let opening = Opening { user_id, user: &user, device_id, remember_me: false };
    let unit = opening.start(Unit::new(context), journal.sources(), keys, lifetimes);
    Ok(journal.submit(unit).await.map_err(not_admitted(NotProven))?)
}

/// A session that is to begin.
pub(crate) struct Opening<'a> {
    pub(crate) user_id: UserId,
    /// As it was when they were found to be who they say.
    pub(crate) user: &'a User,
    pub(crate) device_id: String,
    pub(crate) remember_me: bool,
}

impl Opening<'_> {
    /// Adds a session to a unit that is good for nothing but giving a second factor; with `sends`, a code goes to the phone
    /// on file.
    fn wait(
        self,
        unit: Unit,
        sources: &Sources,
        lifetimes: Lifetimes,
        sends: Option<&SecondFactors>,
    ) -> Unit {
        let session = SessionId::mint(sources);
        let now = sources.clock.now();
        let epoch = self.user.epoch();
        let expires_at = add_seconds(now, lifetimes.pending);
        let started = Started {
            user_id: self.user_id,
            device_id: self.device_id,
            permissions: vec![Permission::MfaVerify],
            // No refresh token has this hash, and none is taken.
            first: Issued {
                generation: 0,
                jti: jti(sources),
                refresh_hash: String::new(),
                issued_at: now,
                refresh_expires_at: now,
            },
            absolute_expires_at: expires_at,
            refresh_seconds: 0,
            epoch,
            awaits: Some(SecondFactor { expires_at, remember_me: self.remember_me }),
        };
        let unit = unit
            .create(session, SessionCommand::Start(Box::new(started)))
            .step(self.user_id, UserCommand::Admit { session: None, epoch });
        match sends.and_then(|factors| factors.message_to(self.user, session)) {
            Some(message) => unit.step(self.user_id, message),
            None => unit,
        }
    }

    /// Adds the session to a unit, which is refused with `NOT_ADMITTED` when the user's sessions were ended since the user
    /// was read.
    pub(crate) fn start(self, unit: Unit, sources: &Sources, keys: &Keys, lifetimes: Lifetimes) -> Unit {
        let session = SessionId::mint(sources);
        let now = sources.clock.now();
        let refresh_seconds = if self.remember_me { lifetimes.remembered } else { lifetimes.refresh };
        let epoch = self.user.epoch();
        let started = Started {
            user_id: self.user_id,
            device_id: self.device_id,
            permissions: self.user.permissions(),
            first: Issued {
                generation: 0,
                jti: jti(sources),
                refresh_hash: keys.refresh_token(session, 0).hash(),
                issued_at: now,
                refresh_expires_at: add_seconds(now, refresh_seconds.min(lifetimes.absolute)),
            },
            absolute_expires_at: add_seconds(now, lifetimes.absolute),
            refresh_seconds,
            epoch,
            awaits: None,
        };
        unit.create(session, SessionCommand::Start(Box::new(started)))
            .step(self.user_id, UserCommand::Admit { session: None, epoch })
    }
}

/// Adds the end of all of a user's sessions to a unit. From its commit on none of them is good on any server, whether
/// or not anybody has listed them. The unit is refused with `OVERTAKEN` when they were ended since `user` was read.
#[must_use]
pub fn end_all(unit: Unit, user_id: UserId, user: &User, ending: Ending) -> Unit {
    let Ending { reason, except, sessions } = ending;
    let ended = SessionsEnded { reason, except, sessions };
    unit.step(user_id, UserCommand::EndSessions { seen: user.epoch(), ended })
}

/// How all sessions of a user end.
#[derive(Debug, Clone, Copy)]
pub struct Ending {
    /// Why.
    pub reason: SessionsEndReason,
    /// The one that goes on.
    pub except: Option<SessionId>,
    /// How many end, as far as the read side knows: what the answer says.
    pub sessions: u32,
}

/// The answer to a repeat of what was carried out under the context's key; to anything else `refusal`. For secrets that are
/// good once: the repeat brings one that no longer is.
pub(crate) async fn repeated(
    journal: &Journal,
    context: Context,
    user: UserId,
    refusal: impl Rejection,
) -> Result<Committed, CommandError> {
    if !journal.knows(&context).await? {
        return Err(CommandError::refused(refusal));
    }
    // There is no such epoch: only a repeat gets past it.
    let nothing = UserCommand::Admit { session: None, epoch: u32::MAX };
    let unit = Unit::new(context).step(user, nothing);
    Ok(journal.submit(unit).await.map_err(not_admitted(refusal))?)
}

/// What a user's refusal to be admitted is called by whoever asked for it.
pub(crate) fn not_admitted(words: impl Rejection) -> impl FnOnce(SubmitError) -> SubmitError {
    in_other_words(&["NOT_ADMITTED"], words)
}

/// A refusal with one of `codes`, in the words of whoever asked.
pub(crate) fn in_other_words(
    codes: &'static [&'static str],
    words: impl Rejection,
) -> impl FnOnce(SubmitError) -> SubmitError {
    |error| match error {
        SubmitError::Refused(refusal) if codes.contains(&refusal.code()) => {
            SubmitError::Refused(Box::new(words))
        }
        other => other,
    }
}

/// What became of a refresh token.
pub struct Exchange {
    /// How the session began; never changes.
    pub started: Started,
    /// `refreshed`, `reissued`, or `ended`: then somebody used an old token or another device, the session is over
    /// and the caller gets nothing.
    pub committed: Committed,
}

/// Exchanges a refresh token for the next pair.
///
/// # Errors
/// `INVALID_TOKEN`.
pub async fn refresh(
    journal: &Journal,
    keys: &Keys,
    mut context: Context,
    token: &RefreshToken,
    device_id: String,
) -> Result<Exchange, CommandError> {
    let (session, _) = journal.load::<Session>(&token.session.to_string()).await?;
    let (Session::Live(live) | Session::Ended(live)) = session else {
        return Err(CommandError::refused(SessionError::InvalidToken));
    };
    // An erased person has no sessions, whatever was not ended one by one.
    if journal.load::<User>(&live.started.user_id.to_string()).await?.0 == User::Erased {
        return Err(CommandError::refused(SessionError::InvalidToken));
    }
    context.metadata.actor = live.started.user_id.to_string().into();
    let now = journal.sources().clock.now();
    let exchange = SessionCommand::Refresh(Box::new(Refresh {
        presented_hash: token.hash(),
        device_id,
        // The successor counts only when the presented token is the current one.
        successor_hash: keys.refresh_token(token.session, token.generation.saturating_add(1)).hash(),
        jti: jti(journal.sources()),
        at: now,
        expires_at: add_seconds(now, live.started.refresh_seconds),
    }));
    let admit = UserCommand::Admit { session: Some(token.session), epoch: live.started.epoch };
    let unit = Unit::new(context).step(token.session, exchange).step(live.started.user_id, admit);
    let committed = journal.submit(unit).await.map_err(not_admitted(SessionError::InvalidToken))?;
    Ok(Exchange { started: live.started, committed })
}

/// Ends those of `sessions` that belong to `user`; others are passed over without a word.
///
/// # Errors
/// When the store cannot be reached.
pub async fn revoke(
    journal: &Journal,
    context: Context,
    user: UserId,
    sessions: &[SessionId],
) -> Result<Revoked, CommandError> {
    let mut unit = Unit::new(context);
    let mut own = Vec::new();
    for session in sessions {
        let id = session.to_string();
        let (Session::Live(live) | Session::Ended(live)) = journal.load::<Session>(&id).await?.0 else {
            continue;
        };
        if live.started.user_id == user && !own.contains(session) {
            unit = unit.step(&id, SessionCommand::End { reason: EndReason::Revoked });
            own.push(*session);
        }
    }
    let committed = if own.is_empty() { None } else { Some(journal.submit(unit).await?) };
    Ok(Revoked { own, committed })
}

/// What a logout did.
pub struct Revoked {
    /// The caller's sessions among those named; all of them are over now.
    pub own: Vec<SessionId>,
    /// The events, when any of the sessions was the caller's.
    pub committed: Option<Committed>,
}

fn jti(sources: &Sources) -> String {
    uuid_v7(sources).as_simple().to_string()
}
