//! Why an account command is refused.

use crate::ledger::AccountStatus;

crate::rejections! {
    /// Refusals of an account. Sums in minor units.
    pub enum AccountError {
        /// No account of that number.
        Unknown: NotFound "NOT_FOUND" = "no such account",
        /// The number drawn is in use; draw another.
        NumberTaken: Conflict "ACCOUNT_EXISTS" = "the account number is taken",
        /// The product cannot be opened now.
        ProductNotOffered: Unprocessable "PRODUCT_NOT_OFFERED" = "the product is not on offer",
        /// The product opens another kind of account.
        WrongProduct: Unprocessable "WRONG_PRODUCT" = "the product does not open accounts of this type",
        /// A savings plan on an account that has none.
        PlanNotAllowed: Unprocessable "PLAN_NOT_ALLOWED" = "only a TARGET_SAVINGS account has a savings plan",
        /// Less than the product asks for.
        BelowMinimumDeposit {
            /// The least.
            minimum: i64 => "minimumDeposit",
        }: Unprocessable "BELOW_MINIMUM_DEPOSIT" =
            "the product asks for an initial deposit of at least {minimum} minor units",
        /// The plan of a target savings account does not let it be closed yet.
        EarlyClosure {
            /// When it ends.
            maturity: jiff::Timestamp => "maturityDate",
        }: Unprocessable "EARLY_CLOSURE_NOT_ALLOWED" = "the account is not to be closed before {maturity}",
        /// Somebody used it in the meantime, or it is not silent for long enough.
        NotSilent: Conflict "NOT_DUE" = "the account is in use",
        /// A statement of these days was sent, or is not due.
        NoStatementDue: Conflict "NOT_DUE" = "no statement of these days is due",
        /// Not in this state.
        InvalidState {
            /// The state it is in.
            status: AccountStatus => "currentState",
        }: Conflict "INVALID_STATE" = "the account is {status}",
    }
}
