//! How accounts ended their days, for the posting of interest: from the read models, once they are there.

use std::future::Future;

use bursar_commands::CommandError;
use bursar_commands::interest::DayEnds;
use bursar_domain::accounts::{Earner, Stretch};
use bursar_domain::{AccountNumber, Position};
use bursar_projections::Freshness;
use bursar_projections::interest::{Earners, MODELS, earner, unposted};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::civil::{Date, date};
use sqlx::PgPool;

/// Days before any bank's first.
const EVER: Date = date(1, 1, 1);

/// Reads them.
pub struct ReadDayEnds {
    pool: PgPool,
    freshness: Freshness,
}

impl ReadDayEnds {
    /// From the read models in the database of `pool`.
    #[must_use]
    pub const fn new(pool: PgPool, freshness: Freshness) -> Self {
        Self { pool, freshness }
    }

    /// What is asked, when the tables it was read from held everything up to `at`: money is not paid by old ones.
    async fn at(
        &self,
        at: Position,
        asked: impl Future<Output = sqlx::Result<Earners>> + Send,
    ) -> Result<Vec<Earner>, CommandError> {
        let fresh = self.freshness.wait(MODELS, at, Freshness::PATIENCE).await;
        fresh.map_err(|lagging| {
            tracing::warn!(%lagging, "interest waits for the balances of the days");
            CommandError::unavailable()
        })?;
        let found = asked.await.map_err(bursar_commands::journal::StoreError::from)?;
        if found.as_of < at { Err(CommandError::unavailable()) } else { Ok(found.earners) }
    }
}

impl DayEnds for ReadDayEnds {
    fn unposted<'a>(
        &'a self,
        at: Position,
        month: Stretch,
        after: Option<&'a AccountNumber>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Earner>, CommandError>> {
        self.at(at, unposted(&self.pool, month, after, i64::try_from(most).unwrap_or(i64::MAX))).boxed()
    }

    fn of<'a>(
        &'a self,
        at: Position,
        account: &'a AccountNumber,
        through: Date,
    ) -> BoxFuture<'a, Result<Option<Earner>, CommandError>> {
        let asked = earner(&self.pool, account, Stretch { from: EVER, through });
        async move { Ok(self.at(at, asked).await?.into_iter().next()) }.boxed()
    }
}
