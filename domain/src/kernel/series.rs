//! A payment that is made on the days of a calendar: how far it is, and whether it goes on. Recurrences and mandates are such
//! series, each of a payment of its own kind.
//!
//! ```text
//!   Absent --begin--> Active <--pause, three failed days in a row; resume--> Paused
//!                        |  '--the last day is done--> Completed                |
//!                        '------------------cancel------------------------------'--> Cancelled
//! ```
//!
//! A day is executed or fails once, in order; after downtime those that were missed follow each other, oldest first. What was
//! due while it was paused is passed over.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::{Calendar, UserId, midnight};

/// Failed days in a row after which it is paused.
pub const FAILURES_TO_PAUSE: u8 = 3;

/// Payments of the kind `T` on certain days.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Series<T> {
    /// Not begun.
    #[default]
    Absent,
    /// Payments are made.
    Active(Box<Run<T>>),
    /// No payments for a while.
    Paused(Box<Run<T>>),
    /// Its last day is done.
    Completed(Box<Run<T>>),
    /// No payments any more.
    Cancelled(Box<Run<T>>),
}

/// What is paid on which days, and how far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run<T> {
    /// Who pays.
    pub owner: UserId,
    /// The payment.
    pub what: T,
    /// On which days.
    pub calendar: Calendar,
    /// The day that is due next; none unless it is active.
    pub next: Option<Date>,
    /// The day that was due next when it was paused.
    pub waiting: Option<Date>,
    /// The latest day that was executed or failed.
    pub done: Option<Date>,
    /// Refused tries of the day that is due next.
    pub tries: u8,
    /// When that day is tried again; at its beginning, if it was not tried.
    pub again_at: Option<Timestamp>,
    /// Failed days since the last payment or pause.
    pub failures: u8,
}

crate::spelled! {
    /// Where a series is.
    pub enum SeriesStatus {
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

impl SeriesStatus {
    /// Where it is after a day that `next` follows.
    #[must_use]
    pub const fn going(next: Option<Date>) -> Self {
        if next.is_some() { Self::Active } else { Self::Completed }
    }
}

crate::spelled! {
    /// Why no payments are made.
    pub enum PauseReason {
        /// The payer wants it so.
        Requested = "REQUESTED",
        /// Too many days in a row failed.
        Failures = "FAILURES",
    }
}

/// Why a series does not take a step. Each noun says it in its own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeriesError {
    /// It was not begun.
    Unknown,
    /// Not in this state.
    InvalidState(SeriesStatus),
    /// The day is done, or not the next one.
    NotDue,
    /// No day is left.
    NothingToExecute,
}

/// What happened to a series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A day was paid; `next` follows.
    Executed {
        /// The day.
        due: Date,
        /// The next one; none when that was the last.
        next: Option<Date>,
    },
    /// A day was refused for good; `next` follows.
    Failed {
        /// The day.
        due: Date,
        /// The next one; none when that was the last.
        next: Option<Date>,
    },
    /// A day was refused and is tried again.
    Refused {
        /// When.
        again_at: Timestamp,
    },
    /// No payments for a while.
    Paused,
    /// Payments again, from that day on.
    Resumed {
        /// The day.
        next: Date,
    },
    /// No payments any more.
    Cancelled,
}

impl<T> Series<T> {
    /// One whose first day is `first`; paused before it, unless it `is_active`.
    #[must_use]
    pub fn begun(owner: UserId, what: T, calendar: Calendar, first: Option<Date>, is_active: bool) -> Self {
        let (next, waiting) = if is_active { (first, None) } else { (None, first) };
        let (done, again_at) = (None, None);
        let run = Run { owner, what, calendar, next, waiting, done, tries: 0, again_at, failures: 0 };
        let state = if is_active { Self::Active } else { Self::Paused };
        state(Box::new(run))
    }

    /// Where it is; none before it was begun.
    #[must_use]
    pub const fn status(&self) -> Option<SeriesStatus> {
        match self {
            Self::Absent => None,
            Self::Active(_) => Some(SeriesStatus::Active),
            Self::Paused(_) => Some(SeriesStatus::Paused),
            Self::Completed(_) => Some(SeriesStatus::Completed),
            Self::Cancelled(_) => Some(SeriesStatus::Cancelled),
        }
    }

    /// What is paid, in whatever state it is.
    #[must_use]
    pub const fn run(&self) -> Option<&Run<T>> {
        match self {
            Self::Absent => None,
            Self::Active(run) | Self::Paused(run) | Self::Completed(run) | Self::Cancelled(run) => Some(run),
        }
    }

    /// The day that is due next, and when it is to be tried; none unless it is active.
    #[must_use]
    pub fn due(&self) -> Option<(&Run<T>, Date, Timestamp)> {
        let Self::Active(run) = self else { return None };
        let due = run.next?;
        Some((run, due, run.again_at.unwrap_or_else(|| midnight(due))))
    }

    /// That it is not in a state for this.
    #[must_use]
    pub fn refuse(&self) -> SeriesError {
        self.status().map_or(SeriesError::Unknown, SeriesError::InvalidState)
    }

    /// Grows by something that has happened.
    pub fn grow(&mut self, step: Step) {
        let (Self::Active(mut run)
        | Self::Paused(mut run)
        | Self::Completed(mut run)
        | Self::Cancelled(mut run)) = std::mem::take(self)
        else {
            return;
        };
        run.grow(step);
        let state = match step {
            Step::Executed { next, .. } | Step::Failed { next, .. } => {
                if next.is_some() {
                    Self::Active
                } else {
                    Self::Completed
                }
            }
            Step::Refused { .. } | Step::Resumed { .. } => Self::Active,
            Step::Paused => Self::Paused,
            Step::Cancelled => Self::Cancelled,
        };
        *self = state(run);
    }

    /// Changes what is paid.
    pub fn change(&mut self, change: impl FnOnce(&mut Run<T>)) {
        match self {
            Self::Absent => {}
            Self::Active(run) | Self::Paused(run) | Self::Completed(run) | Self::Cancelled(run) => {
                change(run)
            }
        }
    }
}

impl<T> Run<T> {
    /// The day after `due`, when that is the one to be done.
    ///
    /// # Errors
    /// [`SeriesError::NotDue`].
    pub fn finish(&self, due: Date) -> Result<Option<Date>, SeriesError> {
        if self.next == Some(due) { Ok(self.calendar.after(due)) } else { Err(SeriesError::NotDue) }
    }

    /// Whether one more failed day pauses it.
    #[must_use]
    pub const fn is_about_to_pause(&self) -> bool {
        self.failures + 1 >= FAILURES_TO_PAUSE
    }

    /// The first day from `today` on that was not done before.
    ///
    /// # Errors
    /// [`SeriesError::NothingToExecute`].
    pub fn resume(&self, today: Date) -> Result<Date, SeriesError> {
        self.first_open(&self.calendar, today).ok_or(SeriesError::NothingToExecute)
    }

    /// The first day of `calendar` from `today` on that was not done before.
    #[must_use]
    pub fn first_open(&self, calendar: &Calendar, today: Date) -> Option<Date> {
        match self.done.filter(|done| *done >= today) {
            Some(done) => calendar.after(done),
            None => calendar.from(today),
        }
    }

    fn grow(&mut self, step: Step) {
        (self.tries, self.again_at) = match step {
            Step::Refused { again_at } => (self.tries.saturating_add(1), Some(again_at)),
            _ => (0, None),
        };
        match step {
            Step::Executed { due, next } => (self.done, self.next, self.failures) = (Some(due), next, 0),
            Step::Failed { due, next } => {
                (self.done, self.next, self.failures) = (Some(due), next, self.failures.saturating_add(1));
            }
            Step::Refused { .. } => {}
            Step::Paused => (self.waiting, self.next, self.failures) = (self.next, None, 0),
            Step::Resumed { next } => (self.waiting, self.next) = (None, Some(next)),
            Step::Cancelled => self.next = None,
        }
    }
}
