//! Payments out of the bank. They are accepted at once and arrive, or come back, later.

use axum::extract::State;
use bursar_commands::payments::{Known, pay_out};
use bursar_commands::{CommandError, accounts};
use bursar_domain::payments::Outside;
use bursar_domain::{AccountNumber, Amount, Currency, Personal};

use super::result::{ExternalTransferResult, WalletTransferResult};
use super::{known, made, rail, transfer, wallet_provider};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::WriteTransactions;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Code, Phone, Text, Write};

request! {
    /// A transfer to an account of another bank.
    ExternalTransfer {
        /// The caller's account that is debited.
        source_account: AccountNumber = "sourceAccount",
        /// The account number there.
        destination_account: Code<34> = "destinationAccount",
        /// The payee's name as the payer knows it.
        destination_name: Option<Text<140>> = "destinationName",
        /// The bank, as in `/v1/payments/banks/external`; the shorter code that people know will do.
        bank_code: Code<40> = "bankCode",
        /// The bank's name; that of its code when absent.
        bank_name: Option<Text<140>> = "bankName",
        /// Minor units.
        amount: Amount = "amount",
        /// ISO 4217; the account must have it.
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
    /// A transfer to a mobile wallet.
    WalletTransfer {
        /// The caller's account that is debited.
        source_account: AccountNumber = "sourceAccount",
        /// The wallet's number, E.164.
        phone_number: Phone = "phoneNumber",
        /// Who runs it.
        wallet_provider: Code<40> = "walletProvider",
        /// Minor units.
        amount: Amount = "amount",
        /// ISO 4217; the account must have it.
        currency: Currency = "currency",
        /// What it is for.
        narration: Option<Text<500>> = "narration",
        /// The payer's own reference, not unique; made up when absent.
        reference: Option<Text<140>> = "reference",
        /// Whether to keep the payee as a beneficiary.
        save_as_beneficiary: Option<bool> = "saveAsBeneficiary",
    }
}

/// Transfers money to an account of another bank. It is debited and accepted; when it does not arrive, it comes back.
#[utoipa::path(
    post, path = "/v1/payments/transfer/external", tag = "Payments",
    params(WriteHeaders), request_body = ExternalTransfer,
    responses((status = 201, description = "Accepted.", body = ExternalTransferResult), WriteProblems)
)]
pub(super) async fn transfer_external(
    State(app): State<App>,
    write: Write<WriteTransactions, ExternalTransfer>,
) -> Result<Answer<ExternalTransferResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let rail = rail(&app)?;
    let source = accounts::owned(&app.journal, caller.user(), &body.source_account).await?;
    let bank = app.reference.payable_bank(&body.bank_code.0).map_err(CommandError::refused)?;
    let outside = Outside::Bank {
        bank_code: bank.bank_code.clone(),
        bank_name: body.bank_name.map_or_else(|| bank.bank_name.clone(), String::from),
        account_number: Personal::new(body.destination_account.into()),
    };
    let known = known(body.destination_name, body.save_as_beneficiary);
    let transfer = transfer(body.amount, body.currency, body.narration, body.reference);
    let committed = pay_out(&app.journal, context, &source, outside, known, None, transfer).await?;
    made(&committed, |recorded, paid| ExternalTransferResult::of(recorded, paid, rail.delivery_time()))
}

/// Transfers money to a mobile wallet. It is debited and accepted; when it does not arrive, it comes back.
#[utoipa::path(
    post, path = "/v1/payments/transfer/mwallet", tag = "Payments",
    params(WriteHeaders), request_body = WalletTransfer,
    responses((status = 201, description = "Accepted.", body = WalletTransferResult), WriteProblems)
)]
pub(super) async fn transfer_mwallet(
    State(app): State<App>,
    write: Write<WriteTransactions, WalletTransfer>,
) -> Result<Answer<WalletTransferResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let rail = rail(&app)?;
    let source = accounts::owned(&app.journal, caller.user(), &body.source_account).await?;
    let outside = Outside::Wallet {
        provider: wallet_provider(&app, body.wallet_provider)?,
        phone_number: Personal::new(body.phone_number.into()),
    };
    let known = Known { name: None, save: body.save_as_beneficiary.unwrap_or(false) };
    let transfer = transfer(body.amount, body.currency, body.narration, body.reference);
    let committed = pay_out(&app.journal, context, &source, outside, known, None, transfer).await?;
    made(&committed, |recorded, paid| WalletTransferResult::of(recorded, paid, rail.delivery_time()))
}
