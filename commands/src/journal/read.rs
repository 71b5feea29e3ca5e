//! Reading the log and the ledger's table.

use std::borrow::Borrow;

use bursar_domain::codec::{Codec, Stored, Unreadable};
use bursar_domain::ledger::{LedgerAccount, Ties};
use bursar_domain::{AccountNumber, Position, Recorded};

use super::{Reader, StoreError};
use crate::vault;

/// One row of `events`.
pub(super) struct EventRow {
    pub(super) position: i64,
    pub(super) recorded_at: jiff_sqlx::Timestamp,
    pub(super) sequence: i64,
    pub(super) aggregate_type: String,
    pub(super) aggregate_id: String,
    pub(super) event_type: String,
    pub(super) event_version: String,
    pub(super) payload: String,
    pub(super) metadata: String,
}

impl EventRow {
    pub(super) fn read(&self, codec: &Codec) -> Result<Recorded, Unreadable> {
        codec.read(&Stored {
            position: self.position,
            recorded_at: self.recorded_at.to_jiff(),
            sequence: self.sequence,
            aggregate_type: &self.aggregate_type,
            aggregate_id: &self.aggregate_id,
            event_type: &self.event_type,
            event_version: &self.event_version,
            payload: &self.payload,
            metadata: &self.metadata,
        })
    }
}

/// Reads rows, once the keys that they need are at hand.
async fn decode(
    reader: Reader<'_>,
    codec: &Codec,
    rows: &[impl Borrow<EventRow> + Sync],
) -> Result<Vec<Recorded>, StoreError> {
    prepare(reader, codec, rows).await?;
    rows.iter().map(|row| Ok(row.borrow().read(codec)?)).collect()
}

async fn prepare(
    reader: Reader<'_>,
    codec: &Codec,
    rows: &[impl Borrow<EventRow> + Sync],
) -> Result<(), StoreError> {
    let lacking = codec.lacking(rows.iter().map(|row| row.borrow().payload.as_str()));
    if !lacking.is_empty() {
        vault::fetch(reader, &lacking, |subject, stored| codec.learn(subject, stored)).await?;
    }
    Ok(())
}

/// The events of the streams (kinds[i], ids[i]), each stream in order.
pub(crate) async fn streams<'a>(
    reader: impl Into<Reader<'a>>,
    codec: &Codec,
    kinds: &[&str],
    ids: &[&str],
) -> Result<Vec<Recorded>, StoreError> {
    let mut reader = reader.into();
    let connection = match reader.again() {
        Reader::Postgres(connection) => connection,
        Reader::InMemory(session) => {
            let rows = session.streams(kinds, ids).await?;
            return decode(reader, codec, &rows).await;
        }
    };
    let rows = sqlx::query_as!(
        EventRow,
        r#"SELECT e.position, e.recorded_at AS "recorded_at: _", e.sequence, e.aggregate_type,
                  e.aggregate_id, e.event_type, e.event_version,
                  e.payload::text AS "payload!", e.metadata::text AS "metadata!"
             FROM UNNEST($1::text[], $2::text[]) AS wanted (kind, id)
             JOIN events e ON e.aggregate_type = wanted.kind AND e.aggregate_id = wanted.id
            ORDER BY e.aggregate_type, e.aggregate_id, e.sequence"#,
        kinds as &[&str],
        ids as &[&str],
    )
    .fetch_all(&mut *connection)
    .await?;
    decode(reader, codec, &rows).await
}

/// The events at positions `after < position <= through`, in order.
pub(crate) async fn range<'a>(
    reader: impl Into<Reader<'a>>,
    codec: &Codec,
    after: Position,
    through: Position,
) -> Result<Vec<Recorded>, StoreError> {
    let events = each(reader, codec, after, through).await?;
    Ok(events.into_iter().map(|(_, event)| event).collect::<Result<_, _>>()?)
}

/// The same, position by position: what cannot be read concerns nobody but whoever needs it.
pub(crate) async fn each<'a>(
    reader: impl Into<Reader<'a>>,
    codec: &Codec,
    after: Position,
    through: Position,
) -> Result<Vec<(Position, Result<Recorded, Unreadable>)>, StoreError> {
    let mut reader = reader.into();
    let connection = match reader.again() {
        Reader::Postgres(connection) => connection,
        Reader::InMemory(session) => {
            let rows = session.range(after, through).await?;
            prepare(reader, codec, &rows).await?;
            return Ok(rows.iter().map(|row| (row.position, row.read(codec))).collect());
        }
    };
    let rows = sqlx::query_as!(
        EventRow,
        r#"SELECT position, recorded_at AS "recorded_at: _", sequence, aggregate_type, aggregate_id,
                  event_type, event_version, payload::text AS "payload!", metadata::text AS "metadata!"
             FROM events WHERE position > $1 AND position <= $2 ORDER BY position"#,
        after,
        through,
    )
    .fetch_all(&mut *connection)
    .await?;
    prepare(reader, codec, &rows).await?;
    Ok(rows.iter().map(|row| (row.position, row.read(codec))).collect())
}

/// The events at `positions`, in order.
pub(crate) async fn at<'a>(
    reader: impl Into<Reader<'a>>,
    codec: &Codec,
    positions: &[Position],
) -> Result<Vec<Recorded>, StoreError> {
    let mut reader = reader.into();
    let connection = match reader.again() {
        Reader::Postgres(connection) => connection,
        Reader::InMemory(session) => {
            let rows = session.at(positions).await?;
            return decode(reader, codec, &rows).await;
        }
    };
    let rows = sqlx::query_as!(
        EventRow,
        r#"SELECT position, recorded_at AS "recorded_at: _", sequence, aggregate_type, aggregate_id,
                  event_type, event_version, payload::text AS "payload!", metadata::text AS "metadata!"
             FROM events WHERE position = ANY($1) ORDER BY position"#,
        positions,
    )
    .fetch_all(&mut *connection)
    .await?;
    decode(reader, codec, &rows).await
}

/// The ledger's view of the accounts named; those it does not know are left out.
pub(crate) async fn ledger_accounts<'a>(
    reader: impl Into<Reader<'a>>,
    numbers: &[&str],
) -> Result<Vec<(AccountNumber, LedgerAccount)>, StoreError> {
    let connection = match reader.into() {
        Reader::Postgres(connection) => connection,
        Reader::InMemory(session) => return session.ledger_accounts(numbers).await,
    };
    let rows = sqlx::query!(
        r#"SELECT account, owner, currency, status, balance, holds, overdraft_limit, minimum_balance,
                  maximum_balance, daily_limit, monthly_limit, spent_on AS "spent_on: jiff_sqlx::Date",
                  spent_today, spent_this_month, last_posted_at AS "last_posted_at: jiff_sqlx::Timestamp",
                  payments_on_their_way, live_loans, open_disputes,
                  last_active_at AS "last_active_at: jiff_sqlx::Timestamp"
             FROM ledger_accounts WHERE account = ANY($1)"#,
        numbers as &[&str],
    )
    .fetch_all(connection)
    .await?;
    rows.into_iter()
        .map(|row| {
            let wrong = |what: &str| StoreError::Damaged(format!("{what} of ledger account {}", row.account));
            let account = LedgerAccount {
                owner: row.owner.as_deref().map(str::parse).transpose().map_err(|_| wrong("owner"))?,
                currency: row.currency.parse().map_err(|_| wrong("currency"))?,
                status: row.status.parse().map_err(|_| wrong("status"))?,
                balance: row.balance,
                holds: row.holds,
                overdraft_limit: row.overdraft_limit,
                minimum_balance: row.minimum_balance,
                maximum_balance: row.maximum_balance,
                daily_limit: row.daily_limit,
                monthly_limit: row.monthly_limit,
                spent_on: row.spent_on.map(|day| day.to_jiff()),
                spent_today: row.spent_today,
                spent_this_month: row.spent_this_month,
                last_posted_at: row.last_posted_at.map(|at| at.to_jiff()),
                ties: Ties {
                    payments: row.payments_on_their_way,
                    loans: row.live_loans,
                    disputes: row.open_disputes,
                },
                last_active_at: row.last_active_at.map(|at| at.to_jiff()),
            };
            Ok((AccountNumber::from(row.account.as_str()), account))
        })
        .collect()
}
