//! An event as a line of JSON: what is exported, printed and hashed.
//!
//! The line follows from the stored row byte by byte (payload and metadata are the stored bytes), so that a line of an
//! export is a leaf of the tree that was signed.

use std::borrow::Cow;

use bursar_domain::Position;
use bursar_domain::codec::Stored;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sqlx::PgExecutor;

use super::StoreError;
use super::read::EventRow;

/// The line, taken apart.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Line<'a> {
    pub(crate) position: Position,
    pub(crate) recorded_at: jiff::Timestamp,
    #[serde(borrow)]
    pub(crate) aggregate_type: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) aggregate_id: Cow<'a, str>,
    pub(crate) sequence: i64,
    #[serde(borrow)]
    pub(crate) event_type: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) event_version: Cow<'a, str>,
    #[serde(borrow)]
    pub(crate) payload: &'a RawValue,
    #[serde(borrow)]
    pub(crate) metadata: &'a RawValue,
}

impl Line<'_> {
    /// The row that it was written from.
    pub(crate) fn stored(&self) -> Stored<'_> {
        Stored {
            position: self.position,
            recorded_at: self.recorded_at,
            sequence: self.sequence,
            aggregate_type: &self.aggregate_type,
            aggregate_id: &self.aggregate_id,
            event_type: &self.event_type,
            event_version: &self.event_version,
            payload: self.payload.get(),
            metadata: self.metadata.get(),
        }
    }
}

/// An event's position and its line, without a line feed.
pub(crate) type NumberedLine = (Position, Vec<u8>);

/// The lines of the events after position `after`, at most `limit`, in order.
///
/// # Errors
/// [`StoreError`].
pub(crate) async fn lines(
    executor: impl PgExecutor<'_>,
    after: Position,
    limit: i64,
) -> Result<Vec<NumberedLine>, StoreError> {
    let rows = sqlx::query_as!(
        EventRow,
        r#"SELECT position, recorded_at AS "recorded_at: jiff_sqlx::Timestamp", sequence, aggregate_type,
                  aggregate_id, event_type, event_version,
                  payload::text AS "payload!", metadata::text AS "metadata!"
             FROM events WHERE position > $1 ORDER BY position LIMIT $2"#,
        after,
        limit,
    )
    .fetch_all(executor)
    .await?;
    rows.iter().map(|row| Ok((row.position, write_line(row)?))).collect()
}

/// The line of a row, without a line feed.
pub(super) fn write_line(row: &EventRow) -> Result<Vec<u8>, StoreError> {
    let damaged = |e: serde_json::Error| StoreError::Damaged(format!("position {}: {e}", row.position));
    let line = Line {
        position: row.position,
        recorded_at: row.recorded_at.to_jiff(),
        aggregate_type: row.aggregate_type.as_str().into(),
        aggregate_id: row.aggregate_id.as_str().into(),
        sequence: row.sequence,
        event_type: row.event_type.as_str().into(),
        event_version: row.event_version.as_str().into(),
        payload: serde_json::from_str(&row.payload).map_err(damaged)?,
        metadata: serde_json::from_str(&row.metadata).map_err(damaged)?,
    };
    serde_json::to_vec(&line).map_err(damaged)
}
