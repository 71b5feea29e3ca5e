//! Why a number is what it is: the events that made it, and the arithmetic.

use axum::extract::State;
use bursar_domain::AccountNumber;
use bursar_domain::kernel::{LoanId, MandateId};
use bursar_projections::accounts::{self, AccountField};
use bursar_projections::loans::{self, LoanField};
use bursar_projections::mandates::{self, MandateField};
use bursar_projections::statement_entries::AsOf;
use bursar_projections::{Explanation, Step};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, AuditRead};
use crate::openapi::ReadProblems;
use crate::past::within_log;
use crate::problem::Problem;
use crate::query;
use crate::request::{InPath, LogPosition, OneOf, Queried};

/// Steps shown when nobody says how many.
const STEPS: i64 = 100;
/// Steps shown at most.
const MOST: i64 = 1_000;

query! {
    /// Which number of an account, and when.
    ExplainAccount {
        /// The number; `availableBalance` when absent.
        field: Option<OneOf<AccountField>> = "field",
        /// The moment; now when absent.
        as_of: Option<AsOf> = "asOf",
        /// How many of the last events are shown one by one: 100 when absent, 1,000 at most.
        limit: Option<LogPosition> = "limit",
    }
}

query! {
    /// Which number of a loan, and when.
    ExplainLoan {
        /// The number; `remainingBalance` when absent.
        field: Option<OneOf<LoanField>> = "field",
        /// The moment; now when absent.
        as_of: Option<AsOf> = "asOf",
        /// How many of the last events are shown one by one: 100 when absent, 1,000 at most.
        limit: Option<LogPosition> = "limit",
    }
}

query! {
    /// Which number of a mandate, and when.
    ExplainMandate {
        /// The number; `totalAmountExecuted` when absent.
        field: Option<OneOf<MandateField>> = "field",
        /// The moment; now when absent.
        as_of: Option<AsOf> = "asOf",
        /// How many of the last events are shown one by one: 100 when absent, 1,000 at most.
        limit: Option<LogPosition> = "limit",
    }
}

/// How a number came about: `opening` after the `earlierEvents`, then what each step added, and then it is `result`.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedNumber {
    /// `accounts`, `loans` or `mandates`.
    resource: &'static str,
    id: String,
    field: &'static str,
    /// Events that changed the number and are not shown.
    earlier_events: u64,
    /// What they came to.
    opening: i64,
    /// The last events that changed it, oldest first.
    steps: Vec<ExplainedStep>,
    /// What the number is. Sums are in minor units.
    result: i64,
}

/// An event that changed the number.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedStep {
    /// Where it stands in the log.
    position: i64,
    recorded_at: Timestamp,
    /// What happened, such as `payment.completed`.
    event_type: &'static str,
    /// To what: an account, a transaction, a loan, a mandate.
    aggregate_id: String,
    /// What it added; negative for what it took.
    added: i64,
    /// What the number was then.
    result: i64,
}

impl From<Step> for ExplainedStep {
    fn from(step: Step) -> Self {
        let Step { position, recorded_at, event, subject, added, result } = step;
        Self { position, recorded_at, event_type: event, aggregate_id: subject, added, result }
    }
}

fn answer(
    resource: (&'static str, &'static str),
    id: String,
    field: &'static str,
    found: Option<Explanation>,
) -> Result<Answer<ExplainedNumber>, Problem> {
    let (resource, thing) = resource;
    let Explanation { earlier, opening, steps, result } = found.ok_or_else(|| Problem::not_found(thing))?;
    let steps = steps.into_iter().map(ExplainedStep::from).collect();
    Ok(Answer::ok(ExplainedNumber { resource, id, field, earlier_events: earlier, opening, steps, result }))
}

fn steps(limit: Option<LogPosition>) -> usize {
    let limit = limit.map_or(STEPS, |LogPosition(limit)| limit.min(MOST));
    usize::try_from(limit).unwrap_or(usize::MAX)
}

/// Staff: the events that made a balance what it is, and the arithmetic.
#[utoipa::path(
    get, path = "/v1/audit/explain/accounts/{accountNo}", tag = "Audit", params(InPath<AccountNumber>, ExplainAccount),
    responses((status = 200, description = "How the number came about.", body = ExplainedNumber), ReadProblems)
)]
pub(super) async fn explain_account(
    State(app): State<App>,
    _: Allowed<AuditRead>,
    id: InPath<AccountNumber>,
    Queried(query): Queried<ExplainAccount>,
) -> Result<Answer<ExplainedNumber>, Problem> {
    let (number, field) =
        (id.get()?, query.field.map_or(AccountField::AvailableBalance, |OneOf(field)| field));
    within_log(&app, query.as_of)?;
    // Which payments concern an account is asked of the read side.
    app.caught_up(&["statement_entries"]).await?;
    let (codec, limit) = (app.journal.codec(), steps(query.limit));
    let found = accounts::explain(&app.pool, codec, &number, field, query.as_of, limit).await?;
    answer(("accounts", "account"), number.to_string(), field.as_str(), found)
}

/// Staff: the events that made a number of a loan what it is, and the arithmetic.
#[utoipa::path(
    get, path = "/v1/audit/explain/loans/{loanId}", tag = "Audit", params(InPath<LoanId>, ExplainLoan),
    responses((status = 200, description = "How the number came about.", body = ExplainedNumber), ReadProblems)
)]
pub(super) async fn explain_loan(
    State(app): State<App>,
    _: Allowed<AuditRead>,
    id: InPath<LoanId>,
    Queried(query): Queried<ExplainLoan>,
) -> Result<Answer<ExplainedNumber>, Problem> {
    let (id, field) = (id.get()?, query.field.map_or(LoanField::RemainingBalance, |OneOf(field)| field));
    within_log(&app, query.as_of)?;
    let (codec, limit) = (app.journal.codec(), steps(query.limit));
    let found = loans::explain(&app.pool, codec, id, field, query.as_of, limit).await?;
    answer(("loans", "loan"), id.to_string(), field.as_str(), found)
}

/// Staff: the events that made a number of a standing instruction what it is, and the arithmetic.
#[utoipa::path(
    get, path = "/v1/audit/explain/mandates/{mandateId}", tag = "Audit", params(InPath<MandateId>, ExplainMandate),
    responses((status = 200, description = "How the number came about.", body = ExplainedNumber), ReadProblems)
)]
pub(super) async fn explain_mandate(
    State(app): State<App>,
    _: Allowed<AuditRead>,
    id: InPath<MandateId>,
    Queried(query): Queried<ExplainMandate>,
) -> Result<Answer<ExplainedNumber>, Problem> {
    let (id, field) =
        (id.get()?, query.field.map_or(MandateField::TotalAmountExecuted, |OneOf(field)| field));
    within_log(&app, query.as_of)?;
    let (codec, limit) = (app.journal.codec(), steps(query.limit));
    let found = mandates::explain(&app.pool, codec, id, field, query.as_of, limit).await?;
    answer(("mandates", "mandate"), id.to_string(), field.as_str(), found)
}
