//! Proving who one is.

use axum::extract::State;
use bursar_commands::identity::Claimant;
use bursar_commands::users::{self, Asker, IdentityClaim};
use bursar_domain::Event;
use bursar_domain::kernel::VerificationId;
use bursar_domain::users::{IdentityType, UserEvent};
use bursar_domain::verifications::{Verifications, VerificationsError, VerificationsEvent};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use utoipa::ToSchema;

use super::fields::country;
use crate::answer::Answer;
use crate::app::App;
use crate::auth::{Allowed, Caller, ManageProfile};
use crate::edge::Scope;
use crate::openapi::{ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Code, CountryCode, InPath, OneOf, Phone, Text, Title, Write};

request! {
    /// Who the caller says they are. Names, date of birth and phone number must be those of the profile.
    IdentityFields {
        /// What kind of number it is.
        identity_type: OneOf<IdentityType> = "identityType",
        /// Its number. It is not kept: only a keyed hash of it and its last four characters are.
        identity_number: Code<40> = "identityNumber",
        /// Who gave it out: ISO 3166-1 alpha-2.
        country: CountryCode = "country",
        /// Given name.
        first_name: Title<100> = "firstName",
        /// Family name.
        last_name: Title<100> = "lastName",
        /// `YYYY-MM-DD`.
        date_of_birth: Date = "dateOfBirth",
        /// The phone on file: the code goes there.
        phone_number: Phone = "phoneNumber",
    }
}

request! {
    /// Which code is to be sent again.
    ResendFields {
        /// The verification that the lookup began.
        verification_id: VerificationId = "verificationId",
        /// The phone it went to.
        phone_number: Phone = "phoneNumber",
    }
}

request! {
    /// The code of a short message.
    IdentityCode {
        /// The verification that the lookup began.
        verification_id: VerificationId = "verificationId",
        /// Six digits.
        verification_code: Text<12> = "verificationCode",
        /// The phone it went to.
        phone_number: Phone = "phoneNumber",
    }
}

/// A verification that has begun.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdentityLookedUp {
    verification_id: String,
    /// `PENDING`.
    status: &'static str,
    /// `SMS`.
    verification_method: &'static str,
    /// How long it takes until the code is there.
    estimated_time: &'static str,
    message: &'static str,
    next_step: &'static str,
}

/// A code that was sent again.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CodeResent {
    /// `PENDING`.
    status: &'static str,
    message: &'static str,
    /// How often it was sent again.
    resend_count: u32,
    /// When it can be sent again.
    next_resend_time: Timestamp,
    /// When the code stops to count.
    expires_at: Timestamp,
}

/// Somebody who is who they say.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdentityConfirmed {
    /// `VERIFIED`.
    status: &'static str,
    user_id: String,
    /// `FULL`.
    verification_level: &'static str,
    verified_at: Timestamp,
    message: &'static str,
}

/// Where a verification stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerificationView {
    verification_id: String,
    /// `IDENTITY`, `EMAIL`, `PHONE`, `SECOND_FACTOR` or `PASSWORD_RESET`.
    purpose: &'static str,
    /// `PENDING`, `VERIFIED`, `FAILED` or `EXPIRED`.
    status: &'static str,
    /// `SMS` or `EMAIL`.
    verification_method: &'static str,
    resend_count: u32,
    remaining_tries: u32,
    expires_at: Timestamp,
}

/// Looks the caller up where identities are kept, and sends a code to the phone on file.
#[utoipa::path(
    post, path = "/v1/users/identity/lookup", tag = "Users",
    params(WriteHeaders), request_body = IdentityFields,
    responses((status = 201, description = "Found; a code is on its way.", body = IdentityLookedUp), WriteProblems)
)]
pub(super) async fn look_up_identity(
    State(app): State<App>,
    scope: axum::Extension<Scope>,
    write: Write<ManageProfile, IdentityFields>,
) -> Result<Answer<IdentityLookedUp>, Problem> {
    let Write { caller, body, context, .. } = write;
    scope.limit(app.limits.login(scope.address(), caller.actor()).await?)?;
    if let Some(fault) = country(&app, "/country", Some(&body.country)) {
        return Err(Problem::invalid(vec![fault]));
    }
    let Some(registry) = &app.registry else {
        return Err(Problem::unavailable("no register of identities is connected", 3600));
    };
    let OneOf(identity_type) = body.identity_type;
    let claimant = Claimant {
        identity_type,
        number: body.identity_number.into(),
        country: body.country.0,
        first_name: body.first_name.into(),
        last_name: body.last_name.into(),
        date_of_birth: body.date_of_birth,
    };
    let claim = IdentityClaim { claimant, phone_number: body.phone_number.into() };
    let (journal, keys, verifier) = (&app.journal, &app.keys, &app.verifier);
    let asker = asker(&caller);
    let committed =
        users::look_up_identity(journal, keys, verifier, &**registry, context, asker, claim).await?;
    let (_, issued) = committed.event(|event| match event {
        Event::Verifications(VerificationsEvent::Issued(issued)) => Some(&**issued),
        _ => None,
    })?;
    let location = format!("/v1/users/verifications/{}", issued.id);
    let result = IdentityLookedUp {
        verification_id: issued.id.to_string(),
        status: "PENDING",
        verification_method: issued.channel.as_str(),
        estimated_time: "1 minute",
        message: "A code was sent to your phone",
        next_step: "Confirm with the code at /v1/users/identity/confirm",
    };
    Ok(Answer::ok(result).at(&committed).created(&location))
}

/// Sends a new code in the place of the last one: not before a minute has passed, and a few times a day.
#[utoipa::path(
    post, path = "/v1/users/identity/resend-code", tag = "Users",
    params(WriteHeaders), request_body = ResendFields,
    responses((status = 200, description = "Sent again.", body = CodeResent), WriteProblems)
)]
pub(super) async fn resend_identity_code(
    State(app): State<App>,
    write: Write<ManageProfile, ResendFields>,
) -> Result<Answer<CodeResent>, Problem> {
    let Write { caller, body, context, .. } = write;
    let (id, phone) = (body.verification_id, body.phone_number.0);
    let committed =
        users::resend_identity_code(&app.journal, &app.verifier, context, asker(&caller), id, &phone).await?;
    let (_, resent) = committed.event(|event| match event {
        Event::Verifications(VerificationsEvent::Resent(resent)) => Some(resent),
        _ => None,
    })?;
    let result = CodeResent {
        status: "PENDING",
        message: "A new code was sent to your phone",
        resend_count: resent.resends,
        next_resend_time: resent.resend_at,
        expires_at: resent.expires_at,
    };
    Ok(Answer::ok(result).at(&committed))
}

/// Takes the code: the caller is who they say, and may use the bank from their next login on.
#[utoipa::path(
    post, path = "/v1/users/identity/confirm", tag = "Users",
    params(WriteHeaders), request_body = IdentityCode,
    responses((status = 200, description = "Verified.", body = IdentityConfirmed), WriteProblems)
)]
pub(super) async fn confirm_identity(
    State(app): State<App>,
    write: Write<ManageProfile, IdentityCode>,
) -> Result<Answer<IdentityConfirmed>, Problem> {
    let Write { caller, body, context, .. } = write;
    let (id, phone, code) = (body.verification_id, body.phone_number.0, body.verification_code.0);
    let committed =
        users::confirm_identity(&app.journal, &app.verifier, context, asker(&caller), id, &phone, &code)
            .await?;
    let (recorded, ()) = committed
        .event(|event| matches!(event, Event::User(UserEvent::IdentityVerified(_))).then_some(()))?;
    let result = IdentityConfirmed {
        status: "VERIFIED",
        user_id: recorded.stream.id.to_string(),
        verification_level: "FULL",
        verified_at: recorded.recorded_at,
        message: "Your identity is verified; log in again to use all of your bank",
    };
    Ok(Answer::ok(result).at(&committed))
}

/// Reads where one of the caller's verifications stands, the newest of each purpose.
#[utoipa::path(
    get, path = "/v1/users/verifications/{verificationId}", tag = "Users",
    params(InPath<VerificationId>, ReadHeaders),
    responses((status = 200, description = "The verification.", body = VerificationView), ReadProblems)
)]
pub(super) async fn read_verification(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    id: InPath<VerificationId>,
) -> Result<Answer<VerificationView>, Problem> {
    let id = id.get()?;
    let (verifications, _) = app.journal.load::<Verifications>(caller.actor()).await?;
    let found = verifications.get(id).ok_or_else(|| Problem::refused(&VerificationsError::Unknown))?;
    let now = app.journal.sources().clock.now();
    Ok(Answer::ok(VerificationView {
        verification_id: id.to_string(),
        purpose: found.issued.purpose.as_str(),
        status: found.status(now).as_str(),
        verification_method: found.issued.channel.as_str(),
        resend_count: found.resends,
        remaining_tries: found.remaining_tries(),
        expires_at: found.expires_at,
    }))
}

/// The caller, and the session that codes are bound to.
pub(super) fn asker(caller: &Caller) -> Asker {
    Asker { user: caller.user(), session: caller.session() }
}
