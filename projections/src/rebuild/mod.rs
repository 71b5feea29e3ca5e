//! Building read models anew beside the live tables, comparing, and swapping, while the bank goes on.
//!
//! The tables are built in a schema of their own (`read_next`) under their own names: with that schema on the
//! `search_path`, the very statements of the live runner fill it, and a swap moves tables with their indexes and
//! constraints, names and all.
//!
//! ```text
//!   1  fold the log up to the live checkpoints          bulk, no secondary work, reading and writing overlap
//!   2  compare with the live tables in one snapshot     both sides at the same position
//!   3  rebuild only: follow to the head, build the indexes
//!   4  rebuild only: lock the checkpoints, fold the last events, swap    one short transaction
//! ```

mod diff;
mod pass;
mod shadow;

use std::sync::Arc;
use std::time::Duration;

use bursar_domain::Position;
use bursar_domain::codec::Codec;
use sqlx::{Connection, PgConnection, PgPool};

pub use diff::Diff;

use crate::catalogue::{Entry, catalogue};
use crate::read_model::Poison;
use crate::runner::{Checkpoint, Lock, own_connection, register, try_lock, unlock};
use pass::Pass;
use shadow::Shadow;

/// Events left to fold when the checkpoints are locked; a fraction of a second of work.
const NEAR: i64 = 2_000;
/// Tries to lock the live tables, which an analyst's long query may be reading, and the pause between them.
const SWAP_TRIES: u32 = 60;
const SWAP_PAUSE: Duration = Duration::from_millis(500);

/// Told how a rebuild or check is getting on.
pub trait Progress: Send + Sync {
    /// `done` of `total` events of the log are folded. Both only grow.
    fn advanced(&self, done: i64, total: i64);
}

/// Nobody is told.
impl Progress for () {
    fn advanced(&self, _: i64, _: i64) {}
}

/// What came of one read model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Its name.
    pub model: &'static str,
    /// The position at which live and rebuilt tables were compared.
    pub position: Position,
    /// How many rows differ.
    pub differing: i64,
    /// The first of them, in the order of the log.
    pub diffs: Vec<Diff>,
}

/// Why a rebuild or check was given up. The live tables are as they were.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// No read model has that name.
    #[error("there is no read model {0:?}")]
    UnknownModel(String),
    /// One at a time: they share the schema the tables are built in.
    #[error("another rebuild or check is running on this database")]
    AlreadyRunning,
    /// An event that the read model cannot take.
    #[error("{model} cannot take the event at position {position}: {reason}")]
    Poison {
        /// The read model.
        model: &'static str,
        /// The event.
        position: Position,
        /// Why not.
        reason: String,
    },
    /// Somebody reads the live tables all the time.
    #[error("the live tables are in use and could not be swapped; try again later")]
    InUse,
    /// The database cannot be read or written.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}

/// Rebuilds the named read models and swaps them in. The report says what was wrong before.
///
/// # Errors
/// [`RebuildError`].
pub async fn rebuild(
    pool: &PgPool,
    codec: &Arc<Codec>,
    names: &[&str],
    progress: &dyn Progress,
) -> Result<Vec<Report>, RebuildError> {
    run(pool, codec, names, progress, true).await
}

/// Compares the named read models with what the log says, and changes nothing.
///
/// # Errors
/// [`RebuildError`].
pub async fn verify(
    pool: &PgPool,
    codec: &Arc<Codec>,
    names: &[&str],
    progress: &dyn Progress,
) -> Result<Vec<Report>, RebuildError> {
    run(pool, codec, names, progress, false).await
}

async fn run(
    pool: &PgPool,
    codec: &Arc<Codec>,
    names: &[&str],
    progress: &dyn Progress,
    swap: bool,
) -> Result<Vec<Report>, RebuildError> {
    let entries = names.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
    let mut db = own_connection(pool).await?;
    register(&mut db).await?;
    if !try_lock(&mut db, Lock::Rebuild).await? {
        return Err(RebuildError::AlreadyRunning);
    }
    let shadow = Shadow::create(&mut db, entries.iter().flat_map(|entry| entry.tables).collect()).await?;
    let mut build = Build { pass: Pass::new(pool, codec, &entries, progress), shadow, db };
    let outcome = build.run(swap).await;
    // Whatever happened, what is left of the tables goes; the first error is the one to report.
    let dropped = build.shadow.drop_schema(&mut build.db).await;
    let reports = outcome?;
    dropped?;
    unlock(&mut build.db).await?;
    build.db.close().await?;
    Ok(reports)
}

fn find(name: &str) -> Result<&'static Entry, RebuildError> {
    let found = catalogue().iter().find(|entry| entry.name == name);
    found.ok_or_else(|| RebuildError::UnknownModel(name.to_owned()))
}

/// How far to fold.
#[derive(Clone, Copy)]
enum Goal {
    /// To where the live model is: only there can the two be compared.
    Live,
    /// To the head of the log; a parked model to where it is parked, because the event there may stop us too.
    Head,
}

/// Tables in the making.
struct Build<'a> {
    /// The models, their rows and how far they are.
    pass: Pass<'a>,
    shadow: Shadow,
    /// Unqualified names mean the shadow tables on this connection.
    db: PgConnection,
}

impl Build<'_> {
    async fn run(&mut self, swap: bool) -> Result<Vec<Report>, RebuildError> {
        self.approach(Goal::Live).await?;
        let reports = self.compare().await?;
        if swap {
            self.approach(Goal::Head).await?;
            self.shadow.finish(&mut self.db).await?;
            self.swap().await?;
        }
        Ok(reports)
    }

    /// Live and rebuilt tables at one position: the snapshot shows both the live rows and the checkpoint
    /// they belong to, and the last events up to it are folded inside it.
    async fn compare(&mut self) -> Result<Vec<Report>, RebuildError> {
        let mut tx = self.db.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ").await?;
        let live = self.shadow.checkpoints(&mut tx, self.pass.names(), false).await?;
        let head = crate::log::head(&mut tx).await?;
        self.pass.fold_to(&mut tx, &positions(&live), head).await?;
        let mut reports = Vec::with_capacity(live.len());
        for (entry, at) in self.pass.entries().into_iter().zip(&live) {
            let mut report =
                Report { model: entry.name, position: at.position, differing: 0, diffs: Vec::new() };
            for table in entry.tables {
                let (differing, diffs) = diff::differences(&mut tx, &self.shadow, table).await?;
                report.differing += differing;
                report.diffs.extend(diffs);
            }
            reports.push(report);
        }
        tx.commit().await?;
        Ok(reports)
    }

    /// Folds until fewer than [`NEAR`] events are missing to a goal that keeps moving.
    async fn approach(&mut self, goal: Goal) -> Result<(), RebuildError> {
        loop {
            let head = crate::log::head(&mut self.db).await?;
            let targets = self.targets(goal, head).await?;
            self.pass.fold_to(&mut self.db, &targets, head).await?;
            let head = crate::log::head(&mut self.db).await?;
            let targets = self.targets(goal, head).await?;
            if self.pass.positions().zip(&targets).all(|(ours, target)| target - ours < NEAR) {
                return Ok(());
            }
        }
    }

    async fn targets(&mut self, goal: Goal, head: Position) -> sqlx::Result<Vec<Position>> {
        let live = self.shadow.checkpoints(&mut self.db, self.pass.names(), false).await?;
        let target = |at: &Checkpoint| match goal {
            Goal::Live => at.position,
            Goal::Head if at.poison.is_some() => at.position,
            Goal::Head => head,
        };
        Ok(live.iter().map(target).collect())
    }

    async fn swap(&mut self) -> Result<(), RebuildError> {
        for _ in 0..SWAP_TRIES {
            // Indexes and waiting took a while: come near again before anybody has to wait for us.
            self.approach(Goal::Head).await?;
            if self.try_swap().await? {
                return Ok(());
            }
            tokio::time::sleep(SWAP_PAUSE).await;
        }
        Err(RebuildError::InUse)
    }

    /// The live runner takes the checkpoint rows first too: it waits there, and then finds a new generation.
    async fn try_swap(&mut self) -> Result<bool, RebuildError> {
        let mut tx = self.db.begin().await?;
        let live = self.shadow.checkpoints(&mut tx, self.pass.names(), true).await?;
        if !self.shadow.lock_live(&mut tx).await? {
            tx.rollback().await?;
            return Ok(false);
        }
        // Never behind the live tables: their readers have seen those events.
        let targets: Vec<Position> =
            self.pass.positions().zip(&live).map(|(ours, live)| ours.max(live.position)).collect();
        self.pass.fold_to(&mut tx, &targets, targets.iter().copied().max().unwrap_or(0)).await?;
        self.shadow.swap(&mut tx, self.pass.names(), &targets).await?;
        tx.commit().await?;
        Ok(true)
    }
}

fn positions(checkpoints: &[Checkpoint]) -> Vec<Position> {
    checkpoints.iter().map(|at| at.position).collect()
}

impl From<(&'static str, Poison)> for RebuildError {
    fn from((model, poison): (&'static str, Poison)) -> Self {
        Self::Poison { model, position: poison.position, reason: poison.reason }
    }
}
