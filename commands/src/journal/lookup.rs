//! What use cases ask of the bank as it is before they submit. The journal decides again, on what is then.

use std::collections::HashSet;
use std::sync::PoisonError;

use bursar_domain::kernel::{UserId, WebhookId};
use bursar_domain::ledger::LedgerAccount;
use bursar_domain::{AccountNumber, Aggregate, Currency, Kind, Position, Recorded, State};
use jiff::Timestamp;
use jiff_sqlx::ToSqlx as _;
use lru::LruCache;

use super::{Backing, Context, Journal, StoreError, read};

/// A customer account somebody holds. Owner and currency of an account never change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holding {
    /// Its number.
    pub number: AccountNumber,
    /// Who holds it.
    pub owner: UserId,
    /// Its currency.
    pub currency: Currency,
}

impl Journal {
    /// The position of the last event, once a batch that is being written is in the log: whatever is written after this, by
    /// whichever server, is recorded no earlier than the time is now.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn settled(&self) -> Result<Position, StoreError> {
        let pool = match &self.0.backing {
            Backing::Postgres(pool) => pool,
            Backing::InMemory(door) => return door.settled(self.0.sources.clock.now()).await,
        };
        let now = self.0.sources.clock.now().to_sqlx();
        // The writer of a batch has the row locked from before it reads its clock until the end, and records nothing
        // before the head's time: a server whose clock is late cannot write into a day that is over here.
        let moved = sqlx::query_scalar!(
            "UPDATE head SET recorded_at = greatest(recorded_at, $1) RETURNING position",
            now as _
        );
        Ok(moved.fetch_one(pool).await?)
    }

    /// When the first event was recorded; none in an empty log.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn began(&self) -> Result<Option<Timestamp>, StoreError> {
        let pool = match &self.0.backing {
            Backing::Postgres(pool) => pool,
            Backing::InMemory(door) => return door.began().await,
        };
        let began = sqlx::query_scalar!(
            r#"SELECT recorded_at AS "recorded_at: jiff_sqlx::Timestamp" FROM events WHERE position = 1"#
        );
        Ok(began.fetch_optional(pool).await?.map(jiff_sqlx::Timestamp::to_jiff))
    }

    /// The aggregate and its version, folded from the log; version 0 when nothing has happened to it.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn load<A>(&self, id: &str) -> Result<(A, i64), StoreError>
    where
        A: Aggregate + TryFrom<State>,
    {
        let mut version = 0;
        let mut state: Option<State> = None;
        let mut connection = self.0.backing.acquire().await?;
        for recorded in read::streams(&mut connection, &self.0.codec, &[A::TYPE], &[id]).await? {
            state.get_or_insert_with(|| recorded.stream.kind.fresh()).evolve(&recorded.event);
            version = recorded.sequence;
        }
        let wrong_noun = |_| StoreError::Damaged(format!("{} {id}", A::TYPE));
        Ok((state.map_or(Ok(A::default()), |state| A::try_from(state).map_err(wrong_noun))?, version))
    }

    /// Everything that has happened to an aggregate, in order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn stream(&self, kind: Kind, id: &str) -> Result<Vec<Recorded>, StoreError> {
        let mut connection = self.0.backing.acquire().await?;
        read::streams(&mut connection, &self.0.codec, &[kind.as_str()], &[id]).await
    }

    /// The events at positions `after < position <= through`, in order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn range(&self, after: Position, through: Position) -> Result<Vec<Recorded>, StoreError> {
        let mut connection = self.0.backing.acquire().await?;
        read::range(&mut connection, &self.0.codec, after, through).await
    }

    /// The events at these positions, in order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn at(&self, positions: &[Position]) -> Result<Vec<Recorded>, StoreError> {
        let mut connection = self.0.backing.acquire().await?;
        read::at(&mut connection, &self.0.codec, positions).await
    }

    /// Whether a unit with the context's idempotency key is in the log: submitted again, it is answered from there.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn knows(&self, context: &Context) -> Result<bool, StoreError> {
        let Some(idempotency) = context.idempotency else { return Ok(false) };
        let pool = match &self.0.backing {
            Backing::Postgres(pool) => pool,
            Backing::InMemory(door) => return door.knows(&idempotency.key).await,
        };
        let known = sqlx::query_scalar!(
            r#"SELECT EXISTS (SELECT FROM idempotency_keys WHERE key = $1) AS "known!""#,
            idempotency.key.as_slice()
        );
        Ok(known.fetch_one(pool).await?)
    }

    /// The aggregate id of whoever claimed the value, if anybody did.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn holder(&self, namespace: &str, hash: &[u8; 32]) -> Result<Option<String>, StoreError> {
        let pool = match &self.0.backing {
            Backing::Postgres(pool) => pool,
            Backing::InMemory(door) => return door.holder(namespace, hash).await,
        };
        let query = sqlx::query_scalar!(
            "SELECT holder FROM claims WHERE namespace = $1 AND hash = $2",
            namespace,
            hash.as_slice()
        );
        Ok(query.fetch_optional(pool).await?)
    }

    /// Those of `hashes` that somebody has claimed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn held(&self, namespace: &str, hashes: &[[u8; 32]]) -> Result<HashSet<[u8; 32]>, StoreError> {
        let pool = match &self.0.backing {
            Backing::Postgres(pool) => pool,
            Backing::InMemory(door) => return door.held(namespace, hashes).await,
        };
        let wanted: Vec<&[u8]> = hashes.iter().map(<[u8; 32]>::as_slice).collect();
        let held = sqlx::query_scalar!(
            "SELECT hash FROM claims WHERE namespace = $1 AND hash = ANY($2::bytea[])",
            namespace,
            &wanted as &[&[u8]],
        );
        let held = held.fetch_all(pool).await?;
        Ok(held.into_iter().filter_map(|hash| hash.try_into().ok()).collect())
    }

    /// The account, if `owner` holds it. An account of somebody else and no account at all are the same answer.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn owned_account(
        &self,
        owner: UserId,
        number: &AccountNumber,
    ) -> Result<Option<Holding>, StoreError> {
        let key = (owner, number.clone());
        if let Some(holding) = self.holdings().get(&key) {
            return Ok(Some(holding.clone()));
        }
        let currency = match &self.0.backing {
            Backing::Postgres(pool) => {
                sqlx::query_scalar!(
                    "SELECT currency FROM ledger_accounts WHERE account = $1 AND owner = $2",
                    number.as_str(),
                    owner.to_string(),
                )
                .fetch_optional(pool)
                .await?
            }
            Backing::InMemory(door) => door.currency_of(owner, number).await?,
        };
        let Some(currency) = currency else { return Ok(None) };
        let currency = currency
            .parse()
            .map_err(|_| StoreError::Damaged(format!("currency of ledger account {number}")))?;
        let holding = Holding { number: number.clone(), owner, currency };
        self.holdings().put(key, holding.clone());
        Ok(Some(holding))
    }

    /// The numbers of the accounts that `owner` holds, in order.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn accounts_of(&self, owner: UserId) -> Result<Vec<AccountNumber>, StoreError> {
        let pool = match &self.0.backing {
            Backing::Postgres(pool) => pool,
            Backing::InMemory(door) => return door.accounts_of(owner).await,
        };
        let numbers = sqlx::query_scalar!(
            "SELECT account FROM ledger_accounts WHERE owner = $1 ORDER BY account",
            owner.to_string()
        );
        let numbers = numbers.fetch_all(pool).await?;
        Ok(numbers.iter().map(|number| number.as_str().into()).collect())
    }

    fn holdings(&self) -> std::sync::MutexGuard<'_, LruCache<(UserId, AccountNumber), Holding>> {
        self.0.holdings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everybody to whom staff permissions were ever given.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn staff(&self) -> Result<Vec<UserId>, StoreError> {
        let pool = match &self.0.backing {
            Backing::Postgres(pool) => pool,
            Backing::InMemory(door) => return door.staff().await,
        };
        let ids = sqlx::query_scalar!(
            "SELECT DISTINCT aggregate_id FROM events
              WHERE aggregate_type = 'user' AND event_type = 'user.permissions_granted' ORDER BY aggregate_id"
        );
        let ids = ids.fetch_all(pool).await?;
        ids.iter().map(|id| id.parse().map_err(|_| StoreError::Damaged(format!("user {id}")))).collect()
    }

    /// Every address that was ever to be told what happens in the bank.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn webhooks(&self) -> Result<Vec<WebhookId>, StoreError> {
        let pool = match &self.0.backing {
            Backing::Postgres(pool) => pool,
            Backing::InMemory(door) => return door.webhooks().await,
        };
        let ids = sqlx::query_scalar!(
            "SELECT aggregate_id FROM events WHERE aggregate_type = 'webhook' AND sequence = 1 ORDER BY aggregate_id"
        );
        let ids = ids.fetch_all(pool).await?;
        ids.iter().map(|id| id.parse().map_err(|_| StoreError::Damaged(format!("webhook {id}")))).collect()
    }

    /// The mandates that were ever given over an account, by id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn mandates_over(&self, number: &AccountNumber) -> Result<Vec<String>, StoreError> {
        let pool = match &self.0.backing {
            Backing::Postgres(pool) => pool,
            Backing::InMemory(door) => return door.mandates_over(number.as_str()).await,
        };
        let ids = sqlx::query_scalar!(
            "SELECT aggregate_id FROM events
              WHERE aggregate_type = 'mandate' AND event_type = 'mandate.set_up'
                AND payload->'set_up'->>'source' = $1 ORDER BY aggregate_id",
            number.as_str()
        );
        Ok(ids.fetch_all(pool).await?)
    }

    /// What the ledger knows of an account.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn ledger_account(&self, number: &AccountNumber) -> Result<Option<LedgerAccount>, StoreError> {
        let mut connection = self.0.backing.acquire().await?;
        let mut found = read::ledger_accounts(&mut connection, &[number.as_str()]).await?;
        Ok(found.pop().map(|(_, account)| account))
    }
}
