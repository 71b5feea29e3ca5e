//! What can happen to a payment.

use serde::{Deserialize, Serialize};

use crate::aggregate::AggregateEvent;
use crate::kernel::{AccountNumber, Amount, Currency, Personal};
use crate::ledger::{Effect, Postings};

/// Events of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentEvent {
    /// The money has moved.
    Completed(Box<Completed>),
}

/// Between whom money moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PaymentKind {
    /// Two customers of this bank.
    Internal,
    /// Two accounts of one customer.
    #[serde(rename = "SELF")]
    Own,
    /// Cash handed in at a till.
    Deposit,
    /// Cash handed out at a till.
    Withdrawal,
}

impl PaymentKind {
    /// Its spelling in the interface and in tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Internal => "INTERNAL",
            Self::Own => "SELF",
            Self::Deposit => "DEPOSIT",
            Self::Withdrawal => "WITHDRAWAL",
        }
    }
}

/// A payment that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    /// Between whom.
    pub kind: PaymentKind,
    /// The account debited.
    pub source: AccountNumber,
    /// The account credited.
    pub destination: AccountNumber,
    /// The payee's name as the payer gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destination_name: Option<Personal<String>>,
    /// How much.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narration: Option<String>,
    /// The payer's reference.
    pub reference: String,
    /// Whether the payer asked to keep the payee as a beneficiary.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub save_as_beneficiary: bool,
    /// The double entry, each line with the balance after it.
    pub postings: Postings,
}

impl AggregateEvent for PaymentEvent {
    fn name(&self) -> &'static str {
        match self {
            Self::Completed(_) => "payment.completed",
        }
    }

    fn effect(&mut self, _stream: &str) -> Option<Effect<'_>> {
        match self {
            Self::Completed(completed) => Some(Effect::Post {
                limited: completed.kind != PaymentKind::Own,
                postings: &mut completed.postings,
            }),
        }
    }
}
