//! How cards look from outside.

use bursar_domain::Recorded;
use bursar_domain::cards::{CardForm, Linked, masked};
use bursar_projections::accounts::Account;
use bursar_projections::cards::CardRow;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use utoipa::ToSchema;

use crate::paging::Pagination;

/// What a card of another bank is good for here.
const LINKED_FEATURES: &[&str] = &["ONLINE_PAYMENTS"];
/// What a card of the bank's own is good for that is something to hold.
const PHYSICAL_FEATURES: &[&str] = &["CONTACTLESS", "ONLINE_PAYMENTS", "ATM_WITHDRAWALS"];
/// And one that is a number.
const VIRTUAL_FEATURES: &[&str] = &["ONLINE_PAYMENTS"];

/// The caller's cards.
#[derive(Debug, Serialize, ToSchema)]
pub struct CardList {
    pub(super) cards: Vec<CardItem>,
    pub(super) pagination: Pagination,
}

/// A card.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardItem {
    card_id: String,
    /// Masked, but for the last four digits.
    card_number: String,
    /// `DEBIT` or `CREDIT`.
    card_type: &'static str,
    card_brand: String,
    /// `PENDING`, `ACTIVE`, `BLOCKED` or `EXPIRED`.
    card_status: &'static str,
    /// `PHYSICAL` or `VIRTUAL`; null for a card of another bank.
    card_form: Option<&'static str>,
    /// `MM/YY`.
    expiry_date: String,
    is_default: bool,
    /// The account whose money it spends; null for a card of another bank.
    linked_account: Option<String>,
    /// What may be taken from it a UTC day, minor units.
    daily_limit: i64,
    /// What may be taken from it a UTC month, minor units.
    monthly_limit: i64,
}

/// A card with everything that is known of it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CardDetails {
    #[serde(flatten)]
    card: CardItem,
    /// `***`: the bank does not keep it.
    cvv: &'static str,
    /// Of the linked account, minor units; null for a card of another bank, which alone knows it.
    current_balance: Option<i64>,
    /// Of the linked account, minor units; null for a card of another bank, which alone knows it.
    available_balance: Option<i64>,
    /// When money was last taken from it.
    last_transaction_date: Option<Timestamp>,
    card_holder_name: Option<String>,
    issuing_bank: Option<String>,
    /// `ONLINE_PAYMENTS` ...
    card_features: Vec<&'static str>,
}

/// A card that was linked.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkedCard {
    /// `SUCCESS`.
    status: &'static str,
    pub(super) card_id: String,
    /// Masked, but for the last four digits.
    card_number: String,
    /// `DEBIT` or `CREDIT`.
    card_type: &'static str,
    card_brand: String,
    /// `ACTIVE`.
    card_status: &'static str,
    /// `MM/YY`.
    expiry_date: String,
    is_default: bool,
    linked_at: Timestamp,
    message: &'static str,
}

/// A card of the bank's own that was asked for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RequestedCard {
    /// `SUCCESS`.
    pub(super) status: &'static str,
    pub(super) request_id: String,
    pub(super) card_id: String,
    /// `PHYSICAL` or `VIRTUAL`.
    pub(super) card_type: &'static str,
    pub(super) card_brand: String,
    /// `PENDING`.
    pub(super) card_status: &'static str,
    /// Masked, but for the last four digits.
    pub(super) card_number: String,
    /// `MM/YY`.
    pub(super) expiry_date: String,
    /// Minor units a UTC day.
    pub(super) daily_limit: i64,
    /// Minor units a UTC month.
    pub(super) monthly_limit: i64,
    #[schema(value_type = String, format = Date)]
    pub(super) estimated_delivery_date: Date,
    pub(super) requested_at: Timestamp,
    pub(super) message: &'static str,
}

/// A card of the bank's own that can be used.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ActivatedCard {
    /// `SUCCESS`.
    pub(super) status: &'static str,
    pub(super) card_id: String,
    /// `ACTIVE`.
    pub(super) card_status: &'static str,
    pub(super) activated_at: Timestamp,
    pub(super) message: &'static str,
}

/// A card that the caller has no more.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RemovedCard {
    /// `SUCCESS`.
    pub(super) status: &'static str,
    pub(super) card_id: String,
    pub(super) removed_at: Timestamp,
    pub(super) message: &'static str,
}

/// A card that was blocked or unblocked.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct HotlistedCard {
    /// `SUCCESS`.
    pub(super) status: &'static str,
    pub(super) card_id: String,
    /// `BLOCK` or `UNBLOCK`.
    pub(super) action: &'static str,
    /// `BLOCKED` or `ACTIVE`.
    pub(super) card_status: &'static str,
    pub(super) processed_at: Timestamp,
    pub(super) message: &'static str,
    /// When a temporary block ends by itself; null for any other.
    pub(super) unblock_date: Option<Timestamp>,
}

impl CardItem {
    pub(super) fn of(row: &CardRow, now: Timestamp) -> Self {
        Self {
            card_id: row.card_id.to_string(),
            card_number: masked(&row.last_four),
            card_type: row.card_type.as_str(),
            card_brand: row.brand.clone(),
            card_status: row.status_at(now).as_str(),
            card_form: row.form.map(CardForm::as_str),
            expiry_date: row.expiry.to_string(),
            is_default: row.is_default,
            linked_account: row.linked_account.as_ref().map(ToString::to_string),
            daily_limit: row.daily_limit,
            monthly_limit: row.monthly_limit,
        }
    }
}

impl CardDetails {
    /// The card, the account that it spends, and this bank's name.
    pub(super) fn of(row: CardRow, account: Option<Account>, bank: &str, now: Timestamp) -> Self {
        Self {
            card: CardItem::of(&row, now),
            cvv: "***",
            current_balance: account.as_ref().map(|account| account.ledger_balance),
            available_balance: account.as_ref().map(|account| account.available_balance),
            last_transaction_date: row.last_transaction_at,
            card_holder_name: row.holder_name,
            issuing_bank: if row.form.is_some() { Some(bank.to_owned()) } else { row.issuing_bank },
            card_features: match row.form {
                None => LINKED_FEATURES,
                Some(CardForm::Physical) => PHYSICAL_FEATURES,
                Some(CardForm::Virtual) => VIRTUAL_FEATURES,
            }
            .to_vec(),
        }
    }
}

impl LinkedCard {
    pub(super) fn of(recorded: &Recorded, card: &Linked) -> Self {
        Self {
            status: "SUCCESS",
            card_id: recorded.stream.id.to_string(),
            card_number: masked(&card.last_four),
            card_type: card.card_type.as_str(),
            card_brand: card.brand.clone(),
            card_status: "ACTIVE",
            expiry_date: card.expiry.to_string(),
            is_default: card.is_default,
            linked_at: recorded.recorded_at,
            message: "Card linked",
        }
    }
}
