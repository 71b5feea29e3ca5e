//! What the records say. The four kinds are kept, changed, verified and removed alike; here is what tells them apart.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::Misfit;
use super::id::RecordKind;
use crate::kernel::{Personal, Spelled};

crate::spelled! {
    /// What an address is for. A person has one of each.
    pub enum AddressType {
        /// Where they live.
        Residential = "RESIDENTIAL",
        /// Where they do business.
        Business = "BUSINESS",
        /// Where letters go.
        Mailing = "MAILING",
        /// Where they are at home, wherever they live.
        Permanent = "PERMANENT",
        /// Where they are for a while.
        Temporary = "TEMPORARY",
    }
}

crate::spelled! {
    /// On what terms somebody works.
    pub enum EmploymentType {
        /// All week.
        FullTime = "FULL_TIME",
        /// A part of it.
        PartTime = "PART_TIME",
        /// For a task or a term.
        Contract = "CONTRACT",
        /// For themselves.
        SelfEmployed = "SELF_EMPLOYED",
        /// As long as they are needed.
        Temporary = "TEMPORARY",
        /// To learn.
        Intern = "INTERN",
        /// Not at all.
        Unemployed = "UNEMPLOYED",
        /// No more.
        Retired = "RETIRED",
    }
}

crate::spelled! {
    /// Who is called first in an emergency.
    pub enum Priority {
        /// Before anybody else; at most one contact.
        Primary = "PRIMARY",
        /// Then.
        Secondary = "SECONDARY",
        /// At last.
        Tertiary = "TERTIARY",
    }
}

/// Declares a record: a struct, and its fields by their names in the interface; and, with a second name, what can be
/// different about it, where everything that is `None` stays.
macro_rules! record {
    ($(#[doc = $about:literal])* $name:ident, $change:ident { $(
        $(#[doc = $doc:literal])* $(#[serde($($serde:tt)*)])? $field:ident: $type:ty = $json:literal,
    )* }) => {
        record! { $(#[doc = $about])* $name { $(
            $(#[doc = $doc])* $(#[serde($($serde)*)])? $field: $type = $json,
        )* } }

        #[doc = concat!("What is different about a [`", stringify!($name), "`]; everything that is `None` stays.")]
        #[derive(Debug, Clone, Default, PartialEq, Eq)]
        pub struct $change { $(
            $(#[doc = $doc])*
            pub $field: Option<$type>,
        )* }

        impl $name {
            fn with(&self, change: $change) -> Self {
                Self { $($field: change.$field.unwrap_or_else(|| self.$field.clone()),)* }
            }
        }
    };
    ($(#[doc = $about:literal])* $name:ident { $(
        $(#[doc = $doc:literal])* $(#[serde($($serde:tt)*)])? $field:ident: $type:ty = $json:literal,
    )* }) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub struct $name { $(
            $(#[doc = $doc])*
            $(#[serde($($serde)*)])?
            pub $field: $type,
        )* }

        impl $name {
            fn fields(&self) -> Vec<(&'static str, Value)> {
                vec![$(($json, self.$field.shown()),)*]
            }
        }
    };
}

record! {
    /// Where somebody can be found.
    Address {
        /// What it is for.
        address_type: AddressType = "addressType",
        /// House and street.
        street_address: Personal<String> = "streetAddress",
        /// As it was written.
        city: Personal<String> = "city",
        /// As it was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<Personal<String>> = "state",
        /// As it was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        postal_code: Option<Personal<String>> = "postalCode",
        /// As it was written.
        country: Personal<String> = "country",
        /// Whether it comes first; while there are any, one does.
        is_primary: bool = "isPrimary",
        /// The first day it is good for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_from: Option<Personal<Date>> = "validFrom",
        /// The last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        valid_to: Option<Personal<Date>> = "validTo",
        /// ISO 3166-1 alpha-2 of the country.
        country_code: String = "countryCode",
        /// ISO 3166-2 of the state, when the country has one of that name or code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state_code: Option<Personal<String>> = "stateCode",
        /// Whether country and state are known.
        validated: bool = "validated",
        /// Whether the city is known there.
        geocoded: bool = "geocoded",
    }
}

record! {
    /// Somebody next of kin.
    Kin, KinChange {
        /// A code of the dataset of relationships.
        relationship: String = "relationship",
        /// Their given names.
        first_name: Personal<String> = "firstName",
        /// Their family name.
        last_name: Personal<String> = "lastName",
        /// E.164.
        phone_number: Personal<String> = "phoneNumber",
        /// Where they can be written to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        email: Option<Personal<String>> = "email",
        /// Where they live.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<Personal<String>> = "address",
        /// Whether they come first; while there are any, one does.
        is_primary: bool = "isPrimary",
        /// Their birthday.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        date_of_birth: Option<Personal<Date>> = "dateOfBirth",
        /// As it was written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nationality: Option<Personal<String>> = "nationality",
    }
}

record! {
    /// A place somebody works or worked at.
    Employment, EmploymentChange {
        /// Who employs them.
        company_name: Personal<String> = "companyName",
        /// As what.
        position: Personal<String> = "position",
        /// On what terms.
        employment_type: EmploymentType = "employmentType",
        /// Their first day.
        start_date: Personal<Date> = "startDate",
        /// Their last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        end_date: Option<Personal<Date>> = "endDate",
        /// What they earn, in their own words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        salary: Option<Personal<String>> = "salary",
        /// Where the company is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        company_address: Option<Personal<String>> = "companyAddress",
        /// E.164.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        company_phone: Option<Personal<String>> = "companyPhone",
        /// Whom they report to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        supervisor_name: Option<Personal<String>> = "supervisorName",
        /// Whether they work there now.
        is_current: bool = "isCurrent",
    }
}

record! {
    /// Somebody to be called in an emergency.
    EmergencyContact, EmergencyContactChange {
        /// A code of the dataset of relationships.
        relationship: String = "relationship",
        /// Their given names.
        first_name: Personal<String> = "firstName",
        /// Their family name.
        last_name: Personal<String> = "lastName",
        /// E.164.
        phone_number: Personal<String> = "phoneNumber",
        /// Where they can be written to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        email: Option<Personal<String>> = "email",
        /// Who is called first.
        priority: Priority = "priority",
        /// Where they live.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<Personal<String>> = "address",
        /// Their birthday.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        date_of_birth: Option<Personal<Date>> = "dateOfBirth",
    }
}

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

/// A field as people are shown it.
trait Shown {
    fn shown(&self) -> Value;
}

impl Shown for String {
    fn shown(&self) -> Value {
        self.as_str().into()
    }
}

impl Shown for bool {
    fn shown(&self) -> Value {
        (*self).into()
    }
}

impl<T: Spelled> Shown for T {
    fn shown(&self) -> Value {
        self.spelling().into()
    }
}

impl Shown for Personal<String> {
    fn shown(&self) -> Value {
        self.or_erased().into()
    }
}

impl Shown for Personal<Date> {
    fn shown(&self) -> Value {
        self.get().map(Date::to_string).into()
    }
}

impl<T: Shown> Shown for Option<T> {
    fn shown(&self) -> Value {
        self.as_ref().map_or(Value::Null, Shown::shown)
    }
}
