//! Logging in with a device's certificate.

use axum::extract::State;
use bursar_commands::CommandError;
use bursar_commands::certificates::NotProven;
use bursar_commands::sessions::{self, CertificateLogin};
use bursar_domain::Rejection as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::bearer;
use crate::auth::proof::Proof;
use crate::openapi::WriteProblems;
use crate::problem::Problem;
use crate::request;
use crate::request::{Pem, Submission, Text};
use crate::sessions::{DeviceInfo, SessionResult, session_begun};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(login_with_certificate))
}

request! {
    /// A device's certificate, and what its proof is bound to.
    CertificateLoginRequest {
        /// The device's certificate, PEM or base64 of the DER.
        certificate: Pem = "certificate",
        /// The certificates between it and the bank's authority, at most four.
        certificate_chain: Option<Vec<Pem>> = "certificateChain",
        /// Any text that was not used before: the `nonce` of the assertion.
        client_nonce: Text<256> = "clientNonce",
        /// The device that the certificate was issued to.
        device_info: DeviceInfo = "deviceInfo",
    }
}

/// Logs in with a certificate of a device and the proof that its key is at hand.
///
/// The proof is the token of the Authorization header: a JWT that the device's key has signed for this request, with
/// `typ: cert-login+jwt` and `x5t#S256` in its header, and the claims `iss` and `sub` (the device), `aud` (the address of
/// this login), `iat`, `exp` (at most 60 seconds later), `jti` (16 to 128 characters, good once), `nonce` (`clientNonce`) and
/// `bdh` (base64url of the SHA-256 of the body). Whatever is wrong with any of it is answered alike.
#[utoipa::path(
    post, path = "/v1/users/certificate/login", tag = "Authentication",
    request_body = CertificateLoginRequest,
    responses((status = 200, description = "Logged in.", body = SessionResult), WriteProblems)
)]
async fn login_with_certificate(
    State(app): State<App>,
    submission: Submission<CertificateLoginRequest>,
) -> Result<Answer<SessionResult>, Problem> {
    let Submission { body, sent } = submission;
    let device: String = body.device_info.device_id.into();
    sent.scope.limit(app.limits.login(sent.scope.address(), &device).await?)?;
    let refused = || Problem::refused(&NotProven);
    let chain: Vec<String> =
        body.certificate_chain.unwrap_or_default().into_iter().map(|one| one.0).collect();
    let proof = Proof {
        certificate: &body.certificate.0,
        chain: &chain,
        assertion: bearer(&sent.headers).ok_or_else(refused)?,
        device: &device,
        nonce: &body.client_nonce.0,
        body: sent.raw(),
    };
    let now = app.journal.sources().clock.now();
    let proven =
        proof.check(&app.devices.anchor, &app.config.auth.certificate_login_url, now).ok_or_else(refused)?;
    let known = app.devices.certificates.find(&device, &proven.fingerprint).await?;
    let known = known.filter(|known| known.is_valid && known.device_is_active).ok_or_else(refused)?;
    // The assertion is the key of the request: what it has begun once it does not begin again, on no server.
    let context = sent.keyed(&app, &device, &proven.jti);
    let login = CertificateLogin { user: known.owner, device_id: device };
    let begun =
        sessions::login_with_certificate(&app.journal, &app.keys, app.lifetimes(), context, login).await;
    match begun {
        Ok(committed) if !committed.replayed => session_begun(&app, &committed).await,
        Ok(_) => Err(refused()),
        Err(error) if error.code() == Some(NotProven.code()) || is_reuse(&error) => Err(refused()),
        Err(error) => Err(error.into()),
    }
}

/// Whether the assertion was used with another body.
const fn is_reuse(error: &CommandError) -> bool {
    matches!(error, CommandError::Submit(bursar_commands::SubmitError::KeyReused))
}
