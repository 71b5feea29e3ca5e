//! Why the ledger says no.

use super::{AccountStatus, Bond};
use crate::kernel::{AccountNumber, Currency};

crate::rejections! {
    /// One named reason for each refusal. Sums in minor units.
    pub enum LedgerError {
        /// More than is available.
        InsufficientFunds {
            /// The account to be debited.
            account: AccountNumber,
            /// What a debit may take.
            available: i64 => "availableBalance",
            /// Its currency.
            currency: Currency => "currency",
        }: Unprocessable "INSUFFICIENT_FUNDS" =
            "the available balance of {account} is {available} {currency} (minor units)",
        /// A limit of the account would be passed.
        LimitExceeded {
            /// The account.
            account: AccountNumber,
            /// Which limit, by its field name.
            limit: &'static str => "limit",
            /// The limit.
            allowed: i64 => "allowed",
            /// What is left of it.
            remaining: i64 => "remaining",
        }: Unprocessable "LIMIT_EXCEEDED" =
            "{limit} of {account} is {allowed}, {remaining} of it is left (minor units)",
        /// A credit would lift the account above the most its product allows.
        AboveMaximum {
            /// The account to be credited.
            account: AccountNumber,
            /// `maximumBalance`. How far the account is from it is its holder's business.
            limit: &'static str => "limit",
        }: Unprocessable "LIMIT_EXCEEDED" = "account {account} cannot take this amount",
        /// The account's status does not let money move this way.
        NotActive {
            /// The account.
            account: AccountNumber,
            /// Its status.
            status: AccountStatus => "currentState",
        }: Conflict "INVALID_STATE" = "account {account} is {status}",
        /// A posting in another currency than the account's.
        CurrencyMismatch {
            /// The account.
            account: AccountNumber,
            /// Its currency.
            expected: Currency => "expectedCurrency",
            /// The posting's.
            actual: Currency,
        }: Unprocessable "CURRENCY_MISMATCH" = "account {account} is in {expected}, not in {actual}",
        /// No such account.
        UnknownAccount {
            /// The number asked for.
            account: AccountNumber,
        }: NotFound "NOT_FOUND" = "no account {account}",
        /// The number is taken.
        AccountExists {
            /// The number.
            account: AccountNumber,
        }: Conflict "ACCOUNT_EXISTS" = "account {account} exists already",
        /// An account with a balance cannot be closed.
        NotEmpty {
            /// The account.
            account: AccountNumber,
        }: Conflict "ACCOUNT_NOT_EMPTY" = "account {account} is not empty",
        /// Something needs the account.
        Bound {
            /// The account.
            account: AccountNumber,
            /// What.
            by: Bond => "boundBy",
        }: Conflict "ACCOUNT_BOUND" = "account {account} cannot be given up now: {by}",
        /// The postings of one movement do not sum to zero, or one of them is zero.
        Unbalanced: Unprocessable "UNBALANCED" = "the postings do not balance",
        /// A balance would leave 64 bits.
        Overflow: Unprocessable "AMOUNT_OUT_OF_RANGE" = "the balance would not fit into 64 bits",
    }
}
