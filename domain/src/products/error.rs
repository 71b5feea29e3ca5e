//! Why a product command is refused.

crate::rejections! {
    /// Refusals of a product.
    pub enum ProductError {
        /// No such product.
        Unknown: NotFound "NOT_FOUND" = "no such product",
        /// There is one of this code.
        Exists: Conflict "PRODUCT_EXISTS" = "there is a product of this code",
        /// A rate below 0 or above 100 percent a year.
        RateOutOfRange: Unprocessable "RATE_OUT_OF_RANGE" =
            "an interest rate is between 0 and 100 percent a year",
        /// A negative sum, or a maximum below the minimum.
        LimitOutOfRange: Unprocessable "LIMIT_OUT_OF_RANGE" =
            "limits and balances of a product are not negative, and the maximum is not below the minimum",
    }
}
