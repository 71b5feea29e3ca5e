//! The products accounts can be opened on.

use bursar_domain::products::{AccountType, ProductEvent};
use bursar_domain::{Currency, Event, Kind, Position, Recorded};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};

use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{self, Record, Records};

/// A product with its latest terms; sums in minor units of `currency`. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    #[serde(deserialize_with = "crate::row::rate")]
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

impl Record for Product {
    const TABLE: &'static Table = &Products::TABLES[0];
    const GROUP: &'static str = "product_id";
    type Key = String;
    type Group = String;

    fn key(&self) -> String {
        self.product_id.clone()
    }

    fn group(&self) -> String {
        self.product_id.clone()
    }
}

/// All products, on offer or withdrawn, by code.
///
/// # Errors
/// When the database cannot be read.
pub async fn all(pool: &PgPool) -> sqlx::Result<Vec<Product>> {
    records::all(pool).await
}

/// The product with this code.
///
/// # Errors
/// When the database cannot be read.
pub async fn find(pool: &PgPool, product_id: &str) -> sqlx::Result<Option<Product>> {
    records::find(pool, &product_id.to_owned()).await
}

/// The read model behind [`all`].
#[derive(Debug, Default)]
pub struct Products {
    rows: Records<Product>,
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
                let product = Product {
                    product_id: event.stream.id.to_string(),
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
                self.rows.insert(product);
            }
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.rows.pending()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.rows.save(db).await
    }
}
