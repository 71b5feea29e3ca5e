//! What a token allows.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! permissions {
    ($($(#[$doc:meta])* $name:ident = $text:literal,)*) => {
        /// A permission, spelled in tokens as in the interface (`READ_ACCOUNT`).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Permission {$(
            $(#[$doc])*
            #[serde(rename = $text)]
            $name,
        )*}

        impl Permission {
            /// Every permission there is.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Its spelling in tokens, problem bodies and on the command line.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {$(Self::$name => $text,)*}
            }
        }
    };
}

permissions! {
    /// Read one's own accounts, cards, loans, payments, mandates, billers, transactions.
    ReadAccount = "READ_ACCOUNT",
    /// Write to one's own payments, transactions, mandates, cards, loans, accounts.
    WriteTransactions = "WRITE_TRANSACTIONS",
    /// One's own profile, compliance records, devices, communities, messages.
    ManageProfile = "MANAGE_PROFILE",
    /// Only finish a login with a second factor.
    MfaVerify = "MFA_VERIFY",
    /// Staff: review loan applications.
    LoanReview = "LOAN_REVIEW",
    /// Staff: approve loans.
    LoanApprove = "LOAN_APPROVE",
    /// Staff: disburse loans.
    LoanDisburse = "LOAN_DISBURSE",
    /// Staff: resolve disputes.
    DisputeResolve = "DISPUTE_RESOLVE",
    /// Staff: verify documents and compliance records.
    KycVerify = "KYC_VERIFY",
    /// Staff: deposit, withdraw, freeze, unfreeze, close accounts.
    AccountOps = "ACCOUNT_OPS",
    /// Staff: activate cards.
    CardOps = "CARD_OPS",
    /// Staff: activate and revoke devices.
    DeviceOps = "DEVICE_OPS",
    /// Staff: define products.
    ProductAdmin = "PRODUCT_ADMIN",
    /// Staff: read the event log and its proofs.
    AuditRead = "AUDIT_READ",
    /// Staff: rebuild read models.
    OpsRebuild = "OPS_REBUILD",
    /// Staff: erase a person.
    PiiErase = "PII_ERASE",
    /// Staff: grant staff permissions.
    StaffAdmin = "STAFF_ADMIN",
}

impl Permission {
    /// What every customer has over their own resources.
    pub const CUSTOMER: &'static [Self] = &[Self::ReadAccount, Self::WriteTransactions, Self::ManageProfile];
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// No permission of that name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no such permission")]
pub struct UnknownPermission;

impl FromStr for Permission {
    type Err = UnknownPermission;

    fn from_str(text: &str) -> Result<Self, UnknownPermission> {
        Self::ALL.iter().copied().find(|p| p.as_str() == text).ok_or(UnknownPermission)
    }
}
