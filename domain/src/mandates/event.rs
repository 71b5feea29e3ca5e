//! What can happen to a mandate.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, Due, When, names};
use crate::kernel::{
    AccountNumber, Amount, Calendar, Currency, Origin, PauseReason, Personal, TransactionId, UserId, midnight,
};
use crate::payments::Outside;

/// The task of making the payment that is due.
pub const EXECUTE: &str = "mandate.execute";

/// Events of a mandate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MandateEvent {
    /// It was given.
    SetUp(Box<SetUp>),
    /// The payment of a day was made.
    Executed {
        /// The day.
        due: Date,
        /// The payment.
        by: TransactionId,
        /// How much, minor units.
        amount: Amount,
        /// The next day; none when that was the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Date>,
    },
    /// The payment of a day was refused, and is tried again on the same day.
    Refused {
        /// The day.
        due: Date,
        /// Why: the refusal's code.
        code: String,
        /// When it is tried again.
        again_at: Timestamp,
    },
    /// The payment of a day was refused for good.
    Failed {
        /// The day.
        due: Date,
        /// Why: the code of the last refusal.
        code: String,
        /// How much it was about, minor units.
        amount: Amount,
        /// The next day; none when that was the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Date>,
    },
    /// The payer has looked at it anew; this is how it is now.
    Changed {
        /// How much, when, what for.
        plan: Plan,
        /// The next day; none while it is paused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Date>,
    },
    /// No payments for a while.
    Paused {
        /// Why.
        reason: PauseReason,
    },
    /// Payments again.
    Resumed {
        /// The next day.
        next: Date,
        /// The days that were passed over, the latest at most.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<Date>,
    },
    /// No payments any more.
    Cancelled {
        /// What it was called.
        name: String,
        /// Why, in the words of whoever wanted it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// A mandate as it was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetUp {
    /// Who pays.
    pub owner: UserId,
    /// What kind the payer calls it.
    pub mandate_type: MandateType,
    /// The account debited.
    pub source: AccountNumber,
    /// Who is paid.
    pub target: Target,
    /// The payee's name as the payer gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payee_name: Option<Personal<String>>,
    /// In which currency.
    pub currency: Currency,
    /// How much, when, what for.
    pub plan: Plan,
    /// The first day.
    pub first: Date,
    /// Whether it began at once; paused otherwise.
    pub is_active: bool,
    /// What another bank knew of it, when it was taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
}

/// What a payer may change of a mandate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Its name.
    pub name: String,
    /// How much each time, minor units.
    pub amount: Amount,
    /// On which days.
    pub calendar: Calendar,
    /// From when on, as the payer said it.
    pub starts_at: Timestamp,
    /// Until when, as the payer said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_at: Option<Timestamp>,
    /// What it is for; the narration of its payments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Who is paid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// An account of this bank, the payer's own or another's.
    Account {
        /// Its number.
        account_number: AccountNumber,
    },
    /// Somebody outside the bank.
    Outside {
        /// Who.
        outside: Outside,
        /// What is bought of a biller; whatever costs the amount when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item_id: Option<String>,
    },
}

crate::spelled! {
    /// What kind of mandate it is to the payer.
    pub enum MandateType {
        /// Somebody is paid.
        Payment = "PAYMENT",
        /// Money is put by.
        Savings = "SAVINGS",
    }
}

impl AggregateEvent for MandateEvent {
    names! {
        SetUp = "mandate.set_up",
        Executed = "mandate.executed",
        Refused = "mandate.refused",
        Failed = "mandate.failed",
        Changed = "mandate.changed",
        Paused = "mandate.paused",
        Resumed = "mandate.resumed",
        Cancelled = "mandate.cancelled",
    }

    fn subject(&self, _stream: &str) -> Option<UserId> {
        match self {
            // Also for the payee: it is what the payer wrote down.
            Self::SetUp(set_up) => Some(set_up.owner),
            Self::Executed { .. }
            | Self::Refused { .. }
            | Self::Failed { .. }
            | Self::Changed { .. }
            | Self::Paused { .. }
            | Self::Resumed { .. }
            | Self::Cancelled { .. } => None,
        }
    }

    fn dues(&self) -> Vec<Due> {
        let at = match self {
            Self::SetUp(set_up) => Some(set_up.first).filter(|_| set_up.is_active).map(midnight),
            Self::Executed { next, .. } | Self::Failed { next, .. } | Self::Changed { next, .. } => {
                next.map(midnight)
            }
            Self::Refused { again_at, .. } => Some(*again_at),
            Self::Resumed { next, .. } => Some(midnight(*next)),
            Self::Paused { .. } | Self::Cancelled { .. } => None,
        };
        vec![Due { task: EXECUTE, when: at.map_or(When::Never, When::At) }]
    }
}
