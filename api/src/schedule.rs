//! What the bank will do by itself, and when.

use axum::extract::State;
use bursar_commands::processes::{Planned, planned};
use bursar_projections::Page;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, OpsRebuild};
use crate::openapi::ReadProblems;
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::query;
use crate::request::{Queried, Text};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_schedule))
}

query! {
    /// Which work is listed.
    ListSchedule {
        /// Only of this task: `payment.clear`, `mandate.execute` ...
        task: Option<Text<64>> = "task",
        /// Which part.
        page: Page = "page",
    }
}

/// Work that is due or will be, soonest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct Schedule {
    /// The bank's clock.
    now: Timestamp,
    work: Vec<PlannedWork>,
    pagination: Pagination,
}

/// One piece of work.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedWork {
    /// What is to be done.
    task: String,
    /// The id of what it is about.
    subject: String,
    due_at: Timestamp,
    /// How often it was tried since it was ordered.
    attempts: u32,
    /// A server is at it until then; null when none is.
    leased_until: Option<Timestamp>,
    /// Why the last try did not end it.
    last_error: Option<String>,
}

impl From<Planned> for PlannedWork {
    fn from(row: Planned) -> Self {
        let Planned { task, subject, due_at, attempts, leased_until, last_error } = row;
        Self { task, subject, due_at, attempts, leased_until, last_error }
    }
}

/// Staff: lists what the bank will do by itself, soonest first.
#[utoipa::path(
    get, path = "/v1/staff/ops/schedule", tag = "Operations", params(ListSchedule),
    responses((status = 200, description = "The schedule.", body = Schedule), ReadProblems)
)]
async fn list_schedule(
    State(app): State<App>,
    _: Allowed<OpsRebuild>,
    Queried(query): Queried<ListSchedule>,
) -> Result<Answer<Schedule>, Problem> {
    let task = query.task.map(String::from);
    let (offset, limit) = (query.page.offset(), query.page.limit());
    let (rows, total) = planned(&app.journal, task.as_deref(), offset, limit).await?;
    Ok(Answer::ok(Schedule {
        now: app.journal.sources().clock.now(),
        work: rows.into_iter().map(PlannedWork::from).collect(),
        pagination: Pagination::of(query.page, total),
    }))
}
