//! A database of one's own.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bursar_domain::codec::Codec;
use bursar_domain::{Position, Recorded};
use jiff_sqlx::ToSqlx;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, Executor, PgConnection, PgPool};
use tokio::sync::watch;

use super::Bank;
use super::bank::Fixed;
use crate::{Log, Projections};

const DEVELOPERS: &str = "postgres://postgres@localhost/postgres?host=/tmp/devpg";

/// A migrated, empty bank.
pub(crate) struct Scratch {
    pub(crate) pool: PgPool,
    pub(crate) codec: Arc<Codec>,
    head: watch::Sender<Position>,
    server: PgConnectOptions,
    name: String,
}

impl Scratch {
    /// `None`, and a word about it, when there is no server.
    pub(crate) async fn new() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let url = std::env::var("TEST_DATABASE_URL").unwrap_or_else(|_| DEVELOPERS.to_owned());
        let server: PgConnectOptions = url.parse().unwrap();
        let Ok(mut db) = PgConnection::connect_with(&server).await else {
            eprintln!("skipped: no Postgres server at {url}; set TEST_DATABASE_URL");
            return None;
        };
        let name = format!("bursar_proj_{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        db.execute(format!("CREATE DATABASE {name}").as_str()).await.unwrap();
        let options = server.clone().database(&name).options([("search_path", "journal,read,reference")]);
        let pool = PgPoolOptions::new().max_connections(10).connect_with(options).await.unwrap();
        for schema in ["journal", "reference", "read"] {
            migrate(&pool, schema).await;
        }
        Some(Self { pool, codec: Arc::default(), head: watch::Sender::new(0), server, name })
    }

    /// For rebuilds and checks.
    pub(crate) fn log(&self) -> Log<'_> {
        Log { pool: &self.pool, codec: &self.codec, clock: &Fixed(0) }
    }

    /// Starts the runner.
    pub(crate) fn start(&self) -> Projections {
        Projections::start(self.pool.clone(), Arc::clone(&self.codec), self.head.subscribe())
    }

    /// Puts events into the log, as the journal would, and tells the runner.
    pub(crate) async fn append(&self, events: &[Recorded]) {
        append(&self.pool, &self.codec, events).await;
        self.head.send_replace(events.last().map_or(0, |event| event.position));
    }

    /// Writes the ledger's accounts as the journal would.
    pub(crate) async fn write_ledger(&self, bank: &Bank) {
        for (number, account) in bank.ledger() {
            let sql = "INSERT INTO ledger_accounts (account, owner, currency, status, balance, holds, overdraft_limit,
                           minimum_balance, monthly_limit, spent_today, spent_this_month, last_posted_at)
                       VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $8, 0, 0, $9)";
            let query =
                sqlx::query(sql).bind(number.as_str()).bind(account.owner.map(|owner| owner.to_string()));
            let query =
                query.bind(account.currency.as_str()).bind(account.status.as_str()).bind(account.balance);
            let query =
                query.bind(account.overdraft_limit).bind(account.minimum_balance).bind(account.monthly_limit);
            query.bind(account.last_posted_at.map(ToSqlx::to_sqlx)).execute(&self.pool).await.unwrap();
        }
    }

    /// One value.
    pub(crate) async fn value<T>(&self, sql: &str) -> T
    where
        T: for<'r> sqlx::Decode<'r, sqlx::Postgres> + sqlx::Type<sqlx::Postgres> + Send + Unpin,
    {
        sqlx::query_scalar(sql).fetch_one(&self.pool).await.unwrap()
    }

    pub(crate) async fn execute(&self, sql: &str) {
        self.pool.execute(sql).await.unwrap();
    }

    /// Drops the database. A test that fails leaves it behind, for looking at.
    pub(crate) async fn drop(self) {
        self.pool.close().await;
        let mut db = PgConnection::connect_with(&self.server).await.unwrap();
        db.execute(format!("DROP DATABASE {} WITH (FORCE)", self.name).as_str()).await.unwrap();
    }
}

async fn migrate(pool: &PgPool, schema: &str) {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../migrations").join(schema);
    let mut files: Vec<_> =
        std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Datasets lie beside the migrations of their tables.
    files.retain(|file| file.extension().is_some_and(|extension| extension == "sql"));
    files.sort();
    let mut own = pool.acquire().await.unwrap().detach();
    let mut tx = own.begin().await.unwrap();
    let begin = format!("CREATE SCHEMA {schema}; SET LOCAL search_path = {schema}");
    sqlx::raw_sql(&begin).execute(&mut *tx).await.unwrap();
    for file in files {
        sqlx::raw_sql(&std::fs::read_to_string(file).unwrap()).execute(&mut *tx).await.unwrap();
    }
    tx.commit().await.unwrap();
}

/// Puts events into the log, and moves the head.
pub(crate) async fn append(pool: &PgPool, codec: &Codec, events: &[Recorded]) {
    let text = |of: &dyn Fn(&Recorded) -> String| events.iter().map(of).collect::<Vec<String>>();
    let sql = "WITH appended AS (
                   INSERT INTO events (position, sequence, recorded_at, aggregate_type, aggregate_id, event_type,
                                       event_version, payload, metadata)
                   SELECT p, s, r, t, i, e, v, d::json, m::json
                   FROM UNNEST($1::bigint[], $2::bigint[], $3::timestamptz[], $4::text[], $5::text[], $6::text[],
                               $7::text[], $8::text[], $9::text[]) AS n (p, s, r, t, i, e, v, d, m))
               UPDATE head SET position = $10, recorded_at = $11";
    let last = events.last().unwrap();
    sqlx::query(sql)
        .bind(events.iter().map(|event| event.position).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.sequence).collect::<Vec<_>>())
        .bind(events.iter().map(|event| event.recorded_at.to_sqlx()).collect::<Vec<_>>())
        .bind(text(&|event| event.stream.kind.to_string()))
        .bind(text(&|event| event.stream.id.to_string()))
        .bind(text(&|event| event.event.name().to_owned()))
        .bind(text(&|event| event.event.version().to_owned()))
        .bind(text(&|event| codec.encode(&event.stream, event.sequence, &event.event).unwrap()))
        .bind(text(&|event| serde_json::to_string(&event.metadata).unwrap()))
        .bind(last.position)
        .bind(last.recorded_at.to_sqlx())
        .execute(pool)
        .await
        .unwrap();
}
