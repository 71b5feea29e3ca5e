//! What can happen to a loan.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::book::{Row, Share};
use crate::aggregate::{AggregateEvent, Due, When, names};
use crate::kernel::{
    AccountNumber, Amount, CollateralId, DocumentId, GuarantorId, Origin, Personal, StoredFile,
    TransactionId, UserId, midnight,
};
use crate::ledger::{Effect, Tie};
use crate::loan_products::{Cost, LoanDocumentType, LoanTerms};

/// The task of ending an approval that nobody used.
pub const EXPIRE: &str = "loan.expire";
/// The task of accruing interest and collecting what is due.
pub const COLLECT: &str = "loan.collect";

/// Events of a loan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoanEvent {
    /// Somebody asks for it.
    Applied(Box<Applied>),
    /// Somebody vouches for it.
    GuarantorAdded(Box<Guarantor>),
    /// Something secures it.
    CollateralAdded(Box<Collateral>),
    /// A document was handed in.
    DocumentAdded(Box<LoanDocument>),
    /// Staff have looked at what was handed in.
    Checked {
        /// What they looked at.
        item: Item,
        /// What they found.
        outcome: CheckOutcome,
        /// Why; the borrower can read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// Who looked.
        by: UserId,
    },
    /// A collateral is the borrower's own again.
    CollateralReleased {
        /// Which.
        collateral_id: CollateralId,
    },
    /// Staff look into the application.
    ReviewStarted {
        /// Who.
        by: UserId,
        /// What is being done; the borrower can read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// Staff need to know more.
    InfoRequested {
        /// Who.
        by: UserId,
        /// What is missing; the borrower can read it.
        note: String,
    },
    /// It can be paid out, for a while.
    Approved {
        /// Who says so.
        by: UserId,
        /// Why; the borrower can read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// Until when.
        expires_at: Timestamp,
    },
    /// It is refused.
    Rejected {
        /// Who says so.
        by: UserId,
        /// Why; the borrower can read it.
        reason: String,
    },
    /// The borrower wants it no more.
    Withdrawn {
        /// Why, in their words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// It was approved, and not paid out in time.
    Expired,
    /// It is paid out, and its schedule is fixed.
    Disbursed(Box<Disbursed>),
    /// Interest has accrued.
    Accrued {
        /// How much, minor units.
        amount: Amount,
        /// The transaction.
        transaction_id: TransactionId,
    },
    /// Something was paid.
    Repaid(Box<Repaid>),
    /// What is due could not be collected: on the first day, and whenever the arrears have reached their next stage.
    Missed {
        /// When the oldest unpaid instalment was due.
        since: Date,
        /// Days past due.
        days: i64,
        /// What is due and not paid, minor units.
        owed: i64,
        /// Why: the refusal's code.
        code: String,
    },
    /// All is paid.
    Closed,
    /// The bank expects no more of it.
    WrittenOff(Box<WrittenOff>),
}

crate::spelled! {
    /// How somebody earns their living.
    pub enum EmploymentType {
        /// By a salary.
        Employed = "EMPLOYED",
        /// By a trade or profession of their own.
        SelfEmployed = "SELF_EMPLOYED",
        /// By a business that employs others.
        BusinessOwner = "BUSINESS_OWNER",
        /// By a pension.
        Retired = "RETIRED",
        /// Studying.
        Student = "STUDENT",
        /// Not at the moment.
        Unemployed = "UNEMPLOYED",
    }
}

crate::spelled! {
    /// What secures a loan.
    pub enum CollateralType {
        /// Nothing.
        None = "NONE",
        /// A car, a motorcycle, a lorry.
        Vehicle = "VEHICLE",
        /// Land or a building.
        Property = "PROPERTY",
        /// Machines.
        Equipment = "EQUIPMENT",
        /// Goods.
        Inventory = "INVENTORY",
        /// Money in an account.
        Deposit = "DEPOSIT",
        /// Shares or bonds.
        Securities = "SECURITIES",
        /// Anything else.
        Other = "OTHER",
    }
}

crate::spelled! {
    /// What staff find of something that was handed in.
    pub enum CheckOutcome {
        /// It holds.
        Verified = "VERIFIED",
        /// It does not.
        Rejected = "REJECTED",
    }
}

/// Something that was handed in for a loan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// Somebody who vouches.
    Guarantor(GuarantorId),
    /// Something that secures it.
    Collateral(CollateralId),
    /// A document.
    Document(DocumentId),
}

/// A loan that the borrower has already, somewhere. Minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExistingLoan {
    /// Who lends.
    pub lender: String,
    /// What is still owed.
    pub amount: i64,
    /// What it takes a month.
    pub monthly_payment: i64,
}

/// An application: what is asked for, what it costs on the product's terms of then, and what the borrower says of themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// Who borrows.
    pub owner: UserId,
    /// The product's code.
    pub product_id: String,
    /// The product's terms, which hold for this loan whatever becomes of the product.
    pub terms: LoanTerms,
    /// What it costs.
    pub cost: Cost,
    /// How much, minor units.
    pub amount: Amount,
    /// Months.
    pub tenure: u32,
    /// The borrower's account that it is paid into and collected from.
    pub account: AccountNumber,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// How the borrower earns their living.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub employment_type: Option<EmploymentType>,
    /// What they say they earn a month, minor units.
    pub monthly_income: Amount,
    /// Who employs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub employer_name: Option<Personal<String>>,
    /// For how many months.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub employment_duration: Option<i64>,
    /// What they say they owe already.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub existing_loans: Vec<ExistingLoan>,
    /// What they mean to secure it with.
    pub collateral_type: CollateralType,
    /// Whether somebody must vouch for it: the product wants it, or the borrower.
    pub guarantor_required: bool,
    /// What another bank knew of it, when it was taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// Somebody who vouches for a loan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guarantor {
    /// Its id.
    pub id: GuarantorId,
    /// Who borrows, and says this of them.
    pub owner: UserId,
    /// First name.
    pub first_name: Personal<String>,
    /// Last name.
    pub last_name: Personal<String>,
    /// Where they can be written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<Personal<String>>,
    /// Where they can be called, E.164.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone_number: Option<Personal<String>>,
    /// What they are to the borrower.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relationship: Option<String>,
    /// How they earn their living.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub employment_type: Option<EmploymentType>,
    /// What they earn a month, minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monthly_income: Option<i64>,
    /// Who employs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub employer_name: Option<Personal<String>>,
    /// Where they live, line by line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<Personal<Vec<String>>>,
}

/// Something that secures a loan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collateral {
    /// Its id.
    pub id: CollateralId,
    /// Who borrows.
    pub owner: UserId,
    /// What it is.
    pub collateral_type: CollateralType,
    /// What it is, in words.
    pub description: String,
    /// What the borrower says it is worth, minor units.
    pub estimated_value: Amount,
    /// Where it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Personal<String>>,
    /// What shows whose it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ownership_document: Option<String>,
    /// The number of that document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_number: Option<String>,
    /// How it is insured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub insurance: Option<Insurance>,
    /// What was found of its worth, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valuation_report: Option<String>,
    /// When.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valuation_date: Option<Timestamp>,
}

/// How a collateral is insured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Insurance {
    /// The policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_number: Option<String>,
    /// Who insures it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub company: Option<String>,
    /// Until when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// A document for an application. Its bytes are not in here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoanDocument {
    /// Its id.
    pub id: DocumentId,
    /// Who borrows, and whose key seals it.
    pub owner: UserId,
    /// What it is.
    pub document_type: LoanDocumentType,
    /// What its owner calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Personal<String>>,
    /// What they say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Personal<String>>,
    /// Where it is kept.
    pub file: StoredFile,
    /// Bytes, as it was handed in.
    pub size: u64,
}

/// A loan that was paid out. Minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Disbursed {
    /// Who did it; nobody here, when it was taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<UserId>,
    /// The transaction.
    pub transaction_id: TransactionId,
    /// How much; of one that was taken over, what was left.
    pub amount: Amount,
    /// What the borrower should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The instalments.
    pub rows: Vec<Row>,
    /// The account that it binds: it is collected from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tie: Option<Tie>,
}

/// A payment towards a loan. Minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repaid {
    /// The transaction.
    pub transaction_id: TransactionId,
    /// How much.
    pub amount: Amount,
    /// What it pays, instalment by instalment.
    pub shares: Vec<Share>,
    /// Principal that is left.
    pub principal_left: i64,
    /// Whether the bank collected it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub collected: bool,
    /// What kind of payment the payer says it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment_type: Option<String>,
    /// When the first instalment that is not wholly paid is or was due; none when all is paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_due: Option<Date>,
    /// When the bank collects next; none when all is paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_collection: Option<Date>,
    /// The account that it binds no more, when all is paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tie: Option<Tie>,
}

/// A loan that the bank has given up. Minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenOff {
    /// Who decided it.
    pub by: UserId,
    /// Why.
    pub reason: String,
    /// The transaction.
    pub transaction_id: TransactionId,
    /// Principal that was outstanding.
    pub principal: i64,
    /// Interest that had accrued and was not paid.
    pub interest: i64,
    /// The account that it binds no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tie: Option<Tie>,
}

impl AggregateEvent for LoanEvent {
    names! {
        Applied = "loan.applied",
        GuarantorAdded = "loan.guarantor_added",
        CollateralAdded = "loan.collateral_added",
        DocumentAdded = "loan.document_added",
        Checked = "loan.checked",
        CollateralReleased = "loan.collateral_released",
        ReviewStarted = "loan.review_started",
        InfoRequested = "loan.info_requested",
        Approved = "loan.approved",
        Rejected = "loan.rejected",
        Withdrawn = "loan.withdrawn",
        Expired = "loan.expired",
        Disbursed = "loan.disbursed",
        Accrued = "loan.accrued",
        Repaid = "loan.repaid",
        Missed = "loan.missed",
        Closed = "loan.closed",
        WrittenOff = "loan.written_off",
    }

    fn subject(&self, _stream: &str) -> Option<UserId> {
        match self {
            Self::Applied(applied) => Some(applied.owner),
            Self::GuarantorAdded(guarantor) => Some(guarantor.owner),
            Self::CollateralAdded(collateral) => Some(collateral.owner),
            Self::DocumentAdded(document) => Some(document.owner),
            Self::Checked { .. }
            | Self::CollateralReleased { .. }
            | Self::ReviewStarted { .. }
            | Self::InfoRequested { .. }
            | Self::Approved { .. }
            | Self::Rejected { .. }
            | Self::Withdrawn { .. }
            | Self::Expired
            | Self::Disbursed(_)
            | Self::Accrued { .. }
            | Self::Repaid(_)
            | Self::Missed { .. }
            | Self::Closed
            | Self::WrittenOff(_) => None,
        }
    }

    fn dues(&self) -> Vec<Due> {
        let expires = |when| Due { task: EXPIRE, when };
        let collects = |day: Option<Date>| Due {
            task: COLLECT,
            when: day.map_or(When::Never, |day| When::At(midnight(day))),
        };
        match self {
            Self::Approved { expires_at, .. } => vec![expires(When::At(*expires_at))],
            Self::Disbursed(disbursed) => {
                vec![expires(When::Never), collects(disbursed.rows.first().map(|row| row.due))]
            }
            Self::Repaid(repaid) => vec![collects(repaid.next_collection)],
            Self::WrittenOff(_) => vec![collects(None)],
            Self::Applied(_)
            | Self::GuarantorAdded(_)
            | Self::CollateralAdded(_)
            | Self::DocumentAdded(_)
            | Self::Checked { .. }
            | Self::CollateralReleased { .. }
            | Self::ReviewStarted { .. }
            | Self::InfoRequested { .. }
            | Self::Rejected { .. }
            | Self::Withdrawn { .. }
            | Self::Expired
            | Self::Accrued { .. }
            | Self::Missed { .. }
            | Self::Closed => Vec::new(),
        }
    }
    fn effect(&mut self, _stream: &str) -> Option<Effect<'_>> {
        let tie = match self {
            Self::Disbursed(disbursed) => &disbursed.tie,
            Self::Repaid(repaid) => &repaid.tie,
            Self::WrittenOff(written) => &written.tie,
            _ => return None,
        };
        tie.clone().map(Effect::Bind)
    }
}
