//! Proving that a mailbox or a phone is one's own.

use axum::extract::State;
use bursar_commands::{Committed, users};
use bursar_domain::Event;
use bursar_domain::kernel::{UserId, VerificationId};
use bursar_domain::users::{ContactVerified, UserEvent};
use bursar_domain::verifications::VerificationsEvent;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::identity::asker;
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Caller, ManageProfile};
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Email, Text, Write};

request! {
    /// The mailbox that a code is sent to.
    EmailToVerify {
        /// The caller's address, or the one that is to take its place.
        email: Email = "email",
        /// The caller.
        user_id: UserId = "userId",
    }
}

request! {
    /// The code that was sent.
    ContactCode {
        /// The verification it belongs to.
        verification_id: VerificationId = "verificationId",
        /// Six digits.
        verification_code: Text<12> = "verificationCode",
    }
}

/// A code that was mailed.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailVerification {
    verification_id: String,
    /// `SENT`.
    status: &'static str,
    email: String,
    /// When the code stops to count.
    expires_at: Timestamp,
    /// Whether a new code can be asked for before that.
    resend_available: bool,
    message: &'static str,
}

/// A mailbox or a phone that is proven.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactConfirmed {
    /// `VERIFIED`.
    status: &'static str,
    user_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    email: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    phone_number: Option<String>,
    /// Whether it took the place of another one.
    changed: bool,
    verified_at: Timestamp,
    message: &'static str,
}

/// Mails a code to the caller's mailbox, or to the one that is to take its place.
#[utoipa::path(
    post, path = "/v1/users/email/verify", tag = "Users",
    params(WriteHeaders), request_body = EmailToVerify,
    responses((status = 201, description = "Sent.", body = EmailVerification), WriteProblems)
)]
pub(super) async fn verify_email(
    State(app): State<App>,
    write: Write<ManageProfile, EmailToVerify>,
) -> Result<Answer<EmailVerification>, Problem> {
    let Write { caller, body, context, .. } = write;
    same_person(&caller, body.user_id)?;
    let email = users::normalised_email(&body.email.0);
    let committed = users::verify_email(&app.journal, &app.verifier, context, asker(&caller), email).await?;
    let (_, issued) = committed.event(|event| match event {
        Event::Verifications(VerificationsEvent::Issued(issued)) => Some(&**issued),
        _ => None,
    })?;
    let location = format!("/v1/users/verifications/{}", issued.id);
    let result = EmailVerification {
        verification_id: issued.id.to_string(),
        status: "SENT",
        email: issued.destination.or_erased().to_owned(),
        expires_at: issued.expires_at,
        resend_available: issued.resend_at < issued.expires_at,
        message: "A code was mailed to you",
    };
    Ok(Answer::ok(result).at(&committed).created(&location))
}

/// Takes the code of a mail. A new address takes the place of the old one now: mail goes there, and it is how one logs in.
#[utoipa::path(
    post, path = "/v1/users/email/confirm", tag = "Users",
    params(WriteHeaders), request_body = ContactCode,
    responses((status = 200, description = "Verified.", body = ContactConfirmed), WriteProblems)
)]
pub(super) async fn confirm_email(
    State(app): State<App>,
    write: Write<ManageProfile, ContactCode>,
) -> Result<Answer<ContactConfirmed>, Problem> {
    let Write { caller, body, context, .. } = write;
    let (id, code) = (body.verification_id, body.verification_code.0);
    let (journal, keys, verifier) = (&app.journal, &app.keys, &app.verifier);
    let committed = users::confirm_email(journal, keys, verifier, context, asker(&caller), id, &code).await?;
    confirmed(&committed, "Your email address is verified")
}

/// Takes the code of a short message. A new number takes the place of the old one now.
#[utoipa::path(
    post, path = "/v1/users/phone/confirm", tag = "Users",
    params(WriteHeaders), request_body = ContactCode,
    responses((status = 200, description = "Verified.", body = ContactConfirmed), WriteProblems)
)]
pub(super) async fn confirm_phone(
    State(app): State<App>,
    write: Write<ManageProfile, ContactCode>,
) -> Result<Answer<ContactConfirmed>, Problem> {
    let Write { caller, body, context, .. } = write;
    let (id, code) = (body.verification_id, body.verification_code.0);
    let committed =
        users::confirm_phone(&app.journal, &app.verifier, context, asker(&caller), id, &code).await?;
    confirmed(&committed, "Your phone number is verified")
}

fn confirmed(committed: &Committed, message: &'static str) -> Result<Answer<ContactConfirmed>, Problem> {
    let (recorded, (email, phone_number, verified)) = committed.event(|event| {
        let text = |verified: &ContactVerified| Some(verified.contact.or_erased().to_owned());
        match event {
            Event::User(UserEvent::EmailVerified(verified)) => Some((text(verified), None, verified)),
            Event::User(UserEvent::PhoneVerified(verified)) => Some((None, text(verified), verified)),
            _ => None,
        }
    })?;
    let result = ContactConfirmed {
        status: "VERIFIED",
        user_id: recorded.stream.id.to_string(),
        email,
        phone_number,
        changed: verified.replaces.is_some(),
        verified_at: recorded.recorded_at,
        message,
    };
    Ok(Answer::ok(result).at(committed))
}

/// Nobody acts for somebody else.
///
/// # Errors
/// 403.
fn same_person(caller: &Caller, named: UserId) -> Result<(), Problem> {
    if caller.user() == named {
        return Ok(());
    }
    Err(Problem::new(axum::http::StatusCode::FORBIDDEN, "NOT_YOURSELF", "the user named is not the caller"))
}
