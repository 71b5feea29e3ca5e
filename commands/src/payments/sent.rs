//! Payments to other banks, read from the log.

use std::collections::{BTreeSet, HashMap};

use bursar_domain::accounts::{Account, AccountEvent};
use bursar_domain::codec::Codec;
use bursar_domain::kernel::TransactionId;
use bursar_domain::payments::{Completed, Payment, PaymentEvent, PaymentKind};
use bursar_domain::{Aggregate, Event, Personal, Position, Recorded};
use jiff::Timestamp;
use sqlx::PgPool;

use crate::journal::{StoreError, head, read};

/// Events read at once.
const PAGE: usize = 2_000;

/// A payment to another bank that is on its way or has arrived.
#[derive(Debug, Clone)]
pub struct SentPayment {
    /// What names it from end to end.
    pub id: TransactionId,
    /// When the bank accepted it.
    pub accepted_at: Timestamp,
    /// When it arrived, if it has.
    pub settled_at: Option<Timestamp>,
    /// The name on the account debited.
    pub payer_name: Personal<String>,
    /// How it was made.
    pub payment: Completed,
}

/// The log as far as it goes now. That part never changes again: whoever reads it in pages, and a second time, sees the
/// bank at one moment without holding a transaction.
#[derive(Debug, Clone, Copy)]
pub struct LogSoFar<'a> {
    pool: &'a PgPool,
    codec: &'a Codec,
    position: Position,
    recorded_at: Timestamp,
}

/// A part of the log: everything after one position through another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    after: Position,
    through: Position,
}

impl Stretch {
    /// How many events it has.
    #[must_use]
    pub fn events(self) -> u64 {
        u64::try_from(self.through - self.after).unwrap_or(0)
    }

    /// It in parts, each small enough to be held in memory.
    pub fn pages(self) -> impl Iterator<Item = Self> {
        let begins = (self.after..self.through).step_by(PAGE);
        begins.map(move |after| Self {
            after,
            through: self.through.min(after.saturating_add(PAGE as Position)),
        })
    }
}

impl<'a> LogSoFar<'a> {
    /// Fixes its end.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn now(pool: &'a PgPool, codec: &'a Codec) -> Result<Self, StoreError> {
        let (position, recorded_at) = head(pool).await?;
        Ok(Self { pool, codec, position, recorded_at })
    }

    /// When its last event was recorded.
    #[must_use]
    pub const fn recorded_at(&self) -> Timestamp {
        self.recorded_at
    }

    /// What was recorded from one moment (inclusive) to another (exclusive).
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn between(&self, from: Timestamp, to: Timestamp) -> Result<Stretch, StoreError> {
        let after = self.before(from).await?;
        Ok(Stretch { after, through: self.before(to).await?.max(after) })
    }

    /// When the first and the last event of a stretch were recorded; none when it has no event.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn times(&self, stretch: Stretch) -> Result<Option<(Timestamp, Timestamp)>, StoreError> {
        if stretch.events() == 0 {
            return Ok(None);
        }
        Ok(Some((self.time(stretch.after + 1).await?, self.time(stretch.through).await?)))
    }

    /// The payments to other banks that were accepted in a page and have not come back, in order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn sent(&self, page: Stretch) -> Result<Vec<SentPayment>, StoreError> {
        let events =
            read::range(&mut *self.pool.acquire().await?, self.codec, page.after, page.through).await?;
        let accepted: Vec<&Recorded> =
            events.iter().filter(|recorded| completed(recorded).is_some()).collect();
        if accepted.is_empty() {
            return Ok(Vec::new());
        }
        let became = self.fates(accepted.iter().map(|recorded| &*recorded.stream.id)).await?;
        let sources =
            accepted.iter().filter_map(|recorded| completed(recorded)).map(|made| made.source.as_str());
        let names = self.names(sources).await?;
        let mut sent = Vec::with_capacity(accepted.len());
        for recorded in accepted {
            let Some(made) = completed(recorded) else { continue };
            let id = recorded.stream.id.as_str();
            let Some(Fate { settled_at, .. }) = became.get(id).filter(|fate| fate.payment.has_left()) else {
                continue;
            };
            let damaged = |what: &str| StoreError::Damaged(format!("{what} of payment {id}"));
            sent.push(SentPayment {
                id: id.parse().map_err(|_| damaged("the id"))?,
                accepted_at: recorded.recorded_at,
                settled_at: *settled_at,
                payer_name: names.get(made.source.as_str()).cloned().ok_or_else(|| damaged("the payer"))?,
                payment: made.clone(),
            });
        }
        Ok(sent)
    }

    /// What became of payments until the end of the log.
    async fn fates<'b>(
        &self,
        ids: impl Iterator<Item = &'b str>,
    ) -> Result<HashMap<String, Fate>, StoreError> {
        let mut fates: HashMap<String, Fate> = HashMap::new();
        for recorded in self.streams(Payment::TYPE, ids.collect()).await? {
            let Event::Payment(event) = &recorded.event else { continue };
            let fate = fates.entry(recorded.stream.id.to_string()).or_default();
            if matches!(event, PaymentEvent::Settled(_)) {
                fate.settled_at = Some(recorded.recorded_at);
            }
            fate.payment.evolve(event);
        }
        Ok(fates)
    }

    /// The names on accounts.
    async fn names<'b>(
        &self,
        accounts: impl Iterator<Item = &'b str>,
    ) -> Result<HashMap<String, Personal<String>>, StoreError> {
        let accounts: BTreeSet<&str> = accounts.collect();
        let events = self.streams(Account::TYPE, accounts.into_iter().collect()).await?;
        let name = |recorded: Recorded| match recorded.event {
            Event::Account(AccountEvent::Opened(opened)) => {
                Some((recorded.stream.id.to_string(), opened.name))
            }
            _ => None,
        };
        Ok(events.into_iter().filter_map(name).collect())
    }

    /// The events of streams of one kind until the end of the log.
    async fn streams(&self, kind: &str, ids: Vec<&str>) -> Result<Vec<Recorded>, StoreError> {
        let mut events =
            read::streams(&mut *self.pool.acquire().await?, self.codec, &vec![kind; ids.len()], &ids).await?;
        events.retain(|recorded| recorded.position <= self.position);
        Ok(events)
    }

    /// The last position recorded before `time`. Time never goes back along the log.
    async fn before(&self, time: Timestamp) -> Result<Position, StoreError> {
        let (mut least, mut most) = (0, self.position);
        while least < most {
            let middle = most - (most - least) / 2;
            if self.time(middle).await? < time { least = middle } else { most = middle - 1 }
        }
        Ok(least)
    }

    async fn time(&self, position: Position) -> Result<Timestamp, StoreError> {
        let at = sqlx::query_scalar!(
            r#"SELECT recorded_at AS "recorded_at: jiff_sqlx::Timestamp" FROM events WHERE position = $1"#,
            position,
        )
        .fetch_one(self.pool)
        .await?;
        Ok(at.to_jiff())
    }
}

/// What became of a payment.
#[derive(Debug, Default)]
struct Fate {
    payment: Payment,
    settled_at: Option<Timestamp>,
}

/// The payment to another bank that was accepted with this event.
fn completed(recorded: &Recorded) -> Option<&Completed> {
    match &recorded.event {
        Event::Payment(PaymentEvent::Completed(made)) if made.kind == PaymentKind::External => Some(made),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cover_a_stretch_without_gap_or_overlap() {
        for (after, through, pages) in [(0, 0, 0), (7, 8, 1), (0, 2_000, 1), (3, 2_004, 2), (5, 10_006, 6)] {
            let stretch = Stretch { after, through };
            let all: Vec<Stretch> = stretch.pages().collect();
            assert_eq!(all.len(), pages, "{stretch:?}");
            assert_eq!(all.iter().map(|page| page.events()).sum::<u64>(), stretch.events());
            assert!(all.windows(2).all(|two| two[0].through == two[1].after));
            assert!(all.first().is_none_or(|first| first.after == after));
        }
    }
}
