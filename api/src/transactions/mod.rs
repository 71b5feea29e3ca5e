//! Transactions: what can be done about a payment that was made.

mod reversal;

use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(reversal::reverse_transaction))
        .routes(routes!(reversal::reverse_transaction_as_staff))
}
