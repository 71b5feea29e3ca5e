//! The replay itself: one pass in commit order, then the two comparisons.

use std::collections::HashMap;

use bursar_domain::codec::Codec;
use bursar_domain::ledger::{self, Book, Internal, LedgerAccount};
use bursar_domain::{AccountNumber, Position, Recorded, State, StreamId};
use jiff::Timestamp;
use sqlx::{Connection as _, PgConnection, PgPool};

use super::interest::Interest;
use super::{CUSTOMERS, Difference, Report, independent};
use crate::journal::{StoreError, read};

/// Events read at once.
const PAGE: Position = 5_000;

/// Rebuilds everything from the log and compares. `progress` hears how many events of how many are done; each event
/// counts twice, once for each reader.
///
/// Runs beside a live server: what is compared is the bank at one position.
///
/// # Errors
/// [`StoreError`] when the database fails; an event that cannot be read is a difference, not an error.
pub async fn replay(
    pool: &PgPool,
    codec: &Codec,
    progress: &mut (dyn FnMut(i64, i64) + Send),
) -> Result<Report, StoreError> {
    let mut own = pool.acquire().await?.detach();
    let mut snapshot = own.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
    let head = sqlx::query_scalar!("SELECT position FROM head").fetch_one(&mut *snapshot).await?;
    let mut rebuilt = Rebuilt::default();
    let mut report = Report::default();
    let mut after = 0;
    while after < head && report.difference.is_none() {
        let through = head.min(after + PAGE);
        match read::range(&mut snapshot, codec, after, through).await {
            Ok(events) => report.difference = rebuilt.take(&events, after, through).err(),
            Err(StoreError::Unreadable(unreadable)) => {
                report.difference = Some(
                    unreadable_event(&mut snapshot, codec, after, through, &unreadable.to_string()).await?,
                );
            }
            Err(error) => return Err(error),
        }
        after = through;
        report.events = after;
        progress(after, head * 2);
    }
    if report.difference.is_none() {
        report.difference = match rebuilt.compare_ledger(&mut snapshot).await? {
            None => rebuilt.compare_open_items(),
            found => found,
        };
        report.accounts = rebuilt.book.0.len();
    }
    rebuilt.balance(&mut report);
    snapshot.rollback().await?;
    if report.difference.is_none() {
        let streams = std::mem::take(&mut rebuilt.streams);
        report.aggregates = streams.len();
        report.difference =
            independent::compare(pool, streams, &mut |done| progress(head + done, head * 2)).await?;
    }
    Ok(report)
}

/// An aggregate as our reader has folded it.
#[derive(Debug)]
pub(super) struct Folded {
    pub(super) state: State,
    pub(super) version: i64,
    /// Of its last event.
    pub(super) position: Position,
}

/// The bank as rebuilt so far.
#[derive(Default)]
pub(crate) struct Rebuilt {
    streams: HashMap<StreamId, Folded>,
    book: Accounts,
    interest: Interest,
    last: Option<(Position, Timestamp)>,
}

#[derive(Default)]
struct Accounts(HashMap<AccountNumber, (LedgerAccount, Position)>, Position);

impl Book for Accounts {
    fn get(&self, number: &AccountNumber) -> Option<&LedgerAccount> {
        self.0.get(number).map(|(account, _)| account)
    }

    fn put(&mut self, number: &AccountNumber, account: LedgerAccount) {
        self.0.insert(number.clone(), (account, self.1));
    }
}

impl Rebuilt {
    /// How many ledger accounts there are.
    pub(super) fn accounts(&self) -> usize {
        self.book.0.len()
    }

    /// How many aggregates there are.
    pub(super) fn aggregates(&self) -> usize {
        self.streams.len()
    }

    fn take(&mut self, events: &[Recorded], after: Position, through: Position) -> Result<(), Difference> {
        let mut expected = after;
        for recorded in events {
            expected += 1;
            check(recorded.position, "the log", expected, recorded.position)?;
            self.take_one(recorded)?;
        }
        check(expected + 1, "the log", through, expected)
    }

    /// The next event: it follows the one before, and the ledger accepts it and arrives where it says.
    pub(crate) fn take_one(&mut self, recorded: &Recorded) -> Result<(), Difference> {
        let Recorded { position, stream, sequence, recorded_at, .. } = recorded;
        if let Some((_, before)) = self.last
            && *recorded_at < before
        {
            return Err(difference(*position, "recorded_at", format!("{before} or later"), recorded_at));
        }
        self.last = Some((*position, *recorded_at));
        let mut again = recorded.event.clone();
        if let Some(effect) = again.effect(&stream.id) {
            self.book.1 = *position;
            ledger::apply(&mut self.book, effect, *recorded_at)
                .map_err(|refusal| difference(*position, stream, "an event the ledger accepts", refusal))?;
        }
        if again != recorded.event {
            let stamped = |event: &bursar_domain::Event| event.write().unwrap_or_default();
            return Err(difference(*position, stream, stamped(&again), stamped(&recorded.event)));
        }
        self.interest.take(recorded)?;
        let folded = self.streams.entry(stream.clone()).or_insert_with(|| Folded {
            state: stream.kind.fresh(),
            version: 0,
            position: 0,
        });
        check(*position, &format!("sequence of {stream}"), folded.version + 1, *sequence)?;
        folded.state.evolve(&recorded.event);
        folded.version = *sequence;
        folded.position = *position;
        Ok(())
    }

    /// The ledger's table against the balances of this replay.
    async fn compare_ledger(&self, snapshot: &mut PgConnection) -> Result<Option<Difference>, StoreError> {
        let numbers = sqlx::query_scalar!("SELECT account FROM ledger_accounts ORDER BY account")
            .fetch_all(&mut *snapshot)
            .await?;
        let mut seen = 0;
        for page in numbers.chunks(5_000) {
            let page: Vec<&str> = page.iter().map(String::as_str).collect();
            let mut stored = read::ledger_accounts(&mut *snapshot, &page).await?;
            stored.sort_by(|(a, _), (b, _)| a.cmp(b));
            for (number, account) in stored {
                if let Some(difference) = self.compare_account(&number, &account) {
                    return Ok(Some(difference));
                }
                seen += 1;
            }
        }
        if seen == self.book.0.len() {
            return Ok(None);
        }
        let missing = self.book.0.iter().find(|(number, _)| !numbers.iter().any(|n| n == number.as_str()));
        Ok(missing.map(|(number, (_, position))| {
            difference(*position, format!("ledger account {number}"), "a row", "none")
        }))
    }

    /// A row of the ledger's table against the balances of this replay.
    fn compare_account(&self, number: &AccountNumber, account: &LedgerAccount) -> Option<Difference> {
        match self.book.0.get(number) {
            Some((expected, _)) if expected == account => None,
            Some((expected, position)) => Some(account_difference(number, expected, account, *position)),
            None => Some(difference(0, format!("ledger account {number}"), "no such account", "a row")),
        }
    }

    /// All rows of the ledger's table against the balances of this replay.
    pub(crate) fn compare_accounts<'a>(
        &self,
        stored: impl Iterator<Item = (&'a AccountNumber, &'a LedgerAccount)>,
    ) -> Option<Difference> {
        let mut seen = 0;
        for (number, account) in stored {
            if let Some(difference) = self.compare_account(number, account) {
                return Some(difference);
            }
            seen += 1;
        }
        (seen != self.book.0.len()).then(|| difference(0, "ledger accounts", self.book.0.len(), seen))
    }

    /// Each settlement account against the payments that are on their way over it.
    pub(crate) fn compare_open_items(&self) -> Option<Difference> {
        let mut open: HashMap<&AccountNumber, i128> = HashMap::new();
        for folded in self.streams.values() {
            if let State::Payment(payment) = &folded.state
                && let Some((account, amount)) = payment.open_item()
            {
                *open.entry(account).or_default() += i128::from(amount);
            }
        }
        self.book.0.iter().find_map(|(number, (account, position))| {
            let Some(Internal::Settlement(_)) = Internal::of(number, account.currency) else { return None };
            let expected = open.get(number).copied().unwrap_or(0);
            (expected != i128::from(account.balance))
                .then(|| difference(*position, format!("open items of {number}"), expected, account.balance))
        })
    }

    /// The trial balance: each of the bank's own accounts, and all customers as one line.
    pub(crate) fn balance(&self, report: &mut Report) {
        for (number, (account, _)) in &self.book.0 {
            let line = if account.owner.is_some() { CUSTOMERS } else { number.as_str() };
            let lines = report.trial_balance.entry(account.currency).or_default();
            *lines.entry(line.to_owned()).or_default() += i128::from(account.balance);
        }
    }
}

/// Names the field that differs; the balance first, because that is what people ask about.
fn account_difference(
    number: &AccountNumber,
    expected: &LedgerAccount,
    found: &LedgerAccount,
    position: Position,
) -> Difference {
    if expected.balance != found.balance {
        return difference(position, format!("balance of account {number}"), expected.balance, found.balance);
    }
    let subject = format!("ledger account {number}");
    difference(position, subject, format!("{expected:?}"), format!("{found:?}"))
}

/// Finds which event of a page cannot be read.
async fn unreadable_event(
    snapshot: &mut PgConnection,
    codec: &Codec,
    after: Position,
    through: Position,
    reason: &str,
) -> Result<Difference, StoreError> {
    for position in after + 1..=through {
        if let Err(StoreError::Unreadable(_)) =
            read::range(&mut *snapshot, codec, position - 1, position).await
        {
            return Ok(difference(position, "the log", "a readable event", reason));
        }
    }
    Ok(difference(through, "the log", "readable events", reason))
}

fn check(position: Position, subject: &str, expected: i64, found: i64) -> Result<(), Difference> {
    if expected == found { Ok(()) } else { Err(difference(position, subject, expected, found)) }
}

pub(super) fn difference(
    position: Position,
    subject: impl ToString,
    expected: impl ToString,
    found: impl ToString,
) -> Difference {
    Difference {
        position,
        subject: subject.to_string(),
        expected: expected.to_string(),
        found: found.to_string(),
    }
}
