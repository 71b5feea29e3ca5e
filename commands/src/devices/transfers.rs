//! Devices that change hands.

use bursar_domain::Aggregate as _;
use bursar_domain::devices::{DevicesCommand, DevicesError, Offer, Transfer};
use bursar_domain::kernel::{SessionId, TransferId, UserId, add_seconds};
use bursar_domain::messages::Channel;
use bursar_domain::users::{User, UserError};
use bursar_domain::verifications::Purpose;
use jiff::Timestamp;

use super::{end, of, tell};
use crate::owned::{CommandError, once};
use crate::verifications::{Guess, Verifier, Wanted};
use crate::{Committed, Context, Journal, Unit};

/// A device that is to be somebody else's.
#[derive(Debug, Clone)]
pub struct WantedTransfer {
    /// Which.
    pub device_id: String,
    /// Who shall have it.
    pub new_owner: UserId,
    /// Why.
    pub reason: Option<String>,
    /// Before this it cannot be accepted.
    pub effective_at: Option<Timestamp>,
    /// Seconds in which it can be.
    pub lifetime: i64,
}

/// Offers a device to somebody. The code that accepts it goes to their phone, and to nobody else.
///
/// # Errors
/// `NOT_FOUND` for a device or a person that is not there; `INVALID_STATE`; `OWN_DEVICE`; `TOO_MANY_CODES`.
pub async fn transfer(
    journal: &Journal,
    verifier: &Verifier,
    context: Context,
    owner: UserId,
    wanted: WantedTransfer,
) -> Result<Committed, CommandError> {
    once(journal, context, async |context| {
        let sources = journal.sources();
        let WantedTransfer { device_id, new_owner, reason, effective_at, lifetime } = wanted;
        let (id, now) = (TransferId::mint(sources), sources.clock.now());
        let request = DevicesCommand::RequestTransfer(Box::new(Transfer {
            id,
            device_id: device_id.clone(),
            current_owner: owner,
            new_owner,
            reason,
            effective_at,
            requested_at: now,
            expires_at: add_seconds(now, lifetime),
        }));
        // A device that is not there is said before a person who is not.
        of(journal, owner).await?.0.decide(request.clone()).map_err(CommandError::refused)?;
        let (user, _) = journal.load::<User>(&new_owner.to_string()).await?;
        let phone = match &user {
            User::Active(person) => person.phone_number.get().cloned(),
            _ => None,
        };
        let destination = phone.ok_or_else(|| CommandError::refused(UserError::Unknown))?;
        let code = Wanted {
            purpose: Purpose::DeviceTransfer,
            channel: Channel::Sms,
            destination,
            bound_to: id.to_string(),
        };
        let offer = Offer { id, device_id, from: owner };
        let unit = Unit::new(context)
            .step(owner, request)
            .step(new_owner, DevicesCommand::ReceiveOffer(Box::new(offer)))
            .step(new_owner, verifier.issue(code));
        Ok(journal.submit(tell(unit, sources, owner, "Device offered", OFFERED)).await?)
    })
    .await
}

/// What the owner is told.
const OFFERED: &str = "You want to give a device to somebody else. If that was not you, call the bank.";

/// What somebody offered to this person.
///
/// # Errors
/// `NOT_FOUND`.
pub async fn offer(journal: &Journal, acceptor: UserId, id: TransferId) -> Result<Offer, CommandError> {
    let (devices, _) = of(journal, acceptor).await?;
    devices.offer(id).cloned().ok_or_else(|| CommandError::refused(DevicesError::UnknownTransfer))
}

/// Accepts a device. PIN and certificates that it had are worth nothing any more, and `sessions`, those of whoever had it,
/// end.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE`; `NOT_YET_EFFECTIVE`; `DEVICE_EXISTS`; `INVALID_CODE`.
pub async fn accept(
    journal: &Journal,
    verifier: &Verifier,
    context: Context,
    acceptor: UserId,
    offer: Offer,
    code: &str,
    sessions: &[SessionId],
) -> Result<Committed, CommandError> {
    let (transfer_id, at) = (offer.id, journal.sources().clock.now());
    let (theirs, _) = of(journal, offer.from).await?;
    let description =
        theirs.get(&offer.device_id).map(|device| device.description.clone()).unwrap_or_default();
    let release = DevicesCommand::Release { transfer_id, at };
    let receive = DevicesCommand::Receive { transfer_id, description, at };
    // What will be refused with the code costs no guess.
    theirs.decide(release.clone()).map_err(CommandError::refused)?;
    of(journal, acceptor).await?.0.decide(receive.clone()).map_err(CommandError::refused)?;
    let bound_to = transfer_id.to_string();
    let guess =
        Guess { user: acceptor, purpose: Purpose::DeviceTransfer, id: None, bound_to: &bound_to, code };
    let unit = verifier.check(context, guess).await?.step(offer.from, release).step(acceptor, receive);
    let unit = end(unit, sessions);
    let told = "A device of yours was accepted by whom you offered it to, and is not yours any more.";
    Ok(journal.submit(tell(unit, journal.sources(), offer.from, "Device given away", told)).await?)
}
