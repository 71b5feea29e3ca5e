//! Whose events are whose: for the stream of a person's own events, and to find them in a log of everybody's.

use std::collections::BTreeSet;

use bursar_domain::kernel::UserId;
use bursar_domain::payments::PaymentEvent;
use bursar_domain::webhooks::event_types;
use bursar_domain::{AccountNumber, Event, Kind, Position, Recorded};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};

use crate::copy::CopyRows;
use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{Record, Records};
use crate::row::parsed;

/// Whose an account is: whoever gets money hears of it too. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct AccountOwner {
    /// Its number.
    account: AccountNumber,
    /// Who holds it.
    owner: UserId,
    /// Position of the event that opened it.
    last_position: Position,
}

impl Record for AccountOwner {
    const TABLE: &'static Table = &Events::TABLES[0];
    const GROUP: &'static str = "account";
    type Key = AccountNumber;
    type Group = AccountNumber;

    fn key(&self) -> AccountNumber {
        self.account.clone()
    }

    fn group(&self) -> AccountNumber {
        self.account.clone()
    }
}

/// Positions of `owner`'s events with `after < position <= through`, in order, at most `limit`.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_owner(
    pool: &PgPool,
    owner: UserId,
    after: Position,
    through: Position,
    limit: i64,
) -> sqlx::Result<Vec<Position>> {
    let positions = sqlx::query_scalar!(
        "SELECT position FROM own_events WHERE owner = $1 AND position > $2 AND position <= $3
          ORDER BY position LIMIT $4",
        owner.to_string(),
        after,
        through,
        limit,
    );
    positions.fetch_all(pool).await
}

/// The events of any of `owners` with `after < position <= through`, in order.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_owners(
    pool: &PgPool,
    owners: &[String],
    after: Position,
    through: Position,
) -> sqlx::Result<Vec<(UserId, Position)>> {
    let rows = sqlx::query!(
        "SELECT owner, position FROM own_events WHERE owner = ANY($1) AND position > $2 AND position <= $3
          ORDER BY position",
        owners,
        after,
        through,
    );
    let rows = rows.fetch_all(pool).await?;
    rows.into_iter().map(|row| Ok((parsed(&row.owner)?, row.position))).collect()
}

/// The read model behind [`of_owner`].
#[derive(Debug, Default)]
pub struct Events {
    accounts: Records<AccountOwner>,
    rows: CopyRows,
}

/// The customers' accounts between which a payment moved money.
fn accounts(event: &Recorded) -> impl Iterator<Item = &AccountNumber> {
    let made = match &event.event {
        Event::Payment(PaymentEvent::Completed(made)) => Some(made),
        _ => None,
    };
    let lines = made.into_iter().flat_map(|made| made.postings.iter());
    lines.map(|line| &line.account).filter(|account| !account.is_internal())
}

/// Whose event it is: that of the person whom the stream is named by, or of whose the aggregate is.
fn owner(event: &Recorded) -> Option<UserId> {
    event.metadata.owner.or_else(|| event.stream.id.parse().ok())
}

impl ReadModel for Events {
    const NAME: &'static str = "events";
    const READS: &'static [Kind] = &[
        Kind::Account,
        Kind::Beneficiaries,
        Kind::Card,
        Kind::Closure,
        Kind::Community,
        Kind::Compliance,
        Kind::Devices,
        Kind::Dispute,
        Kind::Document,
        Kind::Loan,
        Kind::Mandate,
        Kind::Payment,
        Kind::Plan,
        Kind::Recurrence,
        Kind::Tags,
        Kind::User,
    ];
    const TABLES: &'static [Table] = &[
        Table { name: "account_owners", key: &["account"], position: "last_position", append_only: false },
        Table { name: "own_events", key: &["owner", "position"], position: "position", append_only: true },
    ];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        self.accounts.load(db, events.iter().flat_map(accounts).cloned()).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        let owner = owner(event);
        if let (Event::Account(_), 1, Some(owner)) = (&event.event, event.sequence, owner) {
            let account = event.stream.id.as_str().into();
            self.accounts.insert(AccountOwner { account, owner, last_position: event.position });
        }
        if !event_types().any(|name| name == event.event.name()) {
            return Ok(());
        }
        let theirs = accounts(event).filter_map(|account| self.accounts.get(account, account));
        let owners: BTreeSet<UserId> = theirs.map(|known| known.owner).chain(owner).collect();
        for owner in owners {
            self.rows.row(2).text(&owner.to_string()).int8(event.position);
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.accounts.pending() + self.rows.len()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.accounts.save(db).await?;
        self.rows.send(db, "COPY own_events (owner, position) FROM STDIN (FORMAT binary)").await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_that_is_told_is_looked_at_unless_it_is_nobodys() {
        let nobodys = ["product", "loan_product", "webhook"];
        for name in event_types() {
            let (noun, _) = name.split_once('.').unwrap();
            let read = Events::READS.iter().any(|kind| kind.as_str() == noun);
            assert_eq!(read, !nobodys.contains(&noun), "{name}");
        }
    }
}
