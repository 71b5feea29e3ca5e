//! Query parameters, with every error at once.

use std::collections::BTreeMap;
use std::str::FromStr;

use axum::extract::{FromRequestParts, Query as RawQuery};
use axum::http::request::Parts;
use bursar_domain::kernel::utc_date;
use bursar_domain::{Amount, Position};
use bursar_projections::statement_entries::AsOf;
use bursar_projections::{Page, Sort, SortField};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};

use super::fields::{Faults, timestamp};
use crate::app::App;
use crate::problem::{FieldError, Problem};

/// Largest page; a larger one is made this large.
const LARGEST_PAGE: u32 = 100;
/// Longest date range, in days.
const LONGEST_RANGE: i64 = 366;
/// What a range covers when nothing is said, in days.
const USUAL_RANGE: i64 = 30;
/// Longest `q`, in characters.
const LONGEST_TEXT: usize = 100;

/// The parameters of one endpoint.
pub trait Query: Sized {
    /// Reads them all; `None` only after a fault was noted.
    fn read(params: &mut Params) -> Option<Self>;
}

/// Extracts a [`Query`].
#[derive(Debug)]
pub struct Queried<T>(pub T);

impl<T: Query> FromRequestParts<App> for Queried<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let values = RawQuery::<Vec<(String, String)>>::try_from_uri(&parts.uri)
            .map_err(|_| Problem::bad_request("", "MALFORMED", "the query string is not well-formed"))?;
        let mut params = Params::new(values.0, app.journal.sources().clock.now());
        let query = T::read(&mut params);
        params.finish(query).map(Self).map_err(Problem::invalid)
    }
}

/// How a list is paged.
#[derive(Debug, Clone, Copy, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "documents the parameters that Params::page reads")]
pub struct PageParams {
    /// From 1.
    #[param(default = 1, minimum = 1)]
    page: Option<u32>,
    /// Items a page; more than 100 is 100.
    #[param(default = 20, minimum = 1, maximum = 100)]
    size: Option<u32>,
}

/// Which time a list covers.
#[derive(Debug, Clone, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "documents the parameters that Params::range reads")]
pub struct RangeParams {
    /// Date or timestamp, inclusive; 30 days before the end when absent.
    #[param(example = "2026-01-01")]
    from: Option<String>,
    /// A date, which includes that UTC day, or a timestamp, which is exclusive; today when absent. At most 366 days
    /// after `from`.
    #[param(example = "2026-01-31")]
    to: Option<String>,
}

/// The past moment a question is about; at most one of the two.
#[derive(Debug, Clone, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "documents the parameters that Params::as_of reads")]
pub struct AsOfParams {
    /// As things were at this time.
    #[param(rename = "asOf", value_type = Option<String>, format = DateTime)]
    as_of: Option<String>,
    /// As things were after the event at this position of the log.
    #[param(rename = "asOfPosition", minimum = 0)]
    as_of_position: Option<i64>,
}

/// A stretch of time.
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

/// The parameters of one request, taken one after another.
#[derive(Debug)]
pub struct Params {
    values: BTreeMap<String, String>,
    faults: Faults,
    now: Timestamp,
}

impl Params {
    /// The parameters of a request made at `now`.
    #[must_use]
    pub fn new(values: Vec<(String, String)>, now: Timestamp) -> Self {
        Self { values: values.into_iter().collect(), faults: Vec::new(), now }
    }

    /// The query, unless a parameter was wrong.
    ///
    /// # Errors
    /// Everything that was wrong.
    pub fn finish<T>(self, query: Option<T>) -> Result<T, Faults> {
        match query {
            Some(query) if self.faults.is_empty() => Ok(query),
            _ => Err(self.faults),
        }
    }

    /// `page` and `size`: 1 and 20 when absent, at most 100 a page.
    pub fn page(&mut self) -> Page {
        let usual = Page::default();
        let page = self.whole("page", 1..=i64::MAX).map(|page| page.min(i64::from(u32::MAX)));
        let size = self.whole("size", 1..=i64::MAX).map(|size| size.min(i64::from(LARGEST_PAGE)));
        let number = |given: Option<i64>, usual| given.and_then(|n| u32::try_from(n).ok()).unwrap_or(usual);
        Page { page: number(page, usual.page), size: number(size, usual.size) }
    }

    /// `sort`: a field of the list, `-` in front for descending; newest first when absent.
    pub fn sort<F: SortField>(&mut self) -> Sort<F> {
        let Some(text) = self.values.remove("sort") else { return Sort::default() };
        text.parse().unwrap_or_else(|e: bursar_projections::UnknownSort| {
            self.fault("sort", "UNKNOWN_VALUE", &e.to_string());
            Sort::default()
        })
    }

    /// `from` and `to`.
    pub fn range(&mut self) -> DateRange {
        let given_to = self.moment("to");
        let to = given_to.map_or_else(|| day_after(utc_date(self.now)), Moment::end);
        let from = self.moment("from").map(Moment::start);
        let from = from
            .unwrap_or_else(|| to.checked_sub(SignedDuration::from_hours(24 * USUAL_RANGE)).unwrap_or(to));
        let backwards = match given_to {
            Some(Moment::Day(_)) | None => from >= to,
            Some(Moment::Instant(_)) => from > to,
        };
        if backwards {
            self.fault("from", "OUT_OF_RANGE", "from is after to");
        } else if to.duration_since(from) > SignedDuration::from_hours(24 * LONGEST_RANGE) {
            self.fault("from", "OUT_OF_RANGE", "a range covers at most 366 days");
        }
        DateRange { from, to }
    }

    /// `asOf` or `asOfPosition`.
    pub fn as_of(&mut self) -> Option<AsOf> {
        let time = self.time("asOf");
        let position = self.whole("asOfPosition", 0..=Position::MAX);
        match (time, position) {
            (Some(_), Some(_)) => {
                self.fault("asOf", "CONFLICT", "give asOf or asOfPosition, not both");
                None
            }
            (Some(time), None) if time > self.now => {
                self.fault("asOf", "OUT_OF_RANGE", "asOf is in the future");
                None
            }
            (Some(time), None) => Some(AsOf::Time(time)),
            (None, position) => position.map(AsOf::Position),
        }
    }

    /// One of `known`, each with its spelling.
    pub fn choice<T: Copy>(&mut self, name: &str, known: &[(&str, T)]) -> Option<T> {
        let text = self.values.remove(name)?;
        let found = known.iter().find(|(spelling, _)| *spelling == text).map(|(_, value)| *value);
        if found.is_none() {
            let spellings: Vec<_> = known.iter().map(|(spelling, _)| *spelling).collect();
            self.fault(name, "UNKNOWN_VALUE", &format!("expected one of: {}", spellings.join(", ")));
        }
        found
    }

    /// A value that reads itself.
    pub fn parsed<T: FromStr>(&mut self, name: &str, expected: &str) -> Option<T> {
        self.read(name, expected, |text| text.parse().ok())
    }

    fn time(&mut self, name: &str) -> Option<Timestamp> {
        self.read(name, "expected a timestamp such as 2026-01-31T00:00:00Z", timestamp)
    }

    fn read<T>(&mut self, name: &str, expected: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let text = self.values.remove(name)?;
        let value = read(&text);
        if value.is_none() {
            self.fault(name, "MALFORMED", expected);
        }
        value
    }

    /// An amount in minor units.
    pub fn amount(&mut self, name: &str) -> Option<i64> {
        self.whole(name, 0..=Amount::MAX)
    }

    /// Free text to look for.
    pub fn text(&mut self, name: &str) -> Option<String> {
        let text = self.values.remove(name).filter(|text| !text.is_empty())?;
        if text.chars().count() > LONGEST_TEXT || text.chars().any(char::is_control) {
            self.fault(name, "MALFORMED", "expected up to 100 characters, none of them a control character");
            return None;
        }
        Some(text)
    }

    fn whole(&mut self, name: &str, allowed: std::ops::RangeInclusive<i64>) -> Option<i64> {
        let text = self.values.remove(name)?;
        // A number too large for us is the largest: past the end, or clamped.
        let value = if !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit()) {
            Some(text.parse().unwrap_or(i64::MAX))
        } else {
            text.parse().ok()
        };
        let value = value.filter(|n| allowed.contains(n));
        if value.is_none() {
            self.fault(name, "OUT_OF_RANGE", &format!("expected a whole number from {}", allowed.start()));
        }
        value
    }

    fn moment(&mut self, name: &str) -> Option<Moment> {
        self.read(name, "expected a date such as 2026-01-31 or a timestamp", |text| {
            // A timestamp has a `T`; jiff would read its date as a date.
            if text.contains(['T', 't', ' ']) {
                timestamp(text).map(Moment::Instant)
            } else {
                text.parse().ok().filter(|day: &Date| day.year() > 0).map(Moment::Day)
            }
        })
    }

    fn fault(&mut self, name: &str, code: &'static str, message: &str) {
        self.faults.push(FieldError { pointer: format!("/{name}"), code, message: message.to_owned() });
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

fn midnight(day: Date) -> Timestamp {
    day.to_zoned(TimeZone::UTC).map_or(Timestamp::MAX, |at| at.timestamp())
}

fn day_after(day: Date) -> Timestamp {
    day.checked_add(1.day()).map_or(Timestamp::MAX, midnight)
}
