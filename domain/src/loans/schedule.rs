//! What a loan costs, row by row: equal monthly payments (an annuity), exact to the last minor unit.
//!
//! With i = R / 1200 a month: payment M = HE(P i (1+i)^n / ((1+i)^n - 1)), and HE(P / n) when R is 0. Row k < n pays
//! interest HE(balance R / 1200) and principal min(max(M - interest, 0), balance); the last row pays the whole balance. HE
//! rounds half to even. The powers are taken in whole numbers of any size, so that nothing is lost before the one rounding.

use jiff::civil::Date;
use num_bigint::BigUint;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::kernel::{Calendar, Frequency, fraction, half_even};

/// The longest loan, in months.
pub const LONGEST: u32 = 480;
/// The largest principal, minor units.
pub const LARGEST: i64 = 1_000_000_000_000_000;

/// What a schedule cannot be made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoSchedule {
    /// 1 to [`LARGEST`].
    #[error("the principal of a loan is 1 to {LARGEST} minor units")]
    Principal,
    /// 0 to 100 percent a year, with at most six decimals.
    #[error("the rate of a loan is 0 to 100 percent a year, with at most six decimals")]
    Rate,
    /// 1 to [`LONGEST`].
    #[error("a loan lasts 1 to {LONGEST} months")]
    Months,
}

/// One instalment. Sums in minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instalment {
    /// 1 for the first.
    pub number: u32,
    /// Part of the principal.
    pub principal: i64,
    /// Interest on the balance before it.
    pub interest: i64,
    /// Principal that is left after it.
    pub remaining: i64,
}

impl Instalment {
    /// Principal and interest.
    #[must_use]
    pub const fn total(&self) -> i64 {
        self.principal.saturating_add(self.interest)
    }
}

/// Equal monthly payments at a rate.
#[derive(Debug, Clone)]
pub struct Annuity {
    months: u32,
    /// Interest a month is balance * rate.0 / rate.1.
    rate: (i128, i128),
    /// The payment is principal * payment.0 / payment.1.
    payment: (BigUint, BigUint),
}

impl Annuity {
    /// Payments at `rate` percent a year over `months`.
    ///
    /// # Errors
    /// [`NoSchedule::Rate`], [`NoSchedule::Months`].
    pub fn new(rate: Decimal, months: u32) -> Result<Self, NoSchedule> {
        if !(1..=LONGEST).contains(&months) {
            return Err(NoSchedule::Months);
        }
        let fits = (Decimal::ZERO..=Decimal::ONE_HUNDRED).contains(&rate) && rate.normalize().scale() <= 6;
        if !fits {
            return Err(NoSchedule::Rate);
        }
        let (percent, scale) = fraction(rate);
        let monthly = (percent, scale * 1200);
        // i = a / b, so (1+i)^n = (a+b)^n / b^n.
        let part = |n: i128| BigUint::from(n.unsigned_abs());
        let (grown, base) = (part(monthly.0 + monthly.1).pow(months), part(monthly.1).pow(months));
        let payment = if percent == 0 {
            (BigUint::from(1_u8), BigUint::from(months))
        } else {
            (part(monthly.0) * &grown, part(monthly.1) * (&grown - base))
        };
        Ok(Self { months, rate: monthly, payment })
    }

    /// The monthly payment of a principal, minor units.
    #[must_use]
    pub fn payment(&self, principal: i64) -> i64 {
        let exact = BigUint::from(principal.unsigned_abs()) * &self.payment.0;
        let divisor = &self.payment.1;
        let below = &exact / divisor;
        let twice = (exact - &below * divisor) * 2_u8;
        let up = match twice.cmp(divisor) {
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => below.bit(0),
            std::cmp::Ordering::Greater => true,
        };
        // Not above the principal and a month's interest on it.
        i64::try_from(below + u8::from(up)).unwrap_or(i64::MAX)
    }

    /// Interest of a month on `balance`, minor units.
    #[must_use]
    pub fn interest(&self, balance: i64) -> i64 {
        let interest = half_even(i128::from(balance) * self.rate.0, self.rate.1);
        // At most a twelfth of the balance.
        interest.and_then(|interest| i64::try_from(interest).ok()).unwrap_or(0)
    }

    /// Every instalment of a principal.
    ///
    /// # Errors
    /// [`NoSchedule::Principal`].
    pub fn schedule(&self, principal: i64) -> Result<Vec<Instalment>, NoSchedule> {
        if !(1..=LARGEST).contains(&principal) {
            return Err(NoSchedule::Principal);
        }
        let payment = self.payment(principal);
        let mut remaining = principal;
        let rows = (1..=self.months).map(|number| {
            let interest = self.interest(remaining);
            let part = payment.saturating_sub(interest).clamp(0, remaining);
            let part = if number == self.months { remaining } else { part };
            remaining -= part;
            Instalment { number, principal: part, interest, remaining }
        });
        Ok(rows.collect())
    }

    /// The largest principal up to `most` whose payment, before it is rounded, is at most `tenths` / 10 minor units; 0 when
    /// there is none.
    #[must_use]
    pub fn affordable(&self, tenths: i128, most: i64) -> i64 {
        let Ok(tenths) = BigUint::try_from(tenths) else { return 0 };
        let principal = tenths * &self.payment.1 / (&self.payment.0 * 10_u8);
        i64::try_from(principal).unwrap_or(i64::MAX).min(most)
    }
}

/// When the instalments of a loan that is paid out on `disbursed` are due: the same day each month from the next month on,
/// the last day of a month that has not that day.
#[must_use]
pub fn due_dates(disbursed: Date, months: u32) -> Vec<Date> {
    let Ok(calendar) = Calendar::new(Frequency::Monthly, disbursed, None, None) else { return Vec::new() };
    let months = usize::try_from(months).unwrap_or(0);
    std::iter::successors(calendar.after(disbursed), |due| calendar.after(*due)).take(months).collect()
}
