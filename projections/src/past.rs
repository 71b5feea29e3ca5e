//! Things as they were: their events up to a past moment, told to the fold of the read model; and what each of them added
//! to a number.

use std::collections::VecDeque;

use bursar_domain::codec::Codec;
use bursar_domain::kernel::UserId;
use bursar_domain::{AccountNumber, Kind, Position, Recorded};
use jiff::Timestamp;
use jiff_sqlx::ToSqlx as _;
use sqlx::{PgPool, Postgres, QueryBuilder};

use crate::log::{COLUMNS, decoded};
use crate::read_model::FoldError;
use crate::statement_entries::{AsOf, NEVER, fence};

/// Events read at once.
const PAGE: usize = 2_000;

/// Whose events are told.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of<'a> {
    /// One thing's.
    Stream(Kind, &'a str),
    /// All cards' that somebody ever had.
    Cards(UserId),
    /// An account's, and those of all payments that it was ever posted to by.
    Account(&'a AccountNumber),
    /// Those of the payments that brought an account money which is reserved until it has cleared.
    Funding(&'a AccountNumber),
}

impl Of<'_> {
    /// The events as a table. Never along the log: they are found by their streams.
    fn push(self, query: &mut QueryBuilder<'_, Postgres>) {
        let joined =
            ") t JOIN events e ON e.aggregate_type = 'payment' AND e.aggregate_id = t.transaction_id";
        match self {
            Self::Stream(kind, id) => {
                query.push("SELECT * FROM events WHERE aggregate_type = ").push_bind(kind.as_str());
                query.push(" AND aggregate_id = ").push_bind(id.to_owned());
            }
            Self::Cards(owner) => {
                // Each begins with an event that names its holder.
                let begun = "SELECT e.* FROM events b JOIN events e ON e.aggregate_type = b.aggregate_type AND
                             e.aggregate_id = b.aggregate_id WHERE b.aggregate_type = 'card' AND b.sequence = 1
                             AND b.payload::text LIKE ";
                query.push(begun).push_bind(format!("%\"{owner}\"%"));
            }
            Self::Account(number) => {
                Self::Stream(Kind::Account, number.as_str()).push(query);
                query.push(" UNION ALL ");
                let ids = "SELECT e.* FROM (SELECT DISTINCT transaction_id FROM statement_entries WHERE account_number = ";
                query.push(ids).push_bind(number.to_string()).push(joined);
            }
            Self::Funding(number) => {
                let ids = "SELECT e.* FROM (SELECT transaction_id FROM transactions
                           WHERE type IN ('CARD_FUNDING', 'MWALLET_FUNDING') AND destination_account = ";
                query.push(ids).push_bind(number.to_string());
                let payee = " AND payee = (SELECT owner FROM accounts WHERE account_number = ";
                query.push(payee).push_bind(number.to_string()).push(")").push(joined);
            }
        }
    }
}

/// Tells the events up to a moment, in the order of the log. Answers when the moment was.
///
/// # Errors
/// When the database cannot be read, or what it says.
pub(crate) async fn each(
    pool: &PgPool,
    codec: &Codec,
    of: Of<'_>,
    as_of: Option<AsOf>,
    mut take: impl FnMut(&Recorded) -> Result<(), FoldError> + Send,
) -> sqlx::Result<Timestamp> {
    let (at, position) = fence(pool, as_of, NEVER).await?;
    let mut after: Position = 0;
    loop {
        let mut query = QueryBuilder::new(format!("SELECT {COLUMNS} FROM ("));
        of.push(&mut query);
        query.push(" OFFSET 0) e WHERE position > ").push_bind(after);
        query.push(" AND position <= ").push_bind(position);
        query.push(" AND recorded_at <= ").push_bind(at.to_sqlx());
        query.push(format!(" ORDER BY position LIMIT {PAGE}"));
        let mut db = pool.acquire().await?;
        let rows = query.build().fetch_all(&mut *db).await?;
        let batch = decoded(&mut db, codec, Kind::ALL, rows, after).await?;
        if let Some(unreadable) = batch.unreadable.first() {
            let reason = format!("position {}: {}", unreadable.position, unreadable.reason);
            return Err(sqlx::Error::Decode(reason.into()));
        }
        for event in &batch.events {
            take(event).map_err(|e| sqlx::Error::Decode(Box::new(e)))?;
        }
        if batch.seen < PAGE {
            return Ok(at);
        }
        after = batch.upto;
    }
}

/// What an event added to a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Where it stands in the log.
    pub position: Position,
    /// When.
    pub recorded_at: Timestamp,
    /// What happened.
    pub event: &'static str,
    /// To what.
    pub subject: String,
    /// What it added; negative for what it took.
    pub added: i64,
    /// What the number was then.
    pub result: i64,
}

/// How a number came about: `opening` after so many `earlier` events, then the steps, then `result`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Events that changed the number and are not among the steps.
    pub earlier: u64,
    /// What they came to.
    pub opening: i64,
    /// The last events that changed it, oldest first.
    pub steps: Vec<Step>,
    /// What they come to.
    pub result: i64,
}

/// Watches a number while a fold changes it.
#[derive(Debug)]
pub(crate) struct Trace {
    limit: usize,
    earlier: u64,
    opening: i64,
    steps: VecDeque<Step>,
    result: Option<i64>,
}

impl Trace {
    /// One that keeps the last `limit` steps.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, earlier: 0, opening: 0, steps: VecDeque::new(), result: None }
    }

    /// After this event the number is `now`; none while there is no such thing.
    pub(crate) fn take(&mut self, event: &Recorded, now: Option<i64>) -> Result<(), FoldError> {
        let Some(now) = now else { return Ok(()) };
        if self.result == Some(now) {
            return Ok(());
        }
        let added = now.checked_sub(self.result.unwrap_or(0));
        let added = added.ok_or_else(|| FoldError::Overflow(event.stream.id.as_str().into()))?;
        self.result = Some(now);
        self.steps.push_back(Step {
            position: event.position,
            recorded_at: event.recorded_at,
            event: event.event.name(),
            subject: event.stream.id.to_string(),
            added,
            result: now,
        });
        if self.steps.len() > self.limit
            && let Some(first) = self.steps.pop_front()
        {
            self.earlier += 1;
            self.opening = first.result;
        }
        Ok(())
    }

    /// How it came about; none of a thing that never was.
    pub(crate) fn finish(self) -> Option<Explanation> {
        let Self { earlier, opening, steps, result, .. } = self;
        result.map(|result| Explanation { earlier, opening, steps: steps.into(), result })
    }
}
