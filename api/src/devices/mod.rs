//! Devices of the caller: whether they may be used, and what they prove themselves with.

mod certificates;
mod pins;
mod pki;
mod staff;
mod transfers;

use axum::extract::State;
use bursar_commands::Committed;
use bursar_commands::devices::{self, Move};
use bursar_domain::devices::{
    CertificateStatus, Device, DeviceAction, DeviceStatus, DevicesError, DevicesEvent, Mover,
};
use bursar_domain::kernel::{SessionId, UserId};
use bursar_domain::sessions::{Session, SessionEvent};
use bursar_domain::{Event, Rejection, RejectionKind};
use bursar_projections::sessions;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, Caller, ManageProfile};
use crate::openapi::{ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request::{Conditions, OneOf, Queried, Text, Write};
use crate::{query, request};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read_status, change_status))
        .merge(certificates::routes())
        .merge(pins::routes())
        .merge(transfers::routes())
        .merge(staff::routes())
        .merge(pki::routes())
}

/// The read model that knows which sessions a device has.
const SESSIONS: &str = "sessions";

query! {
    /// Which device.
    WhichDevice {
        /// The device's id; the device of the caller's session when absent.
        device_id: Option<Text<128>> = "deviceId",
    }
}

bursar_domain::spelled! {
    /// What an owner can do with a device.
    pub enum OwnerAction {
        /// Let it be used.
        Activate = "ACTIVATE",
        /// Let it rest.
        Deactivate = "DEACTIVATE",
        /// Let it not be used until staff say so.
        Block = "BLOCK",
    }
}

request! {
    /// What is to be done with a device.
    DeviceStatusRequest {
        /// The device, as its app names it.
        device_id: Text<128> = "deviceId",
        /// `ACTIVATE`, `DEACTIVATE` or `BLOCK`; only staff undo the last.
        action: OneOf<OwnerAction> = "action",
        /// Why.
        reason: Option<Text<500>> = "reason",
        /// Who asks: the caller.
        admin_id: Option<UserId> = "adminId",
    }
}

/// A device.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceView {
    device_id: String,
    /// `PENDING`, `ACTIVE`, `INACTIVE`, `BLOCKED` or `REVOKED`.
    status: &'static str,
    /// `NOT_ENROLLED`, or `ENROLLED` from its first certificate on.
    enrollment_status: &'static str,
    /// `NONE`, `VALID`, `EXPIRED` or `REVOKED`.
    certificate_status: &'static str,
    last_activity: Timestamp,
    device_info: DeviceInfoView,
    security_posture: Posture,
}

/// A device as its app describes it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeviceDescription)]
pub struct DeviceInfoView {
    /// `DESKTOP`, `MOBILE`.
    r#type: Option<String>,
    manufacturer: Option<String>,
    model: Option<String>,
    os_version: Option<String>,
    app_version: Option<String>,
}

/// How well a device is protected.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Posture {
    /// Whether it has a PIN that is not locked.
    pin_enabled: bool,
    certificate_valid: bool,
    /// When that was looked at: now.
    last_security_check: Timestamp,
}

/// A device that was changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceStatusResult {
    /// `SUCCESS`.
    status: &'static str,
    device_id: String,
    /// `ACTIVE`, `INACTIVE`, `BLOCKED` or `REVOKED`.
    new_state: &'static str,
    updated_at: Timestamp,
    message: &'static str,
    /// How many sessions on the device ended; the one that asks goes on.
    sessions_terminated: usize,
}

/// Reads a device of the caller: the one of their session, or another.
#[utoipa::path(
    get, path = "/v1/device/status", tag = "Devices", params(WhichDevice, ReadHeaders),
    responses((status = 200, description = "The device.", body = DeviceView), ReadProblems)
)]
async fn read_status(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    wants: Conditions,
    Queried(query): Queried<WhichDevice>,
) -> Result<Answer<DeviceView>, Problem> {
    app.fresh(&caller, &wants, &[SESSIONS]).await?;
    let device_id = match query.device_id {
        Some(Text(device_id)) => device_id,
        None => session_of(&app, &caller).await?.0,
    };
    let (devices, _) = devices::of(&app.journal, caller.user()).await?;
    let device = devices.get(&device_id).ok_or_else(|| Problem::refused(&DevicesError::Unknown))?;
    let now = app.journal.sources().clock.now();
    let used = sessions::of_device(&app.pool, caller.user(), &device_id, now).await?;
    let last = used.into_iter().map(|(_, used)| used).max();
    let view = DeviceView::of(device_id, device, last, now);
    Ok(Answer::ok(view))
}

/// Activates, deactivates or blocks a device of the caller.
///
/// Its other sessions end unless it is activated.
#[utoipa::path(
    post, path = "/v1/device/status", tag = "Devices", params(WriteHeaders), request_body = DeviceStatusRequest,
    responses((status = 200, description = "Changed.", body = DeviceStatusResult), WriteProblems)
)]
async fn change_status(
    State(app): State<App>,
    write: Write<ManageProfile, DeviceStatusRequest>,
) -> Result<Answer<DeviceStatusResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    is_caller(&caller, body.admin_id)?;
    let Text(device_id) = body.device_id;
    let action = match body.action.0 {
        OwnerAction::Activate => DeviceAction::Activate,
        OwnerAction::Deactivate => DeviceAction::Deactivate,
        OwnerAction::Block => DeviceAction::Block,
    };
    let mut sessions = sessions_on(&app, &caller, caller.user(), &device_id).await?;
    sessions.retain(|session| *session != caller.session());
    let reason = body.reason.map(String::from);
    let wanted = Move { device_id, action, reason, by: Mover::Owner, sessions };
    let committed = devices::change(&app.journal, context, caller.user(), wanted).await?;
    changed(&committed)
}

impl DeviceView {
    fn of(device_id: String, device: &Device, last: Option<Timestamp>, now: Timestamp) -> Self {
        let certificate = device.certificate_status(now);
        let info = device.description.clone();
        Self {
            device_id,
            status: device.status.as_str(),
            enrollment_status: if device.is_enrolled() { "ENROLLED" } else { "NOT_ENROLLED" },
            certificate_status: certificate.as_str(),
            last_activity: last.map_or(device.seen_at, |last| last.max(device.seen_at)),
            device_info: DeviceInfoView {
                r#type: info.device_type,
                manufacturer: info.manufacturer,
                model: info.model,
                os_version: info.os_version,
                app_version: info.app_version,
            },
            security_posture: Posture {
                pin_enabled: device.pin.as_ref().is_some_and(|pin| pin.remaining_tries() > 0),
                certificate_valid: certificate == CertificateStatus::Valid,
                last_security_check: now,
            },
        }
    }
}

/// What became of a device.
fn changed(committed: &Committed) -> Result<Answer<DeviceStatusResult>, Problem> {
    let (recorded, (change, state, message)) = committed.event(|event| match event {
        Event::Devices(DevicesEvent::Activated(change)) => {
            Some((change, DeviceStatus::Active, "Device activated"))
        }
        Event::Devices(DevicesEvent::Deactivated(change)) => {
            Some((change, DeviceStatus::Inactive, "Device deactivated"))
        }
        Event::Devices(DevicesEvent::Blocked(change)) => {
            Some((change, DeviceStatus::Blocked, "Device blocked"))
        }
        Event::Devices(DevicesEvent::Revoked(change)) => {
            Some((change, DeviceStatus::Revoked, "Device revoked"))
        }
        _ => None,
    })?;
    let is_end =
        |event: &&bursar_domain::Recorded| matches!(event.event, Event::Session(SessionEvent::Ended { .. }));
    let result = DeviceStatusResult {
        status: "SUCCESS",
        device_id: change.device_id.clone(),
        new_state: state.as_str(),
        updated_at: recorded.recorded_at,
        message,
        sessions_terminated: committed.events.iter().filter(is_end).count(),
    };
    Ok(Answer::ok(result).at(committed))
}

/// Refuses an id in a body that is not the caller's. Staff have routes of their own.
pub(crate) fn is_caller(caller: &Caller, said: Option<UserId>) -> Result<(), Problem> {
    if said.is_none_or(|said| said == caller.user()) {
        return Ok(());
    }
    Err(Problem::refused(&NotYou))
}

/// An id in a body that must be the caller's is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("you can only do this for yourself")]
struct NotYou;

impl Rejection for NotYou {
    fn code(&self) -> &'static str {
        "NOT_YOU"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Forbidden
    }
}

/// The sessions that somebody has on a device, as far as the read side knows: the caller's own logins for certain.
async fn sessions_on(
    app: &App,
    caller: &Caller,
    owner: UserId,
    device_id: &str,
) -> Result<Vec<SessionId>, Problem> {
    app.fresh(caller, &Conditions::default(), &[SESSIONS]).await?;
    let now = app.journal.sources().clock.now();
    let found = sessions::of_device(&app.pool, owner, device_id, now).await?;
    Ok(found.into_iter().map(|(session, _)| session).collect())
}

/// How many sessions the caller has besides this one.
async fn others(app: &App, caller: &Caller) -> Result<u32, Problem> {
    app.fresh(caller, &Conditions::default(), &[SESSIONS]).await?;
    let now = app.journal.sources().clock.now();
    Ok(sessions::count_of_owner(&app.pool, caller.user(), Some(caller.session()), now).await?)
}

/// The device of the caller's session, and when they logged in.
async fn session_of(app: &App, caller: &Caller) -> Result<(String, Timestamp), Problem> {
    match app.journal.load::<Session>(&caller.session().to_string()).await?.0 {
        Session::Live(live) | Session::Ended(live) => {
            Ok((live.started.device_id, live.started.first.issued_at))
        }
        Session::Absent => Err(Problem::unauthenticated()),
    }
}

/// Where a device can be read, for `Location`.
fn place(device_id: &str) -> String {
    let uri = bursar_commands::pki::device_uri(device_id);
    format!("/v1/device/status?deviceId={}", uri.rsplit(':').next().unwrap_or_default())
}
