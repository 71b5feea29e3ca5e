//! Devices: what a person logs in from, whether it may be used, and what it proves itself with.
//!
//! One stream a person. The id of a device is the app's choice, so that two people may have devices of one id, and neither
//! learns of the other's.
//!
//! ```text
//!   See --> PENDING --ACTIVATE--> ACTIVE <--> INACTIVE
//!              any of them --BLOCK--> BLOCKED --staff--> ACTIVE
//!              any of them --staff--> REVOKED, for good
//!
//!   Request --> Certify: the certificate is good while the bank says so and the device is ACTIVE
//!   Rotate: the next certificate; the old one is good for a while longer --FinishRotations--> over
//!
//!   RequestTransfer (owner) + ReceiveOffer (new owner) --> Release (owner) + Receive (new owner), in one unit each
//! ```

mod command;
mod error;
mod event;
mod pin;
#[cfg(test)]
pub(crate) mod samples;
mod state;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use command::{DeviceAction, DevicesCommand, Mover, NewRotation};
pub use error::DevicesError;
pub use event::{
    Certificate, Change, Description, DevicesEvent, ExtendedKeyUsage, FINISH_ROTATIONS, KeyKind, KeyOrigin,
    KeyUsage, Offer, Organisation, PinGrounds, PinSet, Profile, Received, Released, Rotation, RotationEnd,
    Seen, SigningRequest, Transfer,
};
pub use pin::{WeakPin, check_pin};
pub use state::{
    CertificateStatus, Device, DeviceStatus, Held, Pin, RequestStatus, Requested, Rotating, TRIES,
};

use crate::aggregate::Aggregate;
use crate::kernel::TransferId;

/// The most devices a person has, and the most that are offered to them; a login from one more is not remembered.
const MOST: usize = 100;

/// A person's devices, by user id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Devices {
    devices: BTreeMap<String, Device>,
    /// What others want to give them.
    offers: BTreeMap<TransferId, Offer>,
}

impl Devices {
    /// The device that the app calls so.
    #[must_use]
    pub fn get(&self, device_id: &str) -> Option<&Device> {
        self.devices.get(device_id)
    }

    /// What somebody wants to give them.
    #[must_use]
    pub fn offer(&self, id: TransferId) -> Option<&Offer> {
        self.offers.get(&id)
    }

    /// The request of that id, and its device.
    #[must_use]
    pub fn request(&self, id: crate::kernel::SigningRequestId) -> Option<(&Device, &Requested)> {
        self.devices.values().find_map(|device| Some((device, device.requests.get(&id)?)))
    }

    /// The transfer of that id, and its device.
    #[must_use]
    pub fn transfer(&self, id: TransferId) -> Option<(&Device, &Transfer)> {
        self.devices.values().find_map(|device| {
            device.transfer.as_ref().filter(|transfer| transfer.id == id).map(|transfer| (device, transfer))
        })
    }

    fn known(&self, device_id: &str) -> Result<&Device, DevicesError> {
        self.get(device_id).ok_or(DevicesError::Unknown)
    }

    fn active(&self, device_id: &str) -> Result<&Device, DevicesError> {
        let device = self.known(device_id)?;
        device.must_be_active()?;
        Ok(device)
    }

    fn see(&self, seen: Seen) -> Vec<DevicesEvent> {
        match self.get(&seen.device_id) {
            Some(known) if known.description == seen.description => Vec::new(),
            None if self.devices.len() >= MOST => Vec::new(),
            Some(_) | None => vec![DevicesEvent::Seen(seen)],
        }
    }

    fn finish_rotations(&self, at: jiff::Timestamp) -> Vec<DevicesEvent> {
        let (due, later): (Vec<_>, Vec<_>) = self
            .devices
            .iter()
            .filter_map(|(id, device)| Some((id, device, device.rotation.as_ref()?)))
            .partition(|(_, _, rotation)| rotation.old.until <= at);
        let next_end = later.iter().map(|(_, _, rotation)| rotation.old.until).min();
        let ends = due.into_iter().map(|(id, device, rotation)| {
            let is_good = device.certificate.as_ref().is_some_and(|held| !held.is_revoked);
            let revokes = if rotation.old.is_revoked { Vec::new() } else { vec![rotation.old.id] };
            let end = RotationEnd { id: rotation.id, device_id: id.clone(), revokes, next_end };
            if is_good { DevicesEvent::RotationCompleted(end) } else { DevicesEvent::RotationFailed(end) }
        });
        ends.collect()
    }

    fn rotate(&self, new: NewRotation) -> Result<DevicesEvent, DevicesError> {
        let device = self.active(&new.certificate.device_id)?;
        let held = device.certificate.as_ref().filter(|held| held.is_good(new.at));
        let held = held.ok_or(DevicesError::InvalidState {
            what: "the certificate",
            state: device.certificate_status(new.at).as_str(),
        })?;
        if held.id != new.old {
            return Err(DevicesError::Overtaken);
        }
        let cut_short = device.rotation.as_ref().filter(|rotation| !rotation.old.is_revoked);
        if cut_short.is_some() && !new.force {
            return Err(DevicesError::InvalidState { what: "a rotation", state: "IN_PROGRESS" });
        }
        let revokes = cut_short.map(|rotation| rotation.old.id).into_iter().collect();
        let others = self.devices.iter().filter(|(id, _)| **id != new.certificate.device_id);
        let next_end = others.filter_map(|(_, device)| Some(device.rotation.as_ref()?.old.until)).min();
        let old_until = new.old_until.min(held.until);
        Ok(DevicesEvent::RotationStarted(Box::new(Rotation {
            id: new.id,
            old: held.id,
            old_until,
            new: Certificate { revokes, ..new.certificate },
            content: new.content,
            key_kind: new.key_kind,
            next_end: next_end.map_or(old_until, |next| next.min(old_until)),
        })))
    }

    fn set_pin(
        &self,
        device_id: String,
        hash: String,
        grounds: PinGrounds,
        seen: u32,
    ) -> Result<DevicesEvent, DevicesError> {
        let device = self.active(&device_id)?;
        match (&device.pin, grounds) {
            (None, PinGrounds::First) => {}
            (Some(_), PinGrounds::First) => return Err(DevicesError::PinExists),
            (None, PinGrounds::Known | PinGrounds::Code) => return Err(DevicesError::NoPin),
            (Some(pin), PinGrounds::Known) if pin.generation != seen => return Err(DevicesError::Overtaken),
            (Some(_), PinGrounds::Known | PinGrounds::Code) => {}
        }
        Ok(DevicesEvent::PinSet(PinSet { device_id, hash: crate::kernel::Personal::new(hash), grounds }))
    }

    fn release(&self, id: TransferId, at: jiff::Timestamp) -> Result<DevicesEvent, DevicesError> {
        let (device, transfer) = self.transfer(id).ok_or(DevicesError::UnknownTransfer)?;
        if at >= transfer.expires_at {
            return Err(DevicesError::InvalidState { what: "the transfer", state: "EXPIRED" });
        }
        if let Some(effective_at) = transfer.effective_at.filter(|then| at < *then) {
            return Err(DevicesError::NotYet { effective_at });
        }
        device.must_be_active()?;
        Ok(DevicesEvent::Released(Released {
            device_id: transfer.device_id.clone(),
            transfer_id: id,
            new_owner: transfer.new_owner,
            revokes: device.good_certificates(),
        }))
    }

    fn receive(
        &self,
        id: TransferId,
        description: Description,
        at: jiff::Timestamp,
    ) -> Result<DevicesEvent, DevicesError> {
        let offer = self.offer(id).ok_or(DevicesError::UnknownTransfer)?;
        // They may have logged in from it; whatever they did with it before stays theirs.
        if self.get(&offer.device_id).is_some_and(|own| !own.is_untouched()) {
            return Err(DevicesError::DeviceExists);
        }
        Ok(DevicesEvent::Received(Box::new(Received {
            device_id: offer.device_id.clone(),
            transfer_id: id,
            from: offer.from,
            description,
            at,
        })))
    }
}

impl Aggregate for Devices {
    const TYPE: &'static str = "devices";
    type Command = DevicesCommand;
    type Event = DevicesEvent;
    type Error = DevicesError;

    fn decide(&self, command: DevicesCommand) -> Result<Vec<DevicesEvent>, DevicesError> {
        let event = match command {
            DevicesCommand::See { device_id, description, at } => {
                return Ok(self.see(Seen { device_id, description, at }));
            }
            DevicesCommand::FinishRotations { at } => return Ok(self.finish_rotations(at)),
            DevicesCommand::Move { device_id, action, reason, by } => {
                let device = self.known(&device_id)?;
                device.moved(Change { device_id, reason, revokes: Vec::new() }, action, by)?
            }
            DevicesCommand::Request(request) => {
                self.active(&request.device_id)?;
                DevicesEvent::CertificateRequested(request)
            }
            DevicesCommand::Certify(certificate) => {
                let (device, request) =
                    self.request(certificate.request_id).ok_or(DevicesError::UnknownRequest)?;
                request.must_be_pending()?;
                device.must_be_active()?;
                let revokes = device.good_certificates();
                DevicesEvent::CertificateIssued(Box::new(Certificate { revokes, ..*certificate }))
            }
            DevicesCommand::Rotate(rotation) => self.rotate(*rotation)?,
            DevicesCommand::SetPin { device_id, hash, grounds, seen } => {
                self.set_pin(device_id, hash, grounds, seen)?
            }
            DevicesCommand::TryPin { device_id } => {
                let pin = self.active(&device_id)?.pin.as_ref().ok_or(DevicesError::NoPin)?;
                if pin.tries >= TRIES {
                    return Err(DevicesError::PinLocked);
                }
                DevicesEvent::PinTried { device_id }
            }
            DevicesCommand::RequestTransfer(transfer) => {
                self.active(&transfer.device_id)?;
                if transfer.new_owner == transfer.current_owner {
                    return Err(DevicesError::OwnDevice);
                }
                DevicesEvent::TransferRequested(transfer)
            }
            DevicesCommand::ReceiveOffer(offer) => DevicesEvent::Offered(offer),
            DevicesCommand::Release { transfer_id, at } => self.release(transfer_id, at)?,
            DevicesCommand::Receive { transfer_id, description, at } => {
                self.receive(transfer_id, description, at)?
            }
        };
        Ok(vec![event])
    }

    fn evolve(&mut self, event: &DevicesEvent) {
        match event {
            DevicesEvent::Seen(seen) => {
                let device = self.devices.entry(seen.device_id.clone());
                let device = device.or_insert_with(|| Device::new(seen.at));
                device.description.clone_from(&seen.description);
                device.seen_at = seen.at;
            }
            DevicesEvent::Offered(offer) => {
                self.offers.insert(offer.id, (**offer).clone());
                // Codes are sent so many times a day and count for days: older ones have none any more.
                while self.offers.len() > MOST {
                    self.offers.pop_first();
                }
            }
            DevicesEvent::Released(released) => {
                self.devices.remove(&released.device_id);
            }
            DevicesEvent::Received(received) => {
                self.offers.remove(&received.transfer_id);
                let mut device = Device::new(received.at);
                device.description = received.description.clone();
                self.devices.insert(received.device_id.clone(), device);
            }
            other => {
                if let Some(device) = state::device_of(other).and_then(|id| self.devices.get_mut(id)) {
                    device.evolve(other);
                }
            }
        }
    }
}
