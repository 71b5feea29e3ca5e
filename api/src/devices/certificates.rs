//! Certificates of devices.

use axum::extract::State;
use bursar_commands::devices::{self, Rotate, Sign, WantedCertificate, WantedKey};
use bursar_commands::pki::{NewKey, ReadRequest};
use bursar_domain::Event;
use bursar_domain::devices::{Certificate, DevicesEvent, ExtendedKeyUsage, KeyKind, KeyUsage, Organisation};
use bursar_domain::kernel::SigningRequestId;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::Schema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::place;
use crate::answer::Answer;
use crate::app::App;
use crate::auth::ManageProfile;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Faults, Field, OneOf, Pem, Text, Whole, Write, fault, schema};

/// How long a certificate is wanted for; no longer than certificates last.
type Days = Whole<1, { u32::MAX }>;

/// The routes of this file.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(request_certificate))
        .routes(routes!(sign_certificate))
        .routes(routes!(rotate_certificate))
}

/// The most days a certificate is good, whoever asks (the CA/Browser Forum's limit).
const MOST_DAYS: u16 = 397;

request! {
    /// A subject. The device is its common name, whatever is said here.
    SubjectDn {
        /// Passed over: the device.
        cn: Option<Text<128>> = "CN",
        /// The organisation.
        o: Option<Text<64>> = "O",
        /// The unit of the organisation.
        ou: Option<Text<64>> = "OU",
        /// The country, ISO 3166-1 alpha-2.
        c: Option<Country> = "C",
    }
}

request! {
    /// A certificate that is wanted.
    CertificateRequest {
        /// The device, as its app names it.
        device_id: Text<128> = "deviceId",
        /// `RSA` when absent, or `EC`: the key that the bank makes when there is no `csr`.
        key_algorithm: Option<OneOf<KeyKind>> = "keyAlgorithm",
        /// 3072 or 4096 for RSA, 256 for EC; the first when absent.
        key_size: Option<Whole<1, 65_536>> = "keySize",
        /// What the subject shall say besides the device.
        subject_dn: Option<SubjectDn> = "subjectDN",
        /// Names of servers the certificate shall vouch for (`DNS:...`), all inside a zone of the bank's.
        san: Option<Vec<Text<300>>> = "san",
        /// A signing request of the device's own (PKCS#10, PEM). Without it the bank makes the key and gives it away, once.
        csr: Option<Pem> = "csr",
    }
}

request! {
    /// What a certificate may be used for.
    CertificateExtensions {
        /// `DIGITAL_SIGNATURE` always; `KEY_ENCIPHERMENT` and `DATA_ENCIPHERMENT` for RSA.
        key_usage: Option<Vec<OneOf<KeyUsage>>> = "keyUsage",
        /// `CLIENT_AUTH` always; `SERVER_AUTH` with a name inside a zone of the bank's.
        extended_key_usage: Option<Vec<OneOf<ExtendedKeyUsage>>> = "extendedKeyUsage",
        /// Names with their type in front (`DNS:...`).
        subject_alt_name: Option<Vec<Text<300>>> = "subjectAltName",
    }
}

request! {
    /// A signing request that is to be signed.
    SignRequest {
        /// The request.
        csr_id: SigningRequestId = "csrId",
        /// For how many days; more than 397 are 397.
        validity_days: Option<Days> = "validityDays",
        /// What the certificate may be used for.
        certificate_extensions: Option<CertificateExtensions> = "certificateExtensions",
    }
}

bursar_domain::spelled! {
    /// Who wants a certificate replaced. The bank does the same.
    pub enum RotationType {
        /// The app, in time.
        Automatic = "AUTOMATIC",
        /// The customer.
        Manual = "MANUAL",
        /// Somebody who fears for the key.
        Emergency = "EMERGENCY",
    }
}

request! {
    /// A certificate that is to be replaced.
    RotateRequest {
        /// The device, as its app names it.
        device_id: Text<128> = "deviceId",
        /// `AUTOMATIC` when absent, `MANUAL`, `EMERGENCY`.
        rotation_type: Option<OneOf<RotationType>> = "rotationType",
        /// Whether a rotation that is under way is cut short.
        force_rotation: Option<bool> = "forceRotation",
        /// A signing request for another key (PKCS#10, PEM). Without it the key stays.
        csr: Option<Pem> = "csr",
    }
}

/// A signing request.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestResult {
    csr_id: String,
    /// `PENDING`.
    status: &'static str,
    /// PKCS#10, PEM.
    csr_content: String,
    requested_at: Timestamp,
    /// ISO 8601: nobody needs to wait.
    estimated_processing_time: &'static str,
    /// `DEVICE_GENERATED` or `SERVER_GENERATED`.
    key_origin: &'static str,
    /// The key that the bank made, PKCS#8, PEM. Shown in this one answer and kept nowhere: a repeat of the request under the
    /// same Idempotency-Key is answered without it.
    private_key: Option<String>,
    message: &'static str,
}

/// A certificate.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificateResult {
    certificate_id: String,
    /// `SIGNED`.
    status: &'static str,
    /// PEM.
    certificate_content: String,
    /// The certificates that vouch for it, PEM: issuing, root.
    certificate_chain: String,
    valid_from: Timestamp,
    valid_to: Timestamp,
    /// Hexadecimal.
    serial_number: String,
    message: &'static str,
}

/// A certificate that takes the place of another.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RotationResult {
    rotation_id: String,
    /// `IN_PROGRESS`.
    status: &'static str,
    /// Good until `estimatedCompletion`.
    old_certificate_id: String,
    /// Good from now on.
    new_certificate_id: String,
    estimated_completion: Timestamp,
    /// The new one, PEM.
    certificate_content: String,
    message: &'static str,
}

/// Asks for a certificate for a device of the caller, which must be active.
///
/// The device proves with the signature of `csr` that it has the key. One that cannot make keys leaves `csr` out and is given
/// one.
#[utoipa::path(
    post, path = "/v1/device/cert/request", tag = "Devices",
    params(WriteHeaders), request_body = CertificateRequest,
    responses((status = 201, description = "Requested.", body = RequestResult), WriteProblems)
)]
async fn request_certificate(
    State(app): State<App>,
    write: Write<ManageProfile, CertificateRequest>,
) -> Result<Answer<RequestResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let Text(device_id) = body.device_id;
    let key = match body.csr {
        Some(Pem(text)) => WantedKey::Own(ReadRequest::parse(&text).map_err(|no| Problem::refused(&no))?),
        None => {
            let kind = body.key_algorithm.map_or(KeyKind::Rsa, |OneOf(kind)| kind);
            let new = NewKey::of(kind, body.key_size.map(|Whole(bits)| bits.into()));
            WantedKey::New(new.map_err(|no| Problem::refused(&no))?)
        }
    };
    let names = body.san.unwrap_or_default().into_iter().map(String::from).collect();
    let organisation = body.subject_dn.map(organisation).unwrap_or_default();
    let wanted = WantedCertificate { device_id, key, organisation, names };
    let zones = &app.config.devices.dns_zones;
    let (committed, secret) = devices::request(&app.journal, zones, context, caller.user(), wanted).await?;
    let (recorded, request) = committed.event(|event| match event {
        Event::Devices(DevicesEvent::CertificateRequested(request)) => Some(&**request),
        _ => None,
    })?;
    let result = RequestResult {
        csr_id: request.id.to_string(),
        status: "PENDING",
        csr_content: request.content.clone(),
        requested_at: recorded.recorded_at,
        estimated_processing_time: "PT0S",
        key_origin: request.key_origin.as_str(),
        private_key: secret.filter(|_| !committed.replayed).map(|secret| secret.to_string()),
        message: "Certificate requested",
    };
    Ok(Answer::ok(result).at(&committed).created(&place(&request.device_id)).secret())
}

/// Signs a request of the caller's: once.
///
/// Subject and names are the device's, whatever the request says. The device's certificate before, if it had one, is revoked.
#[utoipa::path(
    post, path = "/v1/device/cert/sign", tag = "Devices", params(WriteHeaders), request_body = SignRequest,
    responses((status = 201, description = "Signed.", body = CertificateResult), WriteProblems)
)]
async fn sign_certificate(
    State(app): State<App>,
    write: Write<ManageProfile, SignRequest>,
) -> Result<Answer<CertificateResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let days = days(&app, body.validity_days);
    let (mut key_usage, mut extended_key_usage, mut names) = Default::default();
    if let Some(wanted) = body.certificate_extensions {
        key_usage = wanted.key_usage.unwrap_or_default().into_iter().map(|OneOf(usage)| usage).collect();
        let purposes = wanted.extended_key_usage.unwrap_or_default();
        extended_key_usage = purposes.into_iter().map(|OneOf(purpose)| purpose).collect();
        names = wanted.subject_alt_name.unwrap_or_default().into_iter().map(String::from).collect();
    }
    let sign = Sign { id: body.csr_id, days, key_usage, extended_key_usage, names };
    let zones = &app.config.devices.dns_zones;
    let committed = devices::sign(&app.journal, &app.authority, zones, context, caller.user(), sign).await?;
    let (_, certificate) = committed.event(|event| match event {
        Event::Devices(DevicesEvent::CertificateIssued(certificate)) => Some(&**certificate),
        _ => None,
    })?;
    let result = CertificateResult::of(certificate, &app);
    Ok(Answer::ok(result).at(&committed).created(&place(&certificate.device_id)))
}

/// Issues the next certificate of a device of the caller's. The old one is good for a day longer.
#[utoipa::path(
    post, path = "/v1/device/cert/rotate", tag = "Devices",
    params(WriteHeaders), request_body = RotateRequest,
    responses((status = 201, description = "Begun.", body = RotationResult), WriteProblems)
)]
async fn rotate_certificate(
    State(app): State<App>,
    write: Write<ManageProfile, RotateRequest>,
) -> Result<Answer<RotationResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let request = body.csr.map(|Pem(text)| ReadRequest::parse(&text)).transpose();
    let rotate = Rotate {
        device_id: body.device_id.into(),
        request: request.map_err(|no| Problem::refused(&no))?,
        force: body.force_rotation.unwrap_or(false),
        days: days(&app, None),
        overlap: app.config.devices.rotation_seconds.into(),
    };
    let committed = devices::rotate(&app.journal, &app.authority, context, caller.user(), rotate).await?;
    let (_, rotation) = committed.event(|event| match event {
        Event::Devices(DevicesEvent::RotationStarted(rotation)) => Some(&**rotation),
        _ => None,
    })?;
    let result = RotationResult {
        rotation_id: rotation.id.to_string(),
        status: "IN_PROGRESS",
        old_certificate_id: rotation.old.to_string(),
        new_certificate_id: rotation.new.id.to_string(),
        estimated_completion: rotation.old_until,
        certificate_content: rotation.new.content.clone(),
        message: "Rotation begun; use the new certificate",
    };
    Ok(Answer::ok(result).at(&committed).created(&place(&rotation.new.device_id)))
}

impl CertificateResult {
    fn of(certificate: &Certificate, app: &App) -> Self {
        Self {
            certificate_id: certificate.id.to_string(),
            status: "SIGNED",
            certificate_content: certificate.content.clone(),
            certificate_chain: app.authority.chain(),
            valid_from: certificate.valid_from,
            valid_to: certificate.valid_to,
            serial_number: certificate.serial.clone(),
            message: "Certificate issued",
        }
    }
}

/// For how many days a certificate is good.
fn days(app: &App, wanted: Option<Days>) -> u16 {
    let days = wanted
        .map_or(app.config.devices.certificate_days, |Whole(days)| u16::try_from(days).unwrap_or(MOST_DAYS));
    days.clamp(1, MOST_DAYS)
}

fn organisation(subject: SubjectDn) -> Organisation {
    Organisation {
        organisation: subject.o.map(String::from),
        unit: subject.ou.map(String::from),
        country: subject.c.map(|Country(code)| code),
    }
}

/// Two upper-case letters.
pub struct Country(String);

impl Field for Country {
    fn read(value: Value) -> Result<Self, Faults> {
        let Text(text) = Text::<2>::read(value)?;
        let is_code = text.len() == 2 && text.bytes().all(|b| b.is_ascii_uppercase());
        if is_code { Ok(Self(text)) } else { Err(fault("MALFORMED", "expected two upper-case letters")) }
    }

    fn schema() -> Schema {
        schema::text(|text| text.pattern(Some("^[A-Z]{2}$")))
    }
}
