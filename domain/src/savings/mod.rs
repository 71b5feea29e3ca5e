//! Savings plans: what a target savings account saves by itself, and until when. A plan has the number of its account.
//!
//! ```text
//!   Absent --begin--> Saving --its date has come--> Matured      the account stays, and earns on
//!                       '-----the account is closed--> Ended
//! ```
//!
//! A day's contribution is made or skipped once, in order; after downtime those that were missed follow each other, oldest
//! first.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

pub use command::{NewContributions, NewPlan, PlanCommand};
pub use error::PlanError;
pub use event::{Began, CONTRIBUTE, Contributions, MATURE, PlanEvent};

use crate::aggregate::Aggregate;
use crate::kernel::UserId;

/// The plan of a target savings account.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Plan {
    /// There is none.
    #[default]
    Absent,
    /// It saves.
    Saving(Box<Saver>),
    /// Its date has come: it saves no more.
    Matured(Box<Saver>),
    /// Its account was closed before.
    Ended(Box<Saver>),
}

/// Who saves, and how far they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Saver {
    /// Who saves.
    pub owner: UserId,
    /// What is paid into the account by itself.
    pub contributions: Option<Contributions>,
    /// When it is over.
    pub matures_at: Option<Timestamp>,
}

impl Saver {
    /// The day after `due`, when that is the one to be done.
    fn done(&self, due: Date) -> Result<Option<Date>, PlanError> {
        let saves = self.contributions.as_ref().filter(|saves| saves.next == Some(due));
        saves.map(|saves| saves.calendar.after(due)).ok_or(PlanError::NotDue)
    }

    fn goes_on(&mut self, next: Option<Date>) {
        if let Some(saves) = &mut self.contributions {
            saves.next = next;
        }
    }
}

impl Plan {
    /// Who saves, as long as they do.
    #[must_use]
    pub const fn saving(&self) -> Option<&Saver> {
        match self {
            Self::Saving(saver) => Some(saver),
            Self::Absent | Self::Matured(_) | Self::Ended(_) => None,
        }
    }

    const fn refuse(&self) -> PlanError {
        match self {
            Self::Absent => PlanError::Unknown,
            Self::Saving(_) => PlanError::InvalidState { state: "SAVING" },
            Self::Matured(_) => PlanError::InvalidState { state: "MATURED" },
            Self::Ended(_) => PlanError::InvalidState { state: "ENDED" },
        }
    }
}

impl Aggregate for Plan {
    const TYPE: &'static str = "plan";
    type Command = PlanCommand;
    type Event = PlanEvent;
    type Error = PlanError;

    fn decide(&self, command: PlanCommand) -> Result<Vec<PlanEvent>, PlanError> {
        let event = match (self, command) {
            (Self::Absent, PlanCommand::Begin(new)) => PlanEvent::Began(Box::new(new.begin()?)),
            (Self::Saving(saver), PlanCommand::Contribute { due, by }) => {
                PlanEvent::Contributed { due, by, next: saver.done(due)? }
            }
            (Self::Saving(saver), PlanCommand::Skip { due, code }) => {
                PlanEvent::Skipped { due, code, next: saver.done(due)? }
            }
            (Self::Saving(saver), PlanCommand::Mature { now }) => match saver.matures_at {
                Some(at) if at <= now => PlanEvent::Matured,
                Some(_) | None => return Err(PlanError::NotDue),
            },
            (Self::Saving(_), PlanCommand::End) => PlanEvent::Ended,
            (Self::Absent | Self::Saving(_) | Self::Matured(_) | Self::Ended(_), _) => {
                return Err(self.refuse());
            }
        };
        Ok(vec![event])
    }

    fn evolve(&mut self, event: &PlanEvent) {
        let before = std::mem::take(self);
        *self = match (event, before) {
            (PlanEvent::Began(began), _) => Self::Saving(Box::new(Saver {
                owner: began.owner,
                contributions: began.contributions.clone(),
                matures_at: began.matures_at,
            })),
            (
                PlanEvent::Contributed { next, .. } | PlanEvent::Skipped { next, .. },
                Self::Saving(mut saver),
            ) => {
                saver.goes_on(*next);
                Self::Saving(saver)
            }
            (PlanEvent::Matured, Self::Saving(saver)) => Self::Matured(saver),
            (PlanEvent::Ended, Self::Saving(saver)) => Self::Ended(saver),
            (
                PlanEvent::Contributed { .. }
                | PlanEvent::Skipped { .. }
                | PlanEvent::Matured
                | PlanEvent::Ended,
                other,
            ) => other,
        };
    }

    fn owner(&self) -> Option<UserId> {
        match self {
            Self::Absent => None,
            Self::Saving(saver) | Self::Matured(saver) | Self::Ended(saver) => Some(saver.owner),
        }
    }
}
