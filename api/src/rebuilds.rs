//! Staff: the read models, how far they are, and having one built anew or compared with the log while the bank goes on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use bursar_commands::{Committed, Context, rebuilds};
use bursar_domain::Event;
use bursar_domain::codec::Codec;
use bursar_domain::kernel::UserId;
use bursar_domain::rebuilds::RebuildEvent;
use bursar_projections::{
    Difference, Log, ModelState, ModelStatus, Order, ParkedRows, RebuildError, RebuildState, RebuildStatus,
    Rebuilding, read_status, rebuild_status,
};
use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, OpsRebuild};
use crate::openapi::{ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{InPath, ModelName, Write};

/// How often a rebuild that was ordered is tried to be begun while the database is away, and the pause between.
const TRIES: u32 = 60;
const PAUSE: Duration = Duration::from_secs(1);

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(list_projections)).routes(routes!(order_rebuild, read_rebuild))
}

/// The rebuilds that this server carries out.
pub struct Rebuilds {
    codec: Arc<Codec>,
    /// None once the server stops.
    running: Mutex<Option<JoinSet<()>>>,
}

impl Rebuilds {
    /// None so far. `codec` reads the log.
    #[must_use]
    pub fn new(codec: Arc<Codec>) -> Self {
        Self { codec, running: Mutex::new(Some(JoinSet::new())) }
    }

    /// Stops what runs; whoever is asked next goes on there.
    pub async fn close(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(mut running) = running {
            running.shutdown().await;
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> Result<(), Problem> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(running) = running.as_mut() else {
            return Err(Problem::unavailable("the server is stopping", 1));
        };
        // Those that have ended are only waiting to be counted.
        while running.try_join_next().is_some() {}
        running.spawn(task);
        Ok(())
    }
}

request! {
    /// A rebuild that staff want.
    RebuildOrder {
        /// Compare only, and leave the tables as they are; false when absent.
        verify: Option<bool> = "verify",
    }
}

/// A rebuild that was ordered. `GET` on the same address tells how it goes on.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RebuildOrdered {
    /// The read model.
    name: String,
    /// `RUNNING`.
    state: &'static str,
    verify: bool,
    ordered_at: Timestamp,
    message: &'static str,
}

/// The rebuild of a read model that runs, or what came of the last.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RebuildView {
    /// The read model.
    name: &'static str,
    /// `NONE` when there was none yet, `RUNNING`, `INTERRUPTED` when the server that carried it out is gone (order it again
    /// and it goes on there), `SWAPPED` when the tables were replaced, `EQUAL` or `DIFFERENT` after a check, `FAILED`.
    state: &'static str,
    /// Whether the tables are compared only.
    verify: bool,
    /// The last event in the tables that are being made.
    position: i64,
    /// Where they are being brought to; it moves while the bank is at work.
    target: i64,
    /// Events of the log passed a second.
    events_per_second: i64,
    started_at: Option<Timestamp>,
    finished_at: Option<Timestamp>,
    /// The position at which the tables were compared, once they are.
    compared_at: Option<i64>,
    rows_compared: i64,
    /// How many of them differ.
    differing: i64,
    /// The first of them in the order of the log, 100 of each table at most.
    differences: Vec<RowDifference>,
    /// Why it failed or was interrupted.
    reason: Option<String>,
}

/// A row that is not what the log says. What is in it is not shown: it may be personal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RowDifference {
    table: String,
    /// The columns of its primary key.
    #[schema(value_type = Object)]
    key: serde_json::Value,
    /// From this event on, table and log disagree.
    first_position: i64,
    /// `CHANGED`, `MISSING` from the table, or `EXTRA` in it.
    kind: &'static str,
    /// The columns that differ.
    columns: Vec<String>,
}

/// The read models.
#[derive(Debug, Serialize, ToSchema)]
pub struct ProjectionList {
    projections: Vec<ProjectionView>,
}

/// How far a read model is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectionView {
    name: &'static str,
    /// The last event that its tables contain.
    position: i64,
    /// The last event of the log.
    head: i64,
    /// Events between the two.
    lag: i64,
    /// `FOLLOWING`, or `PARKED` at an event that it cannot take.
    state: &'static str,
    /// The event that it cannot take.
    poison: Option<i64>,
    /// Why it cannot be taken.
    reason: Option<String>,
    /// Rows it has left behind at events that they cannot take; the others go on.
    parked: Vec<ParkedRowSet>,
    /// Of the rebuild that runs, or of the last: see there.
    rebuild: &'static str,
}

/// Rows that a read model has left behind. `bursar projections retry` or a rebuild brings them back once it can.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ParkedRowSet {
    /// An account, a person or a transaction.
    key: String,
    /// The event that cannot be taken.
    position: i64,
    /// Why.
    error: String,
}

impl From<ParkedRows> for ParkedRowSet {
    fn from(rows: ParkedRows) -> Self {
        Self { key: rows.row_set, position: rows.position, error: rows.reason }
    }
}

impl ProjectionView {
    fn of(status: ModelStatus, rebuild: RebuildState) -> Self {
        let ModelStatus { name, position, head, lag, state, parked } = status;
        let parked = parked.into_iter().map(ParkedRowSet::from).collect();
        let (state, poison, reason) = match state {
            ModelState::Following => ("FOLLOWING", None, None),
            ModelState::Parked { position, reason } => ("PARKED", Some(position), Some(reason)),
        };
        Self { name, position, head, lag, state, poison, reason, parked, rebuild: rebuild.as_str() }
    }
}

impl From<Difference> for RowDifference {
    fn from(difference: Difference) -> Self {
        let Difference { table, key, first_position, kind, columns } = difference;
        Self { table, key, first_position, kind: kind.as_str(), columns }
    }
}

impl From<RebuildStatus> for RebuildView {
    fn from(status: RebuildStatus) -> Self {
        Self {
            name: status.model,
            state: status.state.as_str(),
            verify: status.verify,
            position: status.position,
            target: status.target,
            events_per_second: status.events_per_second,
            started_at: status.started_at,
            finished_at: status.finished_at,
            compared_at: status.compared_at,
            rows_compared: status.rows_compared,
            differing: status.differing,
            differences: status.differences.into_iter().map(RowDifference::from).collect(),
            reason: status.reason,
        }
    }
}

/// Staff: lists the read models and how far each has followed the log.
#[utoipa::path(
    get, path = "/v1/staff/ops/projections", tag = "Operations",
    responses((status = 200, description = "The read models.", body = ProjectionList), ReadProblems)
)]
async fn list_projections(
    State(app): State<App>,
    _: Allowed<OpsRebuild>,
) -> Result<Answer<ProjectionList>, Problem> {
    let mut projections = Vec::new();
    for status in read_status(&app.pool).await? {
        let rebuild = rebuild_status(&app.pool, status.name).await.map_err(unreadable)?;
        projections.push(ProjectionView::of(status, rebuild.state));
    }
    Ok(Answer::ok(ProjectionList { projections }))
}

/// Staff: how the rebuild of a read model goes on, or what came of the last.
#[utoipa::path(
    get, path = "/v1/staff/ops/projections/{name}/rebuild", tag = "Operations", params(InPath<ModelName>),
    responses((status = 200, description = "The rebuild.", body = RebuildView), ReadProblems)
)]
async fn read_rebuild(
    State(app): State<App>,
    _: Allowed<OpsRebuild>,
    name: InPath<ModelName>,
) -> Result<Answer<RebuildView>, Problem> {
    let ModelName(model) = name.get()?;
    Ok(Answer::ok(rebuild_status(&app.pool, model).await.map_err(unreadable)?.into()))
}

/// Staff: builds a read model anew from the log while the bank goes on, tells which rows differed, and replaces its tables.
/// 409 `REBUILD_RUNNING` while one runs, at whatever server. One that was interrupted goes on where it stopped.
#[utoipa::path(
    post, path = "/v1/staff/ops/projections/{name}/rebuild", tag = "Operations",
    params(InPath<ModelName>, WriteHeaders), request_body = RebuildOrder,
    responses((status = 202, description = "Begun.", body = RebuildOrdered), WriteProblems)
)]
async fn order_rebuild(
    State(app): State<App>,
    name: InPath<ModelName>,
    write: Write<OpsRebuild, RebuildOrder>,
) -> Result<Answer<RebuildOrdered>, Problem> {
    let Write { caller, body, context, .. } = write;
    let ModelName(model) = name.get()?;
    let (answers, answered) = oneshot::channel();
    let order = Wanted { context, by: caller.user(), model, verify: body.verify.unwrap_or(false) };
    // A caller that hangs up between the order and its beginning cancels neither.
    app.rebuilds.spawn(carry_out(app.clone(), order, answers))?;
    let committed = answered.await.map_err(|_| Problem::unavailable("the server is stopping", 1))??;
    let (recorded, ordered) = committed.event(|event| match event {
        Event::Rebuild(RebuildEvent::Ordered(ordered)) => Some(ordered),
        _ => None,
    })?;
    let result = RebuildOrdered {
        name: recorded.stream.id.to_string(),
        state: RebuildState::Running.as_str(),
        verify: ordered.verify,
        ordered_at: ordered.at,
        message: "Rebuild begun",
    };
    let location = format!("/v1/staff/ops/projections/{model}/rebuild");
    Ok(Answer::ok(result).at(&committed).accepted(&location))
}

/// What a member of staff wants.
struct Wanted {
    context: Context,
    by: UserId,
    model: &'static str,
    verify: bool,
}

/// Records the order and carries it out; whoever waits is answered when it has begun, or could not be at once.
async fn carry_out(app: App, wanted: Wanted, answers: oneshot::Sender<Result<Committed, Problem>>) {
    let (model, verify) = (wanted.model, wanted.verify);
    let committed = match order(&app, wanted).await {
        Ok(committed) => committed,
        // Whoever asked may have hung up; so below.
        Err(problem) => return drop(answers.send(Err(problem))),
    };
    let order = Order { verify, at: committed.position };
    let mut waiting = Some((answers, committed));
    let clock = Arc::clone(&app.journal.sources().clock);
    let log = Log { pool: &app.pool, codec: &app.rebuilds.codec, clock: &*clock };
    for _ in 0..TRIES {
        let begun = begin(log, model, order).await;
        if let Some((answers, committed)) = waiting.take() {
            drop(answers.send(Ok(committed)));
        }
        match begun {
            Ok(Some(rebuilding)) => {
                match rebuilding.finish().await {
                    Ok(_) => tracing::info!(model, order.at, "a rebuild has ended"),
                    Err(error) => tracing::error!(model, order.at, %error, "a rebuild has failed"),
                }
                return;
            }
            Ok(None) => return,
            // The order is in the log; what keeps it from being carried out may pass.
            Err(error) => tracing::warn!(model, order.at, %error, "a rebuild cannot begin yet"),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

async fn order(app: &App, wanted: Wanted) -> Result<Committed, Problem> {
    let Wanted { context, by, model, verify } = wanted;
    let state = rebuild_status(&app.pool, model).await.map_err(unreadable)?.state;
    let is_running = state == RebuildState::Running;
    Ok(rebuilds::order(&app.journal, context, by, model, verify, is_running).await?)
}

/// Begins what was ordered; none when somebody has done so, or somebody else is at it.
async fn begin<'a>(
    log: Log<'a>,
    model: &'static str,
    order: Order,
) -> Result<Option<Rebuilding<'a>>, RebuildError> {
    let last = rebuild_status(log.pool, model).await?;
    if last.ordered_at > order.at || (last.ordered_at == order.at && last.finished_at.is_some()) {
        return Ok(None);
    }
    match Rebuilding::begin(log, &[model], order, &()).await {
        Ok(rebuilding) => Ok(Some(rebuilding)),
        Err(RebuildError::AlreadyRunning(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn unreadable(error: RebuildError) -> Problem {
    match error {
        RebuildError::Database(error) => error.into(),
        RebuildError::UnknownModel(_) => Problem::not_found("read model"),
        RebuildError::AlreadyRunning(_) | RebuildError::Poison { .. } | RebuildError::InUse => {
            Problem::internal()
        }
    }
}
