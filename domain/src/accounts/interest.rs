//! Interest of a savings account: each day's closing balance earns balance * rate / 36500 (actual days over 365), a day
//! below the minimum balance nothing. The days of a month are added up exactly and rounded once, half to even.

use rust_decimal::Decimal;

use crate::kernel::{fraction, half_even};

/// What an account has earned since its last posting, exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accrual {
    /// Sum of balance * percent.
    earned: i128,
    /// Percent a year as a fraction.
    rate: (i128, i128),
    /// Minor units.
    minimum_balance: i64,
}

impl Accrual {
    /// Nothing yet, at `rate` percent a year.
    #[must_use]
    pub fn new(rate: Decimal, minimum_balance: i64) -> Self {
        Self { earned: 0, rate: fraction(rate), minimum_balance }
    }

    /// One more day, which closed with `balance` minor units; what it shows as earned. The days add up to the posting.
    pub fn day(&mut self, balance: i64) -> i64 {
        let before = self.due();
        if balance >= self.minimum_balance && balance > 0 {
            // Below 10^15 * 10^10 * 366.
            self.earned = self.earned.saturating_add(i128::from(balance) * self.rate.0);
        }
        self.due() - before
    }

    /// What a posting would be, minor units.
    #[must_use]
    pub fn due(&self) -> i64 {
        let due = half_even(self.earned, self.rate.1.saturating_mul(36_500));
        due.and_then(|due| i64::try_from(due).ok()).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_month_equals_its_vector_day_by_day() {
        let vectors: Value =
            serde_json::from_str(include_str!("../../vectors/savings_interest.json")).unwrap();
        for vector in vectors.as_array().unwrap() {
            let rate = vector["ratePercent"].to_string().parse().unwrap();
            let mut accrual = Accrual::new(rate, vector["minimumBalance"].as_i64().unwrap());
            let mut days = Vec::new();
            for stretch in vector["balances"].as_array().unwrap() {
                let [first, last, balance] = [0, 1, 2].map(|n| stretch[n].as_i64().unwrap());
                days.extend((first..=last).map(|_| accrual.day(balance)));
            }
            assert_eq!(Value::from(days.len()), vector["days"]);
            assert_eq!(Value::from(accrual.due()), vector["posted"], "{}", vector["id"]);
            for (day, expected) in vector["firstDays"].as_array().into_iter().flatten().enumerate() {
                assert_eq!(Value::from(days[day]), *expected, "{} day {}", vector["id"], day + 1);
            }
            for (day, expected) in vector["day"].as_object().into_iter().flatten() {
                let index = day.parse::<usize>().unwrap() - 1;
                assert_eq!(Value::from(days[index]), *expected, "{} day {day}", vector["id"]);
            }
        }
    }

    #[test]
    fn a_day_below_the_minimum_earns_nothing() {
        let mut accrual = Accrual::new(Decimal::from(10), 1_000_000);
        assert_eq!((accrual.day(999_999), accrual.day(1_000_000)), (0, 274));
        let mut overdrawn = Accrual::new(Decimal::from(10), 0);
        assert_eq!(overdrawn.day(-1_000_000), 0);
    }

    proptest! {
        #[test]
        fn the_days_add_up_to_the_posting(
            rate in 0_i64..=10_000,
            balances in prop::collection::vec(0_i64..=1_000_000_000_000, 28..=31),
        ) {
            let mut accrual = Accrual::new(Decimal::new(rate, 2), 500);
            let shown: i64 = balances.iter().map(|balance| accrual.day(*balance)).sum();
            prop_assert_eq!(shown, accrual.due());
        }
    }
}
