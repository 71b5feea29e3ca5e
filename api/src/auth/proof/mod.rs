//! Login with a device's certificate: the certificate says which key is the device's, the assertion proves that whoever
//! asks has it, now and for this very request.
//!
//! | of | is checked |
//! |---|---|
//! | the certificate | a chain to our own authority and no other, validity by the bank's clock, clientAuth, CA:FALSE, the device in a URI name, RSA of 3072 bits or P-256 |
//! | the assertion | `typ: cert-login+jwt`, an algorithm of the key's kind, `x5t#S256`, signature, `iss` = `sub` = the device, `aud`, `iat`, `exp` within 60 seconds, `jti`, `nonce` and `bdh` of the body |
//!
//! A certificate is public and proves nothing by itself.

use std::time::Duration;

use aws_lc_rs::digest::{SHA256, digest};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use bursar_commands::keys::sha256;
use bursar_commands::pki::device_uri;
use jiff::Timestamp;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use rustls_pki_types::{CertificateDer, SignatureVerificationAlgorithm, TrustAnchor as Anchor, UnixTime};
use serde::Deserialize;
use webpki::{EndEntityCert, KeyUsage, anchor_from_trusted_cert};
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer as _, X509Certificate};
use x509_parser::public_key::PublicKey;

/// The `typ` of an assertion, which keeps other JWTs from being taken for one.
const TYPE: &str = "cert-login+jwt";
/// Seconds an assertion lives, at most.
const LIFETIME: i64 = 60;
/// Seconds that a device's clock may be ahead.
const AHEAD: i64 = 10;
/// Bytes of an assertion and of a certificate, at most.
const LONGEST: usize = 16 * 1024;
/// Certificates between the device's and our authority, at most.
const LONGEST_CHAIN: usize = 4;
/// Fewest bits of an RSA key.
const RSA_BITS: usize = 3072;
/// What a device's name begins with, in the certificate: see [`device_uri`].
const NAME: &str = "urn:bursar:device:";

/// How certificates may be signed.
const SIGNATURES: &[&dyn SignatureVerificationAlgorithm] = &[
    webpki::aws_lc_rs::ECDSA_P256_SHA256,
    webpki::aws_lc_rs::ECDSA_P384_SHA384,
    webpki::aws_lc_rs::ED25519,
    webpki::aws_lc_rs::RSA_PKCS1_2048_8192_SHA256,
    webpki::aws_lc_rs::RSA_PKCS1_2048_8192_SHA384,
];

/// The authority that signs the bank's devices, and nobody else does.
#[derive(Debug, Clone)]
pub struct TrustAnchor(Anchor<'static>);

/// The file holds no certificate of an authority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected the certificate of an authority, PEM or base64")]
pub struct NoAuthority;

impl TrustAnchor {
    /// The authority whose certificate this is.
    ///
    /// # Errors
    /// [`NoAuthority`].
    pub fn parse(text: &str) -> Result<Self, NoAuthority> {
        let der = CertificateDer::from(der(text).ok_or(NoAuthority)?);
        Ok(Self(anchor_from_trusted_cert(&der).map_err(|_| NoAuthority)?.to_owned()))
    }
}

/// What a login with a certificate brings.
pub struct Proof<'a> {
    /// The device's certificate, PEM or base64.
    pub certificate: &'a str,
    /// Those between it and the authority.
    pub chain: &'a [String],
    /// The assertion: the token of the Authorization header.
    pub assertion: &'a str,
    /// The device that the body names.
    pub device: &'a str,
    /// The nonce of the body.
    pub nonce: &'a str,
    /// The body, byte for byte.
    pub body: &'a [u8],
}

/// A device that has proven to have its key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proven {
    /// SHA-256 of its certificate.
    pub fingerprint: [u8; 32],
    /// What the assertion is called: good once.
    pub jti: String,
}

#[derive(Deserialize)]
struct Header {
    typ: String,
    alg: Algorithm,
    #[serde(rename = "x5t#S256")]
    thumbprint: String,
    #[serde(default)]
    crit: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    iat: i64,
    exp: i64,
    jti: String,
    nonce: String,
    bdh: String,
}

impl Proof<'_> {
    /// Checks certificate and assertion at `now`; `audience` is the address of the login. What the bank knows of the device,
    /// and whether the assertion is new, is for the caller to ask.
    #[must_use]
    pub fn check(&self, anchor: &TrustAnchor, audience: &str, now: Timestamp) -> Option<Proven> {
        let leaf = der(self.certificate)?;
        self.chain_ends_at(anchor, &leaf, now)?;
        let (_, certificate) = X509Certificate::from_der(&leaf).ok()?;
        is_named(&certificate, self.device)?;
        let fingerprint = sha256(&leaf);
        let jti = self.assertion(&certificate, &fingerprint, audience, now)?;
        Some(Proven { fingerprint, jti })
    }

    fn chain_ends_at(&self, anchor: &TrustAnchor, leaf: &[u8], now: Timestamp) -> Option<()> {
        if self.chain.len() > LONGEST_CHAIN {
            return None;
        }
        let chain: Option<Vec<_>> =
            self.chain.iter().map(|text| der(text).map(CertificateDer::from)).collect();
        let (chain, leaf) = (chain?, CertificateDer::from(leaf));
        let seconds = u64::try_from(now.as_second()).ok()?;
        let time = UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        // An authority in between may say nothing of usage; that the device's certificate must, is asked below.
        let usage = KeyUsage::client_auth();
        let leaf = EndEntityCert::try_from(&leaf).ok()?;
        let anchors = std::slice::from_ref(&anchor.0);
        // Revocation is in our own table, which the caller asks.
        leaf.verify_for_usage(SIGNATURES, anchors, &chain, time, usage, None, None).ok().map(drop)
    }

    /// The name of the assertion, if it proves what it should.
    fn assertion(
        &self,
        certificate: &X509Certificate<'_>,
        fingerprint: &[u8; 32],
        audience: &str,
        now: Timestamp,
    ) -> Option<String> {
        if self.assertion.len() > LONGEST {
            return None;
        }
        let (head, _) = self.assertion.split_once('.')?;
        let header: Header = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(head).ok()?).ok()?;
        let (key, algorithms) = key_of(certificate)?;
        let fits = header.typ == TYPE
            && header.crit.is_none()
            && algorithms.contains(&header.alg)
            && header.thumbprint == URL_SAFE_NO_PAD.encode(fingerprint);
        if !fits {
            return None;
        }
        let mut validation = Validation::new(header.alg);
        validation.set_audience(&[audience]);
        validation.set_issuer(&[self.device]);
        validation.set_required_spec_claims(&["iss", "sub", "aud", "exp"]);
        // By the bank's clock, below; the library would ask the machine.
        validation.validate_exp = false;
        let claims = jsonwebtoken::decode::<Claims>(self.assertion, &key, &validation).ok()?.claims;
        let seconds = now.as_second();
        let timely = claims.iat <= seconds.saturating_add(AHEAD)
            && seconds < claims.exp
            && claims.exp.saturating_sub(claims.iat) <= LIFETIME
            && claims.iat <= claims.exp;
        let ours = claims.iss == self.device && claims.sub == self.device && claims.nonce == self.nonce;
        let about = claims.bdh == URL_SAFE_NO_PAD.encode(digest(&SHA256, self.body));
        let named = (16..=128).contains(&claims.jti.len());
        (timely && ours && about && named).then_some(claims.jti)
    }
}

/// Whether the certificate names the device, and no other, for use as a client, and is no authority's.
fn is_named(certificate: &X509Certificate<'_>, device: &str) -> Option<()> {
    let is_authority = certificate.basic_constraints().ok()?.is_some_and(|found| found.value.ca);
    let is_client = certificate.extended_key_usage().ok()?.is_some_and(|found| found.value.client_auth);
    let names = &certificate.subject_alternative_name().ok()??.value.general_names;
    let mut devices = names.iter().filter_map(|name| match name {
        GeneralName::URI(uri) => uri.starts_with(NAME).then_some(*uri),
        _ => None,
    });
    (!is_authority && is_client && devices.next() == Some(&device_uri(device)) && devices.next().is_none())
        .then_some(())
}

/// The device's key, and the algorithms that such a key signs with.
fn key_of(certificate: &X509Certificate<'_>) -> Option<(DecodingKey, &'static [Algorithm])> {
    let info = certificate.public_key();
    let bytes = info.subject_public_key.data.as_ref();
    match info.parsed().ok()? {
        PublicKey::RSA(key) if key.key_size() >= RSA_BITS => {
            Some((DecodingKey::from_rsa_der(bytes), &[Algorithm::RS256, Algorithm::PS256]))
        }
        // P-256 is the only curve of 256 bits that the chain's signatures can be made for here; its name is checked too.
        PublicKey::EC(point) if point.key_size() == 256 && is_p256(certificate) => {
            Some((DecodingKey::from_ec_der(bytes), &[Algorithm::ES256]))
        }
        _ => None,
    }
}

/// Whether the key's parameters name prime256v1.
fn is_p256(certificate: &X509Certificate<'_>) -> bool {
    let parameters = certificate.public_key().algorithm.parameters.as_ref();
    parameters
        .and_then(|parameters| parameters.as_oid().ok())
        .is_some_and(|oid| oid.to_id_string() == "1.2.840.10045.3.1.7")
}

/// The bytes of a certificate in PEM or base64.
fn der(text: &str) -> Option<Vec<u8>> {
    if text.len() > LONGEST {
        return None;
    }
    let body = match text.trim().strip_prefix("-----BEGIN CERTIFICATE-----") {
        Some(rest) => rest.strip_suffix("-----END CERTIFICATE-----")?,
        None => text,
    };
    let packed: String = body.split_ascii_whitespace().collect();
    STANDARD.decode(packed).ok()
}

#[cfg(test)]
mod tests;
