//! What anybody may know of the bank's certificate authority.

use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use bursar_commands::pki::Withdrawn;
use bursar_projections::device_certificates::revoked;
use jiff::SignedDuration;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::app::App;
use crate::openapi::PublicProblems;
use crate::problem::Problem;

/// The routes of this file.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(read_authority)).routes(routes!(read_revocations))
}

/// A document that programs keep for a while.
type Document = ([(HeaderName, HeaderValue); 2], Vec<u8>);

fn document(media: &'static str, body: Vec<u8>) -> Document {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static(media)),
        (CACHE_CONTROL, HeaderValue::from_static("public, max-age=60")),
    ];
    (headers, body)
}

/// The certificates that vouch for those of devices: issuing, then root (PEM).
#[utoipa::path(
    get, path = "/pki/ca.pem", tag = "Devices", security(()),
    responses((status = 200, description = "Two certificates.", body = String, content_type = "application/x-pem-file"))
)]
async fn read_authority(State(app): State<App>) -> Document {
    document("application/x-pem-file", app.authority.chain().into_bytes())
}

/// The revocation list of devices' certificates (RFC 5280, DER), signed.
#[utoipa::path(
    get, path = "/pki/crl", tag = "Devices", security(()),
    responses(
        (status = 200, description = "The list.", body = Vec<u8>, content_type = "application/pkix-crl"),
        PublicProblems
    )
)]
async fn read_revocations(State(app): State<App>) -> Result<Document, Problem> {
    let now = app.journal.sources().clock.now();
    let rows = revoked(&app.pool, now).await?;
    let withdrawn: Vec<_> = rows
        .into_iter()
        .filter_map(|row| Some(Withdrawn { serial: row.serial, at: row.revoked_at? }))
        .collect();
    let lasts = SignedDuration::from_secs(app.config.devices.revocation_list_seconds.into());
    let list = app.authority.revocation_list(&withdrawn, now, lasts).map_err(|error| {
        tracing::error!(%error, "the revocation list cannot be written");
        Problem::internal()
    })?;
    Ok(document("application/pkix-crl", list))
}
