//! A journal without a database: the same rows, in memory, for simulations.
//!
//! It promises what the schema promises: a head that one writer holds at a time, a commit that takes effect whole or not at
//! all, unique streams, accounts, keys and claims, partitions that must exist, rows of work that are leased. What is stored
//! are the bytes that Postgres would store.
//!
//! Every question passes a [`Way`] first: that is where a simulation lets things go wrong.

mod lookup;
mod schedule;
mod session;
mod tables;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bursar_domain::codec::Codec;
use bursar_domain::kernel::UserId;
use bursar_domain::ledger::LedgerAccount;
use bursar_domain::{AccountNumber, Position, Recorded};
use futures_util::future::BoxFuture;
use tokio::sync::{Notify, watch};

use super::StoreError;
use super::lines::write_line;
pub(crate) use session::{Session, lost};
use tables::Tables;

/// What lies between a journal and what it is kept in.
pub(crate) trait Way: Send + Sync {
    /// A question goes there, or an answer back: it takes its time, is lost with the connection, or never arrives.
    fn pass(&self) -> BoxFuture<'_, Result<(), StoreError>>;

    /// What becomes of a COMMIT that has arrived.
    fn commit(&self) -> Commit;
}

/// What becomes of a COMMIT that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commit {
    /// It takes effect and is answered.
    Now,
    /// The connection is lost, and after a while it takes effect.
    Late(Duration),
    /// It is answered and does not take effect: a broken store, to see that somebody notices.
    Forgotten,
    /// It takes effect twice: a broken store.
    Twice,
    /// It takes effect, and the store forgets when: a broken store.
    Timeless,
}

/// The tables of one bank.
#[derive(Default)]
pub(crate) struct InMemory {
    tables: Mutex<Tables>,
    /// The lock of the row `head`.
    head: Arc<tokio::sync::Mutex<()>>,
    /// Tells every server of a commit.
    written: Notify,
}

impl InMemory {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many events there are.
    pub(crate) fn events(&self) -> usize {
        self.tables().events.len()
    }

    /// The events after the first `after`.
    ///
    /// # Errors
    /// [`StoreError::Unreadable`].
    pub(crate) fn read(&self, after: usize, codec: &Codec) -> Result<Vec<Recorded>, StoreError> {
        self.tables().events.iter().skip(after).map(|row| Ok(row.read(codec)?)).collect()
    }

    /// Asks something of the ledger's accounts.
    pub(crate) fn ledger<T>(&self, asked: impl FnOnce(&BTreeMap<AccountNumber, LedgerAccount>) -> T) -> T {
        asked(&self.tables().accounts)
    }

    /// Whether what is personal of somebody can be read.
    pub(crate) fn has_key(&self, user: UserId) -> bool {
        self.tables().data_keys.get(&user).is_some_and(|key| key.wrapped.is_some())
    }

    /// Work that has failed more often than `most`: task, subject, tries.
    pub(crate) fn stuck(&self, most: u32) -> Option<(String, String, u32)> {
        let tables = self.tables();
        let mut rows = tables.schedule.iter();
        rows.find_map(|((task, subject), row)| {
            (row.attempts > most).then(|| (task.clone(), subject.clone(), row.attempts))
        })
    }

    /// The lines of the events after a position, as an export writes them.
    ///
    /// # Errors
    /// `Damaged` for a row that is no JSON.
    pub(crate) fn lines(&self, after: usize) -> Result<Vec<Vec<u8>>, StoreError> {
        self.tables().events.iter().skip(after).map(|row| write_line(row)).collect()
    }
}

/// One server's way to the tables. Clones are the same way.
#[derive(Clone)]
pub(crate) struct Door {
    pub(crate) tables: Arc<InMemory>,
    pub(crate) way: Arc<dyn Way>,
}

impl Door {
    pub(super) async fn pass(&self) -> Result<(), StoreError> {
        self.way.pass().await
    }

    pub(crate) fn session(&self) -> Session {
        Session::new(self.clone())
    }

    /// The tables, once the way is behind us. Questions are answered at once; only the way takes time.
    async fn ask(&self) -> Result<MutexGuard<'_, Tables>, StoreError> {
        self.pass().await?;
        Ok(self.tables.tables())
    }

    /// Wakes the sequencer when another server has written.
    pub(super) async fn listen(&self, head: watch::Receiver<Position>, wake: Arc<Notify>) {
        loop {
            // Made before it is looked: a commit in between is not missed.
            let written = self.tables.written.notified();
            if self.tables.tables().head.position > *head.borrow() {
                wake.notify_one();
            }
            written.await;
        }
    }
}
