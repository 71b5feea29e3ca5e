//! `bursar import`: another bank's data, checked whole and then taken over. The columns are in `api/docs/import.md`.
//!
//! ```text
//!   customers.csv, accounts.csv, transactions.csv, loans.csv, mandates.csv, cards.csv
//!     -> check    every row, streaming; everything wrong in one report; what the log holds already is known by its origin
//!     -> post     the same files once more, row for row through the journal, in large units
//!     -> compare  what is in each account with what the files say
//! ```
//!
//! Memory holds customers and accounts, and the ids of loans, mandates and cards; never transactions.

mod check;
mod generate;
mod known;
mod others;
mod post;
mod problems;
mod rows;
mod seen;
mod table;
mod things;
mod values;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use bursar_commands::imports::Names;
use bursar_commands::journal::StoreError;
use bursar_commands::keys::Keys;
use bursar_commands::{CommandError, Journal};
use bursar_domain::cards::CardLimits;
use bursar_domain::kernel::UserId;
use bursar_domain::loan_products::LoanTerms;
use bursar_domain::reference::{Places, Reference};
use bursar_domain::{AccountNumber, Currency};
use jiff::Timestamp;
use serde::Serialize;
use sqlx::PgPool;

pub use check::check;
pub use generate::generate;
pub use post::{differences, post};
pub use problems::{Problem, Problems};

/// Why an import cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// A file cannot be read.
    #[error("the files cannot be read: {0}")]
    Files(#[from] std::io::Error),
    /// The bank cannot be asked.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The bank refuses what the check has let through.
    #[error("the bank refused a unit: {0}")]
    Refused(#[from] CommandError),
    /// A file is not what it was when it was checked.
    #[error("{0} has changed since it was checked")]
    Changed(&'static str),
    /// There is nothing to take over.
    #[error("there is no customers.csv in {0}")]
    Nothing(String),
}

/// What an import needs of the bank, and where the files are.
pub struct Import<'a> {
    /// Where the files are.
    pub dir: PathBuf,
    /// What is written, is written here.
    pub journal: &'a Journal,
    /// The bank's database.
    pub pool: &'a PgPool,
    /// The bank's keys.
    pub keys: Arc<Keys>,
    /// Names what the other bank has named.
    pub names: Names,
    /// The countries of the world.
    pub places: &'static Places,
    /// Banks, billers and brands of cards.
    pub reference: &'static Reference,
    /// What may be taken from a linked card.
    pub card_limits: CardLimits,
    /// Years a customer must be old.
    pub minimum_age: i16,
    /// Now.
    pub now: Timestamp,
    /// Whether an earlier run of this import was interrupted.
    pub resumed: bool,
}

/// Hears how many of how many rows are done.
pub type Progress<'a> = &'a mut (dyn FnMut(u64, u64) + Send);

/// How many rows of a file there are, and how many of them the log has already.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// In the file.
    pub rows: u64,
    /// Of these, those that were taken over before.
    pub known: u64,
}

/// What came to the accounts of one currency, minor units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sums {
    /// What was in them when their histories begin.
    pub opening: i128,
    /// What came in since.
    pub credits: i128,
    /// What went out since, as a positive sum.
    pub debits: i128,
    /// What is in them at the end.
    pub closing: i128,
}

/// What the files say, once all of it was looked at.
#[derive(Default)]
pub struct Checked {
    /// What is wrong.
    pub problems: Problems,
    /// Rows, by file.
    pub counts: BTreeMap<&'static str, Count>,
    /// By currency.
    pub sums: BTreeMap<String, Sums>,
    customers: HashMap<String, CustomerSeen>,
    accounts: HashMap<String, AccountSeen>,
    /// What loans were asked for on; none for a product that the bank has not.
    loan_terms: HashMap<String, Option<LoanTerms>>,
    /// Loans, mandates and cards that the log has already, by file and id.
    known: HashSet<(&'static str, String)>,
}

/// A customer, as later files need them.
struct CustomerSeen {
    id: UserId,
    known: bool,
}

/// An account, as later files need it, and how far its history was read.
struct AccountSeen {
    number: AccountNumber,
    owner: UserId,
    currency: Currency,
    /// How far below zero it may go, minor units.
    overdraft: i64,
    /// After the last row, minor units.
    balance: i64,
    /// When that was, or when the history begins.
    last: Timestamp,
    /// Rows that were read of it.
    rows: u64,
    /// Whether the log has it already.
    known: bool,
    /// Whether a row of it was seen that the log does not have.
    goes_on: bool,
}

/// An account that does not hold what the files say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// What the other bank calls it.
    pub source_id: String,
    /// Its number here.
    pub account_number: String,
    /// What the files come to, minor units.
    pub expected: i64,
    /// What is in it, minor units.
    pub found: Option<i64>,
}

impl Checked {
    /// Rows that the log does not have yet.
    #[must_use]
    pub fn new_rows(&self) -> u64 {
        self.counts.values().map(|count| count.rows - count.known).sum()
    }

    /// Rows of all files.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.counts.values().map(|count| count.rows).sum()
    }
}
