//! Taking one model through one batch: the same for the live runner, a rebuild, a check and a retry.

use bursar_domain::{Event, Position, Recorded};
use sqlx::PgConnection;

use crate::catalogue::Entry;
use crate::log::{Batch, Unreadable};
use crate::read_model::{FoldError, Mask, Model, Poison};

/// Where a model came to in a batch.
pub(crate) struct Outcome {
    pub(crate) position: Position,
    /// Why it came no further.
    pub(crate) poison: Option<Poison>,
}

/// Folds the events of `batch` with `after < position <= upto`, without saving. What `mask` hides the model leaves as it is.
///
/// When an event cannot be taken, the model holds exactly the events before it; to come there it forgets
/// what it holds and starts again from its tables, so nothing may be pending from earlier batches then.
pub(crate) async fn fold(
    db: &mut PgConnection,
    entry: &Entry,
    (model, mask): (&mut dyn Model, &Mask),
    batch: &Batch,
    (after, upto): (Position, Position),
) -> sqlx::Result<Outcome> {
    let concerns = |event: &&Unreadable| {
        event.position > after
            && event.position <= upto
            && entry.reads.contains(&event.kind)
            && !(entry.row_sets.contains(&event.kind) && mask.hides(&event.stream))
    };
    let unreadable = batch.unreadable.iter().find(concerns).map(|event| unread(entry, event));
    let end = unreadable.as_ref().map_or(upto, |poison| poison.position - 1);
    let events = batch.between(after, end);
    model.load(&mut *db, events).await?;
    let Some(poison) = first_refused(model, mask, events) else {
        return Ok(Outcome { position: end, poison: unreadable });
    };
    model.forget(mask);
    let end = poison.position - 1;
    let events = batch.between(after, end);
    model.load(db, events).await?;
    // They were taken a moment ago, and a fold is pure.
    drop(first_refused(model, mask, events));
    Ok(Outcome { position: end, poison: Some(poison) })
}

/// An event that cannot be read. A payment's accounts are in what cannot be read: then nobody knows whose rows it changes.
fn unread(entry: &Entry, event: &Unreadable) -> Poison {
    let known = event.kind != bursar_domain::Kind::Payment && entry.row_sets.contains(&event.kind);
    Poison {
        position: event.position,
        reason: event.reason.clone(),
        row_sets: known.then(|| event.stream.clone()).into_iter().collect(),
        concerns: Vec::new(),
    }
}

fn first_refused(model: &mut dyn Model, mask: &Mask, events: &[Recorded]) -> Option<Poison> {
    events.iter().find_map(|event| {
        let refused = model.fold(event).err()?;
        let poison = refusal(model, event, &refused.to_string(), Some(&refused));
        // What is parked already is refused again and again.
        let is_hidden = !poison.row_sets.is_empty() && poison.row_sets.iter().all(|set| mask.hides(set));
        (!is_hidden).then_some(poison)
    })
}

/// An event that can be read and cannot be taken, and the row sets that are concerned.
pub(crate) fn refusal(
    model: &dyn Model,
    event: &Recorded,
    reason: &str,
    error: Option<&FoldError>,
) -> Poison {
    let mut row_sets = model.row_sets(event);
    // The other accounts of a payment can take it.
    if let Some(account) = error.and_then(FoldError::account)
        && row_sets.iter().any(|set| set == account)
    {
        row_sets = vec![account.to_owned()];
    }
    let mut concerns: Vec<String> = Vec::new();
    // An account and a person say themselves who is concerned; of a transaction its event does.
    if row_sets.iter().any(|set| **set == *event.stream.id) {
        concerns.extend(event.event.subject(&event.stream.id).map(|user| user.to_string()));
        if let Event::Payment(payment) = &event.event {
            let accounts = payment.movement().into_iter().flat_map(|moved| moved.accounts());
            concerns.extend(accounts.map(ToString::to_string));
        }
    }
    Poison { position: event.position, reason: reason.to_owned(), row_sets, concerns }
}
