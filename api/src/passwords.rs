//! Changing a password.

use axum::extract::State;
use bursar_commands::Committed;
use bursar_commands::passwords::Password;
use bursar_commands::users::{self, PasswordChange, WrongPassword};
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
use crate::auth::ManageProfile;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Conditions, Secret, Write};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(change_password))
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
