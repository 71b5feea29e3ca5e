//! The read side: tables made from the log, and the questions they answer.
//!
//! ```text
//!   journal.events --> log::Batch --> each read model: load, fold, save --> read.<tables>
//!                      (decoded once)                                       read.checkpoints, same transaction
//! ```
//!
//! A read model is one file: a struct, its [`ReadModel`] fold, its queries, and one line in [`catalogue`].
//! [`Projections`] keeps all of them up with the log; [`rebuild`] and [`verify`] run the same folds into
//! tables of their own and compare.

pub mod accounts;
pub mod analysts;
pub mod approvals;
pub mod beneficiaries;
pub mod books;
pub mod cards;
mod catalogue;
pub mod closures;
pub mod communities;
pub mod compliance;
mod copy;
pub mod daily_balances;
pub mod device_certificates;
pub mod disputes;
pub mod documents;
pub mod events;
mod freshness;
pub mod interest;
pub mod loan_products;
pub mod loans;
mod log;
pub mod mandates;
pub mod messages;
mod page;
mod past;
pub mod products;
mod read_model;
mod rebuild;
mod records;
pub mod recurrences;
mod row;
mod runner;
pub mod sessions;
pub mod statement_entries;
pub mod tags;
#[cfg(test)]
mod tests;
pub mod transactions;
pub mod users;
pub mod webhooks;
mod window;

pub use catalogue::{Entry, catalogue};
pub use freshness::{Freshness, Lagging, ModelState, ModelStatus};
pub use page::{Page, Paged, Sort, SortField, UnknownSort};
pub use past::{Explanation, Step};
pub use read_model::{FoldError, Mask, ParkedRows, ReadModel, Table};
pub use rebuild::{
    Diff, Difference, DifferenceKind, Log, Order, Progress, RebuildError, RebuildState, RebuildStatus,
    Rebuilding, Report, rebuild, rebuild_status, verify,
};
pub use runner::{Held, Projections, Retried, read_status, retry};
