//! A journal without a database: the same rows, in memory, for simulations.
//!
//! It promises what the schema promises: a head that one writer holds at a time, a commit that takes effect whole or not at
//! all, unique streams, accounts, keys and claims, partitions that must exist, rows of work that are leased. What is stored
//! are the bytes that Postgres would store.
//!
//! Every question passes a [`Way`] first: that is where a simulation lets things go wrong.

#![allow(dead_code, reason = "the simulation that opens it comes next")]

mod lookup;
mod schedule;
mod session;
mod tables;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bursar_domain::Position;
use futures_util::future::BoxFuture;
use tokio::sync::{Notify, watch};

use super::StoreError;
use super::lines::write_line;
pub(crate) use session::Session;
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
}

/// The tables of one bank.
pub(crate) struct InMemory {
    tables: Mutex<Tables>,
    /// The lock of the row `head`.
    head: Arc<tokio::sync::Mutex<()>>,
    /// Tells every server of a commit.
    written: watch::Sender<Position>,
}

impl Default for InMemory {
    fn default() -> Self {
        Self { tables: Mutex::default(), head: Arc::default(), written: watch::Sender::new(0) }
    }
}

impl InMemory {
    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many events there are.
    pub(crate) fn events(&self) -> usize {
        self.tables().events.len()
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
        let mut written = self.tables.written.subscribe();
        while written.changed().await.is_ok() {
            if *written.borrow_and_update() > *head.borrow() {
                wake.notify_one();
            }
        }
    }
}
