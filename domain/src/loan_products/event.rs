//! What can happen to a loan product.

use serde::{Deserialize, Serialize};

use super::LoanTerms;
use crate::aggregate::{AggregateEvent, names};

/// Events of a loan product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoanProductEvent {
    /// Its terms, from now on.
    Defined(Box<LoanTerms>),
}

impl AggregateEvent for LoanProductEvent {
    names! {
        Defined = "loan_product.defined",
    }
}
