//! What can happen to a user.

use std::collections::BTreeSet;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::Person;
use crate::aggregate::{AggregateEvent, names};
use crate::kernel::{Permission, Personal, SessionId};

/// Events of a user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserEvent {
    /// They are known to the bank.
    Registered(Box<Registered>),
    /// Their identity is verified.
    Activated,
    /// A password was set.
    PasswordSet {
        /// Argon2id hash as a PHC string; personal, so that erasure takes it along.
        hash: Personal<String>,
    },
    /// Staff permissions were added.
    PermissionsGranted {
        /// Which.
        permissions: BTreeSet<Permission>,
    },
    /// Staff permissions were taken back.
    PermissionsRevoked {
        /// Which.
        permissions: BTreeSet<Permission>,
    },
    /// Every session that began before is over, but one.
    SessionsEnded(SessionsEnded),
}

/// Sessions that ended together: a new epoch begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionsEnded {
    /// Why.
    pub reason: SessionsEndReason,
    /// The one that goes on: the session of whoever asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub except: Option<SessionId>,
    /// How many there were, as far as the read side knew.
    pub sessions: u32,
}

crate::spelled! {
    /// Why all sessions of a user ended.
    pub enum SessionsEndReason {
        /// They changed their password.
        PasswordChanged = "PASSWORD_CHANGED",
        /// Their password was set anew, without the old one.
        PasswordReset = "PASSWORD_RESET",
        /// They may do less than before.
        PermissionsRevoked = "PERMISSIONS_REVOKED",
    }
}

/// Who registered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// Given name.
    pub first_name: Personal<String>,
    /// Family name.
    pub last_name: Personal<String>,
    /// Where mail goes.
    pub email: Personal<String>,
    /// E.164.
    pub phone_number: Personal<String>,
    /// Date of birth.
    pub date_of_birth: Personal<Date>,
    /// ISO 3166-1 alpha-2.
    pub country_code: String,
    /// BCP 47.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_language: Option<String>,
}

impl Registered {
    pub(super) fn person(&self) -> Person {
        Person {
            first_name: self.first_name.clone(),
            last_name: self.last_name.clone(),
            email: self.email.clone(),
            phone_number: self.phone_number.clone(),
            password_hash: None,
            staff_permissions: BTreeSet::new(),
            epoch: 0,
            kept: None,
        }
    }
}

impl AggregateEvent for UserEvent {
    names! {
        Registered = "user.registered",
        Activated = "user.activated",
        PasswordSet = "user.password_set",
        PermissionsGranted = "user.permissions_granted",
        PermissionsRevoked = "user.permissions_revoked",
        SessionsEnded = "user.sessions_ended",
    }
}
