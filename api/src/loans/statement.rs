//! The statement of a loan.

use axum::extract::State;
use bursar_domain::kernel::LoanId;
use bursar_projections::Page;
use bursar_projections::loans::{LoanEntry, find, statement};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::MODEL;
use super::views::next;
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ReadAccount};
use crate::openapi::{ReadHeaders, ReadProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::query;
use crate::request::{Conditions, DateRange, InPath, Queried};

query! {
    /// Which time.
    LoanStatementQuery {
        /// Which time.
        range: DateRange = "from",
        /// Which part.
        page: Page = "page",
    }
}

/// What happened on a loan in a stretch of time, newest first. Sums in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoanStatement {
    loan_id: String,
    loan_number: String,
    product_name: String,
    currency: String,
    /// 0 until it is paid out.
    disbursed_amount: i64,
    /// Principal and accrued interest that are owed now.
    current_balance: i64,
    /// Everything that was paid so far.
    total_paid: i64,
    /// Interest of all months.
    total_interest: i64,
    /// When the first instalment that is not wholly paid is or was due.
    next_payment_date: Option<Timestamp>,
    /// What is due by now; when nothing is, what will be.
    next_payment_amount: i64,
    transactions: Vec<LoanStatementEntry>,
    pagination: Pagination,
}

/// One line of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoanStatementEntry {
    transaction_id: String,
    transaction_date: Timestamp,
    description: String,
    /// `DISBURSEMENT`, `INTEREST` (as it accrues), `PAYMENT` or `WRITE_OFF`.
    r#type: &'static str,
    /// Positive for what is owed more, negative for what is owed less.
    amount: i64,
    /// Principal and accrued interest owed after it.
    balance: i64,
}

/// Reads the statement of a loan of the caller. Without a range: the last 30 days.
#[utoipa::path(
    get, path = "/v1/loans/{loanId}/statement", tag = "Loans",
    params(InPath<LoanId>, LoanStatementQuery, ReadHeaders),
    responses((status = 200, description = "The statement.", body = LoanStatement), ReadProblems)
)]
pub(super) async fn read_loan_statement(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    id: InPath<LoanId>,
    Queried(query): Queried<LoanStatementQuery>,
) -> Result<Answer<LoanStatement>, Problem> {
    let id = id.get()?;
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let found = find(&app.pool, Some(caller.user()), id).await?;
    let loan = found.ok_or_else(|| Problem::not_found("loan"))?;
    let entries = statement(&app.pool, id, (query.range.from, query.range.to), query.page).await?;
    let (next_payment_date, next_payment_amount) = next(&loan, app.journal.sources().clock.now());
    let version = loan.version;
    let result = LoanStatement {
        loan_id: id.to_string(),
        loan_number: loan.loan_number,
        product_name: loan.product_name,
        currency: loan.currency.to_string(),
        disbursed_amount: if loan.disbursed_at.is_some() { loan.amount } else { 0 },
        current_balance: loan.principal_outstanding.saturating_add(loan.interest_outstanding),
        total_paid: loan.total_paid,
        total_interest: loan.total_interest,
        next_payment_date,
        next_payment_amount,
        pagination: Pagination::of(query.page, entries.total),
        transactions: entries.items.into_iter().map(LoanStatementEntry::of).collect(),
    };
    Ok(Answer::ok(result).tagged(version, wants.none_match))
}

impl LoanStatementEntry {
    fn of(entry: LoanEntry) -> Self {
        Self {
            transaction_id: entry.transaction_id.to_string(),
            transaction_date: entry.recorded_at,
            description: entry.description,
            r#type: entry.kind.as_str(),
            amount: entry.amount,
            balance: entry.balance,
        }
    }
}
