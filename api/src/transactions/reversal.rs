//! Undoing a payment.

use axum::extract::State;
use bursar_commands::reversals::{Reversal, reverse};
use bursar_commands::transactions::{Involved, any, involved};
use bursar_commands::{Committed, Context};
use bursar_domain::Event;
use bursar_domain::kernel::TransactionId;
use bursar_domain::payments::PaymentEvent;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{AccountOps, WriteTransactions};
use crate::openapi::{IfMatch, WriteHeaders, WriteProblems};
use crate::payments::{location, payment};
use crate::problem::Problem;
use crate::request;
use crate::request::{InPath, Text, Write};

request! {
    /// Why a payment is undone.
    ReversalRequest {
        /// Why, for the file.
        reason: Text<500> = "reason",
        /// What the statements say.
        narration: Option<Text<500>> = "narration",
        /// Whether the terms of reversals are acknowledged; when it is given, it must be true.
        acknowledge_terms: Option<bool> = "acknowledgeTerms",
    }
}

/// A payment that was undone by a transaction of its own.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReversalResult {
    /// `SUCCESS`.
    status: &'static str,
    /// The transaction that gives the money back.
    transaction_id: String,
    original_transaction_id: String,
    reason: Option<String>,
    narration: Option<String>,
    /// All of the original, minor units; its fee comes back too.
    reversed_amount: i64,
    currency: String,
    reversed_at: Timestamp,
    reversal_reference: String,
    message: &'static str,
}

/// Undoes a payment, all of it, once.
///
/// By the payer: between own accounts at any time, inside the bank for 30 minutes, out of the bank until it has arrived. By
/// whoever was paid inside the bank: at any time, as a refund.
#[utoipa::path(
    post, path = "/v1/transactions/{transactionId}/reverse", tag = "Transactions",
    params(InPath<TransactionId>, WriteHeaders, IfMatch), request_body = ReversalRequest,
    responses((status = 201, description = "Reversed.", body = ReversalResult), WriteProblems)
)]
pub(super) async fn reverse_transaction(
    State(app): State<App>,
    id: InPath<TransactionId>,
    write: Write<WriteTransactions, ReversalRequest>,
) -> Result<Answer<ReversalResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let found = involved(&app.journal, caller.user(), id.get()?).await?;
    undo(&app, context, found, body).await
}

/// Staff: undoes a payment of anybody's, all of it, once. Out of the bank until it has arrived.
#[utoipa::path(
    post, path = "/v1/staff/transactions/{transactionId}/reverse", tag = "Staff",
    params(InPath<TransactionId>, WriteHeaders, IfMatch), request_body = ReversalRequest,
    responses((status = 201, description = "Reversed.", body = ReversalResult), WriteProblems)
)]
pub(super) async fn reverse_transaction_as_staff(
    State(app): State<App>,
    id: InPath<TransactionId>,
    write: Write<AccountOps, ReversalRequest>,
) -> Result<Answer<ReversalResult>, Problem> {
    let Write { body, context, .. } = write;
    let found = any(&app.journal, id.get()?).await?;
    undo(&app, context, found, body).await
}

async fn undo(
    app: &App,
    context: Context,
    found: Involved,
    body: ReversalRequest,
) -> Result<Answer<ReversalResult>, Problem> {
    if body.acknowledge_terms == Some(false) {
        let message = "a reversal needs the terms acknowledged";
        return Err(Problem::bad_request("/acknowledgeTerms", "OUT_OF_RANGE", message));
    }
    let wanted = Reversal { reason: body.reason.into(), narration: body.narration.map(String::from) };
    let committed = reverse(&app.journal, &app.rails, context, found, wanted).await?;
    let result = reversed(&committed)?;
    let location = location(&result.transaction_id);
    Ok(Answer::ok(result).at(&committed).created(&location))
}

fn reversed(committed: &Committed) -> Result<ReversalResult, Problem> {
    let (original, reason) = committed.event(|event| match event {
        Event::Payment(PaymentEvent::Reversed { reason, .. }) => Some(reason),
        _ => None,
    })?;
    let (recorded, completed) = payment(committed)?;
    Ok(ReversalResult {
        status: "SUCCESS",
        transaction_id: recorded.stream.id.to_string(),
        original_transaction_id: original.stream.id.to_string(),
        reason: reason.clone(),
        narration: completed.narration.clone(),
        reversed_amount: completed.amount.minor(),
        currency: completed.currency.to_string(),
        reversed_at: recorded.recorded_at,
        reversal_reference: completed.reference.clone(),
        message: "Transaction reversed",
    })
}
