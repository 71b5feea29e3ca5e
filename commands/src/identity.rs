//! Where identities are kept: national registers, behind a port.

use bursar_domain::users::IdentityType;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use jiff::civil::Date;

/// Somebody who says who they are.
#[derive(Clone)]
pub struct Claimant {
    /// What identifies them.
    pub identity_type: IdentityType,
    /// Its number.
    pub number: String,
    /// Who gave it out: ISO 3166-1 alpha-2.
    pub country: String,
    /// Given name.
    pub first_name: String,
    /// Family name.
    pub last_name: String,
    /// Date of birth.
    pub date_of_birth: Date,
}

impl std::fmt::Debug for Claimant {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a {} of {}", self.identity_type, self.country)
    }
}

/// What a register says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// The number is that person's.
    Match,
    /// It is somebody else's, or nobody's: a register need not tell which.
    NoMatch,
}

/// The register did not answer; try again later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the register of identities did not answer")]
pub struct RegistryDown;

/// A register of identities.
pub trait IdentityRegistry: Send + Sync {
    /// Whether the number is that person's.
    fn look_up(&self, claimant: Claimant) -> BoxFuture<'_, Result<Finding, RegistryDown>>;
}

/// The ends of numbers that stand for trouble in a test bank, and what happens to them.
pub const MAGIC: &[(&str, &str)] = &[
    ("0001", "nobody has the number"),
    ("0002", "the number is somebody else's"),
    ("0003", "the register does not answer"),
];

/// The register of test banks: it believes everybody, but for numbers that stand for trouble.
#[derive(Debug, Clone, Copy)]
pub struct SandboxRegistry;

impl IdentityRegistry for SandboxRegistry {
    fn look_up(&self, claimant: Claimant) -> BoxFuture<'_, Result<Finding, RegistryDown>> {
        let ends = |end: &str| claimant.number.ends_with(end);
        let found = match () {
            () if ends("0001") || ends("0002") => Ok(Finding::NoMatch),
            () if ends("0003") => Err(RegistryDown),
            () => Ok(Finding::Match),
        };
        ready(found).boxed()
    }
}
