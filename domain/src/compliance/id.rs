//! The ids of the records, each of which says what kind of record it names.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::kernel::{AddressId, ContactId, EmploymentId, IdError, KinId};

crate::spelled! {
    /// A kind of record.
    pub enum RecordKind {
        /// Where somebody can be found.
        Address = "ADDRESS",
        /// Next of kin.
        Kin = "KIN",
        /// Where somebody works or worked.
        Employment = "EMPLOYMENT",
        /// Whom to call.
        EmergencyContact = "EMERGENCY_CONTACT",
    }
}

/// The id of a record of any kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "Cow<'_, str>", into = "String")]
pub enum RecordId {
    /// Of an address.
    Address(AddressId),
    /// Of next of kin.
    Kin(KinId),
    /// Of employment.
    Employment(EmploymentId),
    /// Of an emergency contact.
    EmergencyContact(ContactId),
}

impl RecordId {
    /// What kind of record it names.
    #[must_use]
    pub const fn kind(self) -> RecordKind {
        match self {
            Self::Address(_) => RecordKind::Address,
            Self::Kin(_) => RecordKind::Kin,
            Self::Employment(_) => RecordKind::Employment,
            Self::EmergencyContact(_) => RecordKind::EmergencyContact,
        }
    }

    /// When it was minted, which is when the record was made: UTC, whole milliseconds.
    #[must_use]
    pub fn minted_at(self) -> Timestamp {
        match self {
            Self::Address(id) => id.minted_at(),
            Self::Kin(id) => id.minted_at(),
            Self::Employment(id) => id.minted_at(),
            Self::EmergencyContact(id) => id.minted_at(),
        }
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(id) => id.fmt(f),
            Self::Kin(id) => id.fmt(f),
            Self::Employment(id) => id.fmt(f),
            Self::EmergencyContact(id) => id.fmt(f),
        }
    }
}

impl FromStr for RecordId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let address = text.parse().map(Self::Address);
        address
            .or_else(|_| text.parse().map(Self::Kin))
            .or_else(|_| text.parse().map(Self::Employment))
            .or_else(|_| text.parse().map(Self::EmergencyContact))
    }
}

impl TryFrom<Cow<'_, str>> for RecordId {
    type Error = IdError;

    fn try_from(text: Cow<'_, str>) -> Result<Self, IdError> {
        text.parse()
    }
}

impl From<RecordId> for String {
    fn from(id: RecordId) -> Self {
        id.to_string()
    }
}

impl From<AddressId> for RecordId {
    fn from(id: AddressId) -> Self {
        Self::Address(id)
    }
}

impl From<KinId> for RecordId {
    fn from(id: KinId) -> Self {
        Self::Kin(id)
    }
}

impl From<EmploymentId> for RecordId {
    fn from(id: EmploymentId) -> Self {
        Self::Employment(id)
    }
}

impl From<ContactId> for RecordId {
    fn from(id: ContactId) -> Self {
        Self::EmergencyContact(id)
    }
}
