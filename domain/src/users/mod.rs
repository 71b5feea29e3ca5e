//! Users: the people of the bank, customers and staff, and what they may do.
//!
//! Sessions end together by epochs. A session carries the epoch it began in; [`UserEvent::SessionsEnded`] begins the next
//! one, and with it every session of an earlier epoch is over, on every server, however many there are and whether or not
//! anybody has listed them. The one that asked for it may be kept.

mod command;
mod error;
mod event;
mod masked;
mod preferences;
mod profile;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use command::{EraseUser, RegisterUser, UserCommand};
pub use error::UserError;
pub use event::{Erased, Registered, SessionsEndReason, SessionsEnded, UserEvent};
pub use masked::{masked_email, masked_name, masked_phone};
pub use preferences::{Notifications, PostalAddress, Preferences};
pub use profile::{
    Avatar, ContactVerified, IdentityLookup, IdentityType, IdentityVerified, Onboarded, Profile,
    ProfileCommand, ProfileUpdate, ProfileUpdated, Waiting,
};

use crate::aggregate::Aggregate;
use crate::kernel::{Permission, Personal, SessionId, UserId};

/// A user, by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum User {
    /// Nobody yet.
    #[default]
    Absent,
    /// Registered; identity not verified.
    Pending(Person),
    /// May use the bank.
    Active(Person),
    /// Nothing is known of them any more; final.
    Erased,
}

/// What later decisions need to know of a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Given name.
    pub first_name: Personal<String>,
    /// Family name.
    pub last_name: Personal<String>,
    /// Where mail goes.
    pub email: Personal<String>,
    /// E.164.
    pub phone_number: Personal<String>,
    /// Argon2id hash of the password (PHC string); none until one is set.
    pub password_hash: Option<Personal<String>>,
    /// What staff granted beyond a customer's permissions.
    pub staff_permissions: BTreeSet<Permission>,
    /// What they say about themselves.
    pub profile: Profile,
    /// The member of staff who has asked for their erasure, which nobody has agreed to yet.
    #[serde(default)]
    pub erasure: Option<UserId>,
    /// How often all sessions were ended.
    pub epoch: u32,
    /// The session that outlived the last time.
    pub kept: Option<SessionId>,
}

impl User {
    /// The person, in whatever state; nobody once they are erased.
    #[must_use]
    pub const fn person(&self) -> Option<&Person> {
        match self {
            Self::Absent | Self::Erased => None,
            Self::Pending(person) | Self::Active(person) => Some(person),
        }
    }

    /// What a token of this user allows, in a fixed order. Whoever is allowed nothing cannot log in. A pending user can,
    /// so that they can prove who they are.
    #[must_use]
    pub fn permissions(&self) -> Vec<Permission> {
        match self {
            Self::Absent | Self::Erased => Vec::new(),
            Self::Pending(_) => vec![Permission::ManageProfile],
            Self::Active(person) => {
                Permission::CUSTOMER.iter().chain(&person.staff_permissions).copied().collect()
            }
        }
    }

    /// The hash of their password, if there is one and it can be read.
    #[must_use]
    pub fn password_hash(&self) -> Option<String> {
        self.person().and_then(|person| person.password_hash.as_ref()).and_then(Personal::get).cloned()
    }

    /// The epoch in which a session begins now.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.person().map_or(0, |person| person.epoch)
    }

    /// Whether a session that began in `epoch` is still good, as far as the user is concerned. One that has no id yet is
    /// about to begin.
    #[must_use]
    pub fn admits(&self, session: Option<SessionId>, epoch: u32) -> bool {
        let kept = self.person().and_then(|person| person.kept);
        !self.permissions().is_empty() && (self.epoch() == epoch || (session.is_some() && session == kept))
    }

    /// `FULL` once the identity is verified, `NONE` before.
    #[must_use]
    pub const fn verification_level(&self) -> &'static str {
        match self {
            Self::Absent | Self::Pending(_) | Self::Erased => "NONE",
            Self::Active(_) => "FULL",
        }
    }

    const fn state(&self) -> &'static str {
        match self {
            Self::Absent => "ABSENT",
            Self::Pending(_) => "PENDING",
            Self::Active(_) => "ACTIVE",
            Self::Erased => "ERASED",
        }
    }
}

impl Person {
    fn erase(&self, erase: EraseUser) -> Result<Vec<UserEvent>, UserError> {
        let EraseUser { by, reason, accounts } = erase;
        match self.erasure {
            None => Ok(vec![UserEvent::ErasureRequested { by, reason }]),
            Some(requested_by) if requested_by == by => Err(UserError::ApproverIsMaker),
            Some(requested_by) => {
                let erased = Erased { requested_by, approved_by: by, reason, accounts, settled: true };
                Ok(vec![UserEvent::Erased(Box::new(erased))])
            }
        }
    }
}

impl Aggregate for User {
    const TYPE: &'static str = "user";
    type Command = UserCommand;
    type Event = UserEvent;
    type Error = UserError;

    fn decide(&self, command: UserCommand) -> Result<Vec<UserEvent>, UserError> {
        match (self, command) {
            (Self::Absent, UserCommand::Register(user)) => {
                Ok(vec![UserEvent::Registered(Box::new(user.into_event(None)))])
            }
            (Self::Absent, UserCommand::TakeOver { user, origin }) => {
                Ok(vec![UserEvent::Registered(Box::new(user.into_event(Some(origin))))])
            }
            (Self::Pending(_) | Self::Active(_), UserCommand::SetPassword { hash }) => {
                Ok(vec![UserEvent::PasswordSet { hash: Personal::new(hash) }])
            }
            (Self::Pending(_), UserCommand::Activate) => Ok(vec![UserEvent::Activated]),
            (Self::Pending(person), UserCommand::Profile(command)) => person.decide(command, false),
            (Self::Active(person), UserCommand::Profile(command)) => person.decide(command, true),
            (Self::Active(person), UserCommand::Grant { permissions }) => {
                let new: BTreeSet<_> = permissions.difference(&person.staff_permissions).copied().collect();
                Ok(if new.is_empty() {
                    Vec::new()
                } else {
                    vec![UserEvent::PermissionsGranted { permissions: new }]
                })
            }
            (Self::Pending(person) | Self::Active(person), UserCommand::Erase(erase)) => person.erase(*erase),
            (Self::Active(person), UserCommand::Revoke { permissions, sessions }) => {
                let had: BTreeSet<_> = permissions.intersection(&person.staff_permissions).copied().collect();
                if had.is_empty() {
                    return Ok(Vec::new());
                }
                let reason = SessionsEndReason::PermissionsRevoked;
                let ended = SessionsEnded { reason, except: None, sessions };
                Ok(vec![UserEvent::PermissionsRevoked { permissions: had }, UserEvent::SessionsEnded(ended)])
            }
            (state, UserCommand::Admit { session, epoch }) => {
                if state.admits(session, epoch) {
                    Ok(Vec::new())
                } else {
                    Err(UserError::NotAdmitted)
                }
            }
            (Self::Pending(person) | Self::Active(person), UserCommand::EndSessions { seen, ended }) => {
                if person.epoch == seen {
                    Ok(vec![UserEvent::SessionsEnded(ended)])
                } else {
                    Err(UserError::Overtaken)
                }
            }
            (
                Self::Absent,
                UserCommand::SetPassword { .. }
                | UserCommand::Activate
                | UserCommand::Grant { .. }
                | UserCommand::Revoke { .. }
                | UserCommand::EndSessions { .. }
                | UserCommand::Profile(_)
                | UserCommand::Erase(_),
            ) => Err(UserError::Unknown),
            (Self::Erased, _) => Err(UserError::InvalidState { state: self.state() }),
            (
                Self::Pending(_),
                UserCommand::Register(_)
                | UserCommand::TakeOver { .. }
                | UserCommand::Grant { .. }
                | UserCommand::Revoke { .. },
            )
            | (
                Self::Active(_),
                UserCommand::Register(_) | UserCommand::TakeOver { .. } | UserCommand::Activate,
            ) => Err(UserError::InvalidState { state: self.state() }),
        }
    }

    fn evolve(&mut self, event: &UserEvent) {
        let before = std::mem::take(self);
        *self = match (event, before) {
            (UserEvent::Registered(registered), _) => Self::Pending(registered.person()),
            (UserEvent::Activated, before) => before.known(),
            (UserEvent::IdentityVerified(_) | UserEvent::Onboarded(_), before) => {
                before.with(|person| person.grow(event)).active()
            }
            (
                UserEvent::ProfileUpdated(_)
                | UserEvent::IdentityLookedUp(_)
                | UserEvent::EmailVerified(_)
                | UserEvent::PhoneVerified(_)
                | UserEvent::AvatarSet(_),
                before,
            ) => before.with(|person| person.grow(event)),
            (UserEvent::PasswordSet { hash }, other) => other.with(|person| {
                person.password_hash = Some(hash.clone());
            }),
            (UserEvent::PermissionsGranted { permissions }, other) => other.with(|person| {
                person.staff_permissions.extend(permissions);
            }),
            (UserEvent::PermissionsRevoked { permissions }, other) => other.with(|person| {
                person.staff_permissions.retain(|permission| !permissions.contains(permission));
            }),
            (UserEvent::SessionsEnded(ended), other) => other.with(|person| {
                person.epoch = person.epoch.saturating_add(1);
                person.kept = ended.except;
            }),
            (UserEvent::ErasureRequested { by, .. }, other) => other.with(|person| {
                person.erasure = Some(*by);
            }),
            (UserEvent::Erased(_), _) => Self::Erased,
        };
    }
}

impl User {
    /// Somebody who may use the bank.
    fn active(self) -> Self {
        match self {
            Self::Pending(person) => Self::Active(person),
            other @ (Self::Absent | Self::Active(_) | Self::Erased) => other,
        }
    }

    /// Somebody whom the bank has verified: their phone among the rest.
    fn known(self) -> Self {
        self.with(|person| person.profile.is_phone_verified = true).active()
    }

    fn with(mut self, change: impl FnOnce(&mut Person)) -> Self {
        match &mut self {
            Self::Absent | Self::Erased => {}
            Self::Pending(person) | Self::Active(person) => change(person),
        }
        self
    }
}
