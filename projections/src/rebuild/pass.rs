//! One pass over the log for several models: a task reads and decodes while this one folds and writes.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bursar_domain::codec::Codec;
use bursar_domain::{Kind, Position};
use sqlx::{Connection, PgConnection, PgPool};
use tokio::sync::mpsc;

use super::state::Rows;
use super::{Log, Progress, RebuildError};
use crate::catalogue::Entry;
use crate::log::{self, BATCH, Batch};
use crate::read_model::{Mask, Model};
use crate::runner::fold;

/// Rows a model gathers before they are written: large enough that a busy account's row is written seldom.
const FLUSH: usize = 40_000;
/// Batches read ahead.
const AHEAD: usize = 2;

/// How often everything is written, with how far it is: what a process that is killed has done in vain, at most.
const SAVE_EVERY: Duration = Duration::from_secs(2);

pub(super) struct Pass<'a> {
    log: Log<'a>,
    progress: &'a dyn Progress,
    /// The schema of `rebuilds`.
    live: String,
    names: Vec<String>,
    models: Vec<Building>,
    /// When everything was last written.
    saved: Instant,
    /// Where and when this process began.
    began: (Position, Instant),
}

struct Building {
    entry: &'static Entry,
    model: Box<dyn Model>,
    position: Position,
    target: Position,
}

impl<'a> Pass<'a> {
    /// A pass that goes on behind the position that each model is at.
    pub(super) fn new(
        log: Log<'a>,
        live: String,
        models: &[(&'static Entry, Position)],
        progress: &'a dyn Progress,
    ) -> Self {
        let names = models.iter().map(|(entry, _)| entry.name.to_owned()).collect();
        let first = models.iter().map(|(_, position)| *position).min().unwrap_or(0);
        let building = |&(entry, position): &(&'static Entry, Position)| Building {
            entry,
            model: (entry.fresh)(),
            position,
            target: position,
        };
        let models = models.iter().map(building).collect();
        let now = Instant::now();
        Self { log, progress, live, names, models, saved: now, began: (first, now) }
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn entries(&self) -> Vec<&'static Entry> {
        self.models.iter().map(|building| building.entry).collect()
    }

    pub(super) fn positions(&self) -> impl Iterator<Item = Position> {
        self.models.iter().map(|building| building.position)
    }

    /// Takes each model to its target and saves it. A model that is beyond it stays where it is.
    pub(super) async fn fold_to(
        &mut self,
        db: &mut PgConnection,
        targets: &[Position],
        head: Position,
    ) -> Result<(), RebuildError> {
        let Some((range, wanted)) = self.missing(targets) else { return Ok(()) };
        let (sender, mut batches) = mpsc::channel(AHEAD);
        for (building, to) in self.models.iter_mut().zip(targets) {
            building.target = building.target.max(*to);
        }
        let reader = read_ahead(self.log.pool.clone(), Arc::clone(self.log.codec), wanted, range, sender);
        let reading = tokio::spawn(reader);
        let folded = async {
            while let Some(batch) = batches.recv().await {
                self.take(db, &batch?, targets).await?;
                self.progress.advanced(self.positions().min().unwrap_or(0), head);
            }
            self.save_all(db).await?;
            Ok::<(), RebuildError>(())
        }
        .await;
        // It ends when the channel does, whichever side closed it.
        drop(batches);
        drop(reading.await);
        folded
    }

    /// The stretch of the log that some model misses to its target, and the nouns those models read.
    fn missing(&self, targets: &[Position]) -> Option<((Position, Position), Vec<Kind>)> {
        let behind = || self.models.iter().zip(targets).filter(|(building, to)| building.position < **to);
        let after = behind().map(|(building, _)| building.position).min()?;
        let upto = behind().map(|(_, to)| *to).max()?;
        let mut wanted: Vec<Kind> =
            behind().flat_map(|(building, _)| building.entry.reads).copied().collect();
        wanted.sort_unstable();
        wanted.dedup();
        Some(((after, upto), wanted))
    }

    async fn take(
        &mut self,
        db: &mut PgConnection,
        batch: &Batch,
        targets: &[Position],
    ) -> Result<(), RebuildError> {
        for (i, &target) in targets.iter().enumerate() {
            let Some(building) = self.models.get_mut(i) else { continue };
            let upto = target.min(batch.upto);
            if building.position >= upto {
                continue;
            }
            let range = (building.position, upto);
            let outcome =
                fold(db, building.entry, (building.model.as_mut(), &Mask::Nothing), batch, range).await?;
            if let Some(poison) = outcome.poison {
                return Err((building.entry.name, poison).into());
            }
            building.position = outcome.position;
            if building.model.pending() >= FLUSH {
                self.save(db, i..=i).await?;
            }
        }
        if self.saved.elapsed() >= SAVE_EVERY {
            self.save_all(db).await?;
        }
        Ok(())
    }

    async fn save_all(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        if let Some(last) = self.models.len().checked_sub(1) {
            self.save(db, 0..=last).await?;
        }
        self.saved = Instant::now();
        Ok(())
    }

    /// Writes the rows of some models and how far they are, both or neither.
    async fn save(&mut self, db: &mut PgConnection, which: RangeInclusive<usize>) -> sqlx::Result<()> {
        let mut tx = db.begin().await?;
        let mut folded = Vec::new();
        for building in self.models.get_mut(which).into_iter().flatten() {
            building.model.save(&mut tx).await?;
            folded.push((building.entry.name, building.position, building.target));
        }
        let (from, began) = self.began;
        let passed = self.positions().min().unwrap_or(0).saturating_sub(from);
        let millis = i64::try_from(began.elapsed().as_millis()).unwrap_or(i64::MAX).max(1);
        Rows(&self.live).folded(&mut tx, &folded, passed.saturating_mul(1_000) / millis).await?;
        tx.commit().await
    }
}

/// Reads the log with `after < position <= upto` on a connection of its own.
async fn read_ahead(
    pool: PgPool,
    codec: Arc<Codec>,
    wanted: Vec<Kind>,
    (mut after, upto): (Position, Position),
    batches: mpsc::Sender<sqlx::Result<Batch>>,
) {
    let mut db = match pool.acquire().await {
        Ok(db) => db,
        // When nobody listens any more, nobody needs to know.
        Err(e) => return drop(batches.send(Err(e)).await),
    };
    while after < upto {
        let batch = log::read(&mut db, &codec, &wanted, (after, upto), BATCH).await;
        after = match &batch {
            Ok(batch) if batch.seen > 0 => batch.upto,
            // An error ends the pass at the other side; a log that ends before its head ends it here.
            Ok(_) | Err(_) => upto,
        };
        if batches.send(batch).await.is_err() {
            return;
        }
    }
}
