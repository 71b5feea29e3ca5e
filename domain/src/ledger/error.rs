//! Why the ledger says no.

use serde_json::{Value, json};

use super::AccountStatus;
use crate::kernel::{AccountNumber, Currency, Rejection, RejectionKind};

/// One named reason for each refusal. Sums in minor units.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LedgerError {
    /// More than is available.
    #[error("the available balance of {account} is {available} {currency} (minor units)")]
    InsufficientFunds {
        /// The account to be debited.
        account: AccountNumber,
        /// What a debit may take.
        available: i64,
        /// Its currency.
        currency: Currency,
    },
    /// A limit of the account would be passed.
    #[error("{limit} of {account} is {allowed}, {remaining} of it is left (minor units)")]
    LimitExceeded {
        /// The account.
        account: AccountNumber,
        /// Which limit, by its field name.
        limit: &'static str,
        /// The limit.
        allowed: i64,
        /// What is left of it.
        remaining: i64,
    },
    /// A credit would lift the account above the most its product allows.
    #[error("account {account} cannot take this amount")]
    AboveMaximum {
        /// The account to be credited.
        account: AccountNumber,
    },
    /// The account's status does not let money move this way.
    #[error("account {account} is {}", status.as_str())]
    NotActive {
        /// The account.
        account: AccountNumber,
        /// Its status.
        status: AccountStatus,
    },
    /// A posting in another currency than the account's.
    #[error("account {account} is in {expected}, not in {actual}")]
    CurrencyMismatch {
        /// The account.
        account: AccountNumber,
        /// Its currency.
        expected: Currency,
        /// The posting's.
        actual: Currency,
    },
    /// No such account.
    #[error("no account {account}")]
    UnknownAccount {
        /// The number asked for.
        account: AccountNumber,
    },
    /// The number is taken.
    #[error("account {account} exists already")]
    AccountExists {
        /// The number.
        account: AccountNumber,
    },
    /// An account with a balance cannot be closed.
    #[error("account {account} is not empty")]
    NotEmpty {
        /// The account.
        account: AccountNumber,
    },
    /// The postings of one movement do not sum to zero, or one of them is zero.
    #[error("the postings do not balance")]
    Unbalanced,
    /// A balance would leave 64 bits.
    #[error("the balance would not fit into 64 bits")]
    Overflow,
}

impl Rejection for LedgerError {
    fn code(&self) -> &'static str {
        match self {
            Self::InsufficientFunds { .. } => "INSUFFICIENT_FUNDS",
            Self::LimitExceeded { .. } | Self::AboveMaximum { .. } => "LIMIT_EXCEEDED",
            Self::NotActive { .. } => "INVALID_STATE",
            Self::CurrencyMismatch { .. } => "CURRENCY_MISMATCH",
            Self::UnknownAccount { .. } => "NOT_FOUND",
            Self::AccountExists { .. } => "ACCOUNT_EXISTS",
            Self::NotEmpty { .. } => "ACCOUNT_NOT_EMPTY",
            Self::Unbalanced => "UNBALANCED",
            Self::Overflow => "AMOUNT_OUT_OF_RANGE",
        }
    }

    fn kind(&self) -> RejectionKind {
        match self {
            Self::InsufficientFunds { .. }
            | Self::LimitExceeded { .. }
            | Self::AboveMaximum { .. }
            | Self::CurrencyMismatch { .. }
            | Self::Unbalanced
            | Self::Overflow => RejectionKind::Unprocessable,
            Self::NotActive { .. } | Self::AccountExists { .. } | Self::NotEmpty { .. } => {
                RejectionKind::Conflict
            }
            Self::UnknownAccount { .. } => RejectionKind::NotFound,
        }
    }

    fn members(&self) -> Vec<(&'static str, Value)> {
        match self {
            Self::InsufficientFunds { available, currency, .. } => {
                vec![("availableBalance", json!(available)), ("currency", json!(currency))]
            }
            Self::LimitExceeded { limit, allowed, remaining, .. } => {
                vec![("limit", json!(limit)), ("allowed", json!(allowed)), ("remaining", json!(remaining))]
            }
            Self::AboveMaximum { .. } => vec![("limit", json!("maximumBalance"))],
            Self::NotActive { status, .. } => vec![("currentState", json!(status))],
            Self::CurrencyMismatch { expected, .. } => vec![("expectedCurrency", json!(expected))],
            Self::UnknownAccount { .. }
            | Self::AccountExists { .. }
            | Self::NotEmpty { .. }
            | Self::Unbalanced
            | Self::Overflow => Vec::new(),
        }
    }
}
