//! Why a mandate command is refused.

use crate::kernel::{Frequency, NoSuchDay, SeriesError};

crate::rejections! {
    /// Refusals of a mandate.
    pub enum MandateError {
        /// No such mandate.
        Unknown: NotFound "NOT_FOUND" = "no such mandate",
        /// Not in this state.
        InvalidState {
            /// The state it is in.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the mandate is {state}",
        /// The day is done, or not the next one.
        NotDue: Conflict "NOT_DUE" = "nothing is due on that day",
        /// No day is left from today to the end.
        NothingToExecute: Unprocessable "NOTHING_TO_EXECUTE" =
            "no execution falls between today, startDate and endDate",
        /// It would end before it begins.
        EndsTooEarly: Unprocessable "NOTHING_TO_EXECUTE" = "endDate is before startDate",
        /// The frequency has no such day.
        NoSuchDay {
            /// How often.
            frequency: Frequency => "frequency",
            /// The largest day it has.
            most: i8 => "largestDay",
        }: Unprocessable "DAY_OUT_OF_RANGE" = "a {frequency} day is 1 to {most}",
    }
}

impl From<SeriesError> for MandateError {
    fn from(error: SeriesError) -> Self {
        match error {
            SeriesError::Unknown => Self::Unknown,
            SeriesError::InvalidState(status) => Self::InvalidState { state: status.as_str() },
            SeriesError::NotDue => Self::NotDue,
            SeriesError::NothingToExecute => Self::NothingToExecute,
        }
    }
}

impl From<NoSuchDay> for MandateError {
    fn from(NoSuchDay { frequency, most }: NoSuchDay) -> Self {
        Self::NoSuchDay { frequency, most }
    }
}
