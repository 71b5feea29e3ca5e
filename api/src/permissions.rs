//! What staff may do, and who says so.

use std::collections::BTreeSet;

use axum::extract::State;
use bursar_commands::users::{self, StaffChange};
use bursar_domain::kernel::{Permission, UserId};
use bursar_domain::users::{User, UserEvent};
use bursar_domain::{Event, Rejection, RejectionKind};
use bursar_projections::sessions;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, StaffAdmin};
use crate::openapi::{ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{InPath, OneOf, Write};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(read_permissions, change_permissions))
}

request! {
    /// Staff permissions to be given and taken back.
    PermissionChange {
        /// Given; those they have already are passed over.
        grant: Option<Vec<OneOf<Permission>>> = "grant",
        /// Taken back; those they do not have are passed over.
        revoke: Option<Vec<OneOf<Permission>>> = "revoke",
    }
}

/// What somebody may do beyond a customer.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionsResult {
    user_id: String,
    /// Staff permissions.
    permissions: Vec<&'static str>,
}

/// Staff permissions that changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionChangeResult {
    /// `SUCCESS`.
    status: &'static str,
    message: &'static str,
    user_id: String,
    /// Those they did not have before.
    granted: Vec<&'static str>,
    /// Those they had.
    revoked: Vec<&'static str>,
    /// How many of their sessions ended, because something was taken back.
    sessions_invalidated: u32,
    updated_at: Timestamp,
}

/// Staff: what somebody may do beyond a customer.
#[utoipa::path(
    get, path = "/v1/staff/users/{userId}/permissions", tag = "Staff", params(InPath<UserId>),
    responses((status = 200, description = "The staff permissions.", body = PermissionsResult), ReadProblems)
)]
async fn read_permissions(
    State(app): State<App>,
    _: Allowed<StaffAdmin>,
    user: InPath<UserId>,
) -> Result<Answer<PermissionsResult>, Problem> {
    let id = user.get()?;
    let (user, _) = app.journal.load::<User>(&id.to_string()).await?;
    let person = user.person().ok_or_else(|| Problem::not_found("user"))?;
    let permissions = spelled(&person.staff_permissions);
    Ok(Answer::ok(PermissionsResult { user_id: id.to_string(), permissions }))
}

/// Staff: gives and takes back staff permissions.
///
/// Nobody changes their own. Taking one back ends the person's sessions.
#[utoipa::path(
    post, path = "/v1/staff/users/{userId}/permissions", tag = "Staff",
    params(InPath<UserId>, WriteHeaders), request_body = PermissionChange,
    responses((status = 200, description = "Changed.", body = PermissionChangeResult), WriteProblems)
)]
async fn change_permissions(
    State(app): State<App>,
    user: InPath<UserId>,
    write: Write<StaffAdmin, PermissionChange>,
) -> Result<Answer<PermissionChangeResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let user = user.get()?;
    let (grant, revoke) = (staff_only("/grant", body.grant)?, staff_only("/revoke", body.revoke)?);
    if !grant.is_disjoint(&revoke) {
        return Err(Problem::bad_request(
            "/revoke",
            "CONFLICT",
            "one permission cannot be given and taken back",
        ));
    }
    if user == caller.user() {
        return Err(Problem::refused(&OwnPermissions));
    }
    let now = app.journal.sources().clock.now();
    let sessions = sessions::count_of_owner(&app.pool, user, None, now).await?;
    let change = StaffChange { grant, revoke, sessions };
    let committed = users::change_staff(&app.journal, context, user, change).await?;
    let mut result = PermissionChangeResult {
        status: "SUCCESS",
        message: "Permissions changed",
        user_id: user.to_string(),
        granted: Vec::new(),
        revoked: Vec::new(),
        sessions_invalidated: 0,
        updated_at: committed.events.first().map_or(now, |event| event.recorded_at),
    };
    for recorded in &committed.events {
        match &recorded.event {
            Event::User(UserEvent::PermissionsGranted { permissions }) => {
                result.granted = spelled(permissions)
            }
            Event::User(UserEvent::PermissionsRevoked { permissions }) => {
                result.revoked = spelled(permissions)
            }
            Event::User(UserEvent::SessionsEnded(ended)) => result.sessions_invalidated = ended.sessions,
            _ => {}
        }
    }
    Ok(Answer::ok(result).at(&committed))
}

fn spelled(permissions: &BTreeSet<Permission>) -> Vec<&'static str> {
    permissions.iter().map(|permission| permission.as_str()).collect()
}

/// The permissions named, if all of them are for staff.
fn staff_only(pointer: &str, named: Option<Vec<OneOf<Permission>>>) -> Result<BTreeSet<Permission>, Problem> {
    let named: BTreeSet<Permission> =
        named.unwrap_or_default().into_iter().map(|OneOf(permission)| permission).collect();
    if named.iter().all(|permission| permission.is_staff()) {
        return Ok(named);
    }
    Err(Problem::bad_request(pointer, "UNKNOWN_VALUE", "not a permission of staff"))
}

/// Who may do what is somebody else's decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nobody changes their own permissions")]
struct OwnPermissions;

impl Rejection for OwnPermissions {
    fn code(&self) -> &'static str {
        "OWN_PERMISSIONS"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Forbidden
    }
}
