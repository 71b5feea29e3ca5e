//! What became of a bill that the caller paid.

use axum::extract::State;
use bursar_projections::transactions::{self, Transaction, TransactionStatus};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ReadAccount};
use crate::openapi::{ReadHeaders, ReadProblems};
use crate::payments::receipt;
use crate::problem::Problem;
use crate::request::{BillingRef, Conditions, InPath, PathId as _};

/// What became of a bill.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BillingStatus {
    billing_ref: String,
    transaction_id: String,
    /// `SUCCESS`, from its acceptance on; `RETURNED` or `REVERSED` when the money came back, `DISPUTED` while the bank
    /// looks into it.
    status: &'static str,
    /// Minor units.
    amount: i64,
    /// What the bank took on top, minor units.
    fee: i64,
    currency: String,
    biller_name: Option<String>,
    customer_name: Option<String>,
    account_number: Option<String>,
    processed_at: Timestamp,
    /// When the biller got it; null until then.
    settled_at: Option<Timestamp>,
    message: &'static str,
    /// Where the receipt is.
    receipt_url: String,
}

/// Tells what became of a bill that the caller paid, by its transaction id or by the caller's reference; of several
/// with one reference the newest.
#[utoipa::path(
    get, path = "/v1/billers/query/status/{billingRef}", tag = "Billers",
    params(InPath<BillingRef>, ReadHeaders),
    responses((status = 200, description = "The bill.", body = BillingStatus), ReadProblems)
)]
pub(super) async fn read_billing_status(
    State(app): State<App>,
    billing_ref: InPath<BillingRef>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
) -> Result<Answer<BillingStatus>, Problem> {
    let BillingRef(billing_ref) = billing_ref.get()?;
    app.fresh(&caller, &wants, &["transactions"]).await?;
    let bill = transactions::find_bill(&app.pool, caller.user(), &billing_ref).await?;
    let bill = bill.ok_or_else(|| Problem::not_found(BillingRef::THING))?;
    Ok(Answer::ok(BillingStatus::of(billing_ref, bill)))
}

impl BillingStatus {
    fn of(billing_ref: String, bill: Transaction) -> Self {
        let (status, message) = match bill.status {
            TransactionStatus::Success => ("SUCCESS", "Accepted, and on its way to the biller"),
            TransactionStatus::Settled => ("SUCCESS", "The biller has it"),
            TransactionStatus::Returned => {
                ("RETURNED", "The biller did not take it; amount and fee are back")
            }
            TransactionStatus::Reversed => ("REVERSED", "It was undone; amount and fee are back"),
            TransactionStatus::Disputed => ("DISPUTED", "The bank looks into it"),
        };
        Self {
            billing_ref,
            transaction_id: bill.transaction_id.to_string(),
            status,
            amount: bill.amount,
            fee: bill.fee,
            currency: bill.currency.to_string(),
            biller_name: bill.institution_name,
            customer_name: bill.destination_name,
            account_number: bill.outside_number,
            processed_at: bill.recorded_at,
            settled_at: bill.settled_at,
            message,
            receipt_url: receipt(&bill.transaction_id.to_string()),
        }
    }
}
