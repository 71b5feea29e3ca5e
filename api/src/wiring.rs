//! From a configuration to everything an [`App`](crate::app::App) is built of: database, clock, keys.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bursar_commands::journal::StoreError;
use bursar_commands::keys::MasterKey;
use bursar_commands::vault::{Secrets, UnlockError, unlock};
use bursar_domain::Entropy;
use bursar_domain::codec::Codec;
use bursar_domain::kernel::Sources;
use sqlx::PgPool;

use crate::app::Wiring;
use crate::config::Config;
use crate::database::{Database, DatabaseError};
use crate::sandbox;
use crate::sources::{self, BankClock};

/// The master key's file below the data directory.
const KEY_FILE: &str = "master.key";

/// Why the bank cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum WiringError {
    /// The database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A question to the database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The key file cannot be read or written.
    #[error("the master key in {path}: {source}")]
    KeyFile {
        /// Its path.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// What is there is not a key.
    #[error(
        "the master key must be 32 bytes in base64url (BURSAR_MASTER_KEY, or the file {KEY_FILE} in the data directory)"
    )]
    MalformedKey,
    /// There is none.
    #[error(
        "there is no master key: set BURSAR_MASTER_KEY, or name the data directory that holds {KEY_FILE}"
    )]
    NoKey,
    /// The database belongs to servers with another key.
    #[error(
        "this database was set up with another master key: give this server the same one (BURSAR_MASTER_KEY, or \
         {KEY_FILE} in its data directory)"
    )]
    ForeignKey,
}

impl From<UnlockError> for WiringError {
    fn from(error: UnlockError) -> Self {
        match error {
            UnlockError::Store(error) => error.into(),
            UnlockError::ForeignKey => Self::ForeignKey,
        }
    }
}

/// The parts, and the database to close at the end.
pub struct Wired {
    /// Closed last.
    pub database: Database,
    /// What [`App::build`](crate::app::App::build) takes.
    pub wiring: Wiring,
    /// The clock in it.
    pub clock: Arc<BankClock>,
}

/// Opens the database and finds the keys.
///
/// # Errors
/// [`WiringError`], each with its remedy.
pub async fn wire(config: &Config) -> Result<Wired, WiringError> {
    wire_on(config, Database::open(config).await?).await
}

/// Finds the keys of a database that is open.
///
/// # Errors
/// [`WiringError`], each with its remedy.
pub async fn wire_on(config: &Config, database: Database) -> Result<Wired, WiringError> {
    let (sources, clock) = sources::system();
    let key_file = KeyFile::of(config);
    if let Some(file) = &key_file {
        file.make(&*sources.entropy)?;
    }
    let secrets = secrets(config, &database.pool, &sources).await?;
    if config.sandbox {
        sandbox::restore(&clock, &database.pool).await?;
    }
    let wiring =
        Wiring { pool: database.pool.clone(), sources, clock: Arc::clone(&clock), secrets, devices: None };
    Ok(Wired { database, wiring, clock })
}

/// A codec that opens what the master key opens, for a process that only reads the log.
///
/// # Errors
/// [`WiringError`], each with its remedy.
pub async fn codec(config: &Config, pool: &PgPool) -> Result<Arc<Codec>, WiringError> {
    let (sources, _) = sources::system();
    Ok(secrets(config, pool, &sources).await?.vault.codec())
}

/// What the configured master key opens, or the one in the data directory.
///
/// # Errors
/// [`WiringError`], each with its remedy.
pub async fn secrets(config: &Config, pool: &PgPool, sources: &Sources) -> Result<Secrets, WiringError> {
    let key = master_key(config)?;
    match (unlock(pool, &key, sources).await, KeyFile::of(config)) {
        (Err(UnlockError::ForeignKey), Some(file)) => {
            // A rotation that was interrupted after it was written, and before the files changed places.
            let next = file.next()?.ok_or(WiringError::ForeignKey)?;
            let secrets = unlock(pool, &next, sources).await?;
            file.put_next_in_place()?;
            Ok(secrets)
        }
        (secrets, _) => Ok(secrets?),
    }
}

/// The configured key, or the one in the data directory.
///
/// # Errors
/// [`WiringError`].
pub fn master_key(config: &Config) -> Result<MasterKey, WiringError> {
    match (&config.master_key, KeyFile::of(config)) {
        (Some(key), _) => MasterKey::parse(key.expose()).map_err(|_| WiringError::MalformedKey),
        (None, Some(file)) => file.read()?.ok_or(WiringError::NoKey),
        (None, None) => Err(WiringError::NoKey),
    }
}

/// The file below the data directory that holds the master key, when it is not configured.
#[derive(Debug)]
pub struct KeyFile(PathBuf);

impl KeyFile {
    /// None when the key is configured.
    #[must_use]
    pub fn of(config: &Config) -> Option<Self> {
        config.master_key.is_none().then(|| Self(config.data_dir.join(KEY_FILE)))
    }

    /// Where the key of a rotation waits until it is the master key.
    #[must_use]
    pub fn next_path(&self) -> PathBuf {
        self.0.with_extension("key.next")
    }

    fn read(&self) -> Result<Option<MasterKey>, WiringError> {
        read_key(&self.0)
    }

    fn next(&self) -> Result<Option<MasterKey>, WiringError> {
        read_key(&self.next_path())
    }

    /// The rotation is done: from now on it is the master key, and the old one is gone.
    ///
    /// # Errors
    /// [`WiringError::KeyFile`].
    pub fn put_next_in_place(&self) -> Result<(), WiringError> {
        std::fs::rename(self.next_path(), &self.0).map_err(|source| failed(&self.0, source))
    }

    /// Draws a key on the first start.
    fn make(&self, entropy: &dyn Entropy) -> Result<(), WiringError> {
        if self.read()?.is_none() {
            write_key(&self.0, &MasterKey::draw(entropy))?;
            tracing::info!(file = %self.0.display(), "a master key was made: keep a copy, nothing opens without it");
        }
        Ok(())
    }
}

/// The key in a file; none when there is no file.
///
/// # Errors
/// [`WiringError`].
pub fn read_key(path: &Path) -> Result<Option<MasterKey>, WiringError> {
    match std::fs::read_to_string(path) {
        Ok(text) => MasterKey::parse(text.trim()).map(Some).map_err(|_| WiringError::MalformedKey),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(failed(path, source)),
    }
}

/// Writes a file that only we can read and that must not exist yet.
///
/// # Errors
/// [`WiringError::KeyFile`].
pub fn write_key(path: &Path, key: &MasterKey) -> Result<(), WiringError> {
    let write = || {
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir)?;
        }
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(key.to_text().as_bytes())?;
        file.sync_all()
    };
    write().map_err(|source| failed(path, source))
}

fn failed(path: &Path, source: std::io::Error) -> WiringError {
    WiringError::KeyFile { path: path.display().to_string(), source }
}
