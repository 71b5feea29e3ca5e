//! The write side: what the bank does when it is asked.
//!
//! ```text
//!   handler -> accounts::open(bank, context, ..)    a use case: mints ids, hashes secrets, checks ownership
//!           -> journal.submit(unit)                 one or several commands that stand or fall together
//!           -> Committed { events, .. }             what the answer is made from
//!
//!   schedule -> processes -> journal.submit(unit)   what the bank does by itself: a rail has answered, a day has come
//! ```
//!
//! One file of use cases per noun; the [`journal`] is the only way anything gets written.

pub mod accounts;
pub mod audit;
pub mod beneficiaries;
pub mod cards;
pub mod certificates;
pub mod closures;
pub mod communities;
pub mod compliance;
pub mod devices;
pub mod disputes;
pub mod documents;
pub mod files;
pub mod identity;
pub mod imports;
pub mod interest;
pub mod journal;
pub mod keys;
pub mod loan_products;
pub mod loans;
pub mod mandates;
pub mod messages;
pub mod mfa;
mod owned;
pub mod passwords;
pub mod payments;
pub mod pki;
pub mod processes;
pub mod products;
pub mod proof;
pub mod rails;
pub mod rebuilds;
pub mod recurrences;
pub mod reference;
pub mod resets;
pub mod reversals;
pub mod savings;
mod series;
pub mod sessions;
pub mod sim;
pub mod tags;
pub mod transactions;
pub mod users;
pub mod vault;
pub mod verifications;
pub mod webhooks;

pub use journal::{Committed, Context, Journal, SubmitError, Unit};
pub use owned::{CommandError, NotFound, Owned, once};
