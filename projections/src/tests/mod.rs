//! Tests of the whole crate against a database, and the small bank that feeds them.
//!
//! They need a Postgres server: `TEST_DATABASE_URL`, or the developers' one on the socket in `/tmp/devpg`. Each
//! test has a database of its own; without a server they say so and pass.

pub(crate) mod bank;
mod bench;
mod live;
mod queries;
mod rebuilds;
mod scratch;

pub(crate) use bank::{Bank, MINIMUM, OVERDRAFT, cash, number, user};
pub(crate) use scratch::Scratch;
