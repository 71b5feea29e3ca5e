//! Taking one model through one batch: the same for the live runner, a rebuild and a check.

use bursar_domain::{Position, Recorded};
use sqlx::PgConnection;

use crate::catalogue::Entry;
use crate::log::Batch;
use crate::read_model::{Model, Poison};

/// Where a model came to in a batch.
pub(crate) struct Outcome {
    pub(crate) position: Position,
    /// Why it came no further.
    pub(crate) poison: Option<Poison>,
}

/// Folds the events of `batch` with `after < position <= upto`, without saving.
///
/// When an event cannot be taken, the model holds exactly the events before it; to come there it forgets
/// what it holds and starts again from its tables, so nothing may be pending from earlier batches then.
pub(crate) async fn fold(
    db: &mut PgConnection,
    entry: &Entry,
    model: &mut dyn Model,
    batch: &Batch,
    (after, upto): (Position, Position),
) -> sqlx::Result<Outcome> {
    let unreadable = batch
        .unreadable
        .iter()
        .find(|event| event.position > after && event.position <= upto && entry.reads.contains(&event.kind))
        .map(|event| Poison { position: event.position, reason: event.reason.clone() });
    let end = unreadable.as_ref().map_or(upto, |poison| poison.position - 1);
    let events = batch.between(after, end);
    model.load(&mut *db, events).await?;
    let Some(poison) = first_refused(model, events) else {
        return Ok(Outcome { position: end, poison: unreadable });
    };
    model.forget();
    let end = poison.position - 1;
    let events = batch.between(after, end);
    model.load(db, events).await?;
    // They were taken a moment ago, and a fold is pure.
    drop(first_refused(model, events));
    Ok(Outcome { position: end, poison: Some(poison) })
}

fn first_refused(model: &mut dyn Model, events: &[Recorded]) -> Option<Poison> {
    events.iter().find_map(|event| {
        let refused = model.fold(event).err()?;
        Some(Poison { position: event.position, reason: refused.to_string() })
    })
}
