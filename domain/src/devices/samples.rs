//! One of each event, for tests.

use jiff::Timestamp;

use super::*;
use crate::kernel::{Personal, UserId};

pub(crate) const PHONE: &str = "phone";

pub(crate) fn at() -> Timestamp {
    "2026-11-01T09:30:00Z".parse().unwrap()
}

pub(crate) fn ada() -> UserId {
    "usr_0192f0c1a0007000800000000000000a".parse().unwrap()
}

pub(crate) fn bola() -> UserId {
    "usr_0192f0c1a0007000800000000000000b".parse().unwrap()
}

pub(crate) fn seen() -> DevicesEvent {
    let description = Description {
        device_type: Some("MOBILE".into()),
        manufacturer: Some("Acme".into()),
        model: Some("One".into()),
        os_version: Some("17".into()),
        app_version: Some("2.1".into()),
    };
    DevicesEvent::Seen(Seen { device_id: PHONE.into(), description, at: at() })
}

pub(crate) fn change(reason: Option<&str>) -> Change {
    Change { device_id: PHONE.into(), reason: reason.map(str::to_owned), revokes: Vec::new() }
}

pub(crate) fn request() -> SigningRequest {
    SigningRequest {
        id: "csr_0192f0c1a00070008000000000000001".parse().unwrap(),
        device_id: PHONE.into(),
        content: "-----BEGIN CERTIFICATE REQUEST-----\n".into(),
        key_origin: KeyOrigin::Device,
        key_kind: KeyKind::Ec,
        organisation: Organisation {
            organisation: Some("Okafor".into()),
            unit: Some("Home".into()),
            country: Some("NG".into()),
        },
        dns_names: ["phone.devices.example".to_owned()].into(),
    }
}

/// Good for a year.
pub(crate) fn certificate(number: u8) -> Certificate {
    Certificate {
        id: format!("crt_0192f0c1a000700080000000000000{number:02}").parse().unwrap(),
        device_id: PHONE.into(),
        request_id: request().id,
        key_origin: KeyOrigin::Device,
        serial: "4f".repeat(16),
        fingerprint: format!("{number:02}").repeat(32),
        content: "-----BEGIN CERTIFICATE-----\n".into(),
        valid_from: at(),
        valid_to: "2027-11-01T09:30:00Z".parse().unwrap(),
        profile: Profile {
            key_usage: [KeyUsage::DigitalSignature].into(),
            extended_key_usage: [ExtendedKeyUsage::ClientAuth].into(),
            dns_names: ["phone.devices.example".to_owned()].into(),
        },
        revokes: Vec::new(),
    }
}

pub(crate) fn tomorrow() -> Timestamp {
    "2026-11-02T09:30:00Z".parse().unwrap()
}

pub(crate) fn rotation() -> Rotation {
    Rotation {
        id: "rot_0192f0c1a00070008000000000000001".parse().unwrap(),
        old: certificate(1).id,
        old_until: tomorrow(),
        new: certificate(2),
        content: request().content,
        key_kind: KeyKind::Ec,
        next_end: tomorrow(),
    }
}

pub(crate) fn rotation_end() -> RotationEnd {
    RotationEnd {
        id: rotation().id,
        device_id: PHONE.into(),
        revokes: vec![certificate(1).id],
        next_end: None,
    }
}

pub(crate) fn pin_set(grounds: PinGrounds) -> DevicesEvent {
    let hash = Personal::new("$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA".into());
    DevicesEvent::PinSet(PinSet { device_id: PHONE.into(), hash, grounds })
}

pub(crate) fn transfer() -> Transfer {
    Transfer {
        id: "trf_0192f0c1a00070008000000000000001".parse().unwrap(),
        device_id: PHONE.into(),
        current_owner: ada(),
        new_owner: bola(),
        reason: Some("A present".into()),
        effective_at: Some("2026-11-01T12:00:00Z".parse().unwrap()),
        requested_at: at(),
        expires_at: "2026-11-04T09:30:00Z".parse().unwrap(),
    }
}

pub(crate) fn offer() -> Offer {
    Offer { id: transfer().id, device_id: PHONE.into(), from: ada() }
}

pub(crate) fn all() -> Vec<DevicesEvent> {
    let revokes = vec![certificate(1).id];
    vec![
        seen(),
        DevicesEvent::Activated(change(Some("Found again"))),
        DevicesEvent::Deactivated(change(None)),
        DevicesEvent::Blocked(change(Some("Lost"))),
        DevicesEvent::Revoked(Change { revokes: revokes.clone(), ..change(Some("Stolen")) }),
        DevicesEvent::CertificateRequested(Box::new(request())),
        DevicesEvent::CertificateIssued(Box::new(certificate(1))),
        DevicesEvent::RotationStarted(Box::new(rotation())),
        DevicesEvent::RotationCompleted(rotation_end()),
        DevicesEvent::RotationFailed(RotationEnd { next_end: Some(tomorrow()), ..rotation_end() }),
        pin_set(PinGrounds::First),
        DevicesEvent::PinTried { device_id: PHONE.into() },
        DevicesEvent::TransferRequested(Box::new(transfer())),
        DevicesEvent::Offered(Box::new(offer())),
        DevicesEvent::Released(Released {
            device_id: PHONE.into(),
            transfer_id: transfer().id,
            new_owner: bola(),
            revokes,
        }),
        DevicesEvent::Received(Box::new(Received {
            device_id: PHONE.into(),
            transfer_id: transfer().id,
            from: ada(),
            description: Description::default(),
            at: at(),
        })),
    ]
}
