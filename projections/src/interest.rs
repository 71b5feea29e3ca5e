//! Interest of savings: what was paid, and what is needed to work out what is owed.

use bursar_domain::accounts::{DayEnd, Earner, Stretch};
use bursar_domain::kernel::{Spelled as _, month_start};
use bursar_domain::ledger::AccountStatus;
use bursar_domain::payments::PaymentEvent;
use bursar_domain::products::AccountType;
use bursar_domain::{AccountNumber, Currency, Event, Kind, Position, Recorded};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff_sqlx::ToSqlx;
use serde::Serialize;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};

use crate::read_model::{FoldError, ReadModel, Table};
use crate::row::parsed;

/// The read models that [`unposted`] and [`earner`] ask, and whose checkpoints they report.
pub const MODELS: &[&str] = &["accounts", "daily_balances", InterestPostings::NAME];

/// Accounts that earn interest, as the log was at a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Earners {
    /// Everything up to here is in the answer.
    pub as_of: Position,
    /// In the order of their numbers. What was taken over from another bank has earned nothing here before that day.
    pub earners: Vec<Earner>,
}

/// A row of either question: one for each day with an end of its own, and one without an account when there is none.
struct Row {
    as_of: Option<Position>,
    account_number: Option<String>,
    currency: Option<String>,
    interest_rate: Option<String>,
    minimum_balance: Option<i64>,
    posted: Option<Vec<jiff_sqlx::Date>>,
    day: Option<jiff_sqlx::Date>,
    ledger_balance: Option<i64>,
}

/// The accounts that earn interest and were not paid that of a month, from the one after `after` on; at most `most`.
///
/// # Errors
/// When the database cannot be read.
pub async fn unposted(
    pool: &PgPool,
    month: Stretch,
    after: Option<&AccountNumber>,
    most: i64,
) -> sqlx::Result<Earners> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT c.as_of, a.account_number AS "account_number?", a.currency AS "currency?",
                  a.interest_rate::text AS "interest_rate?", a.minimum_balance AS "minimum_balance?",
                  a.posted AS "posted?: Vec<jiff_sqlx::Date>", e.day AS "day?: jiff_sqlx::Date",
                  e.ledger_balance AS "ledger_balance?"
             FROM (SELECT min(position) AS as_of FROM checkpoints WHERE model = ANY($1)) c
             LEFT JOIN LATERAL (
                  SELECT account_number, currency, interest_rate, minimum_balance, taken_over_on,
                         ARRAY(SELECT through_day FROM interest_postings i
                                WHERE i.account_number = accounts.account_number AND through_day >= $2
                                ORDER BY through_day) AS posted
                    FROM accounts
                   WHERE account_number > $4 AND account_type = ANY($5) AND interest_rate > 0 AND status <> $6
                     AND NOT EXISTS (SELECT FROM interest_postings i
                                      WHERE i.account_number = accounts.account_number AND through_day >= $3)
                   ORDER BY account_number LIMIT $7) a ON true
             LEFT JOIN LATERAL (
                  (SELECT greatest(day, a.taken_over_on) AS day, ledger_balance FROM daily_balances d
                    WHERE d.account_number = a.account_number AND day <= greatest($2, a.taken_over_on)
                    ORDER BY d.day DESC LIMIT 1)
                  UNION ALL
                  (SELECT day, ledger_balance FROM daily_balances d
                    WHERE d.account_number = a.account_number AND day > greatest($2, a.taken_over_on) AND day <= $3)) e
                  ON true
            ORDER BY a.account_number, e.day"#,
        MODELS as &[&str],
        month.from.to_sqlx() as _,
        month.through.to_sqlx() as _,
        after.map_or("", AccountNumber::as_str),
        &kinds() as &[&str],
        AccountStatus::Closed.as_str(),
        most,
    );
    earners(rows.fetch_all(pool).await?)
}

/// The account, if it earns interest, with what is needed to work out that of the days of a stretch.
///
/// # Errors
/// When the database cannot be read.
pub async fn earner(pool: &PgPool, account: &AccountNumber, stretch: Stretch) -> sqlx::Result<Earners> {
    let rows = sqlx::query_as!(
        Row,
        r#"SELECT c.as_of, a.account_number AS "account_number?", a.currency AS "currency?",
                  a.interest_rate::text AS "interest_rate?", a.minimum_balance AS "minimum_balance?",
                  ARRAY(SELECT through_day FROM interest_postings i
                         WHERE i.account_number = a.account_number AND through_day >= $2
                         ORDER BY through_day) AS "posted?: Vec<jiff_sqlx::Date>",
                  e.day AS "day?: jiff_sqlx::Date", e.ledger_balance AS "ledger_balance?"
             FROM (SELECT min(position) AS as_of FROM checkpoints WHERE model = ANY($1)) c
             LEFT JOIN accounts a ON a.account_number = $4 AND a.account_type = ANY($5) AND a.interest_rate > 0
             LEFT JOIN LATERAL (
                  (SELECT greatest(day, a.taken_over_on) AS day, ledger_balance FROM daily_balances d
                    WHERE d.account_number = a.account_number AND day <= greatest($2, a.taken_over_on)
                    ORDER BY d.day DESC LIMIT 1)
                  UNION ALL
                  (SELECT day, ledger_balance FROM daily_balances d
                    WHERE d.account_number = a.account_number AND day > greatest($2, a.taken_over_on) AND day <= $3)) e
                  ON true
            ORDER BY e.day"#,
        MODELS as &[&str],
        month_start(stretch.from).to_sqlx() as _,
        stretch.through.to_sqlx() as _,
        account.as_str(),
        &kinds() as &[&str],
    );
    earners(rows.fetch_all(pool).await?)
}

fn kinds() -> Vec<&'static str> {
    AccountType::ALL.iter().filter(|kind| kind.earns()).map(|kind| kind.as_str()).collect()
}

fn earners(rows: Vec<Row>) -> sqlx::Result<Earners> {
    let as_of = rows.first().and_then(|row| row.as_of).unwrap_or(0);
    let mut earners: Vec<Earner> = Vec::new();
    for row in rows {
        let (Some(account), Some(currency), Some(rate), Some(minimum_balance)) =
            (row.account_number, row.currency, row.interest_rate, row.minimum_balance)
        else {
            continue;
        };
        if earners.last().is_none_or(|earner| earner.account.as_str() != account) {
            earners.push(Earner {
                account: account.as_str().into(),
                currency: parsed(&currency)?,
                rate: parsed(&rate)?,
                minimum_balance,
                ends: Vec::new(),
                posted: row.posted.unwrap_or_default().into_iter().map(jiff_sqlx::Date::to_jiff).collect(),
            });
        }
        if let (Some(earner), Some(day), Some(balance)) = (earners.last_mut(), row.day, row.ledger_balance) {
            earner.ends.push(DayEnd { day: day.to_jiff(), balance });
        }
    }
    Ok(Earners { as_of, earners })
}

/// A row of `interest_postings`.
#[derive(Debug, Serialize)]
struct Posted {
    account_number: AccountNumber,
    from_day: Date,
    through_day: Date,
    amount: i64,
    currency: Currency,
    transaction_id: String,
    posted_at: Timestamp,
    position: Position,
}

/// The read model of what was paid.
#[derive(Debug, Default)]
pub struct InterestPostings {
    pending: Vec<Posted>,
}

impl ReadModel for InterestPostings {
    const NAME: &'static str = "interest";
    const READS: &'static [Kind] = &[Kind::Payment];
    const TABLES: &'static [Table] = &[Table {
        name: "interest_postings",
        key: &["account_number", "through_day"],
        position: "position",
        append_only: true,
    }];

    async fn load(&mut self, _: &mut PgConnection, _: &[Recorded]) -> sqlx::Result<()> {
        // A posting becomes a row whatever was there before.
        Ok(())
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        if let Event::Payment(PaymentEvent::Completed(made)) = &event.event
            && let Some(Stretch { from, through }) = made.earned
        {
            self.pending.push(Posted {
                account_number: made.destination.clone(),
                from_day: from,
                through_day: through,
                amount: made.amount.minor(),
                currency: made.currency,
                transaction_id: event.stream.id.to_string(),
                posted_at: event.recorded_at,
                position: event.position,
            });
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.pending.len()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        sqlx::query!(
            "INSERT INTO interest_postings SELECT * FROM jsonb_populate_recordset(NULL::interest_postings, $1)",
            Json(&self.pending) as _
        )
        .execute(db)
        .await?;
        self.pending.clear();
        Ok(())
    }
}
