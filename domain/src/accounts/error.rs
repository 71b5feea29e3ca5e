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
        /// Not in this state.
        InvalidState {
            /// The state it is in.
            status: AccountStatus => "currentState",
        }: Conflict "INVALID_STATE" = "the account is {status}",
    }
}
