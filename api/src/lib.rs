//! REST under `/v1`, the command line, and everything around them.
//!
//! ```text
//!   edge: request id, span, panics, problems, metrics
//!     -> extractors: auth (who, may they), request (what, checked)
//!       -> a handler: one use case or one query
//!         -> answer, or problem
//! ```
//!
//! | module | what it holds |
//! |---|---|
//! | [`app`], [`router`] | the server put together; every route |
//! | [`accounts`], [`banks`], [`beneficiaries`], [`billers`], [`cards`], [`compliance`], [`datasets`], [`documents`], [`messages`], [`payments`], [`products`], [`sessions`], [`staff`], [`sandbox`], [`subjects`], [`tags`], [`transactions`], [`users`], [`operations`] | handlers, one file per area |
//! | [`edge`], [`auth`], [`limits`], [`request`], [`answer`], [`problem`], [`written`] | what every handler stands on |
//! | [`import`] | another bank's data, checked and taken over |
//! | [`iso20022`] | statements and credit transfers as banks exchange them |
//! | [`config`], [`database`], [`postgres`], [`sources`], [`telemetry`], [`wiring`] | what the process needs from outside |
//! | [`cli`] | the command line: serve, demo, migrate, projections, payments, staff, audit, subjects, keys, bench |

pub mod accounts;
pub mod answer;
pub mod app;
mod approvals;
mod audit;
pub mod auth;
pub mod banks;
mod bench;
pub mod beneficiaries;
pub mod billers;
mod calendar;
pub mod cards;
pub mod certificates;
pub mod cli;
pub mod closures;
pub mod communities;
pub mod compliance;
pub mod config;
mod connections;
mod console;
pub mod database;
pub mod datasets;
pub mod demo;
mod devices;
pub mod documents;
pub mod edge;
pub mod events;
pub mod import;
mod interest;
pub mod iso20022;
pub mod limits;
pub mod loans;
pub mod mandates;
pub mod messages;
mod metrics;
pub mod mfa;
pub mod openapi;
pub mod operations;
mod outside;
mod paging;
pub mod passwords;
mod past;
pub mod payments;
pub mod permissions;
pub mod postgres;
pub mod problem;
pub mod products;
mod rate;
mod rebuilds;
pub mod request;
pub mod router;
pub mod sandbox;
mod schedule;
pub mod sessions;
pub mod sources;
pub mod staff;
pub mod subjects;
pub mod tags;
pub mod telemetry;
pub mod transactions;
pub mod users;
pub mod webhooks;
pub mod wiring;
pub mod written;

pub use app::{App, StartError, Wiring, serve};
pub use config::Config;
pub use router::router;
