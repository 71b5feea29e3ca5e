//! Devices that change hands.

use axum::extract::State;
use bursar_commands::devices::{self, WantedTransfer};
use bursar_commands::once;
use bursar_commands::users::WrongPassword;
use bursar_domain::devices::DevicesEvent;
use bursar_domain::kernel::{TransferId, UserId, add_seconds};
use bursar_domain::{Event, Rejection, RejectionKind};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{is_caller, place, session_of, sessions_on};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Caller, ManageProfile};
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::passwords::shown_again;
use crate::problem::Problem;
use crate::request;
use crate::request::{Secret, Text, Write};

/// The routes of this file.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(transfer_device)).routes(routes!(accept_device))
}

request! {
    /// A device that is to be somebody else's.
    DeviceTransferRequest {
        /// The device, as its app names it.
        device_id: Text<128> = "deviceId",
        /// Whose it is: the caller's.
        current_owner_id: UserId = "currentOwnerId",
        /// Who shall have it.
        new_owner_id: UserId = "newOwnerId",
        /// Why.
        transfer_reason: Option<Text<500>> = "transferReason",
        /// Before this it cannot be accepted; at most 72 hours ahead.
        effective_date: Option<Timestamp> = "effectiveDate",
        /// The caller's password, which is needed from five minutes after the login on.
        password: Option<Secret> = "password",
    }
}

request! {
    /// A device that is accepted.
    DeviceAcceptRequest {
        /// The transfer.
        transfer_id: TransferId = "transferId",
        /// Who accepts: the caller.
        acceptor_id: UserId = "acceptorId",
        /// The code that was sent to whoever shall have the device.
        acceptance_code: Secret = "acceptanceCode",
    }
}

/// A device that is offered to somebody.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceTransferResult {
    transfer_id: String,
    /// `PENDING_APPROVAL`.
    status: &'static str,
    device_id: String,
    current_owner_id: String,
    new_owner_id: String,
    requested_at: Timestamp,
    /// From then on it cannot be accepted any more.
    expires_at: Timestamp,
    message: &'static str,
}

/// A device that was accepted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceAcceptResult {
    /// `SUCCESS`.
    status: &'static str,
    transfer_id: String,
    device_id: String,
    new_owner_id: String,
    completed_at: Timestamp,
    message: &'static str,
}

/// Offers a device of the caller to somebody. The code that accepts it goes to them, and to nobody else.
///
/// Whoever logged in more than five minutes ago says their password. A newer offer of a device takes the place of an older one.
#[utoipa::path(
    post, path = "/v1/device/ownership/transfer", tag = "Devices",
    params(WriteHeaders), request_body = DeviceTransferRequest,
    responses((status = 201, description = "Offered.", body = DeviceTransferResult), WriteProblems)
)]
async fn transfer_device(
    State(app): State<App>,
    write: Write<ManageProfile, DeviceTransferRequest>,
) -> Result<Answer<DeviceTransferResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    is_caller(&caller, Some(body.current_owner_id))?;
    let (now, lifetime) = (app.journal.sources().clock.now(), i64::from(app.config.devices.transfer_seconds));
    if body.effective_date.is_some_and(|then| then >= add_seconds(now, lifetime)) {
        let message = "an offer stands for 72 hours and must take effect before";
        return Err(Problem::bad_request("/effectiveDate", "OUT_OF_RANGE", message));
    }
    reauthenticated(&app, &caller, body.password, now).await?;
    let wanted = WantedTransfer {
        device_id: body.device_id.into(),
        new_owner: body.new_owner_id,
        reason: body.transfer_reason.map(String::from),
        effective_at: body.effective_date,
        lifetime,
    };
    let committed = devices::transfer(&app.journal, &app.verifier, context, caller.user(), wanted).await?;
    let (_, transfer) = committed.event(|event| match event {
        Event::Devices(DevicesEvent::TransferRequested(transfer)) => Some(transfer),
        _ => None,
    })?;
    let result = DeviceTransferResult {
        transfer_id: transfer.id.to_string(),
        status: "PENDING_APPROVAL",
        device_id: transfer.device_id.clone(),
        current_owner_id: transfer.current_owner.to_string(),
        new_owner_id: transfer.new_owner.to_string(),
        requested_at: transfer.requested_at,
        expires_at: transfer.expires_at,
        message: "The device is offered",
    };
    Ok(Answer::ok(result).at(&committed).created(&place(&transfer.device_id)))
}

/// Accepts a device that somebody offers to the caller.
///
/// Its PIN, its certificates and the sessions of whoever had it end. It is pending until the caller activates it.
#[utoipa::path(
    post, path = "/v1/device/ownership/accept", tag = "Devices",
    params(WriteHeaders), request_body = DeviceAcceptRequest,
    responses((status = 200, description = "Accepted.", body = DeviceAcceptResult), WriteProblems)
)]
async fn accept_device(
    State(app): State<App>,
    write: Write<ManageProfile, DeviceAcceptRequest>,
) -> Result<Answer<DeviceAcceptResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    is_caller(&caller, Some(body.acceptor_id))?;
    let (acceptor, id, Secret(code)) = (caller.user(), body.transfer_id, body.acceptance_code);
    // Answered as then: nothing is offered any more.
    let accept = async |context| {
        let offer = devices::offer(&app.journal, acceptor, id).await?;
        let sessions = sessions_on(&app, &caller, offer.from, &offer.device_id).await?;
        let verifier = &app.verifier;
        Ok(devices::accept(&app.journal, verifier, context, acceptor, offer, &code, &sessions).await?)
    };
    let committed = once::<Problem>(&app.journal, context, accept).await?;
    let (recorded, received) = committed.event(|event| match event {
        Event::Devices(DevicesEvent::Received(received)) => Some(received),
        _ => None,
    })?;
    let result = DeviceAcceptResult {
        status: "SUCCESS",
        transfer_id: received.transfer_id.to_string(),
        device_id: received.device_id.clone(),
        new_owner_id: recorded.stream.id.to_string(),
        completed_at: recorded.recorded_at,
        message: "The device is yours",
    };
    Ok(Answer::ok(result).at(&committed))
}

/// Whether the caller has just logged in, or knows the password. A wrong one counts as a failed login.
async fn reauthenticated(
    app: &App,
    caller: &Caller,
    password: Option<Secret>,
    now: Timestamp,
) -> Result<(), Problem> {
    let Some(password) = password else {
        let (_, since) = session_of(app, caller).await?;
        let fresh = add_seconds(since, app.config.devices.fresh_login_seconds.into());
        return if now < fresh { Ok(()) } else { Err(Problem::refused(&NotFresh)) };
    };
    shown_again(app, caller, password).await?.map(drop).ok_or_else(|| Problem::refused(&WrongPassword))
}

/// The login was too long ago for this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("log in again, or say the password")]
struct NotFresh;

impl Rejection for NotFresh {
    fn code(&self) -> &'static str {
        "REAUTHENTICATION_REQUIRED"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Forbidden
    }
}
