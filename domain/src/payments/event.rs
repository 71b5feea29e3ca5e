//! What can happen to a payment.

use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, names};
use crate::beneficiaries::Payee;
use crate::kernel::{AccountNumber, Amount, Currency, Personal, UserId};
use crate::ledger::{Effect, Postings};

/// Events of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentEvent {
    /// The money has moved.
    Completed(Box<Completed>),
}

crate::spelled! {
    /// Between whom money moves.
    pub enum PaymentKind {
        /// Two customers of this bank.
        Internal = "INTERNAL",
        /// Two accounts of one customer.
        Own = "SELF",
        /// Cash handed in at a till.
        Deposit = "DEPOSIT",
        /// Cash handed out at a till.
        Withdrawal = "WITHDRAWAL",
    }
}

/// A payment that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completed {
    /// Between whom.
    pub kind: PaymentKind,
    /// Who pays, when it is a customer who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payer: Option<UserId>,
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

impl Completed {
    /// Who was paid, as a list of beneficiaries names them; nobody when it was the payer or the bank.
    #[must_use]
    pub fn payee(&self) -> Option<Payee> {
        match self.kind {
            PaymentKind::Internal => Some(Payee::Internal { account_number: self.destination.clone() }),
            PaymentKind::Own | PaymentKind::Deposit | PaymentKind::Withdrawal => None,
        }
    }
}

impl AggregateEvent for PaymentEvent {
    names! {
        Completed = "payment.completed",
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
