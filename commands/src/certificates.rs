//! Certificates of devices, as a login sees them: a port. Who makes, signs and revokes them is another matter.

use bursar_domain::kernel::UserId;
use bursar_domain::{Rejection, RejectionKind};
use futures_util::future::BoxFuture;

use crate::owned::CommandError;

/// What the bank knows of a certificate that it has issued to a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceCertificate {
    /// Whose device it is.
    pub owner: UserId,
    /// Whether the certificate stands: neither revoked nor replaced by another for longer than both count.
    pub is_valid: bool,
    /// Whether the device may be used.
    pub device_is_active: bool,
}

/// Knows the devices of the bank and their certificates.
pub trait Certificates: Send + Sync {
    /// The certificate of `device` with this SHA-256, if the bank has issued it.
    fn find<'a>(
        &'a self,
        device: &'a str,
        fingerprint: &'a [u8; 32],
    ) -> BoxFuture<'a, Result<Option<DeviceCertificate>, CommandError>>;
}

/// The certificate, its proof, or the device does not count. One answer for all: it tells nothing about any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the certificate or the proof of it is not accepted")]
pub struct NotProven;

impl Rejection for NotProven {
    fn code(&self) -> &'static str {
        "INVALID_CREDENTIALS"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Unauthenticated
    }
}
