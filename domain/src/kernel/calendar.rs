//! Days on which something happens again and again.

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};
use serde::{Deserialize, Serialize};

crate::spelled! {
    /// How often.
    pub enum Frequency {
        /// Every day.
        Daily = "DAILY",
        /// Every week, on one weekday.
        Weekly = "WEEKLY",
        /// Every month, on one day of the month.
        Monthly = "MONTHLY",
        /// Every third month.
        Quarterly = "QUARTERLY",
        /// Every twelfth month.
        Yearly = "YEARLY",
    }
}

impl Frequency {
    /// The largest number that a day of it can have; none where every day is one.
    #[must_use]
    pub const fn largest_day(self) -> Option<i8> {
        match self {
            Self::Daily => None,
            Self::Weekly => Some(7),
            Self::Monthly | Self::Quarterly | Self::Yearly => Some(31),
        }
    }

    /// How many months lie between two days of it; none where weeks or days are counted.
    const fn months(self) -> Option<i32> {
        match self {
            Self::Daily | Self::Weekly => None,
            Self::Monthly => Some(1),
            Self::Quarterly => Some(3),
            Self::Yearly => Some(12),
        }
    }
}

/// A day that the frequency has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a {frequency} day is 1 to {most}")]
pub struct NoSuchDay {
    /// How often.
    pub frequency: Frequency,
    /// The largest day it has.
    pub most: i8,
}

/// A series of days. Where months are counted, a day that a month has not is its last one, and the next month has the day
/// again: 31 January, 28 February, 31 March.
///
/// Days are UTC dates, not instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calendar {
    /// How often.
    frequency: Frequency,
    /// The first day.
    first: Date,
    /// The day of the month (1 to 31) or of the week (1 to 7, 1 is Monday) that was asked for.
    day: i8,
    /// No day is after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last: Option<Date>,
}

impl Calendar {
    /// The days from `start` to `last`, both included. `day` is that of the month or, 1 being Monday, of the week; that of
    /// `start` when absent, and nothing to a daily series.
    ///
    /// # Errors
    /// [`NoSuchDay`].
    pub fn new(
        frequency: Frequency,
        start: Date,
        day: Option<i8>,
        last: Option<Date>,
    ) -> Result<Self, NoSuchDay> {
        let Some(most) = frequency.largest_day() else {
            return Ok(Self { frequency, first: start, day: start.day(), last });
        };
        let of_start = match frequency {
            Frequency::Weekly => start.weekday().to_monday_one_offset(),
            _ => start.day(),
        };
        let day = day.unwrap_or(of_start);
        if !(1..=most).contains(&day) {
            return Err(NoSuchDay { frequency, most });
        }
        let first = match Weekday::from_monday_one_offset(day) {
            Ok(weekday) if frequency == Frequency::Weekly => {
                let ahead = start.weekday().until(weekday);
                start.checked_add(ahead.days()).unwrap_or(start)
            }
            _ => {
                [0, 1].iter().find_map(|n| in_month(start, *n, day).filter(|d| *d >= start)).unwrap_or(start)
            }
        };
        Ok(Self { frequency, first, day, last })
    }

    /// How often.
    #[must_use]
    pub const fn frequency(&self) -> Frequency {
        self.frequency
    }

    /// The day of the month or week that was asked for; none of a daily series.
    #[must_use]
    pub fn day(&self) -> Option<i8> {
        self.frequency.largest_day().map(|_| self.day)
    }

    /// The first day of the series; none when it is over before it begins.
    #[must_use]
    pub fn first(&self) -> Option<Date> {
        self.from(self.first)
    }

    /// The first day of the series that is not before `date`; none when the series is over by then.
    #[must_use]
    pub fn from(&self, date: Date) -> Option<Date> {
        let date = date.max(self.first);
        let found = match (self.frequency, self.frequency.months()) {
            (Frequency::Weekly, _) => {
                let ahead = self.first.weekday().since(date.weekday());
                date.checked_add(ahead.days()).ok()?
            }
            (_, Some(step)) => {
                let between = month_index(date) - month_index(self.first);
                let reached = between / step * step;
                let mut candidates = [reached, reached + step].into_iter();
                candidates.find_map(|n| in_month(self.first, n, self.day).filter(|found| *found >= date))?
            }
            (_, None) => date,
        };
        Some(found).filter(|found| self.last.is_none_or(|last| *found <= last))
    }

    /// The first day of the series after `date`.
    #[must_use]
    pub fn after(&self, date: Date) -> Option<Date> {
        self.from(date.tomorrow().ok()?)
    }
}

/// Months since the year 0.
fn month_index(date: Date) -> i32 {
    i32::from(date.year()) * 12 + i32::from(date.month()) - 1
}

/// The day `day` of the month `months` after that of `date`, or that month's last day.
fn in_month(date: Date, months: i32, day: i8) -> Option<Date> {
    let index = month_index(date).checked_add(months)?;
    let year = i16::try_from(index.div_euclid(12)).ok()?;
    let month = i8::try_from(index.rem_euclid(12) + 1).ok()?;
    let first = Date::new(year, month, 1).ok()?;
    Date::new(year, month, day.min(first.days_in_month())).ok()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;
    use proptest::prelude::*;

    use super::*;
    use crate::kernel::Spelled as _;

    fn days(frequency: Frequency, start: Date, day: Option<i8>, most: usize) -> Vec<String> {
        let calendar = Calendar::new(frequency, start, day, None).unwrap();
        std::iter::successors(calendar.from(start), |date| calendar.after(*date))
            .take(most)
            .map(|date| date.to_string())
            .collect()
    }

    #[test]
    fn the_end_of_a_month_is_a_day_of_its_own_each_month() {
        let end = days(Frequency::Monthly, date(2026, 1, 31), None, 5);
        assert_eq!(end, ["2026-01-31", "2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"]);
        let leap = days(Frequency::Monthly, date(2028, 1, 30), None, 3);
        assert_eq!(leap, ["2028-01-30", "2028-02-29", "2028-03-30"]);
        let quarters = days(Frequency::Quarterly, date(2026, 11, 30), Some(31), 3);
        assert_eq!(quarters, ["2026-11-30", "2027-02-28", "2027-05-31"]);
        let years = days(Frequency::Yearly, date(2024, 2, 29), None, 5);
        assert_eq!(years, ["2024-02-29", "2025-02-28", "2026-02-28", "2027-02-28", "2028-02-29"]);
    }

    #[test]
    fn a_series_begins_on_the_first_such_day_that_is_not_before_its_start() {
        assert_eq!(days(Frequency::Monthly, date(2026, 1, 31), Some(15), 2), ["2026-02-15", "2026-03-15"]);
        assert_eq!(days(Frequency::Monthly, date(2026, 12, 16), Some(15), 1), ["2027-01-15"]);
        // 2026-11-21 is a Saturday.
        assert_eq!(days(Frequency::Weekly, date(2026, 11, 21), Some(1), 2), ["2026-11-23", "2026-11-30"]);
        assert_eq!(days(Frequency::Weekly, date(2026, 11, 21), None, 1), ["2026-11-21"]);
        assert_eq!(days(Frequency::Daily, date(2026, 12, 31), None, 2), ["2026-12-31", "2027-01-01"]);
    }

    #[test]
    fn the_last_day_belongs_to_the_series_and_days_that_do_not_exist_are_refused() {
        let last = date(2026, 2, 28);
        let calendar = Calendar::new(Frequency::Monthly, date(2026, 1, 31), None, Some(last)).unwrap();
        assert_eq!((calendar.from(last), calendar.after(last)), (Some(last), None));
        for (frequency, day) in [(Frequency::Weekly, 8), (Frequency::Monthly, 32), (Frequency::Yearly, 0)] {
            assert!(Calendar::new(frequency, last, Some(day), None).is_err());
        }
        assert!(Calendar::new(Frequency::Daily, last, Some(99), None).is_ok());
        let end_of_time = Calendar::new(Frequency::Yearly, Date::MAX, None, None).unwrap();
        assert_eq!((end_of_time.from(Date::MAX), end_of_time.after(Date::MAX)), (Some(Date::MAX), None));
    }

    /// A day of a table that is counted out by hand: nothing in it is asked of the calendar.
    #[derive(Clone, Copy)]
    struct Counted {
        date: Date,
        /// 0 is Monday.
        weekday: u32,
        months: i32,
        /// Days of its month.
        length: i8,
    }

    /// Every day of eleven years from 1 January 2023, a Sunday, on.
    fn table() -> Vec<Counted> {
        let (mut table, mut weekday, mut months) = (Vec::new(), 6, 0);
        for year in 2023_i16..=2033 {
            let february = if year % 4 == 0 { 29 } else { 28 };
            let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
            for (month, length) in (1_i8..).zip(lengths) {
                for day in 1..=length {
                    table.push(Counted { date: date(year, month, day), weekday, months, length });
                    weekday = (weekday + 1) % 7;
                }
                months += 1;
            }
        }
        table
    }

    #[test]
    fn sixty_months_from_every_day_of_four_years_are_those_of_the_table() {
        let table = table();
        let starts = table.iter().enumerate().take_while(|(_, start)| start.date.year() < 2027);
        let mut looked_at = 0;
        for (place, start) in starts {
            let window = table.iter().skip(place).take_while(|day| day.months < start.months + 60);
            let window: Vec<Counted> = window.copied().collect();
            for &frequency in Frequency::ALL {
                let falls = |day: &Counted| {
                    let is_end = day.date.day() == start.date.day().min(day.length);
                    let between = day.months - start.months;
                    match frequency {
                        Frequency::Daily => true,
                        Frequency::Weekly => day.weekday == start.weekday,
                        Frequency::Monthly => is_end,
                        Frequency::Quarterly => is_end && between % 3 == 0,
                        Frequency::Yearly => is_end && between % 12 == 0,
                    }
                };
                let expected: Vec<Date> =
                    window.iter().filter(|day| falls(day)).map(|day| day.date).collect();
                let last = window.last().map(|day| day.date);
                let calendar = Calendar::new(frequency, start.date, None, last).unwrap();
                let walked = std::iter::successors(calendar.first(), |date| calendar.after(*date));
                assert!(walked.eq(expected), "{frequency} from {}", start.date);
                looked_at += 1;
            }
        }
        assert_eq!(looked_at, 1_461 * 5);
    }

    #[test]
    fn every_day_of_the_month_that_can_be_asked_for_is_the_tables() {
        let table = table();
        for day in 1_i8..=31 {
            // Begun on the 1st, so that the first month has the day as well.
            let calendar = Calendar::new(Frequency::Monthly, date(2023, 1, 1), Some(day), None).unwrap();
            let falls = |counted: &&Counted| counted.date.day() == day.min(counted.length);
            let expected = table.iter().filter(falls).map(|counted| counted.date);
            let walked = std::iter::successors(calendar.first(), |date| calendar.after(*date));
            assert!(walked.take(132).eq(expected), "{day}");
        }
    }

    fn any_date() -> impl Strategy<Value = Date> {
        (1990_i16..2200, 1_i8..=12, 1_i8..=31).prop_map(|(year, month, day)| {
            let first = date(year, month, 1);
            date(year, month, day.min(first.days_in_month()))
        })
    }

    fn any_calendar() -> impl Strategy<Value = (Calendar, Date)> {
        (0..Frequency::ALL.len(), any_date(), 1_i8..=31, any::<bool>()).prop_map(
            |(nth, start, day, given)| {
                let frequency = Frequency::ALL[nth];
                let day = given.then(|| day.min(frequency.largest_day().unwrap_or(31)));
                (Calendar::new(frequency, start, day, None).unwrap(), start)
            },
        )
    }

    proptest! {
        #[test]
        fn days_follow_each_other_at_the_distance_of_the_frequency((calendar, start) in any_calendar(), steps in 1_usize..60) {
            let first = calendar.from(start).unwrap();
            prop_assert!(first >= start);
            let mut before = first;
            for _ in 0..steps {
                let next = calendar.after(before).unwrap();
                match calendar.frequency().months() {
                    Some(step) => {
                        prop_assert_eq!(month_index(next) - month_index(before), step);
                        prop_assert_eq!(next.day(), calendar.day.min(next.days_in_month()));
                    }
                    None => {
                        let distance = if calendar.frequency() == Frequency::Weekly { 7 } else { 1 };
                        prop_assert_eq!(before.until(next).unwrap().get_days(), distance);
                    }
                }
                before = next;
            }
        }

        #[test]
        fn from_wherever_one_asks_it_is_the_same_series((calendar, start) in any_calendar(), ahead in 0_i32..4_000) {
            let asked = start.checked_add(ahead.days()).unwrap();
            let walked = std::iter::successors(calendar.from(start), |date| calendar.after(*date)).find(|date| *date >= asked);
            prop_assert_eq!(calendar.from(asked), walked);
            let found = walked.unwrap();
            prop_assert_eq!(calendar.from(found), Some(found));
            prop_assert!(calendar.after(found).unwrap() > found);
        }

        #[test]
        fn nothing_lies_outside_the_bounds((calendar, start) in any_calendar(), length in 0_i32..400, ahead in 0_i32..500) {
            let last = start.checked_add(length.days()).unwrap();
            let bounded = Calendar { last: Some(last), ..calendar };
            let asked = start.checked_add(ahead.days()).unwrap();
            prop_assert_eq!(bounded.from(asked), calendar.from(asked).filter(|found| *found <= last));
        }
    }
}
