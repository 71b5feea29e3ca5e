//! What a running loan owes, instalment by instalment: the schedule as it was fixed when the loan was paid out, what was
//! paid of it, and how far interest has accrued.
//!
//! Interest is that of the schedule: it accrues when its instalment is due, or when it is paid if that is earlier. What is
//! paid goes to overdue interest, overdue principal, due interest, due principal, and then to instalments that are not due
//! yet, in order. Everything unpaid of the schedule is the payoff.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// Days after which what is due is overdue.
pub const OVERDUE_DAYS: i64 = 7;
/// Days after which the loan is in default.
pub const DEFAULT_DAYS: i64 = 90;

/// One instalment and what was paid of it. Minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// 1 for the first.
    pub number: u32,
    /// When it is due.
    pub due: Date,
    /// Part of the principal.
    pub principal: i64,
    /// Interest of the month before.
    pub interest: i64,
    /// What was paid of the principal.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub paid_principal: i64,
    /// What was paid of the interest.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub paid_interest: i64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde asks for it")]
const fn is_zero(sum: &i64) -> bool {
    *sum == 0
}

impl Row {
    /// What is still to be paid of it.
    #[must_use]
    pub const fn owed(&self) -> i64 {
        self.principal - self.paid_principal + self.interest - self.paid_interest
    }
}

/// What a payment pays of one instalment. Minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// Which instalment.
    pub number: u32,
    /// Of its principal.
    pub principal: i64,
    /// Of its interest.
    pub interest: i64,
}

crate::spelled! {
    /// How a running loan is paid.
    pub enum ArrearsStatus {
        /// Nothing is due.
        Current = "CURRENT",
        /// Something is due.
        Due = "DUE",
        /// Something was due a week ago.
        Overdue = "OVERDUE",
        /// Something was due ninety days ago.
        Defaulted = "DEFAULTED",
    }
}

/// What is late on a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrears {
    /// How bad it is.
    pub status: ArrearsStatus,
    /// When the oldest unpaid instalment was due; none when nothing is.
    pub since: Option<Date>,
    /// Days past due: 0 on the day itself.
    pub days: i64,
    /// What is due and not paid, minor units.
    pub owed: i64,
}

impl Arrears {
    /// The bucket that portfolios are reported in.
    #[must_use]
    pub const fn bucket(days: i64) -> &'static str {
        match days {
            ..=0 => "0",
            1..=30 => "1-30",
            31..=60 => "31-60",
            61..=90 => "61-90",
            _ => "90+",
        }
    }

    /// How often arrears of so many days have been worth recording: on the day, and whenever they reach the next stage or
    /// bucket.
    #[must_use]
    pub fn stage(days: i64) -> usize {
        [0, 1, OVERDUE_DAYS, 31, 61, DEFAULT_DAYS, 91].iter().filter(|from| days >= **from).count()
    }
}

/// The instalments of a loan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Book {
    rows: Vec<Row>,
    /// Interest that has accrued so far, paid or not.
    accrued: i64,
}

impl Book {
    /// The book of a loan that was just paid out.
    #[must_use]
    pub const fn new(rows: Vec<Row>) -> Self {
        Self { rows, accrued: 0 }
    }

    /// The instalments, in order.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Principal outstanding.
    #[must_use]
    pub fn principal(&self) -> i64 {
        self.rows.iter().map(|row| row.principal - row.paid_principal).sum()
    }

    /// Interest that has accrued and is not paid.
    #[must_use]
    pub fn interest(&self) -> i64 {
        self.accrued - self.rows.iter().map(|row| row.paid_interest).sum::<i64>()
    }

    /// What ends the loan when it is paid.
    #[must_use]
    pub fn payoff(&self) -> i64 {
        self.rows.iter().map(Row::owed).sum()
    }

    /// The first instalment that is not wholly paid.
    #[must_use]
    pub fn next(&self) -> Option<&Row> {
        self.rows.iter().find(|row| row.owed() > 0)
    }

    /// What is late on `today`.
    #[must_use]
    pub fn arrears(&self, today: Date) -> Arrears {
        let late = || self.rows.iter().filter(|row| row.due <= today && row.owed() > 0);
        let since = late().map(|row| row.due).min();
        let days = since.map_or(0, |since| days_past(since, today));
        let status = match since {
            None => ArrearsStatus::Current,
            Some(_) if days >= DEFAULT_DAYS => ArrearsStatus::Defaulted,
            Some(_) if days >= OVERDUE_DAYS => ArrearsStatus::Overdue,
            Some(_) => ArrearsStatus::Due,
        };
        Arrears { status, since, days, owed: late().map(Row::owed).sum() }
    }

    /// Interest of instalments due by `today` that has not accrued yet.
    #[must_use]
    pub fn to_accrue(&self, today: Date) -> i64 {
        let due: i64 = self.rows.iter().filter(|row| row.due <= today).map(|row| row.interest).sum();
        (due - self.accrued).max(0)
    }

    /// Interest that `shares` pay before it has accrued.
    #[must_use]
    pub fn ahead(&self, shares: &[Share]) -> i64 {
        (interest_of(shares) - self.interest()).max(0)
    }

    /// What `amount`, paid on `today`, pays; less than all of it when it is more than the payoff.
    #[must_use]
    pub fn allocate(&self, amount: i64, today: Date) -> Vec<Share> {
        let until = |days: i64| self.rows.partition_point(|row| days_past(row.due, today) >= days);
        let (overdue, due) = (until(OVERDUE_DAYS), until(0));
        let mut shares: Vec<Share> =
            self.rows.iter().map(|row| Share { number: row.number, principal: 0, interest: 0 }).collect();
        let mut left = amount;
        let stretches = [(0, overdue), (overdue, due)].into_iter();
        for (from, to) in stretches.chain((due..self.rows.len()).map(|at| (at, at + 1))) {
            let stretch = from..to;
            for at in stretch.clone() {
                if let (Some(row), Some(share)) = (self.rows.get(at), shares.get_mut(at)) {
                    share.interest = take(&mut left, row.interest - row.paid_interest);
                }
            }
            for at in stretch {
                if let (Some(row), Some(share)) = (self.rows.get(at), shares.get_mut(at)) {
                    share.principal = take(&mut left, row.principal - row.paid_principal);
                }
            }
        }
        shares.retain(|share| share.principal + share.interest > 0);
        shares
    }

    /// Interest has accrued.
    pub const fn accrue(&mut self, interest: i64) {
        self.accrued = self.accrued.saturating_add(interest);
    }

    /// Something was paid.
    pub fn pay(&mut self, shares: &[Share]) {
        for share in shares {
            for row in self.rows.iter_mut().filter(|row| row.number == share.number) {
                row.paid_principal += share.principal;
                row.paid_interest += share.interest;
            }
        }
    }
}

/// The interest that shares pay.
#[must_use]
pub fn interest_of(shares: &[Share]) -> i64 {
    shares.iter().map(|share| share.interest).sum()
}

/// The principal that shares pay.
#[must_use]
pub fn principal_of(shares: &[Share]) -> i64 {
    shares.iter().map(|share| share.principal).sum()
}

fn take(left: &mut i64, most: i64) -> i64 {
    let taken = most.min(*left);
    *left -= taken;
    taken
}

/// Days from `due` to `today`; negative before.
fn days_past(due: Date, today: Date) -> i64 {
    today.duration_since(due).as_hours() / 24
}
