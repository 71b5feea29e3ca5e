//! Loans from their application on, what happened on each, and what analysts ask of all that are owed.

mod row;

use bursar_domain::codec::Codec;
use bursar_domain::kernel::{LoanId, UserId};
use bursar_domain::loans::{LoanEvent, LoanStatus, Row as Instalment};
use bursar_domain::{Event, Kind, Recorded};
use jiff::Timestamp;
use jiff_sqlx::ToSqlx as _;
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

pub use row::{CollateralRow, DocumentRow, EntryKind, GuarantorRow, LoanEntry, LoanRow, PortfolioRow};

use crate::page::{Page, Paged, Sort, SortField};
use crate::past::{Explanation, Of, Trace, each};
use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{self, Records, equal, groups_with, list, list_all};
use crate::row::{erasure, named, parsed};
use crate::statement_entries::AsOf;

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LoanSort {
    /// When they were applied for.
    #[default]
    SubmittedAt,
    /// How much.
    Amount,
}

impl SortField for LoanSort {
    const NAMES: &'static [(&'static str, Self)] =
        &[("submittedAt", Self::SubmittedAt), ("amount", Self::Amount)];
}

/// Which loans a list shows; everything that is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct LoanFilter {
    /// Only this customer's.
    pub owner: Option<UserId>,
    /// Only those in this state.
    pub status: Option<LoanStatus>,
    /// Only those on this product.
    pub product_id: Option<String>,
}

/// One page of the loans that `filter` lets through.
///
/// # Errors
/// When the database cannot be read.
pub async fn filtered(
    pool: &PgPool,
    filter: &LoanFilter,
    sort: Sort<LoanSort>,
    page: Page,
) -> sqlx::Result<Paged<LoanRow>> {
    let column = match sort.field {
        LoanSort::SubmittedAt => "submitted_at",
        LoanSort::Amount => "amount",
    };
    let order = format!("{column} {}", sort.direction());
    let matching = |query: &mut QueryBuilder<'_, Postgres>| {
        let wanted = [
            ("owner", filter.owner.map(|id| id.to_string())),
            ("status", filter.status.map(|status| status.to_string())),
            ("product_id", filter.product_id.clone()),
        ];
        equal(query, wanted);
    };
    list_all(pool, matching, &order, page).await
}

/// The loan, if it is `owner`'s; whosever it is, when no owner is given.
///
/// # Errors
/// When the database cannot be read.
pub async fn find(pool: &PgPool, owner: Option<UserId>, id: LoanId) -> sqlx::Result<Option<LoanRow>> {
    let found = records::find::<LoanRow>(pool, &id).await?;
    Ok(found.filter(|loan| owner.is_none_or(|owner| loan.owner == owner)))
}

bursar_domain::spelled! {
    /// A number of a loan, minor units.
    pub enum LoanField {
        /// Principal that is owed.
        RemainingBalance = "remainingBalance",
        /// Interest that has accrued and is not paid.
        InterestOutstanding = "interestOutstanding",
        /// What was paid so far.
        TotalPaid = "totalPaid",
        /// What ends it when it is paid at once.
        PayoffAmount = "payoffAmount",
        /// What the first instalment that is not wholly paid still needs.
        NextInstalment = "nextInstalment",
    }
}

impl LoanRow {
    /// The number that a field is.
    #[must_use]
    pub fn number(&self, field: LoanField) -> i64 {
        let is_owed = self.status == LoanStatus::Disbursed;
        match field {
            LoanField::RemainingBalance => self.principal_outstanding,
            LoanField::InterestOutstanding => self.interest_outstanding,
            LoanField::TotalPaid => self.total_paid,
            LoanField::PayoffAmount => {
                if is_owed {
                    self.book.payoff()
                } else {
                    0
                }
            }
            LoanField::NextInstalment => self.book.next().filter(|_| is_owed).map_or(0, Instalment::owed),
        }
    }
}

/// The loan as it was at a past moment, and when that was; none before it was applied for. `owner` as for [`find`].
///
/// # Errors
/// When the database cannot be read.
pub async fn as_of(
    pool: &PgPool,
    codec: &Codec,
    owner: Option<UserId>,
    id: LoanId,
    as_of: AsOf,
) -> sqlx::Result<Option<(LoanRow, Timestamp)>> {
    let mut model = Loans::default();
    let stream = id.to_string();
    let at =
        each(pool, codec, Of::Stream(Kind::Loan, &stream), Some(as_of), |event| model.fold(event)).await?;
    let row = model.loans.get(&id, &id).filter(|row| owner.is_none_or(|owner| row.owner == owner));
    Ok(row.cloned().map(|row| (row, at)))
}

/// How a number of a loan came about: the last `limit` events that changed it. None when there is no such loan.
///
/// # Errors
/// When the database cannot be read.
pub async fn explain(
    pool: &PgPool,
    codec: &Codec,
    id: LoanId,
    field: LoanField,
    as_of: Option<AsOf>,
    limit: usize,
) -> sqlx::Result<Option<Explanation>> {
    let (mut model, mut trace) = (Loans::default(), Trace::new(limit));
    let stream = id.to_string();
    each(pool, codec, Of::Stream(Kind::Loan, &stream), as_of, |event| {
        model.fold(event)?;
        trace.take(event, model.loans.get(&id, &id).map(|row| row.number(field)))
    })
    .await?;
    Ok(trace.finish())
}

/// One page of what happened on a loan from `from` (inclusive) to `to` (exclusive), newest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn statement(
    pool: &PgPool,
    id: LoanId,
    (from, to): (Timestamp, Timestamp),
    page: Page,
) -> sqlx::Result<Paged<LoanEntry>> {
    let within = |query: &mut QueryBuilder<'_, Postgres>| {
        query.push(" AND recorded_at >= ").push_bind(from.to_sqlx());
        query.push(" AND recorded_at < ").push_bind(to.to_sqlx());
    };
    list(pool, &id, within, "last_position DESC", page).await
}

/// The read model behind [`filtered`] and [`statement`].
#[derive(Debug, Default)]
pub struct Loans {
    loans: Records<LoanRow>,
    entries: Records<LoanEntry>,
    portfolio: Records<PortfolioRow>,
}

impl ReadModel for Loans {
    const NAME: &'static str = "loans";
    const READS: &'static [Kind] = &[Kind::Loan, Kind::User];
    const TABLES: &'static [Table] = &[
        Table { name: "loans", key: &["loan_id"], position: "last_position", append_only: false },
        Table {
            name: "loan_entries",
            key: &["loan_id", "transaction_id"],
            position: "last_position",
            append_only: false,
        },
        Table { name: "loan_portfolio", key: &["loan_id"], position: "last_position", append_only: false },
    ];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let ids: Vec<LoanId> = events
            .iter()
            .filter(|event| event.stream.kind == Kind::Loan)
            .filter_map(|event| named(event).ok())
            .collect();
        self.loans.load(db, ids.iter().copied()).await?;
        let erased: Vec<String> =
            events.iter().filter_map(erasure).map(|(user, _)| user.to_string()).collect();
        let theirs = groups_with::<LoanRow>(db, "owner", &erased).await?;
        let theirs: Vec<LoanId> = theirs.iter().map(|id| parsed(id)).collect::<sqlx::Result<_>>()?;
        self.loans.load(db, theirs.into_iter()).await?;
        // An entry is written once, and so needs no loading.
        self.portfolio.load(db, ids.into_iter()).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        if let Some((user, _)) = erasure(event) {
            self.loans.change_all(|row| row.owner == user, |row| row.erase(event.position));
        }
        let Event::Loan(what) = &event.event else { return Ok(()) };
        let id: LoanId = named(event)?;
        if let LoanEvent::Applied(applied) = what {
            self.loans.insert(LoanRow::applied(event, id, applied));
            return Ok(());
        }
        self.loans.change(&id, |_| true, |row| row.grow(event, what));
        let Some(row) = self.loans.get(&id, &id) else { return Ok(()) };
        if let Some(entry) = entry(event, what, row) {
            self.entries.insert(entry);
        }
        match what {
            LoanEvent::Disbursed(_)
            | LoanEvent::Accrued { .. }
            | LoanEvent::Repaid(_)
            | LoanEvent::Missed { .. } => self.portfolio.insert(PortfolioRow::of(event, row)),
            LoanEvent::Closed | LoanEvent::WrittenOff(_) => {
                self.portfolio.remove(&id, &id);
            }
            LoanEvent::Applied(_)
            | LoanEvent::GuarantorAdded(_)
            | LoanEvent::CollateralAdded(_)
            | LoanEvent::DocumentAdded(_)
            | LoanEvent::Checked { .. }
            | LoanEvent::CollateralReleased { .. }
            | LoanEvent::ReviewStarted { .. }
            | LoanEvent::InfoRequested { .. }
            | LoanEvent::Approved { .. }
            | LoanEvent::Rejected { .. }
            | LoanEvent::Withdrawn { .. }
            | LoanEvent::Expired => {}
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.loans.pending() + self.entries.pending() + self.portfolio.pending()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.loans.save(db).await?;
        self.entries.save(db).await?;
        self.portfolio.save(db).await
    }
}

/// The line of the loan's statement that an event is, when money moved.
fn entry(event: &Recorded, what: &LoanEvent, row: &LoanRow) -> Option<LoanEntry> {
    let (kind, transaction_id, amount) = match what {
        LoanEvent::Disbursed(paid) => (EntryKind::Disbursement, paid.transaction_id, paid.amount.minor()),
        LoanEvent::Accrued { amount, transaction_id } => {
            (EntryKind::Interest, *transaction_id, amount.minor())
        }
        LoanEvent::Repaid(paid) => (EntryKind::Payment, paid.transaction_id, -paid.amount.minor()),
        LoanEvent::WrittenOff(written) => {
            (EntryKind::WriteOff, written.transaction_id, -(written.principal + written.interest))
        }
        _ => return None,
    };
    Some(LoanEntry {
        loan_id: row.loan_id,
        transaction_id,
        recorded_at: event.recorded_at,
        kind,
        description: kind.words().to_owned(),
        amount,
        balance: row.principal_outstanding + row.interest_outstanding,
        last_position: event.position,
    })
}
