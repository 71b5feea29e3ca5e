//! Second factors: enrolling them, and finishing a login with one.

use axum::extract::{FromRequest as _, Request, State};
use bursar_commands::Committed;
use bursar_commands::mfa::{Completion, Method};
use bursar_commands::users::WrongPassword;
use bursar_domain::Event;
use bursar_domain::mfa::MfaEvent;
use bursar_domain::users::User;
use bursar_domain::verifications::VerificationsEvent;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Caller, ManageProfile, MfaVerify, permit};
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::passwords::shown_again;
use crate::problem::Problem;
use crate::request;
use crate::request::{OneOf, Secret, Submission, Text, Write};
use crate::sessions::{SessionResult, session_begun};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(enrol_totp, remove_totp))
        .routes(routes!(confirm_totp))
        .routes(routes!(enrol_sms, remove_sms))
        .routes(routes!(confirm_sms))
        .routes(routes!(verify_factor))
        .routes(routes!(resend_factor))
}

request! {
    /// The password, once more.
    PasswordAgain {
        /// The caller's password.
        password: Secret = "password",
    }
}

request! {
    /// A code.
    CodeShown {
        /// Six digits.
        code: Secret = "code",
    }
}

request! {
    /// A code that finishes a login.
    FactorGiven {
        /// Six digits.
        code: Secret = "code",
        /// Where it comes from.
        method: OneOf<Method> = "method",
        /// The device that the login was begun on.
        device_id: Text<128> = "deviceId",
    }
}

request! {
    /// The device of a login that waits for a code.
    CodeWanted {
        /// The device that the login was begun on.
        device_id: Text<128> = "deviceId",
    }
}

/// An app that was given a secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TotpResult {
    /// `PENDING`, until a code is shown.
    status: &'static str,
    message: &'static str,
    enrolment_id: String,
    /// Base32, to be typed into the app.
    secret: String,
    /// The same as a link, to be shown as a QR code.
    otpauth_uri: String,
}

/// A second factor that changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FactorResult {
    /// `SUCCESS`.
    status: &'static str,
    message: &'static str,
    /// `TOTP` or `SMS`.
    method: &'static str,
    /// Whether it is asked for at logins.
    enabled: bool,
    updated_at: Timestamp,
}

/// A code that is on its way.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CodeSentResult {
    /// `SUCCESS`.
    status: &'static str,
    message: &'static str,
    /// `SMS`.
    method: &'static str,
    expires_at: Timestamp,
    /// When it may be asked for again.
    next_resend_time: Timestamp,
}

/// Gives an authenticator app a secret.
///
/// It counts once the app has shown a code. Asks for the password again, which counts as a login does.
#[utoipa::path(
    post, path = "/v1/users/mfa/totp", tag = "Authentication",
    params(WriteHeaders), request_body = PasswordAgain,
    responses((status = 200, description = "The secret.", body = TotpResult), WriteProblems)
)]
async fn enrol_totp(
    State(app): State<App>,
    write: Write<ManageProfile, PasswordAgain>,
) -> Result<Answer<TotpResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let user = confirmed(&app, &caller, body.password).await?;
    let committed = app.factors.second.enrol_totp(context, caller.user()).await?;
    let (_, id) = committed.event(|event| match event {
        Event::Mfa(MfaEvent::TotpEnrolled { id }) => Some(*id),
        _ => None,
    })?;
    let secret = app.factors.second.secret(caller.user(), id).to_string();
    let name = user.person().and_then(|person| person.email.get()).map_or("", String::as_str);
    let (bank, name) = (escaped(&app.config.bank.name), escaped(name));
    let result = TotpResult {
        status: "PENDING",
        message: "Enter the secret into the app, and confirm with a code",
        enrolment_id: id.to_string(),
        otpauth_uri: format!(
            "otpauth://totp/{bank}:{name}?secret={secret}&issuer={bank}&algorithm=SHA1&digits=6&period=30"
        ),
        secret,
    };
    Ok(Answer::ok(result).at(&committed).secret())
}

/// The app shows its first code, and is asked for one at every login from now on.
#[utoipa::path(
    post, path = "/v1/users/mfa/totp/confirm", tag = "Authentication",
    params(WriteHeaders), request_body = CodeShown,
    responses((status = 200, description = "Enabled.", body = FactorResult), WriteProblems)
)]
async fn confirm_totp(
    State(app): State<App>,
    write: Write<ManageProfile, CodeShown>,
) -> Result<Answer<FactorResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let factors = &app.factors.second;
    changed(&factors.confirm_totp(context, caller.user(), caller.session(), &body.code.0).await?)
}

/// No app is asked for codes any more; it shows a last one.
#[utoipa::path(
    delete, path = "/v1/users/mfa/totp", tag = "Authentication",
    params(WriteHeaders), request_body = CodeShown,
    responses((status = 200, description = "Disabled.", body = FactorResult), WriteProblems)
)]
async fn remove_totp(
    State(app): State<App>,
    write: Write<ManageProfile, CodeShown>,
) -> Result<Answer<FactorResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let factors = &app.factors.second;
    changed(&factors.remove_totp(context, caller.user(), caller.session(), &body.code.0).await?)
}

/// Sends a code to the caller's phone, with which codes by short message are enabled.
///
/// Asks for the password again, which counts as a login does.
#[utoipa::path(
    post, path = "/v1/users/mfa/sms", tag = "Authentication",
    params(WriteHeaders), request_body = PasswordAgain,
    responses((status = 200, description = "On its way.", body = CodeSentResult), WriteProblems)
)]
async fn enrol_sms(
    State(app): State<App>,
    write: Write<ManageProfile, PasswordAgain>,
) -> Result<Answer<CodeSentResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    confirmed(&app, &caller, body.password).await?;
    sent(&app.factors.second.enrol_sms(context, caller.user(), caller.session()).await?)
}

/// The code came through; codes by short message are asked for at every login from now on.
#[utoipa::path(
    post, path = "/v1/users/mfa/sms/confirm", tag = "Authentication",
    params(WriteHeaders), request_body = CodeShown,
    responses((status = 200, description = "Enabled.", body = FactorResult), WriteProblems)
)]
async fn confirm_sms(
    State(app): State<App>,
    write: Write<ManageProfile, CodeShown>,
) -> Result<Answer<FactorResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let factors = &app.factors.second;
    changed(&factors.confirm_sms(context, caller.user(), caller.session(), &body.code.0).await?)
}

/// Codes by short message are not asked for any more.
///
/// Asks for the password again, which counts as a login does.
#[utoipa::path(
    delete, path = "/v1/users/mfa/sms", tag = "Authentication",
    params(WriteHeaders), request_body = PasswordAgain,
    responses((status = 200, description = "Disabled.", body = FactorResult), WriteProblems)
)]
async fn remove_sms(
    State(app): State<App>,
    write: Write<ManageProfile, PasswordAgain>,
) -> Result<Answer<FactorResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    confirmed(&app, &caller, body.password).await?;
    changed(&app.factors.second.remove_sms(context, caller.user()).await?)
}

/// Finishes a login with a second factor.
///
/// The token of the login is worthless afterwards. Each login takes five tries.
#[utoipa::path(
    post, path = "/v1/users/mfa/verify", tag = "Authentication",
    params(WriteHeaders), request_body = FactorGiven,
    responses((status = 200, description = "Logged in.", body = SessionResult), WriteProblems)
)]
async fn verify_factor(State(app): State<App>, request: Request) -> Result<Answer<SessionResult>, Problem> {
    // The token of a login that was finished is good for hearing the answer again.
    let claims = app.auth.identify(request.headers())?;
    let caller = app.auth.authenticate(request.headers()).await;
    if let Ok(caller) = &caller {
        permit::<MfaVerify>(caller)?;
    }
    let Submission { body, sent } = Submission::<FactorGiven>::from_request(request, &app).await?;
    let user = claims.sub.to_string();
    let context = sent.context(&app, &user);
    if !app.journal.knows(&context).await? {
        caller?;
    }
    sent.scope.limit(app.limits.login(sent.scope.address(), &user).await?)?;
    let completion = Completion {
        user: claims.sub,
        session: claims.sid,
        device_id: body.device_id.into(),
        method: body.method.0,
        code: body.code.0,
    };
    let committed = app.factors.second.complete(app.lifetimes(), context, completion).await?;
    session_begun(&app, &committed).await
}

/// Sends the code for a login by short message once more, or for the first time.
#[utoipa::path(
    post, path = "/v1/users/mfa/resend", tag = "Authentication",
    params(WriteHeaders), request_body = CodeWanted,
    responses((status = 200, description = "On its way.", body = CodeSentResult), WriteProblems)
)]
async fn resend_factor(
    State(app): State<App>,
    write: Write<MfaVerify, CodeWanted>,
) -> Result<Answer<CodeSentResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let factors = &app.factors.second;
    sent(&factors.resend(context, caller.user(), caller.session(), &body.device_id.0).await?)
}

/// The caller, who has shown their password again.
///
/// # Errors
/// `WRONG_PASSWORD`; 429 after too many of them.
async fn confirmed(app: &App, caller: &Caller, password: Secret) -> Result<User, Problem> {
    shown_again(app, caller, password).await?.ok_or_else(|| Problem::refused(&WrongPassword))
}

fn changed(committed: &Committed) -> Result<Answer<FactorResult>, Problem> {
    let (recorded, (method, enabled)) = committed.event(|event| match event {
        Event::Mfa(MfaEvent::TotpConfirmed { .. }) => Some((Method::Totp, true)),
        Event::Mfa(MfaEvent::TotpRemoved) => Some((Method::Totp, false)),
        Event::Mfa(MfaEvent::SmsEnrolled) => Some((Method::Sms, true)),
        Event::Mfa(MfaEvent::SmsRemoved) => Some((Method::Sms, false)),
        _ => None,
    })?;
    let result = FactorResult {
        status: "SUCCESS",
        message: if enabled { "It is asked for from now on" } else { "It is not asked for any more" },
        method: method.as_str(),
        enabled,
        updated_at: recorded.recorded_at,
    };
    Ok(Answer::ok(result).at(committed))
}

fn sent(committed: &Committed) -> Result<Answer<CodeSentResult>, Problem> {
    let (_, (expires_at, next_resend_time)) = committed.event(|event| match event {
        Event::Verifications(VerificationsEvent::Issued(issued)) => {
            Some((issued.expires_at, issued.resend_at))
        }
        Event::Verifications(VerificationsEvent::Resent(resent)) => {
            Some((resent.expires_at, resent.resend_at))
        }
        _ => None,
    })?;
    let result = CodeSentResult {
        status: "SUCCESS",
        message: "A code is on its way to your phone",
        method: Method::Sms.as_str(),
        expires_at,
        next_resend_time,
    };
    Ok(Answer::ok(result).at(committed))
}

/// Percent-encoded (RFC 3986): everything but letters, digits and `-._~`.
fn escaped(text: &str) -> String {
    use std::fmt::Write as _;
    text.bytes().fold(String::new(), |mut escaped, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(escaped, "%{byte:02X}");
        }
        escaped
    })
}
