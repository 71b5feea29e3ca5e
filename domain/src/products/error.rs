//! Why a product command is refused.

use crate::kernel::{Rejection, RejectionKind};

/// Refusals of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProductError {
    /// A rate below 0 or above 100 percent a year.
    #[error("an interest rate is between 0 and 100 percent a year")]
    RateOutOfRange,
    /// A negative sum, or a maximum below the minimum.
    #[error("limits and balances of a product are not negative, and the maximum is not below the minimum")]
    LimitOutOfRange,
}

impl Rejection for ProductError {
    fn code(&self) -> &'static str {
        match self {
            Self::RateOutOfRange => "RATE_OUT_OF_RANGE",
            Self::LimitOutOfRange => "LIMIT_OUT_OF_RANGE",
        }
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Unprocessable
    }
}
