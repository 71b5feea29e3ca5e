//! Disputing a payment, and deciding about it.

use axum::extract::State;
use bursar_commands::Committed;
use bursar_commands::disputes::{Complaint, Outcome, open, resolve, start_review, withdraw};
use bursar_commands::transactions::involved;
use bursar_domain::disputes::{DisputeEvent, DisputeReason, DisputeStatus};
use bursar_domain::kernel::{DisputeId, TransactionId, UserId};
use bursar_domain::payments::PaymentEvent;
use bursar_domain::{Amount, Event};
use bursar_projections::disputes::{DisputeFilter, DisputeSort, filtered, find};
use bursar_projections::{Page, Sort};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::dispute_views::{Decision, DisputeDetails, DisputeList, DisputeResult};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, Caller, DisputeResolve, ReadAccount, WriteTransactions};
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::{Conditions, InPath, OneOf, Phone, Queried, Text, Write};
use crate::{query, request};

/// The routes about disputes.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(dispute_transaction))
        .routes(routes!(list_disputes))
        .routes(routes!(read_dispute))
        .routes(routes!(withdraw_dispute))
        .routes(routes!(list_disputes_as_staff))
        .routes(routes!(read_dispute_as_staff))
        .routes(routes!(start_dispute_review))
        .routes(routes!(resolve_dispute))
}

/// The read model of disputes.
const MODEL: &str = "disputes";

request! {
    /// What is wrong with a payment.
    DisputeRequest {
        /// What is wrong; `OTHER` when absent.
        dispute_reason: Option<OneOf<DisputeReason>> = "disputeReason",
        /// How much of the payment, minor units.
        dispute_amount: Amount = "disputeAmount",
        /// What happened.
        description: Option<Text<2000>> = "description",
        /// Names of files that support it.
        supporting_documents: Option<Vec<Text<255>>> = "supportingDocuments",
        /// Where the caller can be called, E.164.
        contact_phone: Option<Phone> = "contactPhone",
        /// Where the caller can be written to.
        contact_email: Option<Text<254>> = "contactEmail",
    }
}

request! {
    /// Why a dispute is taken back.
    WithdrawalRequest {
        /// Why, for the file.
        reason: Option<Text<500>> = "reason",
    }
}

request! {
    /// That somebody looks into a dispute.
    ReviewRequest {
        /// What is being done; the customer can read it.
        note: Option<Text<2000>> = "note",
    }
}

request! {
    /// How a dispute is decided.
    ResolutionRequest {
        /// `WON`: the payer was right and gets the disputed amount. `LOST`: the payer was wrong.
        outcome: OneOf<Outcome> = "outcome",
        /// Why; the customer can read it.
        note: Option<Text<2000>> = "note",
    }
}

query! {
    /// Which disputes are listed, and how.
    ListDisputes {
        /// Only in this state.
        status: Option<OneOf<DisputeStatus>> = "status",
        /// Only about this transaction.
        transaction_id: Option<TransactionId> = "transactionId",
        /// The order; newest first when absent.
        sort: Sort<DisputeSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

/// Disputes a payment that the caller made, for 120 days. One dispute at a time.
#[utoipa::path(
    post, path = "/v1/transactions/{transactionId}/dispute", tag = "Transactions",
    params(InPath<TransactionId>, WriteHeaders, IfMatch), request_body = DisputeRequest,
    responses((status = 201, description = "Submitted.", body = DisputeResult), WriteProblems)
)]
async fn dispute_transaction(
    State(app): State<App>,
    id: InPath<TransactionId>,
    write: Write<WriteTransactions, DisputeRequest>,
) -> Result<Answer<DisputeResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let found = involved(&app.journal, caller.user(), id.get()?).await?;
    let documents = body.supporting_documents.unwrap_or_default();
    let complaint = Complaint {
        reason: body.dispute_reason.map_or(DisputeReason::Other, |OneOf(reason)| reason),
        amount: body.dispute_amount,
        description: body.description.map(String::from),
        supporting_documents: documents.into_iter().map(String::from).collect(),
        contact_phone: body.contact_phone.map(String::from),
        contact_email: body.contact_email.map(String::from),
    };
    let committed = open(&app.journal, context, caller.user(), found, complaint).await?;
    let (recorded, opened) = committed.event(|event| match event {
        Event::Dispute(DisputeEvent::Opened(opened)) => Some(&**opened),
        _ => None,
    })?;
    let location = format!("/v1/disputes/{}", recorded.stream.id);
    Ok(Answer::ok(DisputeResult::of(recorded, opened)).at(&committed).created(&location))
}

/// Lists the disputes of the caller.
#[utoipa::path(
    get, path = "/v1/disputes", tag = "Transactions", params(ListDisputes, ReadHeaders),
    responses((status = 200, description = "The disputes.", body = DisputeList), ReadProblems)
)]
async fn list_disputes(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(query): Queried<ListDisputes>,
) -> Result<Answer<DisputeList>, Problem> {
    let owner = Some(caller.user());
    listed(&app, &caller, &wants, DisputeFilter { owner, ..DisputeFilter::default() }, query).await
}

/// Reads a dispute of the caller.
#[utoipa::path(
    get, path = "/v1/disputes/{disputeId}", tag = "Transactions", params(InPath<DisputeId>, ReadHeaders),
    responses((status = 200, description = "The dispute.", body = DisputeDetails), ReadProblems)
)]
async fn read_dispute(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    id: InPath<DisputeId>,
) -> Result<Answer<DisputeDetails>, Problem> {
    one(&app, &caller, wants, Some(caller.user()), id).await
}

/// Takes a dispute back, until it is decided.
#[utoipa::path(
    post, path = "/v1/disputes/{disputeId}/withdraw", tag = "Transactions",
    params(InPath<DisputeId>, WriteHeaders, IfMatch), request_body = WithdrawalRequest,
    responses((status = 200, description = "Withdrawn.", body = Decision), WriteProblems)
)]
async fn withdraw_dispute(
    State(app): State<App>,
    id: InPath<DisputeId>,
    write: Write<WriteTransactions, WithdrawalRequest>,
) -> Result<Answer<Decision>, Problem> {
    let Write { caller, body, context, .. } = write;
    let reason = body.reason.map(String::from);
    let committed = withdraw(&app.journal, context, caller.user(), id.get()?, reason).await?;
    moved(&committed)
}

/// Staff: lists disputes of everybody.
#[utoipa::path(
    get, path = "/v1/staff/disputes", tag = "Staff", params(ListDisputes, ReadHeaders),
    responses((status = 200, description = "The disputes.", body = DisputeList), ReadProblems)
)]
async fn list_disputes_as_staff(
    State(app): State<App>,
    caller: Allowed<DisputeResolve>,
    wants: Conditions,
    Queried(query): Queried<ListDisputes>,
) -> Result<Answer<DisputeList>, Problem> {
    listed(&app, &caller, &wants, DisputeFilter::default(), query).await
}

/// Staff: reads a dispute of anybody's.
#[utoipa::path(
    get, path = "/v1/staff/disputes/{disputeId}", tag = "Staff", params(InPath<DisputeId>, ReadHeaders),
    responses((status = 200, description = "The dispute.", body = DisputeDetails), ReadProblems)
)]
async fn read_dispute_as_staff(
    State(app): State<App>,
    caller: Allowed<DisputeResolve>,
    wants: Conditions,
    id: InPath<DisputeId>,
) -> Result<Answer<DisputeDetails>, Problem> {
    one(&app, &caller, wants, None, id).await
}

/// Staff: begins to look into a dispute.
#[utoipa::path(
    post, path = "/v1/staff/disputes/{disputeId}/start-review", tag = "Staff",
    params(InPath<DisputeId>, WriteHeaders, IfMatch), request_body = ReviewRequest,
    responses((status = 200, description = "Under review.", body = Decision), WriteProblems)
)]
async fn start_dispute_review(
    State(app): State<App>,
    id: InPath<DisputeId>,
    write: Write<DisputeResolve, ReviewRequest>,
) -> Result<Answer<Decision>, Problem> {
    let Write { body, context, .. } = write;
    let note = body.note.map(String::from);
    let committed = start_review(&app.journal, context, id.get()?, note).await?;
    moved(&committed)
}

/// Staff: decides a dispute. When the payer was right, the bank pays the disputed amount back at once.
#[utoipa::path(
    post, path = "/v1/staff/disputes/{disputeId}/resolve", tag = "Staff",
    params(InPath<DisputeId>, WriteHeaders, IfMatch), request_body = ResolutionRequest,
    responses((status = 200, description = "Decided.", body = Decision), WriteProblems)
)]
async fn resolve_dispute(
    State(app): State<App>,
    id: InPath<DisputeId>,
    write: Write<DisputeResolve, ResolutionRequest>,
) -> Result<Answer<Decision>, Problem> {
    let Write { body, context, .. } = write;
    let (OneOf(outcome), note) = (body.outcome, body.note.map(String::from));
    let committed = resolve(&app.journal, context, id.get()?, outcome, note).await?;
    moved(&committed)
}

/// A dispute: `owner`'s, or anybody's when no owner is given.
async fn one(
    app: &App,
    caller: &Caller,
    wants: Conditions,
    owner: Option<UserId>,
    id: InPath<DisputeId>,
) -> Result<Answer<DisputeDetails>, Problem> {
    app.fresh(caller, &wants, &[MODEL]).await?;
    let found = find(&app.pool, owner, id.get()?).await?;
    let row = found.ok_or_else(|| Problem::not_found("dispute"))?;
    let version = row.version;
    Ok(Answer::ok(DisputeDetails::from(row)).tagged(version, wants.none_match))
}

async fn listed(
    app: &App,
    caller: &Caller,
    wants: &Conditions,
    whose: DisputeFilter,
    query: ListDisputes,
) -> Result<Answer<DisputeList>, Problem> {
    app.fresh(caller, wants, &[MODEL]).await?;
    let status = query.status.map(|OneOf(status)| status);
    let filter = DisputeFilter { status, transaction_id: query.transaction_id, ..whose };
    let found = filtered(&app.pool, &filter, query.sort, query.page).await?;
    Ok(Answer::ok(DisputeList {
        pagination: Pagination::of(query.page, found.total),
        disputes: found.items.into_iter().map(DisputeDetails::from).collect(),
    }))
}

/// Where a dispute has moved.
fn moved(committed: &Committed) -> Result<Answer<Decision>, Problem> {
    let (recorded, (status, note, message)) = committed.event(|event| match event {
        Event::Dispute(DisputeEvent::ReviewStarted { note }) => {
            Some((DisputeStatus::UnderReview, note, "Dispute under review"))
        }
        Event::Dispute(DisputeEvent::Won { note, .. }) => {
            Some((DisputeStatus::Won, note, "Dispute won; the money is back"))
        }
        Event::Dispute(DisputeEvent::Lost { note }) => Some((DisputeStatus::Lost, note, "Dispute lost")),
        Event::Dispute(DisputeEvent::Withdrawn { reason }) => {
            Some((DisputeStatus::Withdrawn, reason, "Dispute withdrawn"))
        }
        _ => None,
    })?;
    let refund = committed.event(|event| match event {
        Event::Payment(PaymentEvent::DisputeEnded { refund, .. }) => *refund,
        _ => None,
    });
    let refund = refund.ok().map(|(_, refund)| refund);
    let result = Decision {
        status: "SUCCESS",
        dispute_id: recorded.stream.id.to_string(),
        dispute_status: status.as_str(),
        note: note.clone(),
        refund_transaction_id: refund.map(|refund| refund.by.to_string()),
        refunded_amount: refund.map(|refund| refund.amount.minor()),
        updated_at: recorded.recorded_at,
        message,
    };
    Ok(Answer::ok(result).at(committed))
}
