//! Keeping tags, and putting them on transactions.

use bursar_domain::Personal;
use bursar_domain::kernel::{TagId, UserId};
use bursar_domain::tags::{Tag, TagChange, TagsCommand};

use crate::owned::CommandError;
use crate::transactions::Involved;
use crate::{Committed, Context, Journal, Unit};

/// A tag that a person wants.
#[derive(Debug, Clone)]
pub struct NewTag {
    /// What it is called.
    pub name: String,
    /// `#` and hexadecimal digits, or the name of a colour.
    pub color: Option<String>,
    /// As apps name it.
    pub icon: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether apps offer it first.
    pub is_default: bool,
}

/// Adds a tag to `owner`'s list.
///
/// # Errors
/// `TAG_EXISTS`, `LIMIT_EXCEEDED`.
pub async fn create(
    journal: &Journal,
    context: Context,
    owner: UserId,
    new: NewTag,
) -> Result<Committed, CommandError> {
    let tag = Tag {
        id: TagId::mint(journal.sources()),
        name: Personal::new(new.name),
        color: new.color,
        icon: new.icon,
        description: new.description.map(Personal::new),
        is_default: new.is_default,
        is_active: true,
    };
    Ok(journal.submit(Unit::new(context).step(owner, TagsCommand::Create(Box::new(tag)))).await?)
}

/// Changes a tag of `owner`'s.
///
/// # Errors
/// `NOT_FOUND`, `TAG_EXISTS`.
pub async fn change(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: TagId,
    change: TagChange,
) -> Result<Committed, CommandError> {
    let change = TagsCommand::Change { id, change: Box::new(change) };
    Ok(journal.submit(Unit::new(context).step(owner, change)).await?)
}

/// Takes a tag out of `owner`'s list, and off every transaction.
///
/// # Errors
/// `NOT_FOUND`.
pub async fn remove(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: TagId,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step(owner, TagsCommand::Remove { id })).await?)
}

/// Lets a transaction that `owner` is part of carry exactly these tags, for them and for nobody else.
///
/// # Errors
/// `NOT_FOUND` for a tag that is not in their list, `INVALID_STATE` for one that is inactive, `LIMIT_EXCEEDED`.
pub async fn place(
    journal: &Journal,
    context: Context,
    owner: UserId,
    transaction: &Involved,
    tag_ids: Vec<TagId>,
    notes: Option<String>,
) -> Result<Committed, CommandError> {
    let notes = notes.map(Personal::new);
    let place = TagsCommand::Place { transaction_id: transaction.id, tag_ids, notes };
    Ok(journal.submit(Unit::new(context).step(owner, place)).await?)
}
