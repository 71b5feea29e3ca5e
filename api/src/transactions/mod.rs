//! Transactions: what can be done about a payment that was made.

mod dispute;
mod dispute_views;
mod recurring;
mod recurring_views;
mod reversal;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .merge(dispute::routes())
        .merge(recurring::routes())
        .routes(routes!(reversal::reverse_transaction))
        .routes(routes!(reversal::reverse_transaction_as_staff))
}
