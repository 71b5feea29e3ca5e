//! The journal: the only way anything gets written.
//!
//! A unit of work is queued; one task, the [sequencer](sequencer), decides whole batches of units in memory
//! and appends each batch in one transaction that owns the head of the log. Positions are therefore gapless
//! and in commit order, with any number of server processes on one database.
//!
//! ```text
//!   submit(unit) --> queue --> sequencer, one task a process
//!                                |  BEGIN, lock the head           1st round trip; others wait here
//!                                |  catch up with other processes  only when the head has moved
//!                                |  plan: each unit in turn        in memory: aggregates decide, the ledger accepts,
//!                                |                                 events get positions, a refusal leaves nothing
//!                                |  append                         2nd: events, balances, keys, claims, due work, data keys, head
//!                                |  COMMIT                         3rd; its loss is resolved, never guessed
//!                                v
//!   Committed <-- answers, observers, waiting readers
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `unit` | what is asked and what is answered |
//! | `sequencer` | the loop: lock, catch up, decide, append, commit, publish; lost commits resolved |
//! | `needs` | what a batch is certain to need |
//! | `plan`, `claimed`, `sealing` | deciding a batch in memory: the units, unique values, personal data |
//! | `cache` | what is remembered: committed, batch, unit |
//! | `backing` | Postgres or memory: what the store is asked, whichever it is |
//! | `store`, `columns`, `append.sql` | the writing SQL |
//! | `read`, `lookup` | the reading SQL, and what use cases ask before they submit |
//! | `counters` | what all servers count together beside the log: rate limits, guesses |
//! | `imported` | what was taken over from another bank, and an import that is not finished |
//! | `in_memory` | tables without a database, for simulations |
//! | `event_store` | the same journal as a cqrs-es `EventStore` |
//!
//! A journal is a value, and a Postgres schema: connections carry its name in `search_path`.

mod backing;
mod cache;
mod claimed;
mod columns;
pub mod counters;
mod event_store;
pub mod imported;
pub(crate) mod in_memory;
pub(crate) mod lines;
mod lookup;
mod needs;
mod plan;
pub(crate) mod read;
mod sealing;
mod sequencer;
mod settings;
mod shown;
mod store;
mod unit;

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use bursar_domain::codec::{Codec, Unreadable};
use bursar_domain::kernel::{Sources, UserId};
use bursar_domain::{AccountNumber, Position, Recorded};
use lru::LruCache;
use sqlx::PgPool;
use tokio::sync::{Notify, mpsc, oneshot, watch};

pub use event_store::Loaded;
pub use lookup::Holding;
pub use settings::{recall, remember, remember_first};
pub use shown::{Shown, shown};
pub use unit::{Committed, Context, Idempotency, NoSuchEvent, SubmitError, Unit};

pub(crate) use backing::{Backing, Reader};

use crate::vault::{PersonalBytes, Vault};
use plan::Memory;
use sequencer::{Answer, Queued, Sequencer};

/// What can go wrong between us and the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database or the way to it.
    #[error("database: {0}")]
    Database(#[from] sqlx::Error),
    /// An event that cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// A row that this version did not write.
    #[error("damaged: {0}")]
    Damaged(String),
    /// What was read could not be written out.
    #[error("output: {0}")]
    Output(std::io::Error),
}

impl StoreError {
    fn is_unique_violation(&self) -> bool {
        matches!(self, Self::Database(sqlx::Error::Database(e)) if e.is_unique_violation())
    }

    /// Whether trying again can help: everything but an answer of the database about our own statement.
    fn is_passing(&self) -> bool {
        match self {
            Self::Database(sqlx::Error::Database(e)) => {
                // Classes: 08 connection, 40 rollback, 53 resources, 55 lock not available, 57 shutting down, 58 I/O.
                e.code().is_none_or(|code| {
                    ["08", "40", "53", "55", "57", "58"].iter().any(|class| code.starts_with(class))
                })
            }
            Self::Database(sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_)) => true,
            Self::Database(_) | Self::Unreadable(_) | Self::Damaged(_) | Self::Output(_) => false,
        }
    }
}

/// How a journal works.
#[derive(Debug, Clone)]
pub struct JournalOptions {
    /// Units that may wait; one more is answered [`SubmitError::Busy`].
    pub queue: usize,
    /// Units written at once, at most.
    pub batch_units: usize,
    /// How long the store may stay away before callers are told so.
    pub store_patience: Duration,
    /// Streams remembered.
    pub remembered_streams: NonZeroUsize,
    /// Ledger accounts remembered.
    pub remembered_accounts: NonZeroUsize,
    /// Full days an idempotency key is kept after its own.
    pub keep_keys_days: i64,
}

impl Default for JournalOptions {
    fn default() -> Self {
        const STREAMS: NonZeroUsize = NonZeroUsize::new(50_000).unwrap();
        const ACCOUNTS: NonZeroUsize = NonZeroUsize::new(200_000).unwrap();
        Self {
            queue: 4_096,
            batch_units: 400,
            store_patience: Duration::from_secs(10),
            remembered_streams: STREAMS,
            remembered_accounts: ACCOUNTS,
            keep_keys_days: 2,
        }
    }
}

/// Sees every event, whichever process wrote it, in order, before its caller is answered.
pub trait Observer: Send + Sync {
    /// Must be quick: the writer waits.
    fn recorded(&self, events: &[Recorded]);
}

/// Position and time of the last event in the journal of `pool`'s connections.
///
/// # Errors
/// [`StoreError`].
pub async fn head(pool: &PgPool) -> Result<(Position, jiff::Timestamp), StoreError> {
    let head = store::read_head(&mut *pool.acquire().await?).await?;
    Ok((head.position, head.recorded_at))
}

#[derive(Clone, Default)]
struct Observers(Arc<RwLock<Vec<Arc<dyn Observer>>>>);

impl Observers {
    fn tell(&self, events: &[Recorded]) {
        for observer in self.0.read().unwrap_or_else(PoisonError::into_inner).iter() {
            observer.recorded(events);
        }
    }
}

/// A handle to one journal; clones share it.
#[derive(Clone)]
pub struct Journal(Arc<Inner>);

struct Inner {
    backing: Backing,
    sources: Sources,
    codec: Arc<Codec>,
    vault: Arc<Vault>,
    /// Empty once the journal is closed.
    queue: Mutex<Option<mpsc::Sender<Queued>>>,
    head: watch::Receiver<Position>,
    /// Whether something is wrong with what was written, so that nothing is written.
    halted: AtomicBool,
    observers: Observers,
    holdings: Mutex<LruCache<(UserId, AccountNumber), Holding>>,
    writer: tokio::sync::Mutex<Option<tokio::task::JoinHandle<()>>>,
    listener: tokio::task::JoinHandle<()>,
    kill_writer: tokio::task::AbortHandle,
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Journal at {}", *self.0.head.borrow())
    }
}

impl Journal {
    /// Opens the journal in the schema that `pool`'s connections have first in their `search_path`. What is personal in
    /// it is sealed and opened with the keys of `vault`.
    ///
    /// # Errors
    /// When the database cannot be reached or has no journal.
    pub async fn open(
        pool: PgPool,
        sources: Sources,
        vault: Arc<Vault>,
        options: JournalOptions,
    ) -> Result<Self, StoreError> {
        Self::open_in(Backing::Postgres(pool), sources, vault, options).await
    }

    /// Opens the journal that is kept there.
    pub(crate) async fn open_in(
        backing: Backing,
        sources: Sources,
        vault: Arc<Vault>,
        options: JournalOptions,
    ) -> Result<Self, StoreError> {
        let codec = vault.codec();
        let connect = backing.connector();
        let mut connection = connect.connect().await?;
        let head = connection.read_head().await?;
        let (sender, queue) = mpsc::channel(options.queue);
        let (head_sender, head_receiver) = watch::channel(head.position);
        let (observers, wake) = (Observers::default(), Arc::new(Notify::new()));
        let remembered = options.remembered_accounts;
        let sequencer = Sequencer {
            queue,
            wake: Arc::clone(&wake),
            connect,
            codec: Arc::clone(&codec),
            sources: sources.clone(),
            memory: Memory::new(options.remembered_streams, remembered, Arc::clone(&vault)),
            options,
            observers: observers.clone(),
            head_sender,
            head,
            connection: Some(connection),
            key_day: None,
            last_batch: Duration::ZERO,
        };
        let writer = tokio::spawn(sequencer.run());
        let listener = tokio::spawn(backing.clone().listen(head_receiver.clone(), wake));
        Ok(Self(Arc::new(Inner {
            backing,
            sources,
            codec,
            vault,
            queue: Mutex::new(Some(sender)),
            head: head_receiver,
            halted: AtomicBool::new(false),
            observers,
            holdings: Mutex::new(LruCache::new(remembered)),
            kill_writer: writer.abort_handle(),
            writer: tokio::sync::Mutex::new(Some(writer)),
            listener,
        })))
    }

    /// Carries out a unit, all of it or nothing, and answers once it is durable.
    ///
    /// Dropping the future does not take the unit back. With an idempotency key that was used before, the
    /// answer is made of the events of then.
    ///
    /// # Errors
    /// [`SubmitError`]; in every case but an unreachable store nothing was written.
    pub async fn submit(&self, unit: Unit) -> Result<Committed, SubmitError> {
        self.queue(unit)?.await
    }

    /// Puts a unit in the queue, behind those that are there, and answers with what [`submit`](Self::submit) waits for.
    ///
    /// # Errors
    /// [`SubmitError::Busy`], [`SubmitError::Unavailable`].
    pub fn queue(
        &self,
        unit: Unit,
    ) -> Result<impl Future<Output = Result<Committed, SubmitError>> + Send + 'static, SubmitError> {
        let (reply, answer) = oneshot::channel();
        self.enqueue(Queued { unit, reply })?;
        let journal = self.clone();
        Ok(async move { journal.answered(answer).await })
    }

    async fn answered(
        &self,
        answer: oneshot::Receiver<Result<Answer, SubmitError>>,
    ) -> Result<Committed, SubmitError> {
        match answer.await.map_err(|_| SubmitError::Unavailable)?? {
            Answer::Appended { events, position } => Ok(Committed { events, position, replayed: false }),
            Answer::Replay { first, last } => {
                let events = async {
                    let mut connection = self.0.backing.acquire().await?;
                    read::range(&mut connection, &self.0.codec, first - 1, last).await
                };
                let events = events.await.map_err(|error: StoreError| {
                    tracing::error!(%error, "a recorded answer cannot be read");
                    SubmitError::Unavailable
                })?;
                Ok(Committed { events, position: last, replayed: true })
            }
        }
    }

    /// Takes no units any more, or takes them again. What is queued is written.
    pub(crate) fn halt(&self, halted: bool) {
        self.0.halted.store(halted, Ordering::Relaxed);
    }

    /// Whether it takes no units because something is wrong with what was written.
    #[must_use]
    pub fn is_halted(&self) -> bool {
        self.0.halted.load(Ordering::Relaxed)
    }

    fn enqueue(&self, queued: Queued) -> Result<(), SubmitError> {
        if self.is_halted() {
            return Err(SubmitError::Unavailable);
        }
        let queue = self.0.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(queue) = queue.as_ref() else { return Err(SubmitError::Unavailable) };
        queue.try_send(queued).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => SubmitError::Busy,
            mpsc::error::TrySendError::Closed(_) => SubmitError::Unavailable,
        })
    }

    /// The position of the last event, whichever process wrote it.
    #[must_use]
    pub fn head(&self) -> watch::Receiver<Position> {
        self.0.head.clone()
    }

    /// Lets `observer` see every event from now on.
    pub fn observe(&self, observer: Arc<dyn Observer>) {
        self.0.observers.0.write().unwrap_or_else(PoisonError::into_inner).push(observer);
    }

    /// What it is kept in, for the schedule.
    pub(crate) fn backing(&self) -> &Backing {
        &self.0.backing
    }

    /// Encrypts a person's files, so that they are erased with the person.
    #[must_use]
    pub fn vault(&self) -> PersonalBytes<'_> {
        PersonalBytes { vault: &self.0.vault, backing: &self.0.backing }
    }

    /// What reads the log, with the keys at hand.
    #[must_use]
    pub fn codec(&self) -> &Codec {
        &self.0.codec
    }

    /// The clock and the randomness of the bank.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.0.sources
    }

    /// Takes nothing more, writes what is queued, and stops.
    pub async fn close(&self) {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.0.listener.abort();
        if let Some(writer) = self.0.writer.lock().await.take()
            && writer.await.is_err()
        {
            tracing::error!("the sequencer did not stop cleanly");
        }
    }
}

impl Journal {
    /// Stops where it is, without a word to anybody: what a process does that is killed.
    pub(crate) fn kill(&self) {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.0.listener.abort();
        self.0.kill_writer.abort();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.listener.abort();
    }
}
