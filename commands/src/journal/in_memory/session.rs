//! A connection to the tables: what a journal reads by, and the one transaction that may be on it.

use std::sync::Arc;

use bursar_domain::kernel::UserId;
use bursar_domain::ledger::LedgerAccount;
use bursar_domain::{AccountNumber, Position, Recorded};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff_sqlx::ToSqlx as _;
use tokio::sync::OwnedMutexGuard;

use super::super::StoreError;
use super::super::claimed::ClaimedValue;
use super::super::columns::metadata;
use super::super::plan::{KeyRecord, Memory, Plan};
use super::super::read::EventRow;
use super::super::sealing::KeyChange;
use super::super::store::{Head, KnownKey};
use super::tables::{Pending, StoredDataKey, Tables};
use super::{Commit, Door};

/// Dropped, it takes its transaction back.
pub(crate) struct Session {
    door: Door,
    transaction: Option<Transaction>,
}

struct Transaction {
    /// The lock of the head.
    _head: OwnedMutexGuard<()>,
    pending: Pending,
}

/// The connection was lost.
pub(crate) fn lost() -> StoreError {
    StoreError::Database(sqlx::Error::Io(std::io::Error::new(
        std::io::ErrorKind::ConnectionReset,
        "the connection was lost",
    )))
}

impl Session {
    pub(super) const fn new(door: Door) -> Self {
        Self { door, transaction: None }
    }

    pub(in crate::journal) async fn lock_head(&mut self) -> Result<Head, StoreError> {
        self.door.pass().await?;
        let head = Arc::clone(&self.door.tables.head).lock_owned().await;
        self.transaction = Some(Transaction { _head: head, pending: Pending::default() });
        self.door.pass().await?;
        Ok(self.door.tables.tables().head)
    }

    pub(in crate::journal) async fn commit(&mut self) -> Result<(), StoreError> {
        self.door.pass().await?;
        let Some(transaction) = self.transaction.take() else { return Ok(()) };
        let tables = Arc::clone(&self.door.tables);
        let apply = move |Transaction { _head, pending }: Transaction| {
            tables.tables().apply(pending);
            tables.written.notify_waiters();
        };
        match self.door.way.commit() {
            Commit::Now => apply(transaction),
            Commit::Late(after) => {
                tokio::spawn(async move {
                    tokio::time::sleep(after).await;
                    apply(transaction);
                });
                return Err(lost());
            }
            Commit::Forgotten => {}
            Commit::Timeless => {
                apply(transaction);
                self.door.tables.tables().head.recorded_at = Timestamp::UNIX_EPOCH;
            }
            Commit::Twice => {
                let again = transaction.pending.clone();
                self.door.tables.tables().apply(again);
                apply(transaction);
            }
        }
        self.door.pass().await
    }

    pub(in crate::journal) async fn release(&mut self) -> Result<(), StoreError> {
        self.door.pass().await?;
        self.transaction = None;
        Ok(())
    }

    pub(in crate::journal) async fn read_head(&mut self) -> Result<Head, StoreError> {
        Ok(self.door.ask().await?.head)
    }

    pub(in crate::journal) async fn known_keys(
        &mut self,
        keys: &[[u8; 16]],
    ) -> Result<Vec<KnownKey>, StoreError> {
        let tables = self.door.ask().await?;
        Ok(known(&tables, keys))
    }

    pub(in crate::journal) async fn turn_key_partitions(
        &mut self,
        day: Date,
        keep_from: Date,
    ) -> Result<(), StoreError> {
        self.door.pass().await?;
        if let Some(transaction) = &mut self.transaction {
            transaction.pending.key_day = Some(day);
            transaction.pending.keep_keys_from = Some(keep_from);
        }
        Ok(())
    }

    pub(in crate::journal) async fn append(
        &mut self,
        plan: &Plan,
        memory: &Memory,
        day: Date,
        asked: &[[u8; 16]],
    ) -> Result<Vec<KnownKey>, StoreError> {
        let tables = self.door.ask().await?;
        let known = known(&tables, asked);
        let Some(transaction) = self.transaction.as_mut().filter(|_| known.is_empty()) else {
            return Ok(known);
        };
        let pending = &mut transaction.pending;
        pending.events = rows(plan)?;
        for (number, account) in memory.accounts.written() {
            let Some(account) = account else { continue };
            let there = memory.accounts.committed(number).is_some_and(Option::is_some);
            let written = if there { &mut pending.moved } else { &mut pending.opened };
            written.push((number.clone(), account.clone()));
        }
        pending.keys = plan.keys.iter().map(|(key, record)| (*key, *record)).collect();
        pending.keys_of = Some(day);
        pending.claims = plan.claims.iter().map(|(value, holder)| (*value, holder.clone())).collect();
        pending.data_keys.extend(plan.data_keys.iter().map(|(subject, change)| match change {
            KeyChange::Minted(minted) => (*subject, Some(minted.wrapped.clone())),
            KeyChange::Erased => (*subject, None),
        }));
        pending.wrapped_by = memory.vault.wrapped_by().to_vec();
        let dues = plan.dues.iter();
        pending.dues =
            dues.map(|((task, subject), at)| ((*task).to_owned(), subject.to_string(), *at)).collect();
        tables.check(pending)?;
        Ok(Vec::new())
    }

    pub(in crate::journal) async fn is_recorded(
        &mut self,
        first: &Recorded,
        payload: &str,
    ) -> Result<bool, StoreError> {
        // As in Postgres: a transaction that is still under way has the head until it has ended.
        self.lock_head().await?;
        let metadata = metadata(first)?;
        let recorded = {
            let tables = self.door.ask().await?;
            let row = Tables::place(first.position).and_then(|place| tables.events.get(place));
            row.is_some_and(|row| {
                row.sequence == first.sequence
                    && row.aggregate_id == first.stream.id.as_str()
                    && row.recorded_at.to_jiff() == first.recorded_at
                    && row.payload == payload
                    && row.metadata == metadata
            })
        };
        self.release().await?;
        Ok(recorded)
    }

    pub(in crate::journal) async fn claims(
        &mut self,
        values: &[ClaimedValue],
    ) -> Result<Vec<(ClaimedValue, String)>, StoreError> {
        let tables = self.door.ask().await?;
        let holder = |(namespace, hash): &ClaimedValue| tables.claims.get(namespace)?.get(hash).cloned();
        Ok(values.iter().filter_map(|value| Some((*value, holder(value)?))).collect())
    }

    pub(crate) async fn data_keys(
        &mut self,
        subjects: &[UserId],
    ) -> Result<Vec<(UserId, StoredDataKey)>, StoreError> {
        let tables = self.door.ask().await?;
        let key = |subject: &UserId| Some((*subject, tables.data_keys.get(subject)?.clone()));
        Ok(subjects.iter().filter_map(key).collect())
    }

    /// The events of the streams (kinds[i], ids[i]), ordered by stream.
    pub(in crate::journal) async fn streams(
        &mut self,
        kinds: &[&str],
        ids: &[&str],
    ) -> Result<Vec<Arc<EventRow>>, StoreError> {
        let tables = self.door.ask().await?;
        let mut wanted: Vec<(&str, &str)> = kinds.iter().copied().zip(ids.iter().copied()).collect();
        wanted.sort_unstable();
        let places = wanted.into_iter().flat_map(|(kind, id)| tables.places(kind, id));
        Ok(places.filter_map(|place| tables.events.get(*place).cloned()).collect())
    }

    /// The events at positions `after < position <= through`.
    pub(in crate::journal) async fn range(
        &mut self,
        after: Position,
        through: Position,
    ) -> Result<Vec<Arc<EventRow>>, StoreError> {
        let tables = self.door.ask().await?;
        let (from, to) = (usize::try_from(after).unwrap_or(0), usize::try_from(through).unwrap_or(0));
        let to = to.min(tables.events.len());
        Ok(tables.events.get(from..to).unwrap_or(&[]).to_vec())
    }

    /// The events at these positions, in order.
    pub(in crate::journal) async fn at(
        &mut self,
        positions: &[Position],
    ) -> Result<Vec<Arc<EventRow>>, StoreError> {
        let tables = self.door.ask().await?;
        let mut positions = positions.to_vec();
        positions.sort_unstable();
        positions.dedup();
        let row = |position| tables.events.get(Tables::place(position)?).cloned();
        Ok(positions.into_iter().filter_map(row).collect())
    }

    pub(in crate::journal) async fn ledger_accounts(
        &mut self,
        numbers: &[&str],
    ) -> Result<Vec<(AccountNumber, LedgerAccount)>, StoreError> {
        let tables = self.door.ask().await?;
        let numbers = numbers.iter().map(|number| AccountNumber::from(*number));
        let account = |number: AccountNumber| {
            let account = tables.accounts.get(&number)?.clone();
            Some((number, account))
        };
        Ok(numbers.filter_map(account).collect())
    }
}

fn known(tables: &Tables, keys: &[[u8; 16]]) -> Vec<KnownKey> {
    let known = keys.iter().filter_map(|key| {
        let KeyRecord { fingerprint, first, last } = tables.key(key)?;
        Some(KnownKey {
            key: key.to_vec(),
            fingerprint: fingerprint.to_vec(),
            first_position: first,
            last_position: last,
        })
    });
    known.collect()
}

/// The rows of a batch, byte for byte what `append.sql` would insert.
fn rows(plan: &Plan) -> Result<Vec<Arc<EventRow>>, StoreError> {
    // One statement has one time: that of the last event, which all of a batch share.
    let Some(last) = plan.events.last() else { return Ok(Vec::new()) };
    let rows = plan.events.iter().zip(&plan.payloads).map(|(recorded, payload)| {
        Ok(Arc::new(EventRow {
            position: recorded.position,
            recorded_at: last.recorded_at.to_sqlx(),
            sequence: recorded.sequence,
            aggregate_type: recorded.stream.kind.as_str().to_owned(),
            aggregate_id: recorded.stream.id.to_string(),
            event_type: recorded.event.name().to_owned(),
            event_version: recorded.event.version().to_owned(),
            payload: payload.clone(),
            metadata: metadata(recorded)?,
        }))
    });
    rows.collect()
}
