//! The runner: keeps every read model up with the log.
//!
//! One process per database runs it, whoever holds the session's advisory lock; the others watch the
//! checkpoints, so that their readers know how far the models are, and take over when the holder dies.

mod checkpoints;
mod fold;
mod leader;
mod retry;

use std::sync::Arc;
use std::time::Duration;

use bursar_domain::Position;
use bursar_domain::codec::Codec;
use sqlx::{Connection, PgConnection, PgPool};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

pub(crate) use checkpoints::{Checkpoint, Lock, read, register, try_lock, unlock, unlock_one};
pub(crate) use fold::fold;
pub use retry::{Retried, retry};

use crate::catalogue::catalogue;
use crate::freshness::{Freshness, ModelState, ModelStatus};
use leader::Leader;

/// How often the checkpoints are looked at by a process that does not run the models.
const WATCH: Duration = Duration::from_millis(50);
/// Waits after a database error: from here, doubling, to the longest.
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(5);
/// A batch that is being written when the process stops has this long to finish.
const LAST_BATCH: Duration = Duration::from_secs(10);

/// The running read models.
#[derive(Debug)]
pub struct Projections {
    freshness: Freshness,
    head: watch::Receiver<Position>,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Projections {
    /// Starts to keep all read models up with the log. `head` is the journal's; when it is silent, the log is
    /// looked at once a second all the same.
    #[must_use]
    pub fn start(pool: PgPool, codec: Arc<Codec>, head: watch::Receiver<Position>) -> Self {
        let (published, applied) = watch::channel(Arc::from(vec![Checkpoint::default(); catalogue().len()]));
        let (stop, stopped) = watch::channel(false);
        let hurry = Arc::new(Notify::new());
        let runner =
            Runner { pool, codec, head: head.clone(), published, stopped, hurry: Arc::clone(&hurry) };
        Self { freshness: Freshness { applied, hurry }, head, stop, task: tokio::spawn(runner.run()) }
    }

    /// For readers who wait for their own writes.
    #[must_use]
    pub fn freshness(&self) -> Freshness {
        self.freshness.clone()
    }

    /// How far each model is, in the order of the catalogue.
    #[must_use]
    pub fn status(&self) -> Vec<ModelStatus> {
        status(&self.freshness.applied.borrow(), *self.head.borrow())
    }

    /// Finishes the batch at hand and stops.
    pub async fn stop(mut self) {
        self.stop.send_replace(true);
        if timeout(LAST_BATCH, &mut self.task).await.is_err() {
            tracing::warn!("the last batch of the projections did not finish in time");
            self.task.abort();
        }
    }
}

/// How far each model is, asked of the database: for a process that runs no projections.
///
/// # Errors
/// When the database cannot be read.
pub async fn read_status(pool: &PgPool) -> sqlx::Result<Vec<ModelStatus>> {
    let mut db = pool.acquire().await?;
    let head = crate::log::head(&mut db).await?;
    Ok(status(&read(&mut db).await?, head))
}

fn status(applied: &[Checkpoint], head: Position) -> Vec<ModelStatus> {
    let of = |name, at: &Checkpoint| ModelStatus {
        name,
        position: at.position,
        // The models may have heard of the latest event before the caller has.
        head: head.max(at.position),
        lag: (head - at.position).max(0),
        state: match &at.poison {
            None => ModelState::Following,
            Some((position, reason)) => ModelState::Parked { position: *position, reason: reason.clone() },
        },
        parked: at.parked.clone(),
    };
    catalogue().iter().zip(applied).map(|(entry, at)| of(entry.name, at)).collect()
}

/// The right to write the tables of the read models: while it is held, no server does.
#[derive(Debug)]
pub struct Held(PgConnection);

impl Held {
    /// Takes it, unless a server is up and has it.
    ///
    /// # Errors
    /// When the database cannot be asked.
    pub async fn take(pool: &PgPool) -> sqlx::Result<Option<Self>> {
        let mut db = own_connection(pool).await?;
        Ok(try_lock(&mut db, Lock::Run, "").await?.then_some(Self(db)))
    }

    /// Gives it back.
    ///
    /// # Errors
    /// When the database cannot be told; the connection is closed all the same, and the right goes with it.
    pub async fn release(mut self) -> sqlx::Result<()> {
        unlock(&mut self.0).await?;
        self.0.close().await
    }
}

struct Runner {
    pool: PgPool,
    codec: Arc<Codec>,
    head: watch::Receiver<Position>,
    published: watch::Sender<Arc<[Checkpoint]>>,
    stopped: watch::Receiver<bool>,
    hurry: Arc<Notify>,
}

impl Runner {
    /// Runs until stopped; a database that is away only delays it.
    async fn run(mut self) {
        let mut retry = FIRST_RETRY;
        while let Err(e) = self.session(&mut retry).await {
            tracing::error!(error = %e, ?retry, "projections lost the database, trying again");
            let mut stopped = self.stopped.clone();
            tokio::select! {
                () = sleep(retry) => {}
                _ = stopped.wait_for(|stopped| *stopped) => return,
            }
            retry = (retry * 2).min(LONGEST_RETRY);
        }
    }

    /// One connection's life. The lock and all writing are on the same session: whoever lost the lock with
    /// his session cannot write any more.
    async fn session(&mut self, retry: &mut Duration) -> sqlx::Result<()> {
        let mut db = own_connection(&self.pool).await?;
        register(&mut db).await?;
        let mut stopped = self.stopped.clone();
        while !*stopped.borrow() {
            *retry = FIRST_RETRY;
            if try_lock(&mut db, Lock::Run, "").await? {
                Leader::new(self, &mut db).await?.lead(&mut db).await?;
                continue;
            }
            self.published.send_replace(read(&mut db).await?.into());
            tokio::select! {
                () = sleep(WATCH) => {}
                _ = stopped.wait_for(|stopped| *stopped) => {}
            }
        }
        unlock(&mut db).await?;
        db.close().await
    }
}

/// A connection of our own, with the pool's settings.
///
/// Commits on it do not wait for the disk: everything here can be derived from the log, and the checkpoint
/// is in the same transaction as the rows it speaks of. After a crash of Postgres both are a moment older.
pub(crate) async fn own_connection(pool: &PgPool) -> sqlx::Result<PgConnection> {
    let mut db = pool.acquire().await?.detach();
    sqlx::query("SET synchronous_commit = off").execute(&mut db).await?;
    Ok(db)
}
