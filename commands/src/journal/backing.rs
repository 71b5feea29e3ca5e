//! What a journal is kept in: a schema of Postgres, or memory.
//!
//! Everything above is the same code over both: the sequencer, use cases, processes, the vault. A question to the store is
//! asked here of whichever it is; the SQL is in `store` and `read`, what answers in its place in [`in_memory`](super::in_memory).

use std::sync::Arc;
use std::time::Duration;

use bursar_domain::codec::Codec;
use bursar_domain::{Position, Recorded};
use jiff::civil::Date;
use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{ConnectOptions as _, PgConnection, PgPool, Postgres, Transaction};
use tokio::sync::{Notify, watch};

use super::StoreError;
use super::in_memory::{Door, Session};
use super::plan::{Memory, Misses, Plan};
use super::store::{self, Head, KnownKey};

/// Where a journal is kept.
#[derive(Clone)]
pub(crate) enum Backing {
    /// The schema that the pool's connections have first in their `search_path`.
    Postgres(PgPool),
    /// Tables of this process.
    InMemory(Door),
}

impl Backing {
    /// Something to read by.
    pub(crate) async fn acquire(&self) -> Result<Connection, StoreError> {
        Ok(match self {
            Self::Postgres(pool) => Connection::Pooled(pool.acquire().await?),
            Self::InMemory(door) => Connection::InMemory(Box::new(door.session())),
        })
    }

    /// How a sequencer connects.
    pub(super) fn connector(&self) -> Connector {
        match self {
            Self::Postgres(pool) => {
                Connector::Postgres(Box::new((*pool.connect_options()).clone().options([
                    // A frozen writer must not hold the head for ever.
                    ("idle_in_transaction_session_timeout", "10s"),
                    // Every statement of the sequencer goes by index; plans made while a table was new must not scan it.
                    ("enable_seqscan", "off"),
                ])))
            }
            Self::InMemory(door) => Connector::InMemory(door.clone()),
        }
    }

    /// Wakes the sequencer when another process has written. Never ends.
    pub(super) async fn listen(self, head: watch::Receiver<Position>, wake: Arc<Notify>) {
        match self {
            Self::Postgres(pool) => listen(pool, head, wake).await,
            Self::InMemory(door) => door.listen(head, wake).await,
        }
    }
}

/// How a sequencer comes to its connection.
pub(super) enum Connector {
    Postgres(Box<PgConnectOptions>),
    InMemory(Door),
}

impl Connector {
    pub(super) async fn connect(&self) -> Result<Connection, StoreError> {
        Ok(match self {
            Self::Postgres(options) => Connection::Postgres(Box::new(options.connect().await?)),
            Self::InMemory(door) => {
                door.pass().await?;
                Connection::InMemory(Box::new(door.session()))
            }
        })
    }
}

/// A way to the store, with at most one transaction on it. Whoever drops it takes back what was not committed.
pub(crate) enum Connection {
    /// The sequencer's own.
    Postgres(Box<PgConnection>),
    /// Lent by a pool, for reading.
    Pooled(PoolConnection<Postgres>),
    InMemory(Box<Session>),
}

/// Either kind of connection, for as long as a question takes.
pub(crate) enum Reader<'a> {
    Postgres(&'a mut PgConnection),
    InMemory(&'a mut Session),
}

impl Reader<'_> {
    pub(crate) fn again(&mut self) -> Reader<'_> {
        match self {
            Self::Postgres(connection) => Reader::Postgres(connection),
            Self::InMemory(session) => Reader::InMemory(session),
        }
    }
}

impl<'a> From<&'a mut Connection> for Reader<'a> {
    fn from(connection: &'a mut Connection) -> Self {
        match connection {
            Connection::Postgres(connection) => Self::Postgres(connection),
            Connection::Pooled(connection) => Self::Postgres(connection),
            Connection::InMemory(session) => Self::InMemory(session),
        }
    }
}

impl<'a> From<&'a mut PgConnection> for Reader<'a> {
    fn from(connection: &'a mut PgConnection) -> Self {
        Self::Postgres(connection)
    }
}

impl<'a> From<&'a mut PoolConnection<Postgres>> for Reader<'a> {
    fn from(connection: &'a mut PoolConnection<Postgres>) -> Self {
        Self::Postgres(connection)
    }
}

impl<'a> From<&'a mut Transaction<'_, Postgres>> for Reader<'a> {
    fn from(transaction: &'a mut Transaction<'_, Postgres>) -> Self {
        Self::Postgres(transaction)
    }
}

/// What the sequencer asks. Each is documented in [`store`].
impl Connection {
    fn reader(&mut self) -> Reader<'_> {
        self.into()
    }

    pub(super) async fn lock_head(&mut self) -> Result<Head, StoreError> {
        match self.reader() {
            Reader::Postgres(connection) => Ok(store::lock_head(connection).await?),
            Reader::InMemory(session) => session.lock_head().await,
        }
    }

    pub(super) async fn commit(&mut self) -> Result<(), StoreError> {
        match self.reader() {
            Reader::Postgres(connection) => Ok(store::commit(connection).await?),
            Reader::InMemory(session) => session.commit().await,
        }
    }

    pub(super) async fn release(&mut self) -> Result<(), StoreError> {
        match self.reader() {
            Reader::Postgres(connection) => Ok(store::release(connection).await?),
            Reader::InMemory(session) => session.release().await,
        }
    }

    pub(super) async fn read_head(&mut self) -> Result<Head, StoreError> {
        match self.reader() {
            Reader::Postgres(connection) => Ok(store::read_head(connection).await?),
            Reader::InMemory(session) => session.read_head().await,
        }
    }

    pub(super) async fn fill(
        &mut self,
        codec: &Codec,
        misses: Misses,
        memory: &mut Memory,
    ) -> Result<(), StoreError> {
        store::fill(self.reader(), codec, misses, memory).await
    }

    pub(super) async fn known_keys(&mut self, keys: &[[u8; 16]]) -> Result<Vec<KnownKey>, StoreError> {
        match self.reader() {
            Reader::Postgres(connection) => Ok(store::known_keys(connection, keys).await?),
            Reader::InMemory(session) => session.known_keys(keys).await,
        }
    }

    pub(super) async fn turn_key_partitions(&mut self, day: Date, keep_from: Date) -> Result<(), StoreError> {
        match self.reader() {
            Reader::Postgres(connection) => Ok(store::turn_key_partitions(connection, day, keep_from).await?),
            Reader::InMemory(session) => session.turn_key_partitions(day, keep_from).await,
        }
    }

    pub(super) async fn append(
        &mut self,
        plan: &Plan,
        memory: &Memory,
        day: Date,
        asked: &[[u8; 16]],
    ) -> Result<Vec<KnownKey>, StoreError> {
        match self.reader() {
            Reader::Postgres(connection) => store::append(connection, plan, memory, day, asked).await,
            Reader::InMemory(session) => session.append(plan, memory, day, asked).await,
        }
    }

    pub(super) async fn is_recorded(&mut self, first: &Recorded, payload: &str) -> Result<bool, StoreError> {
        match self.reader() {
            Reader::Postgres(connection) => store::is_recorded(connection, first, payload).await,
            Reader::InMemory(session) => session.is_recorded(first, payload).await,
        }
    }
}

/// Wakes the sequencer when another process has written.
async fn listen(pool: PgPool, head: watch::Receiver<Position>, wake: Arc<Notify>) {
    // A listener keeps its connection for ever: it must not take one of the readers'.
    let own = PgPoolOptions::new().max_connections(1).max_lifetime(None).idle_timeout(None);
    let own = own.connect_lazy_with((*pool.connect_options()).clone());
    loop {
        let listening = async {
            let schema =
                sqlx::query_scalar!(r#"SELECT current_schema()::text AS "schema!""#).fetch_one(&pool).await?;
            let mut listener = PgListener::connect_with(&own).await?;
            listener.listen(&format!("{schema}.head")).await?;
            loop {
                let notification = listener.recv().await?;
                let ours =
                    notification.payload().parse().is_ok_and(|position: Position| position <= *head.borrow());
                if !ours {
                    wake.notify_one();
                }
            }
        };
        let ended: Result<(), sqlx::Error> = listening.await;
        if let Err(error) = ended {
            // The sequencer looks by itself once a second in the meantime.
            tracing::debug!(%error, "not listening to other processes; trying again");
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}
