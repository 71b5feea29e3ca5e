//! The second reader: postgres-es reads the events, cqrs-es folds them, and the results must equal ours.
//!
//! One stream of all events of a noun, in order of sequence, is what postgres-es offers: good enough to fold, because
//! each aggregate's own events are in order. A database error shortens that stream silently, so versions are compared
//! too, and a short stream shows as a missing event.

use std::collections::HashMap;

use bursar_domain::catalogue::Visitor;
use bursar_domain::{Aggregate, Kind, State, StreamId, codec};
use cqrs_es::persist::{PersistedEventRepository, PersistenceError};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use postgres_es::PostgresEventRepository;
use sqlx::PgPool;

use super::Difference;
use super::replay::{Folded, difference};
use crate::journal::StoreError;

/// Compares every aggregate; hears through `progress` how many events are done.
pub(super) async fn compare(
    pool: &PgPool,
    streams: HashMap<StreamId, Folded>,
    progress: &mut (dyn FnMut(i64) + Send),
) -> Result<Option<Difference>, StoreError> {
    let mut by_kind: HashMap<Kind, HashMap<String, Folded>> = HashMap::new();
    for (stream, folded) in streams {
        by_kind.entry(stream.kind).or_default().insert(stream.id.to_string(), folded);
    }
    let mut done = 0;
    for &kind in Kind::ALL {
        let ours = by_kind.remove(&kind).unwrap_or_default();
        let found = kind.visit(Compare { pool, ours, done: &mut done, progress }).await?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// The comparison of one noun.
struct Compare<'a> {
    pool: &'a PgPool,
    ours: HashMap<String, Folded>,
    done: &'a mut i64,
    progress: &'a mut (dyn FnMut(i64) + Send),
}

impl<'a> Visitor for Compare<'a> {
    type Output = BoxFuture<'a, Result<Option<Difference>, StoreError>>;

    fn visit<A>(self) -> Self::Output
    where
        A: Aggregate + cqrs_es::Aggregate + TryFrom<State>,
    {
        noun::<A>(self.pool, self.ours, self.done, self.progress).boxed()
    }
}

async fn noun<A>(
    pool: &PgPool,
    ours: HashMap<String, Folded>,
    done: &mut i64,
    progress: &mut (dyn FnMut(i64) + Send),
) -> Result<Option<Difference>, StoreError>
where
    A: Aggregate + cqrs_es::Aggregate + TryFrom<State>,
{
    let upcasters = codec::upcasters();
    let repository = PostgresEventRepository::new(pool.clone());
    let mut events = repository.stream_all_events::<A>().await.map_err(|e| unreadable(&e))?;
    let mut theirs: HashMap<String, (A, i64)> = HashMap::with_capacity(ours.len());
    while let Some(event) = events.next::<A>(&upcasters).await {
        let event = event.map_err(|e| unreadable(&e))?;
        let sequence = i64::try_from(event.sequence).unwrap_or(i64::MAX);
        // Events recorded since our snapshot are nobody's difference.
        if ours.get(&event.aggregate_id).is_none_or(|folded| sequence > folded.version) {
            continue;
        }
        let (aggregate, version) = theirs.entry(event.aggregate_id).or_default();
        cqrs_es::Aggregate::apply(aggregate, event.payload);
        *version += 1;
        *done += 1;
        if *done % 5_000 == 0 {
            progress(*done);
        }
    }
    progress(*done);
    Ok(first_difference(ours, theirs))
}

fn first_difference<A>(
    ours: HashMap<String, Folded>,
    mut theirs: HashMap<String, (A, i64)>,
) -> Option<Difference>
where
    A: Aggregate + TryFrom<State>,
{
    ours.into_iter()
        .filter_map(|(id, folded)| {
            let Folded { state, version, position } = folded;
            let subject = format!("{} {id}", A::TYPE);
            let (aggregate, events) = theirs.remove(&id).unwrap_or_default();
            if events != version {
                return Some(difference(position, subject, format!("{version} events"), events));
            }
            match A::try_from(state) {
                Ok(state) if state == aggregate => None,
                Ok(state) => {
                    Some(difference(position, subject, format!("{state:?}"), format!("{aggregate:?}")))
                }
                Err(_) => Some(difference(position, subject, A::TYPE, "another noun")),
            }
        })
        .min_by_key(|found| found.position)
}

fn unreadable(error: &PersistenceError) -> StoreError {
    StoreError::Damaged(format!("postgres-es cannot read the log: {error}"))
}
