//! Reading the log in batches.

use bursar_domain::codec::{Codec, Stored, StoredKey};
use bursar_domain::kernel::UserId;
use bursar_domain::{Kind, Position, Recorded};
use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::row::parsed;

/// The most events one batch holds: large enough to spread the round trips thin, small enough to stay in a cache.
pub(crate) const BATCH: usize = 5_000;

/// A stretch of the log, decoded once for every model that wants it.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    /// The events of the wanted nouns, in order.
    pub(crate) events: Vec<Recorded>,
    /// Those of them that could not be read.
    pub(crate) unreadable: Vec<Unreadable>,
    /// Everything up to here was looked at.
    pub(crate) upto: Position,
    /// How many events were looked at, of whatever noun.
    pub(crate) seen: usize,
}

/// An event that could not be decoded.
#[derive(Debug)]
pub(crate) struct Unreadable {
    pub(crate) position: Position,
    pub(crate) kind: Kind,
    /// The stream it is in.
    pub(crate) stream: String,
    pub(crate) reason: String,
}

impl Batch {
    /// The events with `after < position <= upto`.
    pub(crate) fn between(&self, after: Position, upto: Position) -> &[Recorded] {
        let start = self.events.partition_point(|event| event.position <= after);
        let end = self.events.partition_point(|event| event.position <= upto);
        self.events.get(start..end).unwrap_or_default()
    }
}

/// The columns that [`decoded`] reads. Not the checked macro: it would copy each column into a `String` of its own.
pub(crate) const COLUMNS: &str = "position, sequence, recorded_at, aggregate_type, aggregate_id, event_type,
    event_version, payload::text, metadata::text";

/// Reads up to `limit` events with `after < position <= upto`, and decodes those of the nouns `wanted`. An
/// event of any other noun is passed over, readable or not.
pub(crate) async fn read(
    db: &mut PgConnection,
    codec: &Codec,
    wanted: &[Kind],
    (after, upto): (Position, Position),
    limit: usize,
) -> sqlx::Result<Batch> {
    let sql = format!(
        "SELECT {COLUMNS} FROM events WHERE position > $1 AND position <= $2 ORDER BY position LIMIT $3"
    );
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = sqlx::query(&sql).bind(after).bind(upto).bind(limit).fetch_all(&mut *db).await?;
    decoded(db, codec, wanted, rows, after).await
}

/// What rows of the log, in order and behind `after`, say of the nouns `wanted`.
pub(crate) async fn decoded(
    db: &mut PgConnection,
    codec: &Codec,
    wanted: &[Kind],
    rows: Vec<PgRow>,
    after: Position,
) -> sqlx::Result<Batch> {
    let mut batch = Batch { upto: after, ..Batch::default() };
    fetch_keys(db, codec, &rows).await?;
    for row in rows {
        batch.upto = row.try_get(0)?;
        batch.seen += 1;
        let aggregate_type: &str = row.try_get(3)?;
        let Some(kind) = wanted.iter().copied().find(|kind| kind.as_str() == aggregate_type) else {
            continue;
        };
        let stored = Stored {
            position: batch.upto,
            sequence: row.try_get(1)?,
            recorded_at: row.try_get::<jiff_sqlx::Timestamp, _>(2)?.to_jiff(),
            aggregate_type,
            aggregate_id: row.try_get(4)?,
            event_type: row.try_get(5)?,
            event_version: row.try_get(6)?,
            payload: row.try_get(7)?,
            metadata: row.try_get(8)?,
        };
        match codec.read(&stored) {
            Ok(event) => batch.events.push(event),
            Err(e) => {
                let stream = stored.aggregate_id.to_owned();
                let reason = e.to_string();
                batch.unreadable.push(Unreadable { position: batch.upto, kind, stream, reason });
            }
        }
    }
    Ok(batch)
}

/// Fetches the data keys that `rows` need and the codec does not have at hand.
async fn fetch_keys(db: &mut PgConnection, codec: &Codec, rows: &[PgRow]) -> sqlx::Result<()> {
    let payloads: Vec<&str> = rows.iter().map(|row| row.try_get(7)).collect::<sqlx::Result<_>>()?;
    let lacking = codec.lacking(payloads);
    if lacking.is_empty() {
        return Ok(());
    }
    let lacking: Vec<String> = lacking.iter().map(UserId::to_string).collect();
    let keys =
        sqlx::query!("SELECT subject, wrapped, wrapped_by FROM data_keys WHERE subject = ANY($1)", &lacking)
            .fetch_all(db)
            .await?;
    for key in keys {
        let stored = StoredKey { wrapped: key.wrapped.as_deref(), wrapped_by: &key.wrapped_by };
        codec.learn(parsed(&key.subject)?, stored).map_err(|e| sqlx::Error::Decode(e.into()))?;
    }
    Ok(())
}

/// Position of the last event.
pub(crate) async fn head(db: &mut PgConnection) -> sqlx::Result<Position> {
    sqlx::query_scalar!("SELECT position FROM head").fetch_one(db).await
}
