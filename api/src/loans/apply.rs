//! Applying for a loan.

use axum::extract::State;
use axum::http::StatusCode;
use bursar_commands::accounts;
use bursar_commands::loans::{NewLoan, apply};
use bursar_domain::kernel::{LoanId, UserId};
use bursar_domain::loans::{
    Applied, CollateralType, EmploymentType, ExistingLoan, LoanEvent, LoanStatus, application_number,
};
use bursar_domain::{AccountNumber, Amount, Event};
use bursar_projections::accounts::{AccountFilter, AccountSort, of_owner};
use bursar_projections::{Page, Sort};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::WriteTransactions;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Minor, OneOf, Text, Title, Whole, Write};

/// How long a decision usually takes.
const PROCESSING_TIME: &str = "2 to 5 working days";

request! {
    /// A loan that somebody has already, somewhere.
    ExistingLoanRequest {
        /// Who lends.
        lender: Option<Title<140>> = "lender",
        /// What is still owed, minor units.
        amount: Option<Minor> = "amount",
        /// What it takes a month, minor units.
        monthly_payment: Minor = "monthlyPayment",
    }
}

request! {
    /// What somebody asks for and says of themselves.
    LoanRequest {
        /// The product, as in `/v1/loans/products`.
        product_id: Text<40> = "productId",
        /// How much, minor units; in the product's range.
        amount: Amount = "amount",
        /// Months; in the product's range.
        tenure: Whole<1, 480> = "tenure",
        /// What it is for.
        purpose: Option<Text<500>> = "purpose",
        /// How the caller earns their living.
        employment_type: Option<OneOf<EmploymentType>> = "employmentType",
        /// What they earn a month, minor units.
        monthly_income: Amount = "monthlyIncome",
        /// Who employs them.
        employer_name: Option<Title<140>> = "employerName",
        /// For how many months.
        employment_duration: Option<Whole<0, 1200>> = "employmentDuration",
        /// What they owe already.
        existing_loans: Option<Vec<ExistingLoanRequest>> = "existingLoans",
        /// What they mean to secure it with; `NONE` when absent.
        collateral_type: Option<OneOf<CollateralType>> = "collateralType",
        /// Whether somebody is to vouch for it, even if the product does not ask for that.
        guarantor_required: Option<bool> = "guarantorRequired",
        /// The caller's account that it is paid into and collected from; their default account when absent.
        disbursement_account: Option<AccountNumber> = "disbursementAccount",
    }
}

/// An application that was submitted. Sums in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoanApplied {
    /// `SUCCESS`.
    status: &'static str,
    loan_id: String,
    application_number: String,
    product_id: String,
    amount: i64,
    tenure: u32,
    purpose: Option<String>,
    /// `PENDING`.
    application_status: &'static str,
    /// The account that it is paid into and collected from.
    disbursement_account: String,
    submitted_at: Timestamp,
    /// In words.
    estimated_processing_time: &'static str,
    message: &'static str,
}

/// What goes into other loans a month, minor units.
pub(super) fn monthly(loans: &[ExistingLoanRequest]) -> i64 {
    // A hundred loans of 10^15 at the most.
    loans.iter().map(|loan| loan.monthly_payment.0).sum()
}

/// Applies for a loan, on the product's terms of now.
#[utoipa::path(
    post, path = "/v1/loans", tag = "Loans",
    params(WriteHeaders), request_body = LoanRequest,
    responses((status = 201, description = "Submitted.", body = LoanApplied), WriteProblems)
)]
pub(super) async fn apply_for_loan(
    State(app): State<App>,
    write: Write<WriteTransactions, LoanRequest>,
) -> Result<Answer<LoanApplied>, Problem> {
    let Write { caller, body, context, .. } = write;
    let number = match body.disbursement_account {
        Some(number) => number,
        None => default_account(&app, caller.user()).await?,
    };
    let existing = body.existing_loans.unwrap_or_default().into_iter().map(|loan| ExistingLoan {
        lender: loan.lender.map(String::from).unwrap_or_default(),
        amount: loan.amount.map_or(0, |Minor(amount)| amount),
        monthly_payment: loan.monthly_payment.0,
    });
    let new = NewLoan {
        product_id: body.product_id.into(),
        amount: body.amount,
        tenure: body.tenure.0,
        account: accounts::owned(&app.journal, caller.user(), &number).await?,
        purpose: body.purpose.map(String::from),
        employment_type: body.employment_type.map(|OneOf(kind)| kind),
        monthly_income: body.monthly_income,
        employer_name: body.employer_name.map(String::from),
        employment_duration: body.employment_duration.map(|Whole(months)| months.into()),
        existing_loans: existing.collect(),
        collateral_type: body.collateral_type.map_or(CollateralType::None, |OneOf(kind)| kind),
        guarantor_required: body.guarantor_required.unwrap_or(false),
    };
    let committed = apply(&app.journal, context, new).await?;
    let (recorded, applied) = committed.event(|event| match event {
        Event::Loan(LoanEvent::Applied(applied)) => Some(&**applied),
        _ => None,
    })?;
    let id: LoanId = recorded.stream.id.parse().map_err(|_| Problem::internal())?;
    let location = format!("/v1/loans/{id}");
    Ok(Answer::ok(LoanApplied::of(id, recorded.recorded_at, applied)).at(&committed).created(&location))
}

/// The account that the caller opened first.
async fn default_account(app: &App, owner: UserId) -> Result<AccountNumber, Problem> {
    let (page, oldest) =
        (Page { page: 1, size: 1 }, Sort { field: AccountSort::OpenedAt, descending: false });
    let found = of_owner(&app.pool, owner, &AccountFilter::default(), oldest, page).await?;
    found.items.into_iter().next().map(|account| account.account_number).ok_or_else(|| {
        let detail = "a loan is paid into an account, and you have none yet";
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "NO_ACCOUNT", detail)
    })
}

impl LoanApplied {
    fn of(id: LoanId, submitted_at: Timestamp, applied: &Applied) -> Self {
        Self {
            status: "SUCCESS",
            loan_id: id.to_string(),
            application_number: application_number(id),
            product_id: applied.product_id.clone(),
            amount: applied.amount.minor(),
            tenure: applied.tenure,
            purpose: applied.purpose.clone(),
            application_status: LoanStatus::Pending.as_str(),
            disbursement_account: applied.account.to_string(),
            submitted_at,
            estimated_processing_time: PROCESSING_TIME,
            message: "Application submitted",
        }
    }
}
