//! What a read model is.

use std::future::Future;

use bursar_domain::{AccountNumber, Kind, Position, Recorded};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use sqlx::PgConnection;

/// Tables made from the log by a fold.
///
/// A model holds in memory the rows it has touched: [`load`](Self::load) brings those that a batch needs,
/// [`fold`](Self::fold) changes them and [`save`](Self::save) writes the changed ones back, set-wise. The
/// live runner, a rebuild and a check all do exactly this; which tables an unqualified name means is
/// decided by the `search_path` of the connection.
pub trait ReadModel: Default + Send + 'static {
    /// Its name: what `bursar projections rebuild NAME` takes.
    const NAME: &'static str;
    /// The nouns whose events it folds; it never sees the others.
    const READS: &'static [Kind];
    /// The tables it writes; nobody else does.
    const TABLES: &'static [Table];

    /// Brings the rows into memory that `events` touch.
    fn load(
        &mut self,
        db: &mut PgConnection,
        events: &[Recorded],
    ) -> impl Future<Output = sqlx::Result<()>> + Send;

    /// Takes one event. Pure: the same rows and the same event give the same rows.
    ///
    /// # Errors
    /// [`FoldError`] when the event contradicts the rows; they must be as before then.
    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError>;

    /// How many rows wait for [`save`](Self::save).
    fn pending(&self) -> usize;

    /// Writes what changed since the last time. May forget rows it will not need soon.
    fn save(&mut self, db: &mut PgConnection) -> impl Future<Output = sqlx::Result<()>> + Send;
}

/// A table of a read model.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name, without a schema.
    pub name: &'static str,
    /// The columns of its primary key.
    pub key: &'static [&'static str],
    /// The column with the position of the event that last changed the row.
    pub position: &'static str,
    /// Rows are only appended, so that a rebuild indexes the table after filling it.
    pub append_only: bool,
}

/// An event that contradicts what the events before it said.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// An account that was never opened.
    #[error("account {0} was never opened")]
    UnknownAccount(AccountNumber),
    /// The balance after a posting is not the balance before it plus the posting.
    #[error("the balance of {account} after this posting must be {expected}, the event says {found}")]
    BrokenBalance {
        /// The account.
        account: AccountNumber,
        /// Balance before plus amount, minor units.
        expected: i128,
        /// What the posting carries, minor units.
        found: i64,
    },
    /// A stream that should be a person's is named by no user id.
    #[error("{0} is not a user id")]
    ForeignStream(String),
    /// A sum left the range of `i64`.
    #[error("a sum of {0} does not fit into 64 bits")]
    Overflow(AccountNumber),
}

/// A [`ReadModel`] behind a pointer, so that the runner can hold a list of them.
pub(crate) trait Model: Send {
    fn load<'a>(
        &'a mut self,
        db: &'a mut PgConnection,
        events: &'a [Recorded],
    ) -> BoxFuture<'a, sqlx::Result<()>>;
    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError>;
    fn pending(&self) -> usize;
    fn save<'a>(&'a mut self, db: &'a mut PgConnection) -> BoxFuture<'a, sqlx::Result<()>>;
    /// Drops all rows, saved or not: the tables are the truth.
    fn forget(&mut self);
}

impl<M: ReadModel> Model for M {
    fn load<'a>(
        &'a mut self,
        db: &'a mut PgConnection,
        events: &'a [Recorded],
    ) -> BoxFuture<'a, sqlx::Result<()>> {
        ReadModel::load(self, db, events).boxed()
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        ReadModel::fold(self, event)
    }

    fn pending(&self) -> usize {
        ReadModel::pending(self)
    }

    fn save<'a>(&'a mut self, db: &'a mut PgConnection) -> BoxFuture<'a, sqlx::Result<()>> {
        ReadModel::save(self, db).boxed()
    }

    fn forget(&mut self) {
        *self = M::default();
    }
}

/// The event a model cannot take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Poison {
    pub(crate) position: Position,
    pub(crate) reason: String,
}
