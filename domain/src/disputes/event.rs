//! What can happen to a dispute.

use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, names};
use crate::kernel::{Amount, Currency, Personal, TransactionId, UserId};

/// Events of a dispute.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DisputeEvent {
    /// A payer says that a payment was wrong.
    Opened(Box<Opened>),
    /// Staff look into it.
    ReviewStarted {
        /// What staff say about it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The payer was right.
    Won {
        /// The transaction that gave the money back.
        refunded_by: TransactionId,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The payer was wrong.
    Lost {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// The payer wants it no more.
    Withdrawn {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

crate::spelled! {
    /// What was wrong with a payment.
    pub enum DisputeReason {
        /// The payer did not make it.
        Unauthorized = "UNAUTHORIZED",
        /// The payer was deceived.
        Fraud = "FRAUD",
        /// It was made twice.
        Duplicate = "DUPLICATE",
        /// It was too much.
        IncorrectAmount = "INCORRECT_AMOUNT",
        /// It went to somebody else.
        WrongRecipient = "WRONG_RECIPIENT",
        /// What it paid for did not come.
        NotReceived = "NOT_RECEIVED",
        /// What it paid for was not as agreed.
        NotAsDescribed = "NOT_AS_DESCRIBED",
        /// Something else, to be described.
        Other = "OTHER",
    }
}

/// A complaint about a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// Who paid.
    pub owner: UserId,
    /// The payment.
    pub transaction_id: TransactionId,
    /// What was wrong.
    pub reason: DisputeReason,
    /// How much of the payment, minor units.
    pub amount: Amount,
    /// The payment's currency.
    pub currency: Currency,
    /// A number to quote to the bank.
    pub reference: String,
    /// What happened, in the payer's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Names of files that support it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supporting_documents: Vec<String>,
    /// Where the payer can be called, E.164.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_phone: Option<Personal<String>>,
    /// Where the payer can be written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_email: Option<Personal<String>>,
}

impl AggregateEvent for DisputeEvent {
    names! {
        Opened = "dispute.opened",
        ReviewStarted = "dispute.review_started",
        Won = "dispute.won",
        Lost = "dispute.lost",
        Withdrawn = "dispute.withdrawn",
    }

    fn subject(&self, _stream: &str) -> Option<UserId> {
        match self {
            Self::Opened(opened) => Some(opened.owner),
            Self::ReviewStarted { .. } | Self::Won { .. } | Self::Lost { .. } | Self::Withdrawn { .. } => {
                None
            }
        }
    }
}
