//! Who can afford a loan.

use rust_decimal::{Decimal, RoundingStrategy};

use super::schedule::Annuity;
use crate::kernel::Amount;

/// The lowest credit score that is enough; who has none is not asked for one.
pub const LOWEST_SCORE: i64 = 600;

/// Four tenths: how much of an income may go into loans.
fn cap() -> Decimal {
    Decimal::new(4, 1)
}

/// What somebody earns and owes already. Minor units a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Household {
    /// Income.
    pub income: Amount,
    /// What goes into other loans.
    pub existing: i64,
    /// Credit score, when known.
    pub credit_score: Option<i64>,
}

/// What a product lends. Minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// At least.
    pub least: i64,
    /// At most.
    pub most: i64,
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Whether the loan that was asked for can be had.
    pub eligible: bool,
    /// The most that could be had, minor units; 0 when that is less than the product lends.
    pub eligible_amount: i64,
    /// Payments, the new one included, by income; four decimals, half to even.
    pub ratio: Decimal,
}

/// Whether somebody can afford `amount` at these payments. A loan out of the product's range is not eligible.
#[must_use]
pub fn assess(annuity: &Annuity, range: Range, household: Household, amount: i64) -> Verdict {
    let Household { existing, credit_score, .. } = household;
    let scored = credit_score.is_none_or(|score| score >= LOWEST_SCORE);
    let owed = i128::from(existing) + i128::from(annuity.payment(amount));
    let owed = Decimal::try_from_i128_with_scale(owed, 0).unwrap_or(Decimal::MAX);
    let income = Decimal::from(household.income.minor());
    let allowed = cap() * income;
    // An amount is never 0.
    let ratio = owed.checked_div(income).unwrap_or(Decimal::MAX);
    // In tenths, because four tenths of an income need not be a whole number.
    let room = 4 * i128::from(household.income.minor()) - 10 * i128::from(existing);
    let most = annuity.affordable(room, range.most);
    Verdict {
        eligible: scored && (range.least..=range.most).contains(&amount) && owed <= allowed,
        eligible_amount: if scored && most >= range.least { most } else { 0 },
        ratio: ratio.round_dp_with_strategy(4, RoundingStrategy::MidpointNearestEven),
    }
}
