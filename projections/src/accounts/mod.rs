//! Customer accounts: the contract, and the balances the analyst joins. The queries take balances and status
//! from the ledger itself, so that an answer is never older than the last commit.

mod past;
mod query;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use bursar_domain::accounts::{
    AccountEvent, Notifications, Opened, SavingsFrequency, SavingsPlan, Settings, StatementDelivery,
    StatementFrequency,
};
use bursar_domain::kernel::{UserId, utc_date};
use bursar_domain::ledger::{AccountStatus, Posting};
use bursar_domain::payments::Movement;
use bursar_domain::products::AccountType;
use bursar_domain::{AccountNumber, Currency, Event, Kind, Position, Recorded};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff_sqlx::ToSqlx;
use rust_decimal::Decimal;
use serde::Serialize;
use sqlx::PgConnection;
use sqlx::types::Json;

pub use past::{AccountField, as_of, explain};
pub use query::{AccountFilter, AccountSort, find, of_owner, owned};

use crate::read_model::{FoldError, Mask, ReadModel, Table};
use crate::row::{ERASED, decoded, erasure};
use crate::window::Window;

/// A customer account; sums in minor units of `currency`. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Account {
    /// Ten digits.
    pub account_number: AccountNumber,
    /// Who holds it.
    pub owner: UserId,
    /// The name on it.
    pub account_name: String,
    /// Its kind.
    pub account_type: AccountType,
    /// The product it was opened on.
    pub product_id: String,
    /// The product's name then.
    pub product_name: String,
    /// Its one currency.
    pub currency: Currency,
    /// Whether money may move.
    pub status: AccountStatus,
    /// Sum of all postings.
    pub ledger_balance: i64,
    /// What a debit may take.
    pub available_balance: i64,
    /// Percent a year.
    pub interest_rate: Decimal,
    /// What must stay in it.
    pub minimum_balance: i64,
    /// How far below zero it may go.
    pub overdraft_limit: i64,
    /// What it may hold at most.
    pub maximum_balance: Option<i64>,
    /// Outgoing debits a UTC day.
    pub daily_limit: Option<i64>,
    /// Outgoing debits a UTC month.
    pub monthly_limit: Option<i64>,
    /// What comes with it.
    pub features: Vec<String>,
    /// Whether it is the first account of its owner.
    pub is_default: bool,
    /// The goal of a target savings account.
    pub savings_goal: Option<i64>,
    /// How often its owner plans to save.
    pub savings_frequency: Option<String>,
    /// Each planned contribution.
    pub savings_amount: Option<i64>,
    /// When the savings plan ends.
    pub maturity_at: Option<Timestamp>,
    /// Whether the holder hears of it by mail.
    pub notify_email: bool,
    /// Whether by short message.
    pub notify_sms: bool,
    /// Whether by notification in the app.
    pub notify_push: bool,
    /// By which way statements are sent.
    pub statement_delivery: StatementDelivery,
    /// How often.
    pub statement_frequency: StatementFrequency,
    /// Whether it may be closed before its plan ends.
    pub early_closure_allowed: bool,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When it was last posted to.
    pub last_transaction_at: Option<Timestamp>,
    /// The day on which it was taken over from another bank.
    pub taken_over_on: Option<Date>,
    /// What that bank called it.
    pub source_id: Option<String>,
    /// Position of the last event that changed the row.
    pub last_position: Position,
    /// Events of the contract so far (not of the money in it); queries read it from the log.
    #[serde(skip)]
    pub version: i64,
}

impl Account {
    fn opened(event: &Recorded, opened: &Opened, is_default: bool) -> Self {
        let terms = &opened.terms;
        let settings = Settings { plan: opened.plan.clone(), ..Settings::default() };
        let mut account = Self {
            account_number: event.stream.id.as_str().into(),
            owner: terms.owner,
            account_name: opened.name.or_erased().to_owned(),
            account_type: opened.account_type,
            product_id: opened.product_id.clone(),
            product_name: opened.product_name.clone(),
            currency: terms.currency,
            status: AccountStatus::Active,
            ledger_balance: 0,
            available_balance: terms.overdraft_limit.saturating_sub(terms.minimum_balance),
            interest_rate: opened.interest_rate,
            minimum_balance: terms.minimum_balance,
            overdraft_limit: terms.overdraft_limit,
            maximum_balance: terms.maximum_balance,
            daily_limit: terms.daily_limit,
            monthly_limit: terms.monthly_limit,
            features: opened.features.clone(),
            is_default,
            savings_goal: None,
            savings_frequency: None,
            savings_amount: None,
            maturity_at: None,
            notify_email: false,
            notify_sms: false,
            notify_push: false,
            statement_delivery: settings.statement_delivery,
            statement_frequency: settings.statement_frequency,
            early_closure_allowed: settings.early_closure_allowed,
            opened_at: opened.origin.as_ref().map_or(event.recorded_at, |origin| origin.at),
            taken_over_on: opened.origin.as_ref().map(|_| utc_date(event.recorded_at)),
            source_id: opened.origin.as_ref().map(|origin| origin.id.to_string()),
            last_transaction_at: None,
            last_position: event.position,
            version: event.sequence,
        };
        account.set_up(settings);
        account
    }

    fn set_up(&mut self, settings: Settings) {
        let SavingsPlan { goal, frequency, amount, maturity_date } = settings.plan.unwrap_or_default();
        self.savings_goal = goal;
        self.savings_frequency = frequency.map(|frequency| frequency.as_str().to_owned());
        self.savings_amount = amount;
        self.maturity_at = maturity_date;
        let Notifications { email, sms, push } = settings.notifications;
        (self.notify_email, self.notify_sms, self.notify_push) = (email, sms, push);
        self.statement_delivery = settings.statement_delivery;
        self.statement_frequency = settings.statement_frequency;
        self.early_closure_allowed = settings.early_closure_allowed;
    }

    const fn standing(&self) -> Standing {
        Standing {
            status: self.status,
            ledger_balance: self.ledger_balance,
            available_balance: self.available_balance,
            last_transaction_at: self.last_transaction_at,
            last_position: self.last_position,
        }
    }

    const fn stand(&mut self, now: Standing) {
        self.status = now.status;
        self.ledger_balance = now.ledger_balance;
        self.available_balance = now.available_balance;
        self.last_transaction_at = now.last_transaction_at;
        self.last_position = now.last_position;
    }
}

/// The columns that change after the opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Standing {
    status: AccountStatus,
    ledger_balance: i64,
    available_balance: i64,
    last_transaction_at: Option<Timestamp>,
    last_position: Position,
}

impl Standing {
    fn hold(&mut self, account: &AccountNumber, change: i64, event: &Recorded) -> Result<(), FoldError> {
        let available = self.available_balance.checked_sub(change);
        self.available_balance = available.ok_or_else(|| FoldError::Overflow(account.clone()))?;
        self.last_position = event.position;
        Ok(())
    }

    /// What a movement does to this account.
    fn moved(
        &mut self,
        number: &AccountNumber,
        moved: Movement<'_>,
        event: &Recorded,
    ) -> Result<(), FoldError> {
        for posting in moved.postings.iter().filter(|posting| posting.account == *number) {
            self.post(posting, moved.at(number, event.recorded_at), event)?;
        }
        match moved.hold {
            Some((account, change)) if account == number => self.hold(account, change, event),
            _ => Ok(()),
        }
    }

    fn post(&mut self, posting: &Posting, at: Timestamp, event: &Recorded) -> Result<(), FoldError> {
        let expected = i128::from(self.ledger_balance) + i128::from(posting.amount);
        if expected != i128::from(posting.balance) {
            let account = posting.account.clone();
            return Err(FoldError::BrokenBalance { account, expected, found: posting.balance });
        }
        // What is available moves with the balance: terms are not touched by a posting.
        let available = self.available_balance.checked_add(posting.amount);
        self.available_balance = available.ok_or_else(|| FoldError::Overflow(posting.account.clone()))?;
        self.ledger_balance = posting.balance;
        self.last_transaction_at = Some(at);
        self.last_position = event.position;
        Ok(())
    }
}

/// The read model behind the queries of this module.
#[derive(Debug, Default)]
pub struct Accounts {
    standings: Window<AccountNumber, Standing>,
    /// Accounts the table does not have yet.
    opened: Vec<Account>,
    /// Owners known to have an account.
    owners: HashSet<UserId>,
    /// Accounts that were set up anew, in the order of the log.
    configured: Vec<(AccountNumber, Settings)>,
    /// Owners who were erased, and where in the log.
    erased: Vec<(UserId, Position)>,
    /// The accounts that are left as they are.
    mask: Mask,
}

impl ReadModel for Accounts {
    const NAME: &'static str = "accounts";
    const READS: &'static [Kind] = &[Kind::Account, Kind::Payment, Kind::User];
    const ROW_SETS: &'static [Kind] = &[Kind::Account];

    fn row_sets(event: &Recorded) -> Vec<String> {
        crate::row::accounts(event)
            .filter(|account| !account.is_internal())
            .map(|account| account.to_string())
            .collect()
    }

    fn mask(&mut self, mask: &Mask) {
        self.mask = mask.clone();
    }
    const TABLES: &'static [Table] = &[Table {
        name: "accounts",
        key: &["account_number"],
        position: "last_position",
        append_only: false,
    }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let (numbers, owners) = self.missing(events);
        if !numbers.is_empty() {
            self.load_standings(db, &numbers).await?;
        }
        if !owners.is_empty() {
            let found =
                sqlx::query_scalar!("SELECT DISTINCT owner FROM accounts WHERE owner = ANY($1)", &owners);
            for owner in found.fetch_all(db).await? {
                self.owners.insert(crate::row::parsed(&owner)?);
            }
        }
        Ok(())
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        if event.stream.kind == Kind::Account && self.mask.hides(&event.stream.id) {
            return Ok(());
        }
        match &event.event {
            Event::Account(AccountEvent::Opened(opened)) => {
                let is_default = self.owners.insert(opened.terms.owner);
                let account = Account::opened(event, opened, is_default);
                self.standings.insert(&account.account_number, account.standing());
                self.opened.push(account);
                Ok(())
            }
            Event::Account(AccountEvent::Frozen { .. }) => self.set_status(event, AccountStatus::Frozen),
            Event::Account(AccountEvent::Unfrozen { .. } | AccountEvent::Reactivated { .. }) => {
                self.set_status(event, AccountStatus::Active)
            }
            Event::Account(AccountEvent::WentDormant { .. }) => {
                self.set_status(event, AccountStatus::Dormant)
            }
            Event::Account(AccountEvent::Closed { .. }) => self.set_status(event, AccountStatus::Closed),
            Event::Account(AccountEvent::Configured(configured)) => {
                let number = AccountNumber::from(event.stream.id.as_str());
                self.standing(&number)?.last_position = event.position;
                self.configured.push((number, configured.settings.clone()));
                Ok(())
            }
            // The row says nothing of it.
            Event::Account(AccountEvent::StatementSent { .. }) => Ok(()),
            Event::Payment(payment) => payment.movement().map_or(Ok(()), |moved| self.moved(moved, event)),
            _ => {
                self.erased.extend(erasure(event).map(|(user, _)| (user, event.position)));
                Ok(())
            }
        }
    }

    fn pending(&self) -> usize {
        self.standings.pending() + self.configured.len() + self.erased.len()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.insert_opened(db).await?;
        self.update_standings(db).await?;
        self.configure(db).await?;
        self.erase(db).await?;
        if self.standings.saved() {
            self.owners.clear();
        }
        Ok(())
    }
}

impl Accounts {
    /// The account as the events so far have made it, with nothing in it but what was told.
    pub(super) fn row(&mut self, number: &AccountNumber) -> Option<Account> {
        let place = self.opened.iter().position(|account| account.account_number == *number)?;
        let mut row = self.opened.swap_remove(place);
        row.stand(*self.standings.change(number)?);
        for (_, settings) in self.configured.drain(..).filter(|(configured, _)| configured == number) {
            row.set_up(settings);
        }
        Some(row)
    }

    /// Takes an event for one account and leaves the others that it touches alone. Answers whether it has one yet.
    pub(super) fn fold_for(&mut self, number: &AccountNumber, event: &Recorded) -> Result<(), FoldError> {
        let Event::Payment(payment) = &event.event else { return self.fold(event) };
        payment.movement().map_or(Ok(()), |moved| self.standing(number)?.moved(number, moved, event))
    }

    /// What is in the account, what of it is available, and what is reserved; none before it was opened.
    pub(super) fn numbers(&mut self, number: &AccountNumber) -> Option<(i64, i64)> {
        let standing = self.standings.change(number)?;
        Some((standing.ledger_balance, standing.available_balance))
    }

    fn standing(&mut self, number: &AccountNumber) -> Result<&mut Standing, FoldError> {
        self.standings.change(number).ok_or_else(|| FoldError::UnknownAccount(number.clone()))
    }

    fn moved(&mut self, moved: Movement<'_>, event: &Recorded) -> Result<(), FoldError> {
        let mut touched: Vec<&AccountNumber> = moved.accounts().filter(|one| !one.is_internal()).collect();
        touched.sort_unstable();
        touched.dedup();
        touched.retain(|account| !self.mask.hides(account.as_str()));
        touched.into_iter().try_for_each(|account| self.standing(account)?.moved(account, moved, event))
    }

    fn set_status(&mut self, event: &Recorded, status: AccountStatus) -> Result<(), FoldError> {
        let standing = self.standing(&event.stream.id.as_str().into())?;
        standing.status = status;
        standing.last_position = event.position;
        Ok(())
    }

    /// Accounts and owners that `events` speak of and memory does not have.
    fn missing(&self, events: &[Recorded]) -> (Vec<String>, Vec<String>) {
        let (mut numbers, mut owners) = (HashSet::new(), HashSet::new());
        for event in events {
            match &event.event {
                Event::Account(AccountEvent::Opened(opened)) => {
                    owners.extend(Some(opened.terms.owner).filter(|owner| !self.owners.contains(owner)));
                }
                Event::Account(
                    AccountEvent::Frozen { .. }
                    | AccountEvent::Unfrozen { .. }
                    | AccountEvent::WentDormant { .. }
                    | AccountEvent::Reactivated { .. }
                    | AccountEvent::Configured(_)
                    | AccountEvent::Closed { .. },
                ) => {
                    let number = AccountNumber::from(event.stream.id.as_str());
                    if !self.standings.holds(&number) {
                        numbers.insert(number);
                    }
                }
                Event::Payment(payment) => {
                    let unknown = |account: &&AccountNumber| !self.standings.holds(account);
                    let moved = payment.movement().into_iter().flat_map(|moved| moved.accounts());
                    numbers.extend(moved.filter(unknown).cloned());
                }
                _ => {}
            }
        }
        let numbers = numbers.into_iter().filter(|number| !number.is_internal());
        (
            numbers.map(|number| number.to_string()).collect(),
            owners.into_iter().map(|owner| owner.to_string()).collect(),
        )
    }

    async fn load_standings(&mut self, db: &mut PgConnection, numbers: &[String]) -> sqlx::Result<()> {
        let rows = sqlx::query!(
            r#"SELECT account_number, status, ledger_balance, available_balance,
                      last_transaction_at AS "last_transaction_at: jiff_sqlx::Timestamp", last_position
               FROM accounts WHERE account_number = ANY($1)"#,
            numbers
        );
        for row in rows.fetch_all(db).await? {
            let standing = Standing {
                status: decoded(&row.status)?,
                ledger_balance: row.ledger_balance,
                available_balance: row.available_balance,
                last_transaction_at: row.last_transaction_at.map(jiff_sqlx::Timestamp::to_jiff),
                last_position: row.last_position,
            };
            self.standings.loaded(row.account_number.as_str().into(), standing);
        }
        Ok(())
    }

    async fn insert_opened(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        if self.opened.is_empty() {
            return Ok(());
        }
        for account in &mut self.opened {
            if let Some(&now) = self.standings.settle(&account.account_number) {
                account.stand(now);
            }
        }
        sqlx::query!(
            "INSERT INTO accounts SELECT * FROM jsonb_populate_recordset(NULL::accounts, $1)",
            Json(&self.opened) as _
        )
        .execute(db)
        .await?;
        self.opened.clear();
        Ok(())
    }

    async fn configure(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        for (number, settings) in self.configured.drain(..) {
            let plan = settings.plan.unwrap_or_default();
            sqlx::query!(
                "UPDATE accounts
                    SET savings_goal = $2, savings_frequency = $3, savings_amount = $4, maturity_at = $5,
                        notify_email = $6, notify_sms = $7, notify_push = $8, statement_delivery = $9,
                        statement_frequency = $10, early_closure_allowed = $11
                  WHERE account_number = $1",
                number.as_str(),
                plan.goal,
                plan.frequency.map(SavingsFrequency::as_str),
                plan.amount,
                plan.maturity_date.map(ToSqlx::to_sqlx) as _,
                settings.notifications.email,
                settings.notifications.sms,
                settings.notifications.push,
                settings.statement_delivery.as_str(),
                settings.statement_frequency.as_str(),
                settings.early_closure_allowed,
            )
            .execute(&mut *db)
            .await?;
        }
        Ok(())
    }

    /// Whoever was erased opens no account any more: all of theirs were opened before.
    async fn erase(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        for (owner, position) in self.erased.drain(..) {
            sqlx::query!(
                "UPDATE accounts SET account_name = $3, last_position = greatest(last_position, $2) WHERE owner = $1",
                owner.to_string(),
                position,
                ERASED
            )
            .execute(&mut *db)
            .await?;
        }
        Ok(())
    }

    async fn update_standings(&self, db: &mut PgConnection) -> sqlx::Result<()> {
        let changed: Vec<(&AccountNumber, &Standing)> = self.standings.changed().collect();
        if changed.is_empty() {
            return Ok(());
        }
        let numbers: Vec<&str> = changed.iter().map(|(number, _)| number.as_str()).collect();
        let statuses: Vec<&str> = changed.iter().map(|(_, now)| now.status.as_str()).collect();
        let ledger: Vec<i64> = changed.iter().map(|(_, now)| now.ledger_balance).collect();
        let available: Vec<i64> = changed.iter().map(|(_, now)| now.available_balance).collect();
        let posted: Vec<_> =
            changed.iter().map(|(_, now)| now.last_transaction_at.map(ToSqlx::to_sqlx)).collect();
        let positions: Vec<i64> = changed.iter().map(|(_, now)| now.last_position).collect();
        sqlx::query!(
            "UPDATE accounts a
             SET status = n.status, ledger_balance = n.ledger, available_balance = n.available,
                 last_transaction_at = n.posted, last_position = n.position
             FROM UNNEST($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::timestamptz[], $6::bigint[])
                  AS n (number, status, ledger, available, posted, position)
             WHERE a.account_number = n.number COLLATE \"C\"",
            numbers as _,
            statuses as _,
            &ledger,
            &available,
            posted as _,
            &positions
        )
        .execute(db)
        .await?;
        Ok(())
    }
}
