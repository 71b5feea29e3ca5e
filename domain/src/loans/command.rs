//! What a loan can be asked.

use jiff::Timestamp;
use jiff::civil::Date;

use super::book::Share;
use super::event::{
    CheckOutcome, Collateral, CollateralType, EmploymentType, ExistingLoan, Guarantor, Item, LoanDocument,
};
use crate::kernel::{AccountNumber, Amount, Origin, TransactionId, UserId};
use crate::loan_products::LoanTerms;

/// Commands to a loan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoanCommand {
    /// Ask for it.
    Apply(Box<Application>),
    /// Go on with one that another bank has made; the movement that brings it is in the same unit.
    TakeOver(Box<TakeOver>),
    /// Somebody vouches for it.
    AddGuarantor(Box<Guarantor>),
    /// Something secures it.
    AddCollateral(Box<Collateral>),
    /// A document is handed in.
    AddDocument(Box<LoanDocument>),
    /// Staff have looked at something that was handed in.
    Check {
        /// What.
        item: Item,
        /// What they found.
        outcome: CheckOutcome,
        /// Why.
        note: Option<String>,
        /// Who.
        by: UserId,
    },
    /// Staff begin to look into it.
    StartReview {
        /// Who.
        by: UserId,
        /// What is being done.
        note: Option<String>,
    },
    /// Staff need to know more.
    RequestInfo {
        /// Who.
        by: UserId,
        /// What is missing.
        note: String,
    },
    /// Let it be paid out.
    Approve {
        /// Who.
        by: UserId,
        /// Why.
        note: Option<String>,
        /// When.
        now: Timestamp,
    },
    /// Refuse it.
    Reject {
        /// Who.
        by: UserId,
        /// Why.
        reason: String,
    },
    /// The borrower wants it no more.
    Withdraw {
        /// Why.
        reason: Option<String>,
    },
    /// End an approval that was not used in time.
    Expire {
        /// When.
        now: Timestamp,
    },
    /// Pay it out; the payment is in the same unit.
    Disburse {
        /// Who.
        by: UserId,
        /// What the borrower should know.
        note: Option<String>,
        /// That payment.
        transaction_id: TransactionId,
        /// When.
        now: Timestamp,
    },
    /// Interest of due instalments accrues; the booking is in the same unit.
    Accrue {
        /// That booking.
        transaction_id: TransactionId,
        /// How much it books.
        amount: Amount,
        /// The UTC day.
        today: Date,
    },
    /// Something is paid; the payment is in the same unit.
    Repay(Box<Repay>),
    /// What is due could not be collected.
    Miss {
        /// The UTC day.
        today: Date,
        /// Why: the refusal's code.
        code: String,
    },
    /// Give it up; the booking is in the same unit.
    WriteOff {
        /// Who.
        by: UserId,
        /// Why.
        reason: String,
        /// That booking.
        transaction_id: TransactionId,
        /// Principal that it books.
        principal: i64,
        /// Interest that it books.
        interest: i64,
    },
}

/// What somebody asks for and says of themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Who borrows.
    pub owner: UserId,
    /// The product's code.
    pub product_id: String,
    /// Its terms of now.
    pub terms: LoanTerms,
    /// How much, minor units.
    pub amount: Amount,
    /// Months.
    pub tenure: u32,
    /// The borrower's account that it is paid into and collected from.
    pub account: AccountNumber,
    /// What it is for.
    pub purpose: Option<String>,
    /// How they earn their living.
    pub employment_type: Option<EmploymentType>,
    /// What they earn a month, minor units.
    pub monthly_income: Amount,
    /// Who employs them.
    pub employer_name: Option<String>,
    /// For how many months.
    pub employment_duration: Option<i64>,
    /// What they owe already.
    pub existing_loans: Vec<ExistingLoan>,
    /// What they mean to secure it with.
    pub collateral_type: CollateralType,
    /// Whether they want somebody to vouch.
    pub guarantor_required: bool,
}

/// A loan that another bank has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakeOver {
    /// What was asked for once, on the terms that were agreed.
    pub application: Application,
    /// When it was paid out.
    pub started: Date,
    /// Principal that is left, minor units.
    pub outstanding: Amount,
    /// Instalments that are wholly paid.
    pub paid: u32,
    /// When the next one is due.
    pub next_due: Date,
    /// The movement.
    pub transaction_id: TransactionId,
    /// What that bank knew.
    pub origin: Origin,
}

/// A payment towards a loan, and the bookings that were made for it. They are what was right when somebody looked: when
/// something else was paid since, the loan says so, and they are made anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repay {
    /// How much, minor units.
    pub amount: Amount,
    /// The payment.
    pub transaction_id: TransactionId,
    /// What it pays, as [`Loan::repayment`](super::Loan::repayment) says.
    pub shares: Vec<Share>,
    /// Interest that accrues because it is paid ahead, and its booking.
    pub ahead: Option<(Amount, TransactionId)>,
    /// The UTC day.
    pub today: Date,
    /// Whether the bank collects it.
    pub collected: bool,
    /// What kind of payment the payer says it is.
    pub payment_type: Option<String>,
}
