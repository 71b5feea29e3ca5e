//! What can happen to an application to close an account.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, names};
use crate::kernel::{AccountNumber, Amount, Currency, Personal, TransactionId, UserId};
use crate::ledger::{Condition, Effect};

/// Events of an application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClosureEvent {
    /// A customer wants an account closed.
    Requested(Box<Requested>),
    /// It is to be closed.
    Approved {
        /// Who says so.
        by: UserId,
        /// For the file and the customer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// It is not.
    Rejected {
        /// Who says so.
        by: UserId,
        /// Why.
        reason: String,
    },
    /// The customer wants it no more.
    Cancelled,
    /// The account is closed.
    Completed(Box<Completed>),
}

/// What a customer asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requested {
    /// Who holds the account.
    pub owner: UserId,
    /// The account.
    pub account: AccountNumber,
    /// Why.
    pub reason: String,
    /// When it should be closed, if it matters to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preferred_date: Option<Timestamp>,
    /// Which account of theirs gets what is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer_account: Option<AccountNumber>,
    /// What else they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comments: Option<Personal<String>>,
}

/// How an account was closed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    /// Who did it.
    pub by: UserId,
    /// For the file and the customer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What was left and paid out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swept: Option<Swept>,
}

/// What was left in an account, and where it went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Swept {
    /// The transaction.
    pub transaction_id: TransactionId,
    /// How much, minor units.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// Into which account.
    pub to: AccountNumber,
}

impl AggregateEvent for ClosureEvent {
    names! {
        Requested = "closure.requested",
        Approved = "closure.approved",
        Rejected = "closure.rejected",
        Cancelled = "closure.cancelled",
        Completed = "closure.completed",
    }

    fn subject(&self, _stream: &str) -> Option<UserId> {
        match self {
            Self::Requested(requested) => Some(requested.owner),
            Self::Approved { .. } | Self::Rejected { .. } | Self::Cancelled | Self::Completed(_) => None,
        }
    }

    /// Nobody asks for what could not be done today.
    fn effect(&mut self, _stream: &str) -> Option<Effect<'_>> {
        match self {
            Self::Requested(requested) => Some(Effect::Require {
                accounts: vec![requested.account.clone()],
                condition: Condition::Closable,
            }),
            Self::Approved { .. } | Self::Rejected { .. } | Self::Cancelled | Self::Completed(_) => None,
        }
    }
}
