//! Questions about statements.

use bursar_domain::{AccountNumber, Position};
use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use sqlx::postgres::PgRow;
use sqlx::{PgPool, Postgres, QueryBuilder, Row};

use crate::page::{Page, Paged, Sort, SortField, contains};

bursar_domain::spelled! {
    /// Which way money went.
    pub enum EntryType {
        /// In.
        Credit = "CREDIT",
        /// Out.
        Debit = "DEBIT",
    }
}

impl EntryType {
    pub(super) const fn of(amount: i64) -> Self {
        if amount < 0 { Self::Debit } else { Self::Credit }
    }
}

/// One entry of a statement; sums in minor units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementEntry {
    /// Position of the event in the log.
    pub position: Position,
    /// When it was posted.
    pub recorded_at: Timestamp,
    /// The transaction it belongs to.
    pub transaction_id: String,
    /// What kind of movement it was, in words.
    pub description: String,
    /// Which way money went.
    pub entry_type: EntryType,
    /// Positive for a credit, negative for a debit.
    pub amount: i64,
    /// The account's balance after it.
    pub balance: i64,
    /// ISO 4217.
    pub currency: String,
    /// The payer's reference.
    pub reference: String,
    /// What it was for, in the payer's words.
    pub narration: Option<String>,
    /// The account on the other side.
    pub counterparty: Option<String>,
}

/// The past moment a question is about: entries after it do not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AsOf {
    /// Everything recorded up to and at this time.
    Time(Timestamp),
    /// Everything up to and at this position of the log.
    Position(Position),
}

/// What time a statement covers.
#[derive(Debug, Clone, Copy)]
pub struct StatementRange {
    /// Inclusive.
    pub from: Timestamp,
    /// Exclusive.
    pub to: Timestamp,
    /// As it looked then; `None` for now.
    pub as_of: Option<AsOf>,
}

/// Which entries of the range are listed; opening and closing balance are those of the range all the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EntryFilter {
    /// Only this way.
    pub entry_type: Option<EntryType>,
    /// At least this much, whichever way, minor units.
    pub min_amount: Option<i64>,
    /// At most this much, whichever way, minor units.
    pub max_amount: Option<i64>,
    /// With this in description, narration, reference or counterparty; case does not matter.
    pub q: Option<String>,
}

/// What a statement can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EntrySort {
    /// The order of the log.
    #[default]
    Date,
    /// How much, whichever way.
    Amount,
}

impl SortField for EntrySort {
    const NAMES: &'static [(&'static str, Self)] =
        &[("transactionDate", Self::Date), ("amount", Self::Amount)];
}

/// A statement: closing balance = opening balance + sum of all entries of the range.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statement {
    /// Before the first entry of the range, minor units.
    pub opening_balance: i64,
    /// After the last entry of the range, minor units.
    pub closing_balance: i64,
    /// The entries asked for.
    pub entries: Paged<StatementEntry>,
}

/// One page of an account's statement.
///
/// # Errors
/// When the database cannot be read.
pub async fn statement(
    pool: &PgPool,
    account: &AccountNumber,
    range: StatementRange,
    filter: &EntryFilter,
    sort: Sort<EntrySort>,
    page: Page,
) -> sqlx::Result<Statement> {
    let fence = fence(pool, range.as_of, range.to).await?;
    let Some(ends) = ends(pool, account, range, fence).await? else {
        return Ok(Statement::default());
    };
    let total = if *filter == EntryFilter::default() {
        ends.entries
    } else {
        let mut count = QueryBuilder::new("SELECT count(*) ");
        listed(&mut count, account, range.from, ends.last, filter);
        count.build_query_scalar().fetch_one(pool).await?
    };
    let mut list = QueryBuilder::new(format!("SELECT {COLUMNS} "));
    listed(&mut list, account, range.from, ends.last, filter);
    order(&mut list, sort, page);
    let rows = list.build().fetch_all(pool).await?;
    Ok(Statement {
        opening_balance: ends.opening,
        closing_balance: ends.closing,
        entries: Paged { items: rows.iter().map(entry).collect::<sqlx::Result<_>>()?, total },
    })
}

/// What [`entry`] reads.
pub(super) const COLUMNS: &str = "position, recorded_at, transaction_id, description, amount, balance,
    currency, reference, narration, counterparty";

/// The balances at both ends of a range in which, or before which, something happened.
#[derive(Debug, Default)]
pub(super) struct Ends {
    pub opening: i64,
    pub closing: i64,
    /// How many entries there are between them.
    pub entries: i64,
    /// The last entry until the end of the range.
    pub last: (Timestamp, Position),
}

/// The ends of a range. Its last entry is found first and bounds everything read after it, so that what is
/// posted meanwhile cannot make totals and balances disagree.
pub(super) async fn ends(
    pool: &PgPool,
    account: &AccountNumber,
    range: StatementRange,
    fence: (Timestamp, Position),
) -> sqlx::Result<Option<Ends>> {
    let Some(last) = last_entry(pool, account, range.to, fence).await? else { return Ok(None) };
    let fence = (last.recorded_at, last.position);
    let opening = last_entry(pool, account, range.from, fence).await?;
    let (opening, before) = opening.map_or((0, 0), |entry| (entry.balance, entry.number));
    Ok(Some(Ends { opening, closing: last.balance, entries: last.number - before, last: fence }))
}

/// Later than anything recorded: the beginning of the year 9999.
pub(crate) const NEVER: Timestamp = Timestamp::constant(253_370_764_800, 0);

/// What an account held at a past moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PastBalance {
    /// Minor units; 0 before the first entry.
    pub ledger: i64,
    /// When the last entry until then was recorded.
    pub last_entry_at: Option<Timestamp>,
}

/// What an account held as of a past moment.
///
/// # Errors
/// When the database cannot be read.
pub async fn balance(pool: &PgPool, account: &AccountNumber, as_of: AsOf) -> sqlx::Result<PastBalance> {
    let fence = fence(pool, Some(as_of), NEVER).await?;
    let last = last_entry(pool, account, NEVER, fence).await?;
    Ok(last.map_or_else(PastBalance::default, |entry| PastBalance {
        ledger: entry.balance,
        last_entry_at: Some(entry.recorded_at),
    }))
}

/// The last place in the log, by time and position, that a question sees. Since within one account time never goes back
/// along the log, the one index on both finds it. What was taken over from another bank has the time at which it had happened
/// there, so that both are asked: its time may be long before its position.
pub(crate) async fn fence(
    pool: &PgPool,
    as_of: Option<AsOf>,
    to: Timestamp,
) -> sqlx::Result<(Timestamp, Position)> {
    Ok(match as_of {
        None => (to, Position::MAX),
        Some(AsOf::Time(at)) => (at, Position::MAX),
        Some(AsOf::Position(position)) if position <= 0 => (Timestamp::UNIX_EPOCH, 0),
        Some(AsOf::Position(position)) => {
            let at = sqlx::query_scalar!(
                r#"SELECT recorded_at AS "at: jiff_sqlx::Timestamp" FROM events WHERE position = $1"#,
                position
            );
            (at.fetch_optional(pool).await?.map_or(to, jiff_sqlx::Timestamp::to_jiff), position)
        }
    })
}

struct Last {
    recorded_at: Timestamp,
    position: Position,
    balance: i64,
    number: i64,
}

/// The last entry recorded before `before` and not beyond `fence`.
async fn last_entry(
    pool: &PgPool,
    account: &AccountNumber,
    before: Timestamp,
    (at, position): (Timestamp, Position),
) -> sqlx::Result<Option<Last>> {
    let row = sqlx::query!(
        r#"SELECT recorded_at AS "recorded_at: jiff_sqlx::Timestamp", position, balance, number
           FROM statement_entries
           WHERE account_number = $1 AND recorded_at < $2 AND recorded_at <= $3 AND position <= $4
           ORDER BY recorded_at DESC, position DESC, line DESC LIMIT 1"#,
        account.as_str(),
        before.to_sqlx() as _,
        at.to_sqlx() as _,
        position
    );
    let row = row.fetch_optional(pool).await?;
    Ok(row.map(|row| Last {
        recorded_at: row.recorded_at.to_jiff(),
        position: row.position,
        balance: row.balance,
        number: row.number,
    }))
}

pub(super) fn listed(
    query: &mut QueryBuilder<'_, Postgres>,
    account: &AccountNumber,
    from: Timestamp,
    (at, position): (Timestamp, Position),
    filter: &EntryFilter,
) {
    query.push("FROM statement_entries WHERE account_number = ").push_bind(account.to_string());
    query.push(" AND recorded_at >= ").push_bind(from.to_sqlx());
    query.push(" AND (recorded_at, position) <= (").push_bind(at.to_sqlx());
    query.push(", ").push_bind(position).push(")");
    match filter.entry_type {
        Some(EntryType::Credit) => _ = query.push(" AND amount > 0"),
        Some(EntryType::Debit) => _ = query.push(" AND amount < 0"),
        None => {}
    }
    if let Some(least) = filter.min_amount {
        query.push(" AND abs(amount) >= ").push_bind(least);
    }
    if let Some(most) = filter.max_amount {
        query.push(" AND abs(amount) <= ").push_bind(most);
    }
    if let Some(q) = &filter.q {
        query.push(" AND concat_ws(' ', description, narration, reference, counterparty) ILIKE ");
        query.push_bind(contains(q));
    }
}

fn order(query: &mut QueryBuilder<'_, Postgres>, sort: Sort<EntrySort>, page: Page) {
    let direction = sort.direction();
    query.push(" ORDER BY ");
    if sort.field == EntrySort::Amount {
        query.push(format!("abs(amount) {direction}, "));
    }
    query.push(format!("recorded_at {direction}, position {direction}, line {direction} LIMIT "));
    query.push_bind(page.limit()).push(" OFFSET ").push_bind(page.offset());
}

pub(super) fn entry(row: &PgRow) -> sqlx::Result<StatementEntry> {
    let amount = row.try_get("amount")?;
    Ok(StatementEntry {
        position: row.try_get("position")?,
        recorded_at: row.try_get::<jiff_sqlx::Timestamp, _>("recorded_at")?.to_jiff(),
        transaction_id: row.try_get("transaction_id")?,
        description: row.try_get("description")?,
        entry_type: EntryType::of(amount),
        amount,
        balance: row.try_get("balance")?,
        currency: row.try_get("currency")?,
        reference: row.try_get("reference")?,
        narration: row.try_get("narration")?,
        counterparty: row.try_get("counterparty")?,
    })
}
