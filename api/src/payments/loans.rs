//! Paying a loan back.

use axum::extract::State;
use bursar_commands::accounts;
use bursar_commands::loans::{Instruction, repay};
use bursar_domain::kernel::LoanId;
use bursar_domain::loans::LoanEvent;
use bursar_domain::{AccountNumber, Amount, Currency, Event};

use super::result::LoanPaymentResult;
use super::{location, payment, transfer};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::WriteTransactions;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Code, InPath, Text, Write};

request! {
    /// A payment towards a loan of the caller.
    LoanPayment {
        /// Minor units; at most what ends the loan.
        amount: Amount = "amount",
        /// ISO 4217; account and loan must have it.
        currency: Currency = "currency",
        /// `SCHEDULED` ...
        payment_type: Option<Code<40>> = "paymentType",
        /// The caller's account that is debited.
        source_account: AccountNumber = "sourceAccount",
        /// What it is for.
        narration: Option<Text<500>> = "narration",
        /// The payer's own reference, not unique; made up when absent.
        reference: Option<Text<140>> = "reference",
    }
}

/// Pays towards a loan of the caller. It goes to overdue interest, overdue principal, due interest, due principal, and then to
/// the instalments that come next. Limits do not count it.
#[utoipa::path(
    post, path = "/v1/payments/loans/{loanId}", tag = "Payments",
    params(InPath<LoanId>, WriteHeaders), request_body = LoanPayment,
    responses((status = 201, description = "Paid.", body = LoanPaymentResult), WriteProblems)
)]
pub(super) async fn repay_loan(
    State(app): State<App>,
    id: InPath<LoanId>,
    write: Write<WriteTransactions, LoanPayment>,
) -> Result<Answer<LoanPaymentResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let id = id.get()?;
    let source = accounts::owned(&app.journal, caller.user(), &body.source_account).await?;
    let instruction = Instruction {
        transfer: transfer(body.amount, body.currency, body.narration, body.reference),
        payment_type: body.payment_type.map(String::from),
    };
    let committed = repay(&app.journal, context, &source, id, instruction).await?;
    let (recorded, completed) = payment(&committed)?;
    let (_, repaid) = committed.event(|event| match event {
        Event::Loan(LoanEvent::Repaid(repaid)) => Some(&**repaid),
        _ => None,
    })?;
    let result = LoanPaymentResult::of(recorded, completed, id, repaid);
    Ok(Answer::ok(result).at(&committed).created(&location(&recorded.stream.id)))
}
