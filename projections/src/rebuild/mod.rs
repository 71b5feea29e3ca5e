//! Building read models anew beside the live tables, comparing, and swapping, while the bank goes on.
//!
//! The tables are built in a schema of their own (`read_next`) under their own names: with that schema on the
//! `search_path`, the very statements of the live runner fill it, and a swap moves tables with their indexes and
//! constraints, names and all.
//!
//! How far a rebuild is stands in `rebuilds`, written with the rows themselves: when the process dies, the next one goes on
//! there, unless it is another program, whose folds may differ.
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
mod state;
mod sweep;

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use bursar_domain::codec::Codec;
use bursar_domain::{Clock, Position};
use sqlx::{Connection, PgConnection, PgPool};

pub use diff::{Diff, Difference, DifferenceKind};
pub use state::{RebuildState, RebuildStatus, rebuild_status};

use crate::catalogue::{Entry, catalogue};
use crate::read_model::Poison;
use crate::runner::{Lock, own_connection, register, try_lock, unlock};
use pass::Pass;
pub(crate) use shadow::execute;
use shadow::{Live, Shadow};
use state::{Beginning, Rows};
pub(crate) use sweep::sweep;

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
    /// How many rows were compared.
    pub rows: i64,
    /// How many of them differ.
    pub differing: i64,
    /// The first of them, in the order of the log. What their columns hold is not known when the comparison was made by a
    /// process that died since.
    pub diffs: Vec<Diff>,
}

/// Why a rebuild or check was given up. The live tables are as they were.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// No read model has that name.
    #[error("there is no read model {0:?}")]
    UnknownModel(String),
    /// One at a time for each read model.
    #[error("{0} is being rebuilt or checked already")]
    AlreadyRunning(&'static str),
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

/// What a rebuild needs of the bank.
#[derive(Clone, Copy)]
pub struct Log<'a> {
    /// The database.
    pub pool: &'a PgPool,
    /// Reads the events.
    pub codec: &'a Arc<Codec>,
    /// Says when it began and ended.
    pub clock: &'a dyn Clock,
}

/// Rebuilds the named read models and swaps them in. The report says what was wrong before.
///
/// # Errors
/// [`RebuildError`].
pub async fn rebuild(
    log: Log<'_>,
    names: &[&str],
    progress: &dyn Progress,
) -> Result<Vec<Report>, RebuildError> {
    Rebuilding::begin(log, names, Order { verify: false, at: 0 }, progress).await?.finish().await
}

/// Compares the named read models with what the log says, and changes nothing.
///
/// # Errors
/// [`RebuildError`].
pub async fn verify(
    log: Log<'_>,
    names: &[&str],
    progress: &dyn Progress,
) -> Result<Vec<Report>, RebuildError> {
    Rebuilding::begin(log, names, Order { verify: true, at: 0 }, progress).await?.finish().await
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Order {
    /// Compare only.
    pub verify: bool,
    /// Position of the order in the log; 0 when it was given on the command line.
    pub at: Position,
}

/// A rebuild that has begun: its models are locked and `rebuilds` says so.
pub struct Rebuilding<'a> {
    build: Build<'a>,
    order: Order,
    /// The comparison, when it was made before an interruption.
    compared: Option<Vec<Report>>,
}

impl<'a> Rebuilding<'a> {
    /// Begins, or goes on where a process that died has stopped.
    ///
    /// # Errors
    /// [`RebuildError`].
    pub async fn begin(
        log: Log<'a>,
        names: &[&str],
        order: Order,
        progress: &'a dyn Progress,
    ) -> Result<Self, RebuildError> {
        let entries = names.iter().map(|name| find(name)).collect::<Result<Vec<_>, _>>()?;
        let mut db = own_connection(log.pool).await?;
        register(&mut db).await?;
        for entry in &entries {
            if !try_lock(&mut db, Lock::Rebuild, entry.name).await? {
                return Err(RebuildError::AlreadyRunning(entry.name));
            }
        }
        let mut found = Vec::with_capacity(entries.len());
        for &entry in &entries {
            found.push(state::status(&mut db, entry).await?);
        }
        let shadow = Shadow::open(&mut db, entries.iter().flat_map(|entry| entry.tables).collect()).await?;
        let program = program();
        let with =
            Beginning { ordered_at: order.at, verify: order.verify, program: &program, at: log.clock.now() };
        // Nothing is compared twice, so that either all of them were compared or none counts.
        let compared: Option<Vec<Report>> = found.iter().map(RebuildStatus::report).collect();
        let compared = compared.filter(|_| !order.verify);
        let names: Vec<String> = entries.iter().map(|entry| entry.name.to_owned()).collect();
        let live = shadow.checkpoints(&mut db, &names, false).await?;
        let mut models = Vec::with_capacity(entries.len());
        let mut resumed = true;
        for ((&entry, status), live) in entries.iter().zip(&found).zip(&live) {
            // Until it is compared it must not pass the live tables: only at one position can the two be compared.
            let is_ours = |status: &RebuildStatus| {
                // The lock is ours by now, so that it looks as if it were running.
                matches!(status.state, RebuildState::Running | RebuildState::Interrupted)
                    && status.program == program
                    && (compared.is_some()
                        || (status.compared_at.is_none() && status.position <= live.position))
            };
            let resumes = is_ours(status) && shadow.has(&mut db, entry.tables).await?;
            let mut tx = db.begin().await?;
            if resumes {
                Rows(&shadow.live).resume(&mut tx, entry.name, &with).await?;
            } else {
                shadow.create(&mut tx, entry.tables).await?;
                Rows(&shadow.live).begin(&mut tx, entry.name, &with).await?;
            }
            tx.commit().await?;
            resumed &= resumes;
            models.push((entry, if resumes { status.position } else { 0 }));
        }
        let pass = Pass::new(log, shadow.live.clone(), &models, progress);
        let build = Build { pass, shadow, db, clock: log.clock };
        Ok(Self { build, order, compared: compared.filter(|_| resumed) })
    }

    /// Does it.
    ///
    /// # Errors
    /// [`RebuildError`]. Where the database was lost, or the live tables were in use all the time, the next rebuild goes on
    /// from there.
    pub async fn finish(mut self) -> Result<Vec<Report>, RebuildError> {
        let outcome = self.build.run(self.order, self.compared).await;
        if let Err(error) = &outcome {
            // The first error is the one to report.
            if let Err(e) = self.build.give_up(error).await {
                tracing::warn!(error = %e, "what is left of a rebuild could not be cleared away");
            }
        }
        let reports = outcome?;
        unlock(&mut self.build.db).await?;
        self.build.db.close().await?;
        Ok(reports)
    }
}

/// Which program this is: another one may fold otherwise, and does not go on with what this one has begun.
fn program() -> String {
    let file = std::env::current_exe().and_then(std::fs::metadata);
    let stamp = file.and_then(|file| Ok((file.len(), file.modified()?))).ok();
    let (size, age) = stamp.map_or((0, 0), |(size, modified)| {
        (size, modified.duration_since(UNIX_EPOCH).map_or(0, |age| age.as_millis()))
    });
    format!("{} {size} {age}", env!("CARGO_PKG_VERSION"))
}

pub(crate) fn find(name: &str) -> Result<&'static Entry, RebuildError> {
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
    clock: &'a dyn Clock,
}

impl Build<'_> {
    async fn run(
        &mut self,
        order: Order,
        compared: Option<Vec<Report>>,
    ) -> Result<Vec<Report>, RebuildError> {
        let reports = match compared {
            Some(reports) => reports,
            None => {
                self.approach(Goal::Live).await?;
                self.compare().await?
            }
        };
        if order.verify {
            let of = |report: &Report| match report.differing {
                0 => RebuildState::Equal,
                _ => RebuildState::Different,
            };
            let ends: Vec<RebuildState> = reports.iter().map(of).collect();
            self.end(&ends, None).await?;
        } else {
            self.approach(Goal::Head).await?;
            self.shadow.finish(&mut self.db).await?;
            self.swap().await?;
        }
        Ok(reports)
    }

    /// Drops the tables and says what has become of them.
    async fn end(&mut self, states: &[RebuildState], reason: Option<&str>) -> sqlx::Result<()> {
        let at = self.clock.now();
        let mut tx = self.db.begin().await?;
        for (entry, &state) in self.pass.entries().into_iter().zip(states) {
            self.shadow.drop_tables(&mut tx, entry.tables).await?;
            Rows(&self.shadow.live).ended(&mut tx, entry.name, (state, Some(at), reason)).await?;
        }
        tx.commit().await
    }

    /// What cannot be done is cleared away; what was only interrupted stays for the next.
    async fn give_up(&mut self, error: &RebuildError) -> sqlx::Result<()> {
        let reason = error.to_string();
        let hopeless = match error {
            RebuildError::Poison { .. } => true,
            RebuildError::Database(e) => refused(e),
            RebuildError::UnknownModel(_) | RebuildError::AlreadyRunning(_) | RebuildError::InUse => false,
        };
        if hopeless {
            let states = vec![RebuildState::Failed; self.pass.names().len()];
            return self.end(&states, Some(&reason)).await;
        }
        for entry in self.pass.entries() {
            let how = (RebuildState::Running, None, Some(reason.as_str()));
            Rows(&self.shadow.live).ended(&mut self.db, entry.name, how).await?;
        }
        Ok(())
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
                Report { model: entry.name, position: at.position, rows: 0, differing: 0, diffs: Vec::new() };
            for table in entry.tables {
                let compared = diff::differences(&mut tx, &self.shadow, table).await?;
                report.rows += compared.rows;
                report.differing += compared.differing;
                report.diffs.extend(compared.diffs);
            }
            Rows(&self.shadow.live).compared(&mut tx, &report).await?;
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
        let target = |at: &Live| match goal {
            Goal::Live => at.position,
            Goal::Head if at.is_parked => at.position,
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

    /// Whether it is done; not while somebody has one of the tables.
    async fn try_swap(&mut self) -> Result<bool, RebuildError> {
        match self.swap_now().await {
            Ok(()) => Ok(true),
            Err(RebuildError::Database(e)) if is_locked(&e) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The live runner takes the checkpoint rows first too: it waits there, and then finds a new generation.
    async fn swap_now(&mut self) -> Result<(), RebuildError> {
        let mut tx = self.db.begin().await?;
        self.shadow.lock_next(&mut tx).await?;
        let live = self.shadow.checkpoints(&mut tx, self.pass.names(), true).await?;
        self.shadow.lock_live(&mut tx).await?;
        // Never behind the live tables: their readers have seen those events.
        let targets: Vec<Position> =
            self.pass.positions().zip(&live).map(|(ours, live)| ours.max(live.position)).collect();
        self.pass.fold_to(&mut tx, &targets, targets.iter().copied().max().unwrap_or(0)).await?;
        self.shadow.swap(&mut tx, self.pass.names(), &targets).await?;
        let at = self.clock.now();
        for entry in self.pass.entries() {
            let how = (RebuildState::Swapped, Some(at), None);
            Rows(&self.shadow.live).ended(&mut tx, entry.name, how).await?;
        }
        tx.commit().await?;
        Ok(())
    }
}

/// Whether somebody else has a table: lock_not_available.
fn is_locked(e: &sqlx::Error) -> bool {
    e.as_database_error().is_some_and(|e| e.code().as_deref() == Some("55P03"))
}

/// Whether the database is well and refuses what it is asked: SQLSTATE classes 22 (data exception), 23 (integrity
/// constraint violation) and 42 (no such table, column ...).
pub(crate) fn refused(e: &sqlx::Error) -> bool {
    let code = e.as_database_error().and_then(|e| e.code());
    code.is_some_and(|code| ["22", "23", "42"].contains(&code.get(..2).unwrap_or_default()))
}

fn positions(checkpoints: &[Live]) -> Vec<Position> {
    checkpoints.iter().map(|at| at.position).collect()
}

impl From<(&'static str, Poison)> for RebuildError {
    fn from((model, poison): (&'static str, Poison)) -> Self {
        Self::Poison { model, position: poison.position, reason: poison.reason }
    }
}
