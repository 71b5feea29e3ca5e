//! Money from outside into an account of the caller: in its balance at once, available once it has arrived.

use axum::extract::State;
use bursar_commands::accounts;
use bursar_commands::payments::{fund, fund_by_card};
use bursar_commands::{cards, users};
use bursar_domain::kernel::CardId;
use bursar_domain::payments::Outside;
use bursar_domain::{AccountNumber, Amount, Currency, Personal};

use super::result::{CardFundingResult, WalletFundingResult};
use super::{made, rail, transfer, wallet_provider};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::WriteTransactions;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Code, Phone, Text, Write};

request! {
    /// Money from a mobile wallet of the caller.
    WalletFunding {
        /// Who runs the wallet.
        wallet_provider: Code<40> = "walletProvider",
        /// The wallet's number, E.164: the caller's own.
        phone_number: Phone = "phoneNumber",
        /// The caller's account that is credited.
        destination_account: AccountNumber = "destinationAccount",
        /// Minor units.
        amount: Amount = "amount",
        /// ISO 4217; the account must have it.
        currency: Currency = "currency",
        /// What it is for.
        narration: Option<Text<500>> = "narration",
        /// The caller's own reference, not unique; made up when absent.
        reference: Option<Text<140>> = "reference",
    }
}

request! {
    /// Money from a card of the caller.
    CardFunding {
        /// The card: one of another bank that the caller has linked.
        card_id: CardId = "cardId",
        /// The caller's account that is credited.
        destination_account: AccountNumber = "destinationAccount",
        /// Minor units.
        amount: Amount = "amount",
        /// ISO 4217; card and account must have it.
        currency: Currency = "currency",
        /// What it is for.
        narration: Option<Text<500>> = "narration",
        /// The caller's own reference, not unique; made up when absent.
        reference: Option<Text<140>> = "reference",
    }
}

/// Funds an account from a card of the caller. `LIMIT_EXCEEDED` names the card's `dailyLimit` or `monthlyLimit` and
/// what is left of it; money that does not arrive counts against neither.
#[utoipa::path(
    post, path = "/v1/payments/fund/via/card", tag = "Payments",
    params(WriteHeaders), request_body = CardFunding,
    responses((status = 201, description = "Accepted.", body = CardFundingResult), WriteProblems)
)]
pub(super) async fn fund_via_card(
    State(app): State<App>,
    write: Write<WriteTransactions, CardFunding>,
) -> Result<Answer<CardFundingResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    rail(&app)?;
    let card = cards::owned(&app.journal, caller.user(), body.card_id).await?;
    let destination = accounts::owned(&app.journal, caller.user(), &body.destination_account).await?;
    let transfer = transfer(body.amount, body.currency, body.narration, body.reference);
    let committed = fund_by_card(&app.journal, context, &destination, &card, transfer).await?;
    made(&committed, CardFundingResult::of)
}

/// Funds an account from a mobile wallet under the caller's own phone number.
#[utoipa::path(
    post, path = "/v1/payments/fund/via/mwallet", tag = "Payments",
    params(WriteHeaders), request_body = WalletFunding,
    responses((status = 201, description = "Accepted.", body = WalletFundingResult), WriteProblems)
)]
pub(super) async fn fund_by_mwallet(
    State(app): State<App>,
    write: Write<WriteTransactions, WalletFunding>,
) -> Result<Answer<WalletFundingResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    rail(&app)?;
    let destination = accounts::owned(&app.journal, caller.user(), &body.destination_account).await?;
    let phone = String::from(body.phone_number);
    users::own_phone(&app.journal, caller.user(), &phone).await?;
    let provider = wallet_provider(&app, body.wallet_provider)?;
    let outside = Outside::Wallet { provider, phone_number: Personal::new(phone) };
    let transfer = transfer(body.amount, body.currency, body.narration, body.reference);
    let committed = fund(&app.journal, context, &destination, outside, transfer).await?;
    made(&committed, WalletFundingResult::of)
}
