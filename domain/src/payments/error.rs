//! Why a payment command is refused. Refusals about money come from the ledger.

crate::rejections! {
    /// Refusals of a payment.
    pub enum PaymentError {
        /// The transaction id was used before.
        AlreadyMade: Conflict "INVALID_STATE" = "the payment was made already",
        /// Source and destination are one account.
        SameAccount: Unprocessable "SAME_ACCOUNT" = "source and destination are the same account",
        /// Source or destination cannot take part in a payment of this kind.
        WrongAccounts: Unprocessable "WRONG_ACCOUNTS" =
            "these accounts cannot take part in a payment of this kind",
    }
}
