//! What can happen to a card.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::CardExpiry;
use crate::AccountNumber;
use crate::aggregate::{AggregateEvent, Due, When, names};
use crate::kernel::{Amount, CardRequestId, Currency, Origin, Personal, TransactionId, UserId};

/// The task of ending a block that was for a while.
pub const END_BLOCK: &str = "card.end_block";

/// Events of a card. Each says whose it is, so that a reader needs no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardEvent {
    /// A card of another bank is linked.
    Linked(Box<Linked>),
    /// A card of the bank's own is wanted.
    Requested(Box<Requested>),
    /// It is in its holder's hands.
    Activated(Activated),
    /// Money was taken from it.
    Charged(Charge),
    /// Money that was taken did not arrive: the limits count it no more.
    ChargeReturned(Charge),
    /// No money can be taken from it.
    Blocked(Block),
    /// Money can be taken from it again.
    Unblocked {
        /// Whose it is.
        owner: UserId,
    },
    /// Its holder keeps it no longer.
    Removed {
        /// Whose it is.
        owner: UserId,
    },
}

/// A card of another bank. Neither its number nor its security code is in here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Linked {
    /// Whose it is.
    pub owner: UserId,
    /// Stands for holder and number: a keyed hash of the two.
    pub token: Personal<String>,
    /// The number's first six digits.
    pub bin: String,
    /// The number's last four digits.
    pub last_four: String,
    /// The brand's code.
    pub brand: String,
    /// Whose money it spends.
    pub card_type: CardType,
    /// Until when it is good.
    pub expiry: CardExpiry,
    /// The name on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder_name: Option<Personal<String>>,
    /// Who issued it, as the holder says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuing_bank: Option<String>,
    /// Whether it takes the place of the holder's default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_default: bool,
    /// What may be taken from it.
    pub limits: CardLimits,
    /// What another bank knew of it, when it was taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// A card of the bank's own. Its number is made anew from the bank's key and the card's id when the card is made; it is not in
/// here, and there is no security code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requested {
    /// Whose it is.
    pub owner: UserId,
    /// The request.
    pub request_id: CardRequestId,
    /// Whether it is something to hold.
    pub form: CardForm,
    /// The account whose money it spends.
    pub linked_account: AccountNumber,
    /// The number's first six digits.
    pub bin: String,
    /// The number's last four digits.
    pub last_four: String,
    /// The brand's code.
    pub brand: String,
    /// Until when it is good.
    pub expiry: CardExpiry,
    /// The name on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder_name: Option<Personal<String>>,
    /// Where it is sent; none for one that is nothing to hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deliver_to: Option<Personal<DeliveryAddress>>,
    /// The day it should be there.
    pub deliver_by: Date,
    /// Whether it takes the place of the holder's default once it is active.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_default: bool,
    /// What may be spent with it.
    pub limits: CardLimits,
}

/// Where a card is sent.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeliveryAddress {
    /// House and street.
    pub street_address: String,
    /// The city or town.
    pub city: String,
    /// The state.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The postal code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub postal_code: Option<String>,
    /// The country, ISO 3166-1 alpha-2.
    pub country: String,
}

impl std::fmt::Debug for DeliveryAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[address]")
    }
}

/// That a card of the bank's own can be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activated {
    /// Whose it is.
    pub owner: UserId,
    /// How staff know that its holder has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Whether it takes the place of the holder's default.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_default: bool,
}

/// That, and why, no money can be taken from a card.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Whose it is.
    pub owner: UserId,
    /// Why, as the holder says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Until when; until somebody unblocks it when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Whether nothing unblocks it: it is lost or stolen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
}

/// What may be taken from a card. Sums in minor units of `currency`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardLimits {
    /// The one currency it is charged in.
    pub currency: Currency,
    /// The most a UTC day.
    pub daily: i64,
    /// The most a UTC month.
    pub monthly: i64,
}

/// Money taken from a card, or given back to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Charge {
    /// Whose card it is.
    pub owner: UserId,
    /// The payment.
    pub transaction_id: TransactionId,
    /// How much, minor units.
    pub amount: Amount,
    /// The UTC day whose limit it counts against.
    pub day: Date,
    /// What counts against the limit of the latest day that was charged, after it, minor units.
    pub spent_today: i64,
    /// What counts against the limit of that day's month, after it, minor units.
    pub spent_this_month: i64,
}

crate::spelled! {
    /// Whose money a card spends.
    pub enum CardType {
        /// The holder's.
        Debit = "DEBIT",
        /// The issuer's.
        Credit = "CREDIT",
    }
}

crate::spelled! {
    /// Whether a card of the bank's own is something to hold.
    pub enum CardForm {
        /// It is, and is sent.
        Physical = "PHYSICAL",
        /// It is a number.
        Virtual = "VIRTUAL",
    }
}

crate::spelled! {
    /// Whether a card can be used.
    pub enum CardStatus {
        /// It is on its way to its holder.
        Pending = "PENDING",
        /// It can.
        Active = "ACTIVE",
        /// Its holder does not want it to be.
        Blocked = "BLOCKED",
        /// Its last month is over.
        Expired = "EXPIRED",
    }
}

impl CardEvent {
    /// Whose card it happened to.
    #[must_use]
    pub const fn owner(&self) -> UserId {
        match self {
            Self::Linked(card) => card.owner,
            Self::Requested(card) => card.owner,
            Self::Activated(activated) => activated.owner,
            Self::Charged(charge) | Self::ChargeReturned(charge) => charge.owner,
            Self::Blocked(block) => block.owner,
            Self::Unblocked { owner } | Self::Removed { owner } => *owner,
        }
    }
}

impl AggregateEvent for CardEvent {
    names! {
        Linked = "card.linked",
        Requested = "card.requested",
        Activated = "card.activated",
        Charged = "card.charged",
        ChargeReturned = "card.charge_returned",
        Blocked = "card.blocked",
        Unblocked = "card.unblocked",
        Removed = "card.removed",
    }

    fn subject(&self, _stream: &str) -> Option<UserId> {
        Some(self.owner())
    }

    fn dues(&self) -> Vec<Due> {
        let due = |when| vec![Due { task: END_BLOCK, when }];
        match self {
            Self::Blocked(Block { until: Some(until), .. }) => due(When::At(*until)),
            Self::Blocked(Block { until: None, .. }) | Self::Unblocked { .. } | Self::Removed { .. } => {
                due(When::Never)
            }
            Self::Linked(_)
            | Self::Requested(_)
            | Self::Activated(_)
            | Self::Charged(_)
            | Self::ChargeReturned(_) => Vec::new(),
        }
    }
}
