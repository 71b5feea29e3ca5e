//! What a list of tags can be asked.

use super::Tag;
use crate::kernel::{Personal, TagId, TransactionId};

/// Commands to a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TagsCommand {
    /// Add a tag.
    Create(Box<Tag>),
    /// Change a tag.
    Change {
        /// Which.
        id: TagId,
        /// What is different now.
        change: Box<TagChange>,
    },
    /// Take a tag out, and off every transaction.
    Remove {
        /// Which.
        id: TagId,
    },
    /// Let a transaction carry exactly these tags.
    Place {
        /// Which transaction; that it concerns the person was checked before.
        transaction_id: TransactionId,
        /// The tags, all of them; none takes off what is on it.
        tag_ids: Vec<TagId>,
        /// What the person notes about it.
        notes: Option<Personal<String>>,
    },
}

/// What is different about a tag; everything that is `None` stays.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TagChange {
    /// Its name.
    pub name: Option<Personal<String>>,
    /// Its colour.
    pub color: Option<String>,
    /// Its icon.
    pub icon: Option<String>,
    /// What it is for.
    pub description: Option<Personal<String>>,
    /// Whether it can be put on transactions.
    pub is_active: Option<bool>,
}
