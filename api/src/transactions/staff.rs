//! Transactions of anybody's, for staff: both sides at once, as they stand in the books.

use axum::extract::State;
use bursar_domain::kernel::TransactionId;
use bursar_projections::Page;
use bursar_projections::transactions::{Transaction, find, search};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{AccountOps, Allowed};
use crate::openapi::{ReadHeaders, ReadProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::query;
use crate::request::{Conditions, InPath, Queried, Text};

/// The read model behind these pages.
const MODEL: &str = "transactions";

query! {
    /// Which transactions to look for.
    FindTransactions {
        /// A transaction id, or a whole reference. Without it nothing is found.
        q: Option<Text<140>> = "q",
        /// Which part.
        page: Page = "page",
    }
}

/// Transactions that were found, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct StaffTransactionList {
    transactions: Vec<StaffTransaction>,
    pagination: Pagination,
}

/// A transaction. Sums in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StaffTransaction {
    transaction_id: String,
    /// As in `/v1/transactions`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// `SUCCESS`, `SETTLED`, `RETURNED`, `REVERSED`, or `DISPUTED` while a dispute is open.
    status: &'static str,
    amount: i64,
    /// What the bank took beside the amount, or gave back in a reversal.
    fee: i64,
    currency: String,
    /// The account debited; `bank:role:currency` for the bank's own.
    source_account: String,
    /// The account credited; `bank:role:currency` for the bank's own.
    destination_account: String,
    /// Who holds the account debited; null when it is the bank's own.
    payer_id: Option<String>,
    /// Who holds the account credited; null when it is the bank's own.
    payee_id: Option<String>,
    /// The payee's name, as the payer gave it.
    destination_name: Option<String>,
    /// Code of the bank or biller, or the wallet provider, at the other end; null inside this bank.
    institution: Option<String>,
    /// Name of that bank or biller.
    institution_name: Option<String>,
    /// Account, customer, phone or masked card number there.
    outside_number: Option<String>,
    reference: String,
    narration: Option<String>,
    processed_at: Timestamp,
    /// When it arrived outside.
    settled_at: Option<Timestamp>,
    /// When it came back.
    returned_at: Option<Timestamp>,
    /// Why it came back, in the rail's words.
    return_reason: Option<String>,
    /// The transaction that this one undoes or refunds.
    original_transaction_id: Option<String>,
    /// The transaction that undid this one.
    reversed_by: Option<String>,
    /// The open dispute.
    dispute_id: Option<String>,
    /// What was given back after disputes.
    refunded_amount: i64,
    /// Where it stands in the log.
    position: i64,
}

impl From<Transaction> for StaffTransaction {
    fn from(row: Transaction) -> Self {
        Self {
            transaction_id: row.transaction_id.to_string(),
            kind: row.kind.as_str(),
            status: row.status.as_str(),
            amount: row.amount,
            fee: row.fee,
            currency: row.currency.to_string(),
            source_account: row.source_account.to_string(),
            destination_account: row.destination_account.to_string(),
            payer_id: row.payer.map(|id| id.to_string()),
            payee_id: row.payee.map(|id| id.to_string()),
            destination_name: row.destination_name,
            institution: row.institution,
            institution_name: row.institution_name,
            outside_number: row.outside_number,
            reference: row.reference,
            narration: row.narration,
            processed_at: row.recorded_at,
            settled_at: row.settled_at,
            returned_at: row.returned_at,
            return_reason: row.return_reason,
            original_transaction_id: row.undoes.map(|id| id.to_string()),
            reversed_by: row.reversed_by.map(|id| id.to_string()),
            dispute_id: row.dispute_id,
            refunded_amount: row.refunded,
            position: row.position,
        }
    }
}

/// Staff: finds transactions of anybody's by id or reference.
#[utoipa::path(
    get, path = "/v1/staff/transactions", tag = "Staff", params(FindTransactions, ReadHeaders),
    responses((status = 200, description = "What was found.", body = StaffTransactionList), ReadProblems)
)]
pub(super) async fn find_transactions(
    State(app): State<App>,
    caller: Allowed<AccountOps>,
    wants: Conditions,
    Queried(query): Queried<FindTransactions>,
) -> Result<Answer<StaffTransactionList>, Problem> {
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let found = match query.q {
        Some(q) => search(&app.pool, &String::from(q), query.page).await?,
        None => bursar_projections::Paged::default(),
    };
    Ok(Answer::ok(StaffTransactionList {
        pagination: Pagination::of(query.page, found.total),
        transactions: found.items.into_iter().map(StaffTransaction::from).collect(),
    }))
}

/// Staff: reads a transaction of anybody's.
#[utoipa::path(
    get, path = "/v1/staff/transactions/{transactionId}", tag = "Staff",
    params(InPath<TransactionId>, ReadHeaders),
    responses((status = 200, description = "The transaction.", body = StaffTransaction), ReadProblems)
)]
pub(super) async fn read_transaction_as_staff(
    State(app): State<App>,
    caller: Allowed<AccountOps>,
    wants: Conditions,
    id: InPath<TransactionId>,
) -> Result<Answer<StaffTransaction>, Problem> {
    let id = id.get()?;
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let row = find(&app.pool, None, id).await?.ok_or_else(|| Problem::not_found("transaction"))?;
    let version = row.version;
    Ok(Answer::ok(StaffTransaction::from(row)).tagged(version, wants.none_match))
}
