//! Why a recurrence command is refused.

use crate::kernel::SeriesError;
use crate::payments::PaymentKind;

crate::rejections! {
    /// Refusals of a recurrence.
    pub enum RecurrenceError {
        /// No such recurrence.
        Unknown: NotFound "NOT_FOUND" = "no such recurrence",
        /// Not in this state.
        InvalidState {
            /// The state it is in.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the recurrence is {state}",
        /// The day is done, or not the next one.
        NotDue: Conflict "NOT_DUE" = "nothing is due on that day",
        /// No day is left from today to the end.
        NothingToExecute: Unprocessable "NOTHING_TO_EXECUTE" =
            "no execution falls between today, startDate and endDate",
        /// Only payments that the caller made are repeated.
        NotRepeatable {
            /// The kind.
            kind: PaymentKind => "transactionType",
        }: Unprocessable "NOT_REPEATABLE" = "a {kind} transaction cannot be repeated by you",
    }
}

impl From<SeriesError> for RecurrenceError {
    fn from(error: SeriesError) -> Self {
        match error {
            SeriesError::Unknown => Self::Unknown,
            SeriesError::InvalidState(status) => Self::InvalidState { state: status.as_str() },
            SeriesError::NotDue => Self::NotDue,
            SeriesError::NothingToExecute => Self::NothingToExecute,
        }
    }
}
