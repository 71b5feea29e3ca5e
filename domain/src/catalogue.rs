//! Every noun of the bank, listed once. A new noun is one line at the end of this file.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

use crate::aggregate::{Aggregate, AggregateEvent, Due};
use crate::kernel::{Rejection, UserId};
use crate::ledger::Effect;

macro_rules! catalogue {
    ($($kind:ident($module:ident),)*) => {
        /// Which noun a stream belongs to.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {$(
            #[doc = concat!("`", stringify!($kind), "` of [`", stringify!($module), "`](crate::", stringify!($module), ").")]
            $kind,
        )*}

        impl Kind {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$kind),*];

            /// Its name in the log.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {$(Self::$kind => <crate::$module::$kind as Aggregate>::TYPE,)*}
            }

            /// The state before anything happened.
            #[must_use]
            pub fn fresh(self) -> State {
                match self {$(Self::$kind => State::$kind(Box::default()),)*}
            }

            /// Reads a payload of the current version.
            ///
            /// # Errors
            /// When the payload is not an event of this noun.
            pub fn read<'de, D: Deserializer<'de>>(self, payload: D) -> Result<Event, D::Error> {
                match self {$(Self::$kind => Deserialize::deserialize(payload).map(Event::$kind),)*}
            }

            /// The names of its events in the log.
            #[must_use]
            pub const fn event_names(self) -> &'static [&'static str] {
                match self {
                    $(Self::$kind => <<crate::$module::$kind as Aggregate>::Event as AggregateEvent>::NAMES,)*
                }
            }

            /// Lets `visitor` see the noun's type.
            pub fn visit<V: Visitor>(self, visitor: V) -> V::Output {
                match self {$(Self::$kind => visitor.visit::<crate::$module::$kind>(),)*}
            }
        }

        /// The state of any aggregate.
        #[derive(Debug, Clone, PartialEq)]
        pub enum State {$(
            #[allow(missing_docs)]
            $kind(Box<crate::$module::$kind>),
        )*}

        impl State {
            /// What happens if `command` is carried out.
            ///
            /// # Errors
            /// The aggregate's refusal, or [`WrongNoun`] when command and state do not belong together.
            pub fn decide(&self, command: Command) -> Result<Vec<Event>, Box<dyn Rejection>> {
                match (self, command) {
                    $((Self::$kind(state), Command::$kind(command)) => match state.decide(command) {
                        Ok(events) => Ok(events.into_iter().map(Event::$kind).collect()),
                        Err(refusal) => Err(Box::new(refusal)),
                    },)*
                    _ => Err(Box::new(WrongNoun)),
                }
            }

            /// Whose it is.
            #[must_use]
            pub fn owner(&self) -> Option<UserId> {
                match self {$(Self::$kind(state) => state.owner(),)*}
            }

            /// Grows by one event; an event of another noun changes nothing.
            pub fn evolve(&mut self, event: &Event) {
                match (self, event) {
                    $((Self::$kind(state), Event::$kind(event)) => state.evolve(event),)*
                    _ => {}
                }
            }
        }

        /// A command to any aggregate.
        #[derive(Debug, Clone)]
        pub enum Command {$(
            #[allow(missing_docs)]
            $kind(<crate::$module::$kind as Aggregate>::Command),
        )*}

        impl Command {
            /// The noun it is for.
            #[must_use]
            pub const fn kind(&self) -> Kind {
                match self {$(Self::$kind(_) => Kind::$kind,)*}
            }
        }

        /// An event of any aggregate.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Event {$(
            #[allow(missing_docs)]
            $kind(<crate::$module::$kind as Aggregate>::Event),
        )*}

        impl Event {
            /// The noun it happened to.
            #[must_use]
            pub const fn kind(&self) -> Kind {
                match self {$(Self::$kind(_) => Kind::$kind,)*}
            }

            /// Its name in the log (`account.opened`).
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self {$(Self::$kind(event) => event.name(),)*}
            }

            /// The version of its shape.
            #[must_use]
            pub fn version(&self) -> &'static str {
                match self {$(Self::$kind(event) => event.version(),)*}
            }

            /// Whose key seals its personal parts.
            #[must_use]
            pub fn subject(&self, stream: &str) -> Option<UserId> {
                match self {$(Self::$kind(event) => event.subject(stream),)*}
            }

            /// What is to be done because of it.
            #[must_use]
            pub fn dues(&self) -> Vec<Due> {
                match self {$(Self::$kind(event) => event.dues(),)*}
            }

            /// What it does to the ledger.
            pub fn effect(&mut self, stream: &str) -> Option<Effect<'_>> {
                match self {$(Self::$kind(event) => event.effect(stream),)*}
            }

            /// The payload as the log holds it.
            ///
            /// # Errors
            /// Never for the events of this crate.
            pub fn write(&self) -> serde_json::Result<String> {
                match self {$(Self::$kind(event) => serde_json::to_string(event),)*}
            }
        }

        $(
            impl From<<crate::$module::$kind as Aggregate>::Command> for Command {
                fn from(command: <crate::$module::$kind as Aggregate>::Command) -> Self {
                    Self::$kind(command)
                }
            }

            impl From<<crate::$module::$kind as Aggregate>::Event> for Event {
                fn from(event: <crate::$module::$kind as Aggregate>::Event) -> Self {
                    Self::$kind(event)
                }
            }

            impl<'a> TryFrom<&'a Event> for &'a <crate::$module::$kind as Aggregate>::Event {
                type Error = WrongNoun;

                fn try_from(event: &'a Event) -> Result<Self, WrongNoun> {
                    #[allow(unreachable_patterns)]
                    match event {
                        Event::$kind(event) => Ok(event),
                        _ => Err(WrongNoun),
                    }
                }
            }

            impl TryFrom<State> for crate::$module::$kind {
                type Error = WrongNoun;

                fn try_from(state: State) -> Result<Self, WrongNoun> {
                    #[allow(unreachable_patterns)]
                    match state {
                        State::$kind(state) => Ok(*state),
                        _ => Err(WrongNoun),
                    }
                }
            }

            $crate::aggregate::bind_cqrs!(
                crate::$module::$kind,
                <crate::$module::$kind as Aggregate>::Event,
                <crate::$module::$kind as Aggregate>::Command,
                <crate::$module::$kind as Aggregate>::Error
            );
        )*
    };
}

impl Event {
    /// Whose data key is destroyed by the commit that records it.
    #[must_use]
    pub fn erases(&self, stream: &str) -> Option<UserId> {
        match self {
            Self::User(crate::users::UserEvent::Erased(_)) => stream.parse().ok(),
            _ => None,
        }
    }
}

/// Something to be done with the type of a noun that is known by its [`Kind`] only.
pub trait Visitor {
    /// What comes of it.
    type Output;

    /// Does it.
    fn visit<A>(self) -> Self::Output
    where
        A: Aggregate + cqrs_es::Aggregate + TryFrom<State>;
}

/// A command, an event or a state of one noun met another noun. Never a customer's doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a command or event of this aggregate")]
pub struct WrongNoun;

impl Rejection for WrongNoun {
    fn code(&self) -> &'static str {
        "WRONG_AGGREGATE"
    }

    fn kind(&self) -> crate::RejectionKind {
        crate::RejectionKind::Conflict
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// No noun of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no aggregate type {0:?}")]
pub struct UnknownKind(pub String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        Self::ALL
            .iter()
            .copied()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| UnknownKind(text.to_owned()))
    }
}

catalogue! {
    Account(accounts),
    Beneficiaries(beneficiaries),
    Compliance(compliance),
    Dispute(disputes),
    Messages(messages),
    Mfa(mfa),
    Payment(payments),
    Product(products),
    Recurrence(recurrences),
    Resets(resets),
    Session(sessions),
    Tags(tags),
    User(users),
    Verifications(verifications),
    Card(cards),
    Document(documents),
    LoanProduct(loan_products),
    Loan(loans),
    Devices(devices),
    Closure(closures),
    Mandate(mandates),
    Community(communities),
    Plan(savings),
    Rebuild(rebuilds),
    Webhook(webhooks),
}
