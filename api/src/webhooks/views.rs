//! What staff are answered about webhooks.

use bursar_commands::{Committed, webhooks};
use bursar_domain::kernel::WebhookId;
use bursar_projections::webhooks::WebhookRow;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::Schema;

use super::generation;
use crate::answer::Answer;
use crate::app::App;
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::{Faults, Field, Text, fault, schema};

/// Webhooks, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookList {
    pub(super) webhooks: Vec<WebhookView>,
    pub(super) pagination: Pagination,
}

/// The names of all events that can be asked for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventTypeList {
    #[schema(value_type = Vec<String>)]
    pub(super) event_types: Vec<&'static str>,
}

/// A webhook. Its secret is shown when it is made, and never again.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookView {
    webhook_id: String,
    url: String,
    /// `payment.completed`, `payment.*` or `*`.
    event_types: Vec<String>,
    description: Option<String>,
    /// `ENABLED` or `DISABLED`.
    status: &'static str,
    /// `REQUESTED`, `FAILING` or `GONE`; none while it is enabled.
    disabled_reason: Option<&'static str>,
    /// Until when the secret before signs too; none when there never was one.
    old_secret_until: Option<Timestamp>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl From<WebhookRow> for WebhookView {
    fn from(row: WebhookRow) -> Self {
        Self {
            webhook_id: row.webhook_id.to_string(),
            url: row.url,
            event_types: row.event_types,
            description: row.description,
            status: row.status.as_str(),
            disabled_reason: row.disabled_reason.map(bursar_domain::webhooks::DisableReason::as_str),
            old_secret_until: row.old_secret_until,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    }
}

/// A webhook's secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookSecret {
    /// `SUCCESS`.
    status: &'static str,
    pub(super) webhook_id: String,
    /// What signs from now on: `whsec_` and 32 bytes in base64. Keep it; nobody can show it again.
    secret: String,
    created_at: Timestamp,
    message: &'static str,
}

impl WebhookSecret {
    pub(super) fn of(app: &App, committed: &Committed) -> Result<Self, Problem> {
        let (recorded, generation) = committed.event(generation)?;
        let id: WebhookId = recorded.stream.id.parse().map_err(|_| Problem::internal())?;
        Ok(Self {
            status: "SUCCESS",
            webhook_id: id.to_string(),
            secret: webhooks::secret(&app.keys, id, generation).to_string(),
            created_at: recorded.recorded_at,
            message: "Keep the secret: it is not shown again",
        })
    }
}

/// A webhook to which something was done.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WebhookDone {
    /// `SUCCESS`.
    status: &'static str,
    webhook_id: String,
    /// When it was done; none when it was so already.
    updated_at: Option<Timestamp>,
    message: &'static str,
}

impl WebhookDone {
    pub(super) fn of(committed: &Committed, id: WebhookId, message: &'static str) -> Answer<Self> {
        let updated_at = committed.events.first().map(|recorded| recorded.recorded_at);
        let message = if updated_at.is_some() { message } else { "It was so already" };
        Answer::ok(Self { status: "SUCCESS", webhook_id: id.to_string(), updated_at, message }).at(committed)
    }
}

/// Text that says what it is by how it reads.
macro_rules! read_fields {
    ($($type:ty: $most:literal;)*) => {$(
        impl Field for $type {
            fn read(value: Value) -> Result<Self, Faults> {
                let Text(text) = Text::<$most>::read(value)?;
                text.parse().map_err(|wrong| fault("MALFORMED", &format!("{wrong}")))
            }

            fn schema() -> Schema {
                schema::text(|text| text.min_length(Some(1)).max_length(Some($most)))
            }
        }
    )*};
}

read_fields! {
    webhooks::Address: 2_048;
    bursar_domain::webhooks::EventFilter: 64;
}
