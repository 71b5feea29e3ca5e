//! What the bank lends, and what a loan would cost.

use axum::extract::State;
use bursar_commands::loan_products::{Offer, calculate};
use bursar_domain::kernel::utc_date;
use bursar_domain::loans::{EmploymentType, Household, due_dates};
use bursar_domain::{Amount, kernel::midnight};
use bursar_projections::Page;
use bursar_projections::loan_products::{LoanProduct, listed};
use jiff::Timestamp;
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

use super::apply::{ExistingLoanRequest, monthly};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::Caller;
use crate::openapi::{ReadHeaders, ReadProblems, WriteProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::{Conditions, OneOf, Queried, Submission, Text, Whole};
use crate::{query, request};

query! {
    /// Which products are listed.
    ListProducts {
        /// Which part.
        page: Page = "page",
    }
}

request! {
    /// What a loan would be like.
    CalculatorRequest {
        /// The product, as in `/v1/loans/products`.
        product_id: Text<40> = "productId",
        /// How much, minor units.
        amount: Amount = "amount",
        /// Months.
        tenure: Whole<1, 480> = "tenure",
        /// What the caller earns a month, minor units.
        monthly_income: Amount = "monthlyIncome",
        /// What they owe already.
        existing_loans: Option<Vec<ExistingLoanRequest>> = "existingLoans",
        /// Their credit score, when known.
        credit_score: Option<Whole<0, 1000>> = "creditScore",
        /// How they earn their living.
        employment_type: Option<OneOf<EmploymentType>> = "employmentType",
    }
}

/// What the bank lends, what can be applied for first.
#[derive(Debug, Serialize, ToSchema)]
pub struct LoanProductList {
    products: Vec<LoanProductView>,
    pagination: Pagination,
}

/// A loan product. Sums in minor units of `currency`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoanProductView {
    product_id: String,
    product_name: String,
    /// `PERSONAL` or `BUSINESS`.
    product_type: &'static str,
    currency: String,
    min_amount: i64,
    max_amount: i64,
    /// Percent a year.
    #[serde(serialize_with = "crate::rate::number")]
    #[schema(value_type = f64)]
    interest_rate: Decimal,
    /// From so many to so many months: `3-24`.
    tenure: String,
    /// Percent of the amount, taken when it is paid out.
    #[serde(serialize_with = "crate::rate::number")]
    #[schema(value_type = f64)]
    processing_fee: Decimal,
    /// Percent of the amount, taken when it is paid out.
    #[serde(serialize_with = "crate::rate::number")]
    #[schema(value_type = f64)]
    insurance_fee: Decimal,
    eligibility_criteria: Vec<String>,
    required_documents: Vec<&'static str>,
    guarantor_required: bool,
    is_active: bool,
}

/// What a loan would cost, and whether the caller could afford it. Sums in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoanOffer {
    /// Whether it would be lent: in the product's range, and payments of at most 40 % of income.
    eligibility: bool,
    /// The most that would be lent for so long; 0 when that is less than the product lends.
    eligible_amount: i64,
    /// Percent a year.
    #[serde(serialize_with = "crate::rate::number")]
    #[schema(value_type = f64)]
    interest_rate: Decimal,
    /// The last payment may differ.
    monthly_payment: i64,
    total_interest: i64,
    /// Principal and interest.
    total_amount: i64,
    /// Taken when it is paid out; not in `totalAmount`.
    processing_fee: i64,
    /// Taken when it is paid out; not in `totalAmount`.
    insurance_fee: i64,
    /// If it were paid out today.
    repayment_schedule: Vec<Instalment>,
    /// Loan payments a month, this one included, by income; four decimals.
    #[serde(serialize_with = "crate::rate::number")]
    #[schema(value_type = f64)]
    debt_to_income_ratio: Decimal,
    message: &'static str,
}

/// One instalment. Sums in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Instalment {
    installment_number: u32,
    due_date: Timestamp,
    principal: i64,
    interest: i64,
    total_payment: i64,
    /// Principal that is left after it.
    remaining_balance: i64,
}

/// Lists what the bank lends.
#[utoipa::path(
    get, path = "/v1/loans/products", tag = "Loans", params(ListProducts, ReadHeaders),
    responses((status = 200, description = "The products.", body = LoanProductList), ReadProblems)
)]
pub(super) async fn list_loan_products(
    State(app): State<App>,
    caller: Caller,
    wants: Conditions,
    Queried(query): Queried<ListProducts>,
) -> Result<Answer<LoanProductList>, Problem> {
    loan_products(&app, &caller, &wants, query).await
}

/// All products, for whoever asks.
pub(crate) async fn loan_products(
    app: &App,
    caller: &Caller,
    wants: &Conditions,
    ListProducts { page }: ListProducts,
) -> Result<Answer<LoanProductList>, Problem> {
    app.fresh(caller, wants, &["loan_products"]).await?;
    let found = listed(&app.pool, page).await?;
    Ok(Answer::ok(LoanProductList {
        pagination: Pagination::of(page, found.total),
        products: found.items.into_iter().map(LoanProductView::from).collect(),
    }))
}

/// Says what a loan would cost, instalment by instalment, and whether the caller could afford it. Nothing is kept.
#[utoipa::path(
    post, path = "/v1/loans/calculator", tag = "Loans", request_body = CalculatorRequest,
    responses((status = 200, description = "What it would cost.", body = LoanOffer), WriteProblems)
)]
pub(super) async fn calculate_loan(
    State(app): State<App>,
    _: Caller,
    Submission { body, .. }: Submission<CalculatorRequest>,
) -> Result<Answer<LoanOffer>, Problem> {
    let household = Household {
        income: body.monthly_income,
        existing: monthly(body.existing_loans.as_deref().unwrap_or_default()),
        credit_score: body.credit_score.map(|Whole(score)| score.into()),
    };
    let (Whole(months), amount) = (body.tenure, body.amount.minor());
    let offer = calculate(&app.journal, &body.product_id.0, amount, months, household).await?;
    let today = utc_date(app.journal.sources().clock.now());
    Ok(Answer::ok(LoanOffer::of(offer, due_dates(today, months).into_iter().map(midnight))))
}

impl LoanOffer {
    fn of(offer: Offer, dates: impl Iterator<Item = Timestamp>) -> Self {
        let Offer { terms, cost, schedule, verdict } = offer;
        let row = |(row, due_date): (bursar_domain::loans::Instalment, Timestamp)| Instalment {
            installment_number: row.number,
            due_date,
            principal: row.principal,
            interest: row.interest,
            total_payment: row.total(),
            remaining_balance: row.remaining,
        };
        Self {
            eligibility: verdict.eligible,
            eligible_amount: verdict.eligible_amount,
            interest_rate: terms.interest_rate,
            monthly_payment: cost.monthly_payment,
            total_interest: cost.total_interest,
            total_amount: cost.total_amount,
            processing_fee: cost.processing_fee,
            insurance_fee: cost.insurance_fee,
            repayment_schedule: schedule.into_iter().zip(dates).map(row).collect(),
            debt_to_income_ratio: verdict.ratio,
            message: if verdict.eligible {
                "You can apply for this loan"
            } else if verdict.eligible_amount > 0 {
                "This loan is not possible; a smaller one may be"
            } else {
                "This loan is not possible"
            },
        }
    }
}

impl From<LoanProduct> for LoanProductView {
    fn from(product: LoanProduct) -> Self {
        Self {
            product_id: product.product_id,
            product_name: product.product_name,
            product_type: product.product_type.as_str(),
            currency: product.currency.to_string(),
            min_amount: product.min_amount,
            max_amount: product.max_amount,
            interest_rate: product.interest_rate,
            tenure: format!("{}-{}", product.min_tenure, product.max_tenure),
            processing_fee: product.processing_fee,
            insurance_fee: product.insurance_fee,
            eligibility_criteria: product.eligibility_criteria,
            required_documents: product
                .required_documents
                .into_iter()
                .map(|document| document.as_str())
                .collect(),
            guarantor_required: product.guarantor_required,
            is_active: product.is_active,
        }
    }
}
