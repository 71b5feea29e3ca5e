//! The database a benchmark runs in: new, and gone afterwards.

use std::path::PathBuf;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool};
use sqlx::{ConnectOptions, Connection, Executor, PgConnection};

use super::Error;
use crate::config::Config;
use crate::database;
use crate::postgres::{Durability, EmbeddedPostgres, Options, refuse_unsafe};

/// The benchmark's database on a named server, and pgbench's.
pub(super) const DATABASE: &str = "bursar_bench";
pub(super) const PGBENCH: &str = "bursar_bench_pgbench";

/// A Postgres with an empty database for us.
pub(super) struct Server {
    admin: PgConnectOptions,
    embedded: Option<(EmbeddedPostgres, PathBuf)>,
}

impl Server {
    /// The server named in the configuration, or an embedded one beside the bank's own; as durable as a bank's.
    pub(super) async fn start(config: &Config) -> Result<Self, Error> {
        let (admin, embedded) = if let Some(url) = &config.database.url {
            (url.expose().parse::<PgConnectOptions>()?, None)
        } else {
            let dir = config.data_dir.join("bench");
            let server = EmbeddedPostgres::start(Options::new(&dir))?;
            (server.url("postgres").parse()?, Some((server, dir)))
        };
        let mut connection = admin.connect().await?;
        refuse_unsafe(&mut connection, Durability::Required).await?;
        if embedded.is_some() {
            age(&mut connection).await?;
        }
        for name in [DATABASE, PGBENCH] {
            drop_database(&mut connection, name).await?;
            connection.execute(format!("CREATE DATABASE {name}").as_str()).await?;
        }
        connection.close().await?;
        let server = Self { admin, embedded };
        database::migrate(&server.options()).await?;
        Ok(server)
    }

    /// The way to the benchmark's database.
    pub(super) fn options(&self) -> PgConnectOptions {
        self.admin.clone().database(DATABASE)
    }

    /// A pool on the benchmark's database.
    pub(super) fn pool(&self) -> PgPool {
        database::pool(self.options(), 16, Duration::from_secs(5))
    }

    /// What it is, for the head of the report.
    pub(super) async fn description(&self) -> Result<String, Error> {
        let mut connection = self.admin.connect().await?;
        let version: String = sqlx::query_scalar("SHOW server_version").fetch_one(&mut connection).await?;
        Ok(format!("Postgres {version}, fsync on, synchronous_commit on"))
    }

    /// Drops what was made.
    pub(super) async fn stop(self) -> Result<(), Error> {
        if let Some((server, dir)) = self.embedded {
            server.stop();
            std::fs::remove_dir_all(dir)?;
            return Ok(());
        }
        let mut connection = self.admin.connect().await?;
        for name in [DATABASE, PGBENCH] {
            drop_database(&mut connection, name).await?;
        }
        Ok(connection.close().await?)
    }
}

/// A server that has run for a while writes over log files it had before; a new one makes each while a commit waits.
/// What is measured, pgbench included, is the former.
async fn age(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    // The gigabyte that `min_wal_size` keeps.
    let fill = "SELECT count(pg_logical_emit_message(false, 'bench', repeat('x', 1048576))) FROM generate_series(1, 1024)";
    connection.execute(fill).await?;
    connection.execute("CHECKPOINT").await.map(|_| ())
}

async fn drop_database(connection: &mut PgConnection, name: &str) -> Result<(), sqlx::Error> {
    connection.execute(format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)").as_str()).await.map(|_| ())
}
