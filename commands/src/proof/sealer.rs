//! Seals the log: hashes what it holds by now, signs the root, and tells the world outside.
//!
//! Off the hot path, about once a second. The tree follows from the log, so servers need not agree on who seals: whoever
//! comes second has written the same. What is sealed is never looked at again; whoever changes an event afterwards has
//! the tree against them, and whoever changes the tree, the checkpoints outside.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bursar_domain::{Clock, Position};
use jiff_sqlx::ToSqlx as _;
use reqwest::redirect::Policy;
use sqlx::PgPool;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::merkle::leaf_hash;
use super::note::Signer;
use super::position;
use super::tiles::Edge;
use crate::journal::StoreError;
use crate::journal::lines::lines;

/// Events that one checkpoint adds, at most.
const BATCH: i64 = 16_384;
/// Events read at once.
const PAGE: i64 = 2_048;
/// How long a checkpoint's address gets to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Where checkpoints go besides the database, so that nobody who owns it can take them back.
#[derive(Debug, Clone, Default)]
pub struct Outside {
    /// A file that each is appended to.
    pub file: Option<PathBuf>,
    /// An address that the newest is posted to, as `text/plain`.
    pub url: Option<String>,
}

/// There can be no HTTP client.
#[derive(Debug, thiserror::Error)]
#[error("checkpoints cannot be posted: {0}")]
pub struct NoClient(#[from] reqwest::Error);

/// Seals the log.
pub struct Sealer {
    pool: PgPool,
    signer: Arc<Signer>,
    clock: Arc<dyn Clock>,
    outside: Outside,
    client: reqwest::Client,
}

impl Sealer {
    /// A sealer of the log that `pool` reads.
    ///
    /// # Errors
    /// [`NoClient`].
    pub fn new(
        pool: PgPool,
        signer: Arc<Signer>,
        clock: Arc<dyn Clock>,
        outside: Outside,
    ) -> Result<Self, NoClient> {
        let client = reqwest::Client::builder().timeout(PATIENCE).redirect(Policy::none()).build()?;
        Ok(Self { pool, signer, clock, outside, client })
    }

    /// Seals what is in the log, `every` so often while it grows, and a last time when it is told to stop.
    #[must_use]
    pub fn start(
        self,
        mut head: watch::Receiver<Position>,
        every: Duration,
        mut stop: watch::Receiver<bool>,
    ) -> JoinHandle<()> {
        tokio::spawn(async move {
            loop {
                if let Err(error) = self.seal().await {
                    metrics::counter!("bursar_seal_failures_total").increment(1);
                    tracing::warn!(%error, "the log cannot be sealed; trying again");
                }
                if *stop.borrow() {
                    break;
                }
                tokio::select! {
                    () = async {
                        tokio::time::sleep(every).await;
                        // Ends only with the journal, which is stopped after us.
                        let _ = head.changed().await;
                    } => {}
                    _ = stop.wait_for(|stop| *stop) => {}
                }
            }
        })
    }

    /// Seals everything that is in the log now. Answers how many events are sealed.
    ///
    /// # Errors
    /// [`StoreError`], also when the tree or the log is not what was written.
    pub async fn seal(&self) -> Result<u64, StoreError> {
        let (mut size, mut root) = match super::checkpoints(&self.pool, 0, 1).await?.pop() {
            Some(newest) => (newest.size.unsigned_abs(), Some(newest.root)),
            None => (0, None),
        };
        loop {
            let mut edge = Edge::read(&self.pool, size).await?;
            // Whoever changed the tree gets no signature for it.
            if root.is_some_and(|root| root != edge.root()) {
                let what = format!("the tree of {size} events has not the root that was signed");
                return Err(StoreError::Damaged(what));
            }
            let mut after = position(size);
            while after < position(size) + BATCH {
                let page = lines(&self.pool, after, PAGE).await?;
                for (position, line) in &page {
                    if *position != after + 1 {
                        return Err(StoreError::Damaged(format!("position {} is not in the log", after + 1)));
                    }
                    edge.push(leaf_hash(line));
                    after = *position;
                }
                if page.is_empty() {
                    break;
                }
            }
            if edge.size() == size {
                return Ok(size);
            }
            (size, root) = (edge.size(), Some(edge.root()));
            self.write(edge).await?;
        }
    }

    /// Signs the tree and writes what is new of it.
    async fn write(&self, edge: Edge) -> Result<(), StoreError> {
        let (size, root) = (edge.size(), edge.root());
        let note = self.signer.sign(size, root);
        let (levels, indices, hashes) = edge.changed();
        let added = sqlx::query_scalar!(
            r#"WITH laid AS (
                   INSERT INTO tiles (level, index, hashes)
                   SELECT * FROM UNNEST($1::smallint[], $2::bigint[], $3::bytea[])
                       ON CONFLICT (level, index) DO UPDATE SET hashes = excluded.hashes
                                    WHERE octet_length(excluded.hashes) > octet_length(tiles.hashes)
               ), signed AS (
                   INSERT INTO seals (size, root, sealed_at, note) VALUES ($4, $5, $6, $7)
                       ON CONFLICT (size) DO NOTHING RETURNING size
               )
               SELECT count(*) AS "added!" FROM signed"#,
            &levels,
            &indices,
            &hashes,
            position(size),
            root.as_slice(),
            self.clock.now().to_sqlx() as _,
            &note,
        )
        .fetch_one(&self.pool)
        .await?;
        if added > 0 {
            self.tell(note).await;
        }
        Ok(())
    }

    /// Tells the world outside. A checkpoint that does not get there is followed by others that say as much.
    async fn tell(&self, note: String) {
        if let Some(path) = self.outside.file.clone() {
            let text = format!("{note}\n");
            let written = tokio::task::spawn_blocking(move || {
                if let Some(dir) = path.parent() {
                    std::fs::create_dir_all(dir)?;
                }
                let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path)?;
                file.write_all(text.as_bytes())?;
                file.sync_data()
            });
            if !matches!(written.await, Ok(Ok(()))) {
                tracing::error!("a checkpoint cannot be written to its file");
            }
        }
        if let Some(url) = &self.outside.url {
            let request = self.client.post(url).header("content-type", "text/plain; charset=utf-8");
            let answer = request.body(note).send().await;
            if let Err(error) = answer.and_then(reqwest::Response::error_for_status) {
                let error = error.without_url();
                tracing::error!(%error, "a checkpoint cannot be posted");
            }
        }
    }
}
