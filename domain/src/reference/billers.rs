//! Billers, their kinds, and what they sell.

use regex::Regex;
use serde::{Deserialize, Serialize};

use super::Entry;
use crate::kernel::{Amount, Currency};

/// A kind of biller. The field names are those of the dataset's columns.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct BillerCategory {
    /// Its code.
    pub category_code: String,
    /// Its name.
    pub category_name: String,
    /// What billers of the kind are paid for.
    pub description: String,
    /// Whether it is in use.
    pub is_active: bool,
}

/// Somebody who is paid bills. The field names are those of the dataset's columns.
#[derive(Debug, Clone, Deserialize)]
pub struct Biller {
    /// Its code.
    pub biller_code: String,
    /// Its name.
    pub biller_name: String,
    /// Code of its kind.
    pub category_code: String,
    /// ISO 3166-1 alpha-2.
    pub country: String,
    /// What it is paid in.
    pub currency_code: Currency,
    /// What it calls its customers' numbers: "Meter number".
    pub customer_reference_label: String,
    /// What they look like.
    pub customer_reference_pattern: Pattern,
    /// Whether it can be paid.
    pub is_active: bool,
}

/// Something that a biller sells.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "ItemRow")]
pub struct BillerItem {
    /// Its code.
    pub item_code: String,
    /// Who sells it.
    pub biller_code: String,
    /// Its name.
    pub item_name: String,
    /// What it costs.
    pub price: Price,
    /// What the bank takes from the payer on top, in minor units; 0 for nothing.
    pub fee: i64,
    /// Days it is good for, when it is for a time.
    pub validity_days: Option<u32>,
    /// What it is paid in.
    pub currency: Currency,
    /// Whether it can be paid.
    pub is_active: bool,
}

/// What an item costs, in minor units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Price {
    /// Exactly this.
    Fixed {
        /// The price.
        amount: Amount,
    },
    /// As much as the payer wants, within bounds.
    Between {
        /// At least this.
        min_amount: Amount,
        /// At most this.
        max_amount: Amount,
    },
}

impl Price {
    /// Whether the item can be paid with `paid`.
    #[must_use]
    pub fn admits(self, paid: Amount) -> bool {
        match self {
            Self::Fixed { amount } => paid == amount,
            Self::Between { min_amount, max_amount } => (min_amount..=max_amount).contains(&paid),
        }
    }

    /// Whether there is only one.
    #[must_use]
    pub const fn is_fixed(self) -> bool {
        matches!(self, Self::Fixed { .. })
    }
}

/// An item as the dataset has it.
#[derive(Deserialize)]
struct ItemRow {
    item_code: String,
    biller_code: String,
    item_name: String,
    amount_minor: Option<Amount>,
    is_amount_fixed: bool,
    min_amount_minor: Option<Amount>,
    max_amount_minor: Option<Amount>,
    fee_minor: i64,
    validity_days: Option<u32>,
    currency_code: Currency,
    is_active: bool,
}

/// An item whose price cannot be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PriceError {
    /// Neither.
    #[error("an item has a fixed amount, or a least and a most one")]
    Neither,
    /// Less than nothing.
    #[error("a fee is not negative")]
    NegativeFee,
}

impl TryFrom<ItemRow> for BillerItem {
    type Error = PriceError;

    fn try_from(row: ItemRow) -> Result<Self, PriceError> {
        let bounds = (row.min_amount_minor, row.max_amount_minor);
        let price = match (row.is_amount_fixed, row.amount_minor, bounds) {
            (true, Some(amount), (None, None)) => Price::Fixed { amount },
            (false, None, (Some(min_amount), Some(max_amount))) if min_amount <= max_amount => {
                Price::Between { min_amount, max_amount }
            }
            _ => return Err(PriceError::Neither),
        };
        if row.fee_minor < 0 {
            return Err(PriceError::NegativeFee);
        }
        Ok(Self {
            item_code: row.item_code,
            biller_code: row.biller_code,
            item_name: row.item_name,
            price,
            fee: row.fee_minor,
            validity_days: row.validity_days,
            currency: row.currency_code,
            is_active: row.is_active,
        })
    }
}

/// A regular expression that the whole of a text must match; compiled when it is read.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern {
    text: String,
    regex: Regex,
}

/// Text that is not a regular expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a regular expression: {0}")]
pub struct PatternError(String);

impl Pattern {
    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it matches the whole of `text`.
    #[must_use]
    pub fn matches(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }
}

impl TryFrom<String> for Pattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        // Anchored here too: a pattern whose author forgot it must not accept a number with something around it.
        let regex = Regex::new(&format!("^(?:{text})$")).map_err(|e| PatternError(e.to_string()))?;
        Ok(Self { text, regex })
    }
}

impl Entry for BillerCategory {
    fn code(&self) -> &str {
        &self.category_code
    }

    fn name(&self) -> &str {
        &self.category_name
    }
}

impl Entry for Biller {
    fn code(&self) -> &str {
        &self.biller_code
    }

    fn name(&self) -> &str {
        &self.biller_name
    }
}

impl Entry for BillerItem {
    fn code(&self) -> &str {
        &self.item_code
    }

    fn name(&self) -> &str {
        &self.item_name
    }
}
