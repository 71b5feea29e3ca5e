//! What goes wrong between a server and the store.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use super::sources::Chance;
use crate::journal::StoreError;
use crate::journal::in_memory::{Commit, Way, lost};

bursar_domain::spelled! {
    /// A kind of trouble.
    pub enum Fault {
        /// Servers die at any await and start again; connections are lost, also around a COMMIT.
        Crash = "crash",
        /// Requests and due work are delivered again, at once or much later.
        Duplicate = "duplicate",
        /// Requests overtake each other; two servers, whose clocks differ, write in turns.
        Reorder = "reorder",
        /// The store takes its time.
        Slow = "slow",
    }
}

bursar_domain::spelled! {
    /// A bank that is wrong, to see that the checks find it.
    pub enum Broken {
        /// The store answers a COMMIT that does not take effect.
        ForgetsCommit = "forgets-commit",
        /// The store carries out a COMMIT twice.
        CommitsTwice = "commits-twice",
        /// The clock goes back, and the store forgets when it was written to.
        ClockBack = "clock-back",
        /// A process pays without an idempotency key.
        NoDueKey = "no-due-key",
        /// A request that is repeated is a new request.
        NoKey = "no-key",
    }
}

/// What went wrong, and how often.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Troubles {
    /// Servers that died.
    pub crashes: u64,
    /// Connections that were lost, of which some with a COMMIT on its way.
    pub lost: u64,
    /// Requests and pieces of due work that were delivered again.
    pub duplicates: u64,
    /// Requests that were held up so that others overtook them.
    pub reordered: u64,
    /// Answers of the store that took long.
    pub slow: u64,
}

#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Pieces of due work.
    pub(super) due: AtomicU64,
    pub(super) crashes: AtomicU64,
    pub(super) lost: AtomicU64,
    pub(super) duplicates: AtomicU64,
    pub(super) reordered: AtomicU64,
    pub(super) slow: AtomicU64,
}

pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counts {
    pub(super) fn troubles(&self) -> Troubles {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Troubles {
            crashes: read(&self.crashes),
            lost: read(&self.lost),
            duplicates: read(&self.duplicates),
            reordered: read(&self.reordered),
            slow: read(&self.slow),
        }
    }
}

/// The weather on one server's way to the store.
pub(super) struct Weather {
    pub(super) chance: Arc<Chance>,
    pub(super) counts: Arc<Counts>,
    pub(super) faults: Vec<Fault>,
    pub(super) broken: Option<Broken>,
    /// The server has come to its end.
    pub(super) died: Notify,
}

/// Questions and answers of the store between two crashes, connections lost and long waits, on average.
const BETWEEN_CRASHES: u64 = 2_500;
const BETWEEN_LOST: u64 = 700;
const BETWEEN_SLOW: u64 = 150;
/// One in so many long waits is longer than the sequencer's patience.
const BETWEEN_ENDLESS: u64 = 60;
/// Commits between two that take effect after their connection is gone.
const BETWEEN_LATE: u64 = 150;
/// Commits until a broken store is.
const UNTIL_BROKEN: u64 = 40;

impl Weather {
    fn has(&self, fault: Fault) -> bool {
        self.faults.contains(&fault)
    }

    async fn go(&self) -> Result<(), StoreError> {
        let wait = if self.has(Fault::Slow) && self.chance.once_in(BETWEEN_SLOW) {
            count(&self.counts.slow);
            if self.chance.once_in(BETWEEN_ENDLESS) {
                Duration::from_millis(self.chance.between(8_000, 20_000))
            } else {
                Duration::from_millis(self.chance.between(20, 1_500))
            }
        } else {
            // Most of the time it is too little to be seen.
            Duration::from_millis(self.chance.between(0, 3).saturating_sub(2))
        };
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        if self.has(Fault::Crash) {
            if self.chance.once_in(BETWEEN_CRASHES) {
                count(&self.counts.crashes);
                self.died.notify_one();
                std::future::pending::<()>().await;
            }
            if self.chance.once_in(BETWEEN_LOST) {
                count(&self.counts.lost);
                return Err(lost());
            }
        }
        Ok(())
    }
}

impl Way for Weather {
    fn pass(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        self.go().boxed()
    }

    fn commit(&self) -> Commit {
        match self.broken {
            Some(Broken::ForgetsCommit) if self.chance.once_in(UNTIL_BROKEN) => return Commit::Forgotten,
            Some(Broken::CommitsTwice) if self.chance.once_in(UNTIL_BROKEN) => return Commit::Twice,
            Some(Broken::ClockBack) => return Commit::Timeless,
            _ => {}
        }
        if self.has(Fault::Crash) && self.chance.once_in(BETWEEN_LATE) {
            count(&self.counts.lost);
            return Commit::Late(Duration::from_millis(self.chance.between(1, 400)));
        }
        Commit::Now
    }
}
