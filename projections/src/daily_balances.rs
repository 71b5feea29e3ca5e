//! Balances at the end of each UTC day.

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use bursar_domain::accounts::{AccountEvent, Stretch};
use bursar_domain::kernel::utc_date;
use bursar_domain::ledger::Posting;
use bursar_domain::payments::Movement;
use bursar_domain::{AccountNumber, Event, Kind, Position, Recorded};
use jiff::ToSpan;
use jiff::civil::Date;
use jiff_sqlx::ToSqlx;
use sqlx::{PgConnection, PgPool};

use crate::interest;
use crate::page::{Page, Paged};
use crate::read_model::{FoldError, Mask, ReadModel, Table};
use crate::window::Window;

/// How an account stood at the end of a UTC day; minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DailyBalance {
    /// The day.
    pub day: Date,
    /// Sum of all postings up to its end.
    pub ledger_balance: i64,
    /// What a debit could have taken at its end.
    pub available_balance: i64,
    /// Interest earned on it. Quiet days earn as well, so that it is no column: [`history`] works it out.
    pub interest_earned: i64,
    /// Its credits.
    pub turnover_in: i64,
    /// Its debits, as a positive sum.
    pub turnover_out: i64,
}

/// Which days of an account are asked for.
#[derive(Debug, Clone, Copy)]
pub struct DayRange {
    /// The first; days before the account was opened do not appear.
    pub from: Date,
    /// The last.
    pub to: Date,
    /// The oldest day first, instead of the newest.
    pub oldest_first: bool,
}

/// One row for each day of `range`; a day on which nothing moved ends like the one before.
///
/// # Errors
/// When the database cannot be read.
pub async fn history(
    pool: &PgPool,
    account: &AccountNumber,
    range: DayRange,
    page: Page,
) -> sqlx::Result<Paged<DailyBalance>> {
    let opened = sqlx::query_scalar!(
        r#"SELECT min(day) AS "day: jiff_sqlx::Date" FROM daily_balances WHERE account_number = $1"#,
        account.as_str()
    );
    let Some(opened) = opened.fetch_one(pool).await? else { return Ok(Paged::default()) };
    let (first, last) = (range.from.max(opened.to_jiff()), range.to);
    if first > last {
        return Ok(Paged::default());
    }
    let total = i64::from((last - first).get_days()) + 1;
    let (start, step) = if range.oldest_first { (first, 1.day()) } else { (last, (-1).day()) };
    let length = page.limit().min(total - page.offset());
    if length <= 0 {
        return Ok(Paged { items: Vec::new(), total });
    }
    let days: Vec<Date> = start
        .series(step)
        .skip(usize::try_from(page.offset()).unwrap_or(usize::MAX))
        .take(usize::try_from(length).unwrap_or(0))
        .collect();
    let mut items = ends(pool, account, &days).await?;
    if let (Some(oldest), Some(newest)) = (days.iter().min(), days.iter().max()) {
        let stretch = Stretch { from: *oldest, through: *newest };
        if let Some(earner) = interest::earner(pool, account, stretch).await?.earners.first() {
            let earned: HashMap<Date, i64> = oldest.series(1.day()).zip(earner.days(stretch)).collect();
            for item in &mut items {
                item.interest_earned = earned.get(&item.day).copied().unwrap_or(0);
            }
        }
    }
    Ok(Paged { items, total })
}

/// How each of `days` ended, none of them before the account was opened.
async fn ends(pool: &PgPool, account: &AccountNumber, days: &[Date]) -> sqlx::Result<Vec<DailyBalance>> {
    let asked: Vec<jiff_sqlx::Date> = days.iter().map(|day| day.to_sqlx()).collect();
    let rows = sqlx::query!(
        r#"SELECT asked.day AS "day!: jiff_sqlx::Date", b.ledger_balance, b.available_balance,
                  CASE WHEN b.day = asked.day THEN b.turnover_in ELSE 0 END AS "turnover_in!",
                  CASE WHEN b.day = asked.day THEN b.turnover_out ELSE 0 END AS "turnover_out!"
           FROM UNNEST($2::date[]) WITH ORDINALITY AS asked (day, place)
           CROSS JOIN LATERAL (SELECT * FROM daily_balances d
                               WHERE d.account_number = $1 AND d.day <= asked.day
                               ORDER BY d.day DESC LIMIT 1) b
           ORDER BY asked.place"#,
        account.as_str(),
        asked as _
    );
    let rows = rows.fetch_all(pool).await?;
    Ok(rows
        .into_iter()
        .map(|row| DailyBalance {
            day: row.day.to_jiff(),
            ledger_balance: row.ledger_balance,
            available_balance: row.available_balance,
            interest_earned: 0,
            turnover_in: row.turnover_in,
            turnover_out: row.turnover_out,
        })
        .collect())
}

/// The latest row of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Latest {
    balance: DailyBalance,
    last_position: Position,
}

impl Latest {
    /// A day that begins with `ledger` and `available`.
    const fn begin(day: Date, ledger: i64, available: i64, last_position: Position) -> Self {
        let balance = DailyBalance {
            day,
            ledger_balance: ledger,
            available_balance: available,
            interest_earned: 0,
            turnover_in: 0,
            turnover_out: 0,
        };
        Self { balance, last_position }
    }

    fn post(&mut self, posting: &Posting, position: Position) -> Result<(), FoldError> {
        let expected = i128::from(self.balance.ledger_balance) + i128::from(posting.amount);
        if expected != i128::from(posting.balance) {
            let account = posting.account.clone();
            return Err(FoldError::BrokenBalance { account, expected, found: posting.balance });
        }
        self.add(posting).ok_or_else(|| FoldError::Overflow(posting.account.clone()))?;
        self.last_position = position;
        Ok(())
    }

    fn add(&mut self, posting: &Posting) -> Option<()> {
        let balance = &mut self.balance;
        balance.ledger_balance = posting.balance;
        // What is available moves with the balance: terms are not touched by a posting.
        balance.available_balance = balance.available_balance.checked_add(posting.amount)?;
        if posting.amount > 0 {
            balance.turnover_in = balance.turnover_in.checked_add(posting.amount)?;
        } else {
            balance.turnover_out = balance.turnover_out.checked_sub(posting.amount)?;
        }
        Some(())
    }
}

/// The read model behind [`history`].
#[derive(Debug, Default)]
pub struct DailyBalances {
    latest: Window<AccountNumber, Latest>,
    /// Rows of days that are over and not saved yet.
    over: Vec<(AccountNumber, Latest)>,
    /// The accounts that are left as they are.
    mask: Mask,
}

impl ReadModel for DailyBalances {
    const NAME: &'static str = "daily_balances";
    const READS: &'static [Kind] = &[Kind::Account, Kind::Payment];
    const ROW_SETS: &'static [Kind] = &[Kind::Account];

    fn row_sets(event: &Recorded) -> Vec<String> {
        crate::row::accounts(event).map(|account| account.to_string()).collect()
    }

    fn mask(&mut self, mask: &Mask) {
        self.mask = mask.clone();
    }
    const TABLES: &'static [Table] = &[Table {
        name: "daily_balances",
        key: &["account_number", "day"],
        position: "last_position",
        append_only: false,
    }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let missing: HashSet<&AccountNumber> = events
            .iter()
            .filter_map(|event| match &event.event {
                Event::Payment(payment) => payment.movement(),
                _ => None,
            })
            .flat_map(|moved| moved.accounts())
            .filter(|account| !self.latest.holds(account))
            .collect();
        let missing: Vec<String> = missing.into_iter().map(ToString::to_string).collect();
        if missing.is_empty() { Ok(()) } else { self.load_latest(db, &missing).await }
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        let day = utc_date(event.recorded_at);
        if event.stream.kind == Kind::Account && self.mask.hides(&event.stream.id) {
            return Ok(());
        }
        match &event.event {
            Event::Account(AccountEvent::Opened(opened)) => {
                let available = opened.terms.overdraft_limit.saturating_sub(opened.terms.minimum_balance);
                let number = AccountNumber::from(event.stream.id.as_str());
                let day = opened.origin.as_ref().map_or(day, |origin| utc_date(origin.at));
                self.latest.insert(&number, Latest::begin(day, 0, available, event.position));
                Ok(())
            }
            Event::Account(AccountEvent::Frozen { .. } | AccountEvent::Unfrozen { .. }) => Ok(()),
            Event::Payment(payment) => payment.movement().map_or(Ok(()), |moved| self.moved(moved, event)),
            _ => Ok(()),
        }
    }

    fn pending(&self) -> usize {
        self.latest.pending() + self.over.len()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        let over = self.over.iter().map(|(account, row)| (account, row));
        let rows: Vec<(&AccountNumber, &Latest)> = over.chain(self.latest.changed()).collect();
        if !rows.is_empty() {
            upsert(db, &rows).await?;
        }
        self.over.clear();
        self.latest.saved();
        Ok(())
    }
}

impl DailyBalances {
    fn moved(&mut self, moved: Movement<'_>, event: &Recorded) -> Result<(), FoldError> {
        for posting in moved.postings {
            if self.mask.hides(posting.account.as_str()) {
                continue;
            }
            let day = utc_date(moved.at(&posting.account, event.recorded_at));
            self.on(&posting.account, day, event.position)?.post(posting, event.position)?;
        }
        if let Some((account, change)) = moved.hold
            && !self.mask.hides(account.as_str())
        {
            let latest = self.on(account, utc_date(event.recorded_at), event.position)?;
            let available = latest.balance.available_balance.checked_sub(change);
            latest.balance.available_balance =
                available.ok_or_else(|| FoldError::Overflow(account.clone()))?;
            latest.last_position = event.position;
        }
        Ok(())
    }

    /// The account's row of `day`, begun where the day before ended.
    fn on(&mut self, account: &AccountNumber, day: Date, at: Position) -> Result<&mut Latest, FoldError> {
        if !self.latest.holds(account) {
            if !account.is_internal() {
                return Err(FoldError::UnknownAccount(account.clone()));
            }
            // The bank's own accounts exist from their first posting on.
            self.latest.insert(account, Latest::begin(day, 0, 0, at));
        }
        let changed = self.latest.has_changed(account);
        let latest = self.latest.change(account).ok_or_else(|| FoldError::UnknownAccount(account.clone()))?;
        if latest.balance.day != day {
            if changed {
                self.over.push((account.clone(), *latest));
            }
            *latest = Latest::begin(day, latest.balance.ledger_balance, latest.balance.available_balance, at);
        }
        Ok(latest)
    }

    async fn load_latest(&mut self, db: &mut PgConnection, accounts: &[String]) -> sqlx::Result<()> {
        let rows = sqlx::query!(
            r#"SELECT d.account_number, d.day AS "day: jiff_sqlx::Date", d.ledger_balance, d.available_balance,
                      d.turnover_in, d.turnover_out, d.last_position
               FROM UNNEST($1::text[]) AS wanted (account_number)
               CROSS JOIN LATERAL (SELECT * FROM daily_balances b
                                   WHERE b.account_number = wanted.account_number COLLATE "C"
                                   ORDER BY b.day DESC LIMIT 1) d"#,
            accounts
        );
        for row in rows.fetch_all(db).await? {
            let balance = DailyBalance {
                day: row.day.to_jiff(),
                ledger_balance: row.ledger_balance,
                available_balance: row.available_balance,
                interest_earned: 0,
                turnover_in: row.turnover_in,
                turnover_out: row.turnover_out,
            };
            let latest = Latest { balance, last_position: row.last_position };
            self.latest.loaded(row.account_number.as_str().into(), latest);
        }
        Ok(())
    }
}

async fn upsert(db: &mut PgConnection, rows: &[(&AccountNumber, &Latest)]) -> sqlx::Result<()> {
    let accounts: Vec<&str> = rows.iter().map(|(account, _)| account.as_str()).collect();
    let days: Vec<jiff_sqlx::Date> = rows.iter().map(|(_, row)| row.balance.day.to_sqlx()).collect();
    let column = |of: fn(&Latest) -> i64| rows.iter().map(|(_, row)| of(row)).collect::<Vec<i64>>();
    sqlx::query!(
        "INSERT INTO daily_balances (account_number, day, ledger_balance, available_balance, turnover_in,
                                     turnover_out, last_position)
         SELECT * FROM UNNEST($1::text[], $2::date[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
                              $7::bigint[])
         ON CONFLICT (account_number, day) DO UPDATE
         SET ledger_balance = EXCLUDED.ledger_balance, available_balance = EXCLUDED.available_balance,
             turnover_in = EXCLUDED.turnover_in, turnover_out = EXCLUDED.turnover_out,
             last_position = EXCLUDED.last_position",
        accounts as _,
        days as _,
        &column(|row| row.balance.ledger_balance),
        &column(|row| row.balance.available_balance),
        &column(|row| row.balance.turnover_in),
        &column(|row| row.balance.turnover_out),
        &column(|row| row.last_position),
    )
    .execute(db)
    .await?;
    Ok(())
}
