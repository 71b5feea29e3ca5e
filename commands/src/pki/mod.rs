//! The bank's certificate authority: certificates for the keys of its customers' devices, and nothing else.
//!
//! ```text
//!   root (vouches for nothing but itself and the next) --> issuing key --> certificates of devices, revocation list
//! ```
//!
//! Both keys are made at the first start on a database, sealed with a key derived from the master key, and kept beside the
//! bank's other settings: every server of the bank has the same authority, and a copy of the database has none.

mod authority;
mod seal;
mod signing_request;
#[cfg(test)]
mod tests;

pub use authority::{Authority, Blank, Made, Withdrawn};
pub use signing_request::{NewKey, ReadRequest};

use std::collections::BTreeSet;

use bursar_domain::devices::{ExtendedKeyUsage, KeyKind, KeyUsage, Profile};

use crate::journal::StoreError;

/// Why there is no certificate authority, or it does not do its work. Never a customer's doing.
#[derive(Debug, thiserror::Error)]
pub enum PkiError {
    /// What is kept cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What is kept was not sealed by servers with this master key, or is damaged.
    #[error("the certificate authority in this database cannot be opened with this master key")]
    Sealed,
    /// A certificate cannot be written.
    #[error("a certificate cannot be written: {0}")]
    Rcgen(#[from] rcgen::Error),
}

bursar_domain::rejections! {
    /// Why something is not certified.
    pub enum NotCertified {
        /// Not a request at all.
        Malformed: Unprocessable "MALFORMED_CSR" = "the signing request is not PKCS#10 in PEM",
        /// Whoever made it does not have the key.
        BadSignature: Unprocessable "CSR_SIGNATURE_INVALID" = "the signing request is not signed by its own key",
        /// A key of another kind, or a short one.
        WeakKey: Unprocessable "KEY_NOT_ALLOWED" = "keys are RSA with 3072 or 4096 bits, or EC on P-256",
        /// A name the bank does not vouch for.
        ForeignName: Unprocessable "NAME_NOT_ALLOWED" = "the bank certifies no such name",
        /// A server's certificate without a server's name.
        NoServer: Unprocessable "KEY_USAGE_NOT_ALLOWED" =
            "SERVER_AUTH needs a DNS name inside a zone of the bank's",
        /// Not with a key of this kind.
        Usage: Unprocessable "KEY_USAGE_NOT_ALLOWED" = "a key on a curve only signs",
    }
}

/// The names among `wanted` that the bank vouches for: DNS names inside one of its `zones`, and the device's own URI,
/// which every certificate has anyway.
///
/// # Errors
/// [`NotCertified::ForeignName`].
pub fn dns_names<'a>(
    wanted: impl IntoIterator<Item = &'a str>,
    own: &str,
    zones: &[String],
) -> Result<BTreeSet<String>, NotCertified> {
    let mut names = BTreeSet::new();
    for name in wanted {
        if name.strip_prefix("URI:").unwrap_or(name) == own {
            continue;
        }
        let name = name.strip_prefix("DNS:").unwrap_or(name).to_ascii_lowercase();
        if !is_host(&name) || !zones.iter().any(|zone| is_inside(&name, &zone.to_ascii_lowercase())) {
            return Err(NotCertified::ForeignName);
        }
        names.insert(name);
    }
    Ok(names)
}

fn is_inside(name: &str, zone: &str) -> bool {
    name == zone || name.strip_suffix(zone).is_some_and(|head| head.ends_with('.'))
}

/// Letters, digits and hyphens between dots (RFC 1123); no wildcards, no addresses.
fn is_host(name: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = name.rsplit('.').next().unwrap_or(name);
    name.len() <= 253 && name.split('.').all(label) && !last.bytes().all(|b| b.is_ascii_digit())
}

/// What a certificate for a key of this kind may be used for: client authentication and signatures always, the rest where it
/// is wanted and makes sense.
///
/// # Errors
/// [`NotCertified::Usage`], [`NotCertified::NoServer`].
pub fn profile(
    kind: KeyKind,
    key_usage: BTreeSet<KeyUsage>,
    extended_key_usage: BTreeSet<ExtendedKeyUsage>,
    dns_names: BTreeSet<String>,
) -> Result<Profile, NotCertified> {
    let mut profile = Profile { key_usage, extended_key_usage, dns_names };
    profile.key_usage.insert(KeyUsage::DigitalSignature);
    profile.extended_key_usage.insert(ExtendedKeyUsage::ClientAuth);
    if kind == KeyKind::Ec && profile.key_usage.len() > 1 {
        return Err(NotCertified::Usage);
    }
    if profile.extended_key_usage.contains(&ExtendedKeyUsage::ServerAuth) && profile.dns_names.is_empty() {
        return Err(NotCertified::NoServer);
    }
    Ok(profile)
}

/// The name by which certificates know a device: `urn:bursar:device:` and its id, percent-encoded where a URI needs it.
#[must_use]
pub fn device_uri(device_id: &str) -> String {
    use std::fmt::Write as _;
    device_id.bytes().fold("urn:bursar:device:".to_owned(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
        uri
    })
}
