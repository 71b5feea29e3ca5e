//! Signing requests (PKCS#10): reading those of devices, and making them for devices that cannot.

use bursar_domain::devices::{KeyKind, Organisation};
use rcgen::{KeyPair, PKCS_ECDSA_P256_SHA256, PKCS_RSA_SHA256, RsaKeySize, SubjectPublicKeyInfo};
use x509_parser::certification_request::X509CertificationRequest;
use x509_parser::prelude::FromDer as _;
use x509_parser::public_key::PublicKey;
use x509_parser::x509::SubjectPublicKeyInfo as Key;
use zeroize::Zeroizing;

use super::authority::subject_of;
use super::{NotCertified, PkiError};

/// The object identifier of P-256 (RFC 5480).
const P256: &str = "1.2.840.10045.3.1.7";
/// Bits of an RSA key.
const RSA_BITS: std::ops::RangeInclusive<usize> = 3072..=4096;
/// The one exponent everybody uses (FIPS 186-5 asks for at least this).
const EXPONENT: u64 = 65_537;

/// A request whose signature is right and whose key is good enough. What else it says is not read.
#[derive(Debug, Clone)]
pub struct ReadRequest {
    /// It, as PEM.
    pub content: String,
    /// What kind of key it is about.
    pub kind: KeyKind,
    key: SubjectPublicKeyInfo,
}

impl ReadRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// [`NotCertified`].
    pub fn parse(text: &str) -> Result<Self, NotCertified> {
        let malformed = || NotCertified::Malformed;
        let (rest, pem) =
            x509_parser::pem::parse_x509_pem(text.trim().as_bytes()).map_err(|_| malformed())?;
        let is_request = matches!(pem.label.as_str(), "CERTIFICATE REQUEST" | "NEW CERTIFICATE REQUEST");
        if !is_request || !rest.trim_ascii().is_empty() {
            return Err(malformed());
        }
        let (rest, request) = X509CertificationRequest::from_der(&pem.contents).map_err(|_| malformed())?;
        if !rest.is_empty() {
            return Err(malformed());
        }
        let spki = &request.certification_request_info.subject_pki;
        let kind = kind(spki)?;
        request.verify_signature().map_err(|_| NotCertified::BadSignature)?;
        let key = SubjectPublicKeyInfo::from_der(spki.raw).map_err(|_| NotCertified::WeakKey)?;
        Ok(Self { content: text.trim().to_owned() + "\n", kind, key })
    }

    pub(super) const fn public_key(&self) -> &SubjectPublicKeyInfo {
        &self.key
    }
}

fn kind(spki: &Key<'_>) -> Result<KeyKind, NotCertified> {
    match spki.parsed().map_err(|_| NotCertified::Malformed)? {
        PublicKey::RSA(key) => {
            let bits = key.modulus.iter().skip_while(|byte| **byte == 0).count() * 8;
            let is_good = RSA_BITS.contains(&bits) && key.try_exponent() == Ok(EXPONENT);
            if is_good { Ok(KeyKind::Rsa) } else { Err(NotCertified::WeakKey) }
        }
        PublicKey::EC(_) => {
            let curve = spki.algorithm.parameters.as_ref().and_then(|curve| curve.as_oid().ok());
            let is_good = curve.is_some_and(|curve| curve.to_id_string() == P256);
            if is_good { Ok(KeyKind::Ec) } else { Err(NotCertified::WeakKey) }
        }
        _ => Err(NotCertified::WeakKey),
    }
}

/// What kind of key a device wants that cannot make its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NewKey {
    /// RSA with 3072 bits.
    Rsa3072,
    /// RSA with 4096 bits.
    Rsa4096,
    /// EC on P-256.
    P256,
}

impl NewKey {
    /// The key of this kind and size.
    ///
    /// # Errors
    /// [`NotCertified::WeakKey`].
    pub fn of(kind: KeyKind, bits: Option<i64>) -> Result<Self, NotCertified> {
        match (kind, bits) {
            (KeyKind::Rsa, None | Some(3072)) => Ok(Self::Rsa3072),
            (KeyKind::Rsa, Some(4096)) => Ok(Self::Rsa4096),
            (KeyKind::Ec, None | Some(256)) => Ok(Self::P256),
            (KeyKind::Rsa | KeyKind::Ec, Some(_)) => Err(NotCertified::WeakKey),
        }
    }

    /// Makes a key, and a request signed by it. Takes a good while for RSA: not for an async thread.
    ///
    /// # Errors
    /// [`PkiError::Rcgen`].
    pub fn draw(
        self,
        device_id: &str,
        organisation: &Organisation,
    ) -> Result<(Zeroizing<String>, ReadRequest), PkiError> {
        let key = match self {
            Self::Rsa3072 => KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_3072)?,
            Self::Rsa4096 => KeyPair::generate_rsa_for(&PKCS_RSA_SHA256, RsaKeySize::_4096)?,
            Self::P256 => KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256)?,
        };
        let request = subject_of(device_id, organisation)?.serialize_request(&key)?;
        let request = ReadRequest::parse(&request.pem()?).map_err(|_| rcgen::Error::CouldNotParseKeyPair)?;
        Ok((Zeroizing::new(key.serialize_pem()), request))
    }
}
