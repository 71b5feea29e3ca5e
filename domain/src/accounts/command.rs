//! What an account can be asked.

use super::{AccountError, Opened, SavingsPlan};
use crate::kernel::{Personal, UserId};
use crate::ledger::Terms;
use crate::products::{AccountType, ProductTerms};

/// Commands to an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountCommand {
    /// Open it.
    Open(Box<OpenAccount>),
    /// Staff: let no money leave.
    Freeze {
        /// Why, for the file.
        reason: String,
    },
    /// Staff: let money leave again.
    Unfreeze {
        /// Why, for the file.
        reason: String,
    },
}

/// An account to be opened on a product's terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenAccount {
    /// Who will hold it.
    pub owner: UserId,
    /// The name on it.
    pub name: String,
    /// The product's code.
    pub product_id: String,
    /// The product's terms today; the account keeps them.
    pub product: ProductTerms,
    /// The kind the customer asked for; must be the product's.
    pub account_type: AccountType,
    /// What it is opened with, minor units; moved by a payment in the same unit.
    pub initial_deposit: Option<i64>,
    /// The plan of a target savings account.
    pub plan: Option<SavingsPlan>,
}

impl OpenAccount {
    /// The event, if the product allows it.
    pub(super) fn check(self) -> Result<Box<Opened>, AccountError> {
        if !self.product.is_active {
            return Err(AccountError::ProductNotOffered);
        }
        if self.account_type != self.product.account_type {
            return Err(AccountError::WrongProduct);
        }
        if self.plan.is_some() && self.account_type != AccountType::TargetSavings {
            return Err(AccountError::PlanNotAllowed);
        }
        let deposit = self.initial_deposit.unwrap_or(0);
        if deposit < self.product.minimum_deposit {
            return Err(AccountError::BelowMinimumDeposit { minimum: self.product.minimum_deposit });
        }
        Ok(Box::new(Opened {
            name: Personal::new(self.name),
            account_type: self.account_type,
            product_id: self.product_id,
            product_name: self.product.name,
            interest_rate: self.product.interest_rate,
            features: self.product.features,
            initial_deposit: deposit,
            plan: self.plan,
            terms: Terms {
                owner: self.owner,
                currency: self.product.currency,
                overdraft_limit: self.product.overdraft_limit,
                minimum_balance: self.product.minimum_balance,
                maximum_balance: self.product.maximum_balance,
                daily_limit: self.product.daily_limit,
                monthly_limit: self.product.monthly_limit,
            },
        }))
    }
}
