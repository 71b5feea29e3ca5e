//! What a card can be asked.

use jiff::Timestamp;

use super::Linked;
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
    /// Keep it no longer.
    Remove,
}
