//! On which days something happens again and again, as a request says it.

use bursar_domain::kernel::{Calendar, Frequency, utc_date};
use jiff::Timestamp;

use crate::problem::Problem;
use crate::request::DayNumber;

/// The days from `start` to `end`, that UTC day included; `day` is that of the month or week, that of `start` when absent.
///
/// # Errors
/// 400, when the frequency has no such day or the end comes first.
pub fn calendar(
    frequency: Frequency,
    start: Timestamp,
    end: Option<Timestamp>,
    day: Option<DayNumber>,
) -> Result<Calendar, Problem> {
    let (start, last) = (utc_date(start), end.map(utc_date));
    if last.is_some_and(|last| last < start) {
        return Err(Problem::bad_request("/endDate", "OUT_OF_RANGE", "endDate is before startDate"));
    }
    let day = day.map(|DayNumber(day)| day);
    Calendar::new(frequency, start, day, last)
        .map_err(|e| Problem::bad_request("/executionDay", "OUT_OF_RANGE", e.to_string()))
}
