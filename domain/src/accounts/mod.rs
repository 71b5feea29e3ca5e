//! Accounts: the contract with a customer. The money in them is the ledger's business.
//!
//! ```text
//!   Absent --open--> Active <--freeze, unfreeze--> Frozen         by staff
//!                      |  ^---reactivate--- Dormant               after a long silence; back by staff
//!                      '--close--> Closed                         at the end of an application: see closures; from
//!                                                                 wherever it is when its holder is erased
//! ```

mod command;
mod contract;
mod error;
mod event;
mod interest;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use command::{AccountCommand, Configure, OpenAccount};
pub use contract::Contract;
pub use error::AccountError;
pub use event::{
    AccountEvent, Configured, NextStatement, Notifications, Opened, SILENCE, STATEMENT, SavingsFrequency,
    SavingsPlan, Settings, StatementDelivery, StatementFrequency,
};
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
    /// Nobody has used it for long: money may come in, and leaves when its holder is there again.
    Dormant(Contract),
    /// It is over.
    Closed(Contract),
}

impl Account {
    const fn status(&self) -> Option<AccountStatus> {
        match self {
            Self::Absent => None,
            Self::Active(_) => Some(AccountStatus::Active),
            Self::Frozen(_) => Some(AccountStatus::Frozen),
            Self::Dormant(_) => Some(AccountStatus::Dormant),
            Self::Closed(_) => Some(AccountStatus::Closed),
        }
    }

    /// What was agreed, in whatever state it is.
    #[must_use]
    pub const fn contract(&self) -> Option<&Contract> {
        match self {
            Self::Absent => None,
            Self::Active(contract)
            | Self::Frozen(contract)
            | Self::Dormant(contract)
            | Self::Closed(contract) => Some(contract),
        }
    }

    fn into_contract(self) -> Option<Contract> {
        match self {
            Self::Absent => None,
            Self::Active(contract)
            | Self::Frozen(contract)
            | Self::Dormant(contract)
            | Self::Closed(contract) => Some(contract),
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
        let event = match (self, command) {
            (Self::Absent, AccountCommand::Open(open)) => AccountEvent::Opened(open.check()?),
            (Self::Absent, AccountCommand::TakeOver { open, origin }) => {
                AccountEvent::Opened(open.taken_over(origin)?)
            }
            (_, AccountCommand::Open(_) | AccountCommand::TakeOver { .. }) => {
                return Err(AccountError::NumberTaken);
            }
            (Self::Active(_), AccountCommand::Freeze { reason }) => AccountEvent::Frozen { reason },
            (Self::Frozen(_), AccountCommand::Unfreeze { reason }) => AccountEvent::Unfrozen { reason },
            (Self::Active(_), AccountCommand::FallDormant { silent_since }) => {
                AccountEvent::WentDormant { silent_since }
            }
            (Self::Dormant(_), AccountCommand::Reactivate { reason }) => AccountEvent::Reactivated { reason },
            (
                Self::Active(contract) | Self::Frozen(contract) | Self::Dormant(contract),
                AccountCommand::Configure(configure),
            ) => AccountEvent::Configured(Box::new(contract.configure(*configure)?)),
            (
                Self::Active(contract) | Self::Frozen(contract) | Self::Dormant(contract),
                AccountCommand::SendStatement { from, to, today },
            ) => contract.send_statement(from, to, today)?,
            (Self::Active(contract), AccountCommand::Leave { now }) => {
                contract.leave(now)?;
                return Ok(Vec::new());
            }
            (Self::Active(_), AccountCommand::Close { closure_id }) => AccountEvent::Closed { closure_id },
            (Self::Frozen(_) | Self::Dormant(_), AccountCommand::Close { closure_id: None }) => {
                AccountEvent::Closed { closure_id: None }
            }
            (
                Self::Absent | Self::Active(_) | Self::Frozen(_) | Self::Dormant(_) | Self::Closed(_),
                AccountCommand::Freeze { .. }
                | AccountCommand::Unfreeze { .. }
                | AccountCommand::FallDormant { .. }
                | AccountCommand::Reactivate { .. }
                | AccountCommand::Configure(_)
                | AccountCommand::SendStatement { .. }
                | AccountCommand::Leave { .. }
                | AccountCommand::Close { .. },
            ) => return Err(self.refuse()),
        };
        Ok(vec![event])
    }

    fn evolve(&mut self, event: &AccountEvent) {
        if let AccountEvent::Opened(opened) = event {
            *self = Self::Active(Contract::of(opened));
            return;
        }
        let into: fn(Contract) -> Self = match event {
            AccountEvent::Frozen { .. } => Self::Frozen,
            AccountEvent::WentDormant { .. } => Self::Dormant,
            AccountEvent::Closed { .. } => Self::Closed,
            AccountEvent::Opened(_) | AccountEvent::Unfrozen { .. } | AccountEvent::Reactivated { .. } => {
                Self::Active
            }
            AccountEvent::Configured(_) | AccountEvent::StatementSent { .. } => {
                match self {
                    Self::Absent => {}
                    Self::Active(contract)
                    | Self::Frozen(contract)
                    | Self::Dormant(contract)
                    | Self::Closed(contract) => contract.grow(event),
                }
                return;
            }
        };
        *self = std::mem::take(self).into_contract().map_or(Self::Absent, into);
    }

    fn owner(&self) -> Option<UserId> {
        self.contract().map(|contract| contract.owner)
    }
}
