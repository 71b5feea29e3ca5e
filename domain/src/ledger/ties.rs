//! What binds an account: as long as something does, it cannot be closed, and its holder cannot be erased.

use serde::{Deserialize, Serialize};

use crate::kernel::AccountNumber;

crate::spelled! {
    /// Something that an account is needed for.
    pub enum Bond {
        /// A payment that is on its way and may come back.
        Payment = "PAYMENT_ON_ITS_WAY",
        /// A loan that is owed and collected from it.
        Loan = "LIVE_LOAN",
        /// A complaint that may bring money back.
        Dispute = "OPEN_DISPUTE",
    }
}

/// One more or one less of what binds an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tie {
    /// The account.
    pub account: AccountNumber,
    /// What binds it.
    pub bond: Bond,
    /// Whether it does so no more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undone: bool,
}

/// How much binds an account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ties {
    /// Payments on their way.
    pub payments: i32,
    /// Loans that are owed.
    pub loans: i32,
    /// Disputes that are open.
    pub disputes: i32,
}

impl Tie {
    /// `bond` binds `account` from now on.
    #[must_use]
    pub const fn new(account: AccountNumber, bond: Bond) -> Self {
        Self { account, bond, undone: false }
    }

    /// It does so no more.
    #[must_use]
    pub fn end(&self) -> Self {
        Self { undone: true, ..self.clone() }
    }
}

impl Ties {
    /// What binds the account, if anything.
    #[must_use]
    pub const fn bond(self) -> Option<Bond> {
        match self {
            Self { payments: 1.., .. } => Some(Bond::Payment),
            Self { loans: 1.., .. } => Some(Bond::Loan),
            Self { disputes: 1.., .. } => Some(Bond::Dispute),
            Self { .. } => None,
        }
    }

    /// With one more or one less; none when there is no such number.
    pub(super) fn and(mut self, tie: &Tie) -> Option<Self> {
        let count = match tie.bond {
            Bond::Payment => &mut self.payments,
            Bond::Loan => &mut self.loans,
            Bond::Dispute => &mut self.disputes,
        };
        *count = count.checked_add(if tie.undone { -1 } else { 1 }).filter(|count| *count >= 0)?;
        Some(self)
    }
}
