//! Sessions: a login and everything refreshed from it (a refresh token family, RFC 9700 4.14.2).
//!
//! Refresh tokens rotate. The same old token within [`GRACE_SECONDS`] from the same device means that
//! the answer was lost, and is answered with the same successor; any other reuse ends the session.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use command::{Refresh, SessionCommand};
pub use error::SessionError;
pub use event::{EndReason, Issued, SecondFactor, SessionEvent, Started};

use crate::aggregate::Aggregate;

/// How long a rotated refresh token still answers with its successor, in seconds.
pub const GRACE_SECONDS: i64 = 60;

/// A session, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Session {
    /// Not begun.
    #[default]
    Absent,
    /// Its tokens are good.
    Live(Box<Live>),
    /// Its tokens are worthless.
    Ended(Box<Live>),
}

/// What later decisions need to know of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Live {
    /// How it began.
    pub started: Started,
    /// The tokens handed out last.
    pub current: Issued,
    /// SHA-256 of the refresh token before, hex.
    pub previous_hash: Option<String>,
}

impl Aggregate for Session {
    const TYPE: &'static str = "session";
    type Command = SessionCommand;
    type Event = SessionEvent;
    type Error = SessionError;

    fn decide(&self, command: SessionCommand) -> Result<Vec<SessionEvent>, SessionError> {
        match (self, command) {
            (Self::Absent, SessionCommand::Start(started)) => Ok(vec![SessionEvent::Started(started)]),
            (Self::Live(live), SessionCommand::Refresh(refresh)) => live.refresh(*refresh).map(|e| vec![e]),
            (Self::Live(live), SessionCommand::Complete { at }) => {
                live.awaits(at).map(|()| vec![SessionEvent::Ended { reason: EndReason::Completed }])
            }
            (Self::Live(_), SessionCommand::End { reason }) => Ok(vec![SessionEvent::Ended { reason }]),
            // Ending what has ended is what was wanted.
            (Self::Ended(_), SessionCommand::End { .. }) => Ok(Vec::new()),
            (Self::Live(_) | Self::Ended(_), SessionCommand::Start(_))
            | (Self::Absent | Self::Ended(_), SessionCommand::Refresh(_) | SessionCommand::Complete { .. })
            | (Self::Absent, SessionCommand::End { .. }) => Err(SessionError::InvalidToken),
        }
    }

    fn evolve(&mut self, event: &SessionEvent) {
        match event {
            SessionEvent::Started(started) => {
                *self = Self::Live(Box::new(Live {
                    current: started.first.clone(),
                    started: (**started).clone(),
                    previous_hash: None,
                }));
            }
            SessionEvent::Refreshed(issued) => {
                if let Self::Live(live) = self {
                    let before = std::mem::replace(&mut live.current, issued.clone());
                    live.previous_hash = Some(before.refresh_hash);
                }
            }
            SessionEvent::Reissued(issued) => {
                if let Self::Live(live) = self {
                    live.current.jti.clone_from(&issued.jti);
                }
            }
            SessionEvent::Ended { .. } => {
                if let Self::Live(live) = std::mem::take(self) {
                    *self = Self::Ended(live);
                }
            }
        }
    }
}

impl Live {
    fn awaits(&self, at: Timestamp) -> Result<(), SessionError> {
        let awaits = self.started.awaits.as_ref().filter(|factor| at < factor.expires_at);
        awaits.map(|_| ()).ok_or(SessionError::InvalidToken)
    }

    fn refresh(&self, refresh: Refresh) -> Result<SessionEvent, SessionError> {
        if self.started.awaits.is_some() {
            return Err(SessionError::InvalidToken);
        }
        let same_device = refresh.device_id == self.started.device_id;
        if refresh.at >= self.current.refresh_expires_at {
            return Err(SessionError::InvalidToken);
        }
        if refresh.presented_hash == self.current.refresh_hash {
            return if same_device {
                Ok(SessionEvent::Refreshed(self.successor(refresh)))
            } else {
                Ok(SessionEvent::Ended { reason: EndReason::ForeignDevice })
            };
        }
        if self.previous_hash.as_deref() == Some(&refresh.presented_hash) {
            let grace = SignedDuration::from_secs(GRACE_SECONDS);
            let lost_answer = refresh.at.duration_since(self.current.issued_at) <= grace;
            if same_device && lost_answer {
                let mut again = self.current.clone();
                again.jti = refresh.jti;
                return Ok(SessionEvent::Reissued(again));
            }
        }
        Ok(SessionEvent::Ended { reason: EndReason::TokenReused })
    }

    fn successor(&self, refresh: Refresh) -> Issued {
        Issued {
            generation: self.current.generation + 1,
            jti: refresh.jti,
            refresh_hash: refresh.successor_hash,
            issued_at: refresh.at,
            refresh_expires_at: refresh.expires_at.min(self.started.absolute_expires_at),
        }
    }
}
