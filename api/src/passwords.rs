//! Changing a password, and setting one without the old one.

use axum::extract::State;
use bursar_commands::Committed;
use bursar_commands::passwords::Password;
use bursar_commands::resets::{self, InvalidToken, NewPassword};
use bursar_commands::users::{self, PasswordChange, WrongPassword};
use bursar_domain::resets::ResetsEvent;
use bursar_domain::users::{SessionsEnded, User, UserEvent};
use bursar_domain::{Event, Recorded, Rejection, RejectionKind};
use bursar_projections::sessions;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Caller, ManageProfile};
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::outside;
use crate::problem::Problem;
use crate::request;
use crate::request::{Conditions, Secret, Submission, Text, Write};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(change_password))
        .routes(routes!(request_reset))
        .routes(routes!(confirm_reset))
}

request! {
    /// A password in the place of another.
    PasswordChangeRequest {
        /// The one you have.
        current_password: Secret = "currentPassword",
        /// The one you want: 12 to 128 characters, and not among the common ones.
        new_password: Secret = "newPassword",
        /// The same again.
        confirm_password: Secret = "confirmPassword",
    }
}

/// A password that was changed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasswordChangeResult {
    /// `SUCCESS`.
    status: &'static str,
    message: &'static str,
    password_changed_at: Timestamp,
    /// How many other sessions of the caller's ended.
    sessions_invalidated: u32,
    /// Whether the caller must log in again: no, their session goes on.
    next_login_required: bool,
}

/// Changes the caller's password.
///
/// Every other session of theirs ends at once; the one that asks goes on. A wrong current password counts as a failed
/// login.
#[utoipa::path(
    post, path = "/v1/users/password/change", tag = "Users",
    params(WriteHeaders), request_body = PasswordChangeRequest,
    responses((status = 200, description = "Changed.", body = PasswordChangeResult), WriteProblems)
)]
async fn change_password(
    State(app): State<App>,
    write: Write<ManageProfile, PasswordChangeRequest>,
) -> Result<Answer<PasswordChangeResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let new = chosen(body.new_password, &body.confirm_password)?;
    app.fresh(&caller, &Conditions::default(), &["sessions"]).await?;
    let now = app.journal.sources().clock.now();
    let others = sessions::count_of_owner(&app.pool, caller.user(), Some(caller.session()), now).await?;
    let (user, _) = app.journal.load::<User>(caller.actor()).await?;
    let name = user.person().and_then(|person| person.email.get()).cloned().unwrap_or_default();
    let attempt = app.guard.attempt(&name, &caller.session().to_string()).await?;
    let current = Password::typed(body.current_password.0);
    let change = PasswordChange { current, new, session: caller.session(), others };
    let outcome = users::change_password(&app.journal, &app.passwords, context, caller.user(), change).await;
    match &outcome {
        Err(error) if error.code() == Some(WrongPassword.code()) => drop(attempt),
        Ok(_) => attempt.succeeded().await,
        Err(_) => attempt.void().await,
    }
    let committed = outcome?;
    let (recorded, ended) = sessions_ended(&committed)?;
    let result = PasswordChangeResult {
        status: "SUCCESS",
        message: "Password changed",
        password_changed_at: recorded.recorded_at,
        sessions_invalidated: ended.sessions,
        next_login_required: false,
    };
    Ok(Answer::ok(result).at(&committed))
}

request! {
    /// Whose password is to be set: an email address, under either name.
    ResetRequest {
        /// The email address.
        email: Option<Text<254>> = "email",
        /// The user name: the email address too.
        username: Option<Text<254>> = "username",
    }
}

request! {
    /// A token and the password it is to set.
    ResetConfirmation {
        /// What came by mail.
        reset_token: Secret = "resetToken",
        /// 12 to 128 characters, and not among the common ones.
        new_password: Secret = "newPassword",
        /// The same again.
        confirm_password: Secret = "confirmPassword",
    }
}

/// A new password that was asked for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetResult {
    /// `SUCCESS`, whether or not anybody has the name.
    status: &'static str,
    message: &'static str,
    /// Until when the token counts, if there is one.
    reset_token_expiry: Timestamp,
    /// Always true.
    email_sent: bool,
}

/// A password that was set.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetConfirmationResult {
    /// `SUCCESS`.
    status: &'static str,
    message: &'static str,
    password_changed_at: Timestamp,
    /// How many sessions ended: all there were.
    sessions_invalidated: u32,
}

/// Mails a token with which a password can be set, to whoever has the email address.
///
/// The answer is the same when nobody has it. This is also how somebody who has just registered sets their first password.
#[utoipa::path(
    post, path = "/v1/users/password/reset", tag = "Authentication", security(()),
    params(WriteHeaders), request_body = ResetRequest,
    responses((status = 200, description = "Asked for.", body = ResetResult), WriteProblems)
)]
async fn request_reset(
    State(app): State<App>,
    submission: Submission<ResetRequest>,
) -> Result<Answer<ResetResult>, Problem> {
    let Submission { body, sent } = submission;
    app.admit_client(&sent.headers)?;
    let name = body.username.or(body.email).map(|Text(name)| users::normalised_email(&name));
    let name = name.ok_or_else(|| Problem::bad_request("/email", "REQUIRED", "give email or username"))?;
    sent.scope.limit(app.limits.login(sent.scope.address(), &name).await?)?;
    let context = sent.anonymous(&app, &name);
    let policy = outside::policies(&app.config.codes, &app.config.devices).token;
    let committed = resets::request(&app.journal, &app.keys, context, &name, policy).await?;
    let (_, request) = committed.event(|event| match event {
        Event::Resets(ResetsEvent::Requested(request)) => Some(request),
        _ => None,
    })?;
    let result = ResetResult {
        status: "SUCCESS",
        message: "If somebody has this address, a token is on its way to it",
        reset_token_expiry: request.expires_at,
        email_sent: true,
    };
    Ok(Answer::ok(result).at(&committed))
}

/// Sets a password with a token that came by mail.
///
/// The token is good once and for half an hour, and only the newest counts. Every session of the person ends. A second
/// factor is asked for at the next login as ever.
#[utoipa::path(
    post, path = "/v1/users/password/confirm", tag = "Authentication", security(()),
    params(WriteHeaders), request_body = ResetConfirmation,
    responses((status = 200, description = "Set.", body = ResetConfirmationResult), WriteProblems)
)]
async fn confirm_reset(
    State(app): State<App>,
    submission: Submission<ResetConfirmation>,
) -> Result<Answer<ResetConfirmationResult>, Problem> {
    let Submission { body, sent } = submission;
    app.admit_client(&sent.headers)?;
    let token = app.keys.read_reset_token(&body.reset_token.0);
    let whose = token.as_ref().map(|token| token.user.to_string()).unwrap_or_default();
    sent.scope.limit(app.limits.login(sent.scope.address(), &whose).await?)?;
    let password = chosen(body.new_password, &body.confirm_password)?;
    let token = token.ok_or_else(|| Problem::refused(&InvalidToken))?;
    let (user, now) = (token.user, app.journal.sources().clock.now());
    let sessions = sessions::count_of_owner(&app.pool, user, None, now).await?;
    let context = sent.anonymous(&app, &whose);
    let new = NewPassword { token, password, sessions };
    let committed = resets::confirm(&app.journal, &app.passwords, &app.verifier, context, new).await?;
    let (person, _) = app.journal.load::<User>(&whose).await?;
    if let Some(email) = person.person().and_then(|person| person.email.get()) {
        app.guard.forgive(email).await;
    }
    let (recorded, ended) = sessions_ended(&committed)?;
    let result = ResetConfirmationResult {
        status: "SUCCESS",
        message: "Password set",
        password_changed_at: recorded.recorded_at,
        sessions_invalidated: ended.sessions,
    };
    Ok(Answer::ok(result).at(&committed))
}

/// The caller, when this is their password; none when it is not, which counts like a failed login.
///
/// # Errors
/// 429 after too many of them.
pub(crate) async fn shown_again(
    app: &App,
    caller: &Caller,
    password: Secret,
) -> Result<Option<User>, Problem> {
    let (user, _) = app.journal.load::<User>(caller.actor()).await?;
    let name = user.person().and_then(|person| person.email.get()).cloned().unwrap_or_default();
    let attempt = app.guard.attempt(&name, &caller.session().to_string()).await?;
    if !app.passwords.verify(Password::typed(password.0), user.password_hash()).await {
        return Ok(None);
    }
    attempt.succeeded().await;
    Ok(Some(user))
}

/// A new password that was typed twice.
///
/// # Errors
/// `PASSWORD_MISMATCH`, `WEAK_PASSWORD`.
fn chosen(new: Secret, again: &Secret) -> Result<Password, Problem> {
    if new.0 != again.0 {
        return Err(Problem::refused(&PasswordMismatch));
    }
    Password::chosen(new.0).map_err(|weak| Problem::refused(&weak))
}

fn sessions_ended(committed: &Committed) -> Result<(&Recorded, &SessionsEnded), Problem> {
    Ok(committed.event(|event| match event {
        Event::User(UserEvent::SessionsEnded(ended)) => Some(ended),
        _ => None,
    })?)
}

/// The two new passwords differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the new password and its confirmation differ")]
struct PasswordMismatch;

impl Rejection for PasswordMismatch {
    fn code(&self) -> &'static str {
        "PASSWORD_MISMATCH"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Unprocessable
    }
}
