//! Years of a bank in a minute, with everything going wrong that can: a simulation of the real thing.
//!
//! ```text
//!   seed --> one generator --> who does what, when ----------> use cases --> Journal --> sequencer -.
//!                         '--> what goes wrong on the way ------------------------------------------+--> InMemory
//!            clock that jumps --> Processes::run_due --> ordinary commands with due keys -----------'      |
//!                                                                                  checks, each day <------'
//! ```
//!
//! Domain, sequencer, vault, use cases and processes are those of the server; only the store and the clock are not. All of it
//! runs on one thread in virtual time, and every choice comes from the seed: the same seed makes the same log, byte for byte.
//!
//! | file | what it holds |
//! |---|---|
//! | `sources` | the clock and the randomness of a seed |
//! | `weather` | what goes wrong between a server and the store |
//! | `servers` | servers that die and start again |
//! | `asks`, `perform` | what customers and staff want; the use case that does it |
//! | `clubs`, `leaving` | communities; people who close accounts and leave: what they want, and what must hold |
//! | `workload` | who wants what next |
//! | `day_ends` | how accounts ended their days, for interest |
//! | `engine` | day by day: requests, repeats, due work |
//! | `checks` | what must hold of the log |

mod asks;
mod checks;
mod clubs;
mod day_ends;
mod engine;
#[cfg(test)]
mod found_out;
mod leaving;
mod perform;
mod servers;
mod sources;
#[cfg(test)]
mod tests;
mod weather;
mod workload;

use std::collections::BTreeMap;
use std::fmt;

use bursar_domain::Position;
use bursar_domain::kernel::Spelled as _;
use jiff::civil::Date;

use crate::products::Catalogue;
pub use weather::{Broken, Fault, Troubles};

/// What is simulated.
#[derive(Debug, Clone)]
pub struct Options {
    /// Everything follows from it.
    pub seed: u64,
    /// How many days.
    pub days: u32,
    /// What goes wrong.
    pub faults: Vec<Fault>,
    /// People, apart from staff.
    pub customers: u32,
    /// Requests a day.
    pub operations: u32,
    /// What the bank offers beside what every bank begins with.
    pub products: Catalogue,
    /// Days without movement until an account rests; 0 for never.
    pub dormant_after_days: u32,
    /// Full days an idempotency key is kept.
    pub keep_keys_days: i64,
    /// What is wrong with the bank itself: to see that the checks find it.
    pub broken: Option<Broken>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            days: 30,
            faults: Fault::ALL.to_vec(),
            customers: 40,
            operations: 40,
            products: Catalogue::default(),
            dormant_after_days: 180,
            keep_keys_days: 2,
            broken: None,
        }
    }
}

/// What a simulation has come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Days that have passed.
    pub days: u32,
    /// Events in the log.
    pub events: usize,
    /// How many of each type.
    pub kinds: BTreeMap<&'static str, u64>,
    /// Requests that were carried out.
    pub operations: u64,
    /// Requests that were refused, by code.
    pub refusals: BTreeMap<&'static str, u64>,
    /// Pieces of due work that were done.
    pub due_work: u64,
    /// What went wrong.
    pub troubles: Troubles,
    /// Events and answers that were checked.
    pub checks: u64,
    /// The RFC 6962 root of the log: equal for equal logs.
    pub root: [u8; 32],
}

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The day on which it was found, from 1.
    pub day: u32,
    /// That day.
    pub date: Date,
    /// The event that shows it; none when it is none.
    pub position: Option<Position>,
    /// What it is.
    pub finding: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "day {} ({})", self.day, self.date)?;
        if let Some(position) = self.position {
            write!(f, ", position {position}")?;
        }
        write!(f, ": {}", self.finding)
    }
}

/// Why a simulation ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// The bank did what it must not.
    #[error("{0}")]
    Failed(Failure),
    /// It did not begin.
    #[error("the simulation cannot begin: {0}")]
    NotBegun(String),
}

/// Simulates. `progress` hears how many days of how many are over.
///
/// Blocks its thread and must not be called from a task: it has a runtime of its own, whose time is not the world's.
///
/// # Errors
/// [`SimError`].
pub fn run(options: &Options, progress: &mut dyn FnMut(u32, u32)) -> Result<Summary, SimError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.map_err(|error| SimError::NotBegun(error.to_string()))?;
    runtime.block_on(engine::simulate(options, progress))
}
