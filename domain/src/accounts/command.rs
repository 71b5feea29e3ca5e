//! What an account can be asked.

use jiff::Timestamp;
use jiff::civil::Date;

use super::{AccountError, Opened, SavingsPlan, StatementDelivery, StatementFrequency};
use crate::kernel::{ClosureId, Origin, Personal, UserId};
use crate::ledger::Terms;
use crate::products::{AccountType, ProductTerms};

/// Commands to an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccountCommand {
    /// Open it.
    Open(Box<OpenAccount>),
    /// Open one that another bank has kept. Whether the product is offered, and with what an account begins, is nothing to it.
    TakeOver {
        /// It.
        open: Box<OpenAccount>,
        /// What that bank knew.
        origin: Origin,
    },
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
    /// Set it up.
    Configure(Box<Configure>),
    /// Let an application to close it begin. Has no event: it stands in the unit of the application.
    Leave {
        /// Now.
        now: Timestamp,
    },
    /// Nothing has happened for so long that it is to rest.
    FallDormant {
        /// When somebody last used it.
        silent_since: Timestamp,
    },
    /// Staff: its holder is there.
    Reactivate {
        /// Why, for the file.
        reason: String,
    },
    /// A statement goes out in the same unit.
    SendStatement {
        /// Its first day.
        from: Date,
        /// Its last day.
        to: Date,
        /// The day it is.
        today: Date,
    },
    /// Staff: it is over, in the unit of the application or of its holder's erasure.
    Close {
        /// The application; none when its holder is erased.
        closure_id: Option<ClosureId>,
    },
}

/// What the holder of an account changes; what is not said stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configure {
    /// What changes of the plan of a target savings account.
    pub plan: SavingsPlan,
    /// By mail or not.
    pub email: Option<bool>,
    /// By short message or not.
    pub sms: Option<bool>,
    /// By notification in the app or not.
    pub push: Option<bool>,
    /// By which way statements are sent.
    pub statement_delivery: Option<StatementDelivery>,
    /// How often.
    pub statement_frequency: Option<StatementFrequency>,
    /// Whether it may be closed before its plan ends.
    pub early_closure_allowed: Option<bool>,
    /// The day it is.
    pub today: Date,
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
        self.begin(None)
    }

    /// The event of an account that another bank has kept: what the product asks of new ones is nothing to it.
    pub(super) fn taken_over(self, origin: Origin) -> Result<Box<Opened>, AccountError> {
        self.begin(Some(origin))
    }

    fn begin(self, origin: Option<Origin>) -> Result<Box<Opened>, AccountError> {
        let is_new = origin.is_none();
        if is_new && !self.product.is_active {
            return Err(AccountError::ProductNotOffered);
        }
        if self.account_type != self.product.account_type {
            return Err(AccountError::WrongProduct);
        }
        if self.plan.is_some() && self.account_type != AccountType::TargetSavings {
            return Err(AccountError::PlanNotAllowed);
        }
        let deposit = self.initial_deposit.unwrap_or(0);
        if is_new && deposit < self.product.minimum_deposit {
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
            origin,
        }))
    }
}
