//! The caller's own profile.

use axum::extract::State;
use bursar_commands::users;
use bursar_domain::Event;
use bursar_domain::kernel::UserId;
use bursar_domain::users::{Preferences, ProfileUpdate, UserEvent};
use bursar_domain::verifications::{Purpose, VerificationsEvent};
use bursar_projections::users::find;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::fields::{ProfileFields, address};
use super::identity::asker;
use super::views::ProfileView;
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, Caller, ManageProfile};
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::passwords::shown_again;
use crate::problem::Problem;
use crate::request::{Conditions, InPath, Secret, Strict, Write};

/// What changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UpdatedUser {
    user_id: String,
    /// `SUCCESS`.
    status: &'static str,
    /// The fields that have another value now.
    updated_fields: Vec<&'static str>,
    updated_at: Timestamp,
    /// The fields whose new value counts once it is proven: email and phoneNumber by a code, names by verifying the identity.
    requires_verification: Vec<&'static str>,
    /// The codes that are on their way.
    verifications: Vec<SentCode>,
    message: &'static str,
}

/// A code that proves a mailbox or a phone.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SentCode {
    /// `email` or `phoneNumber`.
    field: &'static str,
    verification_id: String,
    /// When the code stops to count.
    expires_at: Timestamp,
}

impl SentCode {
    fn of(event: &Event) -> Option<Self> {
        let Event::Verifications(VerificationsEvent::Issued(issued)) = event else { return None };
        let field = if issued.purpose == Purpose::Phone { "phoneNumber" } else { "email" };
        Some(Self { field, verification_id: issued.id.to_string(), expires_at: issued.expires_at })
    }
}

/// Reads the caller's profile.
#[utoipa::path(
    get, path = "/v1/users/profile", tag = "Users", params(ReadHeaders),
    responses((status = 200, description = "The profile.", body = ProfileView), ReadProblems)
)]
pub(super) async fn read_profile(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    wants: Conditions,
) -> Result<Answer<ProfileView>, Problem> {
    app.fresh(&caller, &wants, &["users"]).await?;
    let row = find(&app.pool, caller.user()).await?.ok_or_else(|| Problem::not_found("user"))?;
    let version = row.version;
    Ok(Answer::ok(ProfileView::from(row)).tagged(version, wants.none_match))
}

/// Changes the caller's profile: the fields that are present.
///
/// A new email address or phone number needs the password, gets a code, and counts once that is confirmed; the old one is
/// told. New names of somebody whose identity is verified count once it is verified with them. Unknown fields are refused.
#[utoipa::path(
    patch, path = "/v1/users/{userId}", tag = "Users",
    params(InPath<UserId>, WriteHeaders, IfMatch), request_body = ProfileFields,
    responses((status = 200, description = "Updated.", body = UpdatedUser), WriteProblems)
)]
pub(super) async fn update_user(
    State(app): State<App>,
    id: InPath<UserId>,
    write: Write<ManageProfile, Strict<ProfileFields>>,
) -> Result<Answer<UpdatedUser>, Problem> {
    let Write { caller, body: Strict(body), context, .. } = write;
    if id.get()? != caller.user() {
        return Err(Problem::not_found("user"));
    }
    if body.email.is_some() || body.phone_number.is_some() {
        same_password(&app, &caller, body.current_password).await?;
    }
    let update = ProfileUpdate {
        first_name: body.first_name.map(String::from),
        last_name: body.last_name.map(String::from),
        email: body.email.map(|email| users::normalised_email(&email.0)),
        phone_number: body.phone_number.map(String::from),
        address: address(&app, body.address.map(|Strict(fields)| fields))?,
        preferences: body.preferences.map(|Strict(fields)| Preferences::from(fields)),
    };
    let committed = users::update(&app.journal, &app.verifier, context, asker(&caller), update).await?;
    let changed = committed.event(|event| match event {
        Event::User(UserEvent::ProfileUpdated(updated)) => Some(&**updated),
        _ => None,
    });
    // All of it was so already.
    let result = match changed {
        Ok((recorded, updated)) => UpdatedUser {
            user_id: recorded.stream.id.to_string(),
            status: "SUCCESS",
            updated_fields: updated.fields(),
            updated_at: recorded.recorded_at,
            requires_verification: updated.waiting.fields(),
            verifications: committed
                .events
                .iter()
                .filter_map(|recorded| SentCode::of(&recorded.event))
                .collect(),
            message: "Profile updated",
        },
        Err(_) => UpdatedUser {
            user_id: caller.user().to_string(),
            status: "SUCCESS",
            updated_fields: Vec::new(),
            updated_at: app.journal.sources().clock.now(),
            requires_verification: Vec::new(),
            verifications: Vec::new(),
            message: "Nothing to change",
        },
    };
    Ok(Answer::ok(result).at(&committed))
}

/// Whoever changes where the bank reaches them knows the password; a session alone is not enough.
///
/// # Errors
/// 422 `PASSWORD_MISMATCH`, also without one; 429 after some tries.
async fn same_password(app: &App, caller: &Caller, given: Option<Secret>) -> Result<(), Problem> {
    let wrong = || {
        let status = axum::http::StatusCode::UNPROCESSABLE_ENTITY;
        Problem::new(status, "PASSWORD_MISMATCH", "currentPassword is not your password")
    };
    let Some(given) = given else { return Err(wrong()) };
    shown_again(app, caller, given).await?.map(drop).ok_or_else(wrong)
}
