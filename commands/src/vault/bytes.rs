//! A person's files, sealed with their data key: they die with it.

use bursar_domain::kernel::UserId;

use super::{DataKey, SubjectErased, Vault, decrypt, encrypt};
use crate::journal::{Backing, StoreError};
use crate::owned::{CommandError, NotFound};

/// The form of sealed bytes: this byte, a nonce of 12, the ciphertext, a tag of 16.
const VERSION: u8 = 1;

/// A [`Vault`] and the way to the keys that it does not have at hand. See [`Journal::vault`](crate::Journal::vault).
#[derive(Clone, Copy)]
pub struct PersonalBytes<'a> {
    pub(crate) vault: &'a Vault,
    pub(crate) backing: &'a Backing,
}

impl PersonalBytes<'_> {
    /// Encrypts `bytes` (a file, a picture) with the data key of `subject`, so that erasing the person erases them,
    /// wherever they are kept and however often they were copied. `context` says what they are (`document:doc_...`) and
    /// is authenticated: bytes sealed for one context do not open in another.
    ///
    /// # Errors
    /// `SUBJECT_ERASED`; `NOT_FOUND` for somebody who was never registered; when the store cannot be reached.
    pub async fn seal(&self, subject: UserId, context: &str, bytes: &[u8]) -> Result<Vec<u8>, CommandError> {
        let key = self.key(subject).await?;
        let mut sealed = Vec::with_capacity(bytes.len() + 29);
        sealed.push(VERSION);
        encrypt(&key, place(subject, context).as_bytes(), bytes, &*self.vault.entropy, &mut sealed);
        Ok(sealed)
    }

    /// Decrypts what [`seal`](Self::seal) encrypted for the same person and context.
    ///
    /// # Errors
    /// As [`seal`](Self::seal); a store error for bytes that were changed or belong somewhere else.
    pub async fn open(&self, subject: UserId, context: &str, sealed: &[u8]) -> Result<Vec<u8>, CommandError> {
        let key = self.key(subject).await?;
        let damaged = || StoreError::Damaged(format!("sealed bytes of {subject}"));
        let (VERSION, sealed) = sealed.split_first().map(|(v, rest)| (*v, rest)).ok_or_else(damaged)? else {
            return Err(damaged().into());
        };
        let mut buffer = sealed.to_vec();
        let opened = decrypt(&key, place(subject, context).as_bytes(), &mut buffer).ok_or_else(damaged)?;
        Ok(opened.to_vec())
    }

    async fn key(
        &self,
        subject: UserId,
    ) -> Result<std::sync::Arc<aws_lc_rs::aead::LessSafeKey>, CommandError> {
        if self.vault.get(subject).is_none() {
            let mut connection = self.backing.acquire().await?;
            self.vault.fetch((&mut connection).into(), &[subject]).await?;
        }
        match self.vault.get(subject) {
            Some(DataKey::Good(key)) => Ok(key),
            Some(DataKey::Erased) => Err(CommandError::refused(SubjectErased)),
            None => Err(CommandError::refused(NotFound("user"))),
        }
    }
}

/// Never the place of a part of an event, which begins with the name of a noun and a line break.
fn place(subject: UserId, context: &str) -> String {
    format!("bytes of {subject}: {context}")
}
