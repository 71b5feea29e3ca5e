//! The way to the Postgres that holds the bank: named, embedded, or embedded and already running.

use std::path::Path;
use std::time::Duration;

use bursar_commands::reference;
use bursar_projections::analysts;
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, Executor, PgConnection};

use crate::config::Config;
use crate::postgres::{Durability, EmbeddedPostgres, Options, PostgresError, refuse_unsafe};

/// The schema of the one journal there is today.
const JOURNAL: &str = "journal";
/// The schema of the datasets that ship with the bank.
const REFERENCE: &str = "reference";
/// The schema of the read models.
const READ: &str = "read";
/// What an unqualified table name means on every connection of ours.
const SEARCH_PATH: &str = "journal,read,reference";
/// The database an embedded Postgres holds the bank in.
const BANK: &str = "bursar";

/// Why the bank's database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The embedded server, or what a server must promise.
    #[error(transparent)]
    Postgres(#[from] PostgresError),
    /// The address, or the way to it.
    #[error("the database cannot be reached: {0}")]
    Unreachable(#[from] sqlx::Error),
    /// Nothing to look at, and not the place to make it.
    #[error("there is no bank in {0}")]
    NoBank(String),
    /// A migration failed; those before it are in place, and the next start goes on with it.
    #[error("the database cannot be brought to this version: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// A dataset could not be put into its table; the one before is still in it.
    #[error("the reference data cannot be loaded: {0}")]
    Reference(#[source] sqlx::Error),
}

/// A pool, and the server behind it when it is ours.
#[derive(Debug)]
pub struct Database {
    /// Connections that know the bank's schemas.
    pub pool: PgPool,
    /// Stopped when this value is dropped.
    embedded: Option<EmbeddedPostgres>,
    /// Embedded, whether it is ours or another process'.
    private: bool,
}

impl Database {
    /// Opens the database named in the configuration, or the embedded one (joining it when another process of ours
    /// runs it), refuses a server that may lose what it acknowledged, and brings the schemas to this version.
    ///
    /// # Errors
    /// [`DatabaseError`], each with its remedy.
    pub async fn open(config: &Config) -> Result<Self, DatabaseError> {
        let (url, embedded) = match &config.database.url {
            Some(url) => (url.expose().to_owned(), None),
            None => private(&config.data_dir)?,
        };
        let options: PgConnectOptions = url.parse()?;
        let mut connection = options.connect().await?;
        refuse_unsafe(&mut connection, Durability::Required).await?;
        connection.close().await?;
        migrate(&options).await?;
        let patience = Duration::from_secs(config.database.acquire_seconds);
        let pool = pool(options, config.database.connections, patience);
        Ok(Self { pool, embedded, private: config.database.url.is_none() })
    }

    /// As [`open`](Self::open), for commands that look at a bank: where there is none, none is made.
    ///
    /// # Errors
    /// [`DatabaseError::NoBank`].
    pub async fn open_existing(config: &Config) -> Result<Self, DatabaseError> {
        match &config.database.url {
            None if !config.data_dir.join("postgres").exists() => {
                Err(DatabaseError::NoBank(config.data_dir.display().to_string()))
            }
            None => Self::open(config).await,
            Some(url) => {
                let mut connection = url.expose().parse::<PgConnectOptions>()?.connect().await?;
                let journal = format!("SELECT to_regclass('{JOURNAL}.head') IS NOT NULL");
                let exists: bool = sqlx::query_scalar(&journal).fetch_one(&mut connection).await?;
                connection.close().await?;
                if exists {
                    Self::open(config).await
                } else {
                    Err(DatabaseError::NoBank("the database".to_owned()))
                }
            }
        }
    }

    /// Where the bank lives, for people.
    #[must_use]
    pub fn whereabouts(&self) -> String {
        let options = self.pool.connect_options();
        let place = options.get_socket().map_or_else(
            || format!("{}:{}", options.get_host(), options.get_port()),
            |socket| socket.display().to_string(),
        );
        let kind = if self.private { "embedded Postgres" } else { "Postgres" };
        format!("{kind} at {place}, database {}", options.get_database().unwrap_or(BANK))
    }

    /// Ends all connections, then the server if it is ours.
    pub async fn close(self) {
        self.pool.close().await;
        drop(self.embedded);
    }
}

fn private(data_dir: &Path) -> Result<(String, Option<EmbeddedPostgres>), DatabaseError> {
    if let Some(url) = EmbeddedPostgres::attach(data_dir, BANK) {
        return Ok((url, None));
    }
    let server = EmbeddedPostgres::start(Options::new(data_dir))?;
    Ok((server.url(BANK), Some(server)))
}

/// A pool whose connections know the bank's schemas.
///
/// No transaction may begin on one of them: a future that is dropped inside `begin` gives its connection back with the
/// transaction open, which sqlx 0.8.6 does not notice. Whoever needs one detaches the connection, and it ends with them.
#[must_use]
pub fn pool(options: PgConnectOptions, connections: u32, patience: Duration) -> PgPool {
    let options = options
        .options([("search_path", SEARCH_PATH), ("idle_in_transaction_session_timeout", "60s")])
        .log_slow_statements(log_level(), Duration::from_secs(1));
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(patience)
        // A ping before each use costs a round trip; a dead connection shows soon enough, and is replaced.
        .test_before_acquire(false)
        .connect_lazy_with(options)
}

const fn log_level() -> tracing::log::LevelFilter {
    tracing::log::LevelFilter::Warn
}

/// Each schema and how it is made.
fn schemas() -> [(&'static str, Migrator); 3] {
    [
        (JOURNAL, sqlx::migrate!("../migrations/journal")),
        (REFERENCE, sqlx::migrate!("../migrations/reference")),
        (READ, sqlx::migrate!("../migrations/read")),
    ]
}

/// A text that changes when any migration does: the name of a template database.
#[must_use]
pub fn version() -> String {
    let migrations = schemas().map(|(_, migrator)| migrator.migrations).into_iter();
    migrations.flat_map(|set| set.iter().map(|m| format!("{:?}", m.checksum)).collect::<Vec<_>>()).collect()
}

/// Brings every schema, and the datasets, to this version. Several processes may try at once; one does it, the others wait.
///
/// # Errors
/// [`DatabaseError`].
pub async fn migrate(options: &PgConnectOptions) -> Result<(), DatabaseError> {
    for (schema, migrations) in schemas() {
        let mut connection: PgConnection =
            options.clone().options([("search_path", schema)]).connect().await?;
        // Two servers starting at once: CREATE SCHEMA IF NOT EXISTS alone may still collide.
        connection.execute("SELECT pg_advisory_lock(hashtext('bursar.migrate'))").await?;
        connection.execute(format!("CREATE SCHEMA IF NOT EXISTS {schema}").as_str()).await?;
        migrations.run(&mut connection).await?;
        if schema == REFERENCE {
            reference::load(&mut connection).await.map_err(DatabaseError::Reference)?;
        }
        if schema == READ {
            analysts::renew_grants(&mut connection).await?;
        }
        connection.close().await?;
    }
    Ok(())
}
