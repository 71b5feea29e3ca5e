//! What a payment answers with: what was asked, and what became of it.

use bursar_domain::kernel::{LoanId, midnight};
use bursar_domain::loans::{Repaid, interest_of, loan_number, principal_of};
use bursar_domain::payments::{Completed, Outside};
use bursar_domain::{Amount, Personal, Recorded};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::receipt;

/// What is said of money that came in.
const FUNDED: &str = "Funding accepted; available once it has arrived";

/// What every payment answers with.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PaymentResult {
    /// `SUCCESS`.
    status: &'static str,
    transaction_id: String,
    processed_at: Timestamp,
    message: &'static str,
    /// Minor units.
    amount: i64,
    currency: String,
    narration: Option<String>,
    reference: String,
    /// Where the receipt is.
    receipt_url: String,
}

/// A transfer that was made.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TransferResult {
    #[serde(flatten)]
    payment: PaymentResult,
    /// `INTERNAL` or `SELF`.
    transfer_type: &'static str,
    source_account: String,
    destination_account: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    destination_name: Option<String>,
}

/// A transfer to another bank that was accepted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExternalTransferResult {
    #[serde(flatten)]
    transfer: TransferResult,
    bank_code: String,
    bank_name: String,
    /// In words.
    estimated_delivery_time: String,
}

/// A transfer to a mobile wallet that was accepted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletTransferResult {
    #[serde(flatten)]
    payment: PaymentResult,
    /// `MWALLET`.
    transfer_type: &'static str,
    source_account: String,
    phone_number: String,
    wallet_provider: String,
    /// In words.
    estimated_delivery_time: String,
}

/// A bill that was accepted.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BillPaymentResult {
    #[serde(flatten)]
    payment: PaymentResult,
    biller_id: String,
    biller_name: String,
    account_number: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_type: Option<String>,
    source_account: String,
    /// What the bank takes on top of `amount`, in minor units; 0 for nothing.
    fee: i64,
}

/// A payment towards a loan. Sums in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoanPaymentResult {
    #[serde(flatten)]
    payment: PaymentResult,
    loan_id: String,
    loan_number: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    payment_type: Option<String>,
    source_account: String,
    /// How much of it is principal.
    principal_paid: i64,
    /// How much of it is interest.
    interest_paid: i64,
    /// Principal that is left.
    remaining_balance: i64,
    /// When the first instalment that is not wholly paid is or was due; null when the loan is paid back.
    next_payment_date: Option<Timestamp>,
}

/// Money that came in from a mobile wallet; reserved until it has arrived.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WalletFundingResult {
    #[serde(flatten)]
    payment: PaymentResult,
    wallet_provider: String,
    phone_number: String,
    destination_account: String,
}

/// Money that came in from a card; reserved until it has arrived.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardFundingResult {
    #[serde(flatten)]
    payment: PaymentResult,
    card_id: String,
    /// Masked, but for the last four digits.
    card_number: String,
    destination_account: String,
}

impl PaymentResult {
    pub(super) fn of(recorded: &Recorded, completed: &Completed, message: &'static str) -> Self {
        Self {
            status: "SUCCESS",
            transaction_id: recorded.stream.id.to_string(),
            processed_at: recorded.recorded_at,
            message,
            amount: completed.amount.minor(),
            currency: completed.currency.to_string(),
            narration: completed.narration.clone(),
            reference: completed.reference.clone(),
            receipt_url: receipt(&recorded.stream.id),
        }
    }
}

impl LoanPaymentResult {
    pub(super) fn of(recorded: &Recorded, completed: &Completed, loan_id: LoanId, repaid: &Repaid) -> Self {
        let message = if repaid.next_due.is_some() { "Loan payment completed" } else { "Loan paid back" };
        Self {
            payment: PaymentResult::of(recorded, completed, message),
            loan_id: loan_id.to_string(),
            loan_number: loan_number(loan_id),
            payment_type: repaid.payment_type.clone(),
            source_account: completed.source.to_string(),
            principal_paid: principal_of(&repaid.shares),
            interest_paid: interest_of(&repaid.shares),
            remaining_balance: repaid.principal_left,
            next_payment_date: repaid.next_due.map(midnight),
        }
    }
}

impl TransferResult {
    pub(super) fn of(recorded: &Recorded, completed: &Completed) -> Self {
        let outside = completed.outside.as_ref().map(|outside| outside.number().to_owned());
        Self {
            payment: PaymentResult::of(recorded, completed, "Transfer completed"),
            transfer_type: completed.kind.as_str(),
            source_account: completed.source.to_string(),
            destination_account: outside.unwrap_or_else(|| completed.destination.to_string()),
            destination_name: name(completed),
        }
    }
}

impl ExternalTransferResult {
    pub(super) fn of(recorded: &Recorded, completed: &Completed, delivery: &str) -> Self {
        let (bank_code, bank_name) = match &completed.outside {
            Some(Outside::Bank { bank_code, bank_name, .. }) => (bank_code.clone(), bank_name.clone()),
            _ => Default::default(),
        };
        let mut transfer = TransferResult::of(recorded, completed);
        transfer.payment.message = "Transfer accepted";
        Self { transfer, bank_code, bank_name, estimated_delivery_time: delivery.to_owned() }
    }
}

impl WalletTransferResult {
    pub(super) fn of(recorded: &Recorded, completed: &Completed, delivery: &str) -> Self {
        let (wallet_provider, phone_number) = wallet(completed);
        Self {
            payment: PaymentResult::of(recorded, completed, "Transfer accepted"),
            transfer_type: completed.kind.as_str(),
            source_account: completed.source.to_string(),
            phone_number,
            wallet_provider,
            estimated_delivery_time: delivery.to_owned(),
        }
    }
}

impl BillPaymentResult {
    pub(super) fn of(recorded: &Recorded, completed: &Completed) -> Self {
        let (biller_id, biller_name, account_number, payment_type) = match &completed.outside {
            Some(Outside::Biller { biller_id, biller_name, account_number, payment_type }) => (
                biller_id.clone(),
                biller_name.clone(),
                account_number.or_erased().to_owned(),
                payment_type.clone(),
            ),
            _ => Default::default(),
        };
        Self {
            payment: PaymentResult::of(recorded, completed, "Bill payment accepted"),
            biller_id,
            biller_name,
            account_number,
            customer_name: name(completed),
            payment_type,
            source_account: completed.source.to_string(),
            fee: completed.fee.map_or(0, Amount::minor),
        }
    }
}

impl CardFundingResult {
    pub(super) fn of(recorded: &Recorded, completed: &Completed) -> Self {
        let (card_id, card_number) = match &completed.outside {
            Some(Outside::Card { card_id, masked_number }) => (card_id.clone(), masked_number.clone()),
            _ => Default::default(),
        };
        Self {
            payment: PaymentResult::of(recorded, completed, FUNDED),
            card_id,
            card_number,
            destination_account: completed.destination.to_string(),
        }
    }
}

impl WalletFundingResult {
    pub(super) fn of(recorded: &Recorded, completed: &Completed) -> Self {
        let (wallet_provider, phone_number) = wallet(completed);
        Self {
            payment: PaymentResult::of(recorded, completed, FUNDED),
            wallet_provider,
            phone_number,
            destination_account: completed.destination.to_string(),
        }
    }
}

/// The payee's name as the payer gave it; none after its erasure.
fn name(completed: &Completed) -> Option<String> {
    completed.destination_name.as_ref().and_then(Personal::get).cloned()
}

/// Provider and phone number.
fn wallet(completed: &Completed) -> (String, String) {
    match &completed.outside {
        Some(Outside::Wallet { provider, phone_number }) => {
            (provider.clone(), phone_number.or_erased().to_owned())
        }
        _ => Default::default(),
    }
}
