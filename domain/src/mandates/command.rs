//! What a mandate can be asked.

use jiff::Timestamp;
use jiff::civil::Date;

use super::{MandateType, Plan, Target};
use crate::kernel::{AccountNumber, Amount, Currency, Frequency, Origin, Personal, TransactionId, UserId};

/// Commands to a mandate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MandateCommand {
    /// Begin it.
    SetUp(Box<NewMandate>),
    /// The payment of a due day is made, in the same unit.
    Execute {
        /// The day.
        due: Date,
        /// The payment.
        by: TransactionId,
    },
    /// The payment of a due day was refused.
    Refuse {
        /// The day.
        due: Date,
        /// Why: the refusal's code.
        code: String,
        /// When.
        now: Timestamp,
    },
    /// Change it.
    Change(Box<Edits>),
    /// Make no payments any more.
    Cancel {
        /// Why, in the words of whoever wants it.
        reason: Option<String>,
    },
}

/// A mandate to be given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMandate {
    /// Who pays.
    pub owner: UserId,
    /// What kind the payer calls it.
    pub mandate_type: MandateType,
    /// The account debited.
    pub source: AccountNumber,
    /// Who is paid.
    pub target: Target,
    /// The payee's name as the payer gave it.
    pub payee_name: Option<Personal<String>>,
    /// In which currency.
    pub currency: Currency,
    /// How much, when, what for.
    pub plan: Plan,
    /// Whether it begins at once; paused otherwise.
    pub is_active: bool,
    /// The UTC day it is: nothing is due before.
    pub today: Date,
    /// What another bank knew of it, when it is taken over.
    pub origin: Option<Origin>,
}

/// What is to be different; what is `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edits {
    /// Its name.
    pub name: Option<String>,
    /// How much, minor units.
    pub amount: Option<Amount>,
    /// How often.
    pub frequency: Option<Frequency>,
    /// The day of the month or week.
    pub execution_day: Option<i8>,
    /// Until when; `Some(None)` is for ever.
    pub ends_at: Option<Option<Timestamp>>,
    /// What it is for; `Some(None)` is nothing.
    pub description: Option<Option<String>>,
    /// Whether payments are made.
    pub is_active: Option<bool>,
    /// The UTC day it is.
    pub today: Date,
}
