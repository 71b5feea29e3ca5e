//! How compliance records look from outside. What all of them have is written once, and flattened into each.

use bursar_domain::compliance::VerificationStatus;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::paging::Pagination;

/// Where a write left a record.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// `SUCCESS`.
    pub(super) status: &'static str,
    /// `PENDING`, `VERIFIED` or `REJECTED`.
    pub(super) verification_status: &'static str,
    /// Whether staff have yet to find it true.
    pub(super) verification_required: bool,
    pub(super) message: &'static str,
}

impl Standing {
    pub(super) fn of(status: VerificationStatus, message: &'static str) -> Self {
        Self {
            status: "SUCCESS",
            verification_status: status.as_str(),
            verification_required: status != VerificationStatus::Verified,
            message,
        }
    }
}

/// An address that was added, or that took the place of another.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeptAddress {
    pub(super) address_id: String,
    #[serde(flatten)]
    pub(super) standing: Standing,
    pub(super) address_type: &'static str,
    /// Whether country and state are known.
    pub(super) validated: bool,
    /// Whether the city is known there.
    pub(super) geocoded: bool,
    pub(super) is_primary: bool,
    /// When there first was an address in this place.
    pub(super) created_at: Timestamp,
}

/// Next of kin that was added.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddedKin {
    pub(super) kin_id: String,
    #[serde(flatten)]
    pub(super) standing: Standing,
    pub(super) relationship: String,
    pub(super) is_primary: bool,
    pub(super) created_at: Timestamp,
}

/// An employment that was added.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddedEmployment {
    pub(super) employment_id: String,
    #[serde(flatten)]
    pub(super) standing: Standing,
    pub(super) company_name: String,
    pub(super) is_current: bool,
    pub(super) created_at: Timestamp,
}

/// An emergency contact that was added.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddedContact {
    pub(super) contact_id: String,
    #[serde(flatten)]
    pub(super) standing: Standing,
    pub(super) relationship: String,
    pub(super) priority: &'static str,
    pub(super) created_at: Timestamp,
}

/// What a change did.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    #[serde(flatten)]
    pub(super) standing: Standing,
    /// The fields whose values are different now; none when all were as they were asked to be.
    pub(super) updated_fields: Vec<String>,
    pub(super) updated_at: Timestamp,
}

/// What a removal did.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Removed {
    /// `SUCCESS`.
    pub(super) status: &'static str,
    pub(super) removed_at: Timestamp,
    /// As it was given.
    pub(super) reason: String,
    pub(super) message: &'static str,
}

/// Declares the answers to a change and to a removal of each kind: they differ in what the id is called.
macro_rules! written {
    ($($about:literal $changed:ident $removed:ident $id:ident $remaining:ident;)*) => {$(
        #[doc = concat!($about, " that was changed.")]
        #[derive(Debug, Serialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $changed {
            pub(super) $id: String,
            #[serde(flatten)]
            pub(super) changed: Changed,
        }

        #[doc = concat!($about, " that was removed.")]
        #[derive(Debug, Serialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        pub struct $removed {
            pub(super) $id: String,
            #[serde(flatten)]
            pub(super) removed: Removed,
            /// How many are left.
            pub(super) $remaining: usize,
        }
    )*};
}

written! {
    "Next of kin" ChangedKin RemovedKin kin_id remaining_contacts;
    "An employment" ChangedEmployment RemovedEmployment employment_id remaining_records;
    "An emergency contact" ChangedContact RemovedContact contact_id remaining_contacts;
}

/// What staff found.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Judgement {
    pub(super) record_id: String,
    #[serde(flatten)]
    pub(super) standing: Standing,
    /// Why it is rejected, or how it was verified.
    pub(super) reason: Option<String>,
    pub(super) updated_at: Timestamp,
}

/// What every record of a list has.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Listed {
    /// As `verificationStatus`.
    status: String,
    /// `PENDING`, `VERIFIED` or `REJECTED`.
    verification_status: String,
    /// Why it is rejected; null unless it is.
    rejection_reason: Option<String>,
    created_at: Timestamp,
    /// When it was last changed, by the customer or by staff.
    updated_at: Timestamp,
}

impl Listed {
    pub(super) fn of(row: &bursar_projections::compliance::ComplianceRow) -> Self {
        Self {
            status: row.status.to_string(),
            verification_status: row.status.to_string(),
            rejection_reason: row.rejection_reason.clone(),
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// An address.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddressRecord {
    address_id: String,
    #[serde(flatten)]
    listed: Listed,
    address_type: String,
    street_address: String,
    city: String,
    state: Option<String>,
    postal_code: Option<String>,
    country: String,
    /// ISO 3166-1 alpha-2.
    country_code: String,
    /// ISO 3166-2; null unless the state is known.
    state_code: Option<String>,
    is_primary: bool,
    valid_from: Option<Date>,
    valid_to: Option<Date>,
    /// Whether country and state are known.
    validated: bool,
    /// Whether the city is known there.
    geocoded: bool,
}

/// Next of kin.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct KinRecord {
    kin_id: String,
    #[serde(flatten)]
    listed: Listed,
    relationship: String,
    first_name: String,
    last_name: String,
    phone_number: String,
    email: Option<String>,
    address: Option<String>,
    is_primary: bool,
    date_of_birth: Option<Date>,
    nationality: Option<String>,
}

/// An employment.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmploymentRecord {
    employment_id: String,
    #[serde(flatten)]
    listed: Listed,
    company_name: String,
    position: String,
    employment_type: String,
    /// Null when it is erased.
    start_date: Option<Date>,
    end_date: Option<Date>,
    salary: Option<String>,
    company_address: Option<String>,
    company_phone: Option<String>,
    supervisor_name: Option<String>,
    is_current: bool,
}

/// An emergency contact.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactRecord {
    contact_id: String,
    #[serde(flatten)]
    listed: Listed,
    relationship: String,
    first_name: String,
    last_name: String,
    phone_number: String,
    email: Option<String>,
    priority: String,
    address: Option<String>,
    date_of_birth: Option<Date>,
}

/// The caller's addresses.
#[derive(Debug, Serialize, ToSchema)]
pub struct AddressList {
    pub(super) addresses: Vec<AddressRecord>,
    pub(super) pagination: Pagination,
}

/// The caller's next of kin.
#[derive(Debug, Serialize, ToSchema)]
pub struct KinList {
    pub(super) kin: Vec<KinRecord>,
    pub(super) pagination: Pagination,
}

/// The caller's employments.
#[derive(Debug, Serialize, ToSchema)]
pub struct EmploymentList {
    pub(super) employment: Vec<EmploymentRecord>,
    pub(super) pagination: Pagination,
}

/// The caller's emergency contacts.
#[derive(Debug, Serialize, ToSchema)]
pub struct ContactList {
    pub(super) contacts: Vec<ContactRecord>,
    pub(super) pagination: Pagination,
}
