//! Applications to close accounts.

use bursar_domain::closures::{ClosureEvent, ClosureStatus, Requested};
use bursar_domain::kernel::{ClosureId, TransactionId, UserId};
use bursar_domain::{AccountNumber, Event, Kind, Position, Recorded};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

use crate::page::{Page, Paged, Sort, SortField};
use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{self, Record, Records, equal, groups_with, list_all};
use crate::row::{erase, erasure, named, parsed};

/// An application. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosureRow {
    /// Its id.
    pub closure_id: ClosureId,
    /// Who asks.
    pub owner: UserId,
    /// The account.
    pub account_number: AccountNumber,
    /// Why.
    pub reason: String,
    /// When it should be closed.
    pub preferred_date: Option<Timestamp>,
    /// The account that gets what is left.
    pub transfer_account: Option<AccountNumber>,
    /// What else they said.
    pub comments: Option<String>,
    /// Where it is.
    pub status: ClosureStatus,
    /// What staff said about it last.
    pub note: Option<String>,
    /// Who approved or rejected it.
    pub decided_by: Option<UserId>,
    /// Who closed the account.
    pub closed_by: Option<UserId>,
    /// What was left and paid out, minor units.
    pub swept_amount: Option<i64>,
    /// The transaction that paid it out.
    pub swept_by: Option<TransactionId>,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// When it last moved.
    pub updated_at: Timestamp,
    /// Events so far.
    pub version: i64,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

impl ClosureRow {
    fn begun(event: &Recorded, closure_id: ClosureId, requested: &Requested) -> Self {
        Self {
            closure_id,
            owner: requested.owner,
            account_number: requested.account.clone(),
            reason: requested.reason.clone(),
            preferred_date: requested.preferred_date,
            transfer_account: requested.transfer_account.clone(),
            comments: requested.comments.as_ref().map(|text| text.or_erased().to_owned()),
            status: ClosureStatus::Pending,
            note: None,
            decided_by: None,
            closed_by: None,
            swept_amount: None,
            swept_by: None,
            submitted_at: event.recorded_at,
            updated_at: event.recorded_at,
            version: event.sequence,
            last_position: event.position,
        }
    }

    fn moved(&mut self, what: &ClosureEvent) {
        match what {
            ClosureEvent::Requested(_) => {}
            ClosureEvent::Approved { by, note } => {
                (self.status, self.decided_by) = (ClosureStatus::Approved, Some(*by));
                self.note.clone_from(note);
            }
            ClosureEvent::Rejected { by, reason } => {
                (self.status, self.decided_by) = (ClosureStatus::Rejected, Some(*by));
                self.note = Some(reason.clone());
            }
            ClosureEvent::Cancelled => self.status = ClosureStatus::Cancelled,
            ClosureEvent::Completed(completed) => {
                (self.status, self.closed_by) = (ClosureStatus::Completed, Some(completed.by));
                self.note.clone_from(&completed.note);
                self.swept_amount = completed.swept.as_ref().map(|swept| swept.amount.minor());
                self.swept_by = completed.swept.as_ref().map(|swept| swept.transaction_id);
            }
        }
    }
}

impl Record for ClosureRow {
    const TABLE: &'static Table = &Closures::TABLES[0];
    const GROUP: &'static str = "closure_id";
    type Key = ClosureId;
    type Group = ClosureId;

    fn key(&self) -> ClosureId {
        self.closure_id
    }

    fn group(&self) -> ClosureId {
        self.closure_id
    }
}

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClosureSort {
    /// When they were submitted.
    #[default]
    SubmittedAt,
    /// When the accounts should be closed.
    PreferredDate,
}

impl SortField for ClosureSort {
    const NAMES: &'static [(&'static str, Self)] =
        &[("submittedAt", Self::SubmittedAt), ("preferredClosureDate", Self::PreferredDate)];
}

/// Which applications a list shows; everything that is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct ClosureFilter {
    /// Only about this account.
    pub account: Option<AccountNumber>,
    /// Only those in this state.
    pub status: Option<ClosureStatus>,
}

/// One page of the applications that `filter` lets through.
///
/// # Errors
/// When the database cannot be read.
pub async fn filtered(
    pool: &PgPool,
    filter: &ClosureFilter,
    sort: Sort<ClosureSort>,
    page: Page,
) -> sqlx::Result<Paged<ClosureRow>> {
    let column = match sort.field {
        ClosureSort::SubmittedAt => "submitted_at",
        ClosureSort::PreferredDate => "preferred_date",
    };
    let order = format!("{column} {}", sort.direction());
    let matching = |query: &mut QueryBuilder<'_, Postgres>| {
        let wanted = [
            ("account_number", filter.account.as_ref().map(AccountNumber::to_string)),
            ("status", filter.status.map(|status| status.to_string())),
        ];
        equal(query, wanted);
    };
    list_all(pool, matching, &order, page).await
}

/// The application, whoever's it is.
///
/// # Errors
/// When the database cannot be read.
pub async fn find(pool: &PgPool, id: ClosureId) -> sqlx::Result<Option<ClosureRow>> {
    records::find::<ClosureRow>(pool, &id).await
}

/// The latest application about an account.
///
/// # Errors
/// When the database cannot be read.
pub async fn latest(pool: &PgPool, account: &AccountNumber) -> sqlx::Result<Option<ClosureRow>> {
    let filter = ClosureFilter { account: Some(account.clone()), status: None };
    let page = filtered(pool, &filter, Sort::default(), Page { page: 1, size: 1 }).await?;
    Ok(page.items.into_iter().next())
}

/// The read model behind [`filtered`].
#[derive(Debug, Default)]
pub struct Closures {
    rows: Records<ClosureRow>,
}

impl ReadModel for Closures {
    const NAME: &'static str = "closures";
    const READS: &'static [Kind] = &[Kind::Closure, Kind::User];
    const TABLES: &'static [Table] =
        &[Table { name: "closures", key: &["closure_id"], position: "last_position", append_only: false }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let closures = events.iter().filter(|event| event.stream.kind == Kind::Closure);
        self.rows.load(db, closures.filter_map(|event| named(event).ok())).await?;
        let erased: Vec<String> =
            events.iter().filter_map(erasure).map(|(user, _)| user.to_string()).collect();
        let theirs = groups_with::<ClosureRow>(db, "owner", &erased).await?;
        let theirs: Vec<ClosureId> = theirs.iter().map(|id| parsed(id)).collect::<sqlx::Result<_>>()?;
        self.rows.load(db, theirs.into_iter()).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        if let Some((user, _)) = erasure(event) {
            let words = |row: &mut ClosureRow| {
                erase(&mut row.comments);
                row.last_position = event.position;
            };
            self.rows.change_all(|row| row.owner == user, words);
        }
        let Event::Closure(what) = &event.event else { return Ok(()) };
        let id = named(event)?;
        if let ClosureEvent::Requested(requested) = what {
            self.rows.insert(ClosureRow::begun(event, id, requested));
            return Ok(());
        }
        let moves = |row: &mut ClosureRow| {
            row.moved(what);
            row.updated_at = event.recorded_at;
            row.version = event.sequence;
            row.last_position = event.position;
        };
        self.rows.change(&id, |_| true, moves);
        Ok(())
    }

    fn pending(&self) -> usize {
        self.rows.pending()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.rows.save(db).await
    }
}
