//! Recurrences: a payment of the past that is made again on certain days.
//!
//! ```text
//!   Absent --set up--> Active <--pause, three refusals; resume--> Paused
//!                        |  '--the last day is done--> Completed     |
//!                        '-----------------cancel--------------------'--> Cancelled
//! ```
//!
//! A day is executed or fails once, in order; after downtime those that were missed follow each other, oldest first. What was
//! due while it was paused is passed over.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

pub use command::{NewRecurrence, RecurrenceCommand};
pub use error::RecurrenceError;
pub use event::{EXECUTE, PauseReason, RecurrenceEvent, SetUp};

use crate::aggregate::Aggregate;
use crate::kernel::{Calendar, TransactionId, UserId};

/// Refusals in a row after which it is paused.
pub const FAILURES_TO_PAUSE: u8 = 3;

/// A recurrence, by its id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Recurrence {
    /// Not set up.
    #[default]
    Absent,
    /// Payments are made.
    Active(Box<Series>),
    /// No payments for a while.
    Paused(Box<Series>),
    /// Its last day is done.
    Completed(Box<Series>),
    /// No payments any more.
    Cancelled(Box<Series>),
}

/// What is repeated, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    /// Who pays.
    pub owner: UserId,
    /// The payment that is repeated.
    pub transaction_id: TransactionId,
    /// On which days.
    pub calendar: Calendar,
    /// What it is for.
    pub description: Option<String>,
    /// The day that is due next; none unless it is active.
    pub next: Option<Date>,
    /// The latest day that was executed or failed.
    pub done: Option<Date>,
    /// Refusals since the last payment or pause.
    pub failures: u8,
}

crate::spelled! {
    /// Where a recurrence is.
    pub enum RecurrenceStatus {
        /// Payments are made.
        Active = "ACTIVE",
        /// No payments for a while.
        Paused = "PAUSED",
        /// Its last day is done.
        Completed = "COMPLETED",
        /// No payments any more.
        Cancelled = "CANCELLED",
    }
}

impl Recurrence {
    /// Where it is; none before it was set up.
    #[must_use]
    pub const fn status(&self) -> Option<RecurrenceStatus> {
        match self {
            Self::Absent => None,
            Self::Active(_) => Some(RecurrenceStatus::Active),
            Self::Paused(_) => Some(RecurrenceStatus::Paused),
            Self::Completed(_) => Some(RecurrenceStatus::Completed),
            Self::Cancelled(_) => Some(RecurrenceStatus::Cancelled),
        }
    }

    fn refuse(&self) -> RecurrenceError {
        match self.status() {
            None => RecurrenceError::Unknown,
            Some(status) => RecurrenceError::InvalidState { state: status.as_str() },
        }
    }

    fn into_series(self) -> Option<Box<Series>> {
        match self {
            Self::Absent => None,
            Self::Active(series)
            | Self::Paused(series)
            | Self::Completed(series)
            | Self::Cancelled(series) => Some(series),
        }
    }
}

impl Series {
    /// The day after `due`, when that is the one to be done.
    fn done(&self, due: Date) -> Result<Option<Date>, RecurrenceError> {
        if self.next == Some(due) { Ok(self.calendar.after(due)) } else { Err(RecurrenceError::NotDue) }
    }

    fn fail(&self, due: Date, code: String) -> Result<Vec<RecurrenceEvent>, RecurrenceError> {
        let next = self.done(due)?;
        let mut events = vec![RecurrenceEvent::Failed { due, code, next }];
        if next.is_some() && self.failures + 1 >= FAILURES_TO_PAUSE {
            events.push(RecurrenceEvent::Paused { reason: PauseReason::Failures });
        }
        Ok(events)
    }

    /// The first day from `today` on that was not done before.
    fn resume(&self, today: Date) -> Result<Date, RecurrenceError> {
        let day = match self.done.filter(|done| *done >= today) {
            Some(done) => self.calendar.after(done),
            None => self.calendar.from(today),
        };
        day.ok_or(RecurrenceError::NothingToExecute)
    }
}

impl NewRecurrence {
    fn set_up(self) -> Result<RecurrenceEvent, RecurrenceError> {
        let first = self.calendar.from(self.today).ok_or(RecurrenceError::NothingToExecute)?;
        Ok(RecurrenceEvent::SetUp(Box::new(SetUp {
            owner: self.owner,
            transaction_id: self.transaction_id,
            calendar: self.calendar,
            starts_at: self.starts_at,
            ends_at: self.ends_at,
            description: self.description,
            next: (!self.is_paused).then_some(first),
        })))
    }
}

impl Aggregate for Recurrence {
    const TYPE: &'static str = "recurrence";
    type Command = RecurrenceCommand;
    type Event = RecurrenceEvent;
    type Error = RecurrenceError;

    fn decide(&self, command: RecurrenceCommand) -> Result<Vec<RecurrenceEvent>, RecurrenceError> {
        let event = match (self, command) {
            (Self::Absent, RecurrenceCommand::SetUp(new)) => new.set_up()?,
            (Self::Active(series), RecurrenceCommand::Execute { due, by }) => {
                RecurrenceEvent::Executed { due, by, next: series.done(due)? }
            }
            (Self::Active(series), RecurrenceCommand::Fail { due, code }) => return series.fail(due, code),
            (Self::Active(_), RecurrenceCommand::Pause) => {
                RecurrenceEvent::Paused { reason: PauseReason::Requested }
            }
            (Self::Paused(series), RecurrenceCommand::Resume { today }) => {
                RecurrenceEvent::Resumed { next: series.resume(today)? }
            }
            (Self::Active(_) | Self::Paused(_), RecurrenceCommand::Cancel) => RecurrenceEvent::Cancelled,
            (
                Self::Absent | Self::Active(_) | Self::Paused(_) | Self::Completed(_) | Self::Cancelled(_),
                _,
            ) => return Err(self.refuse()),
        };
        Ok(vec![event])
    }

    fn evolve(&mut self, event: &RecurrenceEvent) {
        if let RecurrenceEvent::SetUp(set_up) = event {
            let series = Series {
                owner: set_up.owner,
                transaction_id: set_up.transaction_id,
                calendar: set_up.calendar,
                description: set_up.description.clone(),
                next: set_up.next,
                done: None,
                failures: 0,
            };
            let state = if set_up.next.is_some() { Self::Active } else { Self::Paused };
            *self = state(Box::new(series));
            return;
        }
        let Some(mut series) = std::mem::take(self).into_series() else { return };
        let state = match event {
            RecurrenceEvent::SetUp(_) | RecurrenceEvent::Resumed { .. } => Self::Active,
            RecurrenceEvent::Executed { next, .. } | RecurrenceEvent::Failed { next, .. } => {
                if next.is_some() { Self::Active } else { Self::Completed }
            }
            RecurrenceEvent::Paused { .. } => Self::Paused,
            RecurrenceEvent::Cancelled => Self::Cancelled,
        };
        series.grow(event);
        *self = state(series);
    }

    fn owner(&self) -> Option<UserId> {
        match self {
            Self::Absent => None,
            Self::Active(series)
            | Self::Paused(series)
            | Self::Completed(series)
            | Self::Cancelled(series) => Some(series.owner),
        }
    }
}

impl Series {
    fn grow(&mut self, event: &RecurrenceEvent) {
        match event {
            RecurrenceEvent::SetUp(_) => {}
            RecurrenceEvent::Executed { due, next, .. } => {
                (self.done, self.next, self.failures) = (Some(*due), *next, 0);
            }
            RecurrenceEvent::Failed { due, next, .. } => {
                (self.done, self.next, self.failures) = (Some(*due), *next, self.failures.saturating_add(1));
            }
            RecurrenceEvent::Paused { .. } => (self.next, self.failures) = (None, 0),
            RecurrenceEvent::Resumed { next } => self.next = Some(*next),
            RecurrenceEvent::Cancelled => self.next = None,
        }
    }
}
