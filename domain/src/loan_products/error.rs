//! Why a loan product command is refused.

crate::rejections! {
    /// Refusals of a loan product.
    pub enum LoanProductError {
        /// No such product, or it cannot be applied for.
        Unknown: NotFound "NOT_FOUND" = "no such loan product",
        /// There is one of this code.
        Exists: Conflict "PRODUCT_EXISTS" = "there is a product of this code",
        /// A rate that no schedule can be made of, or fees of more than the loan.
        RateOutOfRange: Unprocessable "RATE_OUT_OF_RANGE" =
            "rates and fees are 0 to 100 percent, with at most six decimals; all fees together are at most 100 percent",
        /// An empty range of amounts.
        AmountOutOfRange: Unprocessable "AMOUNT_OUT_OF_RANGE" =
            "the least amount is at least 1 and not above the largest, which is at most 10^15",
        /// An empty range of tenures.
        TenureOutOfRange: Unprocessable "TENURE_OUT_OF_RANGE" =
            "the shortest tenure is at least 1 month and not above the longest, which is at most 480",
    }
}
