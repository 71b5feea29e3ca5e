//! Compliance records: where a person lives, who is next of kin, where they work, whom to call. Staff verify each.
//! The records of a person are one stream, theirs: how many there are, which comes first and what is left is decided
//! where all of them are.
//!
//! | from | by | to |
//! |---|---|---|
//! | nothing | the customer | `PENDING` |
//! | `PENDING` | staff | `VERIFIED`, `REJECTED` |
//! | any | a fact that the customer changes | `PENDING` |
//!
//! While there are addresses, one is primary, and so it is with next of kin: the first, then whichever is made it; when it
//! is removed, the oldest that is left. Of emergency contacts at most one is `PRIMARY`; another that becomes so makes it
//! `SECONDARY`. Which one comes first is no fact, and needs no verification.

mod command;
mod details;
mod error;
mod event;
mod id;
mod record;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

pub use command::ComplianceCommand;
pub use details::{Change, Details};
pub use error::{ComplianceError, Misfit};
pub use event::{Changed, ComplianceEvent, VerificationStatus};
pub use id::{RecordId, RecordKind};
pub use record::{
    Address, AddressType, EmergencyContact, EmergencyContactChange, Employment, EmploymentChange,
    EmploymentType, Kin, KinChange, Priority,
};

use crate::aggregate::Aggregate;
use crate::kernel::AddressId;

/// The most records of a kind that a person can have. Of addresses there are no more than types.
pub const MOST: usize = 20;

/// A person's records, by user id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compliance {
    records: BTreeMap<RecordId, Kept>,
}

/// A record, and what staff think of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    details: Details,
    status: VerificationStatus,
}

impl Compliance {
    fn kept(&self, id: RecordId) -> Result<&Kept, ComplianceError> {
        self.records.get(&id).ok_or(ComplianceError::Unknown)
    }

    /// The other records of its kind, the oldest first.
    fn others(&self, id: RecordId) -> impl Iterator<Item = (RecordId, &Kept)> {
        let others = self.records.iter().filter(move |(other, _)| other.kind() == id.kind() && **other != id);
        others.map(|(id, kept)| (*id, kept))
    }

    fn keep(
        &self,
        id: RecordId,
        details: Details,
        in_place_of: Option<AddressId>,
        today: Date,
    ) -> Result<Vec<ComplianceEvent>, ComplianceError> {
        let same_type = self.of_type(&details);
        let Some(named) = in_place_of.map(RecordId::Address) else {
            return match same_type {
                Some(address_id) => self.change(address_id, details, today),
                None => self.add(id, details, today),
            };
        };
        self.kept(named)?;
        match same_type.filter(|address_id| *address_id != named) {
            Some(address_id) => Err(ComplianceError::TypeTaken { address_id }),
            None => self.change(named, details, today),
        }
    }

    /// The address of the same type; none when it is not about addresses.
    fn of_type(&self, details: &Details) -> Option<RecordId> {
        let Details::Address(wanted) = details else { return None };
        let same = |kept: &Kept| matches!(&kept.details, Details::Address(a) if a.address_type == wanted.address_type);
        self.records.iter().find(|(_, kept)| same(kept)).map(|(id, _)| *id)
    }

    fn add(
        &self,
        id: RecordId,
        details: Details,
        today: Date,
    ) -> Result<Vec<ComplianceEvent>, ComplianceError> {
        if self.others(id).count() >= MOST {
            return Err(ComplianceError::Full { limit: plural(id.kind()), allowed: MOST });
        }
        let details = self.ordered(id, details, today)?;
        let passed = self.passed(id, &details);
        Ok([ComplianceEvent::Added { id, details: Box::new(details) }].into_iter().chain(passed).collect())
    }

    fn change(
        &self,
        id: RecordId,
        details: Details,
        today: Date,
    ) -> Result<Vec<ComplianceEvent>, ComplianceError> {
        let kept = self.kept(id)?;
        let details = self.ordered(id, details, today)?;
        let passed = self.passed(id, &details);
        Ok([kept.changed(id, details)].into_iter().chain(passed).collect())
    }

    /// What a record is to say, once it is certain which one comes first.
    fn ordered(&self, id: RecordId, mut details: Details, today: Date) -> Result<Details, ComplianceError> {
        let errors = details.misfits(today);
        if !errors.is_empty() {
            return Err(ComplianceError::Misfits { errors });
        }
        if details.has_a_first() && !self.others(id).any(|(_, other)| other.details.is_primary()) {
            details.put_first(true);
        }
        Ok(details)
    }

    /// Whoever came first so far, when `details` do now.
    fn passed(&self, id: RecordId, details: &Details) -> Option<ComplianceEvent> {
        let (first, kept) = self.others(id).find(|(_, other)| other.details.is_primary())?;
        details.is_primary().then(|| kept.moved(first, false))
    }

    fn remove(&self, id: RecordId) -> Result<(usize, Option<ComplianceEvent>), ComplianceError> {
        let Kept { details, .. } = self.kept(id)?;
        let next = self.others(id).next().filter(|_| details.has_a_first() && details.is_primary());
        Ok((self.others(id).count(), next.map(|(id, kept)| kept.moved(id, true))))
    }

    fn pending(&self, id: RecordId) -> Result<(), ComplianceError> {
        match self.kept(id)?.status {
            VerificationStatus::Pending => Ok(()),
            state @ (VerificationStatus::Verified | VerificationStatus::Rejected) => {
                Err(ComplianceError::Settled { state })
            }
        }
    }
}

impl Kept {
    fn changed(&self, id: RecordId, details: Details) -> ComplianceEvent {
        let updated_fields = self.details.differing(&details);
        let mark = details.mark();
        let facts_differ = updated_fields.iter().any(|name| Some(name.as_str()) != mark);
        let status = if facts_differ { VerificationStatus::Pending } else { self.status };
        ComplianceEvent::Changed(Box::new(Changed { id, details, updated_fields, status }))
    }

    fn moved(&self, id: RecordId, first: bool) -> ComplianceEvent {
        let mut details = self.details.clone();
        details.put_first(first);
        self.changed(id, details)
    }
}

const fn plural(kind: RecordKind) -> &'static str {
    match kind {
        RecordKind::Address => "addresses",
        RecordKind::Kin => "next of kin",
        RecordKind::Employment => "employments",
        RecordKind::EmergencyContact => "emergency contacts",
    }
}

impl Aggregate for Compliance {
    const TYPE: &'static str = "compliance";
    type Command = ComplianceCommand;
    type Event = ComplianceEvent;
    type Error = ComplianceError;

    fn decide(&self, command: ComplianceCommand) -> Result<Vec<ComplianceEvent>, ComplianceError> {
        match command {
            ComplianceCommand::Keep { id, details, in_place_of, today } => {
                self.keep(id, *details, in_place_of, today)
            }
            ComplianceCommand::Change { id, change, today } => {
                let details = self.kept(id)?.details.with(*change, today).ok_or(ComplianceError::Unknown)?;
                self.change(id, details, today)
            }
            ComplianceCommand::Remove { id, reason } => {
                let (remaining, next) = self.remove(id)?;
                let removed = ComplianceEvent::Removed { id, reason, remaining };
                Ok([removed].into_iter().chain(next).collect())
            }
            ComplianceCommand::Verify { id, note } => {
                self.pending(id)?;
                Ok(vec![ComplianceEvent::Verified { id, note }])
            }
            ComplianceCommand::Reject { id, reason } => {
                self.pending(id)?;
                Ok(vec![ComplianceEvent::Rejected { id, reason }])
            }
        }
    }

    fn evolve(&mut self, event: &ComplianceEvent) {
        let mut judge = |id: &RecordId, status| {
            if let Some(kept) = self.records.get_mut(id) {
                kept.status = status;
            }
        };
        match event {
            ComplianceEvent::Added { id, details } => {
                let status = VerificationStatus::Pending;
                self.records.insert(*id, Kept { details: (**details).clone(), status });
            }
            ComplianceEvent::Changed(changed) => {
                let Changed { id, details, status, .. } = &**changed;
                self.records.insert(*id, Kept { details: details.clone(), status: *status });
            }
            ComplianceEvent::Removed { id, .. } => {
                self.records.remove(id);
            }
            ComplianceEvent::Verified { id, .. } => judge(id, VerificationStatus::Verified),
            ComplianceEvent::Rejected { id, .. } => judge(id, VerificationStatus::Rejected),
        }
    }
}
