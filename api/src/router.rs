//! Every route of the server, in one place.

use axum::Router;
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_swagger_ui::SwaggerUi;

use crate::app::App;
use crate::edge::edge;
use crate::problem::Problem;
use crate::{
    accounts, approvals, audit, banks, beneficiaries, billers, cards, certificates, closures, communities,
    compliance, console, datasets, devices, documents, events, loans, mandates, messages, mfa, openapi,
    operations, passwords, payments, permissions, products, rebuilds, sandbox, schedule, sessions, staff,
    subjects, tags, transactions, users, webhooks,
};

/// The routes of the interface, documented; `sandbox` adds those of a test bank.
fn documented(sandboxed: bool) -> OpenApiRouter<App> {
    let routes = OpenApiRouter::with_openapi(openapi::base())
        .merge(sessions::routes())
        .merge(payments::routes())
        .merge(accounts::routes())
        .merge(approvals::routes())
        .merge(audit::routes())
        .merge(beneficiaries::routes())
        .merge(cards::routes())
        .merge(closures::routes())
        .merge(communities::routes())
        .merge(compliance::routes())
        .merge(console::routes())
        .merge(banks::routes())
        .merge(billers::routes())
        .merge(datasets::routes())
        .merge(loans::routes())
        .merge(devices::routes())
        .merge(events::routes())
        .merge(mandates::routes())
        .merge(messages::routes())
        .merge(documents::routes())
        .merge(products::routes())
        .merge(rebuilds::routes())
        .merge(certificates::routes())
        .merge(mfa::routes())
        .merge(passwords::routes())
        .merge(permissions::routes())
        .merge(schedule::routes())
        .merge(staff::routes())
        .merge(subjects::routes())
        .merge(tags::routes())
        .merge(transactions::routes())
        .merge(users::routes())
        .merge(webhooks::routes())
        .merge(operations::routes());
    if sandboxed { routes.merge(sandbox::routes()) } else { routes }
}

/// The OpenAPI document, sandbox routes included: what `api/openapi.json` holds.
#[must_use]
pub fn document() -> OpenApi {
    documented(true).into_openapi()
}

/// The whole server: routes, document, `/docs`, and the edge around them.
pub fn router(app: App) -> Router {
    let (routes, document) = documented(app.config.sandbox).split_for_parts();
    routes
        .merge(SwaggerUi::new("/docs").url("/openapi.json", document))
        .fallback(|| async { Problem::not_found("resource") })
        .method_not_allowed_fallback(|| async {
            Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "METHOD_NOT_ALLOWED",
                "this resource has no such method",
            )
        })
        .layer(from_fn_with_state(app.clone(), edge))
        .with_state(app)
}
