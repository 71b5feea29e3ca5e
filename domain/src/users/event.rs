//! What can happen to a user.

use std::collections::BTreeSet;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::Person;
use crate::aggregate::{AggregateEvent, names};
use crate::kernel::{AccountNumber, Permission, Personal, UserId};

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
    /// Staff: their personal data are to be erased, once somebody else has agreed.
    ErasureRequested {
        /// The member of staff who asks.
        by: UserId,
        /// Why, for the file. It stays readable: no name belongs in it.
        reason: String,
    },
    /// Somebody else has agreed: the commit that records this destroys their data key, and with it everything personal
    /// that was ever recorded of them.
    Erased(Box<Erased>),
}

/// How a person was erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erased {
    /// The member of staff who asked.
    pub requested_by: UserId,
    /// The one who agreed.
    pub approved_by: UserId,
    /// Why, in the words of the latter. It stays readable: no name belongs in it.
    pub reason: String,
    /// The accounts they hold, by which other people's lists know them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accounts: Vec<AccountNumber>,
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
            erasure: None,
        }
    }
}

impl AggregateEvent for UserEvent {
    names! {
        Registered = "user.registered",
        Activated = "user.activated",
        PasswordSet = "user.password_set",
        PermissionsGranted = "user.permissions_granted",
        ErasureRequested = "user.erasure_requested",
        Erased = "user.erased",
    }
}
