//! Why a command to a person's records is refused.

use serde::Serialize;

use super::event::VerificationStatus;
use super::id::RecordId;

crate::rejections! {
    /// Refusals of a person's records.
    pub enum ComplianceError {
        /// No record of that id is theirs.
        Unknown: NotFound "NOT_FOUND" = "no such record",
        /// Another address has the type.
        TypeTaken {
            /// Which.
            address_id: RecordId => "addressId",
        }: Conflict "ADDRESS_EXISTS" = "the address {address_id} is of this type already",
        /// There are the most of a kind.
        Full {
            /// What there would be too many of.
            limit: &'static str => "limit",
            /// How many.
            allowed: usize => "allowed",
        }: Unprocessable "LIMIT_EXCEEDED" = "there can be at most {allowed} {limit}",
        /// Staff have looked at it already, and nothing has changed since.
        Settled {
            /// What they found.
            state: VerificationStatus => "currentState",
        }: Conflict "INVALID_STATE" = "the record is {state}",
        /// What it would say does not fit together.
        Misfits {
            /// Which fields.
            errors: Vec<Misfit> => "errors",
        }: Invalid "VALIDATION_FAILED" = "the request is not valid",
    }
}

/// A field that does not fit the others or the day, in the form of a field error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Misfit {
    /// JSON pointer to it.
    pub pointer: &'static str,
    /// `OUT_OF_RANGE`.
    pub code: &'static str,
    /// For people.
    pub message: &'static str,
}

impl Misfit {
    pub(super) const fn of(pointer: &'static str, message: &'static str) -> Self {
        Self { pointer, code: "OUT_OF_RANGE", message }
    }
}
