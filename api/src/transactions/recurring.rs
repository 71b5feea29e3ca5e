//! Repeating a payment on certain days.

use axum::extract::State;
use bursar_commands::Committed;
use bursar_commands::recurrences::{Plan, cancel, set_active, set_up};
use bursar_commands::transactions::involved;
use bursar_domain::Event;
use bursar_domain::kernel::{Frequency, RecurrenceId, TransactionId, micros};
use bursar_domain::recurrences::{RecurrenceEvent, RecurrenceStatus};
use bursar_projections::recurrences::{RecurrenceFilter, RecurrenceSort, of_owner, owned};
use bursar_projections::{Page, Sort};
use jiff::Timestamp;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::recurring_views::{RecurringChanged, RecurringDetails, RecurringList, RecurringResult};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, ReadAccount, WriteTransactions};
use crate::calendar::calendar;
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::{Conditions, DayNumber, InPath, Nothing, OneOf, Queried, Text, Write, midnight};
use crate::{query, request};

/// The routes about recurrences.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(repeat_transaction)).routes(routes!(list_recurring)).routes(routes!(
        read_recurring,
        change_recurring,
        cancel_recurring
    ))
}

/// The read model of recurrences.
const MODEL: &str = "recurrences";

request! {
    /// On which days a payment is repeated. Days are UTC days.
    RecurringRequest {
        /// How often.
        frequency: OneOf<Frequency> = "frequency",
        /// From when on. Days before today are passed over.
        start_date: Timestamp = "startDate",
        /// Until when, that day included; for ever when absent.
        end_date: Option<Timestamp> = "endDate",
        /// The day of the month (1 to 31; a shorter month has its last day instead) or, for `WEEKLY`, of the week (1 to 7, 1
        /// is Monday); that of `startDate` when absent. Nothing to `DAILY`.
        execution_day: Option<DayNumber> = "executionDay",
        /// Whether it begins at once; true when absent.
        is_active: Option<bool> = "isActive",
        /// What it is for; the narration of its payments.
        description: Option<Text<500>> = "description",
    }
}

request! {
    /// Whether a payment is repeated for the time being.
    RecurringChange {
        /// False: no payments for a while. True: payments again; what was due in between is passed over.
        is_active: bool = "isActive",
    }
}

query! {
    /// Which recurrences are listed, and how.
    ListRecurring {
        /// Only in this state.
        status: Option<OneOf<RecurrenceStatus>> = "status",
        /// Only of this transaction.
        transaction_id: Option<TransactionId> = "transactionId",
        /// The order; newest first when absent.
        sort: Sort<RecurrenceSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

/// Repeats a payment that the caller made, at 00:00 UTC on certain days.
///
/// A payment that is refused is not tried again; after three in a row it is paused.
#[utoipa::path(
    post, path = "/v1/transactions/{transactionId}/recurring", tag = "Transactions",
    params(InPath<TransactionId>, WriteHeaders), request_body = RecurringRequest,
    responses((status = 201, description = "Set up.", body = RecurringResult), WriteProblems)
)]
async fn repeat_transaction(
    State(app): State<App>,
    id: InPath<TransactionId>,
    write: Write<WriteTransactions, RecurringRequest>,
) -> Result<Answer<RecurringResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let plan = plan(body)?;
    let found = involved(&app.journal, caller.user(), id.get()?).await?;
    let committed = set_up(&app.journal, context, caller.user(), &found, plan).await?;
    let (recorded, set_up) = committed.event(|event| match event {
        Event::Recurrence(RecurrenceEvent::SetUp(set_up)) => Some(&**set_up),
        _ => None,
    })?;
    let location = format!("/v1/recurring/{}", recorded.stream.id);
    Ok(Answer::ok(RecurringResult::of(recorded, set_up)).at(&committed).created(&location))
}

/// Lists what the caller repeats.
#[utoipa::path(
    get, path = "/v1/recurring", tag = "Transactions", params(ListRecurring, ReadHeaders),
    responses((status = 200, description = "The recurrences.", body = RecurringList), ReadProblems)
)]
async fn list_recurring(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    Queried(query): Queried<ListRecurring>,
) -> Result<Answer<RecurringList>, Problem> {
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let status = query.status.map(|OneOf(status)| status);
    let filter = RecurrenceFilter { transaction_id: query.transaction_id, status };
    let found = of_owner(&app.pool, caller.user(), &filter, query.sort, query.page).await?;
    Ok(Answer::ok(RecurringList {
        pagination: Pagination::of(query.page, found.total),
        recurring: found.items.into_iter().map(RecurringDetails::from).collect(),
    }))
}

/// Reads something that the caller repeats.
#[utoipa::path(
    get, path = "/v1/recurring/{recurringId}", tag = "Transactions", params(InPath<RecurrenceId>, ReadHeaders),
    responses((status = 200, description = "The recurrence.", body = RecurringDetails), ReadProblems)
)]
async fn read_recurring(
    State(app): State<App>,
    caller: Allowed<ReadAccount>,
    wants: Conditions,
    id: InPath<RecurrenceId>,
) -> Result<Answer<RecurringDetails>, Problem> {
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let row = owned(&app.pool, caller.user(), id.get()?).await?;
    let row = row.ok_or_else(|| Problem::not_found("recurrence"))?;
    let version = row.version;
    Ok(Answer::ok(RecurringDetails::from(row)).tagged(version, wants.none_match))
}

/// Pauses the payments, or makes them again.
#[utoipa::path(
    put, path = "/v1/recurring/{recurringId}", tag = "Transactions",
    params(InPath<RecurrenceId>, WriteHeaders, IfMatch), request_body = RecurringChange,
    responses((status = 200, description = "Changed.", body = RecurringChanged), WriteProblems)
)]
async fn change_recurring(
    State(app): State<App>,
    id: InPath<RecurrenceId>,
    write: Write<WriteTransactions, RecurringChange>,
) -> Result<Answer<RecurringChanged>, Problem> {
    let Write { caller, body, context, .. } = write;
    let committed = set_active(&app.journal, context, caller.user(), id.get()?, body.is_active).await?;
    changed(&committed)
}

/// Repeats a payment no more.
#[utoipa::path(
    delete, path = "/v1/recurring/{recurringId}", tag = "Transactions",
    params(InPath<RecurrenceId>, WriteHeaders, IfMatch),
    responses((status = 200, description = "Cancelled.", body = RecurringChanged), WriteProblems)
)]
async fn cancel_recurring(
    State(app): State<App>,
    id: InPath<RecurrenceId>,
    write: Write<WriteTransactions, Nothing>,
) -> Result<Answer<RecurringChanged>, Problem> {
    let Write { caller, context, .. } = write;
    let committed = cancel(&app.journal, context, caller.user(), id.get()?).await?;
    changed(&committed)
}

/// The plan that a request describes.
fn plan(body: RecurringRequest) -> Result<Plan, Problem> {
    let OneOf(frequency) = body.frequency;
    let calendar = calendar(frequency, body.start_date, body.end_date, body.execution_day)?;
    Ok(Plan {
        calendar,
        starts_at: micros(body.start_date),
        ends_at: body.end_date.map(micros),
        description: body.description.map(String::from),
        is_paused: body.is_active == Some(false),
    })
}

/// What has become of a recurrence.
fn changed(committed: &Committed) -> Result<Answer<RecurringChanged>, Problem> {
    let (recorded, (status, next, message)) = committed.event(|event| match event {
        Event::Recurrence(RecurrenceEvent::Resumed { next }) => {
            Some((RecurrenceStatus::Active, Some(midnight(*next)), "Recurring payment resumed"))
        }
        Event::Recurrence(RecurrenceEvent::Paused { .. }) => {
            Some((RecurrenceStatus::Paused, None, "Recurring payment paused"))
        }
        Event::Recurrence(RecurrenceEvent::Cancelled) => {
            Some((RecurrenceStatus::Cancelled, None, "Recurring payment cancelled"))
        }
        _ => None,
    })?;
    let result = RecurringChanged {
        status: "SUCCESS",
        recurring_id: recorded.stream.id.to_string(),
        recurring_status: status.as_str(),
        is_active: status == RecurrenceStatus::Active,
        next_execution_date: next,
        updated_at: recorded.recorded_at,
        message,
    };
    Ok(Answer::ok(result).at(committed))
}
