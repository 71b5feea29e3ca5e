//! Loans: from the application to the last instalment.
//!
//! ```text
//!   Absent --apply--> Pending <--start review; ask for more--> UnderReview --approve--> Approved --disburse--> Disbursed
//!                        |                                         |                       |                    |     |
//!                        '----reject; withdraw--> Rejected, <------'                    expire          all is paid  write off
//!                                                 Withdrawn                                |                    |     |
//!                                                                                       Expired              Closed  WrittenOff
//! ```
//!
//! What is handed in for it (guarantors, collateral, documents) is part of the loan, because approval depends on it. Money moves by
//! payments in the same unit; the loan says what they must be.

mod book;
mod command;
mod eligibility;
mod error;
mod event;
mod life;
#[cfg(test)]
mod life_tests;
mod schedule;
mod taken_over;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

pub use book::{
    Arrears, ArrearsStatus, Book, DEFAULT_DAYS, OVERDUE_DAYS, Row, Share, interest_of, principal_of,
};
pub use command::{Application, LoanCommand, Repay, TakeOver};
pub use eligibility::{Household, LOWEST_SCORE, Range, Verdict, assess};
pub use error::LoanError;
pub use event::{
    Applied, COLLECT, CheckOutcome, Collateral, CollateralType, Disbursed, EXPIRE, EmploymentType,
    ExistingLoan, Guarantor, Insurance, Item, LoanDocument, LoanEvent, Repaid, WrittenOff,
};
pub use schedule::{Annuity, Instalment, LARGEST, LONGEST, NoSchedule, due_dates};

use crate::aggregate::Aggregate;
use crate::kernel::{CollateralId, DocumentId, LoanId, UserId};
use crate::ledger::Tie;
use crate::loan_products::LoanDocumentType;

/// How long an approval is good, in days of 24 hours.
pub const APPROVAL_DAYS: i64 = 30;
/// The most guarantors, the most collaterals, and the most documents of one loan.
pub const MOST_ITEMS: usize = 20;

/// A loan, by its id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Loan {
    /// Not applied for.
    #[default]
    Absent,
    /// Nobody looks into it, or not until more is known.
    Pending(Box<Case>),
    /// Staff look into it.
    UnderReview(Box<Case>),
    /// It can be paid out.
    Approved(Box<Case>),
    /// Refused.
    Rejected(Box<Case>),
    /// The borrower wanted it no more.
    Withdrawn(Box<Case>),
    /// It was not paid out in time.
    Expired(Box<Case>),
    /// Paid out, and owed.
    Disbursed(Box<Case>),
    /// Paid back.
    Closed(Box<Case>),
    /// The bank has given it up.
    WrittenOff(Box<Case>),
}

crate::spelled! {
    /// Where a loan is.
    pub enum LoanStatus {
        /// Nobody looks into it, or not until more is known.
        Pending = "PENDING",
        /// Staff look into it.
        UnderReview = "UNDER_REVIEW",
        /// It can be paid out.
        Approved = "APPROVED",
        /// Refused.
        Rejected = "REJECTED",
        /// The borrower wanted it no more.
        Withdrawn = "WITHDRAWN",
        /// It was not paid out in time.
        Expired = "EXPIRED",
        /// Paid out, and owed.
        Disbursed = "DISBURSED",
        /// Paid back.
        Closed = "CLOSED",
        /// The bank has given it up.
        WrittenOff = "WRITTEN_OFF",
    }
}

crate::spelled! {
    /// Where something is that was handed in.
    pub enum ItemStatus {
        /// Nobody has looked at it.
        Pending = "PENDING",
        /// It holds.
        Verified = "VERIFIED",
        /// It does not.
        Rejected = "REJECTED",
        /// A collateral that is the borrower's own again.
        Released = "RELEASED",
    }
}

/// All that is known of a loan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// What was asked for.
    pub applied: Applied,
    /// What was handed in.
    pub items: Vec<(Item, ItemStatus)>,
    /// What the documents are.
    pub documents: Vec<(DocumentId, LoanDocumentType)>,
    /// Who has looked into it.
    pub reviewers: BTreeSet<UserId>,
    /// Who has approved it, and until when that is good.
    pub approved: Option<(UserId, Timestamp)>,
    /// What it owes.
    pub book: Book,
    /// The arrears that were last recorded: since when, and how many days.
    pub missed: Option<(Date, i64)>,
    /// The account that it binds.
    pub tie: Option<Tie>,
}

/// The bookings of a payment. Minor units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repayment {
    /// What it pays.
    pub shares: Vec<Share>,
    /// Interest that accrues because it is paid ahead.
    pub ahead: i64,
}

/// The number that people know an application by.
#[must_use]
pub fn application_number(id: LoanId) -> String {
    numbered("LA-", id)
}

/// The number that people know a loan by.
#[must_use]
pub fn loan_number(id: LoanId) -> String {
    numbered("LN-", id)
}

/// The random end of an id, easy to read out.
fn numbered(prefix: &str, id: LoanId) -> String {
    let id = id.to_string().to_ascii_uppercase();
    let end = id.get(id.len().saturating_sub(12)..).unwrap_or(&id);
    format!("{prefix}{end}")
}

impl Item {
    /// What it is, in words.
    #[must_use]
    pub const fn thing(self) -> &'static str {
        match self {
            Self::Guarantor(_) => "guarantor",
            Self::Collateral(_) => "collateral",
            Self::Document(_) => "document",
        }
    }
}

impl From<CheckOutcome> for ItemStatus {
    fn from(outcome: CheckOutcome) -> Self {
        match outcome {
            CheckOutcome::Verified => Self::Verified,
            CheckOutcome::Rejected => Self::Rejected,
        }
    }
}

impl Case {
    /// What the product asks for and nobody has handed in, or staff have rejected.
    #[must_use]
    pub fn missing_documents(&self) -> Vec<LoanDocumentType> {
        let is_there = |wanted: &LoanDocumentType| {
            self.documents.iter().any(|(id, document_type)| {
                document_type == wanted && self.item(Item::Document(*id)) != Some(ItemStatus::Rejected)
            })
        };
        self.applied.terms.required_documents.iter().copied().filter(|wanted| !is_there(wanted)).collect()
    }

    fn item(&self, item: Item) -> Option<ItemStatus> {
        self.items.iter().find(|(known, _)| *known == item).map(|(_, status)| *status)
    }

    fn set(&mut self, item: Item, status: ItemStatus) {
        self.items.iter_mut().filter(|(known, _)| *known == item).for_each(|(_, known)| *known = status);
    }

    /// The collateral that is the bank's security.
    fn securities(&self) -> impl Iterator<Item = CollateralId> {
        self.items.iter().filter_map(|(item, status)| match (item, status) {
            (Item::Collateral(id), ItemStatus::Verified) => Some(*id),
            _ => None,
        })
    }
}

impl Loan {
    /// Where it is; none before it was applied for.
    #[must_use]
    pub const fn status(&self) -> Option<LoanStatus> {
        match self {
            Self::Absent => None,
            Self::Pending(_) => Some(LoanStatus::Pending),
            Self::UnderReview(_) => Some(LoanStatus::UnderReview),
            Self::Approved(_) => Some(LoanStatus::Approved),
            Self::Rejected(_) => Some(LoanStatus::Rejected),
            Self::Withdrawn(_) => Some(LoanStatus::Withdrawn),
            Self::Expired(_) => Some(LoanStatus::Expired),
            Self::Disbursed(_) => Some(LoanStatus::Disbursed),
            Self::Closed(_) => Some(LoanStatus::Closed),
            Self::WrittenOff(_) => Some(LoanStatus::WrittenOff),
        }
    }

    /// All that is known of it, wherever it is.
    #[must_use]
    pub const fn case(&self) -> Option<&Case> {
        match self {
            Self::Absent => None,
            Self::Pending(case)
            | Self::UnderReview(case)
            | Self::Approved(case)
            | Self::Rejected(case)
            | Self::Withdrawn(case)
            | Self::Expired(case)
            | Self::Disbursed(case)
            | Self::Closed(case)
            | Self::WrittenOff(case) => Some(case),
        }
    }

    /// What it still owes; none unless it is paid out and neither paid back nor given up.
    #[must_use]
    pub const fn running(&self) -> Option<&Case> {
        match self {
            Self::Disbursed(case) => Some(case),
            _ => None,
        }
    }

    /// The bookings of a payment of `amount` on `today`.
    ///
    /// # Errors
    /// `INVALID_STATE` unless it is running, `OVERPAYMENT`.
    pub fn repayment(&self, amount: i64, today: Date) -> Result<Repayment, LoanError> {
        let case = self.running().ok_or_else(|| self.refuse())?;
        let payoff = case.book.payoff();
        if amount > payoff {
            return Err(LoanError::Overpayment { payoff });
        }
        let shares = case.book.allocate(amount, today);
        Ok(Repayment { ahead: case.book.ahead(&shares), shares })
    }

    fn refuse(&self) -> LoanError {
        match self.status() {
            None => LoanError::Unknown,
            Some(status) => LoanError::InvalidState { state: status.as_str() },
        }
    }

    fn into_case(self) -> Option<Box<Case>> {
        match self {
            Self::Absent => None,
            Self::Pending(case)
            | Self::UnderReview(case)
            | Self::Approved(case)
            | Self::Rejected(case)
            | Self::Withdrawn(case)
            | Self::Expired(case)
            | Self::Disbursed(case)
            | Self::Closed(case)
            | Self::WrittenOff(case) => Some(case),
        }
    }
}

impl Aggregate for Loan {
    const TYPE: &'static str = "loan";
    type Command = LoanCommand;
    type Event = LoanEvent;
    type Error = LoanError;

    fn decide(&self, command: LoanCommand) -> Result<Vec<LoanEvent>, LoanError> {
        match (self, command) {
            (Self::Absent, LoanCommand::Apply(application)) => application.check(),
            (Self::Absent, LoanCommand::TakeOver(taken)) => taken.check(),
            (Self::Pending(case) | Self::UnderReview(case), LoanCommand::AddGuarantor(guarantor)) => {
                case.room(Item::Guarantor(guarantor.id))?;
                Ok(vec![LoanEvent::GuarantorAdded(guarantor)])
            }
            (Self::Pending(case) | Self::UnderReview(case), LoanCommand::AddCollateral(collateral)) => {
                case.room(Item::Collateral(collateral.id))?;
                Ok(vec![LoanEvent::CollateralAdded(collateral)])
            }
            (Self::Pending(case) | Self::UnderReview(case), LoanCommand::AddDocument(document)) => {
                case.room(Item::Document(document.id))?;
                Ok(vec![LoanEvent::DocumentAdded(document)])
            }
            (
                Self::Pending(case) | Self::UnderReview(case),
                LoanCommand::Check { item, outcome, note, by },
            ) => case.check(item, outcome, note, by),
            (Self::Pending(case), LoanCommand::StartReview { by, note }) => {
                case.by_somebody_else(by)?;
                Ok(vec![LoanEvent::ReviewStarted { by, note }])
            }
            (Self::UnderReview(case), LoanCommand::RequestInfo { by, note }) => {
                case.by_somebody_else(by)?;
                Ok(vec![LoanEvent::InfoRequested { by, note }])
            }
            (Self::UnderReview(case), LoanCommand::Approve { by, note, now }) => case.approve(by, note, now),
            (Self::Pending(case) | Self::UnderReview(case), LoanCommand::Reject { by, reason }) => {
                case.by_somebody_else(by)?;
                Ok(vec![LoanEvent::Rejected { by, reason }])
            }
            (Self::Pending(_) | Self::UnderReview(_), LoanCommand::Withdraw { reason }) => {
                Ok(vec![LoanEvent::Withdrawn { reason }])
            }
            (Self::Approved(case), LoanCommand::Expire { now }) => case.expire(now),
            (Self::Approved(case), LoanCommand::Disburse { by, note, transaction_id, now }) => {
                case.disburse(by, note, transaction_id, now)
            }
            (Self::Disbursed(case), LoanCommand::Accrue { transaction_id, amount, today }) => {
                case.accrue(transaction_id, amount, today)
            }
            (Self::Disbursed(case), LoanCommand::Repay(repay)) => {
                case.repay(*repay.clone(), self.repayment(repay.amount.minor(), repay.today)?)
            }
            (Self::Disbursed(case), LoanCommand::Miss { today, code }) => Ok(case.miss(today, code)),
            (
                Self::Disbursed(case),
                LoanCommand::WriteOff { by, reason, transaction_id, principal, interest },
            ) => case.write_off(WrittenOff { by, reason, transaction_id, principal, interest, tie: None }),
            (
                Self::Absent
                | Self::Pending(_)
                | Self::UnderReview(_)
                | Self::Approved(_)
                | Self::Rejected(_)
                | Self::Withdrawn(_)
                | Self::Expired(_)
                | Self::Disbursed(_)
                | Self::Closed(_)
                | Self::WrittenOff(_),
                _,
            ) => Err(self.refuse()),
        }
    }

    fn evolve(&mut self, event: &LoanEvent) {
        if let LoanEvent::Applied(applied) = event {
            *self = Self::Pending(Box::new(Case::new((**applied).clone())));
            return;
        }
        let into: Option<fn(Box<Case>) -> Self> = match event {
            LoanEvent::ReviewStarted { .. } => Some(Self::UnderReview),
            LoanEvent::InfoRequested { .. } => Some(Self::Pending),
            LoanEvent::Approved { .. } => Some(Self::Approved),
            LoanEvent::Rejected { .. } => Some(Self::Rejected),
            LoanEvent::Withdrawn { .. } => Some(Self::Withdrawn),
            LoanEvent::Expired => Some(Self::Expired),
            LoanEvent::Disbursed(_) => Some(Self::Disbursed),
            LoanEvent::Closed => Some(Self::Closed),
            LoanEvent::WrittenOff(_) => Some(Self::WrittenOff),
            LoanEvent::Applied(_)
            | LoanEvent::GuarantorAdded(_)
            | LoanEvent::CollateralAdded(_)
            | LoanEvent::DocumentAdded(_)
            | LoanEvent::Checked { .. }
            | LoanEvent::CollateralReleased { .. }
            | LoanEvent::Accrued { .. }
            | LoanEvent::Repaid(_)
            | LoanEvent::Missed { .. } => None,
        };
        match self {
            Self::Absent => {}
            Self::Pending(case)
            | Self::UnderReview(case)
            | Self::Approved(case)
            | Self::Rejected(case)
            | Self::Withdrawn(case)
            | Self::Expired(case)
            | Self::Disbursed(case)
            | Self::Closed(case)
            | Self::WrittenOff(case) => case.grow(event),
        }
        if let Some(into) = into {
            *self = std::mem::take(self).into_case().map_or(Self::Absent, into);
        }
    }

    fn owner(&self) -> Option<UserId> {
        self.case().map(|case| case.applied.owner)
    }
}
