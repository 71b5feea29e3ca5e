//! Payments: inside the bank, out of it, into it.

mod bills;
pub(crate) mod export;
mod funding;
mod loans;
mod outgoing;
mod result;

use axum::extract::State;
use axum::http::StatusCode;
use bursar_commands::journal::NoSuchEvent;
use bursar_commands::payments::{Known, Transfer};
use bursar_commands::rails::Rail;
use bursar_commands::{Committed, accounts, payments};
use bursar_domain::payments::{Completed, PaymentEvent};
use bursar_domain::{AccountNumber, Amount, Currency, Event, Recorded};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::WriteTransactions;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Code, Text, Write};
use result::TransferResult;

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(transfer_internal))
        .routes(routes!(transfer_self))
        .routes(routes!(outgoing::transfer_external))
        .routes(routes!(outgoing::transfer_mwallet))
        .routes(routes!(bills::pay_bill))
        .routes(routes!(loans::repay_loan))
        .routes(routes!(funding::fund_by_mwallet))
        .routes(routes!(funding::fund_via_card))
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
    let known = known(body.destination_name, body.save_as_beneficiary);
    let transfer = transfer(body.amount, body.currency, body.narration, body.reference);
    let to = body.destination_account;
    let committed = payments::transfer_internal(&app.journal, context, &source, to, known, transfer).await?;
    made(&committed, TransferResult::of)
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
    made(&committed, TransferResult::of)
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

/// How the payer knows the payee.
fn known(name: Option<Text<140>>, save: Option<bool>) -> Known {
    Known { name: name.map(String::from), save: save.unwrap_or(false) }
}

/// The answer to a payment.
fn made<T>(committed: &Committed, of: impl Fn(&Recorded, &Completed) -> T) -> Result<Answer<T>, Problem> {
    let (recorded, completed) = payment(committed)?;
    Ok(Answer::ok(of(recorded, completed)).at(committed).created(&location(&recorded.stream.id)))
}

/// Where a transaction is found.
pub(crate) fn location(transaction_id: &str) -> String {
    format!("/v1/transactions/{transaction_id}")
}

/// Where the receipt of a transaction is.
pub(crate) fn receipt(transaction_id: &str) -> String {
    format!("{}/receipt", location(transaction_id))
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

/// The code of a wallet provider that the bank works with.
///
/// # Errors
/// 422 for any other, with those that it does work with.
pub(crate) fn wallet_provider(app: &App, named: Code<40>) -> Result<String, Problem> {
    let offered = &app.config.rails.wallet_providers;
    if offered.contains(&named.0) {
        return Ok(named.0);
    }
    let detail = "this bank does not work with this wallet provider";
    let problem = Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "NOT_OFFERED", detail);
    Err(problem.with("walletProviders", offered.clone().into()))
}

/// The way out of the bank.
///
/// # Errors
/// 422 when the bank has none.
pub(crate) fn rail(app: &App) -> Result<&dyn Rail, Problem> {
    app.rails.as_deref().ok_or_else(|| {
        let detail = "this bank has no rail for payments of this kind";
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "CHANNEL_NOT_OFFERED", detail)
    })
}
