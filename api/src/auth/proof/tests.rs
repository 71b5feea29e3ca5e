use jsonwebtoken::EncodingKey;
use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    PKCS_ECDSA_P384_SHA384, SanType, date_time_ymd,
};
use serde_json::{Value, json};

use super::*;

const LOGIN: &str = "https://bank.example/v1/users/certificate/login";
const DEVICE: &str = "till-7";
const NONCE: &str = "a nonce of the device";
const BODY: &[u8] = br#"{"clientNonce":"a nonce of the device"}"#;

fn now() -> Timestamp {
    "2026-06-01T12:00:00Z".parse().unwrap()
}

/// An authority, its certificate in PEM.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

fn authority() -> Authority {
    let key = KeyPair::generate().unwrap();
    let params = || {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 1), date_time_ymd(2036, 1, 1));
        params
    };
    let pem = params().self_signed(&key).unwrap().pem();
    Authority { issuer: Issuer::new(params(), key), pem }
}

fn params() -> CertificateParams {
    let mut params = CertificateParams::default();
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    params.subject_alt_names = vec![name(DEVICE)];
    (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 1), date_time_ymd(2027, 1, 1));
    params
}

fn name(device: &str) -> SanType {
    SanType::URI(format!("urn:bursar:device:{device}").try_into().unwrap())
}

/// A device with a key, its certificate, and those in between.
struct Device {
    key: KeyPair,
    certificate: String,
    chain: Vec<String>,
}

fn device(authority: &Authority, params: &CertificateParams) -> Device {
    let key = KeyPair::generate().unwrap();
    let certificate = params.signed_by(&key, &authority.issuer).unwrap().pem();
    Device { key, certificate, chain: Vec::new() }
}

fn claims() -> Value {
    let iat = now().as_second();
    json!({
        "iss": DEVICE, "sub": DEVICE, "aud": LOGIN, "iat": iat, "exp": iat + 60, "jti": "0123456789abcdef",
        "nonce": NONCE, "bdh": URL_SAFE_NO_PAD.encode(digest(&SHA256, BODY)),
    })
}

impl Device {
    fn header(&self) -> jsonwebtoken::Header {
        let mut header = jsonwebtoken::Header::new(Algorithm::ES256);
        header.typ = Some(TYPE.to_owned());
        let leaf = der(&self.certificate).unwrap();
        header.x5t_s256 = Some(URL_SAFE_NO_PAD.encode(digest(&SHA256, &leaf)));
        header
    }

    fn assertion(&self, header: &jsonwebtoken::Header, claims: &Value) -> String {
        let key = EncodingKey::from_ec_der(&self.key.serialize_der());
        jsonwebtoken::encode(header, claims, &key).unwrap()
    }

    fn proven(&self, authority: &Authority, assertion: &str) -> Option<Proven> {
        let anchor = TrustAnchor::parse(&authority.pem).unwrap();
        let (certificate, chain, nonce, body) = (&*self.certificate, &*self.chain, NONCE, BODY);
        Proof { certificate, chain, assertion, device: DEVICE, nonce, body }.check(&anchor, LOGIN, now())
    }

    /// Whether the certificate is good, with an assertion that is.
    fn is_good(&self, authority: &Authority) -> bool {
        self.proven(authority, &self.assertion(&self.header(), &claims())).is_some()
    }
}

#[test]
fn a_device_proves_itself_by_certificate_and_key() {
    let authority = authority();
    let device = device(&authority, &params());
    let proven = device.proven(&authority, &device.assertion(&device.header(), &claims())).unwrap();
    assert_eq!(proven.jti, "0123456789abcdef");
    assert_eq!(proven.fingerprint, digest(&SHA256, &der(&device.certificate).unwrap()).as_ref());
    // Base64 without the lines of PEM is the same certificate.
    let bare = device.certificate.lines().filter(|line| !line.starts_with('-')).collect::<String>();
    assert_eq!(der(&bare), der(&device.certificate));
}

#[test]
fn a_certificate_of_another_authority_is_not_accepted() {
    let (ours, other) = (authority(), authority());
    assert!(device(&ours, &params()).is_good(&ours));
    assert!(!device(&other, &params()).is_good(&ours));
    // Not even with its authority's certificate in the chain.
    let brought = Device { chain: vec![other.pem.clone()], ..device(&other, &params()) };
    assert!(!brought.is_good(&ours));
    let key = KeyPair::generate().unwrap();
    let certificate = params().self_signed(&key).unwrap().pem();
    assert!(!Device { key, certificate, chain: Vec::new() }.is_good(&ours), "self-signed");
}

#[test]
fn a_chain_is_followed_and_a_loop_is_not() {
    let root = authority();
    let between = authority();
    let mut params_between = CertificateParams::default();
    params_between.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    (params_between.not_before, params_between.not_after) =
        (date_time_ymd(2026, 1, 1), date_time_ymd(2036, 1, 1));
    let signed = params_between.signed_by(between.issuer.key(), &root.issuer).unwrap().pem();
    let chained = Device { chain: vec![signed], ..device(&between, &params()) };
    assert!(chained.is_good(&root));
    assert!(!Device { chain: Vec::new(), ..chained }.is_good(&root), "a link is missing");
    // Two who vouch for each other, and for nobody we know.
    let other = authority();
    let one = params_between.signed_by(between.issuer.key(), &other.issuer).unwrap().pem();
    let two = params_between.signed_by(other.issuer.key(), &between.issuer).unwrap().pem();
    let looped = Device { chain: vec![one, two.clone(), two], ..device(&between, &params()) };
    assert!(!looped.is_good(&root));
}

#[test]
fn what_the_certificate_says_must_be_a_devices() {
    let authority = authority();
    let refused = |change: &dyn Fn(&mut CertificateParams), what: &str| {
        let mut params = params();
        change(&mut params);
        assert!(!device(&authority, &params).is_good(&authority), "{what}");
    };
    refused(&|p| p.not_after = date_time_ymd(2026, 5, 31), "expired");
    refused(&|p| p.not_before = date_time_ymd(2026, 6, 2), "not yet valid");
    refused(&|p| p.extended_key_usages = Vec::new(), "no usage");
    refused(&|p| p.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth], "a server's");
    refused(&|p| p.is_ca = IsCa::Ca(BasicConstraints::Unconstrained), "an authority's");
    refused(&|p| p.subject_alt_names = Vec::new(), "nameless");
    refused(&|p| p.subject_alt_names = vec![name("till-8")], "another device");
    refused(&|p| p.subject_alt_names.push(name("till-8")), "two devices");
    let key = KeyPair::generate_for(&PKCS_ECDSA_P384_SHA384).unwrap();
    let certificate = params().signed_by(&key, &authority.issuer).unwrap().pem();
    assert!(
        !Device { key: KeyPair::generate().unwrap(), certificate, chain: Vec::new() }.is_good(&authority)
    );
}

#[test]
fn without_the_key_a_certificate_proves_nothing() {
    let authority = authority();
    let device = device(&authority, &params());
    assert!(device.proven(&authority, "").is_none(), "a nonce alone");
    let thief = Device { key: KeyPair::generate().unwrap(), ..Device { ..device } };
    assert!(!thief.is_good(&authority));
}

#[test]
fn every_part_of_an_assertion_counts() {
    let authority = authority();
    let device = device(&authority, &params());
    let iat = now().as_second();
    for (name, value) in [
        ("iss", json!("till-8")),
        ("sub", json!("till-8")),
        ("aud", json!("https://elsewhere.example/")),
        ("exp", json!(iat)),
        ("exp", json!(iat + 61)),
        ("iat", json!(iat + 11)),
        ("iat", json!(iat - 1)),
        ("jti", json!("short")),
        ("nonce", json!("another nonce")),
        ("bdh", json!(URL_SAFE_NO_PAD.encode(digest(&SHA256, b"{}")))),
    ] {
        let mut wrong = claims();
        wrong[name] = value;
        assert!(device.proven(&authority, &device.assertion(&device.header(), &wrong)).is_none(), "{wrong}");
        wrong.as_object_mut().unwrap().remove(name);
        assert!(
            device.proven(&authority, &device.assertion(&device.header(), &wrong)).is_none(),
            "no {name}"
        );
    }
    let change = |change: &dyn Fn(&mut jsonwebtoken::Header)| {
        let mut header = device.header();
        change(&mut header);
        device.proven(&authority, &device.assertion(&header, &claims()))
    };
    assert!(change(&|_| {}).is_some());
    assert!(change(&|header| header.typ = Some("JWT".into())).is_none());
    assert!(change(&|header| header.typ = None).is_none());
    assert!(change(&|header| header.x5t_s256 = None).is_none());
    assert!(change(&|header| header.x5t_s256 = Some("AAAA".into())).is_none());
    // An algorithm that the key does not sign with.
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let mut header = serde_json::to_value(device.header()).unwrap();
    for algorithm in ["none", "HS256", "RS256"] {
        header["alg"] = json!(algorithm);
        let forged = format!("{}.{}.AAAA", encode(&header), encode(&claims()));
        assert!(device.proven(&authority, &forged).is_none(), "{algorithm}");
    }
}
