//! Devices: seen at logins, activated and blocked, given away.
//!
//! What happens to one is written to its owner's stream, so that nobody reaches a device of somebody else's: it is not
//! there.

mod certificates;
mod pins;
mod transfers;

use bursar_domain::devices::{Description, DeviceAction, Devices, DevicesCommand, Mover};
use bursar_domain::kernel::{SessionId, Sources, UserId};
use bursar_domain::messages::{Category, MessagesCommand};
use bursar_domain::sessions::{EndReason, SessionCommand};

pub use certificates::{
    FinishRotations, Issued, Rotate, Sign, WantedCertificate, WantedKey, request, rotate, sign,
};
pub use pins::{PinChange, PinConfirmation, WantedReset, change_pin, confirm_pin, create_pin, reset_pin};
pub use transfers::{WantedTransfer, accept, offer, transfer};

use crate::messages::notice;
use crate::owned::CommandError;
use crate::{Committed, Context, Journal, Unit};

/// The step that remembers the device somebody logs in from: it stands in the unit of the login.
#[must_use]
pub fn see(sources: &Sources, device_id: String, description: Description) -> DevicesCommand {
    DevicesCommand::See { device_id, description, at: sources.clock.now() }
}

/// Their devices.
///
/// # Errors
/// When the store cannot be reached.
pub async fn of(journal: &Journal, owner: UserId) -> Result<(Devices, i64), CommandError> {
    Ok(journal.load::<Devices>(&owner.to_string()).await?)
}

/// A device that may be used from now on, or may not.
#[derive(Debug, Clone)]
pub struct Move {
    /// Which.
    pub device_id: String,
    /// How.
    pub action: DeviceAction,
    /// Why.
    pub reason: Option<String>,
    /// Who asks.
    pub by: Mover,
    /// The sessions that end when it may not.
    pub sessions: Vec<SessionId>,
}

/// Lets a device be used, or not.
///
/// # Errors
/// `NOT_FOUND`, `INVALID_STATE`.
pub async fn change(
    journal: &Journal,
    context: Context,
    owner: UserId,
    wanted: Move,
) -> Result<Committed, CommandError> {
    let Move { device_id, action, reason, by, sessions } = wanted;
    let unit = Unit::new(context);
    let unit = unit.step(owner, DevicesCommand::Move { device_id, action, reason, by });
    let (subject, body) = match action {
        DeviceAction::Activate => return Ok(journal.submit(unit).await?),
        DeviceAction::Deactivate => ("Device deactivated", "A device of yours was deactivated."),
        DeviceAction::Block => {
            ("Device blocked", "A device of yours was blocked: only the bank unblocks it.")
        }
        DeviceAction::Revoke => {
            ("Device revoked", "A device of yours was revoked and cannot be used any more.")
        }
    };
    let unit = end(unit, &sessions);
    Ok(journal.submit(tell(unit, journal.sources(), owner, subject, body)).await?)
}

/// Adds the end of a device's sessions to a unit.
fn end(unit: Unit, sessions: &[SessionId]) -> Unit {
    let end = SessionCommand::End { reason: EndReason::DeviceStopped };
    sessions.iter().fold(unit, |unit, session| unit.step(session, end.clone()))
}

/// Adds a message to somebody to a unit.
fn tell(unit: Unit, sources: &Sources, user: UserId, subject: &str, body: &str) -> Unit {
    let notice = notice(sources, Category::Security, subject, body.to_owned());
    unit.step(user, MessagesCommand::Post(Box::new(notice)))
}
