//! Beneficiaries: whom a customer pays and does not want to type again. One list a person, so the stream is the
//! person's: what must be unique in a list is decided where the list is.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use command::BeneficiariesCommand;
pub use error::BeneficiariesError;
pub use event::{BeneficiariesEvent, Beneficiary, BeneficiaryKind, Payee};

use crate::aggregate::Aggregate;
use crate::kernel::BeneficiaryId;

/// The most a person can keep.
pub const MOST: usize = 1_000;

/// A person's list, by user id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beneficiaries {
    /// Whom each entry pays.
    kept: BTreeMap<BeneficiaryId, Payee>,
}

impl Beneficiaries {
    /// The entry that pays `payee`.
    #[must_use]
    pub fn paying(&self, payee: &Payee) -> Option<BeneficiaryId> {
        self.kept.iter().find(|(_, kept)| *kept == payee).map(|(id, _)| *id)
    }

    fn add(&self, beneficiary: Box<Beneficiary>) -> Result<Vec<BeneficiariesEvent>, BeneficiariesError> {
        if self.kept.len() >= MOST {
            return Err(BeneficiariesError::Full { limit: "beneficiaries", allowed: MOST });
        }
        Ok(vec![BeneficiariesEvent::Added(beneficiary)])
    }
}

impl Aggregate for Beneficiaries {
    const TYPE: &'static str = "beneficiaries";
    type Command = BeneficiariesCommand;
    type Event = BeneficiariesEvent;
    type Error = BeneficiariesError;

    fn decide(&self, command: BeneficiariesCommand) -> Result<Vec<BeneficiariesEvent>, BeneficiariesError> {
        match command {
            BeneficiariesCommand::Add(beneficiary) => match self.paying(&beneficiary.payee) {
                Some(beneficiary_id) => Err(BeneficiariesError::Kept { beneficiary_id }),
                None => self.add(beneficiary),
            },
            // A payment must not fail because its payee is known already, or one too many.
            BeneficiariesCommand::Keep(beneficiary) => match self.paying(&beneficiary.payee) {
                Some(_) => Ok(Vec::new()),
                None => Ok(self.add(beneficiary).unwrap_or_default()),
            },
            BeneficiariesCommand::Remove { id } if self.kept.contains_key(&id) => {
                Ok(vec![BeneficiariesEvent::Removed { id }])
            }
            BeneficiariesCommand::Remove { .. } => Err(BeneficiariesError::Unknown),
        }
    }

    fn evolve(&mut self, event: &BeneficiariesEvent) {
        match event {
            BeneficiariesEvent::Added(beneficiary) => {
                self.kept.insert(beneficiary.id, beneficiary.payee.clone());
            }
            BeneficiariesEvent::Removed { id } => {
                self.kept.remove(id);
            }
        }
    }
}
