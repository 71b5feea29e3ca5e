//! What can happen to a list of beneficiaries.

use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, names};
use crate::kernel::{AccountNumber, BeneficiaryId, Personal};

/// Events of a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BeneficiariesEvent {
    /// Somebody is in it.
    Added(Box<Beneficiary>),
    /// Somebody is in it no more.
    Removed {
        /// Who.
        id: BeneficiaryId,
    },
}

/// An entry of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beneficiary {
    /// Its id.
    pub id: BeneficiaryId,
    /// Whom it pays.
    pub payee: Payee,
    /// The payee's name, as the customer knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Personal<String>>,
    /// The name of the bank or biller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub institution: Option<String>,
    /// What the customer calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nickname: Option<Personal<String>>,
    /// Whether it comes first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_favorite: bool,
}

/// Somebody who can be paid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payee {
    /// An account of this bank.
    Internal {
        /// Its number.
        account_number: AccountNumber,
    },
    /// An account of another bank.
    External {
        /// The bank's code.
        bank_code: String,
        /// The account's number there.
        account_number: Personal<String>,
    },
    /// A customer of a biller.
    Biller {
        /// The biller's code.
        biller_id: String,
        /// The customer's number there.
        account_number: Personal<String>,
    },
    /// A mobile wallet.
    Wallet {
        /// Who runs it.
        provider: String,
        /// E.164.
        phone_number: Personal<String>,
    },
}

crate::spelled! {
    /// How somebody is paid.
    pub enum BeneficiaryKind {
        /// By a transfer to another bank.
        External = "EXTERNAL",
        /// By a transfer inside this bank.
        Internal = "INTERNAL",
        /// By a bill payment.
        Bills = "BILLS",
        /// By a transfer to a mobile wallet.
        Mwallet = "MWALLET",
    }
}

impl Payee {
    /// How they are paid.
    #[must_use]
    pub const fn kind(&self) -> BeneficiaryKind {
        match self {
            Self::Internal { .. } => BeneficiaryKind::Internal,
            Self::External { .. } => BeneficiaryKind::External,
            Self::Biller { .. } => BeneficiaryKind::Bills,
            Self::Wallet { .. } => BeneficiaryKind::Mwallet,
        }
    }

    /// The bank, biller or wallet provider; none for this bank.
    #[must_use]
    pub fn institution(&self) -> Option<&str> {
        match self {
            Self::Internal { .. } => None,
            Self::External { bank_code, .. } => Some(bank_code),
            Self::Biller { biller_id, .. } => Some(biller_id),
            Self::Wallet { provider, .. } => Some(provider),
        }
    }

    /// The account, customer or phone number there.
    #[must_use]
    pub fn number(&self) -> &str {
        match self {
            Self::Internal { account_number } => account_number.as_str(),
            Self::External { account_number, .. } | Self::Biller { account_number, .. } => {
                account_number.or_erased()
            }
            Self::Wallet { phone_number, .. } => phone_number.or_erased(),
        }
    }
}

impl AggregateEvent for BeneficiariesEvent {
    names! {
        Added = "beneficiaries.added",
        Removed = "beneficiaries.removed",
    }
}
