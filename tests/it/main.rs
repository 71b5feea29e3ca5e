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

mod audit;
mod kills;
mod payments;
mod races;
mod support;
mod two_servers;
