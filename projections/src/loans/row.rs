//! The rows. The field names are the tables' columns.

use bursar_domain::kernel::{
    CollateralId, DocumentId, GuarantorId, LoanId, StoredFile, TransactionId, UserId, utc_date,
};
use bursar_domain::loan_products::LoanDocumentType;
use bursar_domain::loans::{
    Applied, Arrears, Book, Collateral, CollateralType, EmploymentType, ExistingLoan, Guarantor, Item,
    ItemStatus, LoanDocument, LoanEvent, LoanStatus, application_number, loan_number,
};
use bursar_domain::{AccountNumber, Currency, Personal, Position, Recorded};
use jiff::Timestamp;
use jiff::civil::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::Loans;
use crate::read_model::{ReadModel as _, Table};
use crate::records::Record;
use crate::row::{ERASED, erase};

/// A loan. Sums in minor units of `currency`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each column has its comment in the migration")]
pub struct LoanRow {
    pub loan_id: LoanId,
    pub owner: UserId,
    pub application_number: String,
    pub loan_number: String,
    pub product_id: String,
    pub product_name: String,
    pub currency: Currency,
    pub amount: i64,
    pub tenure: u32,
    pub account_number: AccountNumber,
    pub purpose: Option<String>,
    pub employment_type: Option<EmploymentType>,
    pub monthly_income: i64,
    pub employer_name: Option<String>,
    pub employment_duration: Option<i64>,
    pub existing_loans: Vec<ExistingLoan>,
    pub collateral_type: CollateralType,
    pub guarantor_required: bool,
    pub status: LoanStatus,
    #[serde(deserialize_with = "crate::row::rate")]
    pub interest_rate: Decimal,
    pub monthly_payment: i64,
    pub total_interest: i64,
    pub total_amount: i64,
    pub processing_fee: i64,
    pub insurance_fee: i64,
    pub required_documents: Vec<LoanDocumentType>,
    pub missing_documents: Vec<LoanDocumentType>,
    pub guarantors: Vec<GuarantorRow>,
    pub collaterals: Vec<CollateralRow>,
    pub documents: Vec<DocumentRow>,
    pub reviewer_comments: Option<String>,
    pub submitted_at: Timestamp,
    pub approved_at: Option<Timestamp>,
    pub approval_expires_at: Option<Timestamp>,
    pub disbursed_at: Option<Timestamp>,
    pub closed_at: Option<Timestamp>,
    pub book: Book,
    pub principal_outstanding: i64,
    pub interest_outstanding: i64,
    pub total_paid: i64,
    pub updated_at: Timestamp,
    pub version: i64,
    pub last_position: Position,
}

/// Somebody who vouches for a loan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuarantorRow {
    /// Its id.
    pub guarantor_id: GuarantorId,
    /// First name.
    pub first_name: String,
    /// Last name.
    pub last_name: String,
    /// Where they can be written to.
    pub email: Option<String>,
    /// Where they can be called.
    pub phone_number: Option<String>,
    /// What they are to the borrower.
    pub relationship: Option<String>,
    /// Whether they were verified.
    pub status: ItemStatus,
}

/// Something that secures a loan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollateralRow {
    /// Its id.
    pub collateral_id: CollateralId,
    /// What it is.
    pub collateral_type: CollateralType,
    /// What it is, in words.
    pub description: String,
    /// What the borrower says it is worth, minor units.
    pub value: i64,
    /// Whether it was verified.
    pub status: ItemStatus,
}

/// A document for an application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRow {
    /// Its id.
    pub document_id: DocumentId,
    /// What it is.
    pub document_type: LoanDocumentType,
    /// What its owner calls it.
    pub name: Option<String>,
    /// Where it is kept.
    pub file: StoredFile,
    /// Bytes, as it was handed in.
    pub size: u64,
    /// When it was handed in.
    pub uploaded_at: Timestamp,
    /// Whether it was verified.
    pub status: ItemStatus,
}

bursar_domain::spelled! {
    /// What happened on a loan.
    pub enum EntryKind {
        /// It was paid out.
        Disbursement = "DISBURSEMENT",
        /// Interest has accrued.
        Interest = "INTEREST",
        /// Something was paid.
        Payment = "PAYMENT",
        /// The bank has given it up.
        WriteOff = "WRITE_OFF",
    }
}

impl EntryKind {
    /// The same in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Disbursement => "Loan paid out",
            Self::Interest => "Interest",
            Self::Payment => "Payment",
            Self::WriteOff => "Given up by the bank",
        }
    }
}

/// One line of a loan's statement; sums in minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoanEntry {
    /// The loan.
    pub loan_id: LoanId,
    /// The transaction that moved the money.
    pub transaction_id: TransactionId,
    /// When.
    pub recorded_at: Timestamp,
    /// What.
    #[serde(rename = "type")]
    pub kind: EntryKind,
    /// The same in words.
    pub description: String,
    /// Positive for what is owed more, negative for what is owed less.
    pub amount: i64,
    /// Principal and accrued interest owed after it.
    pub balance: i64,
    /// Position of the event.
    pub last_position: Position,
}

/// A loan that is owed, as analysts ask for it; sums in minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortfolioRow {
    /// The loan.
    pub loan_id: LoanId,
    /// The borrower.
    pub owner: UserId,
    /// The product.
    pub product_id: String,
    /// ISO 4217.
    pub currency: Currency,
    /// When it was paid out.
    pub disbursed_at: Timestamp,
    /// Principal that is owed.
    pub principal_outstanding: i64,
    /// Interest that has accrued and is not paid.
    pub interest_outstanding: i64,
    /// What was due and not paid when the row last changed.
    pub arrears: i64,
    /// When the oldest unpaid instalment was due.
    pub arrears_since: Option<Date>,
    /// Days from then to the day the row last changed.
    pub days_past_due: i64,
    /// The bucket of so many days.
    pub bucket: String,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

fn shown(personal: &Personal<String>) -> String {
    personal.or_erased().to_owned()
}

impl GuarantorRow {
    fn of(guarantor: &Guarantor) -> Self {
        Self {
            guarantor_id: guarantor.id,
            first_name: shown(&guarantor.first_name),
            last_name: shown(&guarantor.last_name),
            email: guarantor.email.as_ref().map(shown),
            phone_number: guarantor.phone_number.as_ref().map(shown),
            relationship: guarantor.relationship.clone(),
            status: ItemStatus::Pending,
        }
    }
}

impl CollateralRow {
    fn of(collateral: &Collateral) -> Self {
        Self {
            collateral_id: collateral.id,
            collateral_type: collateral.collateral_type,
            description: collateral.description.clone(),
            value: collateral.estimated_value.minor(),
            status: ItemStatus::Pending,
        }
    }
}

impl DocumentRow {
    fn of(event: &Recorded, document: &LoanDocument) -> Self {
        Self {
            document_id: document.id,
            document_type: document.document_type,
            name: document.name.as_ref().map(shown),
            file: document.file.clone(),
            size: document.size,
            uploaded_at: event.recorded_at,
            status: ItemStatus::Pending,
        }
    }
}

impl LoanRow {
    pub(super) fn applied(event: &Recorded, loan_id: LoanId, applied: &Applied) -> Self {
        let (terms, cost) = (&applied.terms, &applied.cost);
        Self {
            loan_id,
            owner: applied.owner,
            application_number: application_number(loan_id),
            loan_number: loan_number(loan_id),
            product_id: applied.product_id.clone(),
            product_name: terms.name.clone(),
            currency: terms.currency,
            amount: applied.amount.minor(),
            tenure: applied.tenure,
            account_number: applied.account.clone(),
            purpose: applied.purpose.clone(),
            employment_type: applied.employment_type,
            monthly_income: applied.monthly_income.minor(),
            employer_name: applied.employer_name.as_ref().map(shown),
            employment_duration: applied.employment_duration,
            existing_loans: applied.existing_loans.clone(),
            collateral_type: applied.collateral_type,
            guarantor_required: applied.guarantor_required,
            status: LoanStatus::Pending,
            interest_rate: terms.interest_rate,
            monthly_payment: cost.monthly_payment,
            total_interest: cost.total_interest,
            total_amount: cost.total_amount,
            processing_fee: cost.processing_fee,
            insurance_fee: cost.insurance_fee,
            required_documents: terms.required_documents.clone(),
            missing_documents: terms.required_documents.clone(),
            guarantors: Vec::new(),
            collaterals: Vec::new(),
            documents: Vec::new(),
            reviewer_comments: None,
            submitted_at: applied.origin.as_ref().map_or(event.recorded_at, |origin| origin.at),
            approved_at: None,
            approval_expires_at: None,
            disbursed_at: None,
            closed_at: None,
            book: Book::default(),
            principal_outstanding: 0,
            interest_outstanding: 0,
            total_paid: 0,
            updated_at: event.recorded_at,
            version: event.sequence,
            last_position: event.position,
        }
    }

    pub(super) fn grow(&mut self, event: &Recorded, what: &LoanEvent) {
        let at = event.recorded_at;
        match what {
            LoanEvent::Applied(_) | LoanEvent::Missed { .. } => {}
            LoanEvent::GuarantorAdded(guarantor) => self.guarantors.push(GuarantorRow::of(guarantor)),
            LoanEvent::CollateralAdded(collateral) => self.collaterals.push(CollateralRow::of(collateral)),
            LoanEvent::DocumentAdded(document) => {
                self.documents.push(DocumentRow::of(event, document));
                self.count_missing();
            }
            LoanEvent::Checked { item, outcome, .. } => self.check(*item, (*outcome).into()),
            LoanEvent::CollateralReleased { collateral_id } => {
                self.check(Item::Collateral(*collateral_id), ItemStatus::Released);
            }
            LoanEvent::ReviewStarted { note, .. } => {
                self.status = LoanStatus::UnderReview;
                self.comment(note.as_ref());
            }
            LoanEvent::InfoRequested { note, .. } => {
                self.status = LoanStatus::Pending;
                self.comment(Some(note));
            }
            LoanEvent::Approved { note, expires_at, .. } => {
                self.status = LoanStatus::Approved;
                (self.approved_at, self.approval_expires_at) = (Some(at), Some(*expires_at));
                self.comment(note.as_ref());
            }
            LoanEvent::Rejected { reason, .. } => {
                self.status = LoanStatus::Rejected;
                self.comment(Some(reason));
            }
            LoanEvent::Withdrawn { .. } => self.status = LoanStatus::Withdrawn,
            LoanEvent::Expired => self.status = LoanStatus::Expired,
            LoanEvent::Disbursed(disbursed) => {
                self.status = LoanStatus::Disbursed;
                self.disbursed_at = Some(at);
                self.book = Book::new(disbursed.rows.clone());
                self.comment(disbursed.note.as_ref());
            }
            LoanEvent::Accrued { amount, .. } => self.book.accrue(amount.minor()),
            LoanEvent::Repaid(repaid) => {
                self.book.pay(&repaid.shares);
                // The sum of the schedule at the most.
                self.total_paid = self.total_paid.saturating_add(repaid.amount.minor());
            }
            LoanEvent::Closed => (self.status, self.closed_at) = (LoanStatus::Closed, Some(at)),
            LoanEvent::WrittenOff(_) => (self.status, self.closed_at) = (LoanStatus::WrittenOff, Some(at)),
        }
        let is_owed = self.status != LoanStatus::WrittenOff;
        self.principal_outstanding = if is_owed { self.book.principal() } else { 0 };
        self.interest_outstanding = if is_owed { self.book.interest() } else { 0 };
        self.updated_at = at;
        self.version = event.sequence;
        self.last_position = event.position;
    }

    /// Forgets what is sealed with the borrower's key.
    pub(super) fn erase(&mut self, position: Position) {
        erase(&mut self.employer_name);
        for guarantor in &mut self.guarantors {
            for name in [&mut guarantor.first_name, &mut guarantor.last_name] {
                ERASED.clone_into(name);
            }
            erase(&mut guarantor.email);
            erase(&mut guarantor.phone_number);
        }
        self.documents.iter_mut().for_each(|document| erase(&mut document.name));
        self.last_position = position;
    }

    fn comment(&mut self, words: Option<&String>) {
        if let Some(words) = words {
            self.reviewer_comments = Some(words.clone());
        }
    }

    fn count_missing(&mut self) {
        let is_there = |wanted: &LoanDocumentType| {
            let mut documents = self.documents.iter();
            documents.any(|one| one.document_type == *wanted && one.status != ItemStatus::Rejected)
        };
        let missing = self.required_documents.iter().copied().filter(|wanted| !is_there(wanted));
        self.missing_documents = missing.collect();
    }

    fn check(&mut self, item: Item, status: ItemStatus) {
        match item {
            Item::Guarantor(id) => {
                self.guarantors
                    .iter_mut()
                    .filter(|one| one.guarantor_id == id)
                    .for_each(|one| one.status = status);
            }
            Item::Document(id) => {
                self.documents
                    .iter_mut()
                    .filter(|one| one.document_id == id)
                    .for_each(|one| one.status = status);
                self.count_missing();
            }
            Item::Collateral(id) => {
                self.collaterals
                    .iter_mut()
                    .filter(|one| one.collateral_id == id)
                    .for_each(|one| one.status = status);
            }
        }
    }
}

impl PortfolioRow {
    pub(super) fn of(event: &Recorded, loan: &LoanRow) -> Self {
        let arrears = loan.book.arrears(utc_date(event.recorded_at));
        Self {
            loan_id: loan.loan_id,
            owner: loan.owner,
            product_id: loan.product_id.clone(),
            currency: loan.currency,
            disbursed_at: loan.disbursed_at.unwrap_or(event.recorded_at),
            principal_outstanding: loan.principal_outstanding,
            interest_outstanding: loan.interest_outstanding,
            arrears: arrears.owed,
            arrears_since: arrears.since,
            days_past_due: arrears.days,
            bucket: Arrears::bucket(arrears.days).to_owned(),
            last_position: event.position,
        }
    }
}

macro_rules! by_loan {
    ($($row:ident = $place:literal by $key:ident: $type:ty,)*) => {$(
        impl Record for $row {
            const TABLE: &'static Table = &Loans::TABLES[$place];
            const GROUP: &'static str = "loan_id";
            type Key = $type;
            type Group = LoanId;

            fn key(&self) -> $type {
                self.$key
            }

            fn group(&self) -> LoanId {
                self.loan_id
            }
        }
    )*};
}

by_loan! {
    LoanRow = 0 by loan_id: LoanId,
    LoanEntry = 1 by transaction_id: TransactionId,
    PortfolioRow = 2 by loan_id: LoanId,
}
