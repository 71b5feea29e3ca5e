//! A private Postgres for people who have no server to name.
//!
//! `DATABASE_URL` is the way to run a bank; this module is the way to try one, and to test one. It finds a Postgres
//! on the machine (or fetches one once), runs it on a Unix socket only, under one data directory, and takes it down
//! with the process that started it, however that process ends.
//!
//! Read in this order: [`find`] (which binaries), [`embedded`] (start, stop, restart), [`test_cluster`] (a database
//! per test), [`check`] (what a server must promise before money goes in). The rest are their parts: `fetch` (the
//! network, last resort), `user` (never root), `layout` (the files), `process` (who lives on a directory),
//! `cluster` (initdb and settings), `supervisor` (the shell that outlives us by one signal).
#![allow(
    clippy::disallowed_methods,
    reason = "waits for processes of the operating system; the bank's injected clock has no say here"
)]

pub mod check;
mod cluster;
pub mod embedded;
mod error;
mod fetch;
pub mod find;
mod layout;
mod process;
mod supervisor;
pub mod test_cluster;
mod user;

pub use check::{Durability, refuse_unsafe};
pub use embedded::{EmbeddedPostgres, Options};
pub use error::PostgresError;
pub use find::{Installation, Search};
pub use test_cluster::{TestCluster, TestDatabase, fresh_database};

#[cfg(test)]
mod tests;

/// The oldest major version the bank's SQL is written for.
pub const OLDEST_MAJOR: u32 = 15;

/// A short stable name for a long text: FNV-1a, because names must be equal between processes and compiler versions,
/// which `std`'s hasher does not promise. Not for secrets.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
