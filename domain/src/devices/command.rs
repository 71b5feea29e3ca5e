//! What a person's devices can be asked.

use jiff::Timestamp;

use super::{Certificate, Description, KeyKind, Offer, PinGrounds, SigningRequest, Transfer};
use crate::kernel::{CertificateId, RotationId, TransferId};

/// Commands to a person's devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DevicesCommand {
    /// Its owner logs in from it.
    See {
        /// What the app calls it.
        device_id: String,
        /// As the app describes it.
        description: Description,
        /// Now.
        at: Timestamp,
    },
    /// Change whether it may be used.
    Move {
        /// Which.
        device_id: String,
        /// How.
        action: DeviceAction,
        /// Why.
        reason: Option<String>,
        /// Who asks.
        by: Mover,
    },
    /// Ask for a certificate, in the place of what was asked for before and not signed.
    Request(Box<SigningRequest>),
    /// Vouch for a key. In the place of the certificate there was.
    Certify(Box<Certificate>),
    /// Begin to replace the certificate.
    Rotate(Box<NewRotation>),
    /// End the rotations whose time is over.
    FinishRotations {
        /// Now.
        at: Timestamp,
    },
    /// Set the PIN.
    SetPin {
        /// Of which device.
        device_id: String,
        /// Argon2id hash of the PIN.
        hash: String,
        /// On what grounds.
        grounds: PinGrounds,
        /// The PIN that was compared, by [`Pin::generation`](super::Pin::generation).
        seen: u32,
    },
    /// Count a guess at the PIN. Committed before the guess is looked at, so that guesses made at once are all counted.
    TryPin {
        /// Of which device.
        device_id: String,
    },
    /// Give a device to somebody: the owner's part.
    RequestTransfer(Box<Transfer>),
    /// Give a device to somebody: the part of whoever shall have it.
    ReceiveOffer(Box<Offer>),
    /// The new owner has accepted: the part of whoever had it.
    Release {
        /// Which transfer.
        transfer_id: TransferId,
        /// Now.
        at: Timestamp,
    },
    /// The new owner has accepted: their part.
    Receive {
        /// Which transfer.
        transfer_id: TransferId,
        /// The device, as its owner had it.
        description: Description,
        /// Now.
        at: Timestamp,
    },
}

crate::spelled! {
    /// What can be done with a device.
    pub enum DeviceAction {
        /// Let it be used.
        Activate = "ACTIVATE",
        /// Let it rest.
        Deactivate = "DEACTIVATE",
        /// Let it not be used until staff say so.
        Block = "BLOCK",
        /// Let it never be used again.
        Revoke = "REVOKE",
    }
}

/// Who asks for a device to be used or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mover {
    /// Whose it is.
    Owner,
    /// Somebody of the bank's.
    Staff,
}

/// One certificate that shall take the place of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRotation {
    /// The rotation's id.
    pub id: RotationId,
    /// The certificate that comes.
    pub certificate: Certificate,
    /// What it was made of, as PEM (PKCS#10).
    pub content: String,
    /// What kind of key it is about.
    pub key_kind: KeyKind,
    /// The one it was made to replace.
    pub old: CertificateId,
    /// Until when the old one is good.
    pub old_until: Timestamp,
    /// Whether a rotation that is under way is cut short.
    pub force: bool,
    /// Now.
    pub at: Timestamp,
}
