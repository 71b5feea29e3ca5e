//! Who is asking, and what they may do.
//!
//! ```text
//!   Authorization: Bearer ... --> verified before? (hash of the token) --> Caller
//!                                   no: signature, claims, session in the log --> remembered
//! ```
//!
//! A [`Caller`] is good until its token expires or its session ends, whichever server ended it.

mod allowed;
mod cache;
mod guard;
pub mod proof;
mod sessions;
#[cfg(test)]
mod tests;
mod tokens;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use bursar_commands::Journal;
use bursar_domain::kernel::{Permission, SessionId, UserId};
use bursar_domain::sessions::Session;
use bursar_domain::users::User;
use jiff::Timestamp;

pub use allowed::{
    AccountOps, Allowed, AuditRead, CardOps, DeviceOps, DisputeResolve, Grant, KycVerify, LoanApprove,
    LoanDesk, LoanDisburse, LoanReview, ManageProfile, MfaVerify, OpsRebuild, PiiErase, ProductAdmin,
    ReadAccount, StaffAdmin, WebhookAdmin, WriteTransactions, permit,
};
pub use cache::Verified;
pub use guard::LoginGuard;
pub use sessions::{Ended, Sessions};
pub use tokens::{AccessTokens, BadKey, Claims};

use crate::problem::Problem;

/// Whoever a verified token speaks for.
#[derive(Debug, Clone)]
pub struct Caller(Arc<Identity>);

#[derive(Debug)]
struct Identity {
    user: UserId,
    /// The user id as text, for event metadata.
    actor: String,
    session: SessionId,
    permissions: Vec<Permission>,
    /// Seconds since 1970.
    expires_at: i64,
    ended: Ended,
}

impl Caller {
    fn new(claims: Claims, ended: Ended) -> Self {
        Self(Arc::new(Identity {
            user: claims.sub,
            actor: claims.sub.to_string(),
            session: claims.sid,
            permissions: claims.perm,
            expires_at: claims.exp,
            ended,
        }))
    }

    /// The person.
    #[must_use]
    pub fn user(&self) -> UserId {
        self.0.user
    }

    /// The person's id as text.
    #[must_use]
    pub fn actor(&self) -> &str {
        &self.0.actor
    }

    /// The login the token stems from.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.0.session
    }

    /// Whether the token allows it.
    #[must_use]
    pub fn may(&self, permission: Permission) -> bool {
        self.0.permissions.contains(&permission)
    }

    /// Whether the token allows anything that only staff may do.
    #[must_use]
    pub fn is_staff(&self) -> bool {
        self.0.permissions.iter().any(|permission| permission.is_staff())
    }

    fn is_good(&self, now: Timestamp) -> bool {
        now.as_second() < self.0.expires_at && !self.0.ended.load(Ordering::Acquire)
    }
}

/// Tells callers from strangers.
pub struct Auth {
    tokens: AccessTokens,
    verified: Verified,
    sessions: Arc<Sessions>,
    journal: Journal,
}

impl Auth {
    /// Verifies tokens made by `tokens`, and hears from `journal` when their sessions end.
    #[must_use]
    pub fn new(tokens: AccessTokens, journal: Journal, remembered_tokens: usize) -> Self {
        let sessions = Arc::new(Sessions::default());
        journal.observe(Arc::clone(&sessions) as Arc<dyn bursar_commands::journal::Observer>);
        Self { tokens, verified: Verified::new(remembered_tokens), sessions, journal }
    }

    /// Signs and verifies.
    #[must_use]
    pub const fn tokens(&self) -> &AccessTokens {
        &self.tokens
    }

    /// The caller of a request.
    ///
    /// # Errors
    /// 401; 503 when the session cannot be looked up.
    pub async fn authenticate(&self, headers: &HeaderMap) -> Result<Caller, Problem> {
        let token = bearer(headers).ok_or_else(Problem::unauthenticated)?;
        let hash = Verified::hash(token);
        let now = self.journal.sources().clock.now();
        match self.verified.get(&hash, now) {
            Some(caller) => Ok(caller),
            None => self.verify(token, hash, now).await,
        }
    }

    async fn verify(&self, token: &str, hash: [u8; 32], now: Timestamp) -> Result<Caller, Problem> {
        let claims = self.tokens.verify(token).filter(|claims| claims.is_good(now));
        let claims = claims.ok_or_else(Problem::unauthenticated)?;
        loop {
            let ended = self.sessions.watch(claims.sid, claims.sub);
            if !self.is_open(claims.sid, claims.sub).await? {
                return Err(Problem::unauthenticated());
            }
            // Something happened while it was read: it is read again.
            if !ended.load(Ordering::Acquire) {
                let caller = Caller::new(claims, ended);
                self.verified.put(hash, caller.clone(), now);
                return Ok(caller);
            }
        }
    }

    /// Whether the session is `user`'s and nothing has ended it.
    async fn is_open(&self, id: SessionId, user: UserId) -> Result<bool, Problem> {
        let (session, _) = self.journal.load::<Session>(&id.to_string()).await?;
        let epoch = match session {
            Session::Live(live) if live.started.user_id == user => live.started.epoch,
            Session::Live(_) | Session::Ended(_) | Session::Absent => return Ok(false),
        };
        let (user, _) = self.journal.load::<User>(&user.to_string()).await?;
        Ok(user.admits(Some(id), epoch))
    }

    /// The claims of the request's token, whether or not its session is over: enough to log out, and only for that.
    ///
    /// # Errors
    /// 401, unless we signed it and it has not expired.
    pub fn identify(&self, headers: &HeaderMap) -> Result<Claims, Problem> {
        let now = self.journal.sources().clock.now();
        bearer(headers)
            .and_then(|token| self.tokens.verify(token))
            .filter(|claims| claims.is_good(now))
            .ok_or_else(Problem::unauthenticated)
    }
}

/// The token of an `Authorization: Bearer` header (RFC 6750; the scheme in any case).
#[must_use]
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
