//! Why a payment command is refused. Refusals about money come from the ledger.

use crate::kernel::{Rejection, RejectionKind};

/// Refusals of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PaymentError {
    /// The transaction id was used before.
    #[error("the payment was made already")]
    AlreadyMade,
    /// Source and destination are one account.
    #[error("source and destination are the same account")]
    SameAccount,
    /// Source or destination cannot take part in a payment of this kind.
    #[error("these accounts cannot take part in a payment of this kind")]
    WrongAccounts,
}

impl Rejection for PaymentError {
    fn code(&self) -> &'static str {
        match self {
            Self::AlreadyMade => "INVALID_STATE",
            Self::SameAccount => "SAME_ACCOUNT",
            Self::WrongAccounts => "WRONG_ACCOUNTS",
        }
    }

    fn kind(&self) -> RejectionKind {
        match self {
            Self::AlreadyMade => RejectionKind::Conflict,
            Self::SameAccount | Self::WrongAccounts => RejectionKind::Unprocessable,
        }
    }
}
