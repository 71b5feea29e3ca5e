//! What a bank is, and nothing about how it is stored or served.
//!
//! Everything here is pure and synchronous: no I/O, no clock, no randomness. Time, ids, rates and
//! hashes arrive inside commands. An aggregate answers a command with events ([`Aggregate::decide`])
//! and grows by them ([`Aggregate::evolve`]); the [`ledger`] is the one consistency boundary that
//! spans aggregates, because money does.
//!
//! ```text
//!   command --> decide --> events --> ledger::apply (postings, account status) --> the log
//!                 ^                                                                  |
//!                 '------------------------- evolve <--------------------------------'
//! ```
//!
//! A noun is a directory with the same five files: `mod.rs` (state, decide, evolve), `command.rs`,
//! `event.rs`, `error.rs`, `tests.rs`. [`catalogue`] lists them all once. [`reference`](mod@reference) has no events: banks and
//! billers are looked up.

pub mod accounts;
pub mod aggregate;
pub mod beneficiaries;
pub mod cards;
pub mod catalogue;
pub mod closures;
pub mod codec;
pub mod communities;
pub mod compliance;
pub mod devices;
pub mod disputes;
pub mod documents;
pub mod envelope;
#[cfg(test)]
mod fixtures;
pub mod kernel;
pub mod ledger;
pub mod loan_products;
pub mod loans;
pub mod mandates;
pub mod messages;
pub mod mfa;
pub mod payments;
pub mod products;
pub mod rebuilds;
pub mod recurrences;
pub mod reference;
pub mod resets;
pub mod savings;
pub mod sessions;
pub mod tags;
pub mod users;
pub mod verifications;
pub mod webhooks;

pub use aggregate::{Aggregate, AggregateEvent, Due, When};
pub use catalogue::{Command, Event, Kind, State};
pub use envelope::{Metadata, Position, Recorded, StreamId};
pub use kernel::{
    AccountNumber, Amount, Clock, Currency, Entropy, Money, Personal, Rejection, RejectionKind,
};
