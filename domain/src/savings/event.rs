//! What can happen to a savings plan.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, Due, When, names};
use crate::kernel::{AccountNumber, Amount, Calendar, TransactionId, UserId, midnight};

/// The task of making the contribution that is due.
pub const CONTRIBUTE: &str = "plan.contribute";
/// The task of ending a plan on its date.
pub const MATURE: &str = "plan.mature";

/// Events of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanEvent {
    /// Its account was opened.
    Began(Box<Began>),
    /// The contribution of a day was made.
    Contributed {
        /// The day.
        due: Date,
        /// The payment.
        by: TransactionId,
        /// The next day; none when that was the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Date>,
    },
    /// The contribution of a day was refused; it is not tried again.
    Skipped {
        /// The day.
        due: Date,
        /// Why: the refusal's code.
        code: String,
        /// The next day; none when that was the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Date>,
    },
    /// Its date has come.
    Matured,
    /// Its account was closed before.
    Ended,
}

/// A plan that begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Began {
    /// Who saves.
    pub owner: UserId,
    /// What is paid into the account by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contributions: Option<Contributions>,
    /// When it is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub matures_at: Option<Timestamp>,
}

/// What is paid into the account by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contributions {
    /// The account that pays.
    pub source: AccountNumber,
    /// Minor units.
    pub amount: Amount,
    /// On which days.
    pub calendar: Calendar,
    /// The day that is due next; none when none is left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Date>,
}

impl AggregateEvent for PlanEvent {
    names! {
        Began = "plan.began",
        Contributed = "plan.contributed",
        Skipped = "plan.skipped",
        Matured = "plan.matured",
        Ended = "plan.ended",
    }

    fn subject(&self, _stream: &str) -> Option<UserId> {
        match self {
            Self::Began(began) => Some(began.owner),
            Self::Contributed { .. } | Self::Skipped { .. } | Self::Matured | Self::Ended => None,
        }
    }

    fn dues(&self) -> Vec<Due> {
        let contribute = |next: Option<Date>| {
            let when = next.map_or(When::Never, |day| When::At(midnight(day)));
            Due { task: CONTRIBUTE, when }
        };
        let mature = |when| Due { task: MATURE, when };
        match self {
            Self::Began(began) => {
                let next = began.contributions.as_ref().and_then(|saves| saves.next);
                vec![contribute(next), mature(began.matures_at.map_or(When::Never, When::At))]
            }
            Self::Contributed { next, .. } | Self::Skipped { next, .. } => vec![contribute(*next)],
            Self::Matured | Self::Ended => vec![contribute(None), mature(When::Never)],
        }
    }
}
