//! Why a card command is refused.

use super::{CardExpiry, CardStatus};
use crate::kernel::Currency;

crate::rejections! {
    /// Refusals of a card. Sums in minor units.
    pub enum CardError {
        /// No such card, or it was removed.
        Unknown: NotFound "NOT_FOUND" = "no such card",
        /// It is linked.
        Exists: Conflict "CARD_EXISTS" = "this card is linked already",
        /// Enough for today: who tries out numbers that are not theirs does not get far.
        TooManyLinks {
            /// Cards a day.
            allowed: u32 => "limit",
            /// Seconds until tomorrow.
            retry_after: i64 => "retryAfter",
        }: Throttled "TOO_MANY_CARDS" = "no more than {allowed} cards are linked in a day",
        /// It was reported lost or stolen.
        Reported: Conflict "CARD_REPORTED" = "this card was reported lost or stolen",
        /// Not in this state.
        InvalidState {
            /// The state it is in.
            status: CardStatus => "currentState",
        }: Conflict "INVALID_STATE" = "the card is {status}",
        /// Nobody issues numbers that begin like this one.
        UnknownBrand: Unprocessable "CARD_NOT_SUPPORTED" = "cards of this kind are not supported",
        /// The bank issues no cards of this brand.
        NotIssued: Unprocessable "CARD_NOT_OFFERED" = "the bank issues no cards of this brand",
        /// It spends an account here already.
        Own: Unprocessable "OWN_CARD" = "the card spends the money of an account here: transfer from that one",
        /// More than the bank lets anybody spend.
        LimitTooHigh {
            /// Which limit, by its field name.
            limit: &'static str => "limit",
            /// The most it can be.
            allowed: i64 => "allowed",
        }: Unprocessable "LIMIT_TOO_HIGH" = "{limit} is at most {allowed} (minor units)",
        /// Its last month is over.
        Expired {
            /// That month.
            expiry: CardExpiry => "expiryDate",
        }: Unprocessable "CARD_EXPIRED" = "the card was good until {expiry}",
        /// It is charged in another currency.
        CurrencyMismatch {
            /// Its currency.
            expected: Currency => "expectedCurrency",
            /// The payment's.
            actual: Currency,
        }: Unprocessable "CURRENCY_MISMATCH" = "the card is charged in {expected}, not in {actual}",
        /// A limit of the card would be passed.
        LimitExceeded {
            /// Which limit, by its field name.
            limit: &'static str => "limit",
            /// The limit.
            allowed: i64 => "allowed",
            /// What is left of it.
            remaining: i64 => "remaining",
        }: Unprocessable "LIMIT_EXCEEDED" =
            "{limit} of the card is {allowed}, {remaining} of it is left (minor units)",
        /// The sums would leave 64 bits.
        Overflow: Unprocessable "AMOUNT_OUT_OF_RANGE" = "the sum would not fit into 64 bits",
    }
}
