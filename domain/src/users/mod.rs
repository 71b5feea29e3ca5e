//! Users: the people of the bank, customers and staff, and what they may do.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use command::{EraseUser, RegisterUser, UserCommand};
pub use error::UserError;
pub use event::{Erased, Registered, UserEvent};

use crate::aggregate::Aggregate;
use crate::kernel::{Permission, Personal, UserId};

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
    /// The member of staff who has asked for their erasure, which nobody has agreed to yet.
    #[serde(default)]
    pub erasure: Option<UserId>,
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

    /// What a token of this user allows, in a fixed order. Empty unless the user is active.
    #[must_use]
    pub fn permissions(&self) -> Vec<Permission> {
        match self {
            Self::Absent | Self::Pending(_) | Self::Erased => Vec::new(),
            Self::Active(person) => {
                Permission::CUSTOMER.iter().chain(&person.staff_permissions).copied().collect()
            }
        }
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
                let erased = Erased { requested_by, approved_by: by, reason, accounts };
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
                Ok(vec![UserEvent::Registered(Box::new(user.into_event()))])
            }
            (Self::Pending(_) | Self::Active(_), UserCommand::SetPassword { hash }) => {
                Ok(vec![UserEvent::PasswordSet { hash: Personal::new(hash) }])
            }
            (Self::Pending(_), UserCommand::Activate) => Ok(vec![UserEvent::Activated]),
            (Self::Active(person), UserCommand::Grant { permissions }) => {
                let new: BTreeSet<_> = permissions.difference(&person.staff_permissions).copied().collect();
                Ok(if new.is_empty() {
                    Vec::new()
                } else {
                    vec![UserEvent::PermissionsGranted { permissions: new }]
                })
            }
            (Self::Pending(person) | Self::Active(person), UserCommand::Erase(erase)) => person.erase(*erase),
            (
                Self::Absent,
                UserCommand::SetPassword { .. }
                | UserCommand::Activate
                | UserCommand::Grant { .. }
                | UserCommand::Erase(_),
            ) => Err(UserError::Unknown),
            (Self::Erased, _) => Err(UserError::InvalidState { state: self.state() }),
            (Self::Pending(_), UserCommand::Register(_) | UserCommand::Grant { .. })
            | (Self::Active(_), UserCommand::Register(_) | UserCommand::Activate) => {
                Err(UserError::InvalidState { state: self.state() })
            }
        }
    }

    fn evolve(&mut self, event: &UserEvent) {
        let before = std::mem::take(self);
        *self = match (event, before) {
            (UserEvent::Registered(registered), _) => Self::Pending(registered.person()),
            (UserEvent::Activated, Self::Pending(person)) => Self::Active(person),
            (UserEvent::PasswordSet { hash }, other) => other.with(|person| {
                person.password_hash = Some(hash.clone());
            }),
            (UserEvent::PermissionsGranted { permissions }, other) => other.with(|person| {
                person.staff_permissions.extend(permissions);
            }),
            (UserEvent::ErasureRequested { by, .. }, other) => other.with(|person| {
                person.erasure = Some(*by);
            }),
            (UserEvent::Erased(_), _) => Self::Erased,
            (UserEvent::Activated, other) => other,
        };
    }
}

impl User {
    fn with(mut self, change: impl FnOnce(&mut Person)) -> Self {
        match &mut self {
            Self::Absent | Self::Erased => {}
            Self::Pending(person) | Self::Active(person) => change(person),
        }
        self
    }
}
