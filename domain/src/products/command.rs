//! What a product can be asked.

use super::ProductTerms;

/// Commands to a product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProductCommand {
    /// Put it on offer with these terms, or change its terms for accounts opened from now on.
    Define(Box<ProductTerms>),
    /// Put a new product on offer.
    Create(Box<ProductTerms>),
    /// Change the terms of one that is there, for accounts opened from now on.
    Change(Box<ProductTerms>),
}
