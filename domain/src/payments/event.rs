//! What can happen to a payment.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::outside::Outside;
use crate::accounts::Stretch;
use crate::aggregate::{AggregateEvent, Due, When, names};
use crate::beneficiaries::Payee;
use crate::kernel::{
    AccountNumber, Amount, Currency, DisputeId, LoanId, Origin, Personal, TransactionId, UserId,
};
use crate::ledger::{Checks, Effect, Hold, Postings, Tie};

/// The task of handing a payment to its rail and asking what became of it.
pub const CLEAR: &str = "payment.clear";

/// Events of a payment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PaymentEvent {
    /// The money has moved; when it leaves the bank or comes in, it is now on its way.
    Completed(Box<Completed>),
    /// It has arrived.
    Settled(Box<Cleared>),
    /// It came back, and so did the money.
    Returned(Box<Cleared>),
    /// A transaction of its own has undone it.
    Reversed {
        /// That transaction.
        by: TransactionId,
        /// Why, in the words of whoever wanted it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// The account that it binds no more, where it was on its way.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tie: Option<Tie>,
    },
    /// The payer says that it was wrong.
    Disputed {
        /// The dispute.
        dispute_id: DisputeId,
        /// How much of it, minor units.
        amount: Amount,
        /// The account that it binds, into which a refund would go.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tie: Option<Tie>,
    },
    /// The dispute is over.
    DisputeEnded {
        /// The dispute.
        dispute_id: DisputeId,
        /// The transaction that gave money back, when the payer was right.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        refund: Option<Refund>,
        /// The account that it binds no more.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tie: Option<Tie>,
    },
}

/// Money given back after a dispute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refund {
    /// The transaction.
    pub by: TransactionId,
    /// How much, minor units.
    pub amount: Amount,
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
        /// A customer and an account of another bank.
        External = "EXTERNAL",
        /// A customer and a mobile wallet.
        Mwallet = "MWALLET",
        /// A customer and a biller.
        Bills = "BILLS",
        /// A card of the customer's and their account.
        CardFunding = "CARD_FUNDING",
        /// A mobile wallet of the customer's and their account.
        MwalletFunding = "MWALLET_FUNDING",
        /// What undoes another payment.
        Reversal = "REVERSAL",
        /// What gives money back after a dispute.
        Refund = "REFUND",
        /// The bank pays a loan out.
        LoanDisbursement = "LOAN_DISBURSEMENT",
        /// A borrower pays a loan back.
        LoanRepayment = "LOAN_REPAYMENT",
        /// Interest on a loan accrues: no customer is part of it.
        LoanInterest = "LOAN_INTEREST",
        /// The bank gives a loan up: no customer is part of it.
        LoanWriteOff = "LOAN_WRITE_OFF",
        /// The bank pays what savings have earned.
        SavingsInterest = "SAVINGS_INTEREST",
        /// What is left in an account that is being closed, to another of its holder's.
        Closure = "ACCOUNT_CLOSURE",
        /// What had happened at another bank, before this one took its customers over.
        TakenOver = "TAKEN_OVER",
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
    /// Who is at the other end, when it is outside the bank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<Outside>,
    /// How much.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
    /// What the bank takes for it, in postings of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fee: Option<Amount>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub narration: Option<String>,
    /// The payer's reference.
    pub reference: String,
    /// Whether the payer asked to keep the payee as a beneficiary.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub save_as_beneficiary: bool,
    /// The payment that this one undoes or refunds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<TransactionId>,
    /// The loan that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loan: Option<OfLoan>,
    /// The days whose interest it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earned: Option<Stretch>,
    /// The account that it binds while it is on its way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tie: Option<Tie>,
    /// What another bank knew of it, when it was taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// The double entry, each line with the balance after it.
    pub postings: Postings,
}

/// What a movement of money is to a loan. Minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfLoan {
    /// The loan.
    pub loan_id: LoanId,
    /// How much of the amount is interest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interest: Option<Amount>,
    /// How much of the fee is for insurance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insurance: Option<Amount>,
}

/// What became of a payment that was on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleared {
    /// The payment's reference.
    pub reference: String,
    /// Why it came back, in the rail's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What is free again on the customer's account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub release: Option<Hold>,
    /// The account that it binds no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tie: Option<Tie>,
    /// The double entry, each line with the balance after it.
    pub postings: Postings,
}

/// Money that moved, whatever event moved it.
#[derive(Debug, Clone, Copy)]
pub struct Movement<'a> {
    /// Why it moved.
    pub cause: Cause,
    /// The double entry.
    pub postings: &'a Postings,
    /// What it reserves on an account (positive) or frees (negative): account and minor units.
    pub hold: Option<(&'a AccountNumber, i64)>,
    /// The payer's reference.
    pub reference: &'a str,
    /// What it was for, or why it came back.
    pub narration: Option<&'a str>,
    /// When it had happened at another bank, if it was taken over from there.
    pub value_at: Option<Timestamp>,
}

impl<'a> Movement<'a> {
    /// When it counts for `account`: what was taken over, at the time at which it had happened, for the customer; at the time
    /// at which it was `recorded` otherwise. Along the log this never goes back within one account.
    #[must_use]
    pub fn at(&self, account: &AccountNumber, recorded: Timestamp) -> Timestamp {
        self.value_at.filter(|_| !account.is_internal()).unwrap_or(recorded)
    }

    /// Every account that it touches, some of them more than once.
    pub fn accounts(self) -> impl Iterator<Item = &'a AccountNumber> {
        self.postings.iter().map(|line| &line.account).chain(self.hold.map(|(account, _)| account))
    }

    /// The account at the other end of a line.
    #[must_use]
    pub fn counterparty(self, line: usize) -> Option<&'a AccountNumber> {
        // Lines come in pairs: from, to.
        self.postings.iter().nth(line ^ 1).map(|other| &other.account)
    }
}

/// Why money moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A payment of this kind.
    Payment(PaymentKind),
    /// A payment arrived.
    Settlement,
    /// A payment came back.
    Return,
}

impl PaymentKind {
    /// Whether the money is on its way for a while, and may come back.
    #[must_use]
    pub const fn clears(self) -> bool {
        match self {
            Self::External | Self::Mwallet | Self::Bills | Self::CardFunding | Self::MwalletFunding => true,
            Self::Internal
            | Self::Own
            | Self::Deposit
            | Self::Withdrawal
            | Self::Reversal
            | Self::Refund
            | Self::LoanDisbursement
            | Self::LoanRepayment
            | Self::LoanInterest
            | Self::LoanWriteOff
            | Self::SavingsInterest
            | Self::Closure
            | Self::TakenOver => false,
        }
    }

    /// Whether it brings money from outside to a customer.
    #[must_use]
    pub const fn funds(self) -> bool {
        matches!(self, Self::CardFunding | Self::MwalletFunding)
    }

    /// Whether its fee is taken from, or given to, whoever is paid.
    #[must_use]
    pub const fn fee_is_the_payees(self) -> bool {
        matches!(self, Self::Reversal | Self::LoanDisbursement)
    }

    /// What the accounts may say against it. No limit keeps anybody from paying what they owe the bank.
    const fn checks(self) -> Checks {
        match self {
            Self::Own
            | Self::Reversal
            | Self::Refund
            | Self::LoanDisbursement
            | Self::LoanRepayment
            | Self::LoanInterest
            | Self::LoanWriteOff => Checks::Unlimited,
            // It was earned on the days that are over: no account is too full for it, nor too frozen.
            Self::SavingsInterest => Checks::Bookkeeping,
            Self::Closure => Checks::Last,
            Self::TakenOver => Checks::Happened,
            _ => Checks::Limited,
        }
    }
}

impl Completed {
    /// Who was paid, as a list of beneficiaries names them; nobody when it was the payer or the bank.
    #[must_use]
    pub fn payee(&self) -> Option<Payee> {
        match self.kind {
            PaymentKind::Internal => Some(Payee::Internal { account_number: self.destination.clone() }),
            PaymentKind::External | PaymentKind::Mwallet | PaymentKind::Bills => {
                self.outside.as_ref().and_then(Outside::payee)
            }
            PaymentKind::Own
            | PaymentKind::Deposit
            | PaymentKind::Withdrawal
            | PaymentKind::CardFunding
            | PaymentKind::MwalletFunding
            | PaymentKind::Reversal
            | PaymentKind::Refund
            | PaymentKind::LoanDisbursement
            | PaymentKind::LoanRepayment
            | PaymentKind::LoanInterest
            | PaymentKind::LoanWriteOff
            | PaymentKind::SavingsInterest
            | PaymentKind::Closure
            | PaymentKind::TakenOver => None,
        }
    }

    /// The customer's account that is concerned when the payment comes back.
    #[must_use]
    pub const fn customer(&self) -> &AccountNumber {
        if self.kind.funds() { &self.destination } else { &self.source }
    }
}

impl PaymentEvent {
    /// The money that the event moved.
    #[must_use]
    pub fn movement(&self) -> Option<Movement<'_>> {
        match self {
            Self::Completed(made) => Some(Movement {
                cause: Cause::Payment(made.kind),
                postings: &made.postings,
                hold: made.kind.funds().then_some((&made.destination, made.amount.minor())),
                reference: &made.reference,
                narration: made.narration.as_deref(),
                value_at: made.origin.as_ref().map(|origin| origin.at),
            }),
            Self::Settled(cleared) => Some(cleared.movement(Cause::Settlement)),
            Self::Returned(cleared) => Some(cleared.movement(Cause::Return)),
            Self::Reversed { .. } | Self::Disputed { .. } | Self::DisputeEnded { .. } => None,
        }
    }
}

impl Cleared {
    fn movement(&self, cause: Cause) -> Movement<'_> {
        Movement {
            cause,
            postings: &self.postings,
            hold: self.release.as_ref().map(|release| (&release.account, release.change)),
            reference: &self.reference,
            narration: self.reason.as_deref(),
            value_at: None,
        }
    }
}

impl AggregateEvent for PaymentEvent {
    names! {
        Completed = "payment.completed",
        Settled = "payment.settled",
        Returned = "payment.returned",
        Reversed = "payment.reversed",
        Disputed = "payment.disputed",
        DisputeEnded = "payment.dispute_ended",
    }

    fn subject(&self, _stream: &str) -> Option<UserId> {
        match self {
            // Also for the payee's name: it is what the payer wrote down.
            Self::Completed(made) => made.payer,
            Self::Settled(_)
            | Self::Returned(_)
            | Self::Reversed { .. }
            | Self::Disputed { .. }
            | Self::DisputeEnded { .. } => None,
        }
    }

    fn dues(&self) -> Vec<Due> {
        let due = |when| vec![Due { task: CLEAR, when }];
        match self {
            Self::Completed(made) if made.kind.clears() => due(When::Now),
            Self::Settled(_) | Self::Returned(_) | Self::Reversed { .. } => due(When::Never),
            Self::Completed(_) | Self::Disputed { .. } | Self::DisputeEnded { .. } => Vec::new(),
        }
    }

    fn effect(&mut self, _stream: &str) -> Option<Effect<'_>> {
        match self {
            Self::Completed(made) => Some(Effect::Post {
                checks: made.kind.checks(),
                hold: made
                    .kind
                    .funds()
                    .then(|| Hold { account: made.destination.clone(), change: made.amount.minor() }),
                tie: made.tie.clone(),
                postings: &mut made.postings,
            }),
            Self::Settled(cleared) | Self::Returned(cleared) => Some(Effect::Post {
                checks: Checks::Happened,
                hold: cleared.release.clone(),
                tie: cleared.tie.clone(),
                postings: &mut cleared.postings,
            }),
            Self::Reversed { tie, .. } | Self::Disputed { tie, .. } | Self::DisputeEnded { tie, .. } => {
                tie.clone().map(Effect::Bind)
            }
        }
    }
}
