//! Devices with certificates of an authority that only the tests know.

use std::collections::HashSet;
use std::sync::{Arc, LazyLock, Mutex};

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bursar_api::app::Devices;
use bursar_api::auth::proof::TrustAnchor;
use bursar_commands::CommandError;
use bursar_commands::certificates::{Certificates, DeviceCertificate};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, SanType,
    date_time_ymd,
};
use serde_json::{Value, json};

use super::client::{Client, Request};

pub const LOGIN: &str = "/v1/users/certificate/login";

struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

static AUTHORITY: LazyLock<Authority> = LazyLock::new(|| {
    let key = KeyPair::generate().unwrap();
    let params = || {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2090, 1, 1));
        params
    };
    let pem = params().self_signed(&key).unwrap().pem();
    Authority { issuer: Issuer::new(params(), key), pem }
});

/// Fingerprints of certificates that were revoked, and names of devices that were blocked.
static REVOKED: LazyLock<Mutex<HashSet<[u8; 32]>>> = LazyLock::new(Mutex::default);
static BLOCKED: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

/// Knows every device whose name says whose it is: `till-usr_...`.
struct TestDevices;

impl Certificates for TestDevices {
    fn find<'a>(
        &'a self,
        device: &'a str,
        fingerprint: &'a [u8; 32],
    ) -> BoxFuture<'a, Result<Option<DeviceCertificate>, CommandError>> {
        let owner = device.strip_prefix("till-").and_then(|owner| owner.parse().ok());
        let known = owner.map(|owner| DeviceCertificate {
            owner,
            is_valid: !REVOKED.lock().unwrap().contains(fingerprint),
            device_is_active: !BLOCKED.lock().unwrap().contains(device),
        });
        ready(Ok(known)).boxed()
    }
}

/// What the bank knows of the tests' devices.
pub fn devices() -> Devices {
    let anchor = TrustAnchor::parse(&AUTHORITY.pem).unwrap();
    Devices { certificates: Arc::new(TestDevices), anchor }
}

/// A device with a key and a certificate.
pub struct Device {
    pub id: String,
    key: KeyPair,
    certificate: String,
}

impl Device {
    /// A device of the user with this id.
    pub fn of(user: impl std::fmt::Display) -> Self {
        Self::named(&format!("till-{user}"))
    }

    /// A device of this name, certified by the tests' authority.
    pub fn named(id: &str) -> Self {
        let id = id.to_owned();
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        params.subject_alt_names = vec![SanType::URI(format!("urn:bursar:device:{id}").try_into().unwrap())];
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2090, 1, 1));
        let certificate = params.signed_by(&key, &AUTHORITY.issuer).unwrap().pem();
        Self { id, key, certificate }
    }

    /// A device with a certificate of the bank's own.
    pub fn certified(id: &str, key: &str, certificate: &str) -> Self {
        let (id, certificate) = (id.to_owned(), certificate.to_owned());
        Self { id, key: KeyPair::from_pem(key).unwrap(), certificate }
    }

    fn fingerprint(&self) -> [u8; 32] {
        let der: String = self.certificate.lines().filter(|line| !line.starts_with('-')).collect();
        digest(&SHA256, &STANDARD.decode(der).unwrap()).as_ref().try_into().unwrap()
    }

    pub fn revoke(&self) {
        REVOKED.lock().unwrap().insert(self.fingerprint());
    }

    pub fn block(&self, is_blocked: bool) {
        let mut blocked = BLOCKED.lock().unwrap();
        blocked.retain(|id| *id != self.id);
        blocked.extend(is_blocked.then(|| self.id.clone()));
    }

    pub fn body(&self) -> Value {
        json!({
            "certificate": self.certificate, "certificateChain": [], "clientNonce": "nonce of the device",
            "deviceInfo": {"deviceId": self.id, "deviceType": "DESKTOP"},
        })
    }

    /// An assertion about this body.
    pub fn assertion(&self, body: &str, jti: &str, iat: i64) -> String {
        let mut header = Header::new(Algorithm::ES256);
        header.typ = Some("cert-login+jwt".to_owned());
        header.x5t_s256 = Some(URL_SAFE_NO_PAD.encode(self.fingerprint()));
        let claims = json!({
            "iss": self.id, "sub": self.id, "aud": format!("http://127.0.0.1:8080{LOGIN}"), "iat": iat,
            "exp": iat + 60, "jti": jti, "nonce": "nonce of the device",
            "bdh": URL_SAFE_NO_PAD.encode(digest(&SHA256, body.as_bytes())),
        });
        jsonwebtoken::encode(&header, &claims, &EncodingKey::from_ec_der(&self.key.serialize_der())).unwrap()
    }
}

/// A login with this body and assertion.
pub fn login(client: &Client, body: &str, assertion: &str) -> Request {
    let request = client.without_token().request(reqwest::Method::POST, LOGIN);
    request.header("Authorization", &format!("Bearer {assertion}")).raw("application/json", body.to_owned())
}
