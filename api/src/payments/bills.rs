//! Bills: paid to those in `/v1/billers`, for what they sell.

use axum::extract::State;
use bursar_commands::payments::BillOrder;
use bursar_commands::{accounts, payments};
use bursar_domain::{AccountNumber, Amount, Currency};

use super::result::BillPaymentResult;
use super::{known, made, rail, transfer};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::WriteTransactions;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{BillerId, Code, Text, Write};

request! {
    /// A bill to be paid.
    BillPayment {
        /// The biller, as in `/v1/billers`.
        biller_id: BillerId = "billerId",
        /// What is bought, as in the biller's items; whatever costs the amount when absent.
        item_id: Option<BillerId> = "itemId",
        /// The customer's number at the biller; it must look as the biller says.
        account_number: Text<64> = "accountNumber",
        /// The customer's name there.
        customer_name: Option<Text<140>> = "customerName",
        /// Minor units; an item's fee comes on top.
        amount: Amount = "amount",
        /// ISO 4217; account and biller must have it.
        currency: Currency = "currency",
        /// `POSTPAID`, `PREPAID` ...
        payment_type: Option<Code<40>> = "paymentType",
        /// The caller's account that is debited.
        source_account: AccountNumber = "sourceAccount",
        /// What it is for.
        narration: Option<Text<500>> = "narration",
        /// The payer's own reference, not unique; made up when absent.
        reference: Option<Text<140>> = "reference",
        /// Whether to keep the biller's customer as a beneficiary.
        save_as_beneficiary: Option<bool> = "saveAsBeneficiary",
    }
}

/// Pays a bill. It is debited and accepted; when the biller refuses it, amount and fee come back.
#[utoipa::path(
    post, path = "/v1/payments/bills", tag = "Payments",
    params(WriteHeaders), request_body = BillPayment,
    responses((status = 201, description = "Accepted.", body = BillPaymentResult), WriteProblems)
)]
pub(super) async fn pay_bill(
    State(app): State<App>,
    write: Write<WriteTransactions, BillPayment>,
) -> Result<Answer<BillPaymentResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    rail(&app)?;
    let source = accounts::owned(&app.journal, caller.user(), &body.source_account).await?;
    let order = BillOrder {
        biller_id: body.biller_id.0,
        item_id: body.item_id.map(|item| item.0),
        account_number: body.account_number.into(),
        payment_type: body.payment_type.map(String::from),
    };
    let known = known(body.customer_name, body.save_as_beneficiary);
    let transfer = transfer(body.amount, body.currency, body.narration, body.reference);
    let (journal, reference) = (&app.journal, &app.reference);
    let committed = payments::pay_bill(journal, reference, context, &source, order, known, transfer).await?;
    made(&committed, BillPaymentResult::of)
}
