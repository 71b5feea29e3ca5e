//! From the master key to everything it opens.

use std::sync::Arc;

use bursar_domain::kernel::Sources;
use sqlx::PgPool;
use zeroize::Zeroizing;

use super::Vault;
use super::wrapping::{BANK_KEY, KEY_LEN, Wrapping};
use crate::journal::StoreError;
use crate::keys::{Keys, MasterKey};

/// What the master key of a bank opens.
pub struct Secrets {
    /// Tokens, peppers, lookups: derived from the bank's key, which a change of the master key leaves as it is.
    pub keys: Arc<Keys>,
    /// Personal data.
    pub vault: Arc<Vault>,
}

/// Why a bank stays locked.
#[derive(Debug, thiserror::Error)]
pub enum UnlockError {
    /// A question to the store.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The bank's key is wrapped by another master key.
    #[error("another master key")]
    ForeignKey,
}

impl From<sqlx::Error> for UnlockError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}

/// Opens the bank's key with `master`. The first to ask makes it.
///
/// # Errors
/// [`UnlockError`].
pub async fn unlock(pool: &PgPool, master: &MasterKey, sources: &Sources) -> Result<Secrets, UnlockError> {
    let wrapping = Wrapping::of(master);
    let mut fresh = Zeroizing::new([0; KEY_LEN]);
    sources.entropy.fill(&mut *fresh);
    let wrapped = wrapping.wrap_bank_key(&fresh, &*sources.entropy);
    sqlx::query!(
        "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
        BANK_KEY,
        wrapped
    )
    .execute(pool)
    .await?;
    let wrapped =
        sqlx::query_scalar!("SELECT value FROM settings WHERE name = $1", BANK_KEY).fetch_one(pool).await?;
    let bank_key = wrapping.unwrap_bank_key(&wrapped).ok_or(UnlockError::ForeignKey)?;
    let vault = Arc::new(Vault::new(master, Arc::clone(&sources.entropy)));
    Ok(Secrets { keys: Arc::new(Keys::derive(&bank_key)), vault })
}
