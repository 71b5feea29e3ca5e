//! What a card can be asked.

use jiff::Timestamp;

use super::{Linked, Requested};
use crate::kernel::{Amount, Currency, TransactionId};

/// Commands to a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardCommand {
    /// Link a card of another bank; one that was removed comes back as it was.
    Link {
        /// The card.
        card: Box<Linked>,
        /// Now.
        at: Timestamp,
    },
    /// Ask for a card of the bank's own.
    Request(Box<Requested>),
    /// Staff: it is in its holder's hands.
    Activate {
        /// How they know.
        note: Option<String>,
        /// Now.
        at: Timestamp,
    },
    /// Take money from it, by a payment in the same unit.
    Charge {
        /// That payment.
        transaction_id: TransactionId,
        /// How much.
        amount: Amount,
        /// In which currency.
        currency: Currency,
    },
    /// The payment in the same unit, or before, did not arrive.
    ReturnCharge {
        /// The payment.
        transaction_id: TransactionId,
        /// How much.
        amount: Amount,
    },
    /// Let no money be taken from it.
    Block {
        /// Why, as the holder says.
        reason: Option<String>,
        /// Until when; for good when absent.
        until: Option<Timestamp>,
    },
    /// Let money be taken from it again.
    Unblock,
    /// Let money be taken from it again, if it was blocked until now.
    EndBlock {
        /// Now.
        at: Timestamp,
    },
    /// Keep it no longer.
    Remove,
}
