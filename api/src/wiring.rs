//! From a configuration to everything an [`App`](crate::app::App) is built of: database, clock, keys.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;

use bursar_commands::certificates::NoDevices;
use bursar_commands::journal::{StoreError, agree};
use bursar_commands::keys::{Keys, MasterKey};
use bursar_domain::Entropy;
use bursar_domain::codec::Codec;

use crate::app::{Devices, Wiring};
use crate::auth::proof::{NoAuthority, TrustAnchor};
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
    /// The authority that signs devices cannot be read.
    #[error("auth.device_authority, {path}: {reason}")]
    Authority {
        /// Its path.
        path: String,
        /// Why not.
        reason: String,
    },
    /// What is there is not a key.
    #[error(
        "the master key must be 32 bytes in base64url (auth.master_key, or the file {KEY_FILE} in the data directory)"
    )]
    MalformedKey,
    /// The database belongs to servers with another key.
    #[error(
        "this database was set up with another master key: give this server the same one (BURSAR_AUTH_MASTER_KEY, or \
         {KEY_FILE} in its data directory)"
    )]
    ForeignKey,
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
    let master_key = master_key(config, &*sources.entropy)?;
    // Tokens, e-mail claims and idempotency keys of one server must mean the same to the next.
    if !agree(&database.pool, "master_key_check", &Keys::derive(&master_key).check_value()).await? {
        return Err(WiringError::ForeignKey);
    }
    if config.sandbox {
        sandbox::restore(&clock, &database.pool).await?;
    }
    let wiring = Wiring {
        pool: database.pool.clone(),
        sources,
        clock: Arc::clone(&clock),
        master_key,
        codec: Arc::new(Codec::default()),
        devices: Devices { certificates: Arc::new(NoDevices), anchor: authority(config)? },
    };
    Ok(Wired { database, wiring, clock })
}

/// The authority that signs devices, if one is configured.
fn authority(config: &Config) -> Result<Option<TrustAnchor>, WiringError> {
    let Some(path) = &config.auth.device_authority else { return Ok(None) };
    let failed = |reason: String| WiringError::Authority { path: path.display().to_string(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    TrustAnchor::parse(&text).map(Some).map_err(|error: NoAuthority| failed(error.to_string()))
}

/// The configured key, or the one in the data directory, which is made on the first start.
fn master_key(config: &Config, entropy: &dyn Entropy) -> Result<MasterKey, WiringError> {
    if let Some(key) = &config.auth.master_key {
        return MasterKey::parse(key.expose()).map_err(|_| WiringError::MalformedKey);
    }
    let path = config.data_dir.join(KEY_FILE);
    let failed = |source| WiringError::KeyFile { path: path.display().to_string(), source };
    match std::fs::read_to_string(&path) {
        Ok(text) => MasterKey::parse(text.trim()).map_err(|_| WiringError::MalformedKey),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
            let key = MasterKey::draw(entropy);
            write_new(&path, key.to_text().as_bytes()).map_err(failed)?;
            tracing::info!(file = %path.display(), "a master key was made: keep a copy, nothing opens without it");
            Ok(key)
        }
        Err(source) => Err(failed(source)),
    }
}

/// Writes a file that only we can read and that must not exist yet.
fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
