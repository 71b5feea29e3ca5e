//! What a payment can be asked.

use super::{Completed, PaymentError, PaymentKind};
use crate::kernel::{AccountNumber, Amount, Currency, Personal, UserId};
use crate::ledger::{Internal, Postings};

/// Commands to a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentCommand {
    /// Make it.
    Pay(Box<Pay>),
}

/// A payment to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pay {
    /// What kind it is; decides what the two accounts may be.
    pub kind: PaymentKind,
    /// Who pays, when it is a customer who asks.
    pub payer: Option<UserId>,
    /// The account debited.
    pub source: AccountNumber,
    /// The account credited.
    pub destination: AccountNumber,
    /// The payee's name as the payer gave it.
    pub destination_name: Option<String>,
    /// How much.
    pub amount: Amount,
    /// In which currency; both accounts must have it.
    pub currency: Currency,
    /// What it is for, free text.
    pub narration: Option<String>,
    /// The payer's own reference; not unique.
    pub reference: String,
    /// Whether the payer asked to keep the payee as a beneficiary.
    pub save_as_beneficiary: bool,
}

impl Pay {
    /// The event, if source and destination fit the kind.
    pub(super) fn check(self) -> Result<Completed, PaymentError> {
        if self.source == self.destination {
            return Err(PaymentError::SameAccount);
        }
        let cash = Internal::Cash.account(self.currency);
        let fits = match self.kind {
            PaymentKind::Internal | PaymentKind::Own => {
                !self.source.is_internal() && !self.destination.is_internal()
            }
            PaymentKind::Deposit => self.source == cash && !self.destination.is_internal(),
            PaymentKind::Withdrawal => !self.source.is_internal() && self.destination == cash,
        };
        if !fits {
            return Err(PaymentError::WrongAccounts);
        }
        Ok(Completed {
            postings: Postings::transfer(&self.source, &self.destination, self.amount, self.currency),
            kind: self.kind,
            payer: self.payer,
            source: self.source,
            destination: self.destination,
            destination_name: self.destination_name.map(Personal::new),
            amount: self.amount,
            currency: self.currency,
            narration: self.narration,
            reference: self.reference,
            save_as_beneficiary: self.save_as_beneficiary,
        })
    }
}
