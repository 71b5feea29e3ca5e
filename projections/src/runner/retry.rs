//! Another chance for what a read model has left behind, once its fold or the event is mended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bursar_domain::Position;
use sqlx::{Connection, PgConnection};

use super::checkpoints::{Checkpoint, Lock, register, try_lock, unlock};
use super::{fold, own_connection, read};
use crate::catalogue::{Entry, catalogue};
use crate::log::{self, BATCH};
use crate::read_model::{Mask, ParkedRows, Poison};
use crate::rebuild::{Log, RebuildError, find};

/// What came of another chance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Retried {
    /// Row sets that are up with the others again.
    pub caught_up: Vec<String>,
    /// Row sets that cannot take the event yet.
    pub parked: Vec<ParkedRows>,
    /// The whole model was parked, and is tried again by the server.
    pub is_tried_again: bool,
}

/// Takes the row sets that the read model `name` has left behind through the events since, and lets the model itself go on
/// where it is parked. In one transaction: meanwhile the live models wait, so that for a long stretch of the log a rebuild is
/// better.
///
/// # Errors
/// [`RebuildError`].
pub async fn retry(log: Log<'_>, name: &str) -> Result<Retried, RebuildError> {
    let entry = find(name)?;
    let mut db = own_connection(log.pool).await?;
    register(&mut db).await?;
    if !try_lock(&mut db, Lock::Rebuild, entry.name).await? {
        return Err(RebuildError::AlreadyRunning(entry.name));
    }
    let mut tx = db.begin().await?;
    sqlx::query!("SELECT position FROM checkpoints WHERE model = $1 FOR UPDATE", entry.name)
        .fetch_one(&mut *tx)
        .await?;
    let all = catalogue().iter().zip(read(&mut tx).await?);
    let at: Checkpoint =
        all.filter(|(other, _)| other.name == entry.name).map(|(_, at)| at).next().unwrap_or_default();
    let mut left: BTreeMap<Position, BTreeSet<String>> = BTreeMap::new();
    for parked in &at.parked {
        left.entry(parked.position).or_default().insert(parked.row_set.clone());
    }
    let mut retried =
        Retried { caught_up: Vec::new(), parked: Vec::new(), is_tried_again: at.poison.is_some() };
    for (from, mut row_sets) in left {
        // Those that fail are left out, and the others begin again.
        while !row_sets.is_empty() {
            let mut attempt = tx.begin().await?;
            let Some(poison) = catch_up(&mut attempt, log, entry, &row_sets, (from - 1, at.position)).await?
            else {
                attempt.commit().await?;
                retried.caught_up.extend(row_sets);
                break;
            };
            attempt.rollback().await?;
            let failed: Vec<&ParkedRows> =
                at.parked.iter().filter(|rows| poison.row_sets.contains(&rows.row_set)).collect();
            if failed.is_empty() {
                return Err((entry.name, poison).into());
            }
            for rows in failed {
                row_sets.remove(&rows.row_set);
                retried.parked.push(ParkedRows { reason: poison.reason.clone(), ..rows.clone() });
            }
        }
    }
    sqlx::query!("DELETE FROM parked WHERE model = $1 AND row_set = ANY($2)", entry.name, &retried.caught_up)
        .execute(&mut *tx)
        .await?;
    // What the live runner holds in memory is not what is in the tables any more.
    sqlx::query!(
        "UPDATE checkpoints SET generation = generation + 1, poison = NULL, reason = NULL WHERE model = $1",
        entry.name
    )
    .execute(&mut *tx)
    .await?;
    tx.commit().await?;
    unlock(&mut db).await?;
    db.close().await?;
    Ok(retried)
}

/// Takes some row sets through a stretch of the log. Answers what they cannot take.
async fn catch_up(
    db: &mut PgConnection,
    log: Log<'_>,
    entry: &'static Entry,
    row_sets: &BTreeSet<String>,
    (mut after, upto): (Position, Position),
) -> sqlx::Result<Option<Poison>> {
    let mask = Mask::AllBut(Arc::new(row_sets.clone()));
    let mut model = (entry.fresh)();
    model.forget(&mask);
    while after < upto {
        let batch = log::read(db, log.codec, entry.reads, (after, upto), BATCH).await?;
        if batch.seen == 0 {
            break;
        }
        let outcome = fold(db, entry, (model.as_mut(), &mask), &batch, (after, batch.upto)).await?;
        if outcome.poison.is_some() {
            return Ok(outcome.poison);
        }
        model.save(db).await?;
        after = batch.upto;
    }
    Ok(None)
}
