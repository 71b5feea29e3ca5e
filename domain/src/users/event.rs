//! What can happen to a user.

use std::collections::BTreeSet;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::{
    Avatar, ContactVerified, IdentityLookup, IdentityVerified, Onboarded, Person, Preferences, Profile,
    ProfileUpdated, Waiting,
};
use crate::aggregate::{AggregateEvent, names};
use crate::kernel::{AccountNumber, Origin, Permission, Personal, SessionId, UserId};
use crate::ledger::{Condition, Effect};

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
    /// They changed what they say about themselves.
    ProfileUpdated(Box<ProfileUpdated>),
    /// Their identity was found where identities are kept; a code is on its way.
    IdentityLookedUp(Box<IdentityLookup>),
    /// They are who they say, and may use the bank.
    IdentityVerified(Box<IdentityVerified>),
    /// They have proven to have the mailbox.
    EmailVerified(ContactVerified),
    /// They have proven to have the phone.
    PhoneVerified(ContactVerified),
    /// They hold an account and may use it digitally.
    Onboarded(Box<Onboarded>),
    /// They have a picture, in the place of any other.
    AvatarSet(Box<Avatar>),
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
        /// They changed the PIN of a device.
        PinChanged = "PIN_CHANGED",
        /// The PIN of a device was set anew, without the old one.
        PinReset = "PIN_RESET",
    }
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
    /// Whether the ledger was asked if these accounts are empty and nothing needs them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settled: bool,
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
    /// What another bank knew of them, when they were taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
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
            profile: Profile {
                date_of_birth: self.date_of_birth.clone(),
                address: None,
                preferences: Preferences {
                    language: self.preferred_language.clone(),
                    ..Preferences::default()
                },
                waiting: Waiting::default(),
                is_email_verified: false,
                is_phone_verified: false,
                identity: None,
                avatar: None,
            },
            erasure: None,
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
        ProfileUpdated = "user.profile_updated",
        IdentityLookedUp = "user.identity_looked_up",
        IdentityVerified = "user.identity_verified",
        EmailVerified = "user.email_verified",
        PhoneVerified = "user.phone_verified",
        Onboarded = "user.onboarded",
        AvatarSet = "user.avatar_set",
        ErasureRequested = "user.erasure_requested",
        Erased = "user.erased",
    }
    /// Nobody is erased who has money in the bank or owes it any.
    fn effect(&mut self, _stream: &str) -> Option<Effect<'_>> {
        match self {
            Self::Erased(erased) if erased.settled => {
                Some(Effect::Require { accounts: erased.accounts.clone(), condition: Condition::Settled })
            }
            _ => None,
        }
    }
}
