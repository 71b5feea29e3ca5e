//! Opening an account.

use axum::extract::State;
use bursar_commands::Committed;
use bursar_commands::Journal;
use bursar_commands::accounts::{NewAccount, open, owned};
use bursar_domain::accounts::{AccountEvent, Opened, SavingsFrequency, SavingsPlan};
use bursar_domain::kernel::UserId;
use bursar_domain::products::AccountType;
use bursar_domain::{AccountNumber, Amount, Currency, Event, Recorded};
use jiff::Timestamp;
use rust_decimal::Decimal;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::WriteTransactions;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Ignored, Minor, OneOf, Text, Write};

request! {
    /// An account to be opened.
    OpenAccount {
        /// The kind; the product's when absent.
        account_type: Option<OneOf<AccountType>> = "accountType",
        /// The product's code.
        product_id: Text<64> = "productId",
        /// Minor units, from `sourceAccount`.
        initial_deposit: Option<Minor> = "initialDeposit",
        /// ISO 4217; must be the product's.
        currency: Currency = "currency",
        /// The name on it; the product's when absent.
        account_name: Option<Text<140>> = "accountName",
        /// The goal of a TARGET_SAVINGS account, minor units.
        savings_goal: Option<Amount> = "savingsGoal",
        /// `WEEKLY` or `MONTHLY`.
        savings_frequency: Option<OneOf<SavingsFrequency>> = "savingsFrequency",
        /// Each contribution, minor units: paid from `sourceAccount`, the first a week or a month after the opening.
        savings_amount: Option<Amount> = "savingsAmount",
        /// When the plan ends: nothing is contributed from then on.
        maturity_date: Option<Timestamp> = "maturityDate",
        /// Passed over: the product decides.
        interest_rate: Option<Ignored> = "interestRate",
        /// The caller's account that pays the initial deposit and the contributions.
        source_account: Option<AccountNumber> = "sourceAccount",
    }
}

/// An account that was opened.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenedAccount {
    /// `SUCCESS`.
    status: &'static str,
    account_number: String,
    account_name: String,
    account_type: &'static str,
    product_id: String,
    /// Minor units.
    initial_deposit: i64,
    currency: String,
    account_status: &'static str,
    /// Percent a year.
    #[serde(serialize_with = "crate::rate::number")]
    #[schema(value_type = f64)]
    interest_rate: Decimal,
    opened_at: Timestamp,
    savings_goal: Option<i64>,
    savings_frequency: Option<&'static str>,
    savings_amount: Option<i64>,
    maturity_date: Option<Timestamp>,
    message: &'static str,
}

/// Opens an account for the caller, and pays the initial deposit into it from another account of theirs.
#[utoipa::path(
    post, path = "/v1/accounts", tag = "Accounts",
    params(WriteHeaders), request_body = OpenAccount,
    responses((status = 201, description = "Opened.", body = OpenedAccount), WriteProblems)
)]
pub(super) async fn open_account(
    State(app): State<App>,
    write: Write<WriteTransactions, OpenAccount>,
) -> Result<Answer<OpenedAccount>, Problem> {
    let Write { caller, body, context, .. } = write;
    let request = new_account(&app.journal, caller.user(), body).await?;
    opened(&open(&app.journal, &context, caller.user(), request).await?)
}

/// What is said of an account that was opened.
///
/// # Errors
/// When the unit opened none.
pub(crate) fn opened(committed: &Committed) -> Result<Answer<OpenedAccount>, Problem> {
    let (recorded, opened) = committed.event(|event| match event {
        Event::Account(AccountEvent::Opened(opened)) => Some(&**opened),
        _ => None,
    })?;
    let result = OpenedAccount::of(recorded, opened);
    let location = format!("/v1/accounts/{}", result.account_number);
    Ok(Answer::ok(result).at(committed).created(&location))
}

async fn new_account(journal: &Journal, owner: UserId, body: OpenAccount) -> Result<NewAccount, Problem> {
    let deposit = body.initial_deposit.and_then(|Minor(minor)| Amount::try_from(minor).ok());
    let source = match &body.source_account {
        Some(source) => Some(owned(journal, owner, source).await?),
        None => None,
    };
    let initial_deposit = match (deposit, &source) {
        (None, _) => None,
        (Some(amount), Some(source)) => Some((amount, source.clone())),
        (Some(_), None) => {
            let message = "an initial deposit needs a source account";
            return Err(Problem::bad_request("/sourceAccount", "REQUIRED", message));
        }
    };
    let plan = SavingsPlan {
        goal: body.savings_goal.map(Amount::minor),
        frequency: body.savings_frequency.map(|OneOf(frequency)| frequency),
        amount: body.savings_amount.map(Amount::minor),
        maturity_date: body.maturity_date.map(bursar_domain::kernel::micros),
    };
    Ok(NewAccount {
        name: body.account_name.map(String::from),
        product_id: body.product_id.into(),
        account_type: body.account_type.map(|OneOf(kind)| kind),
        currency: body.currency,
        initial_deposit,
        plan: (plan != SavingsPlan::default()).then_some(plan),
        saves_from: source,
    })
}

impl OpenedAccount {
    fn of(recorded: &Recorded, opened: &Opened) -> Self {
        let plan = opened.plan.clone().unwrap_or_default();
        Self {
            status: "SUCCESS",
            account_number: recorded.stream.id.to_string(),
            account_name: opened.name.or_erased().to_owned(),
            account_type: opened.account_type.as_str(),
            product_id: opened.product_id.clone(),
            initial_deposit: opened.initial_deposit,
            currency: opened.terms.currency.to_string(),
            account_status: "ACTIVE",
            interest_rate: opened.interest_rate,
            opened_at: recorded.recorded_at,
            savings_goal: plan.goal,
            savings_frequency: plan.frequency.map(SavingsFrequency::as_str),
            savings_amount: plan.amount,
            maturity_date: plan.maturity_date,
            message: "Account opened",
        }
    }
}
