//! The products accounts can be opened on.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use bursar_domain::products::{AccountType, ProductEvent};
use bursar_domain::{Currency, Event, Kind, Position, Recorded};
use rust_decimal::Decimal;
use serde::Serialize;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool};

use crate::read_model::{FoldError, ReadModel, Table};
use crate::row::{decoded, parsed};

/// A product with its latest terms; sums in minor units of `currency`. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Product {
    /// Its code (`SAV-001`).
    pub product_id: String,
    /// What people read.
    pub product_name: String,
    /// The kind of account it opens.
    pub product_type: AccountType,
    /// A sentence or two.
    pub description: String,
    /// The currency of its accounts.
    pub currency: Currency,
    /// Percent a year.
    pub interest_rate: Decimal,
    /// What must stay in an account.
    pub minimum_balance: i64,
    /// The least an account is opened with.
    pub minimum_deposit: i64,
    /// What an account may hold at most.
    pub maximum_balance: Option<i64>,
    /// How far below zero an account may go.
    pub overdraft_limit: i64,
    /// Outgoing debits a UTC day.
    pub daily_limit: Option<i64>,
    /// Outgoing debits a UTC month.
    pub monthly_limit: Option<i64>,
    /// What comes with an account.
    pub features: Vec<String>,
    /// Who may have it, in words.
    pub eligibility_criteria: Vec<String>,
    /// Whether accounts can be opened on it now.
    pub is_active: bool,
    /// Position of the event that last changed it.
    pub last_position: Position,
}

/// All products, on offer or withdrawn, by code.
///
/// # Errors
/// When the database cannot be read.
pub async fn all(pool: &PgPool) -> sqlx::Result<Vec<Product>> {
    select(pool, None).await
}

/// The product with this code.
///
/// # Errors
/// When the database cannot be read.
pub async fn find(pool: &PgPool, product_id: &str) -> sqlx::Result<Option<Product>> {
    Ok(select(pool, Some(product_id)).await?.pop())
}

async fn select(pool: &PgPool, product_id: Option<&str>) -> sqlx::Result<Vec<Product>> {
    let rows = sqlx::query!(
        r#"SELECT product_id, product_name, product_type, description, currency, interest_rate::text AS "interest_rate!",
                  minimum_balance, minimum_deposit, maximum_balance, overdraft_limit, daily_limit, monthly_limit,
                  features, eligibility_criteria, is_active, last_position
           FROM products WHERE product_id = $1 OR $1 IS NULL ORDER BY product_id"#,
        product_id
    )
    .fetch_all(pool)
    .await?;
    rows.into_iter()
        .map(|row| {
            Ok(Product {
                product_type: decoded(&row.product_type)?,
                currency: parsed(&row.currency)?,
                interest_rate: parsed(&row.interest_rate)?,
                product_id: row.product_id,
                product_name: row.product_name,
                description: row.description,
                minimum_balance: row.minimum_balance,
                minimum_deposit: row.minimum_deposit,
                maximum_balance: row.maximum_balance,
                overdraft_limit: row.overdraft_limit,
                daily_limit: row.daily_limit,
                monthly_limit: row.monthly_limit,
                features: row.features,
                eligibility_criteria: row.eligibility_criteria,
                is_active: row.is_active,
                last_position: row.last_position,
            })
        })
        .collect()
}

/// The read model behind [`all`].
#[derive(Debug, Default)]
pub struct Products {
    /// The latest terms of each product that changed.
    changed: BTreeMap<String, Product>,
}

impl ReadModel for Products {
    const NAME: &'static str = "products";
    const READS: &'static [Kind] = &[Kind::Product];
    const TABLES: &'static [Table] =
        &[Table { name: "products", key: &["product_id"], position: "last_position", append_only: false }];

    async fn load(&mut self, _: &mut PgConnection, _: &[Recorded]) -> sqlx::Result<()> {
        // Each event carries all terms: what was before does not matter.
        Ok(())
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        let Event::Product(what) = &event.event else { return Ok(()) };
        match what {
            ProductEvent::Defined(terms) => {
                let product_id = event.stream.id.to_string();
                let product = Product {
                    product_id: product_id.clone(),
                    product_name: terms.name.clone(),
                    product_type: terms.account_type,
                    description: terms.description.clone(),
                    currency: terms.currency,
                    interest_rate: terms.interest_rate,
                    minimum_balance: terms.minimum_balance,
                    minimum_deposit: terms.minimum_deposit,
                    maximum_balance: terms.maximum_balance,
                    overdraft_limit: terms.overdraft_limit,
                    daily_limit: terms.daily_limit,
                    monthly_limit: terms.monthly_limit,
                    features: terms.features.clone(),
                    eligibility_criteria: terms.eligibility_criteria.clone(),
                    is_active: terms.is_active,
                    last_position: event.position,
                };
                self.changed.insert(product_id, product);
            }
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.changed.len()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        if self.changed.is_empty() {
            return Ok(());
        }
        let codes: Vec<String> = self.changed.keys().cloned().collect();
        sqlx::query!("DELETE FROM products WHERE product_id = ANY($1)", &codes).execute(&mut *db).await?;
        let rows: Vec<&Product> = self.changed.values().collect();
        sqlx::query!(
            "INSERT INTO products SELECT * FROM jsonb_populate_recordset(NULL::products, $1)",
            Json(rows) as _
        )
        .execute(db)
        .await?;
        self.changed.clear();
        Ok(())
    }
}
