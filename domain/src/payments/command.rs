//! What a payment can be asked.

use jiff::SignedDuration;

use super::{Completed, OfLoan, Outside, PaymentError, PaymentKind};
use crate::accounts::Stretch;
use crate::kernel::{AccountNumber, Amount, Currency, DisputeId, Origin, Personal, TransactionId, UserId};
use crate::ledger::{Bond, Internal, Postings, Tie};

/// Commands to a payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentCommand {
    /// Make it.
    Pay(Box<Pay>),
    /// The rail says that it has arrived.
    Settle,
    /// The rail says that it has come back.
    Return {
        /// Why, in the rail's words.
        reason: String,
    },
    /// A transaction in the same unit undoes it.
    Reverse {
        /// That transaction.
        by: TransactionId,
        /// Who wants it.
        party: Party,
        /// How long ago it was made.
        age: SignedDuration,
        /// Why, in their words.
        reason: Option<String>,
    },
    /// Say that it was wrong.
    Dispute {
        /// The dispute, in the same unit.
        dispute_id: DisputeId,
        /// How much of it.
        amount: Amount,
        /// How long ago the payment was made.
        age: SignedDuration,
    },
    /// The dispute is over.
    EndDispute {
        /// The dispute, in the same unit.
        dispute_id: DisputeId,
        /// The transaction in the same unit that gives the money back; none when the payer was wrong.
        refunded_by: Option<TransactionId>,
    },
}

/// Who wants a payment undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Party {
    /// Whoever paid.
    Payer,
    /// Whoever was paid: a refund.
    Payee,
    /// The bank.
    Staff,
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
    /// Who is at the other end, when it is outside the bank.
    pub outside: Option<Outside>,
    /// How much.
    pub amount: Amount,
    /// In which currency; both accounts must have it.
    pub currency: Currency,
    /// What the bank takes for it (or gives back, in a reversal).
    pub fee: Option<Amount>,
    /// What it is for, free text.
    pub narration: Option<String>,
    /// The payer's own reference; not unique.
    pub reference: String,
    /// Whether the payer asked to keep the payee as a beneficiary.
    pub save_as_beneficiary: bool,
    /// The payment that this one undoes or refunds.
    pub undoes: Option<TransactionId>,
    /// The loan that it is about.
    pub loan: Option<OfLoan>,
    /// The days whose interest it is.
    pub earned: Option<Stretch>,
    /// What another bank knew of it, when it is taken over.
    pub origin: Option<Origin>,
}

impl Pay {
    /// A payment between two accounts of this bank, with nothing but what every payment has.
    #[must_use]
    pub const fn between(
        kind: PaymentKind,
        source: AccountNumber,
        destination: AccountNumber,
        amount: Amount,
        currency: Currency,
        reference: String,
    ) -> Self {
        Self {
            kind,
            payer: None,
            source,
            destination,
            destination_name: None,
            outside: None,
            amount,
            currency,
            fee: None,
            narration: None,
            reference,
            save_as_beneficiary: false,
            undoes: None,
            loan: None,
            earned: None,
            origin: None,
        }
    }

    /// The event, if source and destination fit the kind.
    pub(super) fn check(self) -> Result<Completed, PaymentError> {
        if self.source == self.destination {
            return Err(PaymentError::SameAccount);
        }
        if !self.fits() {
            return Err(PaymentError::WrongAccounts);
        }
        // What is repeated for somebody who was erased has nowhere to go.
        if self.outside.as_ref().is_some_and(|outside| !outside.is_readable()) {
            return Err(PaymentError::PayeeErased);
        }
        let mut made = Completed {
            postings: self.postings(),
            kind: self.kind,
            payer: self.payer,
            source: self.source,
            destination: self.destination,
            destination_name: self.destination_name.map(Personal::new),
            outside: self.outside,
            amount: self.amount,
            currency: self.currency,
            fee: self.fee,
            narration: self.narration,
            reference: self.reference,
            save_as_beneficiary: self.save_as_beneficiary,
            undoes: self.undoes,
            loan: self.loan,
            earned: self.earned,
            tie: None,
            origin: self.origin,
        };
        made.tie = made.kind.clears().then(|| Tie::new(made.customer().clone(), Bond::Payment));
        Ok(made)
    }

    fn fits(&self) -> bool {
        let is = |account: &AccountNumber, role: &Internal| *account == role.account(self.currency);
        let settlement = self.outside.as_ref().map(|outside| Internal::Settlement(outside.channel()));
        let settles = |account| settlement.as_ref().is_some_and(|role| is(account, role));
        let (from_customer, to_customer) = (!self.source.is_internal(), !self.destination.is_internal());
        match self.kind {
            PaymentKind::Internal | PaymentKind::Own | PaymentKind::Closure => from_customer && to_customer,
            PaymentKind::Deposit => is(&self.source, &Internal::Cash) && to_customer,
            PaymentKind::Withdrawal => from_customer && is(&self.destination, &Internal::Cash),
            PaymentKind::External | PaymentKind::Mwallet | PaymentKind::Bills => {
                from_customer && settles(&self.destination)
            }
            PaymentKind::CardFunding | PaymentKind::MwalletFunding => settles(&self.source) && to_customer,
            PaymentKind::Reversal => to_customer && self.undoes.is_some(),
            PaymentKind::Refund => {
                is(&self.source, &Internal::Chargebacks) && to_customer && self.undoes.is_some()
            }
            PaymentKind::LoanDisbursement => {
                is(&self.source, &Internal::LoanPrincipal) && to_customer && self.loan.is_some()
            }
            PaymentKind::LoanRepayment => {
                from_customer && is(&self.destination, &Internal::LoanPrincipal) && self.loan.is_some()
            }
            PaymentKind::LoanInterest => {
                is(&self.source, &Internal::LoanInterest)
                    && is(&self.destination, &Internal::InterestIncome)
                    && self.loan.is_some()
            }
            PaymentKind::LoanWriteOff => {
                is(&self.source, &Internal::LoanLosses)
                    && is(&self.destination, &Internal::LoanPrincipal)
                    && self.loan.is_some()
            }
            PaymentKind::SavingsInterest => {
                is(&self.source, &Internal::InterestExpense) && to_customer && self.earned.is_some()
            }
            // One end is what came with the customers; the other a customer's account, or loans that came with them.
            PaymentKind::TakenOver => {
                let came = |account| is(account, &Internal::OpeningBalances);
                let loans = is(&self.source, &Internal::LoanPrincipal) && came(&self.destination);
                self.origin.is_some()
                    && (loans
                        || came(&self.source) && to_customer
                        || from_customer && came(&self.destination))
            }
        }
    }

    /// What is interest on a loan goes on from its principal to its interest. The fee is in lines of its own; a reversal
    /// gives it back.
    fn postings(&self) -> Postings {
        let currency = self.currency;
        let mut postings = Postings::transfer(&self.source, &self.destination, self.amount, currency);
        if let Some(interest) = self.loan.as_ref().and_then(|loan| loan.interest) {
            let accrued = Internal::LoanInterest.account(currency);
            postings = postings.and(&self.destination, &accrued, interest, currency);
        }
        let income = Internal::FeeIncome.account(currency);
        for fee in self.fees() {
            postings = match self.kind {
                PaymentKind::Reversal => postings.and(&income, &self.destination, fee, currency),
                PaymentKind::LoanDisbursement => postings.and(&self.destination, &income, fee, currency),
                _ => postings.and(&self.source, &income, fee, currency),
            };
        }
        postings
    }

    /// The fee, and the part of it that is for insurance in a line of its own.
    fn fees(&self) -> impl Iterator<Item = Amount> {
        let insurance = self.loan.as_ref().and_then(|loan| loan.insurance);
        let rest = self.fee.map(|fee| fee.minor() - insurance.map_or(0, Amount::minor));
        rest.and_then(|rest| Amount::try_from(rest).ok()).into_iter().chain(insurance)
    }
}
