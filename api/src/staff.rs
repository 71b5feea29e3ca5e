//! What staff do at a till and at a desk.

use axum::extract::State;
use bursar_commands::{Committed, accounts, payments};
use bursar_domain::{AccountNumber, Amount, Currency, Event};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::AccountOps;
use crate::openapi::{IfMatch, WriteHeaders, WriteProblems};
use crate::payments::{location, payment, transfer};
use crate::problem::Problem;
use crate::request;
use crate::request::{InPath, Text, Write};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(deposit))
        .routes(routes!(withdraw))
        .routes(routes!(freeze_account))
        .routes(routes!(unfreeze_account))
        .routes(routes!(reactivate_account))
}

request! {
    /// Cash over the counter.
    CashMovement {
        /// Minor units, 1 to 10^15.
        amount: Amount = "amount",
        /// ISO 4217; the account must have it.
        currency: Currency = "currency",
        /// What it is for.
        narration: Option<Text<500>> = "narration",
        /// A reference, not unique; made up when absent.
        reference: Option<Text<140>> = "reference",
    }
}

request! {
    /// A change of an account's status.
    StatusChange {
        /// Why, for the file.
        reason: Text<500> = "reason",
    }
}

/// Cash that changed hands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CashResult {
    /// `SUCCESS`.
    status: &'static str,
    transaction_id: String,
    processed_at: Timestamp,
    message: &'static str,
    /// `DEPOSIT` or `WITHDRAWAL`.
    transaction_type: &'static str,
    account_number: String,
    /// Minor units.
    amount: i64,
    currency: String,
    narration: Option<String>,
    reference: String,
    /// The account's balance after it, minor units.
    ledger_balance: i64,
}

/// An account whose status changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StatusResult {
    /// `SUCCESS`.
    status: &'static str,
    account_number: String,
    account_status: &'static str,
    reason: String,
    updated_at: Timestamp,
    message: &'static str,
}

/// Staff: takes cash into an account.
#[utoipa::path(
    post, path = "/v1/staff/accounts/{accountNo}/deposit", tag = "Staff",
    params(InPath<AccountNumber>, WriteHeaders), request_body = CashMovement,
    responses((status = 201, description = "Deposited.", body = CashResult), WriteProblems)
)]
async fn deposit(
    State(app): State<App>,
    number: InPath<AccountNumber>,
    write: Write<AccountOps, CashMovement>,
) -> Result<Answer<CashResult>, Problem> {
    let Write { body, context, .. } = write;
    let number = number.get()?;
    let cash = transfer(body.amount, body.currency, body.narration, body.reference);
    let committed = payments::deposit(&app.journal, context, number, cash).await?;
    let result = moved(&committed, "Deposit completed")?;
    let location = location(&result.transaction_id);
    Ok(Answer::ok(result).at(&committed).created(&location))
}

/// Staff: pays cash out of an account.
#[utoipa::path(
    post, path = "/v1/staff/accounts/{accountNo}/withdraw", tag = "Staff",
    params(InPath<AccountNumber>, WriteHeaders), request_body = CashMovement,
    responses((status = 201, description = "Withdrawn.", body = CashResult), WriteProblems)
)]
async fn withdraw(
    State(app): State<App>,
    number: InPath<AccountNumber>,
    write: Write<AccountOps, CashMovement>,
) -> Result<Answer<CashResult>, Problem> {
    let Write { body, context, .. } = write;
    let number = number.get()?;
    let cash = transfer(body.amount, body.currency, body.narration, body.reference);
    let committed = payments::withdraw(&app.journal, context, number, cash).await?;
    let result = moved(&committed, "Withdrawal completed")?;
    let location = location(&result.transaction_id);
    Ok(Answer::ok(result).at(&committed).created(&location))
}

/// Staff: lets no money leave an account.
#[utoipa::path(
    post, path = "/v1/staff/accounts/{accountNo}/freeze", tag = "Staff",
    params(InPath<AccountNumber>, WriteHeaders, IfMatch), request_body = StatusChange,
    responses((status = 200, description = "Frozen.", body = StatusResult), WriteProblems)
)]
async fn freeze_account(
    State(app): State<App>,
    number: InPath<AccountNumber>,
    write: Write<AccountOps, StatusChange>,
) -> Result<Answer<StatusResult>, Problem> {
    let Write { body, context, .. } = write;
    let number = number.get()?;
    let committed = accounts::freeze(&app.journal, context, &number, body.reason.into()).await?;
    let result = status_changed(&committed)?;
    Ok(Answer::ok(result).at(&committed))
}

/// Staff: lets money leave an account again.
#[utoipa::path(
    post, path = "/v1/staff/accounts/{accountNo}/unfreeze", tag = "Staff",
    params(InPath<AccountNumber>, WriteHeaders, IfMatch), request_body = StatusChange,
    responses((status = 200, description = "Active again.", body = StatusResult), WriteProblems)
)]
async fn unfreeze_account(
    State(app): State<App>,
    number: InPath<AccountNumber>,
    write: Write<AccountOps, StatusChange>,
) -> Result<Answer<StatusResult>, Problem> {
    let Write { body, context, .. } = write;
    let number = number.get()?;
    let committed = accounts::unfreeze(&app.journal, context, &number, body.reason.into()).await?;
    let result = status_changed(&committed)?;
    Ok(Answer::ok(result).at(&committed))
}

/// Staff: lets money leave an account again that nobody has used for long. Its holder has shown that they are there.
#[utoipa::path(
    post, path = "/v1/staff/accounts/{accountNo}/reactivate", tag = "Staff",
    params(InPath<AccountNumber>, WriteHeaders, IfMatch), request_body = StatusChange,
    responses((status = 200, description = "Active again.", body = StatusResult), WriteProblems)
)]
async fn reactivate_account(
    State(app): State<App>,
    number: InPath<AccountNumber>,
    write: Write<AccountOps, StatusChange>,
) -> Result<Answer<StatusResult>, Problem> {
    let Write { body, context, .. } = write;
    let number = number.get()?;
    let committed = accounts::reactivate(&app.journal, context, &number, body.reason.into()).await?;
    let result = status_changed(&committed)?;
    Ok(Answer::ok(result).at(&committed))
}

fn moved(committed: &Committed, message: &'static str) -> Result<CashResult, Problem> {
    let (recorded, completed) = payment(committed)?;
    let customer = completed.postings.iter().find(|line| !line.account.is_internal());
    let customer = customer.ok_or_else(Problem::internal)?;
    Ok(CashResult {
        status: "SUCCESS",
        transaction_id: recorded.stream.id.to_string(),
        processed_at: recorded.recorded_at,
        message,
        transaction_type: completed.kind.as_str(),
        account_number: customer.account.to_string(),
        amount: completed.amount.minor(),
        currency: completed.currency.to_string(),
        narration: completed.narration.clone(),
        reference: completed.reference.clone(),
        ledger_balance: customer.balance,
    })
}

fn status_changed(committed: &Committed) -> Result<StatusResult, Problem> {
    use bursar_domain::accounts::AccountEvent;
    let (recorded, (account_status, reason, message)) = committed.event(|event| match event {
        Event::Account(AccountEvent::Frozen { reason }) => Some(("FROZEN", reason, "Account frozen")),
        Event::Account(AccountEvent::Unfrozen { reason }) => Some(("ACTIVE", reason, "Account unfrozen")),
        Event::Account(AccountEvent::Reactivated { reason }) => {
            Some(("ACTIVE", reason, "Account reactivated"))
        }
        _ => None,
    })?;
    Ok(StatusResult {
        status: "SUCCESS",
        account_number: recorded.stream.id.to_string(),
        account_status,
        reason: reason.clone(),
        updated_at: recorded.recorded_at,
        message,
    })
}
