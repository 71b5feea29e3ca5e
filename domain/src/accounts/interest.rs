//! Interest of a savings account: each day's closing balance earns balance * rate / 36500 (actual days over 365), a day
//! below the minimum balance nothing. The days of a month are added up exactly and rounded once, half to even.
//!
//! Rate and minimum balance are those of the contract: what becomes of the product later is nothing to them.

#[cfg(test)]
mod tests;

use jiff::civil::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::Opened;
use crate::kernel::{AccountNumber, Currency, fraction, half_even, month_start};

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

/// Days, the first and the last included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    /// The first.
    pub from: Date,
    /// The last.
    pub through: Date,
}

/// What an account held when a UTC day ended, minor units. So did the days after it, up to one with an end of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayEnd {
    /// The day.
    pub day: Date,
    /// The ledger balance.
    pub balance: i64,
}

/// An account that earns interest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earner {
    /// Its number.
    pub account: AccountNumber,
    /// Its currency.
    pub currency: Currency,
    /// Percent a year, by its contract.
    pub rate: Decimal,
    /// What a day must end with to earn anything, by its contract; minor units.
    pub minimum_balance: i64,
    /// How days ended, oldest first. Before the first of them it earned nothing.
    pub ends: Vec<DayEnd>,
    /// The last day of each stretch that was posted, oldest first.
    pub posted: Vec<Date>,
}

/// Interest that was earned and not posted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owed {
    /// The days, all of one month.
    pub stretch: Stretch,
    /// Minor units, more than nothing.
    pub amount: i64,
}

impl Earner {
    /// An account that was opened on `day`; none when it earns nothing.
    #[must_use]
    pub fn opened(account: AccountNumber, opened: &Opened, day: Date) -> Option<Self> {
        let earns = opened.account_type.earns() && opened.interest_rate > Decimal::ZERO;
        earns.then(|| Self {
            account,
            currency: opened.terms.currency,
            rate: opened.interest_rate,
            minimum_balance: opened.terms.minimum_balance,
            ends: vec![DayEnd { day, balance: 0 }],
            posted: Vec::new(),
        })
    }

    /// The balance is this from `day` on, which is no earlier than the days before.
    pub fn holds(&mut self, day: Date, balance: i64) {
        match self.ends.last_mut() {
            Some(last) if last.day == day => last.balance = balance,
            _ => self.ends.push(DayEnd { day, balance }),
        }
    }

    /// What each day of a stretch earned, minor units. Every month begins anew, and so does the day after a posting, so that
    /// the days up to a posting add up to it.
    #[must_use]
    pub fn days(&self, stretch: Stretch) -> Vec<i64> {
        let mut accrual = Accrual::new(self.rate, self.minimum_balance);
        let mut ends = self.ends.iter().peekable();
        let (mut balance, mut earned) = (0, Vec::new());
        let mut next = Some(month_start(stretch.from));
        while let Some(day) = next.filter(|day| *day <= stretch.through) {
            while let Some(end) = ends.next_if(|end| end.day <= day) {
                balance = end.balance;
            }
            if day == month_start(day) || self.posted.iter().any(|last| last.tomorrow().ok() == Some(day)) {
                accrual = Accrual::new(self.rate, self.minimum_balance);
            }
            let today = accrual.day(balance);
            if day >= stretch.from {
                earned.push(today);
            }
            next = day.tomorrow().ok();
        }
        earned
    }

    /// What is to be posted for the days of a stretch, month by month, oldest first. Months that earned nothing are left out.
    #[must_use]
    pub fn owed(&self, stretch: Stretch) -> Vec<Owed> {
        let Some(first) = self.ends.first() else { return Vec::new() };
        let unposted = self.posted.last().and_then(|last| last.tomorrow().ok());
        let mut from = stretch.from.max(first.day).max(unposted.unwrap_or(Date::MIN));
        let mut owed = Vec::new();
        while from <= stretch.through {
            let through = from.last_of_month().min(stretch.through);
            let month = Stretch { from, through };
            let amount = self.days(month).iter().sum();
            if amount > 0 {
                owed.push(Owed { stretch: month, amount });
            }
            let Ok(next) = through.tomorrow() else { break };
            from = next;
        }
        owed
    }
}
