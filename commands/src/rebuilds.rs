//! Ordering that a read model is built anew, or compared with the log.

use bursar_domain::kernel::UserId;
use bursar_domain::rebuilds::{Ordered, RebuildCommand};

use crate::owned::CommandError;
use crate::{Committed, Context, Journal, Unit};

/// Orders a rebuild of `model`; `is_running` says whether one is being carried out. Whoever asks carries it out then.
///
/// # Errors
/// `REBUILD_RUNNING`.
pub async fn order(
    journal: &Journal,
    context: Context,
    by: UserId,
    model: &str,
    verify: bool,
    is_running: bool,
) -> Result<Committed, CommandError> {
    let order = Ordered { by, at: journal.sources().clock.now(), verify };
    let command = RebuildCommand::Order { order, is_running };
    Ok(journal.submit(Unit::new(context).step(model, command)).await?)
}
