//! What a user can be asked.

use std::collections::BTreeSet;
use std::fmt;

use jiff::civil::Date;

use super::Registered;
use crate::kernel::{AccountNumber, Permission, Personal, UserId};

/// Commands to a user.
#[derive(Clone, PartialEq, Eq)]
pub enum UserCommand {
    /// Make them known to the bank.
    Register(Box<RegisterUser>),
    /// Their identity is verified.
    Activate,
    /// Set the password.
    SetPassword {
        /// Argon2id hash as a PHC string.
        hash: String,
    },
    /// Staff: grant permissions beyond a customer's.
    Grant {
        /// Which.
        permissions: BTreeSet<Permission>,
    },
    /// Staff: erase their personal data. The first asks for it, the second agrees.
    Erase(Box<EraseUser>),
}

/// A member of staff wants a person's data erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EraseUser {
    /// Who.
    pub by: UserId,
    /// Why.
    pub reason: String,
    /// The accounts that the person holds.
    pub accounts: Vec<AccountNumber>,
}

impl fmt::Debug for UserCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Register(_) => "Register",
            Self::Activate => "Activate",
            Self::SetPassword { .. } => "SetPassword",
            Self::Grant { .. } => "Grant",
            Self::Erase(_) => "Erase",
        })
    }
}

/// A person to be registered.
#[derive(Clone, PartialEq, Eq)]
pub struct RegisterUser {
    /// Given name.
    pub first_name: String,
    /// Family name.
    pub last_name: String,
    /// Lower case; unique in the bank, which the use case claims.
    pub email: String,
    /// E.164.
    pub phone_number: String,
    /// Date of birth.
    pub date_of_birth: Date,
    /// ISO 3166-1 alpha-2.
    pub country_code: String,
    /// BCP 47.
    pub preferred_language: Option<String>,
}

impl RegisterUser {
    pub(super) fn into_event(self) -> Registered {
        Registered {
            first_name: Personal::new(self.first_name),
            last_name: Personal::new(self.last_name),
            email: Personal::new(self.email),
            phone_number: Personal::new(self.phone_number),
            date_of_birth: Personal::new(self.date_of_birth),
            country_code: self.country_code,
            preferred_language: self.preferred_language,
        }
    }
}
