//! Why a loan command is refused. Refusals about money come from the ledger.

crate::rejections! {
    /// Refusals of a loan. Sums in minor units.
    pub enum LoanError {
        /// No such loan.
        Unknown: NotFound "NOT_FOUND" = "no such loan",
        /// No such guarantor, collateral or document of this loan.
        UnknownItem {
            /// What it should be.
            thing: &'static str,
        }: NotFound "NOT_FOUND" = "no such {thing}",
        /// Not in this state.
        InvalidState {
            /// The state it is in.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the loan is {state}",
        /// What was handed in is decided about.
        ItemDecided {
            /// What it is.
            thing: &'static str,
            /// The state it is in.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the {thing} is {state}",
        /// The product does not lend so much or so little.
        AmountOutOfRange {
            /// The least.
            least: i64 => "minAmount",
            /// The most.
            most: i64 => "maxAmount",
        }: Unprocessable "AMOUNT_OUT_OF_RANGE" = "the product lends {least} to {most} minor units",
        /// The product does not lend for so long or so short.
        TenureOutOfRange {
            /// The shortest.
            shortest: u32 => "minTenure",
            /// The longest.
            longest: u32 => "maxTenure",
        }: Unprocessable "TENURE_OUT_OF_RANGE" = "the product lends for {shortest} to {longest} months",
        /// More was handed in than anybody would look at.
        TooMany {
            /// Of what.
            thing: &'static str,
            /// At most so many.
            most: usize => "maximum",
        }: Unprocessable "LIMIT_EXCEEDED" = "a loan has at most {most} of {thing}",
        /// Whoever reviewed it may not approve it, whoever approved it may not pay it out, and nobody decides about a loan of
        /// their own.
        SamePerson: Forbidden "SAME_PERSON" = "somebody else must do this: not the borrower, nor who did the step before",
        /// Something is missing that the product asks for.
        DocumentsMissing {
            /// What.
            missing: Vec<&'static str> => "missingDocuments",
        }: Unprocessable "DOCUMENTS_MISSING" = "documents are missing",
        /// Nobody who was verified vouches for it.
        GuarantorMissing: Unprocessable "GUARANTOR_NOT_VERIFIED" = "a verified guarantor is required",
        /// The approval is still good.
        NotExpired: Conflict "NOT_DUE" = "the approval has not expired yet",
        /// More than is owed.
        Overpayment {
            /// What ends the loan.
            payoff: i64 => "payoffAmount",
        }: Unprocessable "OVERPAYMENT" = "the loan is paid off with {payoff} minor units",
        /// In another currency than the loan.
        CurrencyMismatch {
            /// The loan's.
            expected: crate::kernel::Currency => "expectedCurrency",
        }: Unprocessable "CURRENCY_MISMATCH" = "the loan is in {expected}",
        /// Something was booked in the meantime.
        Changed: Conflict "LOAN_CHANGED" = "the loan has changed; try again",
    }
}
