//! Mandates: standing instructions to pay somebody on certain days. What moves there are: [`Series`].
//!
//! A day whose payment is refused is tried again on the same day, up to [`TRIES`] times; a try that comes after its day, because
//! no server was up, is the last. Then the day has failed, and the next one is waited for.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use command::{Edits, MandateCommand, NewMandate};
pub use error::MandateError;
pub use event::{EXECUTE, MandateEvent, MandateType, Plan, SetUp, Target};

/// Where a mandate is.
pub use crate::kernel::SeriesStatus as MandateStatus;

use crate::aggregate::Aggregate;
use crate::kernel::{
    AccountNumber, Calendar, Currency, PauseReason, Personal, Run, Series, Step, UserId, utc_date,
};

/// How often a day is tried.
pub const TRIES: u8 = 3;
/// The time between two tries: a salary that comes in the morning is there for one of them.
pub const RETRY_AFTER: SignedDuration = SignedDuration::from_hours(4);
/// Passed-over days that are kept when it is resumed, the latest.
const MOST_SKIPPED: usize = 366;

/// A mandate, by its id.
pub type Mandate = Series<Instruction>;

/// What is paid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruction {
    /// The account debited.
    pub source: AccountNumber,
    /// Who is paid.
    pub target: Target,
    /// The payee's name as the payer gave it.
    pub payee_name: Option<Personal<String>>,
    /// In which currency.
    pub currency: Currency,
    /// How much, when, what for.
    pub plan: Plan,
}

/// When a day is tried again that was refused at `now`; none when that was its last try.
#[must_use]
pub fn try_again_at(run: &Run<Instruction>, due: Date, now: Timestamp) -> Option<Timestamp> {
    let again_at = now.checked_add(RETRY_AFTER).ok()?;
    (run.tries + 1 < TRIES && utc_date(again_at) <= due).then_some(again_at)
}

impl NewMandate {
    fn set_up(self) -> Result<MandateEvent, MandateError> {
        let first = self.plan.calendar.from(self.today).ok_or(MandateError::NothingToExecute)?;
        Ok(MandateEvent::SetUp(Box::new(SetUp {
            owner: self.owner,
            mandate_type: self.mandate_type,
            source: self.source,
            target: self.target,
            payee_name: self.payee_name,
            currency: self.currency,
            plan: self.plan,
            first,
            is_active: self.is_active,
            origin: self.origin,
        })))
    }
}

fn refuse(
    run: &Run<Instruction>,
    due: Date,
    code: String,
    now: Timestamp,
) -> Result<Vec<MandateEvent>, MandateError> {
    let next = run.finish(due)?;
    if let Some(again_at) = try_again_at(run, due, now) {
        return Ok(vec![MandateEvent::Refused { due, code, again_at }]);
    }
    let mut events = vec![MandateEvent::Failed { due, code, amount: run.what.plan.amount, next }];
    if next.is_some() && run.is_about_to_pause() {
        events.push(MandateEvent::Paused { reason: PauseReason::Failures });
    }
    Ok(events)
}

/// The plan with the edits in it.
fn edited(plan: &Plan, edits: &Edits) -> Result<Plan, MandateError> {
    let before = &plan.calendar;
    let frequency = edits.frequency.unwrap_or_else(|| before.frequency());
    // The day of a month is no day of a week.
    let day = edits.execution_day.or_else(|| before.day().filter(|_| frequency == before.frequency()));
    let ends_at = edits.ends_at.unwrap_or(plan.ends_at);
    let (start, last) = (utc_date(plan.starts_at), ends_at.map(utc_date));
    if last.is_some_and(|last| last < start) {
        return Err(MandateError::EndsTooEarly);
    }
    Ok(Plan {
        name: edits.name.clone().unwrap_or_else(|| plan.name.clone()),
        amount: edits.amount.unwrap_or(plan.amount),
        calendar: Calendar::new(frequency, start, day, last)?,
        starts_at: plan.starts_at,
        ends_at,
        description: edits.description.clone().unwrap_or_else(|| plan.description.clone()),
    })
}

/// What becomes of it with the edits, and whether it is to be active then.
fn change(
    run: &Run<Instruction>,
    edits: &Edits,
    was_active: bool,
) -> Result<Vec<MandateEvent>, MandateError> {
    let plan = edited(&run.what.plan, edits)?;
    let (before, now) = (&run.calendar, &plan.calendar);
    let same_days = (before.frequency(), before.day()) == (now.frequency(), now.day());
    let next = match run.next {
        // A day that was missed is still made up for.
        Some(next) if same_days => now.from(next),
        _ => run.first_open(now, edits.today),
    };
    let next = next.ok_or(MandateError::NothingToExecute)?;
    let mut events = vec![MandateEvent::Changed { plan: plan.clone(), next: was_active.then_some(next) }];
    match (was_active, edits.is_active.unwrap_or(was_active)) {
        (true, false) => events.push(MandateEvent::Paused { reason: PauseReason::Requested }),
        (false, true) => {
            events.push(MandateEvent::Resumed { next, skipped: skipped(run, &plan.calendar, next) });
        }
        (true, true) | (false, false) => {}
    }
    Ok(events)
}

/// The days from the one that it waited with up to `next`.
fn skipped(run: &Run<Instruction>, calendar: &Calendar, next: Date) -> Vec<Date> {
    let first = run.waiting.and_then(|day| run.first_open(calendar, day));
    let days = std::iter::successors(first, |day| calendar.after(*day)).take_while(|day| *day < next);
    let days: Vec<Date> = days.collect();
    days.get(days.len().saturating_sub(MOST_SKIPPED)..).unwrap_or_default().to_vec()
}

impl Aggregate for Mandate {
    const TYPE: &'static str = "mandate";
    type Command = MandateCommand;
    type Event = MandateEvent;
    type Error = MandateError;

    fn decide(&self, command: MandateCommand) -> Result<Vec<MandateEvent>, MandateError> {
        let event = match (self, command) {
            (Self::Absent, MandateCommand::SetUp(new)) => new.set_up()?,
            (Self::Active(run), MandateCommand::Execute { due, by }) => {
                MandateEvent::Executed { due, by, amount: run.what.plan.amount, next: run.finish(due)? }
            }
            (Self::Active(run), MandateCommand::Refuse { due, code, now }) => {
                return refuse(run, due, code, now);
            }
            (Self::Active(run), MandateCommand::Change(edits)) => return change(run, &edits, true),
            (Self::Paused(run), MandateCommand::Change(edits)) => return change(run, &edits, false),
            (Self::Active(run) | Self::Paused(run), MandateCommand::Cancel { reason }) => {
                MandateEvent::Cancelled { name: run.what.plan.name.clone(), reason }
            }
            (
                Self::Absent | Self::Active(_) | Self::Paused(_) | Self::Completed(_) | Self::Cancelled(_),
                _,
            ) => return Err(self.refuse().into()),
        };
        Ok(vec![event])
    }

    fn evolve(&mut self, event: &MandateEvent) {
        match event {
            MandateEvent::SetUp(set_up) => {
                let what = Instruction {
                    source: set_up.source.clone(),
                    target: set_up.target.clone(),
                    payee_name: set_up.payee_name.clone(),
                    currency: set_up.currency,
                    plan: set_up.plan.clone(),
                };
                let calendar = set_up.plan.calendar;
                *self = Self::begun(set_up.owner, what, calendar, Some(set_up.first), set_up.is_active);
            }
            MandateEvent::Executed { due, next, .. } => {
                self.grow(Step::Executed { due: *due, next: *next });
            }
            MandateEvent::Refused { again_at, .. } => self.grow(Step::Refused { again_at: *again_at }),
            MandateEvent::Failed { due, next, .. } => self.grow(Step::Failed { due: *due, next: *next }),
            MandateEvent::Changed { plan, next } => self.change(|run| {
                run.calendar = plan.calendar;
                run.what.plan = plan.clone();
                if run.next != *next {
                    (run.next, run.tries, run.again_at) = (*next, 0, None);
                }
            }),
            MandateEvent::Paused { .. } => self.grow(Step::Paused),
            MandateEvent::Resumed { next, .. } => self.grow(Step::Resumed { next: *next }),
            MandateEvent::Cancelled { .. } => self.grow(Step::Cancelled),
        }
    }

    fn owner(&self) -> Option<UserId> {
        self.run().map(|run| run.owner)
    }
}
