//! What a person tells the bank about themselves, and what of it is proven.
//!
//! An address of mail or a phone number counts from the moment its new owner has proven to have it; until then the old one
//! does. The names of somebody whose identity is verified change when it is verified with the new ones.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::preferences::over;
use super::{Person, PostalAddress, Preferences, UserError, UserEvent};
use crate::kernel::{AccountNumber, AvatarId, Personal, StoredFile, VerificationId};

/// What later decisions need to know of a person's profile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// Date of birth.
    pub date_of_birth: Personal<Date>,
    /// Where they live, once they have said so.
    pub address: Option<Personal<PostalAddress>>,
    /// How they want to be spoken to.
    pub preferences: Preferences,
    /// What they have changed and not proven.
    pub waiting: Waiting,
    /// Whether they have proven to have the mailbox.
    pub is_email_verified: bool,
    /// Whether they have proven to have the phone.
    pub is_phone_verified: bool,
    /// The identity that was looked up and waits for its code.
    pub identity: Option<VerificationId>,
    /// Their picture.
    pub avatar: Option<Avatar>,
}

/// Changes that are not in effect yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Given name, until the identity is verified anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_name: Option<Personal<String>>,
    /// Family name, until the identity is verified anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_name: Option<Personal<String>>,
    /// Where mail shall go, until they have proven to have the mailbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<Personal<String>>,
    /// E.164, until they have proven to have the phone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone_number: Option<Personal<String>>,
}

/// Commands to a person's profile.
#[derive(Clone, PartialEq, Eq)]
pub enum ProfileCommand {
    /// Change what differs.
    Update(Box<ProfileUpdate>),
    /// The identity was found where identities are kept; a code is on its way to the phone.
    LookUpIdentity(Box<IdentityLookup>),
    /// The code was right: they are who they say.
    VerifyIdentity {
        /// The verification that began with the lookup.
        verification_id: VerificationId,
    },
    /// They have the mailbox.
    ConfirmEmail {
        /// Which.
        email: String,
    },
    /// They have the phone.
    ConfirmPhone {
        /// Which, E.164.
        phone_number: String,
    },
    /// They hold an account and begin to use it digitally.
    Onboard {
        /// The account by which they were recognised.
        account_number: AccountNumber,
        /// What they say about themselves; names and contact data are passed over.
        update: Box<ProfileUpdate>,
    },
    /// Their picture.
    SetAvatar {
        /// It.
        avatar: Box<Avatar>,
        /// The one it takes the place of.
        over: Option<AvatarId>,
    },
}

impl fmt::Debug for ProfileCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Update(_) => "Update",
            Self::LookUpIdentity(_) => "LookUpIdentity",
            Self::VerifyIdentity { .. } => "VerifyIdentity",
            Self::ConfirmEmail { .. } => "ConfirmEmail",
            Self::ConfirmPhone { .. } => "ConfirmPhone",
            Self::Onboard { .. } => "Onboard",
            Self::SetAvatar { .. } => "SetAvatar",
        })
    }
}

/// What somebody says about themselves; what is `None` stays as it is.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProfileUpdate {
    /// Given name.
    pub first_name: Option<String>,
    /// Family name.
    pub last_name: Option<String>,
    /// Lower case.
    pub email: Option<String>,
    /// E.164.
    pub phone_number: Option<String>,
    /// The fields of the address that change.
    pub address: Option<PostalAddress>,
    /// The preferences that change.
    pub preferences: Option<Preferences>,
}

/// What changed in a profile. Nothing is in here that was so before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileUpdated {
    /// Given name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_name: Option<Personal<String>>,
    /// Family name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_name: Option<Personal<String>>,
    /// The whole address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Personal<PostalAddress>>,
    /// All preferences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Preferences>,
    /// What is not in effect yet.
    #[serde(default)]
    pub waiting: Waiting,
}

impl ProfileUpdated {
    /// The fields that changed, by their names in the interface.
    #[must_use]
    pub fn fields(&self) -> Vec<&'static str> {
        named(&[
            ("firstName", self.first_name.is_some()),
            ("lastName", self.last_name.is_some()),
            ("address", self.address.is_some()),
            ("preferences", self.preferences.is_some()),
        ])
    }
}

impl Waiting {
    /// The fields that wait, by their names in the interface.
    #[must_use]
    pub fn fields(&self) -> Vec<&'static str> {
        named(&[
            ("firstName", self.first_name.is_some()),
            ("lastName", self.last_name.is_some()),
            ("email", self.email.is_some()),
            ("phoneNumber", self.phone_number.is_some()),
        ])
    }

    /// What waits now, and of what waited before what nothing newer has taken the place of.
    fn over(&self, old: &Self) -> Self {
        Self {
            first_name: over(&self.first_name, &old.first_name),
            last_name: over(&self.last_name, &old.last_name),
            email: over(&self.email, &old.email),
            phone_number: over(&self.phone_number, &old.phone_number),
        }
    }
}

fn named(fields: &[(&'static str, bool)]) -> Vec<&'static str> {
    fields.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect()
}

/// An identity that was found where identities are kept. Its number is not in here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityLookup {
    /// What kind of number it is.
    pub identity_type: IdentityType,
    /// Who gave it out: ISO 3166-1 alpha-2.
    pub country: String,
    /// A keyed hash of person and number, hex.
    pub token: Personal<String>,
    /// The number's last four characters.
    pub last_four: Personal<String>,
    /// The verification whose code is on its way.
    pub verification_id: VerificationId,
}

crate::spelled! {
    /// What identifies a person.
    pub enum IdentityType {
        /// National identification number.
        Nin = "NIN",
        /// Bank verification number.
        Bvn = "BVN",
        /// Passport.
        Passport = "PASSPORT",
        /// Driver's licence.
        DriversLicense = "DRIVERS_LICENSE",
        /// Voter's card.
        VotersCard = "VOTERS_CARD",
        /// National identity card.
        NationalId = "NATIONAL_ID",
        /// Residence permit.
        ResidencePermit = "RESIDENCE_PERMIT",
    }
}

/// They are who they say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdentityVerified {
    /// The verification that proved it.
    pub verification_id: VerificationId,
    /// The given name that was verified and is in effect now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_name: Option<Personal<String>>,
    /// The family name that was verified and is in effect now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_name: Option<Personal<String>>,
}

/// Somebody who holds an account begins to use it digitally.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Onboarded {
    /// The account by which they were recognised.
    pub account_number: AccountNumber,
    /// The whole address, when it changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Personal<PostalAddress>>,
    /// All preferences, when they changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Preferences>,
}

/// A mailbox or a phone that somebody has proven to have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContactVerified {
    /// It.
    pub contact: Personal<String>,
    /// The one it takes the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Personal<String>>,
}

/// A person's picture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Avatar {
    /// Its id.
    pub id: AvatarId,
    /// The picture.
    pub image: StoredFile,
    /// The small one.
    pub thumbnail: StoredFile,
    /// Pixels.
    pub width: u32,
    /// Pixels.
    pub height: u32,
    /// Bytes as they were handed in.
    pub size: u64,
    /// When.
    pub uploaded_at: Timestamp,
}

impl Person {
    /// The names that are to be verified: those that wait, otherwise those in effect.
    #[must_use]
    pub fn names_to_verify(&self) -> (&Personal<String>, &Personal<String>) {
        let waiting = &self.profile.waiting;
        let first = waiting.first_name.as_ref().unwrap_or(&self.first_name);
        (first, waiting.last_name.as_ref().unwrap_or(&self.last_name))
    }

    /// Whether their identity was verified, or the bank knew them already, decides `is_known`.
    pub(super) fn decide(
        &self,
        command: ProfileCommand,
        is_known: bool,
    ) -> Result<Vec<UserEvent>, UserError> {
        let event = match command {
            ProfileCommand::Update(update) => {
                let updated = self.update(*update, is_known);
                return Ok(match updated == ProfileUpdated::default() {
                    true => Vec::new(),
                    false => vec![UserEvent::ProfileUpdated(Box::new(updated))],
                });
            }
            ProfileCommand::LookUpIdentity(lookup) => UserEvent::IdentityLookedUp(lookup),
            ProfileCommand::VerifyIdentity { verification_id } => {
                if self.profile.identity != Some(verification_id) {
                    return Err(UserError::IdentityChanged);
                }
                let Waiting { first_name, last_name, .. } = self.profile.waiting.clone();
                UserEvent::IdentityVerified(Box::new(IdentityVerified {
                    verification_id,
                    first_name,
                    last_name,
                }))
            }
            ProfileCommand::ConfirmEmail { email } => {
                UserEvent::EmailVerified(contact(email, &self.email, self.profile.waiting.email.as_ref())?)
            }
            ProfileCommand::ConfirmPhone { phone_number } => {
                let waiting = self.profile.waiting.phone_number.as_ref();
                UserEvent::PhoneVerified(contact(phone_number, &self.phone_number, waiting)?)
            }
            ProfileCommand::Onboard { account_number, update } => {
                let ProfileUpdated { address, preferences, .. } = self.update(*update, true);
                UserEvent::Onboarded(Box::new(Onboarded { account_number, address, preferences }))
            }
            ProfileCommand::SetAvatar { avatar, over } => {
                if self.profile.avatar.as_ref().map(|avatar| avatar.id) != over {
                    return Err(UserError::AvatarChanged);
                }
                UserEvent::AvatarSet(avatar)
            }
        };
        Ok(vec![event])
    }

    /// What of `update` is new.
    fn update(&self, update: ProfileUpdate, is_known: bool) -> ProfileUpdated {
        let ProfileUpdate { first_name, last_name, email, phone_number, address, preferences } = update;
        let profile = &self.profile;
        let (first, last) = (changed(first_name, &self.first_name), changed(last_name, &self.last_name));
        let known = profile.address.as_ref().and_then(Personal::get);
        let address = address.map(|new| known.map_or(new.clone(), |old| new.over(old)));
        let preferences = preferences.map(|new| new.over(&profile.preferences));
        let mut updated = ProfileUpdated {
            address: address.filter(|new| known != Some(new)).map(Personal::new),
            preferences: preferences.filter(|new| *new != profile.preferences),
            waiting: Waiting {
                email: changed(email, &self.email),
                phone_number: changed(phone_number, &self.phone_number),
                ..Waiting::default()
            },
            ..ProfileUpdated::default()
        };
        if is_known {
            (updated.waiting.first_name, updated.waiting.last_name) = (first, last);
        } else {
            (updated.first_name, updated.last_name) = (first, last);
        }
        updated
    }

    pub(super) fn grow(&mut self, event: &UserEvent) {
        match event {
            UserEvent::ProfileUpdated(updated) => self.updated(updated),
            UserEvent::IdentityLookedUp(lookup) => self.profile.identity = Some(lookup.verification_id),
            UserEvent::IdentityVerified(verified) => {
                let profile = &mut self.profile;
                (profile.waiting.first_name, profile.waiting.last_name) = (None, None);
                (profile.identity, profile.is_phone_verified) = (None, true);
                put(&mut self.first_name, verified.first_name.as_ref());
                put(&mut self.last_name, verified.last_name.as_ref());
            }
            UserEvent::EmailVerified(verified) => {
                self.email = verified.contact.clone();
                self.profile.is_email_verified = true;
                drop_if(&mut self.profile.waiting.email, &verified.contact);
            }
            UserEvent::PhoneVerified(verified) => {
                self.phone_number = verified.contact.clone();
                self.profile.is_phone_verified = true;
                // The code of a lookup went to the phone of then.
                self.profile.identity = None;
                drop_if(&mut self.profile.waiting.phone_number, &verified.contact);
            }
            UserEvent::Onboarded(onboarded) => {
                self.say(onboarded.address.as_ref(), onboarded.preferences.as_ref());
            }
            UserEvent::AvatarSet(avatar) => self.profile.avatar = Some((**avatar).clone()),
            // Not about the profile.
            _ => {}
        }
    }

    fn updated(&mut self, updated: &ProfileUpdated) {
        self.say(updated.address.as_ref(), updated.preferences.as_ref());
        put(&mut self.first_name, updated.first_name.as_ref());
        put(&mut self.last_name, updated.last_name.as_ref());
        let names = [
            &updated.first_name,
            &updated.last_name,
            &updated.waiting.first_name,
            &updated.waiting.last_name,
        ];
        if names.iter().any(|name| name.is_some()) {
            // What was looked up were the names of then.
            self.profile.identity = None;
        }
        self.profile.waiting = updated.waiting.over(&self.profile.waiting);
    }

    fn say(&mut self, address: Option<&Personal<PostalAddress>>, preferences: Option<&Preferences>) {
        if let Some(address) = address {
            self.profile.address = Some(address.clone());
        }
        if let Some(preferences) = preferences {
            self.profile.preferences = preferences.clone();
        }
    }
}

/// `new`, when it is there and differs.
fn changed(new: Option<String>, old: &Personal<String>) -> Option<Personal<String>> {
    new.filter(|new| old.get() != Some(new)).map(Personal::new)
}

fn put(field: &mut Personal<String>, value: Option<&Personal<String>>) {
    if let Some(value) = value {
        *field = value.clone();
    }
}

fn drop_if(field: &mut Option<Personal<String>>, value: &Personal<String>) {
    if field.as_ref() == Some(value) {
        *field = None;
    }
}

/// # Errors
/// [`UserError::NotWaiting`] when it is neither theirs nor about to be.
fn contact(
    proven: String,
    current: &Personal<String>,
    waiting: Option<&Personal<String>>,
) -> Result<ContactVerified, UserError> {
    if waiting.and_then(Personal::get) == Some(&proven) {
        return Ok(ContactVerified { contact: Personal::new(proven), replaces: Some(current.clone()) });
    }
    if current.get() == Some(&proven) {
        return Ok(ContactVerified { contact: Personal::new(proven), replaces: None });
    }
    Err(UserError::NotWaiting)
}
