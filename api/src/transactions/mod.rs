//! Transactions: reading those that were made, and what can be done about them.

mod dispute;
mod dispute_views;
mod read;
mod receipt;
mod recurring;
mod recurring_views;
mod reversal;
mod staff;
mod views;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(read::list_transactions))
        .routes(routes!(read::read_transaction))
        .routes(routes!(receipt::read_receipt))
        .routes(routes!(staff::find_transactions))
        .routes(routes!(staff::read_transaction_as_staff))
        .merge(dispute::routes())
        .merge(recurring::routes())
        .routes(routes!(reversal::reverse_transaction))
        .routes(routes!(reversal::reverse_transaction_as_staff))
}
