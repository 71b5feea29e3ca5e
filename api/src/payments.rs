//! Payments inside the bank.

use axum::extract::State;
use bursar_commands::journal::NoSuchEvent;
use bursar_commands::payments::{Payee, Transfer};
use bursar_commands::{Committed, accounts, payments};
use bursar_domain::payments::{Completed, PaymentEvent};
use bursar_domain::{AccountNumber, Amount, Currency, Event, Personal, Recorded};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::WriteTransactions;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Text, Write};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(transfer_internal)).routes(routes!(transfer_self))
}

request! {
    /// A transfer to any account of this bank.
    InternalTransfer {
        /// The caller's account that is debited.
        source_account: AccountNumber = "sourceAccount",
        /// The account that is credited.
        destination_account: AccountNumber = "destinationAccount",
        /// The payee's name as the payer knows it.
        destination_name: Option<Text<140>> = "destinationName",
        /// Minor units, 1 to 10^15.
        amount: Amount = "amount",
        /// ISO 4217; both accounts must have it.
        currency: Currency = "currency",
        /// What it is for.
        narration: Option<Text<500>> = "narration",
        /// The payer's own reference, not unique; made up when absent.
        reference: Option<Text<140>> = "reference",
        /// Whether to keep the payee as a beneficiary.
        save_as_beneficiary: Option<bool> = "saveAsBeneficiary",
    }
}

request! {
    /// A transfer between two accounts of the caller.
    SelfTransfer {
        /// The caller's account that is debited.
        source_account: AccountNumber = "sourceAccount",
        /// The caller's account that is credited.
        destination_account: AccountNumber = "destinationAccount",
        /// Minor units, 1 to 10^15.
        amount: Amount = "amount",
        /// ISO 4217; both accounts must have it.
        currency: Currency = "currency",
        /// What it is for.
        narration: Option<Text<500>> = "narration",
        /// The payer's own reference, not unique; made up when absent.
        reference: Option<Text<140>> = "reference",
    }
}

/// A transfer that was made.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TransferResult {
    /// `SUCCESS`.
    status: &'static str,
    transaction_id: String,
    processed_at: Timestamp,
    message: &'static str,
    /// `INTERNAL` or `SELF`.
    transfer_type: &'static str,
    source_account: String,
    destination_account: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    destination_name: Option<String>,
    /// Minor units.
    amount: i64,
    currency: String,
    narration: Option<String>,
    reference: String,
}

/// Transfers money to any account of this bank.
#[utoipa::path(
    post, path = "/v1/payments/transfer/internal", tag = "Payments",
    params(WriteHeaders), request_body = InternalTransfer,
    responses((status = 201, description = "Transferred.", body = TransferResult), WriteProblems)
)]
async fn transfer_internal(
    State(app): State<App>,
    write: Write<WriteTransactions, InternalTransfer>,
) -> Result<Answer<TransferResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let source = accounts::owned(&app.journal, caller.user(), &body.source_account).await?;
    let payee = Payee {
        account: body.destination_account,
        name: body.destination_name.map(String::from),
        save: body.save_as_beneficiary.unwrap_or(false),
    };
    let transfer = transfer(body.amount, body.currency, body.narration, body.reference);
    let committed = payments::transfer_internal(&app.journal, context, &source, payee, transfer).await?;
    let result = transferred(&committed)?;
    let location = location(&result.transaction_id);
    Ok(Answer::ok(result).at(&committed).created(&location))
}

/// Transfers money between two accounts of the caller. Daily and monthly limits do not count it.
#[utoipa::path(
    post, path = "/v1/payments/transfer/self", tag = "Payments",
    params(WriteHeaders), request_body = SelfTransfer,
    responses((status = 201, description = "Transferred.", body = TransferResult), WriteProblems)
)]
async fn transfer_self(
    State(app): State<App>,
    write: Write<WriteTransactions, SelfTransfer>,
) -> Result<Answer<TransferResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let source = accounts::owned(&app.journal, caller.user(), &body.source_account).await?;
    let destination = accounts::owned(&app.journal, caller.user(), &body.destination_account).await?;
    let transfer = transfer(body.amount, body.currency, body.narration, body.reference);
    let committed = payments::transfer_self(&app.journal, context, &source, &destination, transfer).await?;
    let result = transferred(&committed)?;
    let location = location(&result.transaction_id);
    Ok(Answer::ok(result).at(&committed).created(&location))
}

/// What every movement of money has in common.
pub(crate) fn transfer(
    amount: Amount,
    currency: Currency,
    narration: Option<Text<500>>,
    reference: Option<Text<140>>,
) -> Transfer {
    Transfer {
        amount,
        currency,
        narration: narration.map(String::from),
        reference: reference.map(String::from),
    }
}

/// Where a transaction is found.
pub(crate) fn location(transaction_id: &str) -> String {
    format!("/v1/transactions/{transaction_id}")
}

/// The payment among the events of a unit.
///
/// # Errors
/// When there is none, which the use cases rule out.
pub(crate) fn payment(committed: &Committed) -> Result<(&Recorded, &Completed), NoSuchEvent> {
    committed.event(|event| match event {
        Event::Payment(PaymentEvent::Completed(completed)) => Some(&**completed),
        _ => None,
    })
}

fn transferred(committed: &Committed) -> Result<TransferResult, Problem> {
    let (recorded, completed) = payment(committed)?;
    Ok(TransferResult {
        status: "SUCCESS",
        transaction_id: recorded.stream.id.to_string(),
        processed_at: recorded.recorded_at,
        message: "Transfer completed",
        transfer_type: completed.kind.as_str(),
        source_account: completed.source.to_string(),
        destination_account: completed.destination.to_string(),
        destination_name: completed.destination_name.as_ref().and_then(Personal::get).cloned(),
        amount: completed.amount.minor(),
        currency: completed.currency.to_string(),
        narration: completed.narration.clone(),
        reference: completed.reference.clone(),
    })
}
