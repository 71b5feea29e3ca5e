//! What can happen to a recurrence.

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, Due, When, names};
use crate::kernel::{Calendar, PauseReason, TransactionId, UserId, midnight};

/// The task of making the payment that is due.
pub const EXECUTE: &str = "recurrence.execute";

/// Events of a recurrence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecurrenceEvent {
    /// A payment is to be repeated.
    SetUp(Box<SetUp>),
    /// The payment of a day was made.
    Executed {
        /// The day.
        due: Date,
        /// The payment.
        by: TransactionId,
        /// The next day; none when that was the last.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next: Option<Date>,
    },
    /// The payment of a day was refused; it is not tried again.
    Failed {
        /// The day.
        due: Date,
        /// Why: the refusal's code.
        code: String,
        /// The next day; none when that was the last.
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
    },
    /// No payments any more.
    Cancelled,
}

/// A payment that is to be repeated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetUp {
    /// Who pays.
    pub owner: UserId,
    /// The payment.
    pub transaction_id: TransactionId,
    /// On which days.
    pub calendar: Calendar,
    /// From when on, as the payer said it.
    pub starts_at: Timestamp,
    /// Until when, as the payer said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ends_at: Option<Timestamp>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The first day; none when it begins paused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Date>,
}

impl AggregateEvent for RecurrenceEvent {
    names! {
        SetUp = "recurrence.set_up",
        Executed = "recurrence.executed",
        Failed = "recurrence.failed",
        Paused = "recurrence.paused",
        Resumed = "recurrence.resumed",
        Cancelled = "recurrence.cancelled",
    }

    fn dues(&self) -> Vec<Due> {
        let next = match self {
            Self::SetUp(set_up) => set_up.next,
            Self::Executed { next, .. } | Self::Failed { next, .. } => *next,
            Self::Resumed { next } => Some(*next),
            Self::Paused { .. } | Self::Cancelled => None,
        };
        let when = next.map_or(When::Never, |day| When::At(midnight(day)));
        vec![Due { task: EXECUTE, when }]
    }
}
