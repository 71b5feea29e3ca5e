//! One device, and what later decisions need to know of it.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Certificate, Change, Description, DeviceAction, DevicesError, DevicesEvent, KeyOrigin, Mover, Profile,
    SigningRequest, Transfer,
};
use crate::kernel::{CertificateId, Personal, RotationId, SigningRequestId};

/// Guesses at a PIN before it is locked.
pub const TRIES: u32 = 5;

/// A device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// As its app describes it.
    pub description: Description,
    /// Whether it may be used.
    pub status: DeviceStatus,
    /// When it was last described.
    pub seen_at: Timestamp,
    /// What its owner types to use it.
    pub pin: Option<Pin>,
    /// What was asked for. Only the newest can still be signed.
    pub requests: BTreeMap<SigningRequestId, Requested>,
    /// What it proves itself with.
    pub certificate: Option<Held>,
    /// What takes the place of an older certificate.
    pub rotation: Option<Rotating>,
    /// To whom it is to be given; the newest counts.
    pub transfer: Option<Transfer>,
}

crate::spelled! {
    /// Whether a device may be used.
    pub enum DeviceStatus {
        /// Its owner has not said so yet.
        Pending = "PENDING",
        /// It may.
        Active = "ACTIVE",
        /// Its owner does not want it to be.
        Inactive = "INACTIVE",
        /// Not until staff say so.
        Blocked = "BLOCKED",
        /// Never again.
        Revoked = "REVOKED",
    }
}

crate::spelled! {
    /// What a device's certificate is worth.
    pub enum CertificateStatus {
        /// It has none.
        None = "NONE",
        /// It is good.
        Valid = "VALID",
        /// Its time is over.
        Expired = "EXPIRED",
        /// The bank does not stand by it any more.
        Revoked = "REVOKED",
    }
}

crate::spelled! {
    /// What became of a signing request.
    pub enum RequestStatus {
        /// It can be signed.
        Pending = "PENDING",
        /// It was.
        Signed = "SIGNED",
        /// Another took its place.
        Rejected = "REJECTED",
    }
}

/// A PIN.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pin {
    /// Argon2id hash.
    pub hash: Personal<String>,
    /// Guesses since it was set.
    pub tries: u32,
    /// How many there were before it.
    pub generation: u32,
}

impl Pin {
    /// How many more guesses there are.
    #[must_use]
    pub const fn remaining_tries(&self) -> u32 {
        TRIES.saturating_sub(self.tries)
    }
}

/// A signing request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requested {
    /// What became of it.
    pub status: RequestStatus,
    /// It, while it is of use: until it is signed, and then as long as its key is certified.
    pub request: Option<Box<SigningRequest>>,
}

impl Requested {
    /// Whether it can be signed.
    ///
    /// # Errors
    /// `INVALID_STATE`.
    pub fn must_be_pending(&self) -> Result<(), DevicesError> {
        match self.status {
            RequestStatus::Pending => Ok(()),
            RequestStatus::Signed | RequestStatus::Rejected => {
                Err(DevicesError::InvalidState { what: "the signing request", state: self.status.as_str() })
            }
        }
    }
}

/// A certificate that was issued to a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Its id.
    pub id: CertificateId,
    /// What it was made of.
    pub request_id: SigningRequestId,
    /// SHA-256 of it, hex.
    pub fingerprint: String,
    /// It, as PEM.
    pub content: String,
    /// From when on it is good.
    pub from: Timestamp,
    /// Until when it is good.
    pub until: Timestamp,
    /// Who made its key.
    pub key_origin: KeyOrigin,
    /// What it may be used for.
    pub profile: Profile,
    /// Whether the bank stands by it no more.
    pub is_revoked: bool,
}

impl Held {
    fn of(certificate: &Certificate) -> Self {
        Self {
            id: certificate.id,
            request_id: certificate.request_id,
            fingerprint: certificate.fingerprint.clone(),
            content: certificate.content.clone(),
            from: certificate.valid_from,
            until: certificate.valid_to,
            key_origin: certificate.key_origin,
            profile: certificate.profile.clone(),
            is_revoked: false,
        }
    }

    /// Whether it is good at `at`, as far as it is concerned.
    #[must_use]
    pub fn is_good(&self, at: Timestamp) -> bool {
        !self.is_revoked && self.from <= at && at < self.until
    }
}

/// A rotation that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotating {
    /// Which.
    pub id: RotationId,
    /// The certificate that goes.
    pub old: Held,
}

impl Device {
    pub(super) fn new(at: Timestamp) -> Self {
        Self {
            description: Description::default(),
            status: DeviceStatus::Pending,
            seen_at: at,
            pin: None,
            requests: BTreeMap::new(),
            certificate: None,
            rotation: None,
            transfer: None,
        }
    }

    /// Whether its owner has done nothing with it but log in.
    pub(super) fn is_untouched(&self) -> bool {
        self.status == DeviceStatus::Pending && self.certificate.is_none() && self.pin.is_none()
    }

    /// Whether a certificate was ever issued to it.
    #[must_use]
    pub const fn is_enrolled(&self) -> bool {
        self.certificate.is_some()
    }

    /// What its certificate is worth at `at`.
    #[must_use]
    pub fn certificate_status(&self, at: Timestamp) -> CertificateStatus {
        match &self.certificate {
            None => CertificateStatus::None,
            Some(held) if held.is_revoked => CertificateStatus::Revoked,
            Some(held) if held.is_good(at) => CertificateStatus::Valid,
            Some(_) => CertificateStatus::Expired,
        }
    }

    /// Whether the certificate with this SHA-256 (hex) is the device's and good at `at`.
    #[must_use]
    pub fn has_certificate(&self, fingerprint: &str, at: Timestamp) -> bool {
        let old = self.rotation.as_ref().map(|rotation| &rotation.old);
        let mut held = self.certificate.iter().chain(old);
        held.any(|held| held.fingerprint == fingerprint && held.is_good(at))
    }

    /// Whether it may be used.
    ///
    /// # Errors
    /// `INVALID_STATE`.
    pub fn must_be_active(&self) -> Result<(), DevicesError> {
        if self.status == DeviceStatus::Active { Ok(()) } else { Err(self.refuse()) }
    }

    const fn refuse(&self) -> DevicesError {
        DevicesError::InvalidState { what: "the device", state: self.status.as_str() }
    }

    /// The certificates that the bank stands by.
    pub(super) fn good_certificates(&self) -> Vec<CertificateId> {
        let old = self.rotation.as_ref().map(|rotation| &rotation.old);
        let held = self.certificate.iter().chain(old);
        held.filter(|held| !held.is_revoked).map(|held| held.id).collect()
    }

    pub(super) fn moved(
        &self,
        change: Change,
        action: DeviceAction,
        by: Mover,
    ) -> Result<DevicesEvent, DevicesError> {
        use DeviceStatus::{Active, Blocked, Inactive, Pending, Revoked};
        match (self.status, action, by) {
            (Pending | Inactive, DeviceAction::Activate, _)
            | (Blocked, DeviceAction::Activate, Mover::Staff) => Ok(DevicesEvent::Activated(change)),
            (Active, DeviceAction::Deactivate, _) => Ok(DevicesEvent::Deactivated(change)),
            (Pending | Active | Inactive, DeviceAction::Block, _) => Ok(DevicesEvent::Blocked(change)),
            (Pending | Active | Inactive | Blocked, DeviceAction::Revoke, Mover::Staff) => {
                Ok(DevicesEvent::Revoked(Change { revokes: self.good_certificates(), ..change }))
            }
            (Active | Blocked | Revoked, DeviceAction::Activate, _)
            | (Pending | Inactive | Blocked | Revoked, DeviceAction::Deactivate, _)
            | (Blocked | Revoked, DeviceAction::Block, _)
            | (Pending | Active | Inactive | Blocked | Revoked, DeviceAction::Revoke, _) => {
                Err(self.refuse())
            }
        }
    }

    pub(super) fn evolve(&mut self, event: &DevicesEvent) {
        for revoked in event.revokes() {
            let old = self.rotation.as_mut().map(|rotation| &mut rotation.old);
            for held in self.certificate.iter_mut().chain(old) {
                held.is_revoked |= held.id == *revoked;
            }
        }
        match event {
            DevicesEvent::Activated(_) => self.status = DeviceStatus::Active,
            DevicesEvent::Deactivated(_) => self.status = DeviceStatus::Inactive,
            DevicesEvent::Blocked(_) => self.status = DeviceStatus::Blocked,
            DevicesEvent::Revoked(_) => self.status = DeviceStatus::Revoked,
            DevicesEvent::CertificateRequested(request) => {
                for before in self.requests.values_mut() {
                    if before.status == RequestStatus::Pending {
                        *before = Requested { status: RequestStatus::Rejected, request: None };
                    }
                }
                let request_id = request.id;
                let request = Requested { status: RequestStatus::Pending, request: Some(request.clone()) };
                self.requests.insert(request_id, request);
            }
            DevicesEvent::CertificateIssued(certificate) => {
                if let Some(signed) = self.requests.get_mut(&certificate.request_id) {
                    signed.status = RequestStatus::Signed;
                }
                self.certificate = Some(Held::of(certificate));
                self.forget_requests();
            }
            DevicesEvent::RotationStarted(rotation) => {
                if let Some(mut old) = self.certificate.take() {
                    old.until = rotation.old_until;
                    self.rotation = Some(Rotating { id: rotation.id, old });
                }
                let made_of = self.requests.get_mut(&rotation.new.request_id);
                if let Some(request) = made_of.and_then(|made_of| made_of.request.as_mut()) {
                    request.content.clone_from(&rotation.content);
                    request.key_kind = rotation.key_kind;
                }
                self.certificate = Some(Held::of(&rotation.new));
            }
            DevicesEvent::RotationCompleted(_) | DevicesEvent::RotationFailed(_) => {
                self.rotation = None;
            }
            DevicesEvent::PinSet(set) => {
                let generation = self.pin.as_ref().map_or(0, |pin| pin.generation.saturating_add(1));
                self.pin = Some(Pin { hash: set.hash.clone(), tries: 0, generation });
            }
            DevicesEvent::PinTried { .. } => {
                if let Some(pin) = &mut self.pin {
                    pin.tries = pin.tries.saturating_add(1);
                }
            }
            DevicesEvent::TransferRequested(transfer) => self.transfer = Some((**transfer).clone()),
            DevicesEvent::Seen(_)
            | DevicesEvent::Offered(_)
            | DevicesEvent::Released(_)
            | DevicesEvent::Received(_) => {}
        }
    }

    /// Of what was signed, only what the certificate was made of is of use.
    fn forget_requests(&mut self) {
        let made_of = self.certificate.as_ref().map(|held| held.request_id);
        for (id, requested) in &mut self.requests {
            if requested.status != RequestStatus::Pending && Some(*id) != made_of {
                requested.request = None;
            }
        }
    }
}

/// The device that an event is about, if it is about one that is there.
pub(super) fn device_of(event: &DevicesEvent) -> Option<&str> {
    match event {
        DevicesEvent::Activated(change)
        | DevicesEvent::Deactivated(change)
        | DevicesEvent::Blocked(change)
        | DevicesEvent::Revoked(change) => Some(&change.device_id),
        DevicesEvent::CertificateRequested(request) => Some(&request.device_id),
        DevicesEvent::CertificateIssued(certificate) => Some(&certificate.device_id),
        DevicesEvent::RotationStarted(rotation) => Some(&rotation.new.device_id),
        DevicesEvent::RotationCompleted(end) | DevicesEvent::RotationFailed(end) => Some(&end.device_id),
        DevicesEvent::PinSet(set) => Some(&set.device_id),
        DevicesEvent::PinTried { device_id } => Some(device_id),
        DevicesEvent::TransferRequested(transfer) => Some(&transfer.device_id),
        DevicesEvent::Seen(_)
        | DevicesEvent::Offered(_)
        | DevicesEvent::Released(_)
        | DevicesEvent::Received(_) => None,
    }
}
