//! What use cases ask before they submit: what `journal/lookup.rs` asks in SQL.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use bursar_domain::kernel::{UserId, WebhookId, micros};
use bursar_domain::{AccountNumber, Position};
use jiff::Timestamp;

use super::super::StoreError;
use super::Door;
use super::tables::Tables;

impl Door {
    /// As in Postgres, waits for a batch that is being written.
    pub(crate) async fn settled(&self, now: Timestamp) -> Result<Position, StoreError> {
        self.pass().await?;
        let _head = Arc::clone(&self.tables.head).lock_owned().await;
        let mut tables = self.tables.tables();
        tables.head.recorded_at = tables.head.recorded_at.max(micros(now));
        Ok(tables.head.position)
    }

    pub(crate) async fn began(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.ask().await?.events.first().map(|row| row.recorded_at.to_jiff()))
    }

    pub(crate) async fn knows(&self, key: &[u8; 16]) -> Result<bool, StoreError> {
        Ok(self.ask().await?.key(key).is_some())
    }

    pub(crate) async fn holder(
        &self,
        namespace: &str,
        hash: &[u8; 32],
    ) -> Result<Option<String>, StoreError> {
        Ok(self.ask().await?.holder(namespace, hash).cloned())
    }

    pub(crate) async fn held(
        &self,
        namespace: &str,
        hashes: &[[u8; 32]],
    ) -> Result<HashSet<[u8; 32]>, StoreError> {
        let tables = self.ask().await?;
        Ok(hashes.iter().filter(|hash| tables.holder(namespace, hash).is_some()).copied().collect())
    }

    pub(crate) async fn currency_of(
        &self,
        owner: UserId,
        number: &AccountNumber,
    ) -> Result<Option<String>, StoreError> {
        let tables = self.ask().await?;
        let account = tables.accounts.get(number).filter(|account| account.owner == Some(owner));
        Ok(account.map(|account| account.currency.as_str().to_owned()))
    }

    pub(crate) async fn accounts_of(&self, owner: UserId) -> Result<Vec<AccountNumber>, StoreError> {
        let tables = self.ask().await?;
        Ok(tables.owned.get(&owner).into_iter().flatten().cloned().collect())
    }

    pub(crate) async fn staff(&self) -> Result<Vec<UserId>, StoreError> {
        let ids = self.ask().await?.ids_of("user.permissions_granted", |_| true);
        ids.iter().map(|id| id.parse().map_err(|_| StoreError::Damaged(format!("user {id}")))).collect()
    }

    pub(crate) async fn webhooks(&self) -> Result<Vec<WebhookId>, StoreError> {
        let tables = self.ask().await?;
        let ids: BTreeSet<&String> =
            tables.streams.get("webhook").into_iter().flat_map(|ids| ids.keys()).collect();
        ids.into_iter()
            .map(|id| id.parse().map_err(|_| StoreError::Damaged(format!("webhook {id}"))))
            .collect()
    }

    pub(crate) async fn mandates_over(&self, number: &str) -> Result<Vec<String>, StoreError> {
        let over = |payload: &str| {
            let payload: Option<serde_json::Value> = serde_json::from_str(payload).ok();
            payload.is_some_and(|payload| payload["set_up"]["source"] == number)
        };
        Ok(self.ask().await?.ids_of("mandate.set_up", over))
    }
}

impl Tables {
    fn holder(&self, namespace: &str, hash: &[u8; 32]) -> Option<&String> {
        self.claims.get(namespace)?.get(hash)
    }

    /// The ids of the streams that have an event of a type, in order.
    fn ids_of(&self, event: &str, wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let places = self.types.get(event).into_iter().flatten();
        let rows = places.filter_map(|place| self.events.get(*place)).filter(|row| wanted(&row.payload));
        let ids: BTreeSet<&str> = rows.map(|row| row.aggregate_id.as_str()).collect();
        ids.into_iter().map(ToOwned::to_owned).collect()
    }
}
