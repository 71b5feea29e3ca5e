//! Brands of cards, by what their numbers begin with.

use serde::{Deserialize, Deserializer, de::Error as _};

use super::ReferenceError;
use crate::cards::CardNumber;

/// Numbers of one brand. The field names are those of the dataset's columns.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct CardRange {
    /// The brand.
    pub brand_code: String,
    /// What people call it.
    pub brand_name: String,
    /// The first prefix.
    pub range_start: String,
    /// The last prefix.
    pub range_end: String,
    /// Digits of the prefixes.
    pub prefix_length: usize,
    /// Digits a whole number can have.
    #[serde(deserialize_with = "lengths")]
    pub pan_lengths: Vec<usize>,
    /// Digits of the security code.
    pub security_code_length: usize,
}

/// All ranges.
#[derive(Debug, Clone, Default)]
pub struct CardBrands(Vec<CardRange>);

impl CardBrands {
    /// The brands with these ranges.
    ///
    /// # Errors
    /// [`ReferenceError::Range`], for a range that no prefix is in.
    pub fn new(mut ranges: Vec<CardRange>) -> Result<Self, ReferenceError> {
        for range in &ranges {
            let is_prefix =
                |text: &String| text.len() == range.prefix_length && text.bytes().all(|b| b.is_ascii_digit());
            if ![&range.range_start, &range.range_end].into_iter().all(is_prefix)
                || range.range_start > range.range_end
            {
                return Err(ReferenceError::Range(range.range_start.clone()));
            }
        }
        // Ranges overlap: the longest prefix says it best.
        ranges.sort_by_key(|range| std::cmp::Reverse(range.prefix_length));
        Ok(Self(ranges))
    }

    /// The range that the number is in.
    #[must_use]
    pub fn of(&self, number: &CardNumber) -> Option<&CardRange> {
        self.0.iter().find(|range| {
            let prefix = number.digits().get(..range.prefix_length);
            prefix.is_some_and(|prefix| (&*range.range_start..=&*range.range_end).contains(&prefix))
        })
    }

    /// All of them.
    pub fn iter(&self) -> std::slice::Iter<'_, CardRange> {
        self.0.iter()
    }
}

/// Reads `13|16|19`.
fn lengths<'de, D: Deserializer<'de>>(text: D) -> Result<Vec<usize>, D::Error> {
    let text = String::deserialize(text)?;
    text.split('|').map(|length| length.parse().map_err(D::Error::custom)).collect()
}
