//! A statement from its first entry to its last, for those who want all of it at once.

use bursar_domain::{AccountNumber, Position};
use jiff::Timestamp;
use jiff_sqlx::ToSqlx;
use sqlx::postgres::PgRow;
use sqlx::{PgPool, QueryBuilder, Row};

use super::query::{COLUMNS, Ends, EntryFilter, StatementEntry, StatementRange, ends, entry, fence, listed};

/// Entries read at a time: what one statement holds in memory, however long it is.
const AT_A_TIME: i64 = 500;

/// How many entries there are of one kind, and what they come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Total {
    /// How many.
    pub entries: i64,
    /// Sum of their amounts without sign, minor units. Many large ones exceed 64 bits.
    pub amount: i128,
}

/// A place between two entries of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    recorded_at: Timestamp,
    position: Position,
    line: i16,
}

/// All of a statement, oldest entry first: what it comes to is known, its entries are read in parts.
///
/// Its last entry is fixed when it is begun. Since entries are only ever appended, all parts together are what one
/// query would have answered then, without holding a transaction while somebody slowly reads.
#[derive(Debug, Clone)]
pub struct WholeStatement {
    /// Before the first entry of the range, minor units.
    pub opening_balance: i64,
    /// After the last entry of the range, minor units.
    pub closing_balance: i64,
    /// Position of the last entry of the range; 0 when there is none until its end.
    pub position: Position,
    /// The moment it is complete up to: the end of the range, or the past one that was asked about.
    pub until: Timestamp,
    /// Listed entries that brought money in.
    pub credits: Total,
    /// Listed entries that took money out.
    pub debits: Total,
    account: AccountNumber,
    from: Timestamp,
    filter: EntryFilter,
    last: Option<(Timestamp, Position)>,
}

impl WholeStatement {
    /// Begins the statement of `account` over `range`, listing what `filter` lets through.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn begin(
        pool: &PgPool,
        account: &AccountNumber,
        range: StatementRange,
        filter: EntryFilter,
    ) -> sqlx::Result<Self> {
        let fence = fence(pool, range.as_of, range.to).await?;
        let ends = ends(pool, account, range, fence).await?;
        let last = ends.as_ref().map(|ends| ends.last);
        let (credits, debits) = match last {
            Some(last) => totals(pool, account, range.from, last, &filter).await?,
            None => Default::default(),
        };
        let Ends { opening, closing, .. } = ends.unwrap_or_default();
        Ok(Self {
            opening_balance: opening,
            closing_balance: closing,
            position: last.map_or(0, |(_, position)| position),
            until: fence.0.min(range.to).max(range.from),
            credits,
            debits,
            account: account.clone(),
            from: range.from,
            filter,
            last,
        })
    }

    /// The next entries after a place (`None`: from the first on), and the place after them while there may be more.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub async fn part(
        &self,
        pool: &PgPool,
        after: Option<Place>,
    ) -> sqlx::Result<(Vec<StatementEntry>, Option<Place>)> {
        let Some(last) = self.last else { return Ok((Vec::new(), None)) };
        let mut query = QueryBuilder::new(format!("SELECT {COLUMNS}, line "));
        listed(&mut query, &self.account, self.from, last, &self.filter);
        if let Some(place) = after {
            query.push(" AND (recorded_at, position, line) > (").push_bind(place.recorded_at.to_sqlx());
            query.push(", ").push_bind(place.position).push(", ").push_bind(place.line).push(")");
        }
        query.push(" ORDER BY recorded_at, position, line LIMIT ").push_bind(AT_A_TIME);
        let rows = query.build().fetch_all(pool).await?;
        let full = usize::try_from(AT_A_TIME).is_ok_and(|most| rows.len() >= most);
        let next = if full { rows.last().map(place).transpose()? } else { None };
        Ok((rows.iter().map(entry).collect::<sqlx::Result<_>>()?, next))
    }
}

async fn totals(
    pool: &PgPool,
    account: &AccountNumber,
    from: Timestamp,
    last: (Timestamp, Position),
    filter: &EntryFilter,
) -> sqlx::Result<(Total, Total)> {
    // Sums of bigints are numeric; as text they come across whole.
    let mut query = QueryBuilder::new(
        "SELECT count(*) FILTER (WHERE amount >= 0), coalesce(sum(amount) FILTER (WHERE amount >= 0), 0)::text,
                count(*) FILTER (WHERE amount < 0), coalesce(-sum(amount) FILTER (WHERE amount < 0), 0)::text ",
    );
    listed(&mut query, account, from, last, filter);
    let row = query.build().fetch_one(pool).await?;
    let total = |first: usize| -> sqlx::Result<Total> {
        let amount: String = row.try_get(first + 1)?;
        let amount = amount.parse().map_err(|error| sqlx::Error::ColumnDecode {
            index: (first + 1).to_string(),
            source: Box::<std::num::ParseIntError>::new(error),
        })?;
        Ok(Total { entries: row.try_get(first)?, amount })
    };
    Ok((total(0)?, total(2)?))
}

fn place(row: &PgRow) -> sqlx::Result<Place> {
    Ok(Place {
        recorded_at: row.try_get::<jiff_sqlx::Timestamp, _>("recorded_at")?.to_jiff(),
        position: row.try_get("position")?,
        line: row.try_get("line")?,
    })
}
