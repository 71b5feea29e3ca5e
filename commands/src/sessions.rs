//! Logging in, exchanging refresh tokens, logging out.

use bursar_domain::kernel::{Personal, SessionId, Sources, UserId, add_seconds, uuid_v7};
use bursar_domain::sessions::{EndReason, Issued, Refresh, Session, SessionCommand, SessionError, Started};
use bursar_domain::users::User;
use bursar_domain::{Rejection, RejectionKind};

use crate::keys::{Keys, RefreshToken};
use crate::owned::CommandError;
use crate::passwords::{Password, Passwords};
use crate::users;
use crate::{Committed, Context, Journal, Unit};

/// How long refresh tokens live, in seconds.
#[derive(Debug, Clone, Copy)]
pub struct Lifetimes {
    /// A refresh token of an ordinary login.
    pub refresh: i64,
    /// A refresh token of a login with `rememberMe`.
    pub remembered: i64,
    /// A session, however often it is refreshed.
    pub absolute: i64,
}

/// Who wants to log in, and from where.
pub struct Login {
    /// The email address.
    pub username: String,
    /// The password.
    pub password: Password,
    /// The device the session is bound to.
    pub device_id: String,
    /// Whether the session shall outlive the day.
    pub remember_me: bool,
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
    lifetimes: Lifetimes,
    mut context: Context,
    login: Login,
) -> Result<Committed, CommandError> {
    let found = users::by_email(journal, keys, &login.username).await?;
    // Somebody unknown is looked up like everybody else, so that the answer takes no less time.
    let id = found.unwrap_or_else(|| UserId::mint(journal.sources()));
    let (user, _) = journal.load::<User>(&id.to_string()).await?;
    let hash =
        user.person().and_then(|person| person.password_hash.as_ref()).and_then(Personal::get).cloned();
    let right = passwords.verify(login.password, hash).await;
    let (Some(user_id), true) = (found, right) else {
        return Err(CommandError::refused(InvalidCredentials));
    };
    context.metadata.actor = user_id.to_string().into();
    let sources = journal.sources();
    let session = SessionId::mint(sources);
    let now = sources.clock.now();
    let refresh_seconds = if login.remember_me { lifetimes.remembered } else { lifetimes.refresh };
    let started = Started {
        user_id,
        device_id: login.device_id,
        permissions: user.permissions(),
        first: Issued {
            generation: 0,
            jti: jti(sources),
            refresh_hash: keys.refresh_token(session, 0).hash(),
            issued_at: now,
            refresh_expires_at: add_seconds(now, refresh_seconds.min(lifetimes.absolute)),
        },
        absolute_expires_at: add_seconds(now, lifetimes.absolute),
        refresh_seconds,
    };
    let unit = Unit::new(context).create(session, SessionCommand::Start(Box::new(started)));
    Ok(journal.submit(unit).await?)
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
    let committed = journal.submit(Unit::new(context).step(token.session, exchange)).await?;
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
