//! The journal as a cqrs-es `EventStore`: whatever is built on cqrs-es can use it, and nothing gets around the
//! ledger that way, because a commit is a unit like any other.

use std::collections::HashMap;

use bursar_domain::{Aggregate, Event, Kind, Metadata, State};
use cqrs_es::{AggregateContext, AggregateError, EventEnvelope, EventStore};

use super::{Context, Journal, StoreError, SubmitError, Unit, read};

/// An aggregate as it was read, with the version a commit will insist on.
#[derive(Debug, Clone)]
pub struct Loaded<A> {
    id: String,
    aggregate: A,
    version: i64,
}

impl<A: Aggregate + cqrs_es::Aggregate> AggregateContext<A> for Loaded<A> {
    fn aggregate(&mut self) -> &mut A {
        &mut self.aggregate
    }
}

impl<A, E> EventStore<A> for Journal
where
    A: Aggregate<Event = E> + cqrs_es::Aggregate<Event = E> + TryFrom<State>,
    E: cqrs_es::DomainEvent + Into<Event> + 'static,
    for<'a> &'a E: TryFrom<&'a Event>,
{
    type AC = Loaded<A>;

    async fn load_events(&self, id: &str) -> Result<Vec<EventEnvelope<A>>, CqrsError<A>> {
        let type_name = <A as Aggregate>::TYPE;
        let mut connection = self.0.backing.acquire().await.map_err(store_error)?;
        let recorded = read::streams(&mut connection, &self.0.codec, &[type_name], &[id]).await;
        let recorded = recorded.map_err(store_error)?;
        Ok(recorded.iter().filter_map(envelope).collect())
    }

    async fn load_aggregate(&self, id: &str) -> Result<Loaded<A>, CqrsError<A>> {
        let (aggregate, version) = self.load(id).await.map_err(store_error)?;
        Ok(Loaded { id: id.to_owned(), aggregate, version })
    }

    async fn commit(
        &self,
        events: Vec<E>,
        context: Loaded<A>,
        metadata: HashMap<String, String>,
    ) -> Result<Vec<EventEnvelope<A>>, CqrsError<A>> {
        let kind: Kind =
            <A as Aggregate>::TYPE.parse().map_err(|e| AggregateError::UnexpectedError(Box::new(e)))?;
        let text = |name: &str| metadata.get(name).map(String::as_str).unwrap_or_default();
        let metadata = Metadata::by(text("actor"), text("correlation_id"));
        let origin = Context { metadata, ..Context::default() };
        let events = events.into_iter().map(Into::into).collect();
        let unit = Unit::new(origin).append(kind, &context.id, context.version, events);
        match self.submit(unit).await {
            Ok(committed) => Ok(committed.events.iter().filter_map(envelope).collect()),
            Err(SubmitError::Refused(refusal)) if refusal.code() == "STALE_VERSION" => {
                Err(AggregateError::AggregateConflict)
            }
            Err(error) => Err(AggregateError::UnexpectedError(Box::new(error))),
        }
    }
}

type CqrsError<A> = AggregateError<<A as cqrs_es::Aggregate>::Error>;

fn store_error<E: std::error::Error>(error: StoreError) -> AggregateError<E> {
    AggregateError::DatabaseConnectionError(Box::new(error))
}

fn envelope<A, E>(recorded: &bursar_domain::Recorded) -> Option<EventEnvelope<A>>
where
    A: cqrs_es::Aggregate<Event = E>,
    E: Clone,
    for<'a> &'a E: TryFrom<&'a Event>,
{
    let event: &E = (&recorded.event).try_into().ok()?;
    Some(EventEnvelope {
        aggregate_id: recorded.stream.id.to_string(),
        sequence: usize::try_from(recorded.sequence).unwrap_or(0),
        payload: event.clone(),
        metadata: HashMap::from([
            ("actor".to_owned(), recorded.metadata.actor.to_string()),
            ("correlation_id".to_owned(), recorded.metadata.correlation_id.to_string()),
        ]),
    })
}
