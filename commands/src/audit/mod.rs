//! Checking the bank from its log alone.
//!
//! [`replay`] goes through the log three times, each time by another road:
//! 1. in commit order through our own codec: positions gapless, sequences contiguous, times monotonic, and every
//!    posting accepted again by a fresh ledger, which must arrive at the balance the event carries; and every interest on
//!    savings worked out again from the balances of the days;
//! 2. the ledger's table against the balances of that fresh ledger;
//! 3. every aggregate rebuilt through postgres-es, which shares no code with our reader, against ours.
//!
//! The first difference ends it, with the position it shows at. [`monitor`] looks at each event as it comes, all the time.
//!
//! [`export`] writes the log and its proof into a directory, and [`verify`] checks that without the bank.

pub mod accounting;
mod bundle;
mod independent;
mod interest;
mod lines;
pub mod monitor;
pub(crate) mod replay;
mod verify;
mod whole;

use std::collections::BTreeMap;
use std::fmt;

use bursar_domain::{Currency, Position};

pub use bundle::{BundleError, Exported, export};
pub use lines::write_events;
pub use replay::replay;
pub use verify::{Trusted, Verified, verify};

/// What an audit has found.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Events read.
    pub events: i64,
    /// Aggregates rebuilt through postgres-es and compared.
    pub aggregates: usize,
    /// Ledger accounts recomputed and compared.
    pub accounts: usize,
    /// Balances by currency and line, minor units.
    pub trial_balance: BTreeMap<Currency, BTreeMap<String, i128>>,
    /// The first thing that is not as it must be.
    pub difference: Option<Difference>,
}

/// Something that is not as it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Where it shows.
    pub position: Position,
    /// What it concerns: an account, an aggregate, the log.
    pub subject: String,
    /// What it must be.
    pub expected: String,
    /// What it is.
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { position, subject, expected, found } = self;
        write!(f, "position {position}: {subject}: expected {expected}, found {found}")
    }
}

/// The line of the trial balance that adds up all customers.
pub const CUSTOMERS: &str = "customers";

impl Report {
    /// Whether everything agrees and every currency sums to zero.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.difference.is_none()
    }

    /// The sum of a currency over all accounts, minor units; zero in a bank whose books balance.
    #[must_use]
    pub fn total(&self, currency: Currency) -> i128 {
        self.trial_balance.get(&currency).map_or(0, |lines| lines.values().sum())
    }
}
