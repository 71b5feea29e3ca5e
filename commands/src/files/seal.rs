//! Encrypting for one person.

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, RandomizedNonceKey};
use bursar_domain::kernel::UserId;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};

use crate::keys::Keys;
use crate::owned::CommandError;

/// Encrypts with the key of a person.
pub trait PersonalSeal: Send + Sync {
    /// `bytes` for `owner`'s eyes, bound to `about`.
    fn seal<'a>(
        &'a self,
        owner: UserId,
        about: &'a str,
        bytes: Vec<u8>,
    ) -> BoxFuture<'a, Result<Vec<u8>, CommandError>>;

    /// What was sealed; none when the person's key is gone or the bytes are not what was sealed.
    fn open<'a>(
        &'a self,
        owner: UserId,
        about: &'a str,
        sealed: Vec<u8>,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, CommandError>>;
}

/// Encrypts with keys that are derived from the server's.
pub struct DerivedSeal(Arc<Keys>);
