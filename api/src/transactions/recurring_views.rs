//! How a recurrence looks from outside.

use bursar_domain::Recorded;
use bursar_domain::recurrences::{RecurrenceStatus, SetUp};
use bursar_projections::recurrences::RecurrenceRow;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use crate::paging::Pagination;
use crate::request::midnight;

/// What is repeated, and when.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecurringInfo {
    recurring_id: String,
    /// The payment that is repeated.
    transaction_id: String,
    /// `DAILY`, `WEEKLY`, `MONTHLY`, `QUARTERLY` or `YEARLY`.
    frequency: &'static str,
    start_date: Timestamp,
    end_date: Option<Timestamp>,
    /// The day of the month or, 1 being Monday, of the week; none of a daily one.
    execution_day: Option<i8>,
    /// Whether payments are made.
    is_active: bool,
    /// When the next payment is made; none unless it is active.
    next_execution_date: Option<Timestamp>,
    description: Option<String>,
    created_at: Timestamp,
}

/// A payment that will be repeated.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecurringResult {
    /// `SUCCESS`.
    status: &'static str,
    #[serde(flatten)]
    recurring: RecurringInfo,
    message: &'static str,
}

/// Everything about a recurrence.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecurringDetails {
    /// `ACTIVE`, `PAUSED`, `COMPLETED` or `CANCELLED`.
    recurring_status: &'static str,
    #[serde(flatten)]
    recurring: RecurringInfo,
    /// Payments made.
    execution_count: i64,
    /// Payments refused.
    failure_count: i64,
    /// The last payment made.
    last_transaction_id: Option<String>,
    last_executed_at: Option<Timestamp>,
    /// Code of the last refusal; none when the last payment was made.
    last_failure: Option<String>,
    updated_at: Timestamp,
}

/// What the caller repeats.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecurringList {
    pub(super) recurring: Vec<RecurringDetails>,
    pub(super) pagination: Pagination,
}

/// What has become of a recurrence.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecurringChanged {
    /// `SUCCESS`.
    pub(super) status: &'static str,
    pub(super) recurring_id: String,
    /// `ACTIVE`, `PAUSED` or `CANCELLED`.
    pub(super) recurring_status: &'static str,
    pub(super) is_active: bool,
    /// When the next payment is made; none unless it is active.
    pub(super) next_execution_date: Option<Timestamp>,
    pub(super) updated_at: Timestamp,
    pub(super) message: &'static str,
}

impl RecurringResult {
    pub(super) fn of(recorded: &Recorded, set_up: &SetUp) -> Self {
        let recurring = RecurringInfo {
            recurring_id: recorded.stream.id.to_string(),
            transaction_id: set_up.transaction_id.to_string(),
            frequency: set_up.calendar.frequency().as_str(),
            start_date: set_up.starts_at,
            end_date: set_up.ends_at,
            execution_day: set_up.calendar.day(),
            is_active: set_up.next.is_some(),
            next_execution_date: set_up.next.map(midnight),
            description: set_up.description.clone(),
            created_at: recorded.recorded_at,
        };
        Self { status: "SUCCESS", recurring, message: "Recurring payment set up" }
    }
}

impl From<RecurrenceRow> for RecurringDetails {
    fn from(row: RecurrenceRow) -> Self {
        Self {
            recurring_status: row.status.as_str(),
            recurring: RecurringInfo {
                recurring_id: row.recurring_id.to_string(),
                transaction_id: row.transaction_id.to_string(),
                frequency: row.frequency.as_str(),
                start_date: row.starts_at,
                end_date: row.ends_at,
                execution_day: row.execution_day,
                is_active: row.status == RecurrenceStatus::Active,
                next_execution_date: row.next_due.map(midnight),
                description: row.description,
                created_at: row.created_at,
            },
            execution_count: row.execution_count,
            failure_count: row.failure_count,
            last_transaction_id: row.last_transaction_id.map(|id| id.to_string()),
            last_executed_at: row.last_executed_at,
            last_failure: row.last_failure,
            updated_at: row.updated_at,
        }
    }
}
