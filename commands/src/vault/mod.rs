//! Personal data at rest: one key a person, wrapped by the master key.
//!
//! ```text
//!   master key (BURSAR_MASTER_KEY, or a file)
//!     |-- wraps the bank's key (settings) ----> everything in Keys: tokens, peppers, lookups
//!     '-- wraps each person's data key (data_keys)
//!            |-- seals the personal parts of events    place: stream, sequence, JSON pointer
//!            '-- seals their files                     place: whatever the caller says
//! ```
//!
//! A data key is made by the sequencer, in the commit of the first event that needs it. To erase a person is to destroy
//! it, in the commit of `user.erased`: the row stays as a tombstone, so that no other key ever takes its place. Events
//! and their hashes stay as they are; nobody can read them any more.
//!
//! The [`Vault`] holds the keys that were needed lately. It is the [`KeyRing`] of the codec that reads the log.

mod bytes;
mod rotation;
mod secrets;
mod wrapping;

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aws_lc_rs::aead::LessSafeKey;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bursar_domain::codec::{Codec, ForeignKey, KeyRing, StoredKey, Unopened, write_sealed};
use bursar_domain::kernel::UserId;
use bursar_domain::{Entropy, Rejection, RejectionKind};
use lru::LruCache;
use zeroize::Zeroizing;

use crate::journal::{Reader, StoreError};
use crate::keys::MasterKey;
pub use bytes::PersonalBytes;
pub use rotation::rotate;
pub use secrets::{Secrets, UnlockError, unlock};
use wrapping::{BANK_KEY, KEY_LEN, Wrapping, aes, decrypt, encrypt};

/// Keys remembered. More than any batch of events needs at once, a dozen megabytes.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(16_384).unwrap();

/// The data keys of a bank: those that were needed lately, and the means to open and make others.
pub struct Vault {
    wrapping: Wrapping,
    entropy: Arc<dyn Entropy>,
    ring: Mutex<LruCache<UserId, DataKey>>,
}

/// What is known of a person's key.
#[derive(Clone)]
pub(crate) enum DataKey {
    /// It opens and seals.
    Good(Arc<LessSafeKey>),
    /// It was destroyed.
    Erased,
}

/// A key that no commit has written yet.
pub(crate) struct Minted {
    pub(crate) key: Arc<LessSafeKey>,
    pub(crate) wrapped: Vec<u8>,
}

impl std::fmt::Debug for Minted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Minted")
    }
}

impl std::fmt::Debug for Vault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Vault")
    }
}

/// The person's data key is destroyed: nothing personal can be recorded of them any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this person's data were erased")]
pub struct SubjectErased;

impl Rejection for SubjectErased {
    fn code(&self) -> &'static str {
        "SUBJECT_ERASED"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Conflict
    }
}

impl Vault {
    /// A vault whose keys `master` wraps. Making it asks the store nothing: [`unlock`] makes sure that it is the right
    /// master key.
    #[must_use]
    pub fn new(master: &MasterKey, entropy: Arc<dyn Entropy>) -> Self {
        Self { wrapping: Wrapping::of(master), entropy, ring: Mutex::new(LruCache::new(REMEMBERED)) }
    }

    /// A codec that reads with these keys.
    #[must_use]
    pub fn codec(self: &Arc<Self>) -> Arc<Codec> {
        Arc::new(Codec::new(Arc::clone(self) as Arc<dyn KeyRing>))
    }

    /// What is known of the person's key; none when the store must be asked.
    pub(crate) fn get(&self, subject: UserId) -> Option<DataKey> {
        self.ring().get(&subject).cloned()
    }

    /// A new key for the person, not yet known to anybody.
    pub(crate) fn mint(&self, subject: UserId) -> Minted {
        let mut key = Zeroizing::new([0; KEY_LEN]);
        self.entropy.fill(&mut *key);
        let wrapped = self.wrapping.wrap(&purpose(subject), &key, &*self.entropy);
        Minted { key: Arc::new(aes(&key)), wrapped }
    }

    /// The key is in the store.
    pub(crate) fn keep(&self, subject: UserId, key: Arc<LessSafeKey>) {
        self.learned(subject, DataKey::Good(key));
    }

    /// Which master key wraps what is minted here.
    pub(crate) const fn wrapped_by(&self) -> &[u8; 16] {
        &self.wrapping.id
    }

    /// Writes the sealed form of a part of an event.
    pub(crate) fn seal(
        &self,
        (subject, key): (UserId, &LessSafeKey),
        place: &str,
        value: &str,
        out: &mut String,
    ) {
        let mut sealed = Vec::with_capacity(value.len() + 28);
        encrypt(key, place.as_bytes(), value.as_bytes(), &*self.entropy, &mut sealed);
        write_sealed(out, subject, |out| URL_SAFE_NO_PAD.encode_string(&sealed, out));
    }

    /// Fetches the keys of `subjects`. Answers those who have none.
    ///
    /// # Errors
    /// [`StoreError`]; `Damaged` when another master key wrapped one of them.
    pub(crate) async fn fetch(
        &self,
        reader: Reader<'_>,
        subjects: &[UserId],
    ) -> Result<Vec<UserId>, StoreError> {
        fetch(reader, subjects, |subject, stored| self.learn(subject, stored)).await
    }

    /// Whether what is minted here can be read by a server that is started now. While the head is locked, that stays so.
    ///
    /// # Errors
    /// [`StoreError`]; `Damaged` when the master key was rotated since this process started.
    pub(crate) async fn is_current(&self, reader: Reader<'_>) -> Result<(), StoreError> {
        // Memory has no settings: its vault is given to it, and nobody rotates its master key.
        let Reader::Postgres(connection) = reader else { return Ok(()) };
        let setting = sqlx::query_scalar!("SELECT value FROM settings WHERE name = $1", BANK_KEY);
        match setting.fetch_optional(connection).await? {
            Some(setting) if !setting.starts_with(&self.wrapping.id) => {
                Err(StoreError::Damaged(ForeignKey.to_string()))
            }
            _ => Ok(()),
        }
    }

    /// An erasure, once seen, is never taken back: somebody may have read the key just before it.
    fn learned(&self, subject: UserId, key: DataKey) {
        let mut ring = self.ring();
        if !matches!(ring.peek(&subject), Some(DataKey::Erased)) {
            ring.put(subject, key);
        }
    }

    fn ring(&self) -> MutexGuard<'_, LruCache<UserId, DataKey>> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the keys of `subjects` and hands each to `learn`. Answers those whom the store does not know.
pub(crate) async fn fetch(
    reader: Reader<'_>,
    subjects: &[UserId],
    learn: impl Fn(UserId, StoredKey<'_>) -> Result<(), ForeignKey>,
) -> Result<Vec<UserId>, StoreError> {
    let mut unknown = subjects.to_vec();
    let mut learn_one = |subject: UserId, wrapped: Option<&[u8]>, wrapped_by: &[u8]| {
        learn(subject, StoredKey { wrapped, wrapped_by })
            .map_err(|error| StoreError::Damaged(error.to_string()))?;
        unknown.retain(|other| *other != subject);
        Ok::<_, StoreError>(())
    };
    let connection = match reader {
        Reader::Postgres(connection) => connection,
        Reader::InMemory(session) => {
            for (subject, key) in session.data_keys(subjects).await? {
                learn_one(subject, key.wrapped.as_deref(), &key.wrapped_by)?;
            }
            return Ok(unknown);
        }
    };
    let ids: Vec<String> = subjects.iter().map(UserId::to_string).collect();
    let rows =
        sqlx::query!("SELECT subject, wrapped, wrapped_by FROM data_keys WHERE subject = ANY($1)", &ids)
            .fetch_all(connection)
            .await?;
    for row in rows {
        let Ok(subject) = row.subject.parse::<UserId>() else { continue };
        learn_one(subject, row.wrapped.as_deref(), &row.wrapped_by)?;
    }
    Ok(unknown)
}

/// What a data key is wrapped for: it is of no use in anybody else's row.
fn purpose(subject: UserId) -> String {
    format!("data key of {subject}")
}

impl KeyRing for Vault {
    fn lacks(&self, subject: UserId) -> bool {
        self.ring().get(&subject).is_none()
    }

    fn learn(&self, subject: UserId, stored: StoredKey<'_>) -> Result<(), ForeignKey> {
        let key = match stored.wrapped {
            None => DataKey::Erased,
            Some(wrapped) => {
                let key = self.wrapping.unwrap(&purpose(subject), wrapped).ok_or(ForeignKey)?;
                DataKey::Good(Arc::new(aes(&key)))
            }
        };
        self.learned(subject, key);
        Ok(())
    }

    fn erased(&self, subject: UserId) {
        self.ring().put(subject, DataKey::Erased);
    }

    fn open(&self, subject: UserId, place: &str, sealed: &str, out: &mut String) -> Result<bool, Unopened> {
        let key = match self.get(subject) {
            None => return Err(Unopened::NoKey),
            Some(DataKey::Erased) => return Ok(false),
            Some(DataKey::Good(key)) => key,
        };
        let mut sealed = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| Unopened::Forged)?;
        let value = decrypt(&key, place.as_bytes(), &mut sealed).ok_or(Unopened::Forged)?;
        out.push_str(std::str::from_utf8(value).map_err(|_| Unopened::Forged)?);
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
