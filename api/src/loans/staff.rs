//! What staff do about loans: look, ask, decide, pay out, give up. Who reviews does not approve, who approves does not pay out.

use axum::extract::State;
use bursar_commands::{Committed, loans};
use bursar_domain::Event;
use bursar_domain::kernel::{CollateralId, GuarantorId, LoanId};
use bursar_domain::loans::{CheckOutcome, Item, LoanEvent};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::views::{LoanDetails, LoanList, LoanMoved};
use super::{ListAllLoans, listed, moved, one};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, LoanApprove, LoanDesk, LoanDisburse, LoanReview};
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::past::PastQuery;
use crate::problem::Problem;
use crate::request;
use crate::request::{Conditions, InPath, Queried, Text, Write};

/// The routes of staff.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_loans_as_staff))
        .routes(routes!(read_loan_as_staff))
        .routes(routes!(start_loan_review))
        .routes(routes!(request_loan_info))
        .routes(routes!(approve_loan))
        .routes(routes!(reject_loan))
        .routes(routes!(disburse_loan))
        .routes(routes!(write_loan_off))
        .routes(routes!(verify_guarantor))
        .routes(routes!(reject_guarantor))
        .routes(routes!(verify_collateral))
        .routes(routes!(reject_collateral))
        .routes(routes!(super::documents::verify_loan_document))
        .routes(routes!(super::documents::reject_loan_document))
        .routes(routes!(super::documents::read_loan_document))
}

request! {
    /// A step that needs no reason.
    LoanNote {
        /// What the borrower should know.
        note: Option<Text<2000>> = "note",
    }
}

request! {
    /// What the bank needs to know.
    LoanQuestion {
        /// What is missing; the borrower is told.
        note: Text<2000> = "note",
    }
}

request! {
    /// A step that needs a reason.
    LoanReason {
        /// Why; the borrower can read it.
        reason: Text<2000> = "reason",
    }
}

/// What staff found of something that was handed in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoanItemChecked {
    /// `SUCCESS`.
    status: &'static str,
    loan_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    guarantor_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    collateral_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    document_id: Option<String>,
    /// `VERIFIED` or `REJECTED`.
    verification_status: &'static str,
    note: Option<String>,
    updated_at: Timestamp,
    message: &'static str,
}

/// Staff: lists loans of everybody.
#[utoipa::path(
    get, path = "/v1/staff/loans", tag = "Staff", params(ListAllLoans, ReadHeaders),
    responses((status = 200, description = "The loans.", body = LoanList), ReadProblems)
)]
async fn list_loans_as_staff(
    State(app): State<App>,
    caller: Allowed<LoanReview>,
    wants: Conditions,
    Queried(query): Queried<ListAllLoans>,
) -> Result<Answer<LoanList>, Problem> {
    listed(&app, &caller, &wants, query).await
}

/// Staff: reads a loan of anybody's, now or as it was.
#[utoipa::path(
    get, path = "/v1/staff/loans/{loanId}", tag = "Staff", params(InPath<LoanId>, PastQuery, ReadHeaders),
    responses((status = 200, description = "The loan.", body = LoanDetails), ReadProblems)
)]
async fn read_loan_as_staff(
    State(app): State<App>,
    caller: Allowed<LoanDesk>,
    wants: Conditions,
    id: InPath<LoanId>,
    Queried(PastQuery { as_of }): Queried<PastQuery>,
) -> Result<Answer<LoanDetails>, Problem> {
    one(&app, &caller, wants, None, id, as_of).await
}

/// Staff: begins to look into an application.
#[utoipa::path(
    post, path = "/v1/staff/loans/{loanId}/start-review", tag = "Staff",
    params(InPath<LoanId>, WriteHeaders, IfMatch), request_body = LoanNote,
    responses((status = 200, description = "Under review.", body = LoanMoved), WriteProblems)
)]
async fn start_loan_review(
    State(app): State<App>,
    id: InPath<LoanId>,
    write: Write<LoanReview, LoanNote>,
) -> Result<Answer<LoanMoved>, Problem> {
    let Write { caller, body, context, .. } = write;
    let note = body.note.map(String::from);
    moved(&loans::start_review(&app.journal, context, caller.user(), id.get()?, note).await?)
}

/// Staff: sends an application back to the borrower, who is told what is missing.
#[utoipa::path(
    post, path = "/v1/staff/loans/{loanId}/request-info", tag = "Staff",
    params(InPath<LoanId>, WriteHeaders, IfMatch), request_body = LoanQuestion,
    responses((status = 200, description = "Asked.", body = LoanMoved), WriteProblems)
)]
async fn request_loan_info(
    State(app): State<App>,
    id: InPath<LoanId>,
    write: Write<LoanReview, LoanQuestion>,
) -> Result<Answer<LoanMoved>, Problem> {
    let Write { caller, body, context, .. } = write;
    moved(&loans::request_info(&app.journal, context, caller.user(), id.get()?, body.note.into()).await?)
}

/// Staff: approves an application that somebody else has reviewed. It can be paid out for 30 days.
#[utoipa::path(
    post, path = "/v1/staff/loans/{loanId}/approve", tag = "Staff",
    params(InPath<LoanId>, WriteHeaders, IfMatch), request_body = LoanNote,
    responses((status = 200, description = "Approved.", body = LoanMoved), WriteProblems)
)]
async fn approve_loan(
    State(app): State<App>,
    id: InPath<LoanId>,
    write: Write<LoanApprove, LoanNote>,
) -> Result<Answer<LoanMoved>, Problem> {
    let Write { caller, body, context, .. } = write;
    let note = body.note.map(String::from);
    moved(&loans::approve(&app.journal, context, caller.user(), id.get()?, note).await?)
}

/// Staff: refuses an application.
#[utoipa::path(
    post, path = "/v1/staff/loans/{loanId}/reject", tag = "Staff",
    params(InPath<LoanId>, WriteHeaders, IfMatch), request_body = LoanReason,
    responses((status = 200, description = "Refused.", body = LoanMoved), WriteProblems)
)]
async fn reject_loan(
    State(app): State<App>,
    id: InPath<LoanId>,
    write: Write<LoanApprove, LoanReason>,
) -> Result<Answer<LoanMoved>, Problem> {
    let Write { caller, body, context, .. } = write;
    moved(&loans::reject(&app.journal, context, caller.user(), id.get()?, body.reason.into()).await?)
}

/// Staff: pays an approved loan out, less its fees; somebody else has approved it. Its schedule is fixed by it.
#[utoipa::path(
    post, path = "/v1/staff/loans/{loanId}/disburse", tag = "Staff",
    params(InPath<LoanId>, WriteHeaders, IfMatch), request_body = LoanNote,
    responses((status = 200, description = "Paid out.", body = LoanMoved), WriteProblems)
)]
async fn disburse_loan(
    State(app): State<App>,
    id: InPath<LoanId>,
    write: Write<LoanDisburse, LoanNote>,
) -> Result<Answer<LoanMoved>, Problem> {
    let Write { caller, body, context, .. } = write;
    let note = body.note.map(String::from);
    moved(&loans::disburse(&app.journal, context, caller.user(), id.get()?, note).await?)
}

/// Staff: gives up a loan that is owed. What is owed is the bank's loss.
#[utoipa::path(
    post, path = "/v1/staff/loans/{loanId}/write-off", tag = "Staff",
    params(InPath<LoanId>, WriteHeaders, IfMatch), request_body = LoanReason,
    responses((status = 200, description = "Given up.", body = LoanMoved), WriteProblems)
)]
async fn write_loan_off(
    State(app): State<App>,
    id: InPath<LoanId>,
    write: Write<LoanApprove, LoanReason>,
) -> Result<Answer<LoanMoved>, Problem> {
    let Write { caller, body, context, .. } = write;
    moved(&loans::write_off(&app.journal, context, caller.user(), id.get()?, body.reason.into()).await?)
}

/// Staff: a guarantor is believed.
#[utoipa::path(
    post, path = "/v1/staff/loans/{loanId}/guarantors/{guarantorId}/verify", tag = "Staff",
    params(InPath<LoanId>, InPath<GuarantorId>, WriteHeaders, IfMatch), request_body = LoanNote,
    responses((status = 200, description = "Verified.", body = LoanItemChecked), WriteProblems)
)]
async fn verify_guarantor(
    State(app): State<App>,
    id: InPath<LoanId>,
    guarantor: InPath<GuarantorId>,
    write: Write<LoanReview, LoanNote>,
) -> Result<Answer<LoanItemChecked>, Problem> {
    let Write { caller, body, context, .. } = write;
    let (id, item) = (id.get()?, Item::Guarantor(guarantor.get()?));
    let found = (CheckOutcome::Verified, body.note.map(String::from));
    checked(&loans::check(&app.journal, context, caller.user(), id, item, found).await?)
}

/// Staff: a guarantor is not believed.
#[utoipa::path(
    post, path = "/v1/staff/loans/{loanId}/guarantors/{guarantorId}/reject", tag = "Staff",
    params(InPath<LoanId>, InPath<GuarantorId>, WriteHeaders, IfMatch), request_body = LoanReason,
    responses((status = 200, description = "Rejected.", body = LoanItemChecked), WriteProblems)
)]
async fn reject_guarantor(
    State(app): State<App>,
    id: InPath<LoanId>,
    guarantor: InPath<GuarantorId>,
    write: Write<LoanReview, LoanReason>,
) -> Result<Answer<LoanItemChecked>, Problem> {
    let Write { caller, body, context, .. } = write;
    let (id, item) = (id.get()?, Item::Guarantor(guarantor.get()?));
    let found = (CheckOutcome::Rejected, Some(body.reason.into()));
    checked(&loans::check(&app.journal, context, caller.user(), id, item, found).await?)
}

/// Staff: a collateral is what it is said to be.
#[utoipa::path(
    post, path = "/v1/staff/loans/{loanId}/collateral/{collateralId}/verify", tag = "Staff",
    params(InPath<LoanId>, InPath<CollateralId>, WriteHeaders, IfMatch), request_body = LoanNote,
    responses((status = 200, description = "Verified.", body = LoanItemChecked), WriteProblems)
)]
async fn verify_collateral(
    State(app): State<App>,
    id: InPath<LoanId>,
    collateral: InPath<CollateralId>,
    write: Write<LoanReview, LoanNote>,
) -> Result<Answer<LoanItemChecked>, Problem> {
    let Write { caller, body, context, .. } = write;
    let (id, item) = (id.get()?, Item::Collateral(collateral.get()?));
    let found = (CheckOutcome::Verified, body.note.map(String::from));
    checked(&loans::check(&app.journal, context, caller.user(), id, item, found).await?)
}

/// Staff: a collateral is not what it is said to be.
#[utoipa::path(
    post, path = "/v1/staff/loans/{loanId}/collateral/{collateralId}/reject", tag = "Staff",
    params(InPath<LoanId>, InPath<CollateralId>, WriteHeaders, IfMatch), request_body = LoanReason,
    responses((status = 200, description = "Rejected.", body = LoanItemChecked), WriteProblems)
)]
async fn reject_collateral(
    State(app): State<App>,
    id: InPath<LoanId>,
    collateral: InPath<CollateralId>,
    write: Write<LoanReview, LoanReason>,
) -> Result<Answer<LoanItemChecked>, Problem> {
    let Write { caller, body, context, .. } = write;
    let (id, item) = (id.get()?, Item::Collateral(collateral.get()?));
    let found = (CheckOutcome::Rejected, Some(body.reason.into()));
    checked(&loans::check(&app.journal, context, caller.user(), id, item, found).await?)
}

/// What was found.
pub(super) fn checked(committed: &Committed) -> Result<Answer<LoanItemChecked>, Problem> {
    let (recorded, (item, outcome, note)) = committed.event(|event| match event {
        Event::Loan(LoanEvent::Checked { item, outcome, note, .. }) => Some((*item, *outcome, note.clone())),
        _ => None,
    })?;
    let (guarantor_id, collateral_id, document_id) = match item {
        Item::Guarantor(id) => (Some(id.to_string()), None, None),
        Item::Collateral(id) => (None, Some(id.to_string()), None),
        Item::Document(id) => (None, None, Some(id.to_string())),
    };
    let result = LoanItemChecked {
        status: "SUCCESS",
        loan_id: recorded.stream.id.to_string(),
        guarantor_id,
        collateral_id,
        document_id,
        verification_status: outcome.as_str(),
        note,
        updated_at: recorded.recorded_at,
        message: match outcome {
            CheckOutcome::Verified => "Verified",
            CheckOutcome::Rejected => "Rejected",
        },
    };
    Ok(Answer::ok(result).at(committed))
}
