//! The past moment that a read can be about.

use bursar_projections::statement_entries::AsOf;

use crate::app::App;
use crate::problem::Problem;
use crate::query;

query! {
    /// When.
    PastQuery {
        /// The moment; now when absent.
        as_of: Option<AsOf> = "asOf",
    }
}

/// Whether the log goes so far.
///
/// # Errors
/// 400 for a position in the future.
pub(crate) fn within_log(app: &App, as_of: Option<AsOf>) -> Result<(), Problem> {
    match as_of {
        Some(AsOf::Position(position)) if position > *app.journal.head().borrow() => {
            Err(Problem::bad_request("/asOfPosition", "OUT_OF_RANGE", "asOfPosition is in the future"))
        }
        Some(AsOf::Position(_) | AsOf::Time(_)) | None => Ok(()),
    }
}
