//! What can happen to a person's devices.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, Due, When, names};
use crate::kernel::{CertificateId, Personal, RotationId, SigningRequestId, TransferId, UserId};

/// The task of ending rotations whose old certificate has had its day.
pub const FINISH_ROTATIONS: &str = "devices.finish_rotations";

/// Events of a person's devices. Private keys and PINs never appear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DevicesEvent {
    /// Its owner logged in from it, for the first time or with another description.
    Seen(Seen),
    /// It may be used.
    Activated(Change),
    /// Its owner does not want it to be used.
    Deactivated(Change),
    /// It must not be used until staff say so.
    Blocked(Change),
    /// It will not be used any more.
    Revoked(Change),
    /// A certificate is wanted.
    CertificateRequested(Box<SigningRequest>),
    /// The bank vouches for a key.
    CertificateIssued(Box<Certificate>),
    /// A new certificate takes the place of the old one, which is good for a while longer.
    RotationStarted(Box<Rotation>),
    /// The old certificate's time is over.
    RotationCompleted(RotationEnd),
    /// The new certificate was revoked before the old one's time was over.
    RotationFailed(RotationEnd),
    /// It has a PIN, another than before.
    PinSet(PinSet),
    /// Somebody typed its PIN, or what they took for it.
    PinTried {
        /// Which.
        device_id: String,
    },
    /// Its owner wants to give it to somebody.
    TransferRequested(Box<Transfer>),
    /// Somebody wants to give this person a device.
    Offered(Box<Offer>),
    /// It is somebody else's now.
    Released(Released),
    /// It was somebody else's before.
    Received(Box<Received>),
}

/// A device as its app describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Description {
    /// `DESKTOP`, `MOBILE`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device_type: Option<String>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub manufacturer: Option<String>,
    /// What they call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The version of its operating system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub os_version: Option<String>,
    /// The version of the bank's app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app_version: Option<String>,
}

/// A login from a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// What the app calls it: unique among one person's devices.
    pub device_id: String,
    /// The device.
    pub description: Description,
    /// When.
    pub at: Timestamp,
}

/// A device that may be used from now on, or may not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Which.
    pub device_id: String,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Certificates that are good no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revokes: Vec<CertificateId>,
}

/// What a certificate shall be made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SigningRequest {
    /// Its id.
    pub id: SigningRequestId,
    /// For which device.
    pub device_id: String,
    /// The request as PEM (PKCS#10), signed by the key it is about.
    pub content: String,
    /// Who made the key.
    pub key_origin: KeyOrigin,
    /// What kind of key it is.
    pub key_kind: KeyKind,
    /// What the certificate says of the organisation the device belongs to.
    #[serde(default)]
    pub organisation: Organisation,
    /// Names of servers that the certificate shall vouch for, all inside a zone of the bank's.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub dns_names: BTreeSet<String>,
}

/// The part of a subject that the device's owner may choose.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Organisation {
    /// O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organisation: Option<String>,
    /// OU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// C, ISO 3166-1 alpha-2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
}

crate::spelled! {
    /// Who made a key.
    pub enum KeyOrigin {
        /// The device: nobody else has it.
        Device = "DEVICE_GENERATED",
        /// The bank, which gave it away once and kept nothing.
        Server = "SERVER_GENERATED",
    }
}

crate::spelled! {
    /// What kind of key it is.
    pub enum KeyKind {
        /// RSA of at least 3072 bits.
        Rsa = "RSA",
        /// ECDSA on P-256.
        Ec = "EC",
    }
}

crate::spelled! {
    /// What a key may be used for.
    pub enum KeyUsage {
        /// Signing.
        DigitalSignature = "DIGITAL_SIGNATURE",
        /// Receiving keys.
        KeyEncipherment = "KEY_ENCIPHERMENT",
        /// Receiving data.
        DataEncipherment = "DATA_ENCIPHERMENT",
    }
}

crate::spelled! {
    /// What a certificate proves.
    pub enum ExtendedKeyUsage {
        /// Who asks.
        ClientAuth = "CLIENT_AUTH",
        /// Who answers.
        ServerAuth = "SERVER_AUTH",
    }
}

/// What a certificate may be used for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    /// What its key may be used for.
    pub key_usage: BTreeSet<KeyUsage>,
    /// What it proves.
    pub extended_key_usage: BTreeSet<ExtendedKeyUsage>,
    /// The servers it vouches for.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub dns_names: BTreeSet<String>,
}

/// A certificate of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Certificate {
    /// Its id.
    pub id: CertificateId,
    /// Whose key it is about.
    pub device_id: String,
    /// What it was made of.
    pub request_id: SigningRequestId,
    /// Who made the key.
    pub key_origin: KeyOrigin,
    /// Its serial number: 32 hexadecimal digits.
    pub serial: String,
    /// SHA-256 of it, hex.
    pub fingerprint: String,
    /// It, as PEM.
    pub content: String,
    /// From when on it is good.
    pub valid_from: Timestamp,
    /// Until when it is good.
    pub valid_to: Timestamp,
    /// What it may be used for.
    pub profile: Profile,
    /// Certificates that are good no more because of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revokes: Vec<CertificateId>,
}

/// One certificate in the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// Its id.
    pub id: RotationId,
    /// The one that goes.
    pub old: CertificateId,
    /// Until when that one is good, unless it ends before.
    pub old_until: Timestamp,
    /// The one that comes.
    pub new: Certificate,
    /// What it was made of, as PEM (PKCS#10): the old request, or one of another key.
    pub content: String,
    /// What kind of key it is about.
    pub key_kind: KeyKind,
    /// When the first rotation of any of the person's devices is to be ended.
    pub next_end: Timestamp,
}

/// The end of a rotation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RotationEnd {
    /// Which.
    pub id: RotationId,
    /// Of which device.
    pub device_id: String,
    /// Certificates that are good no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revokes: Vec<CertificateId>,
    /// When the next rotation is to be ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_end: Option<Timestamp>,
}

/// A PIN that was chosen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinSet {
    /// Of which device.
    pub device_id: String,
    /// Argon2id hash as a PHC string; personal, so that erasure takes it along.
    pub hash: Personal<String>,
    /// On what grounds.
    pub grounds: PinGrounds,
}

crate::spelled! {
    /// On what grounds somebody sets a PIN.
    pub enum PinGrounds {
        /// There was none.
        First = "FIRST",
        /// They knew the old one.
        Known = "KNOWN",
        /// They had the code that was sent to them.
        Code = "CODE",
    }
}

/// A device that is to be somebody else's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// Its id.
    pub id: TransferId,
    /// Which device.
    pub device_id: String,
    /// Who gives it away.
    pub current_owner: UserId,
    /// Who shall have it.
    pub new_owner: UserId,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Before this it cannot be accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effective_at: Option<Timestamp>,
    /// When.
    pub requested_at: Timestamp,
    /// From then on it cannot be accepted any more.
    pub expires_at: Timestamp,
}

/// A device that somebody wants to give away, for the one who shall have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// The transfer.
    pub id: TransferId,
    /// Which device.
    pub device_id: String,
    /// Whose it is.
    pub from: UserId,
}

/// A device that is somebody else's now. PIN and certificates do not go along.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Released {
    /// Which.
    pub device_id: String,
    /// By which transfer.
    pub transfer_id: TransferId,
    /// Whose it is now.
    pub new_owner: UserId,
    /// Certificates that are good no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revokes: Vec<CertificateId>,
}

/// A device that was somebody else's before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Received {
    /// Which.
    pub device_id: String,
    /// By which transfer.
    pub transfer_id: TransferId,
    /// Whose it was.
    pub from: UserId,
    /// The device.
    pub description: Description,
    /// When.
    pub at: Timestamp,
}

impl DevicesEvent {
    /// The certificates that are good no more because of it.
    #[must_use]
    pub fn revokes(&self) -> &[CertificateId] {
        match self {
            Self::Activated(change)
            | Self::Deactivated(change)
            | Self::Blocked(change)
            | Self::Revoked(change) => &change.revokes,
            Self::CertificateIssued(certificate) => &certificate.revokes,
            Self::RotationStarted(rotation) => &rotation.new.revokes,
            Self::RotationCompleted(end) | Self::RotationFailed(end) => &end.revokes,
            Self::Released(released) => &released.revokes,
            Self::Seen(_)
            | Self::CertificateRequested(_)
            | Self::PinSet(_)
            | Self::PinTried { .. }
            | Self::TransferRequested(_)
            | Self::Offered(_)
            | Self::Received(_) => &[],
        }
    }

    /// The certificate that is good because of it.
    #[must_use]
    pub fn issues(&self) -> Option<&Certificate> {
        match self {
            Self::CertificateIssued(certificate) => Some(certificate),
            Self::RotationStarted(rotation) => Some(&rotation.new),
            _ => None,
        }
    }
}

impl AggregateEvent for DevicesEvent {
    names! {
        Seen = "devices.seen",
        Activated = "devices.activated",
        Deactivated = "devices.deactivated",
        Blocked = "devices.blocked",
        Revoked = "devices.revoked",
        CertificateRequested = "devices.certificate_requested",
        CertificateIssued = "devices.certificate_issued",
        RotationStarted = "devices.rotation_started",
        RotationCompleted = "devices.rotation_completed",
        RotationFailed = "devices.rotation_failed",
        PinSet = "devices.pin_set",
        PinTried = "devices.pin_tried",
        TransferRequested = "devices.transfer_requested",
        Offered = "devices.offered",
        Released = "devices.released",
        Received = "devices.received",
    }

    fn dues(&self) -> Vec<Due> {
        let due = |when| vec![Due { task: FINISH_ROTATIONS, when }];
        match self {
            Self::RotationStarted(rotation) => due(When::At(rotation.next_end)),
            Self::RotationCompleted(end) | Self::RotationFailed(end) => {
                due(end.next_end.map_or(When::Never, When::At))
            }
            _ => Vec::new(),
        }
    }
}
