//! Transactions: reading those that were made.

mod read;
mod receipt;
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
}
