//! Tags: what a person calls transactions by. One list a person, so the stream is the person's, and the transactions
//! that carry each tag are in it too: that a name is used once, how many transactions a tag is on and that none carries
//! a tag which is gone are then decided where they can be known. Whoever is at the other end of a transaction has a
//! list of their own.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use command::{TagChange, TagsCommand};
pub use error::TagsError;
pub use event::{Placed, PlacedTag, Tag, TagsEvent};

use crate::aggregate::Aggregate;
use crate::kernel::{Personal, TagId, TransactionId};

/// The most tags a person can have.
pub const MOST: usize = 100;
/// The most tags a transaction can carry for one person.
pub const MOST_ON_ONE: usize = 20;
/// The most tags on all transactions of a person. The list is in memory while it is written to, and every writer waits
/// meanwhile: what a tag is on is copied when it changes, which takes a millisecond for the most there can be.
pub const MOST_PLACED: usize = 20_000;

/// A person's list, by user id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tags {
    tags: BTreeMap<TagId, Kept>,
}

/// A tag, and what it is on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    tag: Tag,
    /// Shared by the copies of the list that a decision is tried on.
    on: Arc<BTreeSet<TransactionId>>,
}

impl Tags {
    fn kept(&self, id: TagId) -> Result<&Kept, TagsError> {
        self.tags.get(&id).ok_or(TagsError::Unknown)
    }

    /// Whether `tag` can be in the list as it is: nobody else in it has its name.
    fn check_name(&self, tag: &Tag) -> Result<(), TagsError> {
        let name = folded(&tag.name);
        let same = |kept: &&Kept| kept.tag.id != tag.id && name.is_some() && folded(&kept.tag.name) == name;
        match self.tags.values().find(same) {
            Some(kept) => Err(TagsError::NameTaken { tag_id: kept.tag.id }),
            None => Ok(()),
        }
    }

    fn place(
        &self,
        transaction_id: TransactionId,
        tag_ids: &[TagId],
        notes: Option<Personal<String>>,
    ) -> Result<Placed, TagsError> {
        let (mut seen, mut tags) = (BTreeSet::new(), Vec::new());
        for &id in tag_ids.iter().filter(|id| seen.insert(**id)) {
            let kept = self.kept(id)?;
            // One that is on it already may stay.
            if !kept.tag.is_active && !kept.on.contains(&transaction_id) {
                return Err(TagsError::Inactive { tag_id: id, state: "INACTIVE" });
            }
            tags.push(PlacedTag { id, name: kept.tag.name.clone() });
        }
        if tags.len() > MOST_ON_ONE {
            return Err(TagsError::Full { limit: "tags on a transaction", allowed: MOST_ON_ONE });
        }
        let on_others =
            self.tags.values().map(|kept| kept.on.len() - usize::from(kept.on.contains(&transaction_id)));
        if !tags.is_empty() && on_others.sum::<usize>() + tags.len() > MOST_PLACED {
            return Err(TagsError::Full { limit: "tags on all transactions", allowed: MOST_PLACED });
        }
        Ok(Placed { transaction_id, tags, notes })
    }
}

/// A name as it is compared: case and the white space around it do not matter. None for one that is erased.
fn folded(name: &Personal<String>) -> Option<String> {
    name.get().map(|name| name.trim().to_lowercase())
}

impl Tag {
    fn with(&self, change: TagChange) -> Self {
        Self {
            id: self.id,
            name: change.name.unwrap_or_else(|| self.name.clone()),
            color: change.color.or_else(|| self.color.clone()),
            icon: change.icon.or_else(|| self.icon.clone()),
            description: change.description.or_else(|| self.description.clone()),
            is_default: self.is_default,
            is_active: change.is_active.unwrap_or(self.is_active),
        }
    }
}

impl Aggregate for Tags {
    const TYPE: &'static str = "tags";
    type Command = TagsCommand;
    type Event = TagsEvent;
    type Error = TagsError;

    fn decide(&self, command: TagsCommand) -> Result<Vec<TagsEvent>, TagsError> {
        let event = match command {
            TagsCommand::Create(tag) => {
                self.check_name(&tag)?;
                if self.tags.len() >= MOST {
                    return Err(TagsError::Full { limit: "tags", allowed: MOST });
                }
                TagsEvent::Created(tag)
            }
            TagsCommand::Change { id, change } => {
                let tag = self.kept(id)?.tag.with(*change);
                self.check_name(&tag)?;
                TagsEvent::Changed(Box::new(tag))
            }
            TagsCommand::Remove { id } => {
                let Kept { tag, on } = self.kept(id)?;
                TagsEvent::Removed { id, name: tag.name.clone(), transactions: on.len() }
            }
            TagsCommand::Place { transaction_id, tag_ids, notes } => {
                TagsEvent::Placed(Box::new(self.place(transaction_id, &tag_ids, notes)?))
            }
        };
        Ok(vec![event])
    }

    fn evolve(&mut self, event: &TagsEvent) {
        match event {
            TagsEvent::Created(tag) => {
                self.tags.insert(tag.id, Kept { tag: (**tag).clone(), on: Arc::default() });
            }
            TagsEvent::Changed(tag) => {
                if let Some(kept) = self.tags.get_mut(&tag.id) {
                    kept.tag = (**tag).clone();
                }
            }
            TagsEvent::Removed { id, .. } => {
                self.tags.remove(id);
            }
            TagsEvent::Placed(placed) => {
                let id = placed.transaction_id;
                for (tag_id, kept) in &mut self.tags {
                    let (was, is) = (kept.on.contains(&id), placed.tags.iter().any(|tag| tag.id == *tag_id));
                    if is && !was {
                        Arc::make_mut(&mut kept.on).insert(id);
                    } else if was && !is {
                        Arc::make_mut(&mut kept.on).remove(&id);
                    }
                }
            }
        }
    }
}
