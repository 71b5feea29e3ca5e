//! Plain-text accounting: one file, a transaction for each movement.
//!
//! Its programs write debits as positive sums: what the bank has is above zero, what it owes below. The log's signs are
//! the holders', so each sum is written with the other sign.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use bursar_domain::ledger::{AccountStatus, Channel, Class, Internal};
use bursar_domain::{AccountNumber, Currency};
use jiff::ToSpan as _;
use jiff::civil::Date;

use super::super::BundleError;
use super::super::whole::Whole;
use super::{Moved, Since, Standing, Writer, class};
use crate::journal::StoreError;

/// A sum on an account.
pub(super) struct Sum {
    /// The account's name.
    pub(super) account: String,
    pub(super) currency: Currency,
    /// Exact, in major units; a debit is positive.
    pub(super) amount: String,
}

impl Sum {
    fn of(number: &AccountNumber, currency: Currency, credit: i64) -> Result<Self, StoreError> {
        let amount = currency.decimal(-i128::from(credit));
        Ok(Self { account: name(number, currency)?, currency, amount })
    }
}

/// How a program wants it.
pub(super) trait Dialect: Send {
    /// The name of the file.
    const FILE: &'static str;

    /// What stands first.
    fn head(out: &mut String) -> fmt::Result;

    /// A currency is used from now on.
    fn commodity(out: &mut String, currency: Currency, since: Since) -> fmt::Result;

    /// An account can be posted to.
    fn open(out: &mut String, account: &str, currency: Currency, since: Since) -> fmt::Result;

    /// And no more, from the end of the day `last`.
    fn close(out: &mut String, account: &str, last: Date, since: Since) -> fmt::Result;

    /// A movement.
    fn entry(out: &mut String, moved: Moved<'_>, lines: &[Sum]) -> fmt::Result;

    /// What accounts hold at the end of the day `last`.
    fn balances(out: &mut String, last: Date, sums: &[Sum]) -> fmt::Result;
}

/// A file in a dialect.
pub(super) struct Text<D> {
    out: Whole,
    /// What is written next.
    next: String,
    currencies: BTreeSet<Currency>,
    /// The accounts that were opened on one day, the latest.
    opened: (Date, BTreeSet<AccountNumber>),
    dialect: std::marker::PhantomData<D>,
}

impl<D: Dialect> Text<D> {
    pub(super) fn begin(dir: &Path) -> Result<Self, BundleError> {
        let mut text = Self {
            out: Whole::create(dir.join(D::FILE))?,
            next: String::new(),
            currencies: BTreeSet::new(),
            opened: (Date::MIN, BTreeSet::new()),
            dialect: std::marker::PhantomData,
        };
        text.put(D::head)?;
        Ok(text)
    }

    fn put(&mut self, write: impl FnOnce(&mut String) -> fmt::Result) -> Result<(), BundleError> {
        self.next.clear();
        // A String takes everything.
        write(&mut self.next).map_err(|e| StoreError::Damaged(e.to_string()))?;
        self.out.put(self.next.as_bytes())
    }

    fn balances<'a>(
        &mut self,
        last: Date,
        accounts: impl Iterator<Item = &'a Standing>,
    ) -> Result<(), BundleError> {
        let sums: Vec<Sum> = accounts
            .map(|account| Sum::of(&account.number, account.currency, account.balance))
            .collect::<Result<_, _>>()?;
        if sums.is_empty() { Ok(()) } else { self.put(|out| D::balances(out, last, &sums)) }
    }
}

impl<D: Dialect> Writer for Text<D> {
    fn opened(&mut self, account: &Standing) -> Result<(), BundleError> {
        let Standing { number, currency, opened, .. } = account;
        if self.currencies.insert(*currency) {
            self.put(|out| D::commodity(out, *currency, *opened))?;
        }
        if self.opened.0 != opened.day() {
            self.opened = (opened.day(), BTreeSet::new());
        }
        self.opened.1.insert(number.clone());
        let name = name(number, *currency)?;
        self.put(|out| D::open(out, &name, *currency, *opened))
    }

    fn closed(&mut self, number: &AccountNumber, since: Since) -> Result<(), BundleError> {
        // Programs know days, and no account that is closed on the day it was opened.
        let (day, opened) = &self.opened;
        let is_new = *day == since.day() && opened.contains(number);
        let day = if is_new { day.saturating_add(1.day()) } else { since.day() };
        self.put(|out| D::close(out, &customer(number), day, since))
    }

    fn moved(&mut self, moved: Moved<'_>) -> Result<(), BundleError> {
        let postings = moved.movement.postings.iter();
        let lines: Vec<Sum> = postings
            .map(|posting| Sum::of(&posting.account, posting.currency, posting.amount))
            .collect::<Result<_, _>>()?;
        self.put(|out| D::entry(out, moved, &lines))
    }

    fn month(&mut self, last: Date, own: &mut dyn Iterator<Item = &Standing>) -> Result<(), BundleError> {
        self.balances(last, own)
    }

    fn stands(&mut self, last: Date, accounts: &[Standing]) -> Result<(), BundleError> {
        // A closed account is empty, and is not spoken of any more.
        let open = accounts.iter().filter(|account| account.status != AccountStatus::Closed);
        self.balances(last, open)
    }

    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, BundleError> {
        Ok(vec![self.out.finish()?])
    }
}

/// The name of an account: `Liabilities:Customers:7300000017`, `Assets:Loan-Principal:NGN`. Each part begins with a capital
/// or a digit and has nothing in it but letters, digits and dashes, as beancount wants it.
pub(super) fn name(number: &AccountNumber, currency: Currency) -> Result<String, StoreError> {
    let (class, role) = class(number, currency)?;
    let Some(role) = role else { return Ok(customer(number)) };
    let side = match class {
        Class::Asset => "Assets",
        Class::Liability => "Liabilities",
        Class::Income => "Income",
        Class::Expense => "Expenses",
    };
    let role = match &role {
        Internal::Settlement(Channel::Banks) => "Settlement:Banks".to_owned(),
        Internal::Settlement(Channel::Cards) => "Settlement:Cards".to_owned(),
        Internal::Settlement(Channel::Wallet(code)) => format!("Settlement:Wallet-{}", dashed(code)),
        Internal::Settlement(Channel::Biller(code)) => format!("Settlement:Biller-{}", dashed(code)),
        _ => role.to_string().split('_').map(capital).collect::<Vec<_>>().join("-"),
    };
    Ok(format!("{side}:{role}:{currency}"))
}

fn customer(number: &AccountNumber) -> String {
    format!("Liabilities:Customers:{number}")
}

/// A code without underscores. Codes have no small letters, so that two of them never become one.
fn dashed(code: &str) -> String {
    code.replace('-', "-d-").replace('_', "-")
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}
