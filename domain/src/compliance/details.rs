//! What a record of any kind says, so that the four are kept, changed, verified and removed alike.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::Misfit;
use super::id::RecordKind;
use super::record::{
    Address, EmergencyContact, EmergencyContactChange, Employment, EmploymentChange, Kin, KinChange, Priority,
};
use crate::kernel::Personal;

/// What a record says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Details {
    /// An address.
    Address(Address),
    /// Next of kin.
    Kin(Kin),
    /// Employment.
    Employment(Employment),
    /// An emergency contact.
    EmergencyContact(EmergencyContact),
}

/// What is different about a record. An address is replaced instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// About next of kin.
    Kin(KinChange),
    /// About employment.
    Employment(EmploymentChange),
    /// About an emergency contact.
    EmergencyContact(EmergencyContactChange),
}

impl Details {
    /// Which kind of record says this.
    #[must_use]
    pub const fn kind(&self) -> RecordKind {
        match self {
            Self::Address(_) => RecordKind::Address,
            Self::Kin(_) => RecordKind::Kin,
            Self::Employment(_) => RecordKind::Employment,
            Self::EmergencyContact(_) => RecordKind::EmergencyContact,
        }
    }

    /// Every field by its name in the interface, as people are shown it: text that is erased says so, a date is null.
    #[must_use]
    pub fn fields(&self) -> Vec<(&'static str, Value)> {
        match self {
            Self::Address(address) => address.fields(),
            Self::Kin(kin) => kin.fields(),
            Self::Employment(employment) => employment.fields(),
            Self::EmergencyContact(contact) => contact.fields(),
        }
    }

    /// The same after `change`; none when that is about another kind of record.
    pub(super) fn with(&self, change: Change, today: Date) -> Option<Self> {
        match (self, change) {
            (Self::Kin(kin), Change::Kin(change)) => Some(Self::Kin(kin.with(change))),
            (Self::Employment(employment), Change::Employment(mut change)) => {
                // Whoever says that a job has ended need not say that it is over.
                if over(change.end_date.as_ref().and_then(Option::as_ref), today) {
                    change.is_current.get_or_insert(false);
                }
                Some(Self::Employment(employment.with(change)))
            }
            (Self::EmergencyContact(contact), Change::EmergencyContact(change)) => {
                Some(Self::EmergencyContact(contact.with(change)))
            }
            _ => None,
        }
    }

    /// The names of the fields that `later` shows otherwise.
    pub(super) fn differing(&self, later: &Self) -> Vec<String> {
        let pairs = self.fields().into_iter().zip(later.fields());
        pairs.filter(|(before, after)| before != after).map(|((name, _), _)| name.to_owned()).collect()
    }

    /// Whether it comes first of its kind.
    pub(super) const fn is_primary(&self) -> bool {
        match self {
            Self::Address(Address { is_primary, .. }) | Self::Kin(Kin { is_primary, .. }) => *is_primary,
            Self::EmergencyContact(contact) => matches!(contact.priority, Priority::Primary),
            Self::Employment(_) => false,
        }
    }

    /// The field that says so, and is no fact that anybody could verify.
    pub(super) const fn mark(&self) -> Option<&'static str> {
        match self {
            Self::Address(_) | Self::Kin(_) => Some("isPrimary"),
            Self::EmergencyContact(_) => Some("priority"),
            Self::Employment(_) => None,
        }
    }

    /// Whether one of the kind comes first whatever was asked for. The order of emergency contacts is the customer's.
    pub(super) const fn has_a_first(&self) -> bool {
        matches!(self, Self::Address(_) | Self::Kin(_))
    }

    /// Puts it first, or after another that is first now.
    pub(super) const fn put_first(&mut self, first: bool) {
        match self {
            Self::Address(Address { is_primary, .. }) | Self::Kin(Kin { is_primary, .. }) => {
                *is_primary = first
            }
            Self::EmergencyContact(contact) => {
                contact.priority = if first { Priority::Primary } else { Priority::Secondary };
            }
            Self::Employment(_) => {}
        }
    }

    /// What does not fit together on the day `today`.
    pub(super) fn misfits(&self, today: Date) -> Vec<Misfit> {
        match self {
            Self::Address(address) => {
                let backwards = before(address.valid_to.as_ref(), address.valid_from.as_ref());
                backwards.then(|| Misfit::of("/validTo", "validTo is before validFrom")).into_iter().collect()
            }
            Self::Kin(Kin { date_of_birth, .. })
            | Self::EmergencyContact(EmergencyContact { date_of_birth, .. }) => {
                let unborn = date_of_birth.as_ref().and_then(Personal::get).is_some_and(|born| *born > today);
                unborn.then(|| Misfit::of("/dateOfBirth", "this day has not come yet")).into_iter().collect()
            }
            Self::Employment(Employment { start_date, end_date, is_current, .. }) => {
                let backwards = before(end_date.as_ref(), Some(start_date));
                let stale = *is_current && over(end_date.as_ref(), today);
                let backwards = backwards.then(|| Misfit::of("/endDate", "endDate is before startDate"));
                let stale =
                    stale.then(|| Misfit::of("/endDate", "what is current has not ended before today"));
                backwards.into_iter().chain(stale).collect()
            }
        }
    }
}

fn over(end: Option<&Personal<Date>>, today: Date) -> bool {
    end.and_then(Personal::get).is_some_and(|end| *end < today)
}

fn before(end: Option<&Personal<Date>>, start: Option<&Personal<Date>>) -> bool {
    let (end, start) = (end.and_then(Personal::get), start.and_then(Personal::get));
    end.zip(start).is_some_and(|(end, start)| end < start)
}
