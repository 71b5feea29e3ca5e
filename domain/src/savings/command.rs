//! What a savings plan can be asked.

use jiff::Timestamp;
use jiff::civil::Date;

use super::{Began, Contributions, PlanError};
use crate::accounts::SavingsFrequency;
use crate::kernel::{AccountNumber, Amount, Calendar, Frequency, TransactionId, UserId, midnight, utc_date};

/// Commands to a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanCommand {
    /// Begin it, in the unit that opens its account.
    Begin(Box<NewPlan>),
    /// The contribution of a due day is made, in the same unit.
    Contribute {
        /// The day.
        due: Date,
        /// The payment.
        by: TransactionId,
    },
    /// The contribution of a due day was refused.
    Skip {
        /// The day.
        due: Date,
        /// Why: the refusal's code.
        code: String,
    },
    /// Its date has come.
    Mature {
        /// The time it is.
        now: Timestamp,
    },
    /// Its account is closed.
    End,
}

/// A plan to be begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPlan {
    /// Who saves.
    pub owner: UserId,
    /// What is to be paid in by itself.
    pub contributions: Option<NewContributions>,
    /// When it is over.
    pub matures_at: Option<Timestamp>,
    /// The time it is.
    pub now: Timestamp,
}

/// What is to be paid in by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewContributions {
    /// The account that pays, of the same holder.
    pub source: AccountNumber,
    /// Minor units.
    pub amount: Amount,
    /// How often. The first one is due a week or a month after the day the plan begins.
    pub frequency: SavingsFrequency,
}

impl NewPlan {
    pub(super) fn begin(self) -> Result<Began, PlanError> {
        if self.matures_at.is_some_and(|at| at <= self.now) {
            return Err(PlanError::MaturityPassed);
        }
        let today = utc_date(self.now);
        // What is due at the moment the plan is over is not due any more.
        let last = self.matures_at.map(|at| {
            let day = utc_date(at);
            if midnight(day) < at { day } else { day.yesterday().unwrap_or(day) }
        });
        let contributions = self.contributions.map(|new| {
            let frequency = match new.frequency {
                SavingsFrequency::Weekly => Frequency::Weekly,
                SavingsFrequency::Monthly => Frequency::Monthly,
            };
            let calendar = Calendar::new(frequency, today, None, last).map_err(|_| PlanError::NotDue)?;
            let next = calendar.after(today);
            Ok(Contributions { source: new.source, amount: new.amount, calendar, next })
        });
        Ok(Began {
            owner: self.owner,
            contributions: contributions.transpose()?,
            matures_at: self.matures_at,
        })
    }
}
