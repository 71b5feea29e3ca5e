//! Stretches and moments of time that a query is about.

use bursar_domain::Position;
pub use bursar_domain::kernel::midnight;
use bursar_domain::kernel::utc_date;
use bursar_projections::statement_entries::AsOf;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::KnownFormat;

use super::fault;
use super::fields::Field as _;
use super::query::{Param, Params, parameter};
use super::schema;
use super::values::timestamp;

/// Longest range, in days.
const LONGEST: i64 = 366;
/// What a range covers when nothing is said, in days.
const USUAL: i64 = 30;

/// A stretch of time: `from` and `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    /// Inclusive.
    pub from: Timestamp,
    /// Exclusive.
    pub to: Timestamp,
}

impl DateRange {
    /// The first and the last UTC day that the range touches.
    #[must_use]
    pub fn days(&self) -> (Date, Date) {
        let last = self.to.checked_sub(SignedDuration::from_nanos(1)).unwrap_or(self.to).max(self.from);
        (utc_date(self.from), utc_date(last))
    }
}

impl Param for DateRange {
    fn take(params: &mut Params, _: &str) -> Self {
        let given_to = moment(params, "to");
        let to = given_to.map_or_else(|| day_after(utc_date(params.now)), Moment::end);
        let from = moment(params, "from").map(Moment::start);
        let from =
            from.unwrap_or_else(|| to.checked_sub(SignedDuration::from_hours(24 * USUAL)).unwrap_or(to));
        let backwards = match given_to {
            Some(Moment::Day(_)) | None => from >= to,
            Some(Moment::Instant(_)) => from > to,
        };
        if backwards {
            params.fault("from", "OUT_OF_RANGE", "from is after to");
        } else if to.duration_since(from) > SignedDuration::from_hours(24 * LONGEST) {
            params.fault("from", "OUT_OF_RANGE", "a range covers at most 366 days");
        }
        Self { from, to }
    }

    fn document(_: &str, _: &str) -> Vec<Parameter> {
        let about = [
            ("from", "Date or timestamp, inclusive; 30 days before the end when absent."),
            (
                "to",
                "A date, which includes that UTC day, or a timestamp, which is exclusive; today when absent. At most \
                 366 days after `from`.",
            ),
        ];
        about.into_iter().map(|(name, about)| parameter(name, about, schema::text(|text| text))).collect()
    }
}

/// The past moment a question is about: `asOf` or `asOfPosition`, none for now.
impl Param for Option<AsOf> {
    fn take(params: &mut Params, _: &str) -> Self {
        let time = params.read("asOf", Timestamp::from_text);
        let position = params.whole("asOfPosition", 0);
        match (time, position) {
            (Some(_), Some(_)) => {
                params.fault("asOf", "CONFLICT", "give asOf or asOfPosition, not both");
                None
            }
            (Some(time), None) if time > params.now => {
                params.fault("asOf", "OUT_OF_RANGE", "asOf is in the future");
                None
            }
            (Some(time), None) => Some(AsOf::Time(time)),
            (None, position) => position.map(AsOf::Position),
        }
    }

    fn document(_: &str, _: &str) -> Vec<Parameter> {
        vec![
            parameter("asOf", "As things were at this time.", schema::formatted(KnownFormat::DateTime)),
            parameter(
                "asOfPosition",
                "As things were after the event at this position of the log.",
                schema::whole(0, Some(Position::MAX)),
            ),
        ]
    }
}

#[derive(Debug, Clone, Copy)]
enum Moment {
    Day(Date),
    Instant(Timestamp),
}

impl Moment {
    fn start(self) -> Timestamp {
        match self {
            Self::Day(day) => midnight(day),
            Self::Instant(at) => at,
        }
    }

    fn end(self) -> Timestamp {
        match self {
            Self::Day(day) => day_after(day),
            Self::Instant(at) => at,
        }
    }
}

fn moment(params: &mut Params, name: &str) -> Option<Moment> {
    params.read(name, |text| {
        // A timestamp has a `T`; jiff would read its date as a date.
        let read = if text.contains(['T', 't', ' ']) {
            timestamp(&text).map(Moment::Instant)
        } else {
            text.parse().ok().filter(|day: &Date| day.year() > 0).map(Moment::Day)
        };
        read.ok_or_else(|| fault("MALFORMED", "expected a date such as 2026-01-31 or a timestamp"))
    })
}

/// The first moment of the UTC day after another.
#[must_use]
pub fn day_after(day: Date) -> Timestamp {
    day.checked_add(1.day()).map_or(Timestamp::MAX, midnight)
}
