//! PINs of devices.

use axum::extract::State;
use bursar_commands::devices::{self, PinChange, PinConfirmation, WantedReset};
use bursar_domain::devices::{DevicesEvent, PinSet};
use bursar_domain::kernel::{UserId, VerificationId};
use bursar_domain::messages::Channel;
use bursar_domain::users::UserEvent;
use bursar_domain::verifications::VerificationsEvent;
use bursar_domain::{Event, Rejection, RejectionKind};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{is_caller, others, place};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::ManageProfile;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{OneOf, Phone, Secret, Text, Write};

/// The routes of this file.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(create_pin))
        .routes(routes!(change_pin))
        .routes(routes!(reset_pin))
        .routes(routes!(confirm_pin))
}

request! {
    /// The first PIN of a device.
    PinRequest {
        /// The device, as its app names it.
        device_id: Text<128> = "deviceId",
        /// Four to six digits, none that everybody tries first, and not the date of birth.
        pin: Secret = "pin",
        /// The same again.
        confirm_pin: Secret = "confirmPin",
        /// Whose device it is: the caller's.
        user_id: UserId = "userId",
    }
}

request! {
    /// A PIN in the place of another.
    PinChangeRequest {
        /// The device, as its app names it.
        device_id: Text<128> = "deviceId",
        /// The one there is.
        current_pin: Secret = "currentPin",
        /// The one there shall be: four to six digits, none that everybody tries first, and not the date of birth.
        new_pin: Secret = "newPin",
        /// The same again.
        confirm_new_pin: Secret = "confirmNewPin",
        /// Whose device it is: the caller's.
        user_id: UserId = "userId",
    }
}

bursar_domain::spelled! {
    /// By which way a code travels.
    pub enum ResetMethod {
        /// To the phone on file.
        Sms = "SMS",
        /// To the address on file.
        Email = "EMAIL",
    }
}

request! {
    /// What the owner says the bank knows of them.
    VerificationData {
        /// The phone number on file.
        phone_number: Option<Phone> = "phoneNumber",
        /// The address on file.
        email: Option<Text<254>> = "email",
    }
}

request! {
    /// A PIN that is to be set anew with a code.
    PinResetRequest {
        /// The device, as its app names it.
        device_id: Text<128> = "deviceId",
        /// Whose device it is: the caller's.
        user_id: UserId = "userId",
        /// `SMS` when absent, or `EMAIL`.
        reset_method: Option<OneOf<ResetMethod>> = "resetMethod",
        /// Must be what the bank knows; the code goes to what is on file.
        verification_data: Option<VerificationData> = "verificationData",
    }
}

request! {
    /// The code of a reset, and the PIN it shall set.
    PinConfirmRequest {
        /// The reset.
        reset_id: VerificationId = "resetId",
        /// The code.
        verification_code: Secret = "verificationCode",
        /// Four to six digits, none that everybody tries first, and not the date of birth.
        new_pin: Secret = "newPin",
        /// The same again.
        confirm_new_pin: Secret = "confirmNewPin",
    }
}

/// A PIN that was set.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PinCreated {
    /// `SUCCESS`.
    status: &'static str,
    device_id: String,
    pin_created_at: Timestamp,
    message: &'static str,
    next_steps: Vec<&'static str>,
}

/// A PIN that was changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PinChanged {
    /// `SUCCESS`.
    status: &'static str,
    device_id: String,
    pin_changed_at: Timestamp,
    message: &'static str,
    /// How many other sessions of the caller's ended.
    sessions_invalidated: u32,
}

/// A code that is on its way.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PinResetResult {
    reset_id: String,
    /// `PENDING`.
    status: &'static str,
    /// `SMS` or `EMAIL`.
    reset_method: &'static str,
    expires_at: Timestamp,
    next_step: &'static str,
    message: &'static str,
}

/// A PIN that was set anew.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PinConfirmed {
    /// `SUCCESS`.
    status: &'static str,
    device_id: String,
    pin_reset_at: Timestamp,
    message: &'static str,
    /// Whether every other session of the caller's is over: yes.
    temporary_access_revoked: bool,
}

/// Sets the first PIN of a device of the caller.
#[utoipa::path(
    post, path = "/v1/device/pin", tag = "Devices", params(WriteHeaders), request_body = PinRequest,
    responses((status = 200, description = "Set.", body = PinCreated), WriteProblems)
)]
async fn create_pin(
    State(app): State<App>,
    write: Write<ManageProfile, PinRequest>,
) -> Result<Answer<PinCreated>, Problem> {
    let Write { caller, body, context, .. } = write;
    is_caller(&caller, Some(body.user_id))?;
    let (device_id, pin) = (body.device_id.into(), typed_twice(body.pin, &body.confirm_pin)?);
    let owner = caller.user();
    let committed = devices::create_pin(&app.journal, &app.passwords, context, owner, device_id, pin).await?;
    let (recorded, set) = committed.event(pin_set)?;
    let result = PinCreated {
        status: "SUCCESS",
        device_id: set.device_id.clone(),
        pin_created_at: recorded.recorded_at,
        message: "PIN created",
        next_steps: vec!["Ask for a certificate for the device"],
    };
    Ok(Answer::ok(result).at(&committed))
}

/// Changes the PIN of a device of the caller. After five wrong guesses it is locked until it is reset.
///
/// Every other session of the caller's ends.
#[utoipa::path(
    post, path = "/v1/device/pin/change", tag = "Devices",
    params(WriteHeaders), request_body = PinChangeRequest,
    responses((status = 200, description = "Changed.", body = PinChanged), WriteProblems)
)]
async fn change_pin(
    State(app): State<App>,
    write: Write<ManageProfile, PinChangeRequest>,
) -> Result<Answer<PinChanged>, Problem> {
    let Write { caller, body, context, .. } = write;
    is_caller(&caller, Some(body.user_id))?;
    let change = PinChange {
        device_id: body.device_id.into(),
        current: body.current_pin.0,
        new: typed_twice(body.new_pin, &body.confirm_new_pin)?,
        session: caller.session(),
        others: others(&app, &caller).await?,
    };
    let committed = devices::change_pin(&app.journal, &app.passwords, context, caller.user(), change).await?;
    let (recorded, set) = committed.event(pin_set)?;
    let (_, sessions_invalidated) = committed.event(|event| match event {
        Event::User(UserEvent::SessionsEnded(ended)) => Some(ended.sessions),
        _ => None,
    })?;
    let result = PinChanged {
        status: "SUCCESS",
        device_id: set.device_id.clone(),
        pin_changed_at: recorded.recorded_at,
        message: "PIN changed",
        sessions_invalidated,
    };
    Ok(Answer::ok(result).at(&committed))
}

/// Sends a code with which the PIN of a device of the caller can be set anew.
#[utoipa::path(
    post, path = "/v1/device/pin/reset", tag = "Devices",
    params(WriteHeaders), request_body = PinResetRequest,
    responses((status = 201, description = "On its way.", body = PinResetResult), WriteProblems)
)]
async fn reset_pin(
    State(app): State<App>,
    write: Write<ManageProfile, PinResetRequest>,
) -> Result<Answer<PinResetResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    is_caller(&caller, Some(body.user_id))?;
    let (phone_number, email) =
        body.verification_data.map(|said| (said.phone_number, said.email)).unwrap_or_default();
    let wanted = WantedReset {
        device_id: body.device_id.into(),
        channel: match body.reset_method {
            Some(OneOf(ResetMethod::Email)) => Channel::Email,
            Some(OneOf(ResetMethod::Sms)) | None => Channel::Sms,
        },
        phone_number: phone_number.map(String::from),
        email: email.map(String::from),
    };
    let committed = devices::reset_pin(&app.journal, &app.verifier, context, caller.user(), wanted).await?;
    let (_, issued) = committed.event(|event| match event {
        Event::Verifications(VerificationsEvent::Issued(issued)) => Some(issued),
        _ => None,
    })?;
    let result = PinResetResult {
        reset_id: issued.id.to_string(),
        status: "PENDING",
        reset_method: issued.channel.as_str(),
        expires_at: issued.expires_at,
        next_step: "Confirm the code with a new PIN",
        message: "A code was sent",
    };
    Ok(Answer::ok(result).at(&committed).created(&place(&issued.bound_to)))
}

/// Sets the PIN of a device of the caller with a code. Every other session of the caller's ends.
#[utoipa::path(
    post, path = "/v1/device/pin/confirm", tag = "Devices",
    params(WriteHeaders), request_body = PinConfirmRequest,
    responses((status = 200, description = "Set.", body = PinConfirmed), WriteProblems)
)]
async fn confirm_pin(
    State(app): State<App>,
    write: Write<ManageProfile, PinConfirmRequest>,
) -> Result<Answer<PinConfirmed>, Problem> {
    let Write { caller, body, context, .. } = write;
    let confirmation = PinConfirmation {
        reset: body.reset_id,
        code: body.verification_code.0,
        new: typed_twice(body.new_pin, &body.confirm_new_pin)?,
        session: caller.session(),
        others: others(&app, &caller).await?,
    };
    let (passwords, verifier) = (&app.passwords, &app.verifier);
    let committed =
        devices::confirm_pin(&app.journal, passwords, verifier, context, caller.user(), confirmation).await?;
    let (recorded, set) = committed.event(pin_set)?;
    let result = PinConfirmed {
        status: "SUCCESS",
        device_id: set.device_id.clone(),
        pin_reset_at: recorded.recorded_at,
        message: "PIN reset",
        temporary_access_revoked: true,
    };
    Ok(Answer::ok(result).at(&committed))
}

fn pin_set(event: &Event) -> Option<&PinSet> {
    match event {
        Event::Devices(DevicesEvent::PinSet(set)) => Some(set),
        _ => None,
    }
}

/// A PIN that was typed twice.
///
/// # Errors
/// `PIN_MISMATCH`.
fn typed_twice(pin: Secret, again: &Secret) -> Result<String, Problem> {
    if pin.0 == again.0 { Ok(pin.0) } else { Err(Problem::refused(&PinMismatch)) }
}

/// The two new PINs differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the PIN and its confirmation differ")]
struct PinMismatch;

impl Rejection for PinMismatch {
    fn code(&self) -> &'static str {
        "PIN_MISMATCH"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Unprocessable
    }
}
