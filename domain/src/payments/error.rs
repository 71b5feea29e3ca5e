//! Why a payment command is refused. Refusals about money come from the ledger.

use super::PaymentKind;

crate::rejections! {
    /// Refusals of a payment. Sums in minor units.
    pub enum PaymentError {
        /// No such payment.
        Unknown: NotFound "NOT_FOUND" = "no such transaction",
        /// The transaction id was used before.
        AlreadyMade: Conflict "INVALID_STATE" = "the payment was made already",
        /// Source and destination are one account.
        SameAccount: Unprocessable "SAME_ACCOUNT" = "source and destination are the same account",
        /// Source or destination cannot take part in a payment of this kind.
        WrongAccounts: Unprocessable "WRONG_ACCOUNTS" =
            "these accounts cannot take part in a payment of this kind",
        /// The number of whoever is to be paid was erased with the payer's data.
        PayeeErased: Unprocessable "PAYEE_ERASED" = "the number of whoever is to be paid was erased",
        /// Not in this state.
        InvalidState {
            /// The state it is in.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the transaction is {state}",
        /// Payments of this kind are not undone by this party.
        NotReversible {
            /// The kind.
            kind: PaymentKind => "transactionType",
        }: Unprocessable "NOT_REVERSIBLE" = "a {kind} transaction cannot be reversed by you",
        /// The payer came too late.
        TooLateToReverse {
            /// How long a payer has, in minutes.
            minutes: i64 => "windowMinutes",
        }: Unprocessable "REVERSAL_WINDOW_CLOSED" = "a payer may reverse for {minutes} minutes; ask the payee or the bank",
        /// Payments of this kind are not disputed.
        NotDisputable {
            /// The kind.
            kind: PaymentKind => "transactionType",
        }: Unprocessable "NOT_DISPUTABLE" = "a {kind} transaction cannot be disputed by you",
        /// The payer came too late.
        TooLateToDispute {
            /// How long a payer has, in days.
            days: i64 => "windowDays",
        }: Unprocessable "DISPUTE_WINDOW_CLOSED" = "a payment may be disputed for {days} days",
        /// More than is left of the payment.
        DisputeTooLarge {
            /// What is left of it.
            most: i64 => "maximumAmount",
        }: Unprocessable "AMOUNT_OUT_OF_RANGE" = "at most {most} of this payment can be disputed",
        /// Whoever was paid has not enough left. How much they have is their business.
        PayeeShortOfFunds: Unprocessable "INSUFFICIENT_FUNDS" = "the payee's account does not have enough left",
    }
}
