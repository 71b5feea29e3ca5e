//! The whole ledger for other programs: plain-text accounting, and tables.
//!
//! One pass through the log in commit order, beside a live server: what is written is the bank at one position. Openings,
//! movements and closings are what the log says; the balances at the end are those of the ledger's table, so that a
//! program which adds up the one against the other checks the bank. Names are account numbers and roles: nothing
//! personal is in them, and what is personal in an event stays sealed.
//!
//! Memory does not grow with the log: a page of it at a time, and of accounts only the bank's own.

mod beancount;
mod csv;
mod hledger;
mod parquet;
mod tables;
#[cfg(test)]
mod tests;
mod text;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bursar_domain::accounts::AccountEvent;
use bursar_domain::codec::Codec;
use bursar_domain::kernel::utc_date;
use bursar_domain::ledger::{AccountStatus, Class, Internal};
use bursar_domain::payments::{Cause, Movement};
use bursar_domain::{AccountNumber, Currency, Event, Position, Recorded};
use jiff::Timestamp;
use jiff::civil::Date;
use sqlx::{Connection as _, PgConnection, PgPool};

use super::BundleError;
use super::bundle::at;
use crate::journal::StoreError;
use crate::journal::lines::{Line, lines};

/// Events, or accounts, read at once.
const PAGE: i64 = 2_048;

/// What the ledger is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A file of beancount.
    Beancount,
    /// A journal of hledger.
    Hledger,
    /// Tables as Apache Parquet.
    Parquet,
    /// Tables as RFC 4180, and the SQL that loads them into Postgres.
    Csv,
}

/// What was written.
#[derive(Debug, Clone)]
pub struct Books {
    /// Events in the log.
    pub events: Position,
    /// Of those, the ones that moved money.
    pub movements: u64,
    /// Ledger accounts, closed ones included.
    pub accounts: u64,
    /// The files.
    pub files: Vec<PathBuf>,
}

/// When something happened.
#[derive(Debug, Clone, Copy)]
struct Since {
    position: Position,
    at: Timestamp,
}

impl Since {
    fn of(recorded: &Recorded) -> Self {
        Self { position: recorded.position, at: recorded.recorded_at }
    }

    fn day(self) -> Date {
        utc_date(self.at)
    }
}

/// A ledger account, and where it stands.
#[derive(Debug, Clone)]
struct Standing {
    number: AccountNumber,
    currency: Currency,
    /// User id of the holder; none for the bank's own.
    owner: Option<String>,
    status: AccountStatus,
    opened: Since,
    closed: Option<Since>,
    /// Minor units; a credit is positive.
    balance: i64,
}

/// Money that moved.
#[derive(Clone, Copy)]
struct Moved<'a> {
    recorded: &'a Recorded,
    movement: Movement<'a>,
}

impl Moved<'_> {
    /// Why, in one word.
    const fn cause(&self) -> &'static str {
        match self.movement.cause {
            Cause::Payment(kind) => kind.as_str(),
            Cause::Settlement => "SETTLEMENT",
            Cause::Return => "RETURN",
        }
    }
}

/// What a format makes of the log, told in order.
trait Writer: Send {
    /// The next event, as it is stored.
    fn event(&mut self, _line: &Line<'_>) -> Result<(), BundleError> {
        Ok(())
    }

    /// An account comes to be: a customer's by contract, one of the bank's own by its first posting.
    fn opened(&mut self, account: &Standing) -> Result<(), BundleError>;

    /// A customer's account is closed.
    fn closed(&mut self, number: &AccountNumber, since: Since) -> Result<(), BundleError>;

    /// Money moves.
    fn moved(&mut self, moved: Moved<'_>) -> Result<(), BundleError>;

    /// A month that ended with `last` is over, and the bank's own accounts stand so.
    fn month(&mut self, last: Date, own: &mut dyn Iterator<Item = &Standing>) -> Result<(), BundleError>;

    /// The log ends on the day `last`, and accounts stand so. Comes once for each page of accounts.
    fn stands(&mut self, last: Date, accounts: &[Standing]) -> Result<(), BundleError>;

    /// Nothing follows.
    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, BundleError>;
}

impl Format {
    fn writer(self, dir: &Path) -> Result<Box<dyn Writer>, BundleError> {
        Ok(match self {
            Self::Beancount => Box::new(text::Text::<beancount::Beancount>::begin(dir)?),
            Self::Hledger => Box::new(text::Text::<hledger::Hledger>::begin(dir)?),
            Self::Parquet => Box::new(tables::Tables::<parquet::Parquet>::begin(dir)?),
            Self::Csv => Box::new(tables::Tables::<csv::Csv>::begin(dir)?),
        })
    }
}

/// Writes the whole ledger into `dir`. `progress` hears how many events of how many are done.
///
/// # Errors
/// [`BundleError`]; what is half written has another name.
pub async fn export(
    pool: &PgPool,
    format: Format,
    dir: &Path,
    progress: &mut (dyn FnMut(i64, i64) + Send),
) -> Result<Books, BundleError> {
    std::fs::create_dir_all(dir).map_err(at(dir))?;
    let mut pass = Pass::new(format.writer(dir)?);
    let mut connection = pool.acquire().await.map_err(StoreError::from)?.detach();
    let snapshot = connection.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await;
    let mut snapshot = snapshot.map_err(StoreError::from)?;
    let head = sqlx::query_scalar!("SELECT position FROM head").fetch_one(&mut *snapshot).await;
    let head = head.map_err(StoreError::from)?;
    while pass.position < head {
        let page = lines(&mut *snapshot, pass.position, PAGE).await?;
        for (_, line) in &page {
            pass.take(line)?;
        }
        if page.is_empty() {
            return Err(missing(pass.position + 1));
        }
        progress(pass.position, head);
    }
    let accounts = pass.end(&mut snapshot).await?;
    snapshot.rollback().await.map_err(StoreError::from)?;
    let Pass { writer, movements, .. } = pass;
    Ok(Books { events: head, movements, accounts, files: writer.finish()? })
}

fn missing(position: Position) -> BundleError {
    StoreError::Damaged(format!("position {position} is not in the log")).into()
}

/// How far the pass is.
struct Pass {
    writer: Box<dyn Writer>,
    codec: Codec,
    position: Position,
    /// Of the last event.
    day: Option<Date>,
    /// The bank's own accounts so far.
    own: BTreeMap<AccountNumber, Standing>,
    movements: u64,
}

impl Pass {
    fn new(writer: Box<dyn Writer>) -> Self {
        let (codec, own) = (Codec::default(), BTreeMap::new());
        Self { writer, codec, position: 0, day: None, own, movements: 0 }
    }

    /// The next event.
    fn take(&mut self, line: &[u8]) -> Result<(), BundleError> {
        let next = self.position + 1;
        let line: Line<'_> = serde_json::from_slice(line).map_err(|_| missing(next))?;
        if line.position != next {
            return Err(missing(next));
        }
        let recorded = self.codec.read(&line.stored()).map_err(StoreError::from)?;
        self.begin(utc_date(recorded.recorded_at))?;
        self.writer.event(&line)?;
        match &recorded.event {
            Event::Account(AccountEvent::Opened(opened)) => self.writer.opened(&Standing {
                number: AccountNumber::from(recorded.stream.id.as_str()),
                currency: opened.terms.currency,
                owner: Some(opened.terms.owner.to_string()),
                status: AccountStatus::Active,
                opened: Since::of(&recorded),
                closed: None,
                balance: 0,
            })?,
            Event::Account(AccountEvent::Closed { .. }) => {
                let number = AccountNumber::from(recorded.stream.id.as_str());
                self.writer.closed(&number, Since::of(&recorded))?;
            }
            Event::Payment(payment) => {
                if let Some(movement) = payment.movement() {
                    self.moved(Moved { recorded: &recorded, movement })?;
                }
            }
            _ => {}
        }
        self.position = next;
        Ok(())
    }

    /// A day begins, and a month with it perhaps.
    fn begin(&mut self, day: Date) -> Result<(), BundleError> {
        if let Some(before) = self.day
            && (before.year(), before.month()) != (day.year(), day.month())
        {
            self.writer.month(before.last_of_month(), &mut self.own.values())?;
        }
        self.day = Some(day);
        Ok(())
    }

    fn moved(&mut self, moved: Moved<'_>) -> Result<(), BundleError> {
        for posting in moved.movement.postings.iter().filter(|posting| posting.account.is_internal()) {
            if let Some(own) = self.own.get_mut(&posting.account) {
                own.balance = posting.balance;
                continue;
            }
            let own = Standing {
                number: posting.account.clone(),
                currency: posting.currency,
                owner: None,
                status: AccountStatus::Active,
                opened: Since::of(moved.recorded),
                closed: None,
                balance: posting.balance,
            };
            self.writer.opened(&own)?;
            self.own.insert(posting.account.clone(), own);
        }
        self.movements += 1;
        self.writer.moved(moved)
    }

    /// The balances at the end, as the ledger's table has them. Answers how many accounts there are.
    async fn end(&mut self, snapshot: &mut PgConnection) -> Result<u64, BundleError> {
        let Some(last) = self.day else { return Ok(0) };
        let (mut after, mut accounts) = (String::new(), 0);
        loop {
            let page = self.accounts(&mut *snapshot, &after).await?;
            let Some(account) = page.last() else { return Ok(accounts) };
            after = account.number.to_string();
            accounts += page.len() as u64;
            self.writer.stands(last, &page)?;
        }
    }

    /// The next page of accounts.
    async fn accounts(&self, snapshot: &mut PgConnection, after: &str) -> Result<Vec<Standing>, StoreError> {
        let rows = sqlx::query!(
            r#"SELECT l.account, l.owner, l.currency, l.status, l.balance,
                      opened.position AS "opened_position?",
                      opened.recorded_at AS "opened_at?: jiff_sqlx::Timestamp",
                      closed.position AS "closed_position?",
                      closed.recorded_at AS "closed_at?: jiff_sqlx::Timestamp"
                 FROM ledger_accounts l
                 LEFT JOIN events opened ON opened.aggregate_type = 'account'
                      AND opened.aggregate_id = l.account AND opened.sequence = 1
                 LEFT JOIN events closed ON l.status = 'CLOSED' AND closed.aggregate_type = 'account'
                      AND closed.aggregate_id = l.account AND closed.event_type = 'account.closed'
                WHERE l.account > $1 ORDER BY l.account LIMIT $2"#,
            after,
            PAGE,
        )
        .fetch_all(snapshot)
        .await?;
        rows.into_iter()
            .map(|row| {
                let damaged = |what: &str| StoreError::Damaged(format!("{what} of account {}", row.account));
                let since = |position: Option<Position>, at: Option<jiff_sqlx::Timestamp>| {
                    position.zip(at).map(|(position, at)| Since { position, at: at.to_jiff() })
                };
                let number = AccountNumber::from(row.account.as_str());
                let own = self.own.get(&number).map(|own| own.opened);
                let opened = since(row.opened_position, row.opened_at).or(own);
                Ok(Standing {
                    currency: row.currency.parse().map_err(|_| damaged("the currency"))?,
                    owner: row.owner.clone(),
                    status: row.status.parse().map_err(|_| damaged("the status"))?,
                    opened: opened.ok_or_else(|| damaged("the beginning"))?,
                    closed: since(row.closed_position, row.closed_at),
                    balance: row.balance,
                    number,
                })
            })
            .collect()
    }
}

/// On which side of the books an account stands, and its role if it is one of the bank's own.
fn class(number: &AccountNumber, currency: Currency) -> Result<(Class, Option<Internal>), StoreError> {
    if !number.is_internal() {
        return Ok((Class::Liability, None));
    }
    let role = Internal::of(number, currency)
        .ok_or_else(|| StoreError::Damaged(format!("{number} is not in the chart of accounts")))?;
    Ok((role.class(), Some(role)))
}
