//! What a user can be asked.

use std::collections::BTreeSet;
use std::fmt;

use jiff::civil::Date;

use super::{ProfileCommand, Registered, SessionsEnded};
use crate::kernel::{AccountNumber, Origin, Permission, Personal, SessionId, UserId};

/// Commands to a user.
#[derive(Clone, PartialEq, Eq)]
pub enum UserCommand {
    /// Make them known to the bank.
    Register(Box<RegisterUser>),
    /// Make somebody known whom another bank has known.
    TakeOver {
        /// Who.
        user: Box<RegisterUser>,
        /// What that bank knew.
        origin: Origin,
    },
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
    /// Staff: take permissions back, and end every session that has them.
    Revoke {
        /// Which.
        permissions: BTreeSet<Permission>,
        /// How many sessions that ends, as far as the read side knows.
        sessions: u32,
    },
    /// Let a session begin or go on, if nothing has ended those of its epoch. Has no event: it stands in the unit of what
    /// it allows.
    Admit {
        /// The session, unless it is yet to begin.
        session: Option<SessionId>,
        /// The epoch it began in; what was read, when it is yet to begin.
        epoch: u32,
    },
    /// End their sessions.
    EndSessions {
        /// The epoch in which it was decided to; a later one means that somebody was faster.
        seen: u32,
        /// What will have happened.
        ended: SessionsEnded,
    },
    /// What they say about themselves, and the proof of it.
    Profile(ProfileCommand),
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

impl From<ProfileCommand> for crate::Command {
    fn from(command: ProfileCommand) -> Self {
        UserCommand::Profile(command).into()
    }
}

impl fmt::Debug for UserCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Profile(command) => return command.fmt(f),
            Self::Register(_) => "Register",
            Self::TakeOver { .. } => "TakeOver",
            Self::Activate => "Activate",
            Self::SetPassword { .. } => "SetPassword",
            Self::Grant { .. } => "Grant",
            Self::Revoke { .. } => "Revoke",
            Self::Admit { .. } => "Admit",
            Self::EndSessions { .. } => "EndSessions",
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
    pub(super) fn into_event(self, origin: Option<Origin>) -> Registered {
        Registered {
            first_name: Personal::new(self.first_name),
            last_name: Personal::new(self.last_name),
            email: Personal::new(self.email),
            phone_number: Personal::new(self.phone_number),
            date_of_birth: Personal::new(self.date_of_birth),
            country_code: self.country_code,
            preferred_language: self.preferred_language,
            origin,
        }
    }
}
