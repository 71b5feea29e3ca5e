//! What can happen to a product.

use serde::{Deserialize, Serialize};

use super::ProductTerms;
use crate::aggregate::AggregateEvent;

/// Events of a product.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProductEvent {
    /// Its terms, from now on.
    Defined(Box<ProductTerms>),
}

impl AggregateEvent for ProductEvent {
    fn name(&self) -> &'static str {
        match self {
            Self::Defined(_) => "product.defined",
        }
    }
}
