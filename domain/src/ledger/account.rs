//! One account of the ledger and the rules a posting to it must pass.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::{Checks, LedgerError, Posting, Spent, Ties, Uncounted};
use crate::kernel::{Currency, UserId, utc_date};

crate::spelled! {
    /// Whether money may move.
    pub enum AccountStatus {
        /// Both ways.
        Active = "ACTIVE",
        /// In, not out; set by staff.
        Frozen = "FROZEN",
        /// In, not out; set after a long silence.
        Dormant = "DORMANT",
        /// Never again.
        Closed = "CLOSED",
    }
}

/// What a customer account is opened with. All sums in minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms {
    /// Who holds it.
    pub owner: UserId,
    /// Its one currency.
    pub currency: Currency,
    /// How far below zero it may go.
    pub overdraft_limit: i64,
    /// What must stay in it (savings).
    pub minimum_balance: i64,
    /// What it may hold at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_balance: Option<i64>,
    /// Outgoing debits a UTC day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_limit: Option<i64>,
    /// Outgoing debits a UTC month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monthly_limit: Option<i64>,
}

/// An account as the ledger holds it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerAccount {
    /// The holder; none for the bank's own.
    pub owner: Option<UserId>,
    /// Its one currency.
    pub currency: Currency,
    /// Whether money may move.
    pub status: AccountStatus,
    /// Everything posted so far, minor units.
    pub balance: i64,
    /// Reserved and not available, minor units.
    pub holds: i64,
    /// How far below zero it may go.
    pub overdraft_limit: i64,
    /// What must stay in it.
    pub minimum_balance: i64,
    /// What it may hold at most.
    pub maximum_balance: Option<i64>,
    /// Outgoing debits a UTC day.
    pub daily_limit: Option<i64>,
    /// Outgoing debits a UTC month.
    pub monthly_limit: Option<i64>,
    /// The UTC day of the latest limited debit.
    pub spent_on: Option<Date>,
    /// Limited debits on that day.
    pub spent_today: i64,
    /// Limited debits in the month of that day.
    pub spent_this_month: i64,
    /// When it was last posted to.
    pub last_posted_at: Option<Timestamp>,
    /// What it is needed for.
    pub ties: Ties,
    /// When anybody but the bank itself last did something with it: opened it, unfroze it, moved money.
    pub last_active_at: Option<Timestamp>,
}

impl LedgerAccount {
    pub(super) fn open(terms: Terms, at: Timestamp) -> Self {
        Self {
            owner: Some(terms.owner),
            overdraft_limit: terms.overdraft_limit,
            minimum_balance: terms.minimum_balance,
            maximum_balance: terms.maximum_balance,
            daily_limit: terms.daily_limit,
            monthly_limit: terms.monthly_limit,
            last_active_at: Some(at),
            ..Self::internal(terms.currency)
        }
    }

    pub(super) const fn internal(currency: Currency) -> Self {
        Self {
            owner: None,
            currency,
            status: AccountStatus::Active,
            balance: 0,
            holds: 0,
            overdraft_limit: 0,
            minimum_balance: 0,
            maximum_balance: None,
            daily_limit: None,
            monthly_limit: None,
            spent_on: None,
            spent_today: 0,
            spent_this_month: 0,
            last_posted_at: None,
            ties: Ties { payments: 0, loans: 0, disputes: 0 },
            last_active_at: None,
        }
    }

    /// What a debit may take: balance - holds + overdraft limit - minimum balance, minor units.
    #[must_use]
    pub fn available(&self) -> i64 {
        let exact = i128::from(self.balance) - i128::from(self.holds) + i128::from(self.overdraft_limit)
            - i128::from(self.minimum_balance);
        i64::try_from(exact).unwrap_or(if exact < 0 { i64::MIN } else { i64::MAX })
    }

    /// Takes one line, or says why not. The bank's own accounts have no floor and no limits.
    pub(super) fn post(
        &mut self,
        posting: &Posting,
        checks: Checks,
        at: Timestamp,
    ) -> Result<(), LedgerError> {
        if posting.currency != self.currency {
            return Err(LedgerError::CurrencyMismatch {
                account: posting.account.clone(),
                expected: self.currency,
                actual: posting.currency,
            });
        }
        if self.owner.is_some() {
            match (checks, posting.amount < 0) {
                (Checks::Happened | Checks::Bookkeeping, _) => self.check_open(posting)?,
                (Checks::Limited, true) => {
                    self.check_debit(posting, self.available())?;
                    self.count_debit(posting, utc_date(at))?;
                }
                (Checks::Unlimited, true) => self.check_debit(posting, self.available())?,
                (Checks::Last, true) => self.check_debit(posting, self.available().max(self.balance))?,
                (_, false) => self.check_credit(posting)?,
            }
        }
        self.balance = self.balance.checked_add(posting.amount).ok_or(LedgerError::Overflow)?;
        self.last_posted_at = Some(at);
        if checks != Checks::Bookkeeping {
            self.last_active_at = Some(at);
        }
        Ok(())
    }

    fn check_debit(&self, posting: &Posting, most: i64) -> Result<(), LedgerError> {
        if self.status != AccountStatus::Active {
            return Err(LedgerError::NotActive { account: posting.account.clone(), status: self.status });
        }
        let amount = posting.amount.checked_neg().ok_or(LedgerError::Overflow)?;
        if amount > most {
            return Err(LedgerError::InsufficientFunds {
                account: posting.account.clone(),
                available: self.available(),
                currency: self.currency,
            });
        }
        Ok(())
    }

    fn check_open(&self, posting: &Posting) -> Result<(), LedgerError> {
        if self.status == AccountStatus::Closed {
            return Err(LedgerError::NotActive { account: posting.account.clone(), status: self.status });
        }
        Ok(())
    }

    fn check_credit(&self, posting: &Posting) -> Result<(), LedgerError> {
        self.check_open(posting)?;
        let after = i128::from(self.balance) + i128::from(posting.amount);
        // The payer learns that the payee's account is full, not how full it was.
        match self.maximum_balance {
            Some(most) if after > i128::from(most) => {
                Err(LedgerError::AboveMaximum { account: posting.account.clone(), limit: "maximumBalance" })
            }
            _ => Ok(()),
        }
    }

    fn count_debit(&mut self, posting: &Posting, today: Date) -> Result<(), LedgerError> {
        let amount = posting.amount.checked_neg().ok_or(LedgerError::Overflow)?;
        let before = Spent { on: self.spent_on, today: self.spent_today, this_month: self.spent_this_month };
        let spent = before.and(amount, today, self.daily_limit, self.monthly_limit);
        let spent = spent.map_err(|uncounted| match uncounted {
            Uncounted::Over { limit, allowed, remaining } => {
                LedgerError::LimitExceeded { account: posting.account.clone(), limit, allowed, remaining }
            }
            Uncounted::Overflow => LedgerError::Overflow,
        })?;
        (self.spent_on, self.spent_today, self.spent_this_month) = (spent.on, spent.today, spent.this_month);
        Ok(())
    }
}
