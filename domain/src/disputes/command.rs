//! What a dispute can be asked.

use super::Opened;
use crate::kernel::TransactionId;

/// Commands to a dispute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DisputeCommand {
    /// Begin it.
    Open(Box<Opened>),
    /// Staff: somebody looks into it.
    StartReview {
        /// For the file and the payer.
        note: Option<String>,
    },
    /// Staff: the payer was right.
    Win {
        /// The transaction in the same unit that gives the money back.
        refunded_by: TransactionId,
        /// Why, for the file and the payer.
        note: Option<String>,
    },
    /// Staff: the payer was wrong.
    Lose {
        /// Why, for the file and the payer.
        note: Option<String>,
    },
    /// The payer wants it no more.
    Withdraw {
        /// Why, in their words.
        reason: Option<String>,
    },
}
