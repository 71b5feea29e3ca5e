//! The bank as its users see it: one binary, the real server, a real Postgres.

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

mod accounts;
mod audit;
mod bodies;
mod command_line;
mod costs;
mod event_store;
mod faults;
mod kills;
mod limits;
mod payments;
mod protocol;
mod races;
mod ratchet;
mod read_side;
mod reference_model;
mod sandbox;
mod sessions;
mod statements;
mod support;
mod two_servers;
mod versions;
