//! Postings: the lines of a double entry.

use serde::{Deserialize, Serialize};

use super::LedgerError;
use crate::kernel::{AccountNumber, Amount, Currency};

/// One line: an account and what it gains (positive) or gives (negative).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posting {
    /// The ledger account.
    pub account: AccountNumber,
    /// Minor units, signed as the holder sees them; never zero.
    pub amount: i64,
    /// Must equal the account's.
    pub currency: Currency,
    /// The ledger balance after this line, in minor units. Stamped by the ledger; 0 before.
    pub balance: i64,
}

/// The lines of one movement. They sum to zero in every currency.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Postings(Vec<Posting>);

impl Postings {
    /// `amount` leaves `from` and reaches `to`: balanced by construction.
    #[must_use]
    pub fn transfer(from: &AccountNumber, to: &AccountNumber, amount: Amount, currency: Currency) -> Self {
        let line = |account: &AccountNumber, amount| Posting {
            account: account.clone(),
            amount,
            currency,
            balance: 0,
        };
        Self(vec![line(from, -amount.minor()), line(to, amount.minor())])
    }

    /// Adds `amount` from one account to another.
    #[must_use]
    pub fn and(
        mut self,
        from: &AccountNumber,
        to: &AccountNumber,
        amount: Amount,
        currency: Currency,
    ) -> Self {
        self.0.extend(Self::transfer(from, to, amount, currency).0);
        self
    }

    /// Postings as given; [`check_balanced`](Self::check_balanced) decides whether they hold.
    #[must_use]
    pub const fn from_lines(lines: Vec<Posting>) -> Self {
        Self(lines)
    }

    /// The lines in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Posting> {
        self.0.iter()
    }

    pub(super) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Posting> {
        self.0.iter_mut()
    }

    /// Whether there are at least two lines, none of them zero, and every currency sums to zero.
    ///
    /// # Errors
    /// [`LedgerError::Unbalanced`].
    pub fn check_balanced(&self) -> Result<(), LedgerError> {
        let lines = self.0.as_slice();
        let mut balanced = lines.len() >= 2 && lines.iter().all(|line| line.amount != 0);
        for line in lines {
            // Postings are few: summing per line is cheaper than a map, and exact in 128 bits.
            let sum: i128 = lines
                .iter()
                .filter(|other| other.currency == line.currency)
                .map(|other| i128::from(other.amount))
                .sum();
            balanced &= sum == 0;
        }
        if balanced { Ok(()) } else { Err(LedgerError::Unbalanced) }
    }
}

impl<'a> IntoIterator for &'a Postings {
    type Item = &'a Posting;
    type IntoIter = std::slice::Iter<'a, Posting>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}
