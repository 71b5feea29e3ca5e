//! Watches the ledger while it is written: every event is looked at once more, by something that did not write it.
//!
//! | | each event | all balances, now and then |
//! |---|---|---|
//! | `GAPLESS` | positions follow each other | |
//! | `BALANCED` | its postings sum to zero in each currency | they sum to zero in each currency |
//! | `CONTINUOUS` | each balance is the one before plus the amount | |
//! | `FUNDED` | no debit that asks for funds goes below what an account may reach | |
//!
//! An event that this version cannot read, because a newer one wrote it or it is damaged, is passed over, and said so
//! (`bursar_monitor_unreadable_total`): what it moved is not checked, and what comes after it is.
//!
//! Cheap and incremental, where `bursar audit replay` is complete: the servers of a bank take turns, and the log is gone
//! through once. A breach stops the writing on all of them until somebody has looked at it and answered for it: a bank
//! that is wrong must not go on.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::time::Duration;

use bursar_domain::codec::{Codec, Unreadable};
use bursar_domain::ledger::{Checks, Effect};
use bursar_domain::{AccountNumber, Position, Recorded};
use jiff::{SignedDuration, Timestamp};
use jiff_sqlx::ToSqlx as _;
use lru::LruCache;
use sqlx::{Connection as _, PgConnection, PgPool};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::Journal;
use crate::journal::{StoreError, read};

/// Events looked at in one transaction.
const PAGE: Position = 2_000;
/// Accounts whose last balance is remembered; one that is not is believed once.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();
/// How often all balances are added up: a scan of the accounts.
const SWEEP: SignedDuration = SignedDuration::from_mins(5);

/// Something that must not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// By which it is accepted.
    pub id: i64,
    /// When it was found.
    pub found_at: Timestamp,
    /// The event that shows it.
    pub position: Position,
    /// Which rule it breaks.
    pub invariant: String,
    /// What it is.
    pub finding: String,
}

/// Watches the ledger for one server.
pub struct Monitor {
    journal: Journal,
    /// To the journal's schema.
    pool: PgPool,
    /// Not the pool's: a transaction that is dropped while it begins would stay open there. Gone after an error.
    own: Option<PgConnection>,
    /// Reads without keys: what is personal is of no interest.
    codec: Codec,
    /// The last balance of accounts, as of this position; of none while a page is under way, and after one that failed.
    balances: LruCache<AccountNumber, i64>,
    reached: Option<Position>,
    /// Events of the page under way that this version cannot read, and of one that failed.
    unreadable: Vec<(Position, Unreadable)>,
    /// Everything up to here was looked at, by whichever server.
    seen: Position,
    /// When all balances are to be added up again.
    sweep_at: Timestamp,
}

struct Finding {
    position: Position,
    invariant: &'static str,
    finding: String,
}

impl Monitor {
    /// A monitor of this journal, kept in the schema of `pool`'s connections.
    #[must_use]
    pub fn new(journal: Journal, pool: PgPool) -> Self {
        let balances = LruCache::new(REMEMBERED);
        let (own, codec, unreadable, sweep_at) = (None, Codec::default(), Vec::new(), Timestamp::MIN);
        Self { journal, pool, own, codec, balances, reached: None, unreadable, seen: 0, sweep_at }
    }

    /// Looks at what is new, `every` so often, until `stop` says so.
    #[must_use]
    pub fn start(mut self, every: Duration, mut stop: watch::Receiver<bool>) -> JoinHandle<()> {
        tokio::spawn(async move {
            while !*stop.borrow() {
                if let Err(error) = self.look().await {
                    metrics::counter!("bursar_monitor_failures_total").increment(1);
                    tracing::warn!(%error, "the ledger cannot be watched; trying again");
                }
                tokio::select! {
                    () = tokio::time::sleep(every) => {}
                    _ = stop.wait_for(|stop| *stop) => {}
                }
            }
        })
    }

    /// Looks at everything that nobody has looked at, and stops the writing when something is wrong, or was found wrong
    /// by another server.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn look(&mut self) -> Result<(), StoreError> {
        // Asked of the store: what nobody told the journal of is what a monitor is for.
        let (head, _) = crate::journal::head(&self.pool).await?;
        if head > self.seen || self.journal.sources().clock.now() >= self.sweep_at {
            while self.page().await? {}
        }
        heed(&self.journal, &self.pool).await
    }

    /// Looks at one page of the log. Answers whether there is more.
    async fn page(&mut self) -> Result<bool, StoreError> {
        let mut own = match self.own.take() {
            Some(own) => own,
            None => self.pool.acquire().await?.detach(),
        };
        let more = self.page_on(&mut own).await?;
        self.own = Some(own);
        Ok(more)
    }

    async fn page_on(&mut self, own: &mut PgConnection) -> Result<bool, StoreError> {
        let now = self.journal.sources().clock.now();
        let mut page = own.begin().await?;
        let turn = sqlx::query!(
            r#"SELECT monitor.position, head.position AS head, swept_at AS "swept_at: jiff_sqlx::Timestamp"
                 FROM monitor, head FOR UPDATE OF monitor SKIP LOCKED"#
        );
        // Another server is at it.
        let Some(turn) = turn.fetch_optional(&mut *page).await? else { return Ok(false) };
        let through = turn.head.min(turn.position + PAGE);
        let swept_at = turn.swept_at.to_jiff();
        let sweeps = now.duration_since(swept_at) >= SWEEP;
        if through == turn.position && !sweeps {
            self.rest(through, swept_at);
            return Ok(false);
        }
        // Of a page whose end we did not hear, when it was written all the same.
        self.passed_over(turn.position);
        let mut found = self.events(&mut page, turn.position, through).await?;
        if sweeps {
            found.extend(unbalanced(&mut page, turn.head).await?);
        }
        for Finding { position, invariant, finding } in found {
            tracing::error!(position, invariant, finding, "the ledger is wrong: nothing is written any more");
            sqlx::query!(
                "INSERT INTO breaches (found_at, position, invariant, finding) VALUES ($1, $2, $3, $4)",
                now.to_sqlx() as _,
                position,
                invariant,
                finding,
            )
            .execute(&mut *page)
            .await?;
        }
        let swept_at = if sweeps { now } else { swept_at };
        sqlx::query!("UPDATE monitor SET position = $1, swept_at = $2", through, swept_at.to_sqlx() as _)
            .execute(&mut *page)
            .await?;
        page.commit().await?;
        self.passed_over(through);
        self.reached = Some(through);
        self.rest(through, swept_at);
        Ok(through < turn.head)
    }

    /// Nothing is to be done until the log goes beyond `seen` or the next sweep is due.
    fn rest(&mut self, seen: Position, swept_at: Timestamp) {
        self.seen = seen;
        self.sweep_at = swept_at.checked_add(SWEEP).unwrap_or(Timestamp::MAX);
    }

    /// Says what was passed over up to a position, once each: nobody looks at it again.
    fn passed_over(&mut self, through: Position) {
        for (position, event) in self.unreadable.drain(..).filter(|(position, _)| *position <= through) {
            metrics::counter!("bursar_monitor_unreadable_total").increment(1);
            tracing::error!(position, %event, "this version cannot read an event, and does not watch what it moved");
        }
    }

    async fn events(
        &mut self,
        connection: &mut PgConnection,
        after: Position,
        through: Position,
    ) -> Result<Vec<Finding>, StoreError> {
        if self.reached.take() != Some(after) {
            // Others have been here since, or we were and could not say so: what we remember is of another moment.
            self.balances.clear();
        }
        let events = read::each(&mut *connection, &self.codec, after, through).await?;
        let (mut found, mut debits, mut expected) = (Vec::new(), Vec::new(), after);
        for (position, event) in events {
            expected += 1;
            if position != expected {
                let finding = format!("after position {} comes {position}", expected - 1);
                found.push(Finding { position: expected, invariant: "GAPLESS", finding });
                expected = position;
            }
            match event {
                Ok(recorded) => self.event(recorded, &mut found, &mut debits),
                // What it moved is not known: every balance is believed once more. It is no breach, and stops nothing.
                Err(event) => {
                    self.balances.clear();
                    self.unreadable.push((position, event));
                }
            }
        }
        found.extend(unfunded(connection, debits).await?);
        Ok(found)
    }

    /// What an event shows by itself and after those before it; adds its debits to those that must be funded.
    fn event(&mut self, recorded: Recorded, found: &mut Vec<Finding>, debits: &mut Vec<Debit>) {
        let Recorded { position, stream, mut event, .. } = recorded;
        let Some(Effect::Post { postings, checks, .. }) = event.effect(&stream.id) else { return };
        if postings.check_balanced().is_err() {
            let finding = "its postings do not sum to zero".to_owned();
            found.push(Finding { position, invariant: "BALANCED", finding });
        }
        for line in postings.iter() {
            let before = self.balances.put(line.account.clone(), line.balance);
            if before.is_some_and(|before| before.checked_add(line.amount) != Some(line.balance)) {
                let (account, amount, after) = (&line.account, line.amount, line.balance);
                let finding = format!("{account} had {}, {amount:+} makes {after}", before.unwrap_or(0));
                found.push(Finding { position, invariant: "CONTINUOUS", finding });
            }
            if line.amount < 0 && matches!(checks, Checks::Limited | Checks::Unlimited) {
                debits.push(Debit { position, account: line.account.clone(), leaves: line.balance });
            }
        }
    }
}

/// A debit that is only made when there is enough.
struct Debit {
    position: Position,
    account: AccountNumber,
    /// The balance after it, minor units.
    leaves: i64,
}

/// Debits that went below what an account may reach. Terms do not change after an account is opened.
async fn unfunded(connection: &mut PgConnection, debits: Vec<Debit>) -> Result<Vec<Finding>, StoreError> {
    let accounts: Vec<&str> = debits.iter().map(|debit| debit.account.as_str()).collect();
    let rows = sqlx::query!(
        r#"SELECT account, minimum_balance - overdraft_limit AS "floor!" FROM ledger_accounts
            WHERE account = ANY($1) AND owner IS NOT NULL"#,
        &accounts as &[&str],
    );
    let rows = rows.fetch_all(connection).await?;
    let floors: HashMap<String, i64> = rows.into_iter().map(|row| (row.account, row.floor)).collect();
    let below = debits.into_iter().filter_map(|Debit { position, account, leaves }| {
        let floor = *floors.get(account.as_str()).filter(|floor| leaves < **floor)?;
        let finding = format!("a debit leaves {account} with {leaves}, and {floor} must stay");
        Some(Finding { position, invariant: "FUNDED", finding })
    });
    Ok(below.collect())
}

/// Currencies in which all balances together are not zero.
async fn unbalanced(connection: &mut PgConnection, head: Position) -> Result<Vec<Finding>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT currency, sum(balance)::text AS "sum!" FROM ledger_accounts
            GROUP BY currency HAVING sum(balance) <> 0"#
    );
    let rows = rows.fetch_all(connection).await?;
    let wrong = rows.into_iter().map(|row| Finding {
        position: head,
        invariant: "BALANCED",
        finding: format!("all balances together are {} {}", row.sum, row.currency),
    });
    Ok(wrong.collect())
}

/// Stops the writing while there is a breach that nobody has answered for, and lets it go on afterwards.
///
/// # Errors
/// [`StoreError`].
pub async fn heed(journal: &Journal, pool: &PgPool) -> Result<(), StoreError> {
    let open = breaches(pool).await?.len();
    metrics::gauge!("bursar_invariant_breaches").set(u32::try_from(open).map_or(f64::INFINITY, f64::from));
    journal.halt(open > 0);
    Ok(())
}

/// What nobody has answered for, oldest first.
///
/// # Errors
/// [`StoreError`].
pub async fn breaches(pool: &PgPool) -> Result<Vec<Breach>, StoreError> {
    let rows = sqlx::query!(
        r#"SELECT id, found_at AS "found_at: jiff_sqlx::Timestamp", position, invariant, finding
             FROM breaches WHERE accepted_at IS NULL ORDER BY id"#
    );
    let breach = rows.fetch_all(pool).await?.into_iter().map(|row| Breach {
        id: row.id,
        found_at: row.found_at.to_jiff(),
        position: row.position,
        invariant: row.invariant,
        finding: row.finding,
    });
    Ok(breach.collect())
}

/// Somebody answers for a breach; servers write again within a second or so. Answers whether there was one of this id.
///
/// # Errors
/// [`StoreError`].
pub async fn accept(pool: &PgPool, id: i64, because: &str, at: Timestamp) -> Result<bool, StoreError> {
    let accepted = sqlx::query!(
        "UPDATE breaches SET accepted_at = $2, because = $3 WHERE id = $1 AND accepted_at IS NULL",
        id,
        at.to_sqlx() as _,
        because,
    );
    Ok(accepted.execute(pool).await?.rows_affected() > 0)
}
