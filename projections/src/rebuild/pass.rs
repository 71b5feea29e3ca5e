//! One pass over the log for several models: a task reads and decodes while this one folds and writes.

use std::sync::Arc;

use bursar_domain::codec::Codec;
use bursar_domain::{Kind, Position};
use sqlx::{PgConnection, PgPool};
use tokio::sync::mpsc;

use super::{Progress, RebuildError};
use crate::catalogue::Entry;
use crate::log::{self, BATCH, Batch};
use crate::read_model::Model;
use crate::runner::fold;

/// Rows a model gathers before they are written: large enough that a busy account's row is written seldom.
const FLUSH: usize = 40_000;
/// Batches read ahead.
const AHEAD: usize = 2;

pub(super) struct Pass<'a> {
    pool: &'a PgPool,
    codec: &'a Arc<Codec>,
    progress: &'a dyn Progress,
    names: Vec<String>,
    models: Vec<Building>,
}

struct Building {
    entry: &'static Entry,
    model: Box<dyn Model>,
    position: Position,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        pool: &'a PgPool,
        codec: &'a Arc<Codec>,
        entries: &[&'static Entry],
        progress: &'a dyn Progress,
    ) -> Self {
        let names = entries.iter().map(|entry| entry.name.to_owned()).collect();
        let models =
            entries.iter().map(|&entry| Building { entry, model: (entry.fresh)(), position: 0 }).collect();
        Self { pool, codec, progress, names, models }
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
        let reader = read_ahead(self.pool.clone(), Arc::clone(self.codec), wanted, range, sender);
        let reading = tokio::spawn(reader);
        let folded = async {
            while let Some(batch) = batches.recv().await {
                self.take(db, &batch?, targets).await?;
                self.progress.advanced(self.positions().min().unwrap_or(0), head);
            }
            for building in &mut self.models {
                building.model.save(db).await?;
            }
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
        for (building, &target) in self.models.iter_mut().zip(targets) {
            let upto = target.min(batch.upto);
            if building.position >= upto {
                continue;
            }
            let range = (building.position, upto);
            let outcome = fold(db, building.entry, building.model.as_mut(), batch, range).await?;
            if let Some(poison) = outcome.poison {
                return Err((building.entry.name, poison).into());
            }
            building.position = outcome.position;
            if building.model.pending() >= FLUSH {
                building.model.save(db).await?;
            }
        }
        Ok(())
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
