//! How a loan looks from outside. Sums in minor units.

use bursar_domain::Recorded;
use bursar_domain::kernel::{midnight, utc_date};
use bursar_domain::loans::{ItemStatus, LoanEvent, LoanStatus, Row};
use bursar_domain::{Event, loans};
use bursar_projections::loans::{CollateralRow, DocumentRow, GuarantorRow, LoanRow};
use jiff::Timestamp;
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

use crate::paging::Pagination;

/// Loans.
#[derive(Debug, Serialize, ToSchema)]
pub struct LoanList {
    pub(super) loans: Vec<LoanDetails>,
    pub(super) pagination: Pagination,
}

/// A loan, from its application on.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoanDetails {
    loan_id: String,
    application_number: String,
    loan_number: String,
    product_id: String,
    product_name: String,
    amount: i64,
    currency: String,
    /// Months.
    tenure: u32,
    purpose: Option<String>,
    /// `PENDING`, `UNDER_REVIEW`, `APPROVED`, `REJECTED`, `WITHDRAWN`, `EXPIRED`, `DISBURSED`, `CLOSED` or `WRITTEN_OFF`.
    application_status: &'static str,
    /// Percent a year.
    #[serde(serialize_with = "crate::rate::number")]
    #[schema(value_type = f64)]
    interest_rate: Decimal,
    /// The last payment may differ.
    monthly_payment: i64,
    total_interest: i64,
    /// Principal and interest of all months.
    total_amount: i64,
    /// Taken when it is paid out.
    processing_fee: i64,
    /// Taken when it is paid out.
    insurance_fee: i64,
    /// The account that it is paid into and collected from.
    disbursement_account: String,
    submitted_at: Timestamp,
    approved_at: Option<Timestamp>,
    /// Until when it can be paid out.
    approval_expires_at: Option<Timestamp>,
    disbursed_at: Option<Timestamp>,
    /// When it was paid back, or given up.
    closed_at: Option<Timestamp>,
    /// What staff said last.
    reviewer_comments: Option<String>,
    required_documents: Vec<&'static str>,
    /// What of these was not handed in, or was rejected.
    missing_documents: Vec<&'static str>,
    /// Whether it is approved only with a verified guarantor.
    guarantor_required: bool,
    documents: Vec<DocumentView>,
    guarantors: Vec<GuarantorView>,
    /// What secures it: what was handed in last of what was not rejected.
    collateral: Option<CollateralView>,
    /// Principal that is owed.
    remaining_balance: i64,
    /// What ends it when it is paid today.
    payoff_amount: i64,
    /// When the first instalment that is not wholly paid is or was due.
    next_payment_date: Option<Timestamp>,
    /// What is due by now; when nothing is, what will be.
    next_payment_amount: i64,
    /// `CURRENT`, `DUE`, `OVERDUE` (7 days) or `DEFAULTED` (90 days); null unless it is owed.
    arrears_status: Option<&'static str>,
    days_past_due: i64,
    /// The instalments, once it is paid out.
    repayment_schedule: Vec<ScheduleRow>,
}

/// Somebody who vouches for a loan.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GuarantorView {
    guarantor_id: String,
    first_name: String,
    last_name: String,
    email: Option<String>,
    phone_number: Option<String>,
    relationship: Option<String>,
    /// `PENDING`, `VERIFIED` or `REJECTED`.
    status: &'static str,
}

/// A document for an application.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LoanDocumentView)]
#[serde(rename_all = "camelCase")]
pub struct DocumentView {
    document_id: String,
    document_type: &'static str,
    document_name: Option<String>,
    /// Bytes.
    file_size: u64,
    uploaded_at: Timestamp,
    /// `PENDING`, `VERIFIED` or `REJECTED`.
    verification_status: &'static str,
}

/// What secures a loan.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CollateralView {
    collateral_id: String,
    /// `VEHICLE`, `PROPERTY` ...
    r#type: &'static str,
    description: String,
    /// What the borrower says it is worth.
    value: i64,
    /// `PENDING`, `VERIFIED`, `REJECTED`, or `RELEASED` once the loan is paid back.
    status: &'static str,
}

/// One instalment of a loan that was paid out.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleRow {
    installment_number: u32,
    due_date: Timestamp,
    principal: i64,
    interest: i64,
    total_payment: i64,
    /// What was paid of it.
    paid: i64,
}

/// Where a loan has moved.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoanMoved {
    /// `SUCCESS`.
    status: &'static str,
    loan_id: String,
    /// `PENDING`, `UNDER_REVIEW`, `APPROVED`, `REJECTED`, `WITHDRAWN`, `DISBURSED` or `WRITTEN_OFF`.
    application_status: &'static str,
    note: Option<String>,
    /// The transaction that moved money, when one did.
    transaction_id: Option<String>,
    updated_at: Timestamp,
    message: &'static str,
}

impl LoanMoved {
    pub(super) fn of(
        recorded: &Recorded,
        status: LoanStatus,
        note: Option<String>,
        message: &'static str,
    ) -> Self {
        let transaction_id = match &recorded.event {
            Event::Loan(LoanEvent::Disbursed(paid)) => Some(paid.transaction_id),
            Event::Loan(LoanEvent::WrittenOff(written)) => Some(written.transaction_id),
            _ => None,
        };
        Self {
            status: "SUCCESS",
            loan_id: recorded.stream.id.to_string(),
            application_status: status.as_str(),
            note,
            transaction_id: transaction_id.map(|id| id.to_string()),
            updated_at: recorded.recorded_at,
            message,
        }
    }
}

/// When the next payment is, and how much; nothing for a loan that is not owed.
pub(super) fn next(loan: &LoanRow, now: Timestamp) -> (Option<Timestamp>, i64) {
    if loan.status != LoanStatus::Disbursed {
        return (None, 0);
    }
    let late = loan.book.arrears(utc_date(now)).owed;
    let next = loan.book.next();
    (next.map(|row| midnight(row.due)), if late > 0 { late } else { next.map_or(0, Row::owed) })
}

impl LoanDetails {
    pub(super) fn of(loan: LoanRow, now: Timestamp) -> Self {
        let (next_payment_date, next_payment_amount) = next(&loan, now);
        let is_owed = loan.status == LoanStatus::Disbursed;
        let arrears = is_owed.then(|| loan.book.arrears(utc_date(now)));
        let collateral = loan.collaterals.iter().rev().find(|one| one.status != ItemStatus::Rejected);
        let collateral = collateral.or(loan.collaterals.last()).map(CollateralView::of);
        let names = |documents: &[bursar_domain::loan_products::LoanDocumentType]| {
            documents.iter().map(|document| document.as_str()).collect()
        };
        Self {
            loan_id: loan.loan_id.to_string(),
            product_id: loan.product_id,
            product_name: loan.product_name,
            amount: loan.amount,
            currency: loan.currency.to_string(),
            tenure: loan.tenure,
            purpose: loan.purpose,
            application_status: loan.status.as_str(),
            interest_rate: loan.interest_rate,
            monthly_payment: loan.monthly_payment,
            total_interest: loan.total_interest,
            total_amount: loan.total_amount,
            processing_fee: loan.processing_fee,
            insurance_fee: loan.insurance_fee,
            disbursement_account: loan.account_number.to_string(),
            submitted_at: loan.submitted_at,
            approved_at: loan.approved_at,
            approval_expires_at: loan.approval_expires_at,
            disbursed_at: loan.disbursed_at,
            closed_at: loan.closed_at,
            reviewer_comments: loan.reviewer_comments,
            required_documents: names(&loan.required_documents),
            missing_documents: names(&loan.missing_documents),
            guarantor_required: loan.guarantor_required,
            documents: loan.documents.into_iter().map(DocumentView::of).collect(),
            guarantors: loan.guarantors.into_iter().map(GuarantorView::of).collect(),
            collateral,
            remaining_balance: loan.principal_outstanding,
            payoff_amount: if is_owed { loan.book.payoff() } else { 0 },
            next_payment_date,
            next_payment_amount,
            arrears_status: arrears.map(|arrears| arrears.status.as_str()),
            days_past_due: arrears.map_or(0, |arrears| arrears.days),
            repayment_schedule: loan.book.rows().iter().map(ScheduleRow::of).collect(),
            application_number: loan.application_number,
            loan_number: loan.loan_number,
        }
    }
}

impl GuarantorView {
    fn of(guarantor: GuarantorRow) -> Self {
        Self {
            guarantor_id: guarantor.guarantor_id.to_string(),
            first_name: guarantor.first_name,
            last_name: guarantor.last_name,
            email: guarantor.email,
            phone_number: guarantor.phone_number,
            relationship: guarantor.relationship,
            status: guarantor.status.as_str(),
        }
    }
}

impl DocumentView {
    fn of(document: DocumentRow) -> Self {
        Self {
            document_id: document.document_id.to_string(),
            document_type: document.document_type.as_str(),
            document_name: document.name,
            file_size: document.size,
            uploaded_at: document.uploaded_at,
            verification_status: document.status.as_str(),
        }
    }
}

impl CollateralView {
    fn of(collateral: &CollateralRow) -> Self {
        Self {
            collateral_id: collateral.collateral_id.to_string(),
            r#type: collateral.collateral_type.as_str(),
            description: collateral.description.clone(),
            value: collateral.value,
            status: collateral.status.as_str(),
        }
    }
}

impl ScheduleRow {
    fn of(row: &loans::Row) -> Self {
        Self {
            installment_number: row.number,
            due_date: midnight(row.due),
            principal: row.principal,
            interest: row.interest,
            total_payment: row.principal + row.interest,
            paid: row.paid_principal + row.paid_interest,
        }
    }
}
