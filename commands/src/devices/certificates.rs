//! Certificates of devices: asked for, signed, replaced.

use std::collections::BTreeSet;

use bursar_domain::devices::{
    Certificate, DeviceStatus, DevicesCommand, DevicesError, ExtendedKeyUsage, FINISH_ROTATIONS, Held,
    KeyKind, KeyOrigin, KeyUsage, NewRotation, Organisation, Profile, SigningRequest,
};
use bursar_domain::kernel::{CertificateId, RotationId, SigningRequestId, UserId, add_seconds};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use zeroize::Zeroizing;

use super::of;
use crate::certificates::{Certificates, DeviceCertificate};
use crate::keys::hex;
use crate::owned::{CommandError, once};
use crate::pki::{self, Authority, Blank, Made, NewKey, ReadRequest};
use crate::processes::{self, Done, Task, Work};
use crate::{Committed, Context, Journal, Unit};

/// The namespace in which certificates are claimed by their SHA-256, for whoever has their key.
const CERTIFICATE: &str = "certificate";

/// A certificate that is wanted.
pub struct WantedCertificate {
    /// For which device.
    pub device_id: String,
    /// For which key.
    pub key: WantedKey,
    /// What the subject shall say besides the device.
    pub organisation: Organisation,
    /// Names of servers, as they were sent.
    pub names: Vec<String>,
}

/// For which key a certificate is wanted.
pub enum WantedKey {
    /// The one that signed this request.
    Own(ReadRequest),
    /// A new one.
    New(NewKey),
}

/// What a request is to be signed for.
pub struct Sign {
    /// Which request.
    pub id: SigningRequestId,
    /// For how many days.
    pub days: u16,
    /// What the key may be used for, besides signing.
    pub key_usage: BTreeSet<KeyUsage>,
    /// What the certificate proves, besides who asks.
    pub extended_key_usage: BTreeSet<ExtendedKeyUsage>,
    /// Names of servers, as they were sent.
    pub names: Vec<String>,
}

/// One certificate in the place of another.
pub struct Rotate {
    /// Of which device.
    pub device_id: String,
    /// For another key; for the same when there is none.
    pub request: Option<ReadRequest>,
    /// Whether a rotation that is under way is cut short.
    pub force: bool,
    /// For how many days.
    pub days: u16,
    /// Seconds for which the old one is good.
    pub overlap: i64,
}

/// The certificates that the bank has issued, as the log has them at the moment of asking.
pub struct Issued(Journal);

impl Issued {
    /// Those of this bank.
    #[must_use]
    pub const fn new(journal: Journal) -> Self {
        Self(journal)
    }

    async fn of(
        &self,
        device_id: &str,
        fingerprint: &[u8; 32],
    ) -> Result<Option<DeviceCertificate>, CommandError> {
        let holder = self.0.holder(CERTIFICATE, fingerprint).await?;
        let Some(owner) = holder.and_then(|holder| holder.parse::<UserId>().ok()) else { return Ok(None) };
        let (devices, _) = of(&self.0, owner).await?;
        let now = self.0.sources().clock.now();
        Ok(devices.get(device_id).map(|device| DeviceCertificate {
            owner,
            is_valid: device.has_certificate(&hex(fingerprint), now),
            device_is_active: device.status == DeviceStatus::Active,
        }))
    }
}

impl Certificates for Issued {
    fn find<'a>(
        &'a self,
        device: &'a str,
        fingerprint: &'a [u8; 32],
    ) -> BoxFuture<'a, Result<Option<DeviceCertificate>, CommandError>> {
        self.of(device, fingerprint).boxed()
    }
}

/// Asks for a certificate. A key that the bank made for the device is answered here and kept nowhere.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE`; `NAME_NOT_ALLOWED`.
pub async fn request(
    journal: &Journal,
    zones: &[String],
    context: Context,
    owner: UserId,
    wanted: WantedCertificate,
) -> Result<(Committed, Option<Zeroizing<String>>), CommandError> {
    let mut made = None;
    let committed = once(journal, context, async |context| {
        let WantedCertificate { device_id, key, organisation, names } = wanted;
        let id = SigningRequestId::mint(journal.sources());
        let own = pki::device_uri(&device_id);
        let dns_names = pki::dns_names(names.iter().map(String::as_str), &own, zones);
        let dns_names = dns_names.map_err(CommandError::refused)?;
        let (devices, _) = of(journal, owner).await?;
        // Nobody makes a key for a device that will not get it.
        let device = devices.get(&device_id).ok_or_else(|| CommandError::refused(DevicesError::Unknown))?;
        device.must_be_active().map_err(CommandError::refused)?;
        let (secret, key_origin, read) = match key {
            WantedKey::Own(read) => (None, KeyOrigin::Device, read),
            WantedKey::New(key) => {
                let (device_id, organisation) = (device_id.clone(), organisation.clone());
                let draw = tokio::task::spawn_blocking(move || key.draw(&device_id, &organisation));
                let drawn = draw.await.map_err(|_| CommandError::unavailable())?;
                let (secret, read) = drawn.map_err(|error| broken(&error))?;
                (Some(secret), KeyOrigin::Server, read)
            }
        };
        let request = SigningRequest {
            id,
            device_id,
            content: read.content,
            key_origin,
            key_kind: read.kind,
            organisation,
            dns_names,
        };
        let unit = Unit::new(context).step(owner, DevicesCommand::Request(Box::new(request)));
        made = secret;
        Ok::<_, CommandError>(journal.submit(unit).await?)
    })
    .await?;
    // The key of a repeat is not the one that the request was made of.
    let made = made.filter(|_| !committed.replayed);
    Ok((committed, made))
}

/// Signs a request: once.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE`; `NAME_NOT_ALLOWED`, `KEY_USAGE_NOT_ALLOWED`.
pub async fn sign(
    journal: &Journal,
    authority: &Authority,
    zones: &[String],
    context: Context,
    owner: UserId,
    sign: Sign,
) -> Result<Committed, CommandError> {
    once(journal, context, async |context| {
        let (devices, _) = of(journal, owner).await?;
        let (device, requested) =
            devices.request(sign.id).ok_or_else(|| CommandError::refused(DevicesError::UnknownRequest))?;
        requested.must_be_pending().map_err(CommandError::refused)?;
        device.must_be_active().map_err(CommandError::refused)?;
        let request = requested.request.as_deref();
        let request = request.ok_or_else(|| CommandError::refused(DevicesError::UnknownRequest))?;
        let own = pki::device_uri(&request.device_id);
        let names = pki::dns_names(sign.names.iter().map(String::as_str), &own, zones);
        let names =
            names.map_err(CommandError::refused)?.into_iter().chain(request.dns_names.iter().cloned());
        let profile =
            pki::profile(request.key_kind, sign.key_usage, sign.extended_key_usage, names.collect());
        let profile = profile.map_err(CommandError::refused)?;
        let read = ReadRequest::parse(&request.content).map_err(CommandError::refused)?;
        let blank = Blank {
            device_id: &request.device_id,
            organisation: &request.organisation,
            profile: &profile,
            days: sign.days,
        };
        let made = authority.certify(&read, &blank).map_err(|error| broken(&error))?;
        let fingerprint = made.fingerprint;
        let id = CertificateId::mint(journal.sources());
        let certificate = certificate(id, request, request.key_origin, profile, made);
        let unit = Unit::new(context).step(owner, DevicesCommand::Certify(Box::new(certificate)));
        Ok(journal.submit(unit.claim(CERTIFICATE, fingerprint, owner, "CERTIFICATE_EXISTS")).await?)
    })
    .await
}

/// Issues the next certificate of a device: for its key, or for the one of another request.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` of the device, of the certificate, or of a rotation that is under way; `OVERTAKEN`.
pub async fn rotate(
    journal: &Journal,
    authority: &Authority,
    context: Context,
    owner: UserId,
    rotate: Rotate,
) -> Result<Committed, CommandError> {
    once(journal, context, async |context| {
        let now = journal.sources().clock.now();
        let (devices, _) = of(journal, owner).await?;
        let device =
            devices.get(&rotate.device_id).ok_or_else(|| CommandError::refused(DevicesError::Unknown))?;
        device.must_be_active().map_err(CommandError::refused)?;
        let no_certificate = || {
            let state = device.certificate_status(now).as_str();
            CommandError::refused(DevicesError::InvalidState { what: "the certificate", state })
        };
        let held: &Held =
            device.certificate.as_ref().filter(|held| held.is_good(now)).ok_or_else(no_certificate)?;
        let made_of = device.requests.get(&held.request_id).and_then(|made_of| made_of.request.as_deref());
        let made_of = made_of.ok_or_else(no_certificate)?;
        let (read, key_origin, profile) = match rotate.request {
            Some(read) => {
                // What is wanted of another kind of key may be something else.
                let usage =
                    if read.kind == KeyKind::Ec { BTreeSet::new() } else { held.profile.key_usage.clone() };
                let held = held.profile.clone();
                let profile = pki::profile(read.kind, usage, held.extended_key_usage, held.dns_names);
                (read, KeyOrigin::Device, profile.map_err(CommandError::refused)?)
            }
            None => {
                let read = ReadRequest::parse(&made_of.content).map_err(CommandError::refused)?;
                (read, held.key_origin, held.profile.clone())
            }
        };
        let blank = Blank {
            device_id: &rotate.device_id,
            organisation: &made_of.organisation,
            profile: &profile,
            days: rotate.days,
        };
        let made = authority.certify(&read, &blank).map_err(|error| broken(&error))?;
        let fingerprint = made.fingerprint;
        let sources = journal.sources();
        let id = CertificateId::mint(sources);
        let new = NewRotation {
            id: RotationId::mint(sources),
            certificate: certificate(id, made_of, key_origin, profile, made),
            content: read.content,
            key_kind: read.kind,
            old: held.id,
            old_until: add_seconds(now, rotate.overlap),
            force: rotate.force,
            at: now,
        };
        let unit = Unit::new(context).step(owner, DevicesCommand::Rotate(Box::new(new)));
        Ok(journal.submit(unit.claim(CERTIFICATE, fingerprint, owner, "CERTIFICATE_EXISTS")).await?)
    })
    .await
}

fn certificate(
    id: CertificateId,
    request: &SigningRequest,
    key_origin: KeyOrigin,
    profile: Profile,
    made: Made,
) -> Certificate {
    Certificate {
        id,
        device_id: request.device_id.clone(),
        request_id: request.id,
        key_origin,
        serial: made.serial,
        fingerprint: hex(&made.fingerprint),
        content: made.content,
        valid_from: made.from,
        valid_to: made.until,
        profile,
        revokes: Vec::new(),
    }
}

/// Says in the log what the caller need not know.
fn broken(error: &pki::PkiError) -> CommandError {
    tracing::error!(%error, "the certificate authority");
    CommandError::unavailable()
}

/// Ends rotations when the old certificate has had its day.
pub struct FinishRotations(Journal);

impl FinishRotations {
    /// The task of this bank.
    #[must_use]
    pub const fn new(journal: Journal) -> Self {
        Self(journal)
    }

    async fn finish(&self, work: &Work) -> Result<Done, CommandError> {
        let finish = DevicesCommand::FinishRotations { at: work.now };
        let context = processes::context(FINISH_ROTATIONS, &work.subject, &work.due_at.to_string());
        self.0.submit(Unit::new(context).step(&work.subject, finish)).await?;
        Ok(Done::Finished)
    }
}

impl Task for FinishRotations {
    fn name(&self) -> &'static str {
        FINISH_ROTATIONS
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.finish(work).boxed()
    }
}
