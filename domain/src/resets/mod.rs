//! Resets: requests for a new password, by the name under which they were asked for.
//!
//! Whether anybody has the name makes no difference to what is asked, answered or written: the same event, in a stream that
//! is named by a keyed hash. Only the process that follows it finds somebody to write to, or nobody.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

pub use command::ResetsCommand;
pub use error::ResetsError;
pub use event::{Requested, ResetsEvent, SEND_RESET};

use crate::aggregate::Aggregate;
use crate::kernel::{end_of_day, seconds_until, utc_date};

/// The requests under one name, by its keyed hash.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resets {
    /// The last one.
    pub last: Option<Requested>,
    /// How many there were, on the UTC day of the last one.
    today: Option<(Date, u32)>,
}

impl Aggregate for Resets {
    const TYPE: &'static str = "resets";
    type Command = ResetsCommand;
    type Event = ResetsEvent;
    type Error = ResetsError;

    fn decide(&self, command: ResetsCommand) -> Result<Vec<ResetsEvent>, ResetsError> {
        let ResetsCommand::Request { request, a_day } = command;
        let day = utc_date(request.at);
        let asked = self.today.filter(|(last, _)| *last == day).map_or(0, |(_, asked)| asked);
        if asked < a_day {
            return Ok(vec![ResetsEvent::Requested(request)]);
        }
        let retry_after = seconds_until(request.at, end_of_day(day));
        Err(ResetsError::TooMany { allowed: a_day, retry_after })
    }

    fn evolve(&mut self, event: &ResetsEvent) {
        let ResetsEvent::Requested(request) = event;
        let day = utc_date(request.at);
        let before = self.today.filter(|(last, _)| *last == day).map_or(0, |(_, asked)| asked);
        self.today = Some((day, before.saturating_add(1)));
        self.last = Some(request.clone());
    }
}
