//! Addresses outside the bank that are told what happens in it.

use bursar_domain::kernel::WebhookId;
use bursar_domain::webhooks::{DisableReason, Settings, WebhookEvent};
use bursar_domain::{Event, Kind, Position, Recorded};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};

use crate::page::{Page, Paged};
use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{Record, Records, find as find_record, list_all};
use crate::row::named;

bursar_domain::spelled! {
    /// Whether an address is told anything.
    pub enum WebhookStatus {
        /// It is.
        Enabled = "ENABLED",
        /// Not for now.
        Disabled = "DISABLED",
    }
}

/// An address. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookRow {
    /// Its id.
    pub webhook_id: WebhookId,
    /// Where it is.
    pub url: String,
    /// What it wants to hear.
    pub event_types: Vec<String>,
    /// What it is, in words.
    pub description: Option<String>,
    /// Whether it is told anything.
    pub status: WebhookStatus,
    /// Why not.
    pub disabled_reason: Option<DisableReason>,
    /// How often its secret was replaced.
    pub secret_generation: i64,
    /// Until when the secret before signs too.
    pub old_secret_until: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
    /// Events in its stream.
    pub version: i64,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

impl WebhookRow {
    fn created(event: &Recorded, webhook_id: WebhookId, settings: &Settings) -> Self {
        let mut row = Self {
            webhook_id,
            url: String::new(),
            event_types: Vec::new(),
            description: None,
            status: WebhookStatus::Enabled,
            disabled_reason: None,
            secret_generation: 0,
            old_secret_until: None,
            created_at: event.recorded_at,
            updated_at: event.recorded_at,
            version: event.sequence,
            last_position: event.position,
        };
        row.set(settings);
        row
    }

    fn set(&mut self, settings: &Settings) {
        self.url.clone_from(&settings.url);
        self.event_types = settings.event_types.iter().map(ToString::to_string).collect();
        self.description.clone_from(&settings.description);
    }

    fn take(&mut self, event: &Recorded, what: &WebhookEvent) {
        match what {
            WebhookEvent::Created(settings) | WebhookEvent::Changed(settings) => self.set(settings),
            WebhookEvent::SecretRotated { generation, old_until } => {
                self.secret_generation = (*generation).into();
                self.old_secret_until = Some(*old_until);
            }
            WebhookEvent::Enabled => (self.status, self.disabled_reason) = (WebhookStatus::Enabled, None),
            WebhookEvent::Disabled { reason } => {
                (self.status, self.disabled_reason) = (WebhookStatus::Disabled, Some(*reason));
            }
            WebhookEvent::Removed
            | WebhookEvent::Tested
            | WebhookEvent::Replayed { .. }
            | WebhookEvent::Redelivered { .. } => {}
        }
        self.updated_at = event.recorded_at;
        self.version = event.sequence;
        self.last_position = event.position;
    }
}

impl Record for WebhookRow {
    const TABLE: &'static Table = &Webhooks::TABLES[0];
    const GROUP: &'static str = "webhook_id";
    type Key = WebhookId;
    type Group = WebhookId;

    fn key(&self) -> WebhookId {
        self.webhook_id
    }

    fn group(&self) -> WebhookId {
        self.webhook_id
    }
}

/// One page of all addresses, the newest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn page(pool: &PgPool, page: Page) -> sqlx::Result<Paged<WebhookRow>> {
    list_all(pool, |_| {}, "created_at DESC", page).await
}

/// An address.
///
/// # Errors
/// When the database cannot be read.
pub async fn find(pool: &PgPool, id: WebhookId) -> sqlx::Result<Option<WebhookRow>> {
    find_record(pool, &id).await
}

/// The read model behind [`page`].
#[derive(Debug, Default)]
pub struct Webhooks {
    rows: Records<WebhookRow>,
}

impl ReadModel for Webhooks {
    const NAME: &'static str = "webhooks";
    const READS: &'static [Kind] = &[Kind::Webhook];
    const TABLES: &'static [Table] =
        &[Table { name: "webhooks", key: &["webhook_id"], position: "last_position", append_only: false }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let touched = events.iter().filter(|event| event.stream.kind == Kind::Webhook);
        self.rows.load(db, touched.filter_map(|event| named(event).ok())).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        let Event::Webhook(what) = &event.event else { return Ok(()) };
        let id: WebhookId = named(event)?;
        match what {
            WebhookEvent::Created(settings) => self.rows.insert(WebhookRow::created(event, id, settings)),
            WebhookEvent::Removed => {
                self.rows.remove(&id, &id);
            }
            what => {
                self.rows.change(&id, |_| true, |row| row.take(event, what));
            }
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.rows.pending()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.rows.save(db).await
    }
}
