//! Products: the terms accounts are opened on. Changing one never alters running contracts.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

pub use command::ProductCommand;
pub use error::ProductError;
pub use event::ProductEvent;

use crate::aggregate::Aggregate;
use crate::kernel::Currency;

crate::spelled! {
    /// The kind of account a product opens.
    pub enum AccountType {
        /// For everyday payments; may have an overdraft.
        Current = "CURRENT",
        /// Earns interest.
        Savings = "SAVINGS",
        /// Earns interest toward a goal.
        TargetSavings = "TARGET_SAVINGS",
    }
}

impl AccountType {
    /// Whether its accounts earn interest, at the rate of their contract.
    #[must_use]
    pub const fn earns(self) -> bool {
        match self {
            Self::Savings | Self::TargetSavings => true,
            Self::Current => false,
        }
    }
}

/// What a product promises. Sums in minor units of `currency`, rates in percent a year.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProductTerms {
    /// What people read.
    pub name: String,
    /// The kind of account it opens.
    pub account_type: AccountType,
    /// A sentence or two.
    pub description: String,
    /// The currency of its accounts.
    pub currency: Currency,
    /// Percent a year.
    pub interest_rate: Decimal,
    /// What must stay in the account.
    pub minimum_balance: i64,
    /// The least an account is opened with.
    pub minimum_deposit: i64,
    /// What an account may hold at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum_balance: Option<i64>,
    /// How far below zero an account may go.
    #[serde(default)]
    pub overdraft_limit: i64,
    /// Outgoing debits a UTC day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daily_limit: Option<i64>,
    /// Outgoing debits a UTC month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monthly_limit: Option<i64>,
    /// `ONLINE_BANKING`, `DEBIT_CARD`, `INTEREST_EARNING` ...
    pub features: Vec<String>,
    /// Who may have it, in words.
    pub eligibility_criteria: Vec<String>,
    /// Whether new accounts can be opened on it.
    pub is_active: bool,
}

/// A product, by its code (`SAV-001`).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Product {
    /// Not defined yet.
    #[default]
    Absent,
    /// On offer, or withdrawn when its terms say so.
    Defined(ProductTerms),
}

impl Product {
    /// The terms of a product that accounts can be opened on now.
    #[must_use]
    pub const fn on_offer(&self) -> Option<&ProductTerms> {
        match self {
            Self::Defined(terms) if terms.is_active => Some(terms),
            Self::Defined(_) | Self::Absent => None,
        }
    }
}

impl Aggregate for Product {
    const TYPE: &'static str = "product";
    type Command = ProductCommand;
    type Event = ProductEvent;
    type Error = ProductError;

    fn decide(&self, command: ProductCommand) -> Result<Vec<ProductEvent>, ProductError> {
        match (self, command) {
            (Self::Absent, ProductCommand::Define(terms) | ProductCommand::Create(terms)) => {
                check(&terms)?;
                Ok(vec![ProductEvent::Defined(terms)])
            }
            (Self::Absent, ProductCommand::Change(_)) => Err(ProductError::Unknown),
            (Self::Defined(_), ProductCommand::Create(_)) => Err(ProductError::Exists),
            (Self::Defined(current), ProductCommand::Define(terms) | ProductCommand::Change(terms)) => {
                check(&terms)?;
                // Defining what is already so is not news.
                Ok(if *current == *terms { Vec::new() } else { vec![ProductEvent::Defined(terms)] })
            }
        }
    }

    fn evolve(&mut self, event: &ProductEvent) {
        match event {
            ProductEvent::Defined(terms) => *self = Self::Defined((**terms).clone()),
        }
    }
}

fn check(terms: &ProductTerms) -> Result<(), ProductError> {
    let hundred = Decimal::ONE_HUNDRED;
    if terms.interest_rate < Decimal::ZERO || terms.interest_rate > hundred {
        return Err(ProductError::RateOutOfRange);
    }
    let negative = [terms.minimum_balance, terms.minimum_deposit, terms.overdraft_limit]
        .into_iter()
        .chain([terms.maximum_balance, terms.daily_limit, terms.monthly_limit].into_iter().flatten())
        .any(|sum| sum < 0);
    if negative || terms.maximum_balance.is_some_and(|most| most < terms.minimum_balance) {
        return Err(ProductError::LimitOutOfRange);
    }
    Ok(())
}
