//! Encrypting for one person.

use std::sync::Arc;

use aws_lc_rs::aead::{AES_256_GCM, Aad, NONCE_LEN, Nonce, RandomizedNonceKey};
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
pub struct DerivedSeal(pub Arc<Keys>);

impl DerivedSeal {
    fn key(&self, owner: UserId) -> Option<RandomizedNonceKey> {
        RandomizedNonceKey::new(&AES_256_GCM, &self.0.email_lookup(&format!("file\0{owner}"))).ok()
    }
}

impl PersonalSeal for DerivedSeal {
    fn seal<'a>(
        &'a self,
        owner: UserId,
        about: &'a str,
        mut bytes: Vec<u8>,
    ) -> BoxFuture<'a, Result<Vec<u8>, CommandError>> {
        let sealed = self.key(owner).and_then(|key| {
            let nonce = key.seal_in_place_append_tag(Aad::from(about.as_bytes()), &mut bytes).ok()?;
            bytes.extend_from_slice(nonce.as_ref());
            Some(bytes)
        });
        ready(sealed.ok_or_else(CommandError::unavailable)).boxed()
    }

    fn open<'a>(
        &'a self,
        owner: UserId,
        about: &'a str,
        mut sealed: Vec<u8>,
    ) -> BoxFuture<'a, Result<Option<Vec<u8>>, CommandError>> {
        let opened = self.key(owner).and_then(|key| {
            let nonce = sealed.split_off(sealed.len().checked_sub(NONCE_LEN)?);
            let nonce = Nonce::try_assume_unique_for_key(&nonce).ok()?;
            let plain = key.open_in_place(nonce, Aad::from(about.as_bytes()), &mut sealed).ok()?;
            Some(plain.to_vec())
        });
        ready(Ok(opened)).boxed()
    }
}
