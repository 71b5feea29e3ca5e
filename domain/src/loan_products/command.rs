//! What a loan product can be asked.

use super::LoanTerms;

/// Commands to a loan product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoanProductCommand {
    /// Put it on offer with these terms, or change its terms for applications from now on.
    Define(Box<LoanTerms>),
    /// Put a new product on offer.
    Create(Box<LoanTerms>),
    /// Change the terms of one that is there, for applications from now on.
    Change(Box<LoanTerms>),
}
