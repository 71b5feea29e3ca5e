//! What can happen to an account.

use jiff::Timestamp;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, names};
use crate::kernel::{AccountNumber, Personal, UserId};
use crate::ledger::{AccountStatus, Effect, Terms};
use crate::products::AccountType;

/// Events of an account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccountEvent {
    /// The contract begins.
    Opened(Box<Opened>),
    /// No money may leave.
    Frozen {
        /// Why.
        reason: String,
    },
    /// Money may leave again.
    Unfrozen {
        /// Why.
        reason: String,
    },
}

/// The contract as concluded. Sums in minor units.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// The name on the account.
    pub name: Personal<String>,
    /// Its kind.
    pub account_type: AccountType,
    /// The product's code.
    pub product_id: String,
    /// The product's name then.
    pub product_name: String,
    /// Percent a year.
    pub interest_rate: Decimal,
    /// What comes with it.
    pub features: Vec<String>,
    /// What it was opened with; 0 when nothing.
    pub initial_deposit: i64,
    /// The plan of a target savings account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<SavingsPlan>,
    /// Owner, currency and limits: what the ledger enforces.
    pub terms: Terms,
}

/// What a target savings account saves toward.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavingsPlan {
    /// The goal, minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<i64>,
    /// How often a contribution is due.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frequency: Option<SavingsFrequency>,
    /// Each contribution, minor units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amount: Option<i64>,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maturity_date: Option<Timestamp>,
}

crate::spelled! {
    /// How often a savings plan saves.
    pub enum SavingsFrequency {
        /// Every week.
        Weekly = "WEEKLY",
        /// Every month.
        Monthly = "MONTHLY",
    }
}

impl AggregateEvent for AccountEvent {
    names! {
        Opened = "account.opened",
        Frozen = "account.frozen",
        Unfrozen = "account.unfrozen",
    }

    fn subject(&self, _stream: &str) -> Option<UserId> {
        match self {
            Self::Opened(opened) => Some(opened.terms.owner),
            Self::Frozen { .. } | Self::Unfrozen { .. } => None,
        }
    }

    fn effect(&mut self, stream: &str) -> Option<Effect<'_>> {
        let number = AccountNumber::from(stream);
        Some(match self {
            Self::Opened(opened) => Effect::Open { number, terms: opened.terms.clone() },
            Self::Frozen { .. } => Effect::SetStatus { number, status: AccountStatus::Frozen },
            Self::Unfrozen { .. } => Effect::SetStatus { number, status: AccountStatus::Active },
        })
    }
}
