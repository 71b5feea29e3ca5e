//! What a read model is.

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::Arc;

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

    /// The nouns whose stream is one row set: rows that only the events of that stream, or of what it names, change.
    const ROW_SETS: &'static [Kind] = &[];

    /// The row sets that an event changes, each by the name of an account, a person or a transaction. When the event cannot
    /// be taken they are parked and the others go on; when there are none, the whole model is parked.
    #[must_use]
    fn row_sets(event: &Recorded) -> Vec<String> {
        Self::ROW_SETS.contains(&event.stream.kind).then(|| event.stream.id.to_string()).into_iter().collect()
    }

    /// From now on, changes of the row sets that `mask` hides are passed over. A model that has row sets keeps to it.
    fn mask(&mut self, _mask: &Mask) {}

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

impl FoldError {
    /// The account that it is about.
    pub(crate) fn account(&self) -> Option<&str> {
        match self {
            Self::UnknownAccount(account) | Self::BrokenBalance { account, .. } | Self::Overflow(account) => {
                Some(account.as_str())
            }
            Self::ForeignStream(_) => None,
        }
    }
}

/// Which row sets of a model are left as they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Mask {
    /// None.
    #[default]
    Nothing,
    /// These: they are parked.
    These(Arc<BTreeSet<String>>),
    /// All but these: they are caught up with.
    AllBut(Arc<BTreeSet<String>>),
}

impl Mask {
    /// Hides these.
    pub(crate) fn these(row_sets: BTreeSet<String>) -> Self {
        if row_sets.is_empty() { Self::Nothing } else { Self::These(Arc::new(row_sets)) }
    }

    /// Whether the row set is left as it is.
    #[must_use]
    pub fn hides(&self, row_set: &str) -> bool {
        match self {
            Self::Nothing => false,
            Self::These(hidden) => hidden.contains(row_set),
            Self::AllBut(shown) => !shown.contains(row_set),
        }
    }

    /// Whether anything is left as it is.
    #[must_use]
    pub const fn is_nothing(&self) -> bool {
        matches!(self, Self::Nothing)
    }
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
    fn row_sets(&self, event: &Recorded) -> Vec<String>;
    /// Drops all rows, saved or not: the tables are the truth. From here on leaves what `mask` hides as it is.
    fn forget(&mut self, mask: &Mask);
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

    fn row_sets(&self, event: &Recorded) -> Vec<String> {
        M::row_sets(event)
    }

    fn forget(&mut self, mask: &Mask) {
        *self = M::default();
        ReadModel::mask(self, mask);
    }
}

/// The event a model cannot take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Poison {
    pub(crate) position: Position,
    pub(crate) reason: String,
    /// The row sets that are concerned; none when nobody can tell.
    pub(crate) row_sets: Vec<String>,
    /// Whose they may be, beside those whom their names tell: accounts and people.
    pub(crate) concerns: Vec<String>,
}

/// A row set that a model has left behind.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ParkedRows {
    /// Its name: an account, a person or a transaction.
    pub row_set: String,
    /// The event that could not be taken; its rows contain those before it.
    pub position: Position,
    /// Why it could not be taken.
    pub reason: String,
    /// Who is known to be concerned: what they read of the model is refused.
    pub owners: Vec<String>,
}
