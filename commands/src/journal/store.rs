//! The sequencer's SQL: lock the head, read what is missing, append a batch.
//!
//! A warm batch is three round trips whatever its size: BEGIN with the lock, the append, COMMIT.
//!
//! The transaction is the connection's: whoever does not reach [`commit`] or [`release`] drops the connection, and the
//! server rolls back.

use std::collections::HashMap;

use bursar_domain::codec::Codec;
use bursar_domain::kernel::UserId;
use bursar_domain::{AccountNumber, Position, Recorded, StreamId};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff_sqlx::ToSqlx;
use sqlx::{Executor as _, PgConnection, Row as _};

use super::claimed::ClaimedValue;
use super::columns::{AccountColumns, ClaimColumns, DueColumns, EventColumns, KeyColumns, metadata};
use super::plan::{KeyRecord, Memory, Misses, Plan, Stream};
use super::{Reader, StoreError, read};

/// The last event of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) position: Position,
    pub(super) recorded_at: Timestamp,
}

/// A row of `idempotency_keys`.
pub(super) struct KnownKey {
    pub(super) key: Vec<u8>,
    pub(super) fingerprint: Vec<u8>,
    pub(super) first_position: Position,
    pub(super) last_position: Position,
}

impl KnownKey {
    pub(super) fn remember(self, keys: &mut HashMap<[u8; 16], KeyRecord>) {
        if let (Ok(key), Ok(fingerprint)) = (self.key.try_into(), self.fingerprint.try_into()) {
            let (first, last) = (self.first_position, self.last_position);
            keys.insert(key, KeyRecord { fingerprint, first, last });
        }
    }
}

/// Begins a transaction that owns the head: writers of other processes wait here.
pub(super) async fn lock_head(connection: &mut PgConnection) -> Result<Head, sqlx::Error> {
    // Plain text goes by the simple protocol, the only one that takes two statements in one round trip.
    let sql =
        "BEGIN; SELECT position, (extract(epoch FROM recorded_at) * 1000000)::bigint FROM head FOR UPDATE";
    let rows = connection.fetch_all(sql).await?;
    let row = rows.first().ok_or(sqlx::Error::RowNotFound)?;
    let recorded_at =
        Timestamp::from_microsecond(row.try_get(1)?).map_err(|e| sqlx::Error::Decode(e.into()))?;
    Ok(Head { position: row.try_get(0)?, recorded_at })
}

/// Ends the transaction of [`lock_head`]: everything is in the log when this returns.
pub(super) async fn commit(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute("COMMIT").await.map(|_| ())
}

/// Ends the transaction of [`lock_head`] with nothing written.
pub(super) async fn release(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.execute("ROLLBACK").await.map(|_| ())
}

/// The head as the last commit left it.
pub(super) async fn read_head(connection: &mut PgConnection) -> Result<Head, sqlx::Error> {
    let row =
        sqlx::query!(r#"SELECT position, recorded_at AS "recorded_at: jiff_sqlx::Timestamp" FROM head"#)
            .fetch_one(connection)
            .await?;
    Ok(Head { position: row.position, recorded_at: row.recorded_at.to_jiff() })
}

/// Reads what `misses` names into `memory`; what the store does not have is remembered as absent.
pub(super) async fn fill(
    mut reader: Reader<'_>,
    codec: &Codec,
    misses: Misses,
    memory: &mut Memory,
) -> Result<(), StoreError> {
    if !misses.claims.is_empty() {
        for (value, holder) in claims(reader.again(), &misses.claims).await? {
            memory.claims.insert(value, holder);
        }
    }
    if !misses.data_keys.is_empty() {
        let subjects: Vec<UserId> = misses.data_keys.into_iter().collect();
        let keyless = memory.vault.fetch(reader.again(), &subjects).await?;
        if !keyless.is_empty() {
            memory.vault.is_current(reader.again()).await?;
        }
        memory.keyless.extend(keyless);
    }
    if !misses.streams.is_empty() {
        fill_streams(reader.again(), codec, misses.streams.into_iter().collect(), memory).await?;
    }
    if !misses.accounts.is_empty() {
        fill_accounts(reader, misses.accounts.into_iter().collect(), memory).await?;
    }
    Ok(())
}

/// Those of `keys` that the store knows.
pub(super) async fn known_keys(
    connection: &mut PgConnection,
    keys: &[[u8; 16]],
) -> Result<Vec<KnownKey>, sqlx::Error> {
    if keys.is_empty() {
        return Ok(Vec::new());
    }
    let wanted: Vec<&[u8]> = keys.iter().map(<[u8; 16]>::as_slice).collect();
    sqlx::query_as!(
        KnownKey,
        "SELECT key, fingerprint, first_position, last_position FROM idempotency_keys WHERE key = ANY($1)",
        &wanted as &[&[u8]],
    )
    .fetch_all(connection)
    .await
}

/// Those of `values` that somebody holds, and who.
async fn claims(
    reader: Reader<'_>,
    values: &[ClaimedValue],
) -> Result<Vec<(ClaimedValue, String)>, StoreError> {
    let connection = match reader {
        Reader::Postgres(connection) => connection,
        Reader::InMemory(session) => return session.claims(values).await,
    };
    let namespaces: Vec<&str> = values.iter().map(|(namespace, _)| *namespace).collect();
    let hashes: Vec<&[u8]> = values.iter().map(|(_, hash)| hash.as_slice()).collect();
    let rows = sqlx::query!(
        r#"SELECT c.namespace, c.hash, c.holder FROM claims c
             JOIN UNNEST($1::text[], $2::bytea[]) AS wanted (namespace, hash) USING (namespace, hash)"#,
        &namespaces as &[&str],
        &hashes as &[&[u8]],
    )
    .fetch_all(connection)
    .await?;
    let held = rows.into_iter().filter_map(|row| {
        let known = values.iter().find(|(ns, hash)| *ns == row.namespace && *hash == row.hash[..]);
        known.map(|value| (*value, row.holder))
    });
    Ok(held.collect())
}

async fn fill_streams(
    reader: Reader<'_>,
    codec: &Codec,
    streams: Vec<StreamId>,
    memory: &mut Memory,
) -> Result<(), StoreError> {
    let kinds: Vec<&str> = streams.iter().map(|stream| stream.kind.as_str()).collect();
    let ids: Vec<&str> = streams.iter().map(|stream| stream.id.as_str()).collect();
    for recorded in read::streams(reader, codec, &kinds, &ids).await? {
        let known = memory.streams.committed(&recorded.stream).cloned();
        let mut stream = known.unwrap_or_else(|| Stream::absent(&recorded.stream));
        stream.state.evolve(&recorded.event);
        stream.version = recorded.sequence;
        memory.streams.learn(recorded.stream, stream);
    }
    for stream in streams {
        if memory.streams.committed(&stream).is_none() {
            let fresh = Stream::absent(&stream);
            memory.streams.learn(stream, fresh);
        }
    }
    Ok(())
}

async fn fill_accounts(
    reader: Reader<'_>,
    accounts: Vec<AccountNumber>,
    memory: &mut Memory,
) -> Result<(), StoreError> {
    let wanted: Vec<&str> = accounts.iter().map(AccountNumber::as_str).collect();
    for (number, account) in read::ledger_accounts(reader, &wanted).await? {
        memory.accounts.learn(number, Some(account));
    }
    for number in accounts {
        if memory.accounts.committed(&number).is_none() {
            memory.accounts.learn(number, None);
        }
    }
    Ok(())
}

/// Makes sure that keys of `day` have a partition, and drops those of days before `keep_from`.
pub(super) async fn turn_key_partitions(
    connection: &mut PgConnection,
    day: Date,
    keep_from: Date,
) -> Result<(), sqlx::Error> {
    let name = |day: Date| format!("idempotency_keys_{}", day.strftime("%Y%m%d"));
    let next = day.tomorrow().map_err(|e| sqlx::Error::Protocol(e.to_string()))?;
    let create = format!(
        "CREATE TABLE IF NOT EXISTS {} PARTITION OF idempotency_keys FOR VALUES FROM ('{day}') TO ('{next}')",
        name(day),
    );
    sqlx::query(&create).execute(&mut *connection).await?;
    let partitions = sqlx::query_scalar!(
        r#"SELECT c.relname::text AS "name!" FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
            WHERE i.inhparent = 'idempotency_keys'::regclass"#
    )
    .fetch_all(&mut *connection)
    .await?;
    let oldest = name(keep_from);
    for old in partitions.iter().filter(|partition| **partition < oldest) {
        sqlx::query(&format!("DROP TABLE {old}")).execute(&mut *connection).await?;
    }
    Ok(())
}

/// Appends a decided batch: events, balances, idempotency keys, claims, due work, data keys and head, in one statement.
///
/// When the store knows some of the keys `asked`, it writes nothing and answers those.
pub(super) async fn append(
    connection: &mut PgConnection,
    plan: &Plan,
    memory: &Memory,
    day: Date,
    asked: &[[u8; 16]],
) -> Result<Vec<KnownKey>, StoreError> {
    let Some(last) = plan.events.last() else { return Ok(Vec::new()) };
    let events = EventColumns::of(plan)?;
    let (opened, moved) = AccountColumns::of(memory);
    let (ordered, dropped) = DueColumns::of(plan);
    let asked: Vec<&[u8]> = asked.iter().map(<[u8; 16]>::as_slice).collect();
    let keys: Vec<&[u8]> = plan.keys.keys().map(<[u8; 16]>::as_slice).collect();
    let prints: Vec<&[u8]> = plan.keys.values().map(|record| record.fingerprint.as_slice()).collect();
    let firsts: Vec<i64> = plan.keys.values().map(|record| record.first).collect();
    let lasts: Vec<i64> = plan.keys.values().map(|record| record.last).collect();
    let (claimed, released) = ClaimColumns::of(plan);
    let data_keys = KeyColumns::of(plan);
    let known = sqlx::query_file_as!(
        KnownKey,
        "src/journal/append.sql",
        &events.positions,
        &events.sequences,
        last.recorded_at.to_sqlx() as _,
        &events.kinds as _,
        &events.ids as _,
        &events.names as _,
        &events.versions as _,
        &plan.payloads,
        &events.metadata,
        &moved.accounts as _,
        &moved.statuses as _,
        &moved.balances,
        &moved.holds,
        &moved.spent_on as _,
        &moved.spent_today,
        &moved.spent_this_month,
        &moved.last_posted_at as _,
        &opened.accounts as _,
        &opened.owners as _,
        &opened.currencies as _,
        &opened.statuses as _,
        &opened.balances,
        &opened.holds,
        &opened.overdraft_limits,
        &opened.minimum_balances,
        &opened.maximum_balances as _,
        &opened.daily_limits as _,
        &opened.monthly_limits as _,
        &opened.spent_on as _,
        &opened.spent_today,
        &opened.spent_this_month,
        &opened.last_posted_at as _,
        &keys as _,
        &prints as _,
        &firsts,
        &lasts,
        day.to_sqlx() as _,
        &claimed.namespaces as _,
        &claimed.hashes as _,
        &claimed.holders as _,
        last.position,
        &asked as _,
        &ordered.tasks as _,
        &ordered.subjects as _,
        &ordered.due as _,
        &dropped.tasks as _,
        &dropped.subjects as _,
        &released.namespaces as _,
        &released.hashes as _,
        &data_keys.minted as _,
        &data_keys.wrapped as _,
        memory.vault.wrapped_by().as_slice(),
        &data_keys.erased as _,
        &moved.payments,
        &moved.loans,
        &moved.disputes,
        &moved.last_active_at as _,
        &opened.payments,
        &opened.loans,
        &opened.disputes,
        &opened.last_active_at as _,
    );
    Ok(known.fetch_all(connection).await?)
}

/// Whether the batch that begins with `first` is in the log. Waits for a commit still under way.
pub(super) async fn is_recorded(
    connection: &mut PgConnection,
    first: &Recorded,
    payload: &str,
) -> Result<bool, StoreError> {
    // The lost session holds the head until its transaction has ended, one way or the other.
    if lock_head(connection).await?.position < first.position {
        release(connection).await?;
        return Ok(false);
    }
    let row = sqlx::query!(
        r#"SELECT sequence, aggregate_id, payload::text AS "payload!", metadata::text AS "metadata!",
                  recorded_at AS "recorded_at: jiff_sqlx::Timestamp"
             FROM events WHERE position = $1"#,
        first.position,
    )
    .fetch_one(&mut *connection)
    .await?;
    release(connection).await?;
    // Equal to the microsecond, the request and the byte: it is ours.
    Ok(row.sequence == first.sequence
        && row.aggregate_id == first.stream.id.as_str()
        && row.recorded_at.to_jiff() == first.recorded_at
        && row.payload == payload
        && row.metadata == metadata(first)?)
}
