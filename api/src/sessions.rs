//! Logging in, refreshing, logging out.

use axum::Json;
use axum::extract::{FromRequest as _, Request, State};
use bursar_commands::sessions::{self, Exchange, InvalidCredentials, Login};
use bursar_commands::{Committed, passwords::Password, users};
use bursar_domain::devices::Description;
use bursar_domain::kernel::{Permission, SessionId};
use bursar_domain::sessions::{Issued, SessionError, SessionEvent, Started};
use bursar_domain::users::User;
use bursar_domain::{Event, Recorded, Rejection as _};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Secret, Submission, Text};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(login))
        .routes(routes!(refresh_token))
        .routes(routes!(revoke_token))
        .routes(routes!(read_jwks))
}

request! {
    /// User name, password, and the device the session is bound to.
    LoginRequest {
        /// The email address.
        username: Text<254> = "username",
        /// The password.
        password: Secret = "password",
        /// Where the login comes from.
        device_info: DeviceInfo = "deviceInfo",
        /// Whether the session may be refreshed for 30 days instead of one.
        remember_me: Option<bool> = "rememberMe",
    }
}

request! {
    /// A device as it describes itself; the address is never believed.
    DeviceInfo {
        /// What the refresh token is bound to.
        device_id: Text<128> = "deviceId",
        /// `DESKTOP`, `MOBILE`.
        device_type: Option<Text<64>> = "deviceType",
        /// Who made the device.
        manufacturer: Option<Text<64>> = "manufacturer",
        /// What they call it.
        model: Option<Text<64>> = "model",
        /// The version of its operating system.
        os_version: Option<Text<64>> = "osVersion",
        /// The app's version.
        app_version: Option<Text<64>> = "appVersion",
        /// Passed over.
        ip_address: Option<Text<64>> = "ipAddress",
    }
}

request! {
    /// A refresh token to be exchanged.
    RefreshRequest {
        /// The token of the last login or refresh.
        refresh_token: Secret = "refreshToken",
        /// The device it was issued to.
        device_id: Text<128> = "deviceId",
    }
}

request! {
    /// Tokens to be revoked; without any, the session of the Authorization header.
    RevokeRequest {
        /// An access token.
        access_token: Option<Secret> = "accessToken",
        /// A refresh token.
        refresh_token: Option<Secret> = "refreshToken",
        /// The device they were issued to.
        device_id: Option<Text<128>> = "deviceId",
    }
}

/// A session.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionResult {
    access_token: String,
    refresh_token: String,
    /// `Bearer`.
    token_type: &'static str,
    /// Seconds until the access token expires.
    expires_in: i64,
    user_id: String,
    user_profile: UserProfile,
    permissions: Vec<&'static str>,
    /// Whether a second factor is needed first.
    #[serde(rename = "requiresMFA")]
    requires_mfa: bool,
    message: &'static str,
}

/// Who logged in; empty while a second factor is missing.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UserProfile {
    first_name: String,
    last_name: String,
    email: String,
    /// `NONE` or `FULL`.
    verification_level: &'static str,
}

/// The next pair of tokens.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefreshResult {
    access_token: String,
    refresh_token: String,
    /// `Bearer`.
    token_type: &'static str,
    /// Seconds until the access token expires.
    expires_in: i64,
    user_id: String,
    refreshed_at: Timestamp,
    message: &'static str,
}

/// What a logout did.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RevokeResult {
    /// `SUCCESS`, also when there was nothing to revoke.
    status: &'static str,
    message: &'static str,
    revoked_at: Timestamp,
    tokens_revoked: usize,
    /// Whether a session of the caller is over now.
    session_ended: bool,
}

/// Logs in with a password.
///
/// An unknown user and a wrong password are answered alike. After five failures the next try must wait. With
/// `requiresMFA` the access token is good for `POST /v1/users/mfa/verify` and nothing else, and there is no refresh token.
#[utoipa::path(
    post, path = "/v1/users/password/login", tag = "Authentication", security(()),
    params(WriteHeaders), request_body = LoginRequest,
    responses((status = 200, description = "Logged in.", body = SessionResult), WriteProblems)
)]
async fn login(
    State(app): State<App>,
    submission: Submission<LoginRequest>,
) -> Result<Answer<SessionResult>, Problem> {
    let Submission { body, sent } = submission;
    app.admit_client(&sent.headers)?;
    let username = users::normalised_email(&body.username.0);
    sent.scope.limit(app.limits.login(sent.scope.address(), &username).await?)?;
    let device: String = body.device_info.device_id.into();
    let attempt = app.guard.attempt(&username, &device).await?;
    let context = sent.anonymous(&app, &username);
    let login = Login {
        username,
        password: Password::typed(body.password.0),
        device_id: device,
        device: Description {
            device_type: body.device_info.device_type.map(String::from),
            manufacturer: body.device_info.manufacturer.map(String::from),
            model: body.device_info.model.map(String::from),
            os_version: body.device_info.os_version.map(String::from),
            app_version: body.device_info.app_version.map(String::from),
        },
        remember_me: body.remember_me.unwrap_or(false),
    };
    let outcome = sessions::login(
        &app.journal,
        &app.keys,
        &app.passwords,
        &app.factors,
        app.lifetimes(),
        context,
        login,
    )
    .await;
    match &outcome {
        Ok(_) => attempt.succeeded().await,
        Err(error) if error.code() == Some(InvalidCredentials.code()) => drop(attempt),
        Err(_) => attempt.void().await,
    }
    let committed = outcome?;
    session_begun(&app, &committed).await
}

/// The answer to whatever began a session.
pub(crate) async fn session_begun(
    app: &App,
    committed: &Committed,
) -> Result<Answer<SessionResult>, Problem> {
    let (recorded, started) = committed.event(|event| match event {
        Event::Session(SessionEvent::Started(started)) => Some(started),
        _ => None,
    })?;
    let session = session(recorded)?;
    let mut result = SessionResult {
        access_token: String::new(),
        refresh_token: String::new(),
        token_type: "Bearer",
        expires_in: app.auth.tokens().seconds(),
        user_id: started.user_id.to_string(),
        user_profile: UserProfile::default(),
        permissions: started.permissions.iter().map(|p| Permission::as_str(*p)).collect(),
        requires_mfa: false,
        message: "Login successful",
    };
    if let Some(awaits) = &started.awaits {
        // Whoever knows the password alone learns nothing about the person.
        let (issued, permissions) = (&started.first, &started.permissions);
        let seconds = awaits.expires_at.duration_since(issued.issued_at).as_secs();
        let (user, at) = (started.user_id, issued.issued_at);
        let token = app.auth.tokens().sign_for(seconds, user, session, &issued.jti, at, permissions);
        result.access_token = token.map_err(|_| Problem::internal())?;
        result.expires_in = seconds;
        result.requires_mfa = true;
        result.message = "A second factor is needed";
    } else {
        let (user, _) = app.journal.load::<User>(&started.user_id.to_string()).await?;
        (result.access_token, result.refresh_token) = tokens(app, session, started, &started.first)?;
        result.user_profile = UserProfile::of(&user);
    }
    Ok(Answer::ok(result).at(committed).secret())
}

/// Exchanges a refresh token for the next pair.
///
/// The same token again within 60 seconds from the same device is answered with the same successor. Any other reuse
/// ends the session.
#[utoipa::path(
    post, path = "/v1/users/token/refresh", tag = "Authentication", security(()),
    params(WriteHeaders), request_body = RefreshRequest,
    responses((status = 200, description = "Refreshed.", body = RefreshResult), WriteProblems)
)]
async fn refresh_token(
    State(app): State<App>,
    submission: Submission<RefreshRequest>,
) -> Result<Answer<RefreshResult>, Problem> {
    let Submission { body, sent } = submission;
    app.admit_client(&sent.headers)?;
    let token = app.keys.read_refresh_token(&body.refresh_token.0);
    let name = token.as_ref().map(|token| token.session.to_string()).unwrap_or_default();
    sent.scope.limit(app.limits.login(sent.scope.address(), &name).await?)?;
    let token = token.ok_or_else(invalid_token)?;
    let context = sent.anonymous(&app, &name);
    let exchange = sessions::refresh(&app.journal, &app.keys, context, &token, body.device_id.into()).await?;
    let Exchange { started, committed } = &exchange;
    let issued = committed.events.first().and_then(issued).ok_or_else(invalid_token)?;
    let (access_token, refresh_token) = tokens(&app, token.session, started, issued)?;
    let result = RefreshResult {
        access_token,
        refresh_token,
        token_type: "Bearer",
        expires_in: app.auth.tokens().seconds(),
        user_id: started.user_id.to_string(),
        refreshed_at: issued.issued_at,
        message: "Token refreshed",
    };
    Ok(Answer::ok(result).at(committed).secret())
}

/// Ends the session of the tokens given, or of the Authorization header when none is given.
///
/// Doing it twice is doing it once. Tokens that are not the caller's are passed over in silence.
#[utoipa::path(
    post, path = "/v1/users/token/revoke", tag = "Authentication",
    params(WriteHeaders), request_body = RevokeRequest,
    responses((status = 200, description = "Logged out.", body = RevokeResult), WriteProblems)
)]
async fn revoke_token(State(app): State<App>, request: Request) -> Result<Answer<RevokeResult>, Problem> {
    // A session that is over may be revoked again, so the token needs to be ours, not good.
    let caller = app.auth.identify(request.headers())?;
    let Submission { body, sent } = Submission::<RevokeRequest>::from_request(request, &app).await?;
    sent.scope.limit(app.limits.write(caller.sub, sent.scope.started()))?;
    let named = named_sessions(&app, &body);
    let wanted = if named.is_empty() { vec![caller.sid] } else { named.clone() };
    let context = sent.context(&app, &caller.sub.to_string());
    let revoked = sessions::revoke(&app.journal, context, caller.sub, &wanted).await?;
    let (events, position) = revoked.committed.as_ref().map_or((&[][..], None), |c| (&c.events[..], Some(c)));
    let ended: Vec<SessionId> = events.iter().filter_map(|e| e.stream.id.parse().ok()).collect();
    let result = RevokeResult {
        status: "SUCCESS",
        message: "Logged out",
        revoked_at: events
            .first()
            .map_or_else(|| app.journal.sources().clock.now(), |event| event.recorded_at),
        // Without named tokens the session's own pair is meant.
        tokens_revoked: if named.is_empty() {
            2 * ended.len()
        } else {
            named.iter().filter(|s| ended.contains(s)).count()
        },
        session_ended: !revoked.own.is_empty(),
    };
    let answer = Answer::ok(result);
    Ok(match position {
        Some(committed) => answer.at(committed),
        None => answer,
    })
}

/// What an old, forged or foreign refresh token is answered.
fn invalid_token() -> Problem {
    Problem::refused(&SessionError::InvalidToken)
}

/// The public keys of access tokens (RFC 7517).
#[utoipa::path(
    get, path = "/.well-known/jwks.json", tag = "Authentication", security(()),
    responses((status = 200, description = "A JWK set.", body = Object))
)]
async fn read_jwks(State(app): State<App>) -> Json<Value> {
    Json(app.auth.tokens().jwks())
}

/// One entry for each token that is ours, whosever it is.
fn named_sessions(app: &App, body: &RevokeRequest) -> Vec<SessionId> {
    let access = body.access_token.as_ref().and_then(|Secret(token)| app.auth.tokens().verify(token));
    let refresh = body.refresh_token.as_ref().and_then(|Secret(token)| app.keys.read_refresh_token(token));
    access.map(|claims| claims.sid).into_iter().chain(refresh.map(|token| token.session)).collect()
}

/// Access and refresh token of one issue: functions of the event and the server's keys, so that a repeated request
/// is answered with the same bytes.
fn tokens(
    app: &App,
    session: SessionId,
    started: &Started,
    issued: &Issued,
) -> Result<(String, String), Problem> {
    let access =
        app.auth.tokens().sign(started.user_id, session, &issued.jti, issued.issued_at, &started.permissions);
    let refresh = app.keys.refresh_token(session, issued.generation);
    Ok((access.map_err(|_| Problem::internal())?, refresh.as_str().to_owned()))
}

fn session(recorded: &Recorded) -> Result<SessionId, Problem> {
    recorded.stream.id.parse().map_err(|_| Problem::internal())
}

fn issued(recorded: &Recorded) -> Option<&Issued> {
    match &recorded.event {
        Event::Session(SessionEvent::Refreshed(issued) | SessionEvent::Reissued(issued)) => Some(issued),
        _ => None,
    }
}

impl UserProfile {
    fn of(user: &User) -> Self {
        let text = |value: Option<&bursar_domain::Personal<String>>| {
            value.map(bursar_domain::Personal::or_erased).unwrap_or_default().to_owned()
        };
        let person = user.person();
        Self {
            first_name: text(person.map(|p| &p.first_name)),
            last_name: text(person.map(|p| &p.last_name)),
            email: text(person.map(|p| &p.email)),
            verification_level: user.verification_level(),
        }
    }
}
