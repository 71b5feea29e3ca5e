//! What can happen to a list of tags.

use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, names};
use crate::kernel::{Personal, TagId, TransactionId};

/// Events of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TagsEvent {
    /// A tag is in it.
    Created(Box<Tag>),
    /// A tag is now like this.
    Changed(Box<Tag>),
    /// A tag is in it no more, and on no transaction.
    Removed {
        /// Which.
        id: TagId,
        /// What it was called.
        name: Personal<String>,
        /// Transactions that carried it.
        transactions: usize,
    },
    /// A transaction carries exactly these tags.
    Placed(Box<Placed>),
}

/// A tag.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    /// Its id.
    pub id: TagId,
    /// What it is called: one's own words for one's own life.
    pub name: Personal<String>,
    /// `#` and hexadecimal digits, or the name of a colour.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,
    /// As apps name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<String>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Personal<String>>,
    /// Whether apps offer it first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_default: bool,
    /// Whether it can be put on transactions.
    pub is_active: bool,
}

/// The tags that a transaction carries for one person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    /// The transaction.
    pub transaction_id: TransactionId,
    /// All its tags, in the order they were given.
    pub tags: Vec<PlacedTag>,
    /// What the person notes about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<Personal<String>>,
}

/// A tag on a transaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlacedTag {
    /// Its id.
    pub id: TagId,
    /// What it was called then.
    pub name: Personal<String>,
}

impl AggregateEvent for TagsEvent {
    names! {
        Created = "tags.created",
        Changed = "tags.changed",
        Removed = "tags.removed",
        Placed = "tags.placed",
    }
}
