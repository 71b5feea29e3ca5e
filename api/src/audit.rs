//! Proof of the log, for auditors: signed checkpoints, and that events are below them.
//!
//! A checkpoint is a signed note (C2SP `tlog-checkpoint`): so many events have this Merkle root (RFC 6962). The same notes
//! are written to a file and posted to an address, where nobody who owns the database can change them.

mod explain;

use axum::extract::State;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bursar_commands::journal::{Shown, head, shown};
use bursar_commands::proof::merkle::Hash;
use bursar_commands::proof::{self, Inclusion, Sealed};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, AuditRead};
use crate::openapi::ReadProblems;
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::query;
use crate::request::{InPath, LogPosition, Queried, Tail, Text};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_events))
        .routes(routes!(read_head))
        .routes(routes!(list_checkpoints))
        .routes(routes!(prove_event))
        .routes(routes!(prove_consistency))
        .routes(routes!(explain::explain_account))
        .routes(routes!(explain::explain_loan))
        .routes(routes!(explain::explain_mandate))
}

query! {
    /// Which events are listed.
    ListEvents {
        /// Only of what has this id: a user, an account, a transaction, a loan ...
        id: Option<Text<128>> = "aggregateId",
        /// Which part.
        tail: Tail = "after",
    }
}

query! {
    /// Which checkpoints are listed.
    ListCheckpoints {
        /// Which part.
        page: bursar_projections::Page = "page",
    }
}

query! {
    /// Two sizes of the log.
    ConsistencyQuery {
        /// Events in the older tree; 1 when absent.
        from: Option<LogPosition> = "from",
        /// Events in the newer tree; those of the newest checkpoint when absent.
        to: Option<LogPosition> = "to",
    }
}

/// Events of the log, oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventList {
    events: Vec<EventView>,
    /// `after` of the next part; null when this is the last for now.
    next_after: Option<i64>,
    /// Position up to which the log is sealed.
    sealed_to: i64,
}

/// An event of the log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventView {
    position: i64,
    recorded_at: Timestamp,
    /// The noun: `payment`, `account` ...
    aggregate_type: String,
    aggregate_id: String,
    /// Its place in the stream of the aggregate, from 1.
    sequence: i64,
    /// What happened: `payment.completed` ...
    event_type: String,
    /// The version of its shape.
    event_version: String,
    /// What it says: an object, or the bare name of what says nothing more. What is personal stays sealed, whoever asks:
    /// `{"sealed": "usr_..."}` names whose key opens it.
    #[schema(value_type = Value)]
    payload: Value,
    /// The user who acted, or `system:` and a process.
    actor: String,
    /// The request, or what was due.
    correlation_id: String,
    /// Whether a signed checkpoint covers it.
    sealed: bool,
}

impl EventView {
    fn of(event: Shown, sealed_to: i64) -> Self {
        Self {
            sealed: event.position <= sealed_to,
            position: event.position,
            recorded_at: event.recorded_at,
            aggregate_type: event.aggregate_type,
            aggregate_id: event.aggregate_id,
            sequence: event.sequence,
            event_type: event.event_type,
            event_version: event.event_version,
            payload: event.payload,
            actor: event.metadata.actor.into(),
            correlation_id: event.metadata.correlation_id.into(),
        }
    }
}

/// Where the log ends, and up to where it is sealed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogHead {
    /// Position of the last event; 0 when there is none.
    position: i64,
    /// When it was recorded.
    recorded_at: Timestamp,
    /// The newest checkpoint.
    checkpoint: Option<CheckpointView>,
}

/// Signed roots of the log, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointList {
    /// The public key that checks them, as C2SP `signed-note` writes keys.
    key: String,
    checkpoints: Vec<CheckpointView>,
    pagination: Pagination,
}

/// A root of the log that was signed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckpointView {
    /// Events in the tree: positions 1 to this one.
    size: i64,
    /// SHA-256, base64.
    root_hash: String,
    sealed_at: Timestamp,
    /// The signed note, to be kept and compared.
    note: String,
}

impl From<Sealed> for CheckpointView {
    fn from(sealed: Sealed) -> Self {
        let Sealed { size, root, sealed_at, note } = sealed;
        Self { size, root_hash: BASE64.encode(root), sealed_at, note }
    }
}

/// Proof that an event is in the log (RFC 6962, section 2.1.1).
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InclusionProof {
    /// Where the event stands; the leaf of the tree has this number less one.
    position: i64,
    /// SHA-256 of a zero byte and the event as it is exported, base64.
    leaf_hash: String,
    /// Hashes from the leaf up to the root, base64.
    path: Vec<String>,
    checkpoint: CheckpointView,
}

impl From<Inclusion> for InclusionProof {
    fn from(proof: Inclusion) -> Self {
        Self {
            position: proof.position,
            leaf_hash: BASE64.encode(proof.leaf()),
            path: encoded(proof.path),
            checkpoint: proof.checkpoint.into(),
        }
    }
}

/// An event, and the proof that it is in the log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProvenEvent {
    /// The event, byte by byte as it was hashed; what is personal in it is encrypted.
    #[schema(value_type = Object)]
    event: Box<RawValue>,
    proof: InclusionProof,
}

/// Proof that the log only grew (RFC 6962, section 2.1.2).
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsistencyProof {
    /// Events in the older tree.
    from: i64,
    /// Events in the newer tree.
    to: i64,
    /// Hashes that lead from both trees to their roots, base64.
    path: Vec<String>,
}

fn encoded(path: Vec<Hash>) -> Vec<String> {
    path.into_iter().map(|hash| BASE64.encode(hash)).collect()
}

/// Proof that the event at `position` is in the log; none while it is not sealed.
pub(crate) async fn inclusion(app: &App, position: i64) -> Result<Option<InclusionProof>, Problem> {
    Ok(proof::inclusion(&app.pool, position).await?.map(InclusionProof::from))
}

/// The newest checkpoint.
async fn newest(app: &App) -> Result<Option<Sealed>, Problem> {
    Ok(proof::checkpoints(&app.pool, 0, 1).await?.pop())
}

/// Staff: lists events of the log, of one thing or of all, oldest first. What is personal in them stays sealed.
#[utoipa::path(
    get, path = "/v1/audit/events", tag = "Audit", params(ListEvents),
    responses((status = 200, description = "The events.", body = EventList), ReadProblems)
)]
async fn list_events(
    State(app): State<App>,
    _: Allowed<AuditRead>,
    Queried(ListEvents { id, tail }): Queried<ListEvents>,
) -> Result<Answer<EventList>, Problem> {
    let id = id.map(String::from);
    let sealed_to = newest(&app).await?.map_or(0, |newest| newest.size);
    let found = shown(&app.pool, id.as_deref(), tail.after, tail.limit.saturating_add(1)).await?;
    let limit = usize::try_from(tail.limit).unwrap_or(usize::MAX);
    let has_more = found.len() > limit;
    let events: Vec<_> = found.into_iter().take(limit).map(|event| EventView::of(event, sealed_to)).collect();
    let next_after = events.last().filter(|_| has_more).map(|event| event.position);
    Ok(Answer::ok(EventList { events, next_after, sealed_to }))
}

/// Staff: where the log ends, and up to where it is sealed.
#[utoipa::path(
    get, path = "/v1/audit/head", tag = "Audit",
    responses((status = 200, description = "The head.", body = LogHead), ReadProblems)
)]
async fn read_head(State(app): State<App>, _: Allowed<AuditRead>) -> Result<Answer<LogHead>, Problem> {
    let checkpoint = newest(&app).await?.map(CheckpointView::from);
    let (position, recorded_at) = head(&app.pool).await?;
    Ok(Answer::ok(LogHead { position, recorded_at, checkpoint }))
}

/// Staff: lists the signed roots of the log, newest first.
#[utoipa::path(
    get, path = "/v1/audit/checkpoints", tag = "Audit", params(ListCheckpoints),
    responses((status = 200, description = "The checkpoints.", body = CheckpointList), ReadProblems)
)]
async fn list_checkpoints(
    State(app): State<App>,
    _: Allowed<AuditRead>,
    Queried(list): Queried<ListCheckpoints>,
) -> Result<Answer<CheckpointList>, Problem> {
    let total = proof::count(&app.pool).await?;
    let found = proof::checkpoints(&app.pool, list.page.offset(), list.page.limit()).await?;
    Ok(Answer::ok(CheckpointList {
        key: app.signer.verifier().to_string(),
        checkpoints: found.into_iter().map(CheckpointView::from).collect(),
        pagination: Pagination::of(list.page, total),
    }))
}

/// Staff: an event with the proof that it is in the log. 404 until it is sealed, about a second after it was written.
#[utoipa::path(
    get, path = "/v1/audit/events/{position}/proof", tag = "Audit", params(InPath<LogPosition>),
    responses((status = 200, description = "The event and its proof.", body = ProvenEvent), ReadProblems)
)]
async fn prove_event(
    State(app): State<App>,
    _: Allowed<AuditRead>,
    position: InPath<LogPosition>,
) -> Result<Answer<ProvenEvent>, Problem> {
    let missing = || Problem::not_found("event");
    let proof = proof::inclusion(&app.pool, position.get()?.0).await?.ok_or_else(missing)?;
    // It was written as JSON.
    let event = serde_json::from_slice(&proof.record).map_err(|_| missing())?;
    Ok(Answer::ok(ProvenEvent { event, proof: proof.into() }))
}

/// Staff: proof that the log at one size begins with the log at a smaller one. 404 when it is not sealed that far.
#[utoipa::path(
    get, path = "/v1/audit/consistency", tag = "Audit", params(ConsistencyQuery),
    responses((status = 200, description = "The proof.", body = ConsistencyProof), ReadProblems)
)]
async fn prove_consistency(
    State(app): State<App>,
    _: Allowed<AuditRead>,
    Queried(sizes): Queried<ConsistencyQuery>,
) -> Result<Answer<ConsistencyProof>, Problem> {
    let missing = || Problem::not_found("checkpoint");
    let to = match sizes.to {
        Some(to) => to.0,
        None => newest(&app).await?.ok_or_else(missing)?.size,
    };
    let from = sizes.from.map_or(1, |from| from.0);
    if from > to {
        return Err(missing());
    }
    let path = proof::consistency(&app.pool, from.unsigned_abs(), to.unsigned_abs()).await?;
    Ok(Answer::ok(ConsistencyProof { from, to, path: encoded(path.ok_or_else(missing)?) }))
}
