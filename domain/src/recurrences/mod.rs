//! Recurrences: a payment of the past that is made again on certain days.
//! What moves there are: [`Series`]. A day that is refused is not tried again.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

pub use command::{NewRecurrence, RecurrenceCommand};
pub use error::RecurrenceError;
pub use event::{EXECUTE, RecurrenceEvent, SetUp};

/// Where a recurrence is.
pub use crate::kernel::SeriesStatus as RecurrenceStatus;
pub use crate::kernel::{FAILURES_TO_PAUSE, PauseReason};

use crate::aggregate::Aggregate;
use crate::kernel::{Run, Series, Step, TransactionId, UserId};

/// A recurrence, by its id.
pub type Recurrence = Series<Repeated>;

/// What is repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    /// The payment.
    pub transaction_id: TransactionId,
    /// What it is for.
    pub description: Option<String>,
}

fn fail(run: &Run<Repeated>, due: Date, code: String) -> Result<Vec<RecurrenceEvent>, RecurrenceError> {
    let next = run.finish(due)?;
    let mut events = vec![RecurrenceEvent::Failed { due, code, next }];
    if next.is_some() && run.is_about_to_pause() {
        events.push(RecurrenceEvent::Paused { reason: PauseReason::Failures });
    }
    Ok(events)
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
            (Self::Active(run), RecurrenceCommand::Execute { due, by }) => {
                RecurrenceEvent::Executed { due, by, next: run.finish(due)? }
            }
            (Self::Active(run), RecurrenceCommand::Fail { due, code }) => return fail(run, due, code),
            (Self::Active(_), RecurrenceCommand::Pause) => {
                RecurrenceEvent::Paused { reason: PauseReason::Requested }
            }
            (Self::Paused(run), RecurrenceCommand::Resume { today }) => {
                RecurrenceEvent::Resumed { next: run.resume(today)? }
            }
            (Self::Active(_) | Self::Paused(_), RecurrenceCommand::Cancel) => RecurrenceEvent::Cancelled,
            (
                Self::Absent | Self::Active(_) | Self::Paused(_) | Self::Completed(_) | Self::Cancelled(_),
                _,
            ) => return Err(self.refuse().into()),
        };
        Ok(vec![event])
    }

    fn evolve(&mut self, event: &RecurrenceEvent) {
        match event {
            RecurrenceEvent::SetUp(set_up) => {
                let what = Repeated {
                    transaction_id: set_up.transaction_id,
                    description: set_up.description.clone(),
                };
                let first = set_up.next.or_else(|| set_up.calendar.first());
                *self = Self::begun(set_up.owner, what, set_up.calendar, first, set_up.next.is_some());
            }
            RecurrenceEvent::Executed { due, next, .. } => {
                self.grow(Step::Executed { due: *due, next: *next });
            }
            RecurrenceEvent::Failed { due, next, .. } => self.grow(Step::Failed { due: *due, next: *next }),
            RecurrenceEvent::Paused { .. } => self.grow(Step::Paused),
            RecurrenceEvent::Resumed { next } => self.grow(Step::Resumed { next: *next }),
            RecurrenceEvent::Cancelled => self.grow(Step::Cancelled),
        }
    }

    fn owner(&self) -> Option<UserId> {
        self.run().map(|run| run.owner)
    }
}
