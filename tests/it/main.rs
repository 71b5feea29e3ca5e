//! The bank as its users see it: one binary, the real server, a real Postgres.
//!
//! # Faults and attacks
//!
//! [`torture::catalogue`] lists them, with the tests, how often they are tried, and who is found out by the same detector.
//! `TEST_SEED=7` repeats the choices of a run that printed it, `TEST_SCALE=20` does everything that is counted there twenty
//! times as often, and `just torture` does all of it at full size.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::large_futures,
    missing_docs,
    dead_code,
    reason = "tests"
)]

mod accounting;
mod accounts;
mod analysts;
mod audit;
mod banks;
mod beneficiaries;
mod billers;
mod bills;
mod bodies;
mod canary;
mod cards;
mod certificates;
mod claims;
mod clearing;
mod closures;
mod command_line;
mod communities;
mod compliance;
mod connections;
mod console;
mod controls;
mod costs;
mod datasets;
mod desk;
mod devices;
mod disputes;
mod documents;
mod dropped;
mod event_store;
mod events;
mod explain;
mod faults;
mod imports;
mod interest;
mod kills;
mod limits;
mod loans;
mod mandates;
mod messages;
mod mfa;
mod mixed_day;
mod monitor;
mod passwords;
mod payment_exports;
mod payments;
mod permissions;
mod personal_data;
mod products;
mod proof;
mod protocol;
mod races;
mod ratchet;
mod read_side;
mod rebuilds;
mod receipts;
mod recurrences;
mod reference;
mod reference_model;
mod reversals;
mod sandbox;
mod savings;
mod schedule;
mod sessions;
mod sim;
mod statement_formats;
mod statements;
mod support;
mod tags;
mod tampering;
mod time_travel;
mod torture;
mod transactions;
mod two_servers;
mod users;
mod versions;
mod webhooks;
mod year;
