//! Accounts: the contract with a customer. The money in them is the ledger's business.

mod command;
mod error;
mod event;
mod interest;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use command::{AccountCommand, OpenAccount};
pub use error::AccountError;
pub use event::{AccountEvent, Opened, SavingsFrequency, SavingsPlan};
pub use interest::{Accrual, DayEnd, Earner, Owed, Stretch};

use crate::aggregate::Aggregate;
use crate::kernel::UserId;
use crate::ledger::AccountStatus;

/// An account, by its number.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Account {
    /// Not opened yet.
    #[default]
    Absent,
    /// Money may move both ways.
    Active(Contract),
    /// Money may come in; staff decide when it may leave again.
    Frozen(Contract),
}

/// What later decisions need to know of an open account.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    /// Who holds it.
    pub owner: UserId,
    /// The product it was opened on.
    pub product_id: String,
}

impl Account {
    const fn status(&self) -> Option<AccountStatus> {
        match self {
            Self::Absent => None,
            Self::Active(_) => Some(AccountStatus::Active),
            Self::Frozen(_) => Some(AccountStatus::Frozen),
        }
    }

    fn refuse(&self) -> AccountError {
        self.status().map_or(AccountError::Unknown, |status| AccountError::InvalidState { status })
    }
}

impl Aggregate for Account {
    const TYPE: &'static str = "account";
    type Command = AccountCommand;
    type Event = AccountEvent;
    type Error = AccountError;

    fn decide(&self, command: AccountCommand) -> Result<Vec<AccountEvent>, AccountError> {
        match (self, command) {
            (Self::Absent, AccountCommand::Open(open)) => Ok(vec![AccountEvent::Opened(open.check()?)]),
            (Self::Active(_) | Self::Frozen(_), AccountCommand::Open(_)) => Err(AccountError::NumberTaken),
            (Self::Active(_), AccountCommand::Freeze { reason }) => Ok(vec![AccountEvent::Frozen { reason }]),
            (Self::Frozen(_), AccountCommand::Unfreeze { reason }) => {
                Ok(vec![AccountEvent::Unfrozen { reason }])
            }
            (Self::Absent | Self::Frozen(_), AccountCommand::Freeze { .. })
            | (Self::Absent | Self::Active(_), AccountCommand::Unfreeze { .. }) => Err(self.refuse()),
        }
    }

    fn evolve(&mut self, event: &AccountEvent) {
        let before = std::mem::take(self);
        *self = match (event, before) {
            (AccountEvent::Opened(opened), _) => {
                Self::Active(Contract { owner: opened.terms.owner, product_id: opened.product_id.clone() })
            }
            (AccountEvent::Frozen { .. }, Self::Active(contract)) => Self::Frozen(contract),
            (AccountEvent::Unfrozen { .. }, Self::Frozen(contract)) => Self::Active(contract),
            (AccountEvent::Frozen { .. } | AccountEvent::Unfrozen { .. }, other) => other,
        };
    }
}
