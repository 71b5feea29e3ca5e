//! What must hold of the log, whatever went wrong. The ledger, versions, positions, times and interest are checked by what
//! `bursar audit replay` checks them with; the rest is here.

use std::collections::{BTreeMap, HashMap, HashSet};

use bursar_domain::codec::Codec;
use bursar_domain::kernel::Calendar;
use bursar_domain::mandates::MandateEvent;
use bursar_domain::payments::PaymentEvent;
use bursar_domain::recurrences::RecurrenceEvent;
use bursar_domain::{Event, Position, Recorded, StreamId};
use jiff::Timestamp;
use jiff::civil::Date;

use super::SimError;
use super::clubs::Clubs;
use super::leaving::Leaving;
use crate::audit::Report;
use crate::audit::replay::Rebuilt;
use crate::journal::in_memory::InMemory;
use crate::proof::merkle::{Frontier, leaf_hash};

/// Tries after which work is said never to end.
const MOST_TRIES: u32 = 9;
/// Events after which nothing more can happen to their aggregate.
const LAST: [&str; 15] = [
    "mandate.cancelled",
    "recurrence.cancelled",
    "loan.closed",
    "loan.rejected",
    "loan.withdrawn",
    "loan.expired",
    "card.removed",
    "dispute.won",
    "dispute.lost",
    "account.closed",
    "closure.rejected",
    "closure.cancelled",
    "closure.completed",
    "plan.ended",
    "user.erased",
];

/// Something wrong: at which position, if at any, and what.
pub(super) type Finding = (Option<Position>, String);

/// The bank as a reader of the log knows it.
#[derive(Default)]
pub(super) struct Checks {
    rebuilt: Rebuilt,
    tree: Frontier,
    seen: usize,
    /// Where the events of each request or due key are.
    units: HashMap<String, (Position, Position, Timestamp)>,
    /// What requests were told.
    answered: HashMap<String, (Position, Position)>,
    /// Requests that were told so since the last look.
    news: Vec<String>,
    refused: HashSet<String>,
    courses: HashMap<StreamId, Course>,
    undone: HashSet<StreamId>,
    ended: HashMap<StreamId, &'static str>,
    clubs: Clubs,
    leaving: Leaving,
    pub(super) kinds: BTreeMap<&'static str, u64>,
    pub(super) checked: u64,
}

/// How far the days of a series are.
struct Course {
    calendar: Option<Calendar>,
    last: Option<Date>,
    /// Days may have been passed over since.
    paused: bool,
}

impl Checks {
    /// A request was told where its events are.
    pub(super) fn answer(&mut self, request: &str, events: &[Recorded]) -> Result<(), Finding> {
        let (Some(first), Some(last)) = (events.first(), events.last()) else { return Ok(()) };
        let told = (first.position, last.position);
        self.checked += 1;
        if let Some(before) = self.answered.insert(request.to_owned(), told) {
            let finding = format!("{request} was told {told:?}, and {before:?} before");
            return if before == told { Ok(()) } else { Err((Some(told.0), finding)) };
        }
        self.news.push(request.to_owned());
        Ok(())
    }

    /// A request was refused.
    pub(super) fn refusal(&mut self, request: &str, code: &str) -> Result<(), Finding> {
        self.checked += 1;
        if let Some((first, _)) = self.answered.get(request) {
            let finding = format!("{request} was carried out, and its repeat was refused with {code}");
            return Err((Some(*first), finding));
        }
        self.refused.insert(request.to_owned());
        Ok(())
    }

    /// Reads what is new in the log, and answers it.
    pub(super) fn read(&mut self, tables: &InMemory) -> Result<Result<Vec<Recorded>, Finding>, SimError> {
        // Without keys: what is personal stays sealed.
        let events = tables.read(self.seen, &Codec::default())?;
        for line in tables.lines(self.seen)? {
            self.tree.push(leaf_hash(&line));
        }
        let after = self.seen;
        self.seen += events.len();
        Ok(self.take(&events, after).map(|()| events))
    }

    fn take(&mut self, events: &[Recorded], after: usize) -> Result<(), Finding> {
        let mut expected = Position::try_from(after).unwrap_or(Position::MAX);
        for recorded in events {
            expected += 1;
            let at = Some(recorded.position);
            if recorded.position != expected {
                return Err((at, format!("position {} stands at {expected}", recorded.position)));
            }
            self.rebuilt
                .take_one(recorded)
                .map_err(|difference| (Some(difference.position), format!("{difference}")))?;
            self.unit(recorded).map_err(|finding| (at, finding))?;
            self.stream(recorded).map_err(|finding| (at, finding))?;
            self.clubs.take(recorded).map_err(|finding| (at, finding))?;
            self.leaving.take(recorded).map_err(|finding| (at, finding))?;
            *self.kinds.entry(recorded.event.name()).or_default() += 1;
            self.checked += 1;
        }
        Ok(())
    }

    /// One key is one unit, written at once.
    fn unit(&mut self, recorded: &Recorded) -> Result<(), String> {
        let Recorded { position, recorded_at, .. } = recorded;
        let key = recorded.metadata.correlation_id.as_str();
        match self.units.get_mut(key) {
            None => {
                self.units.insert(key.to_owned(), (*position, *position, *recorded_at));
            }
            Some((_, last, at)) if *last + 1 == *position && at == recorded_at => *last = *position,
            Some((first, last, _)) => {
                return Err(format!("{key} was carried out at {first} to {last}, and again at {position}"));
            }
        }
        Ok(())
    }

    fn stream(&mut self, recorded: &Recorded) -> Result<(), String> {
        let stream = &recorded.stream;
        if let Some(last) = self.ended.get(stream) {
            return Err(format!("{stream} has {} after {last}", recorded.event.name()));
        }
        if let Some(last) = LAST.iter().find(|last| **last == recorded.event.name()) {
            self.ended.insert(stream.clone(), last);
        }
        match &recorded.event {
            Event::Payment(PaymentEvent::Reversed { .. }) if !self.undone.insert(stream.clone()) => {
                Err(format!("{stream} was reversed twice"))
            }
            Event::Mandate(event) => match event {
                MandateEvent::SetUp(set_up) => {
                    self.begin(stream, Some(set_up.plan.calendar));
                    Ok(())
                }
                MandateEvent::Executed { due, .. } | MandateEvent::Failed { due, .. } => {
                    self.day(stream, *due)
                }
                MandateEvent::Changed { .. } => {
                    self.begin(stream, None);
                    Ok(())
                }
                MandateEvent::Paused { .. } | MandateEvent::Resumed { .. } => {
                    self.pause(stream);
                    Ok(())
                }
                MandateEvent::Refused { .. } | MandateEvent::Cancelled { .. } => Ok(()),
            },
            Event::Recurrence(event) => match event {
                RecurrenceEvent::SetUp(set_up) => {
                    self.begin(stream, Some(set_up.calendar));
                    Ok(())
                }
                RecurrenceEvent::Executed { due, .. } | RecurrenceEvent::Failed { due, .. } => {
                    self.day(stream, *due)
                }
                RecurrenceEvent::Paused { .. } | RecurrenceEvent::Resumed { .. } => {
                    self.pause(stream);
                    Ok(())
                }
                RecurrenceEvent::Cancelled => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn begin(&mut self, stream: &StreamId, calendar: Option<Calendar>) {
        self.courses.insert(stream.clone(), Course { calendar, last: None, paused: false });
    }

    fn pause(&mut self, stream: &StreamId) {
        if let Some(course) = self.courses.get_mut(stream) {
            course.paused = true;
        }
    }

    /// A day was done: one of the calendar, after the one before, and none was left out.
    fn day(&mut self, stream: &StreamId, due: Date) -> Result<(), String> {
        let Some(course) = self.courses.get_mut(stream) else {
            return Err(format!("{stream} was never begun"));
        };
        let Some(calendar) = course.calendar else { return Ok(()) };
        if calendar.from(due) != Some(due) {
            return Err(format!("{stream} has done {due}, which is no day of it"));
        }
        if let Some(last) = course.last {
            let next = calendar.after(last);
            if due <= last || (!course.paused && next != Some(due)) {
                return Err(format!("{stream} has done {due} after {last}, and {next:?} was next"));
            }
        }
        (course.last, course.paused) = (Some(due), false);
        Ok(())
    }

    /// What must hold at the end of a day.
    pub(super) fn day_end(&mut self, tables: &InMemory) -> Result<(), Finding> {
        for request in std::mem::take(&mut self.news) {
            let told = self.answered.get(&request).copied();
            let found = self.units.get(&request).map(|(first, last, _)| (*first, *last));
            if told != found {
                let finding = format!("{request} was told {told:?}, and its events are {found:?}");
                return Err((told.map(|(first, _)| first), finding));
            }
        }
        for request in self.refused.drain() {
            if let Some((first, ..)) = self.units.get(&request)
                && !self.answered.contains_key(&request)
            {
                return Err((Some(*first), format!("{request} was refused, and is in the log")));
            }
        }
        let done = self.clubs.day_end().and_then(|()| self.leaving.day_end(tables));
        done.map_err(|finding| (None, finding))?;
        let difference = tables.ledger(|accounts| self.rebuilt.compare_accounts(accounts.iter()));
        if let Some(difference) = difference.or_else(|| self.rebuilt.compare_open_items()) {
            return Err((Some(difference.position), format!("{difference}")));
        }
        let mut report = Report::default();
        self.rebuilt.balance(&mut report);
        for (currency, lines) in &report.trial_balance {
            let sum: i128 = lines.values().sum();
            if sum != 0 {
                return Err((None, format!("all balances together are {sum} {currency}")));
            }
        }
        if let Some((task, subject, tries)) = tables.stuck(MOST_TRIES) {
            return Err((None, format!("{task} of {subject} was tried {tries} times and is not done")));
        }
        Ok(())
    }

    /// Every request of the simulation in the log was acknowledged.
    pub(super) fn end(&self) -> Result<(), Finding> {
        let mut stray: Vec<_> = self.units.iter().filter(|(key, _)| key.starts_with("sim-")).collect();
        stray.sort();
        for (key, (first, ..)) in stray {
            if !self.answered.contains_key(key) {
                return Err((Some(*first), format!("{key} is in the log and was never acknowledged")));
            }
        }
        Ok(())
    }

    pub(super) fn root(&self) -> [u8; 32] {
        self.tree.root()
    }
}
