//! What a recurrence can be asked.

use jiff::Timestamp;
use jiff::civil::Date;

use crate::kernel::{Calendar, TransactionId, UserId};

/// Commands to a recurrence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecurrenceCommand {
    /// Begin it.
    SetUp(Box<NewRecurrence>),
    /// The payment of a due day is made, in the same unit.
    Execute {
        /// The day.
        due: Date,
        /// The payment.
        by: TransactionId,
    },
    /// The payment of a due day was refused.
    Fail {
        /// The day.
        due: Date,
        /// Why: the refusal's code.
        code: String,
    },
    /// Make no payments for a while.
    Pause,
    /// Make payments again.
    Resume {
        /// The UTC day it is; what was due before is passed over.
        today: Date,
    },
    /// Make no payments any more.
    Cancel,
}

/// A payment that is to be repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRecurrence {
    /// Who pays.
    pub owner: UserId,
    /// The payment.
    pub transaction_id: TransactionId,
    /// On which days.
    pub calendar: Calendar,
    /// From when on, as the payer said it.
    pub starts_at: Timestamp,
    /// Until when, as the payer said it.
    pub ends_at: Option<Timestamp>,
    /// What it is for; the narration of its payments.
    pub description: Option<String>,
    /// Whether it begins paused.
    pub is_paused: bool,
    /// The UTC day it is: nothing is due before.
    pub today: Date,
}
