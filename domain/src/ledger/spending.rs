//! What is counted against a limit a day and a limit a month.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::kernel::month_start;

/// Sums so far, minor units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// The UTC day of the latest sum.
    pub on: Option<Date>,
    /// What was spent on that day.
    pub today: i64,
    /// What was spent in the month of that day.
    pub this_month: i64,
}

/// Why something cannot be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncounted {
    /// A limit would be passed.
    Over {
        /// Which limit, by its field name.
        limit: &'static str,
        /// The limit, minor units.
        allowed: i64,
        /// What is left of it.
        remaining: i64,
    },
    /// The sum would leave 64 bits.
    Overflow,
}

impl Spent {
    /// The sums with `amount` more on the day `today`, if neither limit is passed.
    ///
    /// # Errors
    /// [`Uncounted`].
    pub fn and(
        self,
        amount: i64,
        today: Date,
        daily_limit: Option<i64>,
        monthly_limit: Option<i64>,
    ) -> Result<Self, Uncounted> {
        let (day, month) = self.before(today);
        let counted = |limit, allowed: Option<i64>, before: i64| {
            let after = before.checked_add(amount).ok_or(Uncounted::Overflow)?;
            match allowed {
                Some(most) if after > most => Err(Uncounted::Over {
                    limit,
                    allowed: most,
                    remaining: most.saturating_sub(before).max(0),
                }),
                _ => Ok(after),
            }
        };
        Ok(Self {
            on: Some(today),
            today: counted("dailyLimit", daily_limit, day)?,
            this_month: counted("monthlyLimit", monthly_limit, month)?,
        })
    }

    /// The sums without `amount`, which was counted on `day`: an older day or month is over and stays as it was.
    #[must_use]
    pub fn without(self, amount: i64, day: Date) -> Self {
        let less = |sum: i64| sum.saturating_sub(amount).max(0);
        match self.on {
            Some(on) if on == day => {
                Self { today: less(self.today), this_month: less(self.this_month), ..self }
            }
            Some(on) if month_start(on) == month_start(day) => {
                Self { this_month: less(self.this_month), ..self }
            }
            _ => self,
        }
    }

    /// The sums so far on `today` and in its month.
    fn before(self, today: Date) -> (i64, i64) {
        match self.on {
            Some(day) if day == today => (self.today, self.this_month),
            Some(day) if month_start(day) == month_start(today) => (0, self.this_month),
            _ => (0, 0),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn what_is_taken_back_is_taken_from_its_own_day_and_month() {
        let (first, second, later) = (date(2026, 1, 30), date(2026, 1, 31), date(2026, 2, 1));
        let spent = Spent::default().and(70, first, None, None).unwrap();
        assert_eq!(spent.without(30, first), Spent { on: Some(first), today: 40, this_month: 40 });
        let spent = spent.and(5, second, None, None).unwrap();
        assert_eq!(spent.without(30, first), Spent { on: Some(second), today: 5, this_month: 45 });
        let spent = spent.and(1, later, None, None).unwrap();
        assert_eq!(spent.without(30, first), spent);
    }

    #[test]
    fn each_limit_says_what_is_left_of_it() {
        let day = date(2026, 1, 30);
        let spent = Spent::default().and(70, day, Some(100), Some(120)).unwrap();
        let over = |limit, allowed, remaining| Err(Uncounted::Over { limit, allowed, remaining });
        assert_eq!(spent.and(31, day, Some(100), Some(120)), over("dailyLimit", 100, 30));
        assert_eq!(spent.and(51, date(2026, 1, 31), Some(100), Some(120)), over("monthlyLimit", 120, 50));
        assert_eq!(spent.and(100, date(2026, 2, 1), Some(100), Some(120)).unwrap().this_month, 100);
        assert_eq!(spent.and(i64::MAX, day, None, None), Err(Uncounted::Overflow));
    }
}
