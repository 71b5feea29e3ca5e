//! How people look from outside.

use bursar_domain::kernel::AvatarId;
use bursar_domain::users::{masked_email, masked_phone};
use bursar_projections::users::UserRow;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use utoipa::ToSchema;

/// Somebody who was registered.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RegisteredUser {
    pub(super) user_id: String,
    /// `PENDING`.
    pub(super) status: &'static str,
    pub(super) created_at: Timestamp,
    pub(super) message: &'static str,
}

/// The profile of a person.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileView {
    user_id: String,
    /// `PENDING` or `ACTIVE`.
    status: String,
    first_name: String,
    last_name: String,
    email: String,
    /// Whether they have proven to have the mailbox.
    email_verified: bool,
    /// E.164.
    phone_number: String,
    /// Whether they have proven to have the phone.
    phone_verified: bool,
    /// `YYYY-MM-DD`.
    #[schema(value_type = Option<String>, format = Date)]
    date_of_birth: Option<Date>,
    country_code: String,
    preferred_language: Option<String>,
    /// `NONE` or `FULL`.
    verification_level: String,
    address: AddressView,
    preferences: PreferencesView,
    /// What was changed and is not proven yet.
    pending_changes: PendingChanges,
    /// Their picture.
    avatar: Option<AvatarLinks>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

/// Where somebody lives.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AddressView {
    street: Option<String>,
    city: Option<String>,
    state: Option<String>,
    postal_code: Option<String>,
    country: Option<String>,
}

/// How somebody wants to be spoken to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreferencesView {
    language: Option<String>,
    timezone: Option<String>,
    notifications: NotificationsView,
}

/// By which ways somebody wants to hear from the bank.
#[derive(Debug, Serialize, ToSchema)]
pub struct NotificationsView {
    email: bool,
    sms: bool,
    push: bool,
}

/// What waits to be proven; addresses and numbers masked.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PendingChanges {
    first_name: Option<String>,
    last_name: Option<String>,
    email: Option<String>,
    phone_number: Option<String>,
}

/// Where a picture is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AvatarLinks {
    pub(super) avatar_id: String,
    pub(super) image_url: String,
    pub(super) thumbnail_url: String,
}

impl From<AvatarId> for AvatarLinks {
    fn from(id: AvatarId) -> Self {
        let url = |which: &str| format!("/v1/users/profile/avatar/{id}/{which}");
        Self { avatar_id: id.to_string(), image_url: url("image"), thumbnail_url: url("thumbnail") }
    }
}

impl From<UserRow> for ProfileView {
    fn from(row: UserRow) -> Self {
        Self {
            user_id: row.user_id.to_string(),
            status: row.status,
            first_name: row.first_name,
            last_name: row.last_name,
            email: row.email,
            email_verified: row.email_verified,
            phone_number: row.phone_number,
            phone_verified: row.phone_verified,
            date_of_birth: row.date_of_birth,
            country_code: row.country_code,
            preferred_language: row.language.clone(),
            verification_level: row.verification_level,
            address: AddressView {
                street: row.street,
                city: row.city,
                state: row.state,
                postal_code: row.postal_code,
                country: row.country,
            },
            preferences: PreferencesView {
                language: row.language,
                timezone: row.timezone,
                notifications: NotificationsView {
                    email: row.notify_email.unwrap_or(true),
                    sms: row.notify_sms.unwrap_or(true),
                    push: row.notify_push.unwrap_or(true),
                },
            },
            pending_changes: PendingChanges {
                first_name: row.waiting_first_name,
                last_name: row.waiting_last_name,
                email: row.waiting_email.map(|email| masked_email(&email)),
                phone_number: row.waiting_phone_number.map(|phone| masked_phone(&phone)),
            },
            avatar: row.avatar_id.map(AvatarLinks::from),
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}
