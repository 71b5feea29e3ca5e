//! The products loans can be applied for on.

use bursar_domain::loan_products::{LoanDocumentType, LoanProductEvent, LoanTerms, LoanType};
use bursar_domain::{Currency, Event, Kind, Position, Recorded};
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool};

use crate::page::{Page, Paged};
use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{self, Record, Records};

/// A product with its latest terms; sums in minor units of `currency`. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoanProduct {
    /// Its code (`LN-PER-001`).
    pub product_id: String,
    /// What people read.
    pub product_name: String,
    /// Whom it lends to.
    pub product_type: LoanType,
    /// The currency of its loans.
    pub currency: Currency,
    /// The least it lends.
    pub min_amount: i64,
    /// The most it lends.
    pub max_amount: i64,
    /// Percent a year.
    #[serde(deserialize_with = "crate::row::rate")]
    pub interest_rate: Decimal,
    /// The shortest, months.
    pub min_tenure: u32,
    /// The longest, months.
    pub max_tenure: u32,
    /// Percent of the amount.
    #[serde(deserialize_with = "crate::row::rate")]
    pub processing_fee: Decimal,
    /// Percent of the amount.
    #[serde(deserialize_with = "crate::row::rate")]
    pub insurance_fee: Decimal,
    /// Who may have it, in words.
    pub eligibility_criteria: Vec<String>,
    /// What an application is not approved without.
    pub required_documents: Vec<LoanDocumentType>,
    /// Whether somebody must vouch for the borrower.
    pub guarantor_required: bool,
    /// Whether it can be applied for now.
    pub is_active: bool,
    /// Position of the event that last changed it.
    pub last_position: Position,
}

impl LoanProduct {
    fn of(event: &Recorded, terms: &LoanTerms) -> Self {
        Self {
            product_id: event.stream.id.to_string(),
            product_name: terms.name.clone(),
            product_type: terms.loan_type,
            currency: terms.currency,
            min_amount: terms.min_amount,
            max_amount: terms.max_amount,
            interest_rate: terms.interest_rate,
            min_tenure: terms.min_tenure,
            max_tenure: terms.max_tenure,
            processing_fee: terms.processing_fee,
            insurance_fee: terms.insurance_fee,
            eligibility_criteria: terms.eligibility_criteria.clone(),
            required_documents: terms.required_documents.clone(),
            guarantor_required: terms.guarantor_required,
            is_active: terms.is_active,
            last_position: event.position,
        }
    }
}

impl Record for LoanProduct {
    const TABLE: &'static Table = &LoanProducts::TABLES[0];
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

/// One page of all products, on offer or withdrawn, by code.
///
/// # Errors
/// When the database cannot be read.
pub async fn listed(pool: &PgPool, page: Page) -> sqlx::Result<Paged<LoanProduct>> {
    records::list_all(pool, |_| {}, "is_active DESC", page).await
}

/// The read model behind [`listed`].
#[derive(Debug, Default)]
pub struct LoanProducts {
    rows: Records<LoanProduct>,
}

impl ReadModel for LoanProducts {
    const NAME: &'static str = "loan_products";
    const READS: &'static [Kind] = &[Kind::LoanProduct];
    const TABLES: &'static [Table] = &[Table {
        name: "loan_products",
        key: &["product_id"],
        position: "last_position",
        append_only: false,
    }];

    async fn load(&mut self, _: &mut PgConnection, _: &[Recorded]) -> sqlx::Result<()> {
        // Each event carries all terms: what was before does not matter.
        Ok(())
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        let Event::LoanProduct(what) = &event.event else { return Ok(()) };
        match what {
            LoanProductEvent::Defined(terms) => self.rows.insert(LoanProduct::of(event, terms)),
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
