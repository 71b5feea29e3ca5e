//! Reference data: what the bank takes from others and looks up, but never changes by an event. Other banks,
//! billers with what they sell, and what card numbers begin with.
//!
//! Rows are made by whoever read them (CSV, a table); here they are checked against each other once, and looked up
//! from then on in memory.

mod banks;
mod bill;
mod billers;
mod card_brands;
mod choices;
mod dataset;
mod places;
#[cfg(test)]
mod tests;

pub use banks::{Bank, BankError, BankType};
pub use bill::{Bill, BillError, Offer};
pub use billers::{Biller, BillerCategory, BillerItem, Pattern, PatternError, Price, PriceError};
pub use card_brands::{CardBrands, CardRange};
pub use choices::{Choice, Choices, LoanInterval, Period, Profession};
pub use dataset::{Dataset, Entry};
pub use places::{City, Country, Places, State};

/// Rows that do not fit together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReferenceError {
    /// One code, two rows.
    #[error("{0} is there twice")]
    Duplicate(String),
    /// A row names a row of another dataset that is not there.
    #[error("{code} names {missing}, which is not there")]
    Dangling {
        /// The row's code.
        code: String,
        /// What it names.
        missing: String,
    },
    /// An item is sold in another currency than its biller's.
    #[error("{0} is not in its biller's currency")]
    Currency(String),
    /// A range of prefixes that no prefix is in.
    #[error("the range that begins with {0} is not one of prefixes of its length")]
    Range(String),
}

/// All reference data that the bank answers from.
#[derive(Debug, Clone)]
pub struct Reference {
    /// Other banks, this one perhaps among them.
    pub banks: Dataset<Bank>,
    /// Kinds of billers.
    pub categories: Dataset<BillerCategory>,
    /// Who can be paid bills.
    pub billers: Dataset<Biller>,
    /// Whose cards have which numbers.
    pub card_brands: CardBrands,
    items: Dataset<BillerItem>,
}

impl Reference {
    /// Reference data of these rows.
    ///
    /// # Errors
    /// [`ReferenceError`], when they do not fit together.
    pub fn new(
        banks: Vec<Bank>,
        categories: Vec<BillerCategory>,
        billers: Vec<Biller>,
        items: Vec<BillerItem>,
    ) -> Result<Self, ReferenceError> {
        let reference = Self {
            banks: Dataset::new(banks)?,
            categories: Dataset::new(categories)?,
            billers: Dataset::new(billers)?,
            card_brands: CardBrands::default(),
            items: Dataset::new(items)?,
        };
        for biller in reference.billers.iter() {
            reference.categories.named_by(&biller.biller_code, &biller.category_code)?;
        }
        for item in reference.items.iter() {
            let biller = reference.billers.named_by(&item.item_code, &item.biller_code)?;
            if biller.currency_code != item.currency {
                return Err(ReferenceError::Currency(item.item_code.clone()));
            }
        }
        Ok(reference)
    }

    /// The same with these ranges of card numbers.
    ///
    /// # Errors
    /// [`ReferenceError::Range`].
    pub fn with_cards(self, ranges: Vec<CardRange>) -> Result<Self, ReferenceError> {
        Ok(Self { card_brands: CardBrands::new(ranges)?, ..self })
    }

    /// What a biller sells, in the order of names.
    pub fn items_of<'a>(&'a self, biller: &'a Biller) -> impl Iterator<Item = &'a BillerItem> {
        self.items.iter().filter(|item| item.biller_code == biller.biller_code)
    }
}
