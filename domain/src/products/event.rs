//! What can happen to a product.

use serde::{Deserialize, Serialize};

use super::ProductTerms;
use crate::aggregate::{AggregateEvent, names};

/// Events of a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProductEvent {
    /// Its terms, from now on.
    Defined(Box<ProductTerms>),
}

impl AggregateEvent for ProductEvent {
    names! {
        Defined = "product.defined",
    }
}
