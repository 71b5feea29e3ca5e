//! The fields of each kind of record: what tells the four apart.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
            pub(super) fn with(&self, change: $change) -> Self {
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
            pub(super) fn fields(&self) -> Vec<(&'static str, Value)> {
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
