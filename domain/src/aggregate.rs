//! The one shape every noun has, and how it meets cqrs-es.

use std::fmt::Debug;

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::kernel::{Rejection, UserId};
use crate::ledger::Effect;

/// A thing with a life of its own: state that decides about commands and grows by events.
///
/// Both functions are pure. `decide` never changes state, so a refused command leaves no trace;
/// `evolve` never fails, because what is in the log has happened.
pub trait Aggregate:
    Debug + Default + Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Its name in the log (`account`).
    const TYPE: &'static str;
    /// What it can be asked.
    type Command: Send + Sync + Debug + Clone;
    /// What can happen to it.
    type Event: AggregateEvent;
    /// Why it says no.
    type Error: Rejection;

    /// What happens if `command` is carried out.
    ///
    /// # Errors
    /// The named reason why it is not.
    fn decide(&self, command: Self::Command) -> Result<Vec<Self::Event>, Self::Error>;

    /// Grows by something that has happened.
    fn evolve(&mut self, event: &Self::Event);

    /// Whose it is, where that decides who may touch it. Nobody's, unless the noun says otherwise.
    fn owner(&self) -> Option<UserId> {
        None
    }
}

/// Something that has happened. Stored for ever.
pub trait AggregateEvent:
    Debug + Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The names of all of them.
    const NAMES: &'static [&'static str];

    /// Its name in the log, with the noun in front (`account.opened`). [`names!`] writes both.
    fn name(&self) -> &'static str;

    /// The version of its shape. See `domain/docs/changing-an-event.md`.
    fn version(&self) -> &'static str {
        "1"
    }

    /// Whose key seals its [`Personal`](crate::Personal) parts: the person whom they are about, or who wrote them down.
    /// An event that has such parts and nobody to seal them for is never written. `stream` is the id of the aggregate
    /// it happened to; where that is a person's, this is them.
    fn subject(&self, stream: &str) -> Option<UserId> {
        stream.parse().ok()
    }

    /// What is to be done because of it, and when; see [`Due`].
    fn dues(&self) -> Vec<Due> {
        Vec::new()
    }

    /// What it does to the ledger, if anything. `stream` is the id of the aggregate it happened to.
    fn effect(&mut self, _stream: &str) -> Option<Effect<'_>> {
        None
    }
}

/// Work that an event orders or takes back. Each task has at most one due time an aggregate; it is written by the commit
/// that records the event, so that nothing is forgotten and nothing is ordered that did not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The task, as the process that does it is called (`payment.clear`).
    pub task: &'static str,
    /// When.
    pub when: When,
}

/// When work is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum When {
    /// As soon as the event is recorded.
    Now,
    /// At this time.
    At(Timestamp),
    /// No more.
    Never,
}

/// The name of each event in the log: `Opened = "account.opened"`.
macro_rules! names {
    ($($variant:ident = $name:literal,)*) => {
        const NAMES: &'static [&'static str] = &[$($name),*];

        fn name(&self) -> &'static str {
            match self {$(Self::$variant { .. } => $name,)*}
        }
    };
}
pub(crate) use names;

/// Binds an [`Aggregate`] to the cqrs-es traits, so that any cqrs-es store can hold it.
///
/// cqrs-es' `handle` is async and applies events as it goes; ours decides first and applies after.
macro_rules! bind_cqrs {
    ($aggregate:ty, $event:ty, $command:ty, $error:ty) => {
        impl cqrs_es::Aggregate for $aggregate {
            const TYPE: &'static str = <Self as $crate::Aggregate>::TYPE;
            type Command = $command;
            type Event = $event;
            type Error = $error;
            type Services = ();

            async fn handle(
                &mut self,
                command: $command,
                (): &(),
                sink: &cqrs_es::event_sink::EventSink<Self>,
            ) -> Result<(), $error> {
                for event in $crate::Aggregate::decide(self, command)? {
                    sink.write(event, self).await;
                }
                Ok(())
            }

            fn apply(&mut self, event: $event) {
                $crate::Aggregate::evolve(self, &event);
            }
        }

        impl cqrs_es::DomainEvent for $event {
            fn event_type(&self) -> String {
                $crate::AggregateEvent::name(self).to_owned()
            }

            fn event_version(&self) -> String {
                $crate::AggregateEvent::version(self).to_owned()
            }
        }
    };
}
pub(crate) use bind_cqrs;

/// given / when / then for tests: `given::<Account>(&[events]).when(command).then(&[events])`.
#[cfg(test)]
pub(crate) mod given {
    use super::*;

    pub(crate) struct Given<A: Aggregate>(A);
    pub(crate) struct When<A: Aggregate>(Result<Vec<A::Event>, A::Error>);

    pub(crate) fn given<A: Aggregate>(events: &[A::Event]) -> Given<A> {
        let mut state = A::default();
        events.iter().for_each(|event| state.evolve(event));
        Given(state)
    }

    impl<A: Aggregate> Given<A> {
        pub(crate) fn when(self, command: A::Command) -> When<A> {
            When(self.0.decide(command))
        }
    }

    impl<A: Aggregate> When<A> {
        pub(crate) fn then(self, expected: &[A::Event]) {
            assert_eq!(self.0.expect("refused"), expected);
        }

        pub(crate) fn then_refused(self, code: &str) {
            assert_eq!(self.0.expect_err("carried out").code(), code);
        }
    }
}
