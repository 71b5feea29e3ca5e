//! The log as tables for analysts: events, the postings in them, and accounts.

use std::path::{Path, PathBuf};

use bursar_domain::{AccountNumber, Currency};
use jiff::Timestamp;
use jiff::civil::Date;

use super::super::BundleError;
use super::{Moved, Since, Standing, Writer, class};
use crate::journal::lines::Line;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// 64 bits.
    Whole,
    Text,
    Json,
    /// UTC, microseconds.
    Time,
    /// An exact decimal.
    Decimal,
}

/// A column: its name, what it holds, whether it may be empty, and what it is about.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) optional: bool,
    pub(super) about: &'static str,
}

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) columns: &'static [Column],
}

const fn column(name: &'static str, kind: Kind, about: &'static str) -> Column {
    Column { name, kind, optional: false, about }
}

const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Column {
    Column { name, kind, optional: true, about }
}

pub(super) const EVENTS: Table = Table {
    name: "events",
    about: "Every change of the bank, in commit order.",
    columns: &[
        column("position", Kind::Whole, "Place in the log: 1, 2, 3 ... without gaps."),
        column("recorded_at", Kind::Time, "When it was recorded, UTC."),
        column("aggregate_type", Kind::Text, "The noun: account, payment ..."),
        column("aggregate_id", Kind::Text, "Which one of them."),
        column("sequence", Kind::Whole, "Place in the life of that one, from 1."),
        column("event_type", Kind::Text, "What happened, such as payment.completed."),
        column("event_version", Kind::Text, "Version of the shape of payload."),
        column("payload", Kind::Json, "The event; what is personal in it is sealed."),
        column(
            "metadata",
            Kind::Json,
            "Who acted (actor) on which request (correlation_id), and whose it is (owner).",
        ),
    ],
};

pub(super) const POSTINGS: Table = Table {
    name: "postings",
    about: "Every line of every movement of money. The lines of a position sum to zero in each currency.",
    columns: &[
        column("position", Kind::Whole, "Place of the event in the log."),
        column("line", Kind::Whole, "Place of the line in the event, from 1."),
        column("recorded_at", Kind::Time, "When it was recorded, UTC."),
        column("transaction_id", Kind::Text, "The payment."),
        column("cause", Kind::Text, "Kind of the payment; SETTLEMENT or RETURN when it has cleared."),
        column("account", Kind::Text, "Account number, or bank:role:currency for the bank's own."),
        column("currency", Kind::Text, "ISO 4217."),
        column("amount", Kind::Decimal, "Major units; a credit is positive."),
        column("amount_minor", Kind::Whole, "The same in minor units."),
        column("balance_minor", Kind::Whole, "Balance of the account after the line, minor units."),
    ],
};

pub(super) const ACCOUNTS: Table = Table {
    name: "accounts",
    about: "Every account of the ledger at the end of the log.",
    columns: &[
        column("account", Kind::Text, "Account number, or bank:role:currency for the bank's own."),
        column("currency", Kind::Text, "ISO 4217."),
        column("class", Kind::Text, "ASSET, LIABILITY, INCOME or EXPENSE."),
        column("role", Kind::Text, "customer, or the role in the bank's chart of accounts."),
        optional("owner", Kind::Text, "User id of the holder; none for the bank's own."),
        column("status", Kind::Text, "ACTIVE, FROZEN, DORMANT or CLOSED."),
        column("opened_at", Kind::Time, "When it was opened; of the bank's own, first posted to."),
        column("opened_position", Kind::Whole, "Place of that event in the log."),
        optional("closed_at", Kind::Time, "When it was closed."),
        optional("closed_position", Kind::Whole, "Place of that event in the log."),
        column("balance", Kind::Decimal, "Sum of all postings, major units; a credit is positive."),
        column("balance_minor", Kind::Whole, "The same in minor units."),
    ],
};

/// A value in a row.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cell<'a> {
    Empty,
    Whole(i64),
    Text(&'a str),
    Time(Timestamp),
    /// Minor units of a currency, to be written as major ones.
    Money(i64, Currency),
}

/// Where the rows of a table go.
pub(super) trait Sink: Send + Sized {
    fn begin(dir: &Path, table: &'static Table) -> Result<Self, BundleError>;

    /// A row: a cell for each column, of its kind.
    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), BundleError>;

    fn finish(self) -> Result<PathBuf, BundleError>;

    /// What goes with the tables.
    fn beside(_dir: &Path, _tables: &[&Table]) -> Result<Option<PathBuf>, BundleError> {
        Ok(None)
    }
}

/// The tables.
pub(super) struct Tables<S> {
    events: S,
    postings: S,
    accounts: S,
    beside: Option<PathBuf>,
}

impl<S: Sink> Tables<S> {
    pub(super) fn begin(dir: &Path) -> Result<Self, BundleError> {
        Ok(Self {
            events: S::begin(dir, &EVENTS)?,
            postings: S::begin(dir, &POSTINGS)?,
            accounts: S::begin(dir, &ACCOUNTS)?,
            beside: S::beside(dir, &[&EVENTS, &POSTINGS, &ACCOUNTS])?,
        })
    }
}

impl<S: Sink> Writer for Tables<S> {
    fn event(&mut self, line: &Line<'_>) -> Result<(), BundleError> {
        self.events.row(&[
            Cell::Whole(line.position),
            Cell::Time(line.recorded_at),
            Cell::Text(&line.aggregate_type),
            Cell::Text(&line.aggregate_id),
            Cell::Whole(line.sequence),
            Cell::Text(&line.event_type),
            Cell::Text(&line.event_version),
            Cell::Text(line.payload.get()),
            Cell::Text(line.metadata.get()),
        ])
    }

    fn opened(&mut self, _account: &Standing) -> Result<(), BundleError> {
        // Accounts are written as they stand at the end.
        Ok(())
    }

    fn closed(&mut self, _number: &AccountNumber, _since: Since) -> Result<(), BundleError> {
        Ok(())
    }

    fn moved(&mut self, moved: Moved<'_>) -> Result<(), BundleError> {
        let recorded = moved.recorded;
        for (line, posting) in (1..).zip(moved.movement.postings) {
            self.postings.row(&[
                Cell::Whole(recorded.position),
                Cell::Whole(line),
                Cell::Time(recorded.recorded_at),
                Cell::Text(&recorded.stream.id),
                Cell::Text(moved.cause()),
                Cell::Text(posting.account.as_str()),
                Cell::Text(posting.currency.as_str()),
                Cell::Money(posting.amount, posting.currency),
                Cell::Whole(posting.amount),
                Cell::Whole(posting.balance),
            ])?;
        }
        Ok(())
    }

    fn month(&mut self, _last: Date, _own: &mut dyn Iterator<Item = &Standing>) -> Result<(), BundleError> {
        Ok(())
    }

    fn stands(&mut self, _last: Date, accounts: &[Standing]) -> Result<(), BundleError> {
        for account in accounts {
            let (class, role) = class(&account.number, account.currency)?;
            let role = role.map_or_else(|| "customer".to_owned(), |role| role.to_string());
            self.accounts.row(&[
                Cell::Text(account.number.as_str()),
                Cell::Text(account.currency.as_str()),
                Cell::Text(class.as_str()),
                Cell::Text(&role),
                account.owner.as_deref().map_or(Cell::Empty, Cell::Text),
                Cell::Text(account.status.as_str()),
                Cell::Time(account.opened.at),
                Cell::Whole(account.opened.position),
                account.closed.map_or(Cell::Empty, |closed| Cell::Time(closed.at)),
                account.closed.map_or(Cell::Empty, |closed| Cell::Whole(closed.position)),
                Cell::Money(account.balance, account.currency),
                Cell::Whole(account.balance),
            ])?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, BundleError> {
        let Self { events, postings, accounts, beside } = *self;
        let mut files = vec![events.finish()?, postings.finish()?, accounts.finish()?];
        files.extend(beside);
        Ok(files)
    }
}
