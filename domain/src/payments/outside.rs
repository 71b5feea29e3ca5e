//! Whoever is at the other end of a payment that leaves the bank or comes into it.

use serde::{Deserialize, Serialize};

use crate::beneficiaries::Payee;
use crate::kernel::Personal;
use crate::ledger::Channel;

/// Somebody outside the bank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outside {
    /// An account of another bank.
    Bank {
        /// The bank's code.
        bank_code: String,
        /// Its name.
        bank_name: String,
        /// The account's number there.
        account_number: Personal<String>,
    },
    /// A mobile wallet.
    Wallet {
        /// Who runs it: a code that the bank has a settlement account for.
        provider: String,
        /// E.164.
        phone_number: Personal<String>,
    },
    /// A customer of a biller.
    Biller {
        /// The biller's code.
        biller_id: String,
        /// Its name.
        biller_name: String,
        /// The customer's number there.
        account_number: Personal<String>,
        /// `POSTPAID`, `PREPAID` ..., as the payer said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        payment_type: Option<String>,
    },
    /// A card.
    Card {
        /// Its id.
        card_id: String,
        /// Its number, all but the last four digits masked.
        masked_number: String,
    },
}

impl Outside {
    /// The way to them.
    #[must_use]
    pub fn channel(&self) -> Channel {
        match self {
            Self::Bank { .. } => Channel::Banks,
            Self::Wallet { provider, .. } => Channel::Wallet(provider.as_str().into()),
            Self::Biller { biller_id, .. } => Channel::Biller(biller_id.as_str().into()),
            Self::Card { .. } => Channel::Cards,
        }
    }

    /// As a list of beneficiaries names them; a card is in no list.
    #[must_use]
    pub fn payee(&self) -> Option<Payee> {
        match self {
            Self::Bank { bank_code, account_number, .. } => {
                Some(Payee::External { bank_code: bank_code.clone(), account_number: account_number.clone() })
            }
            Self::Wallet { provider, phone_number } => {
                Some(Payee::Wallet { provider: provider.clone(), phone_number: phone_number.clone() })
            }
            Self::Biller { biller_id, account_number, .. } => {
                Some(Payee::Biller { biller_id: biller_id.clone(), account_number: account_number.clone() })
            }
            Self::Card { .. } => None,
        }
    }

    /// The code of the bank or biller, or the wallet provider; none for a card.
    #[must_use]
    pub fn institution(&self) -> Option<&str> {
        match self {
            Self::Bank { bank_code, .. } => Some(bank_code),
            Self::Wallet { provider, .. } => Some(provider),
            Self::Biller { biller_id, .. } => Some(biller_id),
            Self::Card { .. } => None,
        }
    }

    /// The name of the bank or biller.
    #[must_use]
    pub fn institution_name(&self) -> Option<&str> {
        match self {
            Self::Bank { bank_name, .. } => Some(bank_name),
            Self::Biller { biller_name, .. } => Some(biller_name),
            Self::Wallet { .. } | Self::Card { .. } => None,
        }
    }

    /// Whether the number there can be read: not once the person is erased who wrote it down.
    #[must_use]
    pub const fn is_readable(&self) -> bool {
        match self {
            Self::Bank { account_number: number, .. }
            | Self::Biller { account_number: number, .. }
            | Self::Wallet { phone_number: number, .. } => number.get().is_some(),
            Self::Card { .. } => true,
        }
    }

    /// The number there, as it is shown to the customer.
    #[must_use]
    pub fn number(&self) -> &str {
        match self {
            Self::Bank { account_number, .. } | Self::Biller { account_number, .. } => {
                account_number.or_erased()
            }
            Self::Wallet { phone_number, .. } => phone_number.or_erased(),
            Self::Card { masked_number, .. } => masked_number,
        }
    }
}
