//! The bank's books day by day: trial balance and balance sheet, for whoever asks the database.

mod rows;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use bursar_domain::kernel::{Text, utc_date};
use bursar_domain::ledger::{Class, Internal, Posting};
use bursar_domain::payments::Movement;
use bursar_domain::{Currency, Event, Kind, Position, Recorded};
use jiff::ToSpan as _;
use jiff::civil::Date;
use sqlx::PgConnection;
use sqlx::types::Json;

use crate::read_model::{FoldError, ReadModel, Table};
use crate::row::parsed;
use rows::{TrialRow, sheet};

/// What customers have in the bank.
const DEPOSITS: &str = "customer_deposits";
/// What customers owe it on their accounts.
const OVERDRAFTS: &str = "customer_overdrafts";

/// A ledger account, or all customers of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    class: Class,
    /// Of the day, minor units; so are the credits.
    debits: i64,
    credits: i64,
    balance: i64,
    last_position: Position,
}

impl Line {
    fn change(&mut self, change: i64, position: Position) -> Option<()> {
        self.balance = self.balance.checked_add(change)?;
        if change < 0 {
            self.debits = self.debits.checked_sub(change)?;
        } else {
            self.credits = self.credits.checked_add(change)?;
        }
        self.last_position = position;
        Some(())
    }
}

/// Currency and name of a line.
type Name = (Currency, Text);

/// The read model of `trial_balance` and `balance_sheet`.
#[derive(Debug, Default)]
pub struct Books {
    is_loaded: bool,
    /// The day that `lines` are about.
    day: Option<Date>,
    lines: BTreeMap<Name, Line>,
    has_changed: bool,
    /// Rows of days that are over and not saved yet.
    over: Vec<TrialRow>,
}

impl ReadModel for Books {
    const NAME: &'static str = "books";
    const READS: &'static [Kind] = &[Kind::Payment];
    const TABLES: &'static [Table] = &[
        Table {
            name: "trial_balance",
            key: &["day", "currency", "ledger_account"],
            position: "last_position",
            append_only: false,
        },
        Table {
            name: "balance_sheet",
            key: &["day", "currency", "side", "line"],
            position: "last_position",
            append_only: false,
        },
    ];

    async fn load(&mut self, db: &mut PgConnection, _: &[Recorded]) -> sqlx::Result<()> {
        if self.is_loaded {
            return Ok(());
        }
        let latest = sqlx::query!(
            r#"SELECT day AS "day: jiff_sqlx::Date", currency, ledger_account, class, debits, credits, balance,
                      last_position
                 FROM trial_balance WHERE day = (SELECT max(day) FROM trial_balance)"#
        );
        for row in latest.fetch_all(db).await? {
            self.day = Some(row.day.to_jiff());
            let line = Line {
                class: parsed(&row.class)?,
                debits: row.debits,
                credits: row.credits,
                balance: row.balance,
                last_position: row.last_position,
            };
            self.lines.insert((parsed(&row.currency)?, Text::new(row.ledger_account)), line);
        }
        self.is_loaded = true;
        Ok(())
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        let Event::Payment(payment) = &event.event else { return Ok(()) };
        payment.movement().map_or(Ok(()), |moved| self.moved(moved, event))
    }

    fn pending(&self) -> usize {
        self.over.len() + if self.has_changed { self.lines.len() } else { 0 }
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        let mut rows = std::mem::take(&mut self.over);
        if self.has_changed {
            rows.extend(self.rows());
        }
        if rows.is_empty() {
            return Ok(());
        }
        sqlx::query!(
            "INSERT INTO trial_balance SELECT * FROM jsonb_populate_recordset(NULL::trial_balance, $1)
             ON CONFLICT (day, currency, ledger_account) DO UPDATE
             SET class = excluded.class, debits = excluded.debits, credits = excluded.credits,
                 balance = excluded.balance, last_position = excluded.last_position",
            Json(&rows) as _
        )
        .execute(&mut *db)
        .await?;
        sqlx::query!(
            "INSERT INTO balance_sheet SELECT * FROM jsonb_populate_recordset(NULL::balance_sheet, $1)
             ON CONFLICT (day, currency, side, line) DO UPDATE
             SET amount = excluded.amount, last_position = excluded.last_position",
            Json(sheet(&rows)) as _
        )
        .execute(db)
        .await?;
        self.has_changed = false;
        Ok(())
    }
}

impl Books {
    fn moved(&mut self, moved: Movement<'_>, event: &Recorded) -> Result<(), FoldError> {
        let day = utc_date(event.recorded_at);
        let begins = self.day.is_none_or(|before| before < day);
        // Changed beside the lines, so that a movement that does not fit leaves them as they were.
        let mut changed: BTreeMap<Name, Line> = BTreeMap::new();
        for posting in moved.postings {
            for (name, class, change) in changes(posting) {
                let name = (posting.currency, name);
                let line = changed.entry(name).or_insert_with_key(|name| {
                    let quiet =
                        |line: &Line| if begins { Line { debits: 0, credits: 0, ..*line } } else { *line };
                    let new =
                        Line { class, debits: 0, credits: 0, balance: 0, last_position: event.position };
                    self.lines.get(name).map_or(new, quiet)
                });
                let fits = line.change(change, event.position);
                fits.ok_or_else(|| FoldError::Overflow(posting.account.clone()))?;
            }
        }
        if begins {
            self.turn_to(day);
        }
        self.lines.extend(changed);
        self.has_changed = true;
        Ok(())
    }

    /// Ends the day, and the quiet ones up to `day`.
    fn turn_to(&mut self, day: Date) {
        if let Some(before) = self.day {
            if self.has_changed {
                let rows: Vec<TrialRow> = self.rows().collect();
                self.over.extend(rows);
            }
            self.lines.retain(|_, line| line.balance != 0);
            for line in self.lines.values_mut() {
                (line.debits, line.credits) = (0, 0);
            }
            for quiet in before.series(1.day()).skip(1).take_while(|quiet| *quiet < day) {
                self.day = Some(quiet);
                let rows: Vec<TrialRow> = self.rows().collect();
                self.over.extend(rows);
            }
        }
        self.day = Some(day);
    }

    /// The rows of the day at hand.
    fn rows(&self) -> impl Iterator<Item = TrialRow> {
        let of_day = self.day.into_iter().flat_map(|day| self.lines.iter().map(move |line| (day, line)));
        of_day.map(|(day, ((currency, name), line))| TrialRow::of(day, *currency, name, line))
    }
}

/// What a posting changes: a line of the bank's own, or one or both of those that all customers share.
fn changes(posting: &Posting) -> impl Iterator<Item = (Text, Class, i64)> {
    let after = posting.balance;
    // The ledger has stamped the balance, so that the one before it fits as well.
    let before = after.saturating_sub(posting.amount);
    let own = Internal::of(&posting.account, posting.currency)
        .map(|role| (Text::from(role.to_string()), role.class(), posting.amount));
    let customers = own.is_none().then(|| {
        [
            (Text::const_new(DEPOSITS), Class::Liability, after.max(0) - before.max(0)),
            (Text::const_new(OVERDRAFTS), Class::Asset, after.min(0) - before.min(0)),
        ]
    });
    own.into_iter().chain(customers.into_iter().flatten().filter(|(_, _, change)| *change != 0))
}
