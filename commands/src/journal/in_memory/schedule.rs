//! The schedule's rows: what `processes/store.rs` asks in SQL.

use jiff::Timestamp;

use super::super::StoreError;
use super::Door;
use super::tables::{Row, Tables};
use crate::processes::{Claimed, Planned, Work};

impl Door {
    pub(crate) async fn planned(
        &self,
        task: Option<&str>,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<Planned>, i64), StoreError> {
        let tables = self.ask().await?;
        let rows: Vec<_> =
            tables.due.iter().filter(|(_, of, _)| task.is_none_or(|task| task == of)).collect();
        let total = i64::try_from(rows.len()).unwrap_or(i64::MAX);
        let (skip, take) = (usize::try_from(offset).unwrap_or(0), usize::try_from(limit).unwrap_or(0));
        let page = rows.into_iter().skip(skip).take(take);
        let planned = page.filter_map(|(due_at, task, subject)| {
            let row = tables.schedule.get(&(task.clone(), subject.clone()))?;
            Some(Planned {
                task: task.clone(),
                subject: subject.clone(),
                due_at: *due_at,
                attempts: row.attempts,
                leased_until: row.leased_until,
                last_error: row.last_error.clone(),
            })
        });
        Ok((planned.collect(), total))
    }

    pub(crate) async fn claim(
        &self,
        tasks: &[&str],
        now: Timestamp,
        until: Timestamp,
        most: i64,
    ) -> Result<Vec<Claimed>, StoreError> {
        let claimed = {
            let mut tables = self.ask().await?;
            let free = |tables: &Tables, key: &(String, String)| {
                let row = tables.schedule.get(key);
                row.is_some_and(|row| row.leased_until.is_none_or(|until| until < now))
            };
            let due = tables.due.iter().take_while(|(at, ..)| *at <= now);
            let keys: Vec<(String, String)> = due
                .filter(|(_, task, _)| tasks.contains(&task.as_str()))
                .map(|(_, task, subject)| (task.clone(), subject.clone()))
                .filter(|key| free(&tables, key))
                .take(usize::try_from(most).unwrap_or(0))
                .collect();
            let mut claimed = Vec::with_capacity(keys.len());
            for key in keys {
                let Some(row) = tables.schedule.get_mut(&key) else { continue };
                row.leased_until = Some(until);
                row.attempts += 1;
                let (due_at, attempts) = (row.due_at, row.attempts);
                claimed.push(Claimed { task: key.0, subject: key.1, due_at, attempts });
            }
            claimed
        };
        // Whoever dies before the answer arrives leaves rows that are leased and that nobody does.
        self.pass().await?;
        Ok(claimed)
    }

    pub(crate) async fn add(&self, task: &str, subject: &str, at: Timestamp) -> Result<(), StoreError> {
        let mut tables = self.ask().await?;
        let key = (task.to_owned(), subject.to_owned());
        if !tables.schedule.contains_key(&key) {
            tables.set(key, Some(Row::at(at)));
        }
        Ok(())
    }

    pub(crate) async fn begin(&self, task: &str, subject: &str, at: Timestamp) -> Result<(), StoreError> {
        let mut tables = self.ask().await?;
        if !tables.schedule.keys().any(|(of, _)| of == task) {
            tables.set((task.to_owned(), subject.to_owned()), Some(Row::at(at)));
        }
        Ok(())
    }

    pub(crate) async fn is_anything_due(&self, tasks: &[&str], now: Timestamp) -> Result<bool, StoreError> {
        let tables = self.ask().await?;
        let mut due = tables.due.iter().take_while(|(at, ..)| *at <= now);
        Ok(due.any(|(_, task, _)| tasks.contains(&task.as_str())))
    }

    pub(crate) async fn finish(&self, task: &str, work: &Work) -> Result<(), StoreError> {
        let mut tables = self.ask().await?;
        let key = (task.to_owned(), work.subject.clone());
        if tables.still(&key, work).is_some() {
            tables.set(key, None);
        }
        Ok(())
    }

    pub(crate) async fn put_off(
        &self,
        task: &str,
        work: &Work,
        at: Timestamp,
        reason: Option<&str>,
    ) -> Result<(), StoreError> {
        let mut tables = self.ask().await?;
        let key = (task.to_owned(), work.subject.clone());
        if let Some(row) = tables.still(&key, work) {
            let attempts = if reason.is_none() { 0 } else { row.attempts };
            let last_error = reason.map(ToOwned::to_owned);
            tables.set(key, Some(Row { due_at: at, attempts, leased_until: None, last_error }));
        }
        Ok(())
    }
}

impl Tables {
    /// The row, unless an event has ordered the work anew since it was claimed.
    fn still(&self, key: &(String, String), work: &Work) -> Option<&Row> {
        self.schedule.get(key).filter(|row| row.due_at == work.due_at && row.attempts > 0)
    }
}
