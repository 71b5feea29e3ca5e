//! For whoever runs the server: is it alive, is it ready, how is it doing.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use bursar_projections::ModelState;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read_health))
        .routes(routes!(read_readiness))
        .routes(routes!(read_metrics))
}

/// Whether the process answers.
#[derive(Debug, Serialize, ToSchema)]
pub struct Health {
    /// `UP`.
    status: &'static str,
}

/// Whether the server can do its work.
#[derive(Debug, Serialize, ToSchema)]
pub struct Readiness {
    /// `READY` or `NOT_READY`.
    status: &'static str,
    /// Whether the database answers.
    database: bool,
    /// Whether what was written keeps the rules of the ledger; nothing is written while it does not.
    ledger: bool,
    projections: Vec<ModelReadiness>,
}

/// How far a read model is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelReadiness {
    name: &'static str,
    /// Position it has reached.
    position: i64,
    /// Events it is behind.
    lag: i64,
    /// Whether it stopped at an event it cannot take.
    parked: bool,
    /// How many rows, by account, person or transaction, it has left behind at events they cannot take. The others go on, so
    /// that the server is ready all the same.
    parked_row_sets: usize,
}

/// Whether the process is alive.
#[utoipa::path(
    get, path = "/healthz", tag = "Operations", security(()),
    responses((status = 200, description = "Alive.", body = Health))
)]
async fn read_health() -> Json<Health> {
    Json(Health { status: "UP" })
}

/// Whether the database answers, the ledger keeps its rules and the read models follow the log.
#[utoipa::path(
    get, path = "/readyz", tag = "Operations", security(()),
    responses(
        (status = 200, description = "Ready.", body = Readiness),
        (status = 503, description = "Not ready.", body = Readiness),
    )
)]
async fn read_readiness(State(app): State<App>) -> (StatusCode, Json<Readiness>) {
    let database = sqlx::query("SELECT 1").execute(&app.pool).await.is_ok();
    let models = app.models();
    let projections: Vec<_> = models
        .iter()
        .map(|model| ModelReadiness {
            name: model.name,
            position: model.position,
            lag: model.lag,
            parked: matches!(model.state, ModelState::Parked { .. }),
            parked_row_sets: model.parked.len(),
        })
        .collect();
    let follow = |model: &ModelReadiness| !model.parked && model.lag <= app.config.projections.most_lag;
    // No models at all means that the server is stopping.
    let ledger = !app.journal.is_halted();
    let ready = database && ledger && !projections.is_empty() && projections.iter().all(follow);
    let (code, status) =
        if ready { (StatusCode::OK, "READY") } else { (StatusCode::SERVICE_UNAVAILABLE, "NOT_READY") };
    (code, Json(Readiness { status, database, ledger, projections }))
}

/// Metrics in the Prometheus text format.
#[utoipa::path(
    get, path = "/metrics", tag = "Operations", security(()),
    responses((status = 200, description = "Metrics.", body = String, content_type = "text/plain"))
)]
async fn read_metrics(State(app): State<App>) -> Response {
    let pool = [("state", "idle", app.pool.num_idle()), ("state", "open", app.pool.size() as usize)];
    for (label, value, connections) in pool {
        let connections = u32::try_from(connections).unwrap_or(u32::MAX);
        metrics::gauge!("bursar_pool_connections", label => value).set(f64::from(connections));
    }
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], app.metrics.render()).into_response()
}
