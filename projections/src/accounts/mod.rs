//! Customer accounts: the contract, and the balances the analyst joins. The queries take balances and status
//! from the ledger itself, so that an answer is never older than the last commit.

mod past;
mod query;
mod row;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use bursar_domain::accounts::{AccountEvent, SavingsFrequency, Settings};
use bursar_domain::kernel::UserId;
use bursar_domain::ledger::AccountStatus;
use bursar_domain::payments::Movement;
use bursar_domain::{AccountNumber, Event, Kind, Position, Recorded};
use jiff_sqlx::ToSqlx;
use sqlx::PgConnection;
use sqlx::types::Json;

pub use past::{AccountField, as_of, explain};
pub use query::{AccountFilter, AccountSort, find, of_owner, owned};
pub use row::Account;
use row::Standing;

use crate::read_model::{FoldError, Mask, ReadModel, Table};
use crate::row::{ERASED, decoded, erasure};
use crate::window::Window;

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
