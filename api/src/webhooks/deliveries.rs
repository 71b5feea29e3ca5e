//! What webhooks were told, and telling it again.

use axum::extract::State;
use bursar_commands::webhooks::{self, Delivery, DeliveryStatus, message_id};
use bursar_domain::kernel::WebhookId;
use bursar_domain::webhooks::WebhookCommand;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::views::WebhookDone;
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, WebhookAdmin};
use crate::openapi::{IfMatch, ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request::{After, InPath, LogPosition, Nothing, OneOf, Queried, Whole, Write};
use crate::{query, request};

/// The routes of this area.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(list_webhook_deliveries))
        .routes(routes!(replay_webhook_delivery))
        .routes(routes!(replay_webhook))
        .routes(routes!(test_webhook))
}

query! {
    /// Which deliveries are listed.
    ListDeliveries {
        /// Those of events after this position; from the first on when absent.
        after: Option<After> = "after",
        /// How many, 1 to 1000; 100 when absent.
        limit: Option<Whole<1, 1000>> = "limit",
        /// Only those.
        status: Option<OneOf<DeliveryStatus>> = "status",
    }
}

request! {
    /// What a webhook is told once more.
    ReplayRequest {
        /// Everything after this position; 0 for everything that ever happened.
        after: After = "after",
    }
}

/// What a webhook was told or is to be told, in the order of the log.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookDeliveryList {
    deliveries: Vec<WebhookDelivery>,
    /// What `after` must be to go on; none at the end.
    next_after: Option<i64>,
}

/// What a webhook was told of an event, or is to be told.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookDelivery {
    /// The `webhook-id` of each try.
    message_id: String,
    /// The event's place in the log.
    position: i64,
    event_type: String,
    /// `PENDING`, `DELIVERED` or `FAILED`.
    status: String,
    /// Tries since it was ordered.
    attempts: i32,
    /// When it is tried next; none when it is not.
    next_attempt_at: Option<Timestamp>,
    last_attempt_at: Option<Timestamp>,
    delivered_at: Option<Timestamp>,
    /// HTTP status of the last answer; none when there was none.
    response_status: Option<i32>,
    /// The first 500 bytes of the last answer.
    response: Option<String>,
    /// Why there was no answer: `BLOCKED_ADDRESS`, `TIMEOUT`, `UNREACHABLE`.
    error: Option<String>,
}

impl WebhookDelivery {
    fn of(id: WebhookId, delivery: Delivery) -> Self {
        let pending = delivery.status == DeliveryStatus::Pending.as_str();
        Self {
            message_id: message_id(id, delivery.position),
            position: delivery.position,
            event_type: delivery.event_type,
            status: delivery.status,
            attempts: delivery.attempts,
            next_attempt_at: pending.then_some(delivery.due_at),
            last_attempt_at: delivery.attempted_at,
            delivered_at: delivery.delivered_at,
            response_status: delivery.response_status,
            response: delivery.response,
            error: delivery.error,
        }
    }
}

/// Staff: lists what a webhook was told or is to be told, in the order of the log.
#[utoipa::path(
    get, path = "/v1/staff/webhooks/{webhookId}/deliveries", tag = "Webhooks",
    params(InPath<WebhookId>, ListDeliveries),
    responses((status = 200, description = "The deliveries.", body = WebhookDeliveryList), ReadProblems)
)]
async fn list_webhook_deliveries(
    State(app): State<App>,
    _: Allowed<WebhookAdmin>,
    id: InPath<WebhookId>,
    Queried(list): Queried<ListDeliveries>,
) -> Result<Answer<WebhookDeliveryList>, Problem> {
    let id = id.get()?;
    let (after, limit) =
        (list.after.map_or(0, |After(after)| after), list.limit.map_or(100, |Whole(limit)| limit));
    let status = list.status.map(|OneOf(status)| status);
    let found = webhooks::deliveries(&app.journal, &app.pool, id, after, limit, status).await?;
    let whole = u32::try_from(found.len()).is_ok_and(|found| found >= limit);
    let next_after = found.last().filter(|_| whole).map(|last| last.position);
    let deliveries = found.into_iter().map(|delivery| WebhookDelivery::of(id, delivery)).collect();
    Ok(Answer::ok(WebhookDeliveryList { deliveries, next_after }))
}

/// Staff: tells a webhook one thing once more, under the same `webhook-id`.
#[utoipa::path(
    post, path = "/v1/staff/webhooks/{webhookId}/deliveries/{position}/replay", tag = "Webhooks",
    params(InPath<WebhookId>, InPath<LogPosition>, WriteHeaders, IfMatch),
    responses((status = 200, description = "It is told once more.", body = WebhookDone), WriteProblems)
)]
async fn replay_webhook_delivery(
    State(app): State<App>,
    id: InPath<WebhookId>,
    position: InPath<LogPosition>,
    write: Write<WebhookAdmin, Nothing>,
) -> Result<Answer<WebhookDone>, Problem> {
    let (id, LogPosition(position)) = (id.get()?, position.get()?);
    let committed = webhooks::redeliver(&app.journal, &app.pool, write.context, id, position).await?;
    Ok(WebhookDone::of(&committed, id, "The event is delivered once more"))
}

/// Staff: tells a webhook everything that it wants to hear and that happened after a position, once more or for the first time.
#[utoipa::path(
    post, path = "/v1/staff/webhooks/{webhookId}/replay", tag = "Webhooks",
    params(InPath<WebhookId>, WriteHeaders, IfMatch), request_body = ReplayRequest,
    responses((status = 200, description = "All of it is told once more.", body = WebhookDone), WriteProblems)
)]
async fn replay_webhook(
    State(app): State<App>,
    id: InPath<WebhookId>,
    write: Write<WebhookAdmin, ReplayRequest>,
) -> Result<Answer<WebhookDone>, Problem> {
    let Write { body, context, .. } = write;
    let (id, After(after)) = (id.get()?, body.after);
    let replay = WebhookCommand::Replay { after };
    let committed = webhooks::ask(&app.journal, context, id, replay).await?;
    Ok(WebhookDone::of(&committed, id, "The events are delivered once more"))
}

/// Staff: tells a webhook that this is a test (`webhook.tested`), whatever it wants to hear.
#[utoipa::path(
    post, path = "/v1/staff/webhooks/{webhookId}/test", tag = "Webhooks",
    params(InPath<WebhookId>, WriteHeaders, IfMatch),
    responses((status = 200, description = "It is told.", body = WebhookDone), WriteProblems)
)]
async fn test_webhook(
    State(app): State<App>,
    id: InPath<WebhookId>,
    write: Write<WebhookAdmin, Nothing>,
) -> Result<Answer<WebhookDone>, Problem> {
    let id = id.get()?;
    let committed = webhooks::ask(&app.journal, write.context, id, WebhookCommand::Test).await?;
    Ok(WebhookDone::of(&committed, id, "The test is delivered"))
}
