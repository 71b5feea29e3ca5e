//! Lists and single transactions, as the caller sees them.

use std::collections::HashMap;

use axum::extract::State;
use bursar_domain::AccountNumber;
use bursar_domain::kernel::{TagId, TransactionId};
use bursar_domain::payments::PaymentKind;
use bursar_projections::tags::{self, Tagged};
use bursar_projections::transactions::{
    self, Transaction, TransactionFilter, TransactionSort, TransactionStatus,
};
use bursar_projections::{Page, Sort};

use super::views::{TransactionList, TransactionView};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, Caller, ReadAccount};
use crate::openapi::{ReadHeaders, ReadProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::query;
use crate::request::{Conditions, DateRange, InPath, Minor, OneOf, Queried, Search};

/// The read models behind these pages.
const MODELS: &[&str] = &["tags", "transactions"];

query! {
    /// Which transactions are listed, and how.
    ListTransactions {
        /// When they were made.
        range: DateRange = "from",
        /// Only of this type.
        kind: Option<OneOf<PaymentKind>> = "type",
        /// Only those of which this has become.
        status: Option<OneOf<TransactionStatus>> = "status",
        /// Only those that carry this tag of the caller's.
        tag: Option<TagId> = "tagId",
        /// Only those that debit or credit this account.
        account: Option<AccountNumber> = "accountNumber",
        /// At least so many minor units.
        min_amount: Option<Minor> = "minAmount",
        /// At most so many minor units.
        max_amount: Option<Minor> = "maxAmount",
        /// Text in reference, narration, or name or number at the other end.
        q: Search = "q",
        /// The order; newest first when absent.
        sort: Sort<TransactionSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

/// Lists the transactions that debit or credit the caller's accounts, all of them together.
#[utoipa::path(
    get, path = "/v1/transactions", tag = "Transactions", params(ListTransactions, ReadHeaders),
    responses((status = 200, description = "The transactions.", body = TransactionList), ReadProblems)
)]
pub(super) async fn list_transactions(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(list): Queried<ListTransactions>,
) -> Result<Answer<TransactionList>, Problem> {
    app.fresh(&caller, &wants, MODELS).await?;
    let filter = TransactionFilter {
        from: list.range.from,
        to: list.range.to,
        kind: list.kind.map(|OneOf(kind)| kind),
        status: list.status.map(|OneOf(status)| status),
        tag: list.tag,
        account: list.account,
        min_amount: list.min_amount.map(|Minor(least)| least),
        max_amount: list.max_amount.map(|Minor(most)| most),
        q: list.q.0,
    };
    let found = transactions::of_owner(&app.pool, caller.user(), &filter, list.sort, list.page).await?;
    let mut tagged = tagged(&app, &caller, &found.items).await?;
    let view = |transaction: Transaction| {
        let tagged = tagged.remove(&transaction.transaction_id).unwrap_or_default();
        TransactionView::of(transaction, caller.user(), tagged)
    };
    Ok(Answer::ok(TransactionList {
        pagination: Pagination::of(list.page, found.total),
        transactions: found.items.into_iter().map(view).collect(),
    }))
}

/// Reads one transaction that debits or credits an account of the caller.
#[utoipa::path(
    get, path = "/v1/transactions/{transactionId}", tag = "Transactions",
    params(InPath<TransactionId>, ReadHeaders),
    responses((status = 200, description = "The transaction.", body = TransactionView), ReadProblems)
)]
pub(super) async fn read_transaction(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    id: InPath<TransactionId>,
) -> Result<Answer<TransactionView>, Problem> {
    let transaction = transaction(&app, &caller, &wants, id, MODELS).await?;
    let mut tagged = tagged(&app, &caller, std::slice::from_ref(&transaction)).await?;
    let tagged = tagged.remove(&transaction.transaction_id).unwrap_or_default();
    let version = transaction.version;
    let view = TransactionView::of(transaction, caller.user(), tagged);
    Ok(Answer::ok(view).tagged(version, wants.none_match))
}

/// A transaction of the caller as the read model has it, fresh enough for them.
///
/// # Errors
/// 404 for somebody else's and for none; 503.
pub(super) async fn transaction(
    app: &App,
    caller: &Caller,
    wants: &Conditions,
    id: InPath<TransactionId>,
    models: &[&str],
) -> Result<Transaction, Problem> {
    let id = id.get()?;
    app.fresh(caller, wants, models).await?;
    let found = transactions::find(&app.pool, Some(caller.user()), id).await?;
    found.ok_or_else(|| Problem::not_found("transaction"))
}

/// What the caller has put on transactions.
async fn tagged(
    app: &App,
    caller: &Caller,
    transactions: &[Transaction],
) -> Result<HashMap<TransactionId, Tagged>, Problem> {
    let ids = transactions.iter().map(|transaction| transaction.transaction_id);
    Ok(tags::on(&app.pool, caller.user(), ids).await?)
}
