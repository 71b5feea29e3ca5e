//! Clearing away files that no event names.

use std::sync::Arc;

use bursar_domain::kernel::FileId;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _};
use jiff::{SignedDuration, Timestamp};

use super::{CLAIM, FileStore, name_hash};
use crate::Journal;
use crate::journal::StoreError;
use crate::owned::CommandError;
use crate::processes::{self, Done, Task, Work};

/// The task, and how often it is done.
pub const SWEEP: &str = "files.sweep";
const EVERY: SignedDuration = SignedDuration::from_hours(24);
/// How old a file is before nobody can be about to claim it: a request takes seconds.
const AGE: SignedDuration = SignedDuration::from_hours(24);
/// Files looked up at once.
const BATCH: usize = 500;

/// Orders the first sweep, unless one is ordered.
///
/// # Errors
/// When the schedule cannot be written.
pub async fn order(journal: &Journal) -> Result<(), StoreError> {
    processes::order_once(journal, SWEEP, "all", journal.sources().clock.now() + EVERY).await
}

/// Sweeps the store of this bank once a day.
pub struct SweepFiles {
    journal: Journal,
    store: Arc<dyn FileStore>,
}

impl SweepFiles {
    /// The task.
    #[must_use]
    pub fn new(journal: Journal, store: Arc<dyn FileStore>) -> Self {
        Self { journal, store }
    }

    async fn sweep(&self, now: Timestamp) -> Result<Done, CommandError> {
        let mut batches = self.store.list().ready_chunks(BATCH);
        let mut swept = 0_u32;
        while let Some(batch) = batches.next().await {
            let ids: Vec<FileId> = batch.into_iter().collect::<Result<_, _>>()?;
            // The name says when it was made, by the same clock.
            let old: Vec<FileId> = ids.into_iter().filter(|id| id.minted_at() + AGE <= now).collect();
            let hashes: Vec<_> = old.iter().map(|id| name_hash(*id)).collect();
            let held = self.journal.held(CLAIM, &hashes).await?;
            for (id, hash) in old.iter().zip(&hashes) {
                if !held.contains(hash) {
                    self.store.delete(*id).await?;
                    swept += 1;
                }
            }
        }
        if swept > 0 {
            tracing::info!(swept, "files that nothing names were cleared away");
        }
        Ok(Done::Again(now + EVERY))
    }
}

impl Task for SweepFiles {
    fn name(&self) -> &'static str {
        SWEEP
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.sweep(work.now).boxed()
    }
}
