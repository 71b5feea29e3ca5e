//! What staff do with customers' devices.

use axum::extract::State;
use bursar_commands::devices::{self, Move};
use bursar_domain::devices::{DeviceAction, Mover};
use bursar_domain::kernel::UserId;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{DeviceStatusResult, changed, sessions_on};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::DeviceOps;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{DeviceName, InPath, Text, Write};

/// The routes of this file.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(activate_device))
        .routes(routes!(block_device))
        .routes(routes!(revoke_device))
}

request! {
    /// Whose device it is, and why. The id of a device is unique among one person's only.
    DeviceOrder {
        /// Whose device it is.
        user_id: UserId = "userId",
        /// Why, for the file.
        reason: Text<500> = "reason",
    }
}

/// Staff: lets a customer's device be used, also one that was blocked.
#[utoipa::path(
    post, path = "/v1/staff/devices/{deviceId}/activate", tag = "Staff",
    params(InPath<DeviceName>, WriteHeaders), request_body = DeviceOrder,
    responses((status = 200, description = "Active.", body = DeviceStatusResult), WriteProblems)
)]
async fn activate_device(
    State(app): State<App>,
    device: InPath<DeviceName>,
    write: Write<DeviceOps, DeviceOrder>,
) -> Result<Answer<DeviceStatusResult>, Problem> {
    order(app, device, write, DeviceAction::Activate).await
}

/// Staff: lets a customer's device not be used. Its sessions end.
#[utoipa::path(
    post, path = "/v1/staff/devices/{deviceId}/block", tag = "Staff",
    params(InPath<DeviceName>, WriteHeaders), request_body = DeviceOrder,
    responses((status = 200, description = "Blocked.", body = DeviceStatusResult), WriteProblems)
)]
async fn block_device(
    State(app): State<App>,
    device: InPath<DeviceName>,
    write: Write<DeviceOps, DeviceOrder>,
) -> Result<Answer<DeviceStatusResult>, Problem> {
    order(app, device, write, DeviceAction::Block).await
}

/// Staff: lets a customer's device never be used again. Its certificates are revoked and its sessions end.
#[utoipa::path(
    post, path = "/v1/staff/devices/{deviceId}/revoke", tag = "Staff",
    params(InPath<DeviceName>, WriteHeaders), request_body = DeviceOrder,
    responses((status = 200, description = "Revoked.", body = DeviceStatusResult), WriteProblems)
)]
async fn revoke_device(
    State(app): State<App>,
    device: InPath<DeviceName>,
    write: Write<DeviceOps, DeviceOrder>,
) -> Result<Answer<DeviceStatusResult>, Problem> {
    order(app, device, write, DeviceAction::Revoke).await
}

async fn order(
    app: App,
    device: InPath<DeviceName>,
    write: Write<DeviceOps, DeviceOrder>,
    action: DeviceAction,
) -> Result<Answer<DeviceStatusResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let DeviceName(device_id) = device.get()?;
    let sessions = sessions_on(&app, &caller, body.user_id, &device_id).await?;
    let wanted = Move { device_id, action, reason: Some(body.reason.into()), by: Mover::Staff, sessions };
    let committed = devices::change(&app.journal, context, body.user_id, wanted).await?;
    changed(&committed)
}
