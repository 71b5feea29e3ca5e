//! Loans: what the bank lends, who asks for it, what they hand in, what staff decide, and what is owed.

mod apply;
mod documents;
mod items;
mod products;
mod staff;
mod statement;
mod views;

pub(crate) use products::{ListProducts, LoanProductList, loan_products};

use axum::extract::State;
use bursar_commands::Committed;
use bursar_commands::loans::withdraw;
use bursar_domain::Event;
use bursar_domain::kernel::{LoanId, UserId};
use bursar_domain::loans::{LoanEvent, LoanStatus};
use bursar_projections::loans::{self, LoanFilter, LoanSort, filtered, find};
use bursar_projections::statement_entries::AsOf;
use bursar_projections::{Page, Sort};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, Caller, ReadAccount, WriteTransactions};
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::past::{PastQuery, within_log};
use crate::problem::Problem;
use crate::request::{Conditions, InPath, OneOf, Queried, Text, Write};
use crate::{query, request};
use views::{LoanDetails, LoanList, LoanMoved};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(products::list_loan_products))
        .routes(routes!(products::calculate_loan))
        .routes(routes!(list_loans, apply::apply_for_loan))
        .routes(routes!(read_loan))
        .routes(routes!(withdraw_loan))
        .routes(routes!(statement::read_loan_statement))
        .routes(routes!(items::add_guarantor))
        .routes(routes!(items::add_collateral))
        .routes(routes!(documents::add_loan_document))
        .merge(staff::routes())
}

/// The read model of loans.
const MODEL: &str = "loans";

query! {
    /// Which loans are listed, and how.
    ListLoans {
        /// Only in this state.
        status: Option<OneOf<LoanStatus>> = "status",
        /// Only on this product.
        product_id: Option<Text<40>> = "productId",
        /// The order; newest first when absent.
        sort: Sort<LoanSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

query! {
    /// Which loans are listed, and how.
    ListAllLoans {
        /// Only of this customer.
        owner: Option<UserId> = "userId",
        /// Only in this state.
        status: Option<OneOf<LoanStatus>> = "status",
        /// Only on this product.
        product_id: Option<Text<40>> = "productId",
        /// The order; newest first when absent.
        sort: Sort<LoanSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

request! {
    /// Why an application is taken back.
    LoanWithdrawal {
        /// Why, for the file.
        reason: Option<Text<500>> = "reason",
    }
}

/// Lists the loans of the caller, whatever became of them.
#[utoipa::path(
    get, path = "/v1/loans", tag = "Loans", params(ListLoans, ReadHeaders),
    responses((status = 200, description = "The loans.", body = LoanList), ReadProblems)
)]
async fn list_loans(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(query): Queried<ListLoans>,
) -> Result<Answer<LoanList>, Problem> {
    let ListLoans { status, product_id, sort, page } = query;
    let query = ListAllLoans { owner: Some(caller.user()), status, product_id, sort, page };
    listed(&app, &caller, &wants, query).await
}

/// Reads a loan of the caller: the application, what is missing, what is owed; now, or as it was.
#[utoipa::path(
    get, path = "/v1/loans/{loanId}", tag = "Loans", params(InPath<LoanId>, PastQuery, ReadHeaders),
    responses((status = 200, description = "The loan.", body = LoanDetails), ReadProblems)
)]
async fn read_loan(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    id: InPath<LoanId>,
    Queried(PastQuery { as_of }): Queried<PastQuery>,
) -> Result<Answer<LoanDetails>, Problem> {
    one(&app, &caller, wants, Some(caller.user()), id, as_of).await
}

/// Takes an application back, until it is decided.
#[utoipa::path(
    post, path = "/v1/loans/{loanId}/withdraw", tag = "Loans",
    params(InPath<LoanId>, WriteHeaders, IfMatch), request_body = LoanWithdrawal,
    responses((status = 200, description = "Withdrawn.", body = LoanMoved), WriteProblems)
)]
async fn withdraw_loan(
    State(app): State<App>,
    id: InPath<LoanId>,
    write: Write<WriteTransactions, LoanWithdrawal>,
) -> Result<Answer<LoanMoved>, Problem> {
    let Write { caller, body, context, .. } = write;
    let reason = body.reason.map(String::from);
    let committed = withdraw(&app.journal, context, caller.user(), id.get()?, reason).await?;
    moved(&committed)
}

/// A loan: `owner`'s, or anybody's when no owner is given.
async fn one(
    app: &App,
    caller: &Caller,
    wants: Conditions,
    owner: Option<UserId>,
    id: InPath<LoanId>,
    as_of: Option<AsOf>,
) -> Result<Answer<LoanDetails>, Problem> {
    let id = id.get()?;
    app.fresh(caller, &wants, &[MODEL]).await?;
    within_log(app, as_of)?;
    let now = app.journal.sources().clock.now();
    let found = match as_of {
        None => find(&app.pool, owner, id).await?.map(|row| (row, now)),
        Some(then) => loans::as_of(&app.pool, app.journal.codec(), owner, id, then).await?,
    };
    let (row, now) = found.ok_or_else(|| Problem::not_found("loan"))?;
    let version = row.version;
    Ok(Answer::ok(LoanDetails::of(row, now)).tagged(version, wants.none_match))
}

async fn listed(
    app: &App,
    caller: &Caller,
    wants: &Conditions,
    query: ListAllLoans,
) -> Result<Answer<LoanList>, Problem> {
    app.fresh(caller, wants, &[MODEL]).await?;
    let status = query.status.map(|OneOf(status)| status);
    let filter = LoanFilter { owner: query.owner, status, product_id: query.product_id.map(String::from) };
    let found = filtered(&app.pool, &filter, query.sort, query.page).await?;
    let now = app.journal.sources().clock.now();
    Ok(Answer::ok(LoanList {
        pagination: Pagination::of(query.page, found.total),
        loans: found.items.into_iter().map(|row| LoanDetails::of(row, now)).collect(),
    }))
}

/// Where a loan has moved.
fn moved(committed: &Committed) -> Result<Answer<LoanMoved>, Problem> {
    let (recorded, (status, note, message)) = committed.event(|event| match event {
        Event::Loan(LoanEvent::ReviewStarted { note, .. }) => {
            Some((LoanStatus::UnderReview, note.clone(), "Application under review"))
        }
        Event::Loan(LoanEvent::InfoRequested { note, .. }) => {
            Some((LoanStatus::Pending, Some(note.clone()), "More information requested"))
        }
        Event::Loan(LoanEvent::Approved { note, .. }) => {
            Some((LoanStatus::Approved, note.clone(), "Loan approved"))
        }
        Event::Loan(LoanEvent::Rejected { reason, .. }) => {
            Some((LoanStatus::Rejected, Some(reason.clone()), "Application rejected"))
        }
        Event::Loan(LoanEvent::Withdrawn { reason }) => {
            Some((LoanStatus::Withdrawn, reason.clone(), "Application withdrawn"))
        }
        Event::Loan(LoanEvent::Disbursed(paid)) => {
            Some((LoanStatus::Disbursed, paid.note.clone(), "Loan paid out"))
        }
        Event::Loan(LoanEvent::WrittenOff(written)) => {
            Some((LoanStatus::WrittenOff, Some(written.reason.clone()), "Loan written off"))
        }
        _ => None,
    })?;
    Ok(Answer::ok(LoanMoved::of(recorded, status, note, message)).at(committed))
}
