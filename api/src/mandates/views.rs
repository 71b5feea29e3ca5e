//! How a mandate looks from outside.

use bursar_commands::Committed;
use bursar_domain::mandates::{MandateEvent, Plan, SetUp, Target};
use bursar_domain::{Event, Recorded};
use bursar_projections::mandates::{ExecutionRow, MandateRow};
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::midnight;

/// A mandate that was given. Amounts in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MandateResult {
    /// `SUCCESS`.
    status: &'static str,
    mandate_id: String,
    mandate_name: String,
    /// `PAYMENT` or `SAVINGS`.
    mandate_type: &'static str,
    amount: i64,
    currency: String,
    /// `DAILY`, `WEEKLY`, `MONTHLY`, `QUARTERLY` or `YEARLY`.
    frequency: &'static str,
    start_date: Timestamp,
    end_date: Option<Timestamp>,
    /// When the next payment is made; none when it begins paused.
    next_execution_date: Option<Timestamp>,
    beneficiary_account: String,
    beneficiary_name: Option<String>,
    created_at: Timestamp,
    message: &'static str,
}

impl MandateResult {
    pub(super) fn of(recorded: &Recorded, set_up: &SetUp) -> Self {
        let number = match &set_up.target {
            Target::Account { account_number } => account_number.as_str(),
            Target::Outside { outside, .. } => outside.number(),
        };
        let Plan { name, amount, calendar, starts_at, ends_at, .. } = &set_up.plan;
        Self {
            status: "SUCCESS",
            mandate_id: recorded.stream.id.to_string(),
            mandate_name: name.clone(),
            mandate_type: set_up.mandate_type.as_str(),
            amount: amount.minor(),
            currency: set_up.currency.to_string(),
            frequency: calendar.frequency().as_str(),
            start_date: *starts_at,
            end_date: *ends_at,
            next_execution_date: set_up.is_active.then(|| midnight(set_up.first)),
            beneficiary_account: number.to_owned(),
            beneficiary_name: set_up.payee_name.as_ref().map(|name| name.or_erased().to_owned()),
            created_at: recorded.recorded_at,
            message: "Standing instruction created",
        }
    }
}

/// A mandate. Amounts in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MandateInfo {
    mandate_id: String,
    mandate_name: String,
    /// `PAYMENT` or `SAVINGS`.
    mandate_type: &'static str,
    amount: i64,
    currency: String,
    /// `DAILY`, `WEEKLY`, `MONTHLY`, `QUARTERLY` or `YEARLY`.
    frequency: &'static str,
    /// The day of the month or, 1 being Monday, of the week; none of a daily one.
    execution_day: Option<i8>,
    start_date: Timestamp,
    end_date: Option<Timestamp>,
    /// When the next payment is made; none unless it is active.
    next_execution_date: Option<Timestamp>,
    /// `ACTIVE`, `PAUSED`, `COMPLETED` or `CANCELLED`.
    status: &'static str,
    /// Why it is paused: `REQUESTED`, or `FAILURES` in a row.
    pause_reason: Option<&'static str>,
    source_account: String,
    beneficiary_account: String,
    beneficiary_name: Option<String>,
    /// The code of the bank or biller; none for this bank.
    institution_code: Option<String>,
    institution_name: Option<String>,
    /// What is bought of the biller.
    item_id: Option<String>,
    description: Option<String>,
}

impl From<MandateRow> for MandateInfo {
    fn from(row: MandateRow) -> Self {
        Self {
            mandate_id: row.mandate_id.to_string(),
            mandate_name: row.mandate_name,
            mandate_type: row.mandate_type.as_str(),
            amount: row.amount.minor(),
            currency: row.currency.to_string(),
            frequency: row.frequency.as_str(),
            execution_day: row.execution_day,
            start_date: row.starts_at,
            end_date: row.ends_at,
            next_execution_date: row.next_due.map(midnight),
            status: row.status.as_str(),
            pause_reason: row.pause_reason.map(|reason| reason.as_str()),
            source_account: row.source_account.to_string(),
            beneficiary_account: row.beneficiary_account,
            beneficiary_name: row.beneficiary_name,
            institution_code: row.institution,
            institution_name: row.institution_name,
            item_id: row.item_id,
            description: row.description,
        }
    }
}

/// Somebody's mandates.
#[derive(Debug, Serialize, ToSchema)]
pub struct MandateList {
    pub(super) mandates: Vec<MandateInfo>,
    pub(super) pagination: Pagination,
}

/// Everything about a mandate.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MandateDetails {
    #[serde(flatten)]
    mandate: MandateInfo,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// When the last payment was made.
    last_executed_at: Option<Timestamp>,
    /// Payments made.
    execution_count: i64,
    /// Their sum, minor units.
    total_amount_executed: i64,
    /// Days that failed.
    failure_count: i64,
    /// Code of the last refusal; none when the last payment was made.
    last_failure: Option<String>,
    /// What became of each day, the latest first.
    execution_history: Vec<Execution>,
}

/// What became of a day of a mandate.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Execution {
    execution_id: String,
    /// The beginning of the day that was due.
    execution_date: Timestamp,
    /// Minor units.
    amount: i64,
    /// `SUCCESS`, `FAILED` (three tries, or the last one late) or `SKIPPED` (while the mandate was paused).
    status: &'static str,
    /// The transaction; none unless it was paid.
    reference: Option<String>,
    /// Code of the last refusal; none unless it failed.
    failure_reason: Option<String>,
    /// When that was known.
    processed_at: Timestamp,
}

impl MandateDetails {
    pub(super) fn of(row: MandateRow, days: Vec<ExecutionRow>) -> Self {
        Self {
            created_at: row.created_at,
            updated_at: row.updated_at,
            last_executed_at: row.last_executed_at,
            execution_count: row.execution_count,
            total_amount_executed: row.total_executed,
            failure_count: row.failure_count,
            last_failure: row.last_failure.clone(),
            execution_history: days.into_iter().map(Execution::from).collect(),
            mandate: row.into(),
        }
    }
}

impl From<ExecutionRow> for Execution {
    fn from(row: ExecutionRow) -> Self {
        Self {
            execution_id: row.execution_id,
            execution_date: midnight(row.due),
            amount: row.amount.minor(),
            status: row.status.as_str(),
            reference: row.transaction_id.map(|id| id.to_string()),
            failure_reason: row.failure,
            processed_at: row.recorded_at,
        }
    }
}

/// A mandate as it is now. Amounts in minor units.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MandateChanged {
    /// `SUCCESS`.
    status: &'static str,
    mandate_id: String,
    mandate_name: String,
    amount: i64,
    /// `DAILY`, `WEEKLY`, `MONTHLY`, `QUARTERLY` or `YEARLY`.
    frequency: &'static str,
    /// The day of the month or, 1 being Monday, of the week; none of a daily one.
    execution_day: Option<i8>,
    end_date: Option<Timestamp>,
    description: Option<String>,
    /// Whether payments are made.
    is_active: bool,
    /// When the next payment is made; none unless it is active.
    next_execution_date: Option<Timestamp>,
    updated_at: Timestamp,
    message: &'static str,
}

impl MandateChanged {
    pub(super) fn of(committed: &Committed) -> Result<Self, Problem> {
        let (recorded, (plan, mut next)) = committed.event(|event| match event {
            Event::Mandate(MandateEvent::Changed { plan, next }) => Some((plan, *next)),
            _ => None,
        })?;
        let mut message = "Standing instruction changed";
        for other in &committed.events {
            match &other.event {
                Event::Mandate(MandateEvent::Paused { .. }) => {
                    (next, message) = (None, "Standing instruction paused");
                }
                Event::Mandate(MandateEvent::Resumed { next: first, .. }) => {
                    (next, message) = (Some(*first), "Standing instruction resumed");
                }
                _ => {}
            }
        }
        Ok(Self {
            status: "SUCCESS",
            mandate_id: recorded.stream.id.to_string(),
            mandate_name: plan.name.clone(),
            amount: plan.amount.minor(),
            frequency: plan.calendar.frequency().as_str(),
            execution_day: plan.calendar.day(),
            end_date: plan.ends_at,
            description: plan.description.clone(),
            is_active: next.is_some(),
            next_execution_date: next.map(midnight),
            updated_at: recorded.recorded_at,
            message,
        })
    }
}

/// A mandate that has ended.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MandateCancelled {
    /// `SUCCESS`.
    status: &'static str,
    mandate_id: String,
    mandate_name: String,
    deactivated_at: Timestamp,
    message: &'static str,
    cancellation_reason: Option<String>,
}

impl MandateCancelled {
    pub(super) fn of(committed: &Committed) -> Result<Self, Problem> {
        let (recorded, (name, reason)) = committed.event(|event| match event {
            Event::Mandate(MandateEvent::Cancelled { name, reason }) => Some((name, reason)),
            _ => None,
        })?;
        Ok(Self {
            status: "SUCCESS",
            mandate_id: recorded.stream.id.to_string(),
            mandate_name: name.clone(),
            deactivated_at: recorded.recorded_at,
            message: "Standing instruction cancelled",
            cancellation_reason: reason.clone(),
        })
    }
}
