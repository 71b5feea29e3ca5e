//! Why an account command is refused.

use serde_json::{Value, json};

use crate::kernel::{Rejection, RejectionKind};
use crate::ledger::AccountStatus;

/// Refusals of an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccountError {
    /// No account of that number.
    #[error("no such account")]
    Unknown,
    /// The number drawn is in use; draw another.
    #[error("the account number is taken")]
    NumberTaken,
    /// The product cannot be opened now.
    #[error("the product is not on offer")]
    ProductNotOffered,
    /// The product opens another kind of account.
    #[error("the product does not open accounts of this type")]
    WrongProduct,
    /// A savings plan on an account that has none.
    #[error("only a TARGET_SAVINGS account has a savings plan")]
    PlanNotAllowed,
    /// Less than the product asks for.
    #[error("the product asks for an initial deposit of at least {minimum} minor units")]
    BelowMinimumDeposit {
        /// The least, minor units.
        minimum: i64,
    },
    /// Not in this state.
    #[error("the account is {}", .0.as_str())]
    InvalidState(AccountStatus),
}

impl Rejection for AccountError {
    fn code(&self) -> &'static str {
        match self {
            Self::Unknown => "NOT_FOUND",
            Self::NumberTaken => "ACCOUNT_EXISTS",
            Self::ProductNotOffered => "PRODUCT_NOT_OFFERED",
            Self::WrongProduct => "WRONG_PRODUCT",
            Self::PlanNotAllowed => "PLAN_NOT_ALLOWED",
            Self::BelowMinimumDeposit { .. } => "BELOW_MINIMUM_DEPOSIT",
            Self::InvalidState(_) => "INVALID_STATE",
        }
    }

    fn kind(&self) -> RejectionKind {
        match self {
            Self::Unknown => RejectionKind::NotFound,
            Self::NumberTaken | Self::InvalidState(_) => RejectionKind::Conflict,
            Self::ProductNotOffered
            | Self::WrongProduct
            | Self::PlanNotAllowed
            | Self::BelowMinimumDeposit { .. } => RejectionKind::Unprocessable,
        }
    }

    fn members(&self) -> Vec<(&'static str, Value)> {
        match self {
            Self::InvalidState(status) => vec![("currentState", json!(status))],
            Self::BelowMinimumDeposit { minimum } => vec![("minimumDeposit", json!(minimum))],
            Self::Unknown
            | Self::NumberTaken
            | Self::ProductNotOffered
            | Self::WrongProduct
            | Self::PlanNotAllowed => Vec::new(),
        }
    }
}
