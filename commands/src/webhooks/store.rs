//! The SQL of deliveries.

use bursar_domain::Position;
use bursar_domain::kernel::WebhookId;
use bursar_domain::webhooks::WebhookEvent;
use jiff::Timestamp;
use jiff_sqlx::ToSqlx as _;
use sqlx::{PgConnection, PgPool};

use super::send::Attempted;
use crate::journal::StoreError;

/// Events looked at by one statement.
const PAGE: Position = 5_000;
/// Deliveries that may wait for an address; while there are as many, it follows the log no further.
const MOST_WAITING: i64 = 10_000;

bursar_domain::spelled! {
    /// Where a delivery is.
    pub enum DeliveryStatus {
        /// It is tried, now or later.
        Pending = "PENDING",
        /// It was taken.
        Delivered = "DELIVERED",
        /// It is tried no more.
        Failed = "FAILED",
    }
}

/// What an address was told, or is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Position of the event in the log.
    pub position: Position,
    /// Its name.
    pub event_type: String,
    /// Where it is.
    pub status: String,
    /// How often it was tried since it was ordered.
    pub attempts: i32,
    /// When it is tried next, while it is pending.
    pub due_at: Timestamp,
    /// When it was last tried.
    pub attempted_at: Option<Timestamp>,
    /// When it was taken.
    pub delivered_at: Option<Timestamp>,
    /// The HTTP status of the last answer.
    pub response_status: Option<i32>,
    /// The beginning of the last answer.
    pub response: Option<String>,
    /// Why there was none.
    pub error: Option<String>,
}

/// A delivery that is ours to try.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) position: Position,
    pub(super) attempts: i32,
}

/// Deliveries of a webhook after a position, in the order of the log.
pub(super) async fn list(
    pool: &PgPool,
    id: WebhookId,
    after: Position,
    limit: i64,
    status: Option<DeliveryStatus>,
) -> Result<Vec<Delivery>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT position, event_type, status, attempts, due_at AS "due_at: jiff_sqlx::Timestamp",
                  attempted_at AS "attempted_at: jiff_sqlx::Timestamp",
                  delivered_at AS "delivered_at: jiff_sqlx::Timestamp", response_status, response, error
             FROM webhook_deliveries
            WHERE webhook_id = $1 AND position > $2 AND ($4::text IS NULL OR status = $4)
            ORDER BY position LIMIT $3"#,
        id.to_string(),
        after,
        limit,
        status.map(DeliveryStatus::as_str),
    )
    .fetch_all(pool)
    .await?;
    let rows = rows.into_iter().map(|row| Delivery {
        position: row.position,
        event_type: row.event_type,
        status: row.status,
        attempts: row.attempts,
        due_at: row.due_at.to_jiff(),
        attempted_at: row.attempted_at.map(jiff_sqlx::Timestamp::to_jiff),
        delivered_at: row.delivered_at.map(jiff_sqlx::Timestamp::to_jiff),
        response_status: row.response_status,
        response: row.response,
        error: row.error,
    });
    Ok(rows.collect())
}

/// Makes sure that a webhook has a cursor, locks it, and says how many of the webhook's own events are carried out.
pub(super) async fn lock(db: &mut PgConnection, id: WebhookId) -> Result<i64, StoreError> {
    let id = id.to_string();
    sqlx::query!(
        "INSERT INTO webhook_cursors (webhook_id, sequence, position) VALUES ($1, 0, 0) ON CONFLICT DO NOTHING",
        id
    )
    .execute(&mut *db)
    .await?;
    let sequence =
        sqlx::query_scalar!("SELECT sequence FROM webhook_cursors WHERE webhook_id = $1 FOR UPDATE", id);
    Ok(sequence.fetch_one(db).await?)
}

/// Carries out what an event of the webhook itself orders.
pub(super) async fn carry_out(
    db: &mut PgConnection,
    id: WebhookId,
    sequence: i64,
    position: Position,
    event: &WebhookEvent,
    now: Timestamp,
) -> Result<(), StoreError> {
    let name = id.to_string();
    match event {
        WebhookEvent::Created(_) => {
            let follow = sqlx::query!(
                "UPDATE webhook_cursors SET position = $2 WHERE webhook_id = $1",
                name,
                position
            );
            follow.execute(&mut *db).await?;
        }
        // Whatever was tried in vain is tried anew.
        WebhookEvent::Enabled => again(db, &name, 0, now, false).await?,
        WebhookEvent::Replayed { after } => {
            again(db, &name, *after, now, true).await?;
            let follow = sqlx::query!(
                "UPDATE webhook_cursors SET position = LEAST(position, $2) WHERE webhook_id = $1",
                name,
                after
            );
            follow.execute(&mut *db).await?;
        }
        WebhookEvent::Tested => order(db, &name, position, now).await?,
        WebhookEvent::Redelivered { position } => order(db, &name, *position, now).await?,
        WebhookEvent::Removed => {
            sqlx::query!("DELETE FROM webhook_deliveries WHERE webhook_id = $1", name)
                .execute(&mut *db)
                .await?;
        }
        WebhookEvent::Changed(_) | WebhookEvent::SecretRotated { .. } | WebhookEvent::Disabled { .. } => {}
    }
    sqlx::query!("UPDATE webhook_cursors SET sequence = $2 WHERE webhook_id = $1", name, sequence)
        .execute(db)
        .await?;
    Ok(())
}

/// Orders deliveries after a position anew: all of them, or those that were not taken.
async fn again(
    db: &mut PgConnection,
    id: &str,
    after: Position,
    now: Timestamp,
    taken_too: bool,
) -> Result<(), StoreError> {
    sqlx::query!(
        "UPDATE webhook_deliveries SET status = 'PENDING', attempts = 0, due_at = $3, begun_at = NULL, delivered_at = NULL
          WHERE webhook_id = $1 AND position > $2 AND ($4 OR delivered_at IS NULL)",
        id,
        after,
        now.to_sqlx() as _,
        taken_too,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Orders the delivery of one event, also when it was delivered before.
async fn order(
    db: &mut PgConnection,
    id: &str,
    position: Position,
    now: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query!(
        "INSERT INTO webhook_deliveries (webhook_id, position, event_type, status, due_at)
         SELECT $1, position, event_type, 'PENDING', $3 FROM events WHERE position = $2
             ON CONFLICT (webhook_id, position)
             DO UPDATE SET status = 'PENDING', attempts = 0, due_at = $3, begun_at = NULL, delivered_at = NULL",
        id,
        position,
        now.to_sqlx() as _,
    )
    .execute(db)
    .await?;
    Ok(())
}

/// Follows the log for a webhook that wants events of these names. Answers whether there is more to follow now.
pub(super) async fn follow(
    pool: &PgPool,
    id: WebhookId,
    names: &[&str],
    head: Position,
    now: Timestamp,
) -> Result<bool, StoreError> {
    // Nothing is moved while somebody else follows for it, or when too much waits already. The log up to `head` was there
    // before the statement.
    let through = sqlx::query_scalar!(
        r#"WITH cursor AS (
               SELECT position FROM webhook_cursors WHERE webhook_id = $1 AND position < $2 FOR UPDATE SKIP LOCKED
           ), waiting AS (
               SELECT FROM webhook_deliveries WHERE webhook_id = $1 AND status = 'PENDING' LIMIT $5
           ), step AS (
               SELECT position AS after, LEAST($2, position + $6) AS through FROM cursor
                WHERE (SELECT count(*) FROM waiting) < $5
           ), ordered AS (
               INSERT INTO webhook_deliveries (webhook_id, position, event_type, status, due_at)
               SELECT $1, e.position, e.event_type, 'PENDING', $4
                 FROM step JOIN events e ON e.position > step.after AND e.position <= step.through
                WHERE e.event_type = ANY($3) ON CONFLICT DO NOTHING
           )
           UPDATE webhook_cursors c SET position = step.through FROM step WHERE c.webhook_id = $1
        RETURNING c.position"#,
        id.to_string(),
        head,
        names as &[&str],
        now.to_sqlx() as _,
        MOST_WAITING,
        PAGE,
    );
    Ok(through.fetch_optional(pool).await?.is_some_and(|through| through < head))
}

/// Those of the webhooks that something is due for, or that have not followed the log to its head.
pub(super) async fn due(
    pool: &PgPool,
    ids: &[String],
    head: Position,
    now: Timestamp,
) -> Result<Vec<String>, StoreError> {
    let due = sqlx::query_scalar!(
        r#"SELECT id AS "id!" FROM UNNEST($1::text[]) AS asked (id)
            WHERE EXISTS (SELECT FROM webhook_deliveries
                           WHERE webhook_id = id COLLATE "C" AND status = 'PENDING' AND due_at <= $2)
               OR EXISTS (SELECT FROM webhook_cursors WHERE webhook_id = id COLLATE "C" AND position < $3)"#,
        ids,
        now.to_sqlx() as _,
        head,
    );
    Ok(due.fetch_all(pool).await?)
}

/// Claims up to `most` deliveries that are due, oldest first, and counts the try. While one is tried it is due at `until`:
/// whoever dies over it leaves it to others then.
pub(super) async fn claim(
    pool: &PgPool,
    id: WebhookId,
    now: Timestamp,
    until: Timestamp,
    most: i64,
) -> Result<Vec<Claimed>, StoreError> {
    let rows = sqlx::query!(
        "UPDATE webhook_deliveries d
            SET due_at = $3, attempts = attempts + 1, attempted_at = $2, begun_at = COALESCE(begun_at, $2)
           FROM (SELECT position FROM webhook_deliveries
                  WHERE webhook_id = $1 AND status = 'PENDING' AND due_at <= $2
                  ORDER BY due_at, position LIMIT $4 FOR UPDATE SKIP LOCKED) due
          WHERE d.webhook_id = $1 AND d.position = due.position
      RETURNING d.position, d.attempts",
        id.to_string(),
        now.to_sqlx() as _,
        until.to_sqlx() as _,
        most,
    )
    .fetch_all(pool)
    .await?;
    Ok(rows.into_iter().map(|row| Claimed { position: row.position, attempts: row.attempts }).collect())
}

/// Writes down what became of a try, unless the delivery was ordered anew meanwhile. `next` is when it is tried again.
pub(super) async fn record(
    pool: &PgPool,
    id: WebhookId,
    claimed: &Claimed,
    attempted: &Attempted,
    now: Timestamp,
    next: Option<Timestamp>,
) -> Result<(), StoreError> {
    let status = match next {
        _ if attempted.is_taken() => DeliveryStatus::Delivered,
        Some(_) => DeliveryStatus::Pending,
        None => DeliveryStatus::Failed,
    };
    let (answer, error) = match &attempted.answer {
        Ok((status, text)) => (Some((i32::from(*status), text.as_str())), None),
        Err(reason) => (None, Some(*reason)),
    };
    let delivered = (status == DeliveryStatus::Delivered).then_some(now);
    sqlx::query!(
        "UPDATE webhook_deliveries
            SET status = $4, due_at = $5, delivered_at = $6, response_status = $7, response = $8, error = $9
          WHERE webhook_id = $1 AND position = $2 AND attempts = $3 AND status = 'PENDING'",
        id.to_string(),
        claimed.position,
        claimed.attempts,
        status.as_str(),
        next.unwrap_or(now).to_sqlx() as _,
        delivered.map(jiff_sqlx::ToSqlx::to_sqlx) as _,
        answer.map(|(status, _)| status),
        answer.map(|(_, text)| text),
        error,
    )
    .execute(pool)
    .await?;
    Ok(())
}

/// Whether nothing at all was taken since the delivery at `position` was first tried.
pub(super) async fn is_failing(pool: &PgPool, id: WebhookId, position: Position) -> Result<bool, StoreError> {
    let failing = sqlx::query_scalar!(
        r#"SELECT NOT EXISTS (
               SELECT FROM webhook_deliveries taken, webhook_deliveries failed
                WHERE failed.webhook_id = $1 AND failed.position = $2
                  AND taken.webhook_id = $1 AND taken.delivered_at >= failed.begun_at) AS "failing!""#,
        id.to_string(),
        position,
    );
    Ok(failing.fetch_one(pool).await?)
}

/// How many events the webhook that is farthest behind is behind.
pub(super) async fn lag(pool: &PgPool, ids: &[String], head: Position) -> Result<i64, StoreError> {
    let behind =
        sqlx::query_scalar!("SELECT min(position) FROM webhook_cursors WHERE webhook_id = ANY($1)", ids);
    Ok(behind.fetch_one(pool).await?.map_or(0, |position| (head - position).max(0)))
}

/// Forgets what was taken before a time.
pub(super) async fn forget(pool: &PgPool, before: Timestamp) -> Result<(), StoreError> {
    sqlx::query!("DELETE FROM webhook_deliveries WHERE delivered_at < $1", before.to_sqlx() as _)
        .execute(pool)
        .await?;
    Ok(())
}
