//! Webhooks: who outside the bank is told what happens in it.

mod address;
mod deliver;
mod guard;
mod send;
mod store;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bursar_domain::Position;
use bursar_domain::kernel::WebhookId;
use bursar_domain::webhooks::{DisableReason, MOST, Settings, Webhook, WebhookCommand, WebhookError};
use sqlx::PgPool;
use zeroize::Zeroizing;

pub use address::{Address, NotAnAddress};
pub use deliver::{Deliverer, DeliveryOptions, message_id};
pub use guard::{Lookup, SystemLookup};
pub use send::NoClient;
pub use store::{Delivery, DeliveryStatus};

use crate::keys::Keys;
use crate::owned::{CommandError, NotFound};
use crate::{Committed, Context, Journal, Unit};

/// The secret of an address as its owner is shown it (Standard Webhooks): `whsec_` and base64.
#[must_use]
pub fn secret(keys: &Keys, id: WebhookId, generation: u32) -> Zeroizing<String> {
    Zeroizing::new(format!("whsec_{}", BASE64.encode(keys.webhook_secret(id, generation).as_slice())))
}

/// Tells an address what happens from now on.
///
/// # Errors
/// `LIMIT_EXCEEDED`.
pub async fn create(
    journal: &Journal,
    context: Context,
    settings: Settings,
) -> Result<Committed, CommandError> {
    // Two at once may be one too many, which harms nobody.
    if !journal.knows(&context).await? && all(journal).await?.len() >= MOST {
        return Err(CommandError::refused(WebhookError::Full { allowed: MOST }));
    }
    let id = WebhookId::mint(journal.sources());
    let unit = Unit::new(context).create(id, WebhookCommand::Create(Box::new(settings)));
    Ok(journal.submit(unit).await?)
}

/// Has an address do or be something else.
///
/// # Errors
/// `NOT_FOUND`, `INVALID_STATE`.
pub async fn ask(
    journal: &Journal,
    context: Context,
    id: WebhookId,
    command: WebhookCommand,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step(id, command)).await?)
}

/// Signs what an address is told with a new secret; the old one signs too for a day.
///
/// # Errors
/// `NOT_FOUND`.
pub async fn rotate_secret(
    journal: &Journal,
    context: Context,
    id: WebhookId,
) -> Result<Committed, CommandError> {
    let at = bursar_domain::kernel::micros(journal.sources().clock.now());
    ask(journal, context, id, WebhookCommand::RotateSecret { at }).await
}

/// Tells an address nothing for now, because staff want it so.
///
/// # Errors
/// `NOT_FOUND`, `INVALID_STATE`.
pub async fn disable(journal: &Journal, context: Context, id: WebhookId) -> Result<Committed, CommandError> {
    ask(journal, context, id, WebhookCommand::Disable { reason: DisableReason::Requested }).await
}

/// Tells an address once more what it was told of one event, or is to be.
///
/// # Errors
/// `NOT_FOUND` when it never was to be told of it; `INVALID_STATE`.
pub async fn redeliver(
    journal: &Journal,
    pool: &PgPool,
    context: Context,
    id: WebhookId,
    position: Position,
) -> Result<Committed, CommandError> {
    let known = store::list(pool, id, position.saturating_sub(1), 1, None).await?;
    if !known.iter().any(|delivery| delivery.position == position) && !journal.knows(&context).await? {
        return Err(CommandError::refused(NotFound("delivery")));
    }
    ask(journal, context, id, WebhookCommand::Redeliver { position }).await
}

/// What an address was told or is to be told of events after a position, in the order of the log.
///
/// # Errors
/// `NOT_FOUND` when there is no such address.
pub async fn deliveries(
    journal: &Journal,
    pool: &PgPool,
    id: WebhookId,
    after: Position,
    limit: u32,
    status: Option<DeliveryStatus>,
) -> Result<Vec<Delivery>, CommandError> {
    let (webhook, _) = journal.load::<Webhook>(&id.to_string()).await?;
    if webhook.endpoint().is_none() {
        return Err(CommandError::refused(WebhookError::Unknown));
    }
    Ok(store::list(pool, id, after, limit.into(), status).await?)
}

/// All addresses that there are, told or not.
async fn all(journal: &Journal) -> Result<Vec<(WebhookId, Webhook)>, CommandError> {
    let mut all = Vec::new();
    for id in journal.webhooks().await? {
        let (webhook, _) = journal.load::<Webhook>(&id.to_string()).await?;
        if webhook.endpoint().is_some() {
            all.push((id, webhook));
        }
    }
    Ok(all)
}
