//! Whose events are whose: for the stream of a person's own events, and to find them in a log of everybody's.

use std::collections::BTreeSet;

use bursar_domain::kernel::UserId;
use bursar_domain::payments::PaymentEvent;
use bursar_domain::webhooks::event_types;
use bursar_domain::{Event, Kind, Position, Recorded};
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};

use crate::copy::CopyRows;
use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{Record, Records};
use crate::row::parsed;

/// Whose a stream is that is not named by a person's id. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct StreamOwner {
    /// The noun, a colon, and the id.
    stream: String,
    /// Whose it is.
    owner: UserId,
    /// Position of its first event.
    last_position: Position,
}

impl Record for StreamOwner {
    const TABLE: &'static Table = &Events::TABLES[0];
    const GROUP: &'static str = "stream";
    type Key = String;
    type Group = String;

    fn key(&self) -> String {
        self.stream.clone()
    }

    fn group(&self) -> String {
        self.stream.clone()
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
    streams: Records<StreamOwner>,
    rows: CopyRows,
}

fn named(kind: Kind, id: &str) -> String {
    format!("{kind}:{id}")
}

/// The accounts between which a payment moved money.
fn accounts(event: &Recorded) -> impl Iterator<Item = String> {
    let made = match &event.event {
        Event::Payment(PaymentEvent::Completed(made)) => Some(made),
        _ => None,
    };
    let lines = made.into_iter().flat_map(|made| made.postings.iter());
    let customers = lines.filter(|line| !line.account.is_internal());
    customers.map(|line| named(Kind::Account, line.account.as_str()))
}

impl Events {
    /// Whose event it is. Most things say themselves whose they are, when they begin.
    fn owner(&mut self, event: &Recorded) -> Option<UserId> {
        let id = event.stream.id.as_str();
        if let Ok(person) = id.parse() {
            return Some(person);
        }
        let stream = named(event.stream.kind, id);
        if event.sequence == 1 {
            let owner = match &event.event {
                // By far the most, and their state is a copy of all of it.
                Event::Payment(PaymentEvent::Completed(made)) => made.payer?,
                begins => {
                    let mut state = event.stream.kind.fresh();
                    state.evolve(begins);
                    state.owner()?
                }
            };
            self.streams.insert(StreamOwner { stream, owner, last_position: event.position });
            return Some(owner);
        }
        self.streams.get(&stream, &stream).map(|known| known.owner)
    }
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
        Table { name: "stream_owners", key: &["stream"], position: "last_position", append_only: false },
        Table { name: "own_events", key: &["owner", "position"], position: "position", append_only: true },
    ];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let later =
            events.iter().filter(|event| event.sequence > 1 && event.stream.id.parse::<UserId>().is_err());
        let later = later.map(|event| named(event.stream.kind, &event.stream.id));
        self.streams.load(db, later.chain(events.iter().flat_map(accounts))).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        let mut owners: BTreeSet<UserId> = self.owner(event).into_iter().collect();
        if !event_types().any(|name| name == event.event.name()) {
            return Ok(());
        }
        // Whoever gets money hears of it too.
        let theirs = accounts(event).filter_map(|stream| self.streams.get(&stream, &stream));
        owners.extend(theirs.map(|known| known.owner));
        for owner in owners {
            self.rows.row(2).text(&owner.to_string()).int8(event.position);
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.streams.pending() + self.rows.len()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.streams.save(db).await?;
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
