//! How a transaction looks to those it concerns: each sees what is theirs to see.

use bursar_domain::AccountNumber;
use bursar_domain::kernel::UserId;
use bursar_projections::tags::{TagRow, Tagged};
use bursar_projections::transactions::{Transaction, TransactionStatus};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::paging::Pagination;
use crate::payments::receipt;

/// Transactions of the caller.
#[derive(Debug, Serialize, ToSchema)]
pub struct TransactionList {
    pub(super) transactions: Vec<TransactionView>,
    pub(super) pagination: Pagination,
}

/// A transaction, from the side of the caller.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TransactionView {
    transaction_id: String,
    /// `INTERNAL`, `SELF`, `EXTERNAL`, `MWALLET`, `BILLS`, `CARD_FUNDING`, `MWALLET_FUNDING`, `DEPOSIT`,
    /// `WITHDRAWAL`, `REVERSAL`, `REFUND`, `LOAN_DISBURSEMENT` or `LOAN_REPAYMENT`.
    #[serde(rename = "type")]
    kind: &'static str,
    /// `DEBIT` when the caller paid, `CREDIT` when they were paid. Between accounts of their own they paid.
    direction: &'static str,
    /// `SUCCESS` (made; or accepted, and on its way), `SETTLED`, `RETURNED`, `REVERSED`, or `DISPUTED` while a
    /// dispute of the caller's is open.
    status: &'static str,
    /// Minor units.
    amount: i64,
    /// Minor units that the bank took beside the amount, or gave back in a reversal.
    fee: i64,
    currency: String,
    /// The account debited, or what is outside the bank in its place; null for the bank's own.
    source_account: Option<String>,
    /// The account credited, or what is outside the bank in its place; null for the bank's own.
    destination_account: Option<String>,
    /// The payee's name, as the caller gave it.
    destination_name: Option<String>,
    /// Code of the bank or biller, or the wallet provider, at the other end; null inside this bank.
    institution: Option<String>,
    /// Name of that bank or biller.
    institution_name: Option<String>,
    narration: Option<String>,
    reference: String,
    processed_at: Timestamp,
    /// When it arrived outside.
    settled_at: Option<Timestamp>,
    /// When it came back.
    returned_at: Option<Timestamp>,
    /// Why it came back, in the rail's words.
    return_reason: Option<String>,
    /// The transaction that this one undoes or refunds.
    original_transaction_id: Option<String>,
    /// The transaction that undid this one.
    reversed_by: Option<String>,
    /// The caller's open dispute.
    dispute_id: Option<String>,
    /// Minor units given back to the caller after disputes.
    refunded_amount: i64,
    /// The caller's tags on it, in the order they were given.
    tags: Vec<TagOn>,
    /// The caller's notes about it.
    notes: Option<String>,
    /// Where the receipt is.
    receipt_url: String,
}

/// A tag on a transaction.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TagOn {
    tag_id: String,
    tag_name: String,
    tag_color: Option<String>,
    tag_icon: Option<String>,
}

impl From<TagRow> for TagOn {
    fn from(tag: TagRow) -> Self {
        Self { tag_id: tag.tag_id.to_string(), tag_name: tag.name, tag_color: tag.color, tag_icon: tag.icon }
    }
}

/// What both the list and the receipt say, from the side of a reader.
#[derive(Debug)]
pub(super) struct Sided {
    /// Whether the reader paid.
    pub(super) paid: bool,
    pub(super) status: TransactionStatus,
    pub(super) fee: i64,
    pub(super) source: Option<String>,
    pub(super) destination: Option<String>,
    pub(super) destination_name: Option<String>,
}

impl Sided {
    pub(super) fn of(row: &Transaction, reader: UserId) -> Self {
        let paid = row.payer == Some(reader);
        let status = match row.status {
            // Between the payer and the bank until it is decided.
            TransactionStatus::Disputed if !paid => TransactionStatus::Success,
            status => status,
        };
        // What is outside stands for the bank's settlement account.
        let shown = |account: &AccountNumber| {
            if account.is_internal() { row.outside_number.clone() } else { Some(account.to_string()) }
        };
        Self {
            paid,
            status,
            // A reversal gives it back to whom it pays, a loan is paid out less its fees.
            fee: if paid == row.kind.fee_is_the_payees() { 0 } else { row.fee },
            source: shown(&row.source_account),
            destination: shown(&row.destination_account),
            destination_name: row.destination_name.clone().filter(|_| paid),
        }
    }
}

impl TransactionView {
    pub(super) fn of(row: Transaction, reader: UserId, tagged: Tagged) -> Self {
        let Sided { paid, status, fee, source, destination, destination_name } = Sided::of(&row, reader);
        Self {
            kind: row.kind.as_str(),
            direction: if paid { "DEBIT" } else { "CREDIT" },
            status: status.as_str(),
            amount: row.amount,
            fee,
            currency: row.currency.to_string(),
            source_account: source,
            destination_account: destination,
            destination_name,
            institution: row.institution,
            institution_name: row.institution_name,
            narration: row.narration,
            reference: row.reference,
            processed_at: row.recorded_at,
            settled_at: row.settled_at,
            returned_at: row.returned_at,
            return_reason: row.return_reason,
            original_transaction_id: row.undoes.map(|id| id.to_string()),
            reversed_by: row.reversed_by.map(|id| id.to_string()),
            dispute_id: row.dispute_id.filter(|_| paid),
            refunded_amount: if paid { row.refunded } else { 0 },
            tags: tagged.tags.into_iter().map(TagOn::from).collect(),
            notes: tagged.notes,
            receipt_url: receipt(&row.transaction_id.to_string()),
            transaction_id: row.transaction_id.to_string(),
        }
    }
}
