//! Making certificates, and the list of those that are good no more.

use std::time::SystemTime;

use bursar_domain::devices::{ExtendedKeyUsage, KeyUsage, Organisation, Profile};
use bursar_domain::kernel::Sources;
use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, Certificate, CertificateParams, CertificateRevocationListParams, DistinguishedName,
    DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose,
    PKCS_ECDSA_P256_SHA256, RevokedCertParams, SanType, SerialNumber,
};
use sqlx::PgPool;

use super::seal::{self, Kept};
use super::{PkiError, ReadRequest, device_uri};
use crate::journal::{recall, remember_first};
use crate::keys::{Keys, hex, sha256};

/// Under which name the sealed authority is kept.
const SETTING: &str = "certificate_authority";
/// How long the root and the issuing certificate are good: longer than anybody moves a sandbox's clock.
const ROOT_LIFE: SignedDuration = SignedDuration::from_hours(40 * 366 * 24);
const ISSUING_LIFE: SignedDuration = SignedDuration::from_hours(30 * 366 * 24);
/// The most characters of a common name (RFC 5280, `ub-common-name`).
const COMMON_NAME: usize = 64;

/// The bank's certificate authority. No `Debug`.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    issuing: String,
    root: String,
    issuing_ends_at: Timestamp,
    sources: Sources,
}

/// A certificate to be made.
#[derive(Debug, Clone)]
pub struct Blank<'a> {
    /// Whose key it is about.
    pub device_id: &'a str,
    /// What the subject says besides the device.
    pub organisation: &'a Organisation,
    /// What it may be used for.
    pub profile: &'a Profile,
    /// For how long it shall be good.
    pub days: u16,
}

/// A certificate that was made.
#[derive(Debug, Clone)]
pub struct Made {
    /// Hex.
    pub serial: String,
    /// SHA-256.
    pub fingerprint: [u8; 32],
    /// PEM.
    pub content: String,
    /// From when on it is good: whole seconds.
    pub from: Timestamp,
    /// Until when it is good.
    pub until: Timestamp,
}

/// A certificate that is good no more.
#[derive(Debug, Clone)]
pub struct Withdrawn {
    /// Its serial number, hex.
    pub serial: String,
    /// Since when.
    pub at: Timestamp,
}

impl Authority {
    /// The authority of the bank in `pool`, which is made when there is none.
    ///
    /// # Errors
    /// [`PkiError`].
    pub async fn open(pool: &PgPool, keys: &Keys, sources: Sources) -> Result<Self, PkiError> {
        let sealed = match recall(pool, SETTING).await? {
            Some(sealed) => sealed,
            None => {
                let fresh = seal::seal(keys, &*sources.entropy, &draw(&sources)?)?;
                // Of two servers that start at once, the first decides.
                remember_first(pool, SETTING, &fresh).await?;
                recall(pool, SETTING).await?.ok_or(PkiError::Sealed)?
            }
        };
        Self::of(&seal::open(keys, &sealed)?, sources)
    }

    pub(super) fn of(kept: &Kept, sources: Sources) -> Result<Self, PkiError> {
        let issuer = Issuer::from_ca_cert_pem(&kept.issuing, KeyPair::from_pem(&kept.issuing_key)?)?;
        let (_, pem) =
            x509_parser::pem::parse_x509_pem(kept.issuing.as_bytes()).map_err(|_| PkiError::Sealed)?;
        let read = pem.parse_x509().map_err(|_| PkiError::Sealed)?;
        let ends = read.validity().not_after.timestamp();
        Ok(Self {
            issuer,
            issuing: kept.issuing.clone(),
            root: kept.root.clone(),
            issuing_ends_at: Timestamp::from_second(ends).map_err(|_| PkiError::Sealed)?,
            sources,
        })
    }

    /// The certificate of the key that signs devices, as PEM.
    #[must_use]
    pub fn issuing(&self) -> &str {
        &self.issuing
    }

    /// The issuing certificate and the root, as PEM.
    #[must_use]
    pub fn chain(&self) -> String {
        format!("{}{}", self.issuing, self.root)
    }

    /// Certifies the key of a request. Subject and names are the device's, whatever the request says.
    ///
    /// # Errors
    /// [`PkiError::Rcgen`].
    pub fn certify(&self, request: &ReadRequest, blank: &Blank<'_>) -> Result<Made, PkiError> {
        let now = self.sources.clock.now();
        let from = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let life = SignedDuration::from_hours(i64::from(blank.days) * 24);
        let until = from.checked_add(life).unwrap_or(Timestamp::MAX).min(self.issuing_ends_at);
        let serial = serial(&self.sources);
        let mut params = subject_of(blank.device_id, blank.organisation)?;
        params.serial_number = Some(SerialNumber::from_slice(&serial));
        params.not_before = SystemTime::from(from).into();
        params.not_after = SystemTime::from(until).into();
        params.is_ca = IsCa::ExplicitNoCa;
        params.use_authority_key_identifier_extension = true;
        for name in &blank.profile.dns_names {
            params.subject_alt_names.push(SanType::DnsName(name.as_str().try_into()?));
        }
        params.key_usages = blank.profile.key_usage.iter().copied().map(key_usage).collect();
        params.extended_key_usages = blank.profile.extended_key_usage.iter().copied().map(extended).collect();
        let certificate = params.signed_by(request.public_key(), &self.issuer)?;
        Ok(made(&certificate, &serial, from, until))
    }

    /// The revocation list at `now` (RFC 5280), DER.
    ///
    /// # Errors
    /// [`PkiError::Rcgen`].
    pub fn revocation_list(
        &self,
        withdrawn: &[Withdrawn],
        now: Timestamp,
        lasts: SignedDuration,
    ) -> Result<Vec<u8>, PkiError> {
        let revoked_certs = withdrawn.iter().map(|withdrawn| RevokedCertParams {
            serial_number: SerialNumber::from_slice(&bytes(&withdrawn.serial)),
            revocation_time: SystemTime::from(withdrawn.at).into(),
            // Why is nobody's business.
            reason_code: None,
            invalidity_date: None,
        });
        let next = now.checked_add(lasts).unwrap_or(Timestamp::MAX);
        let list = CertificateRevocationListParams {
            this_update: SystemTime::from(now).into(),
            next_update: SystemTime::from(next).into(),
            // Grows, without being kept anywhere.
            crl_number: SerialNumber::from_slice(&now.as_microsecond().unsigned_abs().to_be_bytes()),
            issuing_distribution_point: None,
            revoked_certs: revoked_certs.collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        Ok(list.signed_by(&self.issuer)?.der().to_vec())
    }
}

/// A new root and issuing key.
pub(super) fn draw(sources: &Sources) -> Result<Kept, PkiError> {
    let now = sources.clock.now();
    let ca = |name: &str, depth: u8, life| {
        let mut params = CertificateParams::default();
        params.distinguished_name = DistinguishedName::new();
        params.distinguished_name.push(DnType::CommonName, name);
        params.serial_number = Some(SerialNumber::from_slice(&serial(sources)));
        params.not_before = SystemTime::from(now).into();
        params.not_after = SystemTime::from(now.checked_add(life).unwrap_or(Timestamp::MAX)).into();
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(depth));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.use_authority_key_identifier_extension = true;
        params
    };
    let root_key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let issuing_key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?;
    let root_params = ca("bursar device root", 1, ROOT_LIFE);
    let root = root_params.self_signed(&root_key)?;
    let issuing = ca("bursar device issuing", 0, ISSUING_LIFE);
    let issuing = issuing.signed_by(&issuing_key, &Issuer::from_params(&root_params, &root_key))?;
    Ok(Kept {
        root: root.pem(),
        root_key: root_key.serialize_pem(),
        issuing: issuing.pem(),
        issuing_key: issuing_key.serialize_pem(),
    })
}

/// Parameters with subject and URI of a device.
pub(super) fn subject_of(
    device_id: &str,
    organisation: &Organisation,
) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::default();
    let mut subject = DistinguishedName::new();
    let parts = [
        (DnType::CountryName, &organisation.country),
        (DnType::OrganizationName, &organisation.organisation),
        (DnType::OrganizationalUnitName, &organisation.unit),
    ];
    for (part, value) in parts {
        if let Some(value) = value {
            subject.push(part, value.as_str());
        }
    }
    subject.push(DnType::CommonName, device_id.chars().take(COMMON_NAME).collect::<String>());
    params.distinguished_name = subject;
    params.subject_alt_names = vec![SanType::URI(device_uri(device_id).as_str().try_into()?)];
    Ok(params)
}

fn made(certificate: &Certificate, serial: &[u8], from: Timestamp, until: Timestamp) -> Made {
    let fingerprint = sha256(certificate.der());
    Made { serial: hex(serial), fingerprint, content: certificate.pem(), from, until }
}

/// 128 bits, of which the first is not set and the second is: a positive number whose every octet counts.
fn serial(sources: &Sources) -> [u8; 16] {
    let mut serial = [0; 16];
    sources.entropy.fill(&mut serial);
    serial[0] = serial[0] & 0x7f | 0x40;
    serial
}

/// What [`hex`] made text of.
fn bytes(text: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        text.chars().filter_map(|c| c.to_digit(16)).filter_map(|d| u8::try_from(d).ok()).collect();
    digits.chunks(2).map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit)).collect()
}

const fn key_usage(usage: KeyUsage) -> KeyUsagePurpose {
    match usage {
        KeyUsage::DigitalSignature => KeyUsagePurpose::DigitalSignature,
        KeyUsage::KeyEncipherment => KeyUsagePurpose::KeyEncipherment,
        KeyUsage::DataEncipherment => KeyUsagePurpose::DataEncipherment,
    }
}

const fn extended(usage: ExtendedKeyUsage) -> ExtendedKeyUsagePurpose {
    match usage {
        ExtendedKeyUsage::ClientAuth => ExtendedKeyUsagePurpose::ClientAuth,
        ExtendedKeyUsage::ServerAuth => ExtendedKeyUsagePurpose::ServerAuth,
    }
}
