//! Keeping a person's compliance records, and judging them.

use bursar_domain::compliance::{Change, ComplianceCommand, Details, RecordId, RecordKind};
use bursar_domain::kernel::{AddressId, ContactId, EmploymentId, KinId, Sources, UserId, utc_date};
use bursar_domain::{Command, Personal};

use crate::owned::CommandError;
use crate::{Committed, Context, Journal, Unit};

/// Keeps a record of `owner`'s. An address takes the place of `in_place_of`, or of the one of its type.
///
/// # Errors
/// `LIMIT_EXCEEDED`; `VALIDATION_FAILED` when days do not fit together. For an address, `NOT_FOUND` unless `in_place_of` is
/// one of theirs, and `ADDRESS_EXISTS` when another of theirs has the type.
pub async fn keep(
    journal: &Journal,
    context: Context,
    owner: UserId,
    details: Details,
    in_place_of: Option<AddressId>,
) -> Result<Committed, CommandError> {
    let sources = journal.sources();
    let (id, today) = (mint(sources, details.kind()), utc_date(sources.clock.now()));
    let keep = ComplianceCommand::Keep { id, details: Box::new(details), in_place_of, today };
    submit(journal, context, owner, keep).await
}

/// Changes a record of `owner`'s.
///
/// # Errors
/// `NOT_FOUND`; `VALIDATION_FAILED` when days do not fit together any more.
pub async fn change(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: impl Into<RecordId>,
    change: Change,
) -> Result<Committed, CommandError> {
    let today = utc_date(journal.sources().clock.now());
    let change = ComplianceCommand::Change { id: id.into(), change: Box::new(change), today };
    submit(journal, context, owner, change).await
}

/// Removes a record of `owner`'s.
///
/// # Errors
/// `NOT_FOUND`.
pub async fn remove(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: impl Into<RecordId>,
    reason: Option<String>,
) -> Result<Committed, CommandError> {
    let remove = ComplianceCommand::Remove { id: id.into(), reason: reason.map(Personal::new) };
    submit(journal, context, owner, remove).await
}

/// Staff: finds a record of `owner`'s to be true.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is pending.
pub async fn verify(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: RecordId,
    note: Option<String>,
) -> Result<Committed, CommandError> {
    let note = note.map(Personal::new);
    submit(journal, context, owner, ComplianceCommand::Verify { id, note }).await
}

/// Staff: finds a record of `owner`'s not to be true.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is pending.
pub async fn reject(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: RecordId,
    reason: String,
) -> Result<Committed, CommandError> {
    let reason = Personal::new(reason);
    submit(journal, context, owner, ComplianceCommand::Reject { id, reason }).await
}

async fn submit(
    journal: &Journal,
    context: Context,
    owner: UserId,
    command: impl Into<Command>,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step(owner, command)).await?)
}

fn mint(sources: &Sources, kind: RecordKind) -> RecordId {
    match kind {
        RecordKind::Address => AddressId::mint(sources).into(),
        RecordKind::Kin => KinId::mint(sources).into(),
        RecordKind::Employment => EmploymentId::mint(sources).into(),
        RecordKind::EmergencyContact => ContactId::mint(sources).into(),
    }
}
