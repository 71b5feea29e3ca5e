//! The rows, and what a commit does to them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use bursar_domain::kernel::UserId;
use bursar_domain::ledger::LedgerAccount;
use bursar_domain::{AccountNumber, Position};
use jiff::Timestamp;
use jiff::civil::Date;
use sqlx::error::{DatabaseError, ErrorKind};

use super::super::StoreError;
use super::super::claimed::ClaimedValue;
use super::super::plan::KeyRecord;
use super::super::read::EventRow;
use super::super::store::Head;

/// The tables of the schema `journal` that a journal writes.
pub(super) struct Tables {
    /// The event at position `n + 1` is the `n`th.
    pub(super) events: Vec<Arc<EventRow>>,
    pub(super) head: Head,
    /// The places of a stream's events, by kind and id.
    pub(super) streams: HashMap<String, HashMap<String, Vec<usize>>>,
    /// The places of events of a type.
    pub(super) types: HashMap<String, Vec<usize>>,
    pub(super) accounts: BTreeMap<AccountNumber, LedgerAccount>,
    pub(super) owned: BTreeMap<UserId, BTreeSet<AccountNumber>>,
    /// Idempotency keys, by the day whose partition they are in.
    pub(super) keys: BTreeMap<Date, BTreeMap<[u8; 16], KeyRecord>>,
    /// Who holds what, by namespace.
    pub(super) claims: BTreeMap<&'static str, BTreeMap<[u8; 32], String>>,
    pub(super) data_keys: BTreeMap<UserId, StoredDataKey>,
    pub(super) schedule: BTreeMap<(String, String), Row>,
    /// The schedule's index: when, task, subject.
    pub(super) due: BTreeSet<(Timestamp, String, String)>,
}

impl Default for Tables {
    fn default() -> Self {
        Self {
            events: Vec::new(),
            head: Head { position: 0, recorded_at: Timestamp::UNIX_EPOCH },
            streams: HashMap::new(),
            types: HashMap::new(),
            accounts: BTreeMap::new(),
            owned: BTreeMap::new(),
            keys: BTreeMap::new(),
            claims: BTreeMap::new(),
            data_keys: BTreeMap::new(),
            schedule: BTreeMap::new(),
            due: BTreeSet::new(),
        }
    }
}

/// A row of `data_keys`.
#[derive(Clone)]
pub(crate) struct StoredDataKey {
    /// None once it was destroyed.
    pub(crate) wrapped: Option<Vec<u8>>,
    pub(crate) wrapped_by: Vec<u8>,
}

/// A row of `schedule`.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) due_at: Timestamp,
    pub(super) attempts: u32,
    pub(super) leased_until: Option<Timestamp>,
    pub(super) last_error: Option<String>,
}

impl Row {
    pub(super) const fn at(due_at: Timestamp) -> Self {
        Self { due_at, attempts: 0, leased_until: None, last_error: None }
    }
}

/// What a transaction has written and nobody else sees.
#[derive(Default, Clone)]
pub(super) struct Pending {
    pub(super) events: Vec<Arc<EventRow>>,
    pub(super) opened: Vec<(AccountNumber, LedgerAccount)>,
    pub(super) moved: Vec<(AccountNumber, LedgerAccount)>,
    /// A day that has its partition from now on.
    pub(super) key_day: Option<Date>,
    /// Days before this one lose theirs.
    pub(super) keep_keys_from: Option<Date>,
    pub(super) keys: Vec<([u8; 16], KeyRecord)>,
    pub(super) keys_of: Option<Date>,
    pub(super) claims: Vec<(ClaimedValue, Option<String>)>,
    pub(super) data_keys: Vec<(UserId, Option<Vec<u8>>)>,
    pub(super) wrapped_by: Vec<u8>,
    pub(super) dues: Vec<(String, String, Option<Timestamp>)>,
}

impl Tables {
    /// What is remembered of a key.
    pub(super) fn key(&self, key: &[u8; 16]) -> Option<KeyRecord> {
        self.keys.values().find_map(|day| day.get(key)).copied()
    }

    /// The places of a stream's events.
    pub(super) fn places(&self, kind: &str, id: &str) -> &[usize] {
        self.streams.get(kind).and_then(|ids| ids.get(id)).map_or(&[], Vec::as_slice)
    }

    /// What the constraints of the schema say to an append.
    pub(super) fn check(&self, pending: &Pending) -> Result<(), StoreError> {
        let mut lengths: HashMap<(&str, &str), i64> = HashMap::new();
        for row in &pending.events {
            let stream = (row.aggregate_type.as_str(), row.aggregate_id.as_str());
            let there = self.places(stream.0, stream.1).len();
            let length = lengths.entry(stream).or_insert_with(|| i64::try_from(there).unwrap_or(i64::MAX));
            if row.sequence <= *length {
                return Err(unique("events"));
            }
            *length = row.sequence;
        }
        if pending.opened.iter().any(|(number, _)| self.accounts.contains_key(number)) {
            return Err(unique("ledger_accounts"));
        }
        let minted = pending.data_keys.iter().filter(|(_, wrapped)| wrapped.is_some());
        if minted.into_iter().any(|(subject, _)| self.data_keys.contains_key(subject)) {
            return Err(unique("data_keys"));
        }
        let partition = |day: &Date| self.keys.contains_key(day) || pending.key_day == Some(*day);
        if !pending.keys.is_empty() && !pending.keys_of.as_ref().is_some_and(partition) {
            return Err(Violation(ErrorKind::CheckViolation, "no partition of idempotency_keys").into());
        }
        Ok(())
    }

    /// A transaction takes effect.
    pub(super) fn apply(&mut self, pending: Pending) {
        if let Some(day) = pending.key_day {
            self.keys.entry(day).or_default();
        }
        if let Some(from) = pending.keep_keys_from {
            self.keys = self.keys.split_off(&from);
        }
        for row in pending.events {
            self.head = Head { position: row.position, recorded_at: row.recorded_at.to_jiff() };
            let place = self.events.len();
            let ids = self.streams.entry(row.aggregate_type.clone()).or_default();
            ids.entry(row.aggregate_id.clone()).or_default().push(place);
            self.types.entry(row.event_type.clone()).or_default().push(place);
            self.events.push(row);
        }
        for (number, account) in pending.opened {
            if let Some(owner) = account.owner {
                self.owned.entry(owner).or_default().insert(number.clone());
            }
            self.accounts.insert(number, account);
        }
        for (number, moved) in pending.moved {
            // What an account was opened with is not among what a batch writes of one that is there.
            if let Some(account) = self.accounts.get_mut(&number) {
                *account = LedgerAccount {
                    owner: account.owner,
                    currency: account.currency,
                    overdraft_limit: account.overdraft_limit,
                    minimum_balance: account.minimum_balance,
                    maximum_balance: account.maximum_balance,
                    daily_limit: account.daily_limit,
                    monthly_limit: account.monthly_limit,
                    ..moved
                };
            }
        }
        if let Some(day) = pending.keys_of {
            self.keys.entry(day).or_default().extend(pending.keys);
        }
        for ((namespace, hash), holder) in pending.claims {
            let claims = self.claims.entry(namespace).or_default();
            match holder {
                Some(holder) => claims.insert(hash, holder),
                None => claims.remove(&hash),
            };
        }
        for (subject, wrapped) in pending.data_keys {
            let wrapped_by = pending.wrapped_by.clone();
            self.data_keys.insert(subject, StoredDataKey { wrapped, wrapped_by });
        }
        for (task, subject, at) in pending.dues {
            self.set((task, subject), at.map(Row::at));
        }
    }

    /// Writes a row of the schedule, or deletes it.
    pub(super) fn set(&mut self, key: (String, String), row: Option<Row>) {
        if let Some(old) = self.schedule.get(&key) {
            self.due.remove(&(old.due_at, key.0.clone(), key.1.clone()));
        }
        match row {
            Some(row) => {
                self.due.insert((row.due_at, key.0.clone(), key.1.clone()));
                self.schedule.insert(key, row);
            }
            None => {
                self.schedule.remove(&key);
            }
        }
    }

    /// The place of the event at a position.
    pub(super) fn place(position: Position) -> Option<usize> {
        usize::try_from(position).ok()?.checked_sub(1)
    }
}

fn unique(table: &'static str) -> StoreError {
    Violation(ErrorKind::UniqueViolation, table).into()
}

/// A constraint says no.
#[derive(Debug)]
struct Violation(ErrorKind, &'static str);

impl std::fmt::Display for Violation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}: {}", self.0, self.1)
    }
}

impl std::error::Error for Violation {}

impl DatabaseError for Violation {
    fn message(&self) -> &str {
        self.1
    }

    fn code(&self) -> Option<std::borrow::Cow<'_, str>> {
        // Class 23, integrity constraint violation: trying again does not help.
        Some(if matches!(self.0, ErrorKind::UniqueViolation) { "23505" } else { "23514" }.into())
    }

    fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
        self
    }

    fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
        self
    }

    fn kind(&self) -> ErrorKind {
        match self.0 {
            ErrorKind::UniqueViolation => ErrorKind::UniqueViolation,
            _ => ErrorKind::CheckViolation,
        }
    }
}

impl From<Violation> for StoreError {
    fn from(violation: Violation) -> Self {
        Self::Database(sqlx::Error::Database(Box::new(violation)))
    }
}
