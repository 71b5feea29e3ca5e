//! Why a command to an application is refused. Refusals about the account and its money come from the ledger.

crate::rejections! {
    /// Refusals of an application to close an account.
    pub enum ClosureError {
        /// No such application.
        Unknown: NotFound "NOT_FOUND" = "no such application",
        /// Not in this state.
        InvalidState {
            /// The state it is in.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the application is {state}",
        /// Whoever approved it may not finish it, and nobody decides about an account of their own.
        SamePerson: Forbidden "SAME_PERSON" = "somebody else must do this: not the customer, nor who approved it",
        /// There is money in the account, and nowhere to pay it to.
        NoTransferAccount {
            /// How much, minor units.
            balance: i64 => "ledgerBalance",
        }: Unprocessable "TRANSFER_ACCOUNT_REQUIRED" = "there are {balance} minor units in the account, and no account to pay them to",
        /// The account owes money.
        Overdrawn {
            /// How much it has, minor units: less than nothing.
            balance: i64 => "ledgerBalance",
        }: Unprocessable "ACCOUNT_OVERDRAWN" = "the account is overdrawn: {balance} minor units",
        /// The balance of an account cannot be paid to itself.
        SameAccount: Unprocessable "SAME_ACCOUNT" = "the balance must go to another account",
    }
}
