//! The log as JSON lines, for people and other programs.

use std::io::Write;

use bursar_domain::Position;
use serde::Serialize;
use serde_json::value::RawValue;
use sqlx::PgPool;

use crate::journal::StoreError;

/// Events read at once.
const PAGE: i64 = 1_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    position: Position,
    recorded_at: jiff::Timestamp,
    aggregate_type: &'a str,
    aggregate_id: &'a str,
    sequence: i64,
    event_type: &'a str,
    event_version: &'a str,
    payload: &'a RawValue,
    metadata: &'a RawValue,
}

/// Writes the events after position `after`, at most `limit` of them, one JSON object a line; payloads are the stored bytes.
///
/// # Errors
/// [`StoreError`]; a writer that fails ends it as [`StoreError::Output`].
pub async fn write_events(
    pool: &PgPool,
    after: Position,
    limit: Option<i64>,
    out: &mut (dyn Write + Send),
) -> Result<(), StoreError> {
    let (mut after, mut left) = (after, limit.unwrap_or(i64::MAX));
    while left > 0 {
        let rows = sqlx::query!(
            r#"SELECT position, recorded_at AS "recorded_at: jiff_sqlx::Timestamp", sequence, aggregate_type,
                      aggregate_id, event_type, event_version,
                      payload::text AS "payload!", metadata::text AS "metadata!"
                 FROM events WHERE position > $1 ORDER BY position LIMIT $2"#,
            after,
            left.min(PAGE),
        )
        .fetch_all(pool)
        .await?;
        for row in &rows {
            let raw = |text: &str| {
                RawValue::from_string(text.to_owned())
                    .map_err(|e| StoreError::Damaged(format!("position {}: {e}", row.position)))
            };
            let line = Line {
                position: row.position,
                recorded_at: row.recorded_at.to_jiff(),
                aggregate_type: &row.aggregate_type,
                aggregate_id: &row.aggregate_id,
                sequence: row.sequence,
                event_type: &row.event_type,
                event_version: &row.event_version,
                payload: &raw(&row.payload)?,
                metadata: &raw(&row.metadata)?,
            };
            let mut text = serde_json::to_vec(&line).map_err(|e| StoreError::Damaged(e.to_string()))?;
            text.push(b'\n');
            out.write_all(&text).map_err(StoreError::Output)?;
        }
        let Some(last) = rows.last() else { break };
        after = last.position;
        left -= PAGE.min(left);
    }
    out.flush().map_err(StoreError::Output)?;
    Ok(())
}
