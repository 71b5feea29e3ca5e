//! Applications to close accounts: by customers, and what staff do about them.

use axum::extract::State;
use bursar_commands::closures::{self, NewClosure};
use bursar_commands::{Committed, accounts};
use bursar_domain::closures::{ClosureEvent, ClosureStatus, Requested};
use bursar_domain::kernel::{ClosureId, micros};
use bursar_domain::{AccountNumber, Event, Recorded};
use bursar_projections::closures::{ClosureFilter, ClosureRow, ClosureSort, filtered, find, latest};
use bursar_projections::{Page, Sort};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{AccountOps, Allowed, ReadAccount, WriteTransactions};
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::{Conditions, InPath, Nothing, OneOf, Queried, Text, Write};
use crate::{query, request};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(close_account, read_closure, cancel_closure))
        .routes(routes!(list_closures))
        .routes(routes!(read_closure_as_staff))
        .routes(routes!(approve_closure))
        .routes(routes!(reject_closure))
        .routes(routes!(finalize_closure))
}

/// The read model of applications.
const MODEL: &str = "closures";
/// How long a decision usually takes.
const PROCESSING_TIME: &str = "2 to 5 working days";

request! {
    /// That an account should be closed.
    CloseAccount {
        /// Why.
        closure_reason: Text<500> = "closureReason",
        /// When it should be closed, if it matters; staff decide.
        preferred_closure_date: Option<Timestamp> = "preferredClosureDate",
        /// The caller's account that gets what is left; needed unless nothing is.
        transfer_account: Option<AccountNumber> = "transferAccount",
        /// What else there is to say.
        comments: Option<Text<2000>> = "comments",
        /// Must be true.
        acknowledge_terms: bool = "acknowledgeTerms",
    }
}

request! {
    /// That an account is to be closed, or has been.
    ClosureNote {
        /// For the file; the customer can read it.
        note: Option<Text<500>> = "note",
    }
}

request! {
    /// That an account is not to be closed.
    ClosureReason {
        /// Why; the customer is told.
        reason: Text<500> = "reason",
    }
}

query! {
    /// Which applications are listed, and how.
    ListClosures {
        /// Only in this state.
        status: Option<OneOf<ClosureStatus>> = "status",
        /// Only about this account.
        account: Option<AccountNumber> = "accountNumber",
        /// The order; newest first when absent.
        sort: Sort<ClosureSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

/// An application that was submitted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClosureSubmitted {
    /// `SUCCESS`.
    status: &'static str,
    application_id: String,
    account_number: String,
    closure_reason: String,
    preferred_closure_date: Option<Timestamp>,
    transfer_account: Option<String>,
    /// `PENDING`.
    application_status: &'static str,
    submitted_at: Timestamp,
    /// In words.
    estimated_processing_time: &'static str,
    message: &'static str,
}

/// An application. Sums in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClosureDetails {
    application_id: String,
    account_number: String,
    closure_reason: String,
    preferred_closure_date: Option<Timestamp>,
    transfer_account: Option<String>,
    comments: Option<String>,
    /// `PENDING`, `APPROVED`, `REJECTED`, `CANCELLED` or `COMPLETED`.
    application_status: &'static str,
    /// What staff said about it last.
    note: Option<String>,
    /// What was left in the account and paid out.
    transferred_amount: Option<i64>,
    /// The transaction that paid it out.
    transaction_id: Option<String>,
    submitted_at: Timestamp,
    updated_at: Timestamp,
}

/// Applications.
#[derive(Debug, Serialize, ToSchema)]
pub struct ClosureList {
    applications: Vec<ClosureDetails>,
    pagination: Pagination,
}

/// An application that has moved. Sums in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClosureMoved {
    /// `SUCCESS`.
    status: &'static str,
    application_id: String,
    /// Where it is now.
    application_status: &'static str,
    note: Option<String>,
    /// What was left in the account and paid out.
    transferred_amount: Option<i64>,
    /// The account that got it.
    transfer_account: Option<String>,
    /// The transaction that paid it out.
    transaction_id: Option<String>,
    updated_at: Timestamp,
    message: &'static str,
}

/// Asks for an account of the caller's to be closed. Staff decide, and other staff close it.
///
/// Refused while a payment over the account is on its way, a loan is collected from it, or a dispute about a payment from it is
/// open. What is left when it is closed goes to `transferAccount`.
#[utoipa::path(
    post, path = "/v1/accounts/{accountNo}/close", tag = "Accounts",
    params(InPath<AccountNumber>, WriteHeaders, IfMatch), request_body = CloseAccount,
    responses((status = 201, description = "Submitted.", body = ClosureSubmitted), WriteProblems)
)]
async fn close_account(
    State(app): State<App>,
    number: InPath<AccountNumber>,
    write: Write<WriteTransactions, CloseAccount>,
) -> Result<Answer<ClosureSubmitted>, Problem> {
    let Write { caller, body, context, .. } = write;
    let account = accounts::owned(&app.journal, caller.user(), &number.get()?).await?;
    if !body.acknowledge_terms {
        let message = "the terms must be acknowledged";
        return Err(Problem::bad_request("/acknowledgeTerms", "NOT_ACKNOWLEDGED", message));
    }
    let transfer_account = match &body.transfer_account {
        Some(number) => Some(accounts::owned(&app.journal, caller.user(), number).await?),
        None => None,
    };
    let new = NewClosure {
        reason: body.closure_reason.into(),
        preferred_date: body.preferred_closure_date.map(micros),
        transfer_account,
        comments: body.comments.map(String::from),
    };
    let committed = closures::apply(&app.journal, context, &account, new).await?;
    let (recorded, requested) = committed.event(|event| match event {
        Event::Closure(ClosureEvent::Requested(requested)) => Some(&**requested),
        _ => None,
    })?;
    let location = format!("/v1/accounts/{}/close", requested.account);
    Ok(Answer::ok(ClosureSubmitted::of(recorded, requested)).at(&committed).created(&location))
}

/// Reads the latest application to close an account of the caller's.
#[utoipa::path(
    get, path = "/v1/accounts/{accountNo}/close", tag = "Accounts", params(InPath<AccountNumber>, ReadHeaders),
    responses((status = 200, description = "The application.", body = ClosureDetails), ReadProblems)
)]
async fn read_closure(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    number: InPath<AccountNumber>,
) -> Result<Answer<ClosureDetails>, Problem> {
    let account = accounts::owned(&app.journal, caller.user(), &number.get()?).await?;
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let row = latest(&app.pool, &account.number).await?.ok_or_else(|| Problem::not_found("application"))?;
    let version = row.version;
    Ok(Answer::ok(ClosureDetails::from(row)).tagged(version, wants.none_match))
}

/// Takes back the application to close an account of the caller's, until it is closed.
#[utoipa::path(
    delete, path = "/v1/accounts/{accountNo}/close", tag = "Accounts",
    params(InPath<AccountNumber>, WriteHeaders, IfMatch),
    responses((status = 200, description = "Cancelled.", body = ClosureMoved), WriteProblems)
)]
async fn cancel_closure(
    State(app): State<App>,
    number: InPath<AccountNumber>,
    write: Write<WriteTransactions, Nothing>,
) -> Result<Answer<ClosureMoved>, Problem> {
    let Write { caller, context, .. } = write;
    let account = accounts::owned(&app.journal, caller.user(), &number.get()?).await?;
    moved(&closures::cancel(&app.journal, context, &account).await?)
}

/// Staff: lists applications to close accounts.
#[utoipa::path(
    get, path = "/v1/staff/account-closures", tag = "Staff", params(ListClosures, ReadHeaders),
    responses((status = 200, description = "The applications.", body = ClosureList), ReadProblems)
)]
async fn list_closures(
    State(app): State<App>,
    caller: Allowed<AccountOps>,
    wants: Conditions,
    Queried(query): Queried<ListClosures>,
) -> Result<Answer<ClosureList>, Problem> {
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let status = query.status.map(|OneOf(status)| status);
    let filter = ClosureFilter { account: query.account, status };
    let found = filtered(&app.pool, &filter, query.sort, query.page).await?;
    Ok(Answer::ok(ClosureList {
        pagination: Pagination::of(query.page, found.total),
        applications: found.items.into_iter().map(ClosureDetails::from).collect(),
    }))
}

/// Staff: reads an application to close an account.
#[utoipa::path(
    get, path = "/v1/staff/account-closures/{applicationId}", tag = "Staff",
    params(InPath<ClosureId>, ReadHeaders),
    responses((status = 200, description = "The application.", body = ClosureDetails), ReadProblems)
)]
async fn read_closure_as_staff(
    State(app): State<App>,
    caller: Allowed<AccountOps>,
    wants: Conditions,
    id: InPath<ClosureId>,
) -> Result<Answer<ClosureDetails>, Problem> {
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let row = find(&app.pool, id.get()?).await?.ok_or_else(|| Problem::not_found("application"))?;
    let version = row.version;
    Ok(Answer::ok(ClosureDetails::from(row)).tagged(version, wants.none_match))
}

/// Staff: agrees to an account being closed. Somebody else closes it.
#[utoipa::path(
    post, path = "/v1/staff/account-closures/{applicationId}/approve", tag = "Staff",
    params(InPath<ClosureId>, WriteHeaders, IfMatch), request_body = ClosureNote,
    responses((status = 200, description = "Approved.", body = ClosureMoved), WriteProblems)
)]
async fn approve_closure(
    State(app): State<App>,
    id: InPath<ClosureId>,
    write: Write<AccountOps, ClosureNote>,
) -> Result<Answer<ClosureMoved>, Problem> {
    let Write { caller, body, context, .. } = write;
    let note = body.note.map(String::from);
    moved(&closures::approve(&app.journal, context, caller.user(), id.get()?, note).await?)
}

/// Staff: an account stays open. Its holder is told why.
#[utoipa::path(
    post, path = "/v1/staff/account-closures/{applicationId}/reject", tag = "Staff",
    params(InPath<ClosureId>, WriteHeaders, IfMatch), request_body = ClosureReason,
    responses((status = 200, description = "Rejected.", body = ClosureMoved), WriteProblems)
)]
async fn reject_closure(
    State(app): State<App>,
    id: InPath<ClosureId>,
    write: Write<AccountOps, ClosureReason>,
) -> Result<Answer<ClosureMoved>, Problem> {
    let Write { caller, body, context, .. } = write;
    moved(&closures::reject(&app.journal, context, caller.user(), id.get()?, body.reason.into()).await?)
}

/// Staff: closes an account that somebody else has agreed to close, and pays out what is left in it.
#[utoipa::path(
    post, path = "/v1/staff/account-closures/{applicationId}/finalize", tag = "Staff",
    params(InPath<ClosureId>, WriteHeaders, IfMatch), request_body = ClosureNote,
    responses((status = 200, description = "Closed.", body = ClosureMoved), WriteProblems)
)]
async fn finalize_closure(
    State(app): State<App>,
    id: InPath<ClosureId>,
    write: Write<AccountOps, ClosureNote>,
) -> Result<Answer<ClosureMoved>, Problem> {
    let Write { caller, body, context, .. } = write;
    let note = body.note.map(String::from);
    moved(&closures::finalize(&app.journal, context, &*app.day_ends, caller.user(), id.get()?, note).await?)
}

impl ClosureSubmitted {
    fn of(recorded: &Recorded, requested: &Requested) -> Self {
        Self {
            status: "SUCCESS",
            application_id: recorded.stream.id.to_string(),
            account_number: requested.account.to_string(),
            closure_reason: requested.reason.clone(),
            preferred_closure_date: requested.preferred_date,
            transfer_account: requested.transfer_account.as_ref().map(AccountNumber::to_string),
            application_status: ClosureStatus::Pending.as_str(),
            submitted_at: recorded.recorded_at,
            estimated_processing_time: PROCESSING_TIME,
            message: "Application submitted; the account stays open until staff have closed it",
        }
    }
}

impl From<ClosureRow> for ClosureDetails {
    fn from(row: ClosureRow) -> Self {
        Self {
            application_id: row.closure_id.to_string(),
            account_number: row.account_number.to_string(),
            closure_reason: row.reason,
            preferred_closure_date: row.preferred_date,
            transfer_account: row.transfer_account.map(|number| number.to_string()),
            comments: row.comments,
            application_status: row.status.as_str(),
            note: row.note,
            transferred_amount: row.swept_amount,
            transaction_id: row.swept_by.map(|id| id.to_string()),
            submitted_at: row.submitted_at,
            updated_at: row.updated_at,
        }
    }
}

/// Where an application has moved.
fn moved(committed: &Committed) -> Result<Answer<ClosureMoved>, Problem> {
    let (recorded, (status, note, swept, message)) = committed.event(|event| {
        let Event::Closure(moved) = event else { return None };
        Some(match moved {
            ClosureEvent::Requested(_) => return None,
            ClosureEvent::Approved { note, .. } => {
                (ClosureStatus::Approved, note.clone(), None, "Application approved")
            }
            ClosureEvent::Rejected { reason, .. } => {
                (ClosureStatus::Rejected, Some(reason.clone()), None, "Application rejected")
            }
            ClosureEvent::Cancelled => (ClosureStatus::Cancelled, None, None, "Application cancelled"),
            ClosureEvent::Completed(completed) => {
                let swept = completed.swept.as_ref();
                (ClosureStatus::Completed, completed.note.clone(), swept, "Account closed")
            }
        })
    })?;
    let result = ClosureMoved {
        status: "SUCCESS",
        application_id: recorded.stream.id.to_string(),
        application_status: status.as_str(),
        note,
        transferred_amount: swept.map(|swept| swept.amount.minor()),
        transfer_account: swept.map(|swept| swept.to.to_string()),
        transaction_id: swept.map(|swept| swept.transaction_id.to_string()),
        updated_at: recorded.recorded_at,
        message,
    };
    Ok(Answer::ok(result).at(committed))
}
