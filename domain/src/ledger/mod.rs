//! The ledger: double entry, and the one consistency boundary that spans aggregates.
//!
//! Every movement of money is an event that carries balanced [`Postings`]. No event with postings,
//! and none that opens an account or changes its terms, enters the log unless [`apply`] accepted its
//! [`Effect`], whatever the code path. Signs are the holder's: a credit is positive, a debit negative,
//! so the sum over all accounts of a currency is always zero.
//!
//! ```text
//!   payment.completed { postings: [ 7300000017 -500, 4100000023 +500 ] }
//!        | apply: sums to zero? account known, active, right currency, enough available, within limits?
//!        v
//!   the same postings, each stamped with the balance after it
//! ```

mod account;
mod chart;
mod error;
mod posting;
mod spending;
#[cfg(test)]
mod tests;
mod ties;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use account::{AccountStatus, LedgerAccount, Terms};
pub use chart::{Channel, Class, Internal};
pub use error::LedgerError;
pub use posting::{Posting, Postings};
pub use spending::{Spent, Uncounted};
pub use ties::{Bond, Tie, Ties};

use crate::kernel::AccountNumber;

/// What an event does to the ledger.
#[derive(Debug)]
pub enum Effect<'a> {
    /// A customer account comes to be, with these terms.
    Open {
        /// Its number.
        number: AccountNumber,
        /// Its terms.
        terms: Terms,
    },
    /// The account's status changes.
    SetStatus {
        /// Its number.
        number: AccountNumber,
        /// The new status.
        status: AccountStatus,
    },
    /// Money moves. [`apply`] stamps each posting with the balance after it.
    Post {
        /// What moves.
        postings: &'a mut Postings,
        /// What the accounts may say against it.
        checks: Checks,
        /// What is reserved by it, or free again.
        hold: Option<Hold>,
        /// What an account is needed for from now on, or no more.
        tie: Option<Tie>,
    },
    /// No money moves; an account is needed for something from now on, or no more.
    Bind(Tie),
    /// Nothing changes; it can only happen while this is so.
    Require {
        /// Of which accounts.
        accounts: Vec<AccountNumber>,
        /// What must be so.
        condition: Condition,
    },
}

/// What must be so of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// It is active, and nothing binds it.
    Closable,
    /// It is empty, and nothing binds it.
    Settled,
}

/// What customer accounts may say against a posting. Its currency must be theirs and the sum must fit in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checks {
    /// Status, funds, the most they may hold; and debits count toward daily and monthly limits.
    Limited,
    /// The same without the limits: own transfers, reversals, the bank's own bookings.
    Unlimited,
    /// The same as the last debit of all, which takes the minimum balance too.
    Last,
    /// Nothing but that it was closed: it has happened outside of the bank. Money that came back is not sent away
    /// again because the account is full, nor money that never came kept because it is frozen.
    Happened,
    /// The same of what was earned, which is no sign that anybody still uses the account.
    Bookkeeping,
}

/// A change of what is reserved on an account: in its balance, and not available.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// The account.
    pub account: AccountNumber,
    /// Minor units: positive reserves, negative frees.
    pub change: i64,
}

impl Effect<'_> {
    /// Every account the effect looks at.
    pub fn accounts(&self) -> impl Iterator<Item = &AccountNumber> {
        let (one, other, lines, all): (_, _, _, &[AccountNumber]) = match self {
            Self::Open { number, .. } | Self::SetStatus { number, .. } => (Some(number), None, None, &[]),
            Self::Bind(tie) => (Some(&tie.account), None, None, &[]),
            Self::Require { accounts, .. } => (None, None, None, accounts),
            Self::Post { postings, hold, tie, .. } => (
                hold.as_ref().map(|hold| &hold.account),
                tie.as_ref().map(|tie| &tie.account),
                Some(postings.iter()),
                &[],
            ),
        };
        let lines = lines.into_iter().flatten().map(|line| &line.account);
        one.into_iter().chain(other).chain(lines).chain(all)
    }
}

/// The accounts as the unit at hand sees them: committed, plus what earlier steps changed.
pub trait Book {
    /// The account, if it exists.
    fn get(&self, number: &AccountNumber) -> Option<&LedgerAccount>;

    /// Writes the account back.
    fn put(&mut self, number: &AccountNumber, account: LedgerAccount);
}

/// Applies one effect at `at` (UTC), or refuses it.
///
/// A refusal may leave earlier postings of the same effect in `book`: whoever owns the book discards
/// what the refused unit wrote.
///
/// # Errors
/// [`LedgerError`], one named reason each.
pub fn apply(book: &mut impl Book, effect: Effect<'_>, at: Timestamp) -> Result<(), LedgerError> {
    match effect {
        Effect::Open { number, terms } => open(book, &number, terms, at),
        Effect::SetStatus { number, status } => set_status(book, &number, status, at),
        Effect::Bind(tie) => bind(book, Some(tie)),
        Effect::Require { accounts, condition } => {
            accounts.iter().try_for_each(|account| require(book, account, condition))
        }
        Effect::Post { postings, checks, hold, tie } => {
            // What is freed may be part of what is paid; what is reserved must have come in first.
            let (freed, reserved) = match hold {
                Some(hold) if hold.change < 0 => (Some(hold), None),
                other => (None, other),
            };
            change_hold(book, freed)?;
            post(book, postings, checks, at)?;
            change_hold(book, reserved)?;
            bind(book, tie)
        }
    }
}

fn open(
    book: &mut impl Book,
    number: &AccountNumber,
    terms: Terms,
    at: Timestamp,
) -> Result<(), LedgerError> {
    if number.is_internal() || book.get(number).is_some() {
        return Err(LedgerError::AccountExists { account: number.clone() });
    }
    book.put(number, LedgerAccount::open(terms, at));
    Ok(())
}

fn set_status(
    book: &mut impl Book,
    number: &AccountNumber,
    status: AccountStatus,
    at: Timestamp,
) -> Result<(), LedgerError> {
    let mut account = known(book, number)?;
    if account.status == AccountStatus::Closed {
        return Err(LedgerError::NotActive { account: number.clone(), status: account.status });
    }
    if status == AccountStatus::Closed {
        settled(number, &account)?;
    }
    account.status = status;
    if status == AccountStatus::Active {
        account.last_active_at = Some(at);
    }
    book.put(number, account);
    Ok(())
}

/// Whether nothing is in the account, and nothing needs it.
fn settled(number: &AccountNumber, account: &LedgerAccount) -> Result<(), LedgerError> {
    unbound(number, account)?;
    if account.balance != 0 || account.holds != 0 {
        return Err(LedgerError::NotEmpty { account: number.clone() });
    }
    Ok(())
}

fn unbound(number: &AccountNumber, account: &LedgerAccount) -> Result<(), LedgerError> {
    account.ties.bond().map_or(Ok(()), |by| Err(LedgerError::Bound { account: number.clone(), by }))
}

fn require(book: &impl Book, number: &AccountNumber, condition: Condition) -> Result<(), LedgerError> {
    let account = known(book, number)?;
    match condition {
        Condition::Closable if account.status != AccountStatus::Active => {
            Err(LedgerError::NotActive { account: number.clone(), status: account.status })
        }
        Condition::Closable => unbound(number, &account),
        Condition::Settled => settled(number, &account),
    }
}

fn bind(book: &mut impl Book, tie: Option<Tie>) -> Result<(), LedgerError> {
    let Some(tie) = tie else { return Ok(()) };
    let mut account = known(book, &tie.account)?;
    if account.status == AccountStatus::Closed && !tie.undone {
        return Err(LedgerError::NotActive { account: tie.account, status: account.status });
    }
    account.ties = account.ties.and(&tie).ok_or(LedgerError::Overflow)?;
    book.put(&tie.account, account);
    Ok(())
}

fn change_hold(book: &mut impl Book, hold: Option<Hold>) -> Result<(), LedgerError> {
    let Some(hold) = hold else { return Ok(()) };
    let mut account = known(book, &hold.account)?;
    account.holds =
        account.holds.checked_add(hold.change).filter(|holds| *holds >= 0).ok_or(LedgerError::Overflow)?;
    book.put(&hold.account, account);
    Ok(())
}

fn post(
    book: &mut impl Book,
    postings: &mut Postings,
    checks: Checks,
    at: Timestamp,
) -> Result<(), LedgerError> {
    postings.check_balanced()?;
    for posting in postings.iter_mut() {
        let mut account = match book.get(&posting.account) {
            Some(account) => account.clone(),
            None => first_use(posting)?,
        };
        account.post(posting, checks, at)?;
        posting.balance = account.balance;
        book.put(&posting.account, account);
    }
    Ok(())
}

/// The bank's own accounts exist from their first posting on, as long as the chart names them.
fn first_use(posting: &Posting) -> Result<LedgerAccount, LedgerError> {
    if Internal::of(&posting.account, posting.currency).is_some() {
        Ok(LedgerAccount::internal(posting.currency))
    } else {
        Err(LedgerError::UnknownAccount { account: posting.account.clone() })
    }
}

fn known(book: &impl Book, number: &AccountNumber) -> Result<LedgerAccount, LedgerError> {
    book.get(number).cloned().ok_or_else(|| LedgerError::UnknownAccount { account: number.clone() })
}
