//! Who is in a community, and how they come to be.

use axum::extract::State;
use bursar_commands::communities::{self, Invitee};
use bursar_domain::Event;
use bursar_domain::communities::{CommunityEvent, Role};
use bursar_domain::kernel::{CommunityId, InvitationId, ParticipantId};
use jiff::Timestamp;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::views::{AnswerResult, InvitationResult, JoinResult, RemovedParticipant};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::ManageProfile;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::{FieldError, Problem};
use crate::request;
use crate::request::{Email, InPath, Nothing, OneOf, Phone, Secret, Text, Write};

pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(invite_participant))
        .routes(routes!(remove_participant))
        .routes(routes!(answer_invitation))
        .routes(routes!(join_community))
}

request! {
    /// Somebody to be asked. Whoever has the address or the number may answer.
    InvitationRequest {
        /// Their email address; one of the two is needed.
        invitee_email: Option<Email> = "inviteeEmail",
        /// Their phone number, E.164.
        invitee_phone: Option<Phone> = "inviteePhone",
        /// Their name.
        invitee_name: Option<Text<140>> = "inviteeName",
        /// What they are to be; `MEMBER` when absent.
        role: Option<OneOf<Role>> = "role",
        /// What the caller says to them.
        message: Option<Text<500>> = "message",
        /// Until when they may answer; a week when absent.
        expires_at: Option<Timestamp> = "expiresAt",
    }
}

request! {
    /// An answer to an invitation, or to somebody who wants to join.
    AnswerRequest {
        /// Yes or no.
        action: OneOf<InvitationAction> = "action",
        /// Words that go with it; they are kept nowhere.
        message: Option<Text<500>> = "message",
    }
}

request! {
    /// What lets somebody join.
    JoinRequest {
        /// The code that the admin has given out; not needed where the community is not private.
        invite_code: Option<Secret> = "inviteCode",
    }
}

bursar_domain::spelled! {
    /// An answer.
    pub enum InvitationAction {
        /// Yes.
        Accept = "ACCEPT",
        /// No.
        Deny = "DENY",
    }
}

/// Invites somebody, customer or not, to join a community that the caller is in. They are sent word.
#[utoipa::path(
    post, path = "/v1/communities/{communityId}/participants", tag = "Communities",
    params(InPath<CommunityId>, WriteHeaders), request_body = InvitationRequest,
    responses((status = 201, description = "Invited.", body = InvitationResult), WriteProblems)
)]
async fn invite_participant(
    State(app): State<App>,
    id: InPath<CommunityId>,
    write: Write<ManageProfile, InvitationRequest>,
) -> Result<Answer<InvitationResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let id = id.get()?;
    if body.invitee_email.is_none() && body.invitee_phone.is_none() {
        let wrong = |name: &str| FieldError {
            pointer: format!("/{name}"),
            code: "REQUIRED",
            message: "one of inviteeEmail and inviteePhone is required".to_owned(),
        };
        return Err(Problem::invalid(["inviteeEmail", "inviteePhone"].map(wrong).into()));
    }
    if body.expires_at.is_some_and(|at| at <= app.journal.sources().clock.now()) {
        return Err(Problem::bad_request("/expiresAt", "OUT_OF_RANGE", "expiresAt is in the past"));
    }
    let invitee = Invitee {
        email: body.invitee_email.map(String::from),
        phone_number: body.invitee_phone.map(String::from),
        name: body.invitee_name.map(String::from),
        role: body.role.map_or(Role::Member, |OneOf(role)| role),
        message: body.message.map(String::from),
        expires_at: body.expires_at.map(bursar_domain::kernel::micros),
    };
    let committed = communities::invite(&app.journal, context, caller.user(), id, invitee).await?;
    let (recorded, invited) = committed.event(|event| match event {
        Event::Community(CommunityEvent::Invited(invited)) => Some(&**invited),
        _ => None,
    })?;
    let result = InvitationResult::of(recorded, invited);
    let location = result.invite_link.clone();
    Ok(Answer::ok(result).at(&committed).created(&location))
}

/// Removes a participant, or leaves. What they contribute by ends; what they have contributed stays.
#[utoipa::path(
    delete, path = "/v1/communities/{communityId}/participants/{participantId}", tag = "Communities",
    params(InPath<CommunityId>, InPath<ParticipantId>, WriteHeaders),
    responses((status = 200, description = "Removed.", body = RemovedParticipant), WriteProblems)
)]
async fn remove_participant(
    State(app): State<App>,
    id: InPath<CommunityId>,
    participant: InPath<ParticipantId>,
    write: Write<ManageProfile, Nothing>,
) -> Result<Answer<RemovedParticipant>, Problem> {
    let Write { caller, context, .. } = write;
    let (id, participant) = (id.get()?, participant.get()?);
    let committed = communities::remove(&app.journal, context, caller.user(), id, participant).await?;
    let (recorded, by) = committed.event(|event| match event {
        Event::Community(CommunityEvent::Removed { by, .. }) => Some(*by),
        _ => None,
    })?;
    Ok(Answer::ok(RemovedParticipant::of(recorded, participant, by)).at(&committed))
}

/// Answers an invitation of the caller's; or, as the admin, somebody who has asked to join.
#[utoipa::path(
    put, path = "/v1/communities/{communityId}/invitations/{invitationId}", tag = "Communities",
    params(InPath<CommunityId>, InPath<InvitationId>, WriteHeaders), request_body = AnswerRequest,
    responses((status = 200, description = "Answered.", body = AnswerResult), WriteProblems)
)]
async fn answer_invitation(
    State(app): State<App>,
    id: InPath<CommunityId>,
    invitation: InPath<InvitationId>,
    write: Write<ManageProfile, AnswerRequest>,
) -> Result<Answer<AnswerResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let unknown = |_| Problem::not_found("invitation");
    let (id, invitation) = (id.get().map_err(unknown)?, invitation.get()?);
    let OneOf(action) = body.action;
    let accept = action == InvitationAction::Accept;
    let committed = communities::answer(&app.journal, context, caller.user(), id, invitation, accept).await?;
    // Name, description and category never change.
    let club = communities::any(&app.journal, id).await?;
    let (recorded, participant) = committed.event(|event| match event {
        Event::Community(CommunityEvent::Joined { participant, .. }) => Some(Some(*participant)),
        Event::Community(CommunityEvent::Denied { .. }) => Some(None),
        _ => None,
    })?;
    Ok(Answer::ok(AnswerResult::of(recorded, invitation, participant, &club.created)).at(&committed))
}

/// Joins a community with its invite code, or one that is not private without.
///
/// Where the rules do not approve by themselves, the admin is asked: `INVITATION_REQUESTED`.
#[utoipa::path(
    post, path = "/v1/communities/{communityId}/join", tag = "Communities",
    params(InPath<CommunityId>, WriteHeaders), request_body = JoinRequest,
    responses((status = 200, description = "Joined, or asked for.", body = JoinResult), WriteProblems)
)]
async fn join_community(
    State(app): State<App>,
    id: InPath<CommunityId>,
    write: Write<ManageProfile, JoinRequest>,
) -> Result<Answer<JoinResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let id = id.get()?;
    let club = communities::any(&app.journal, id).await.map_err(|_| Problem::not_found("community"))?;
    let has_code = body.invite_code.is_some_and(|Secret(code)| app.keys.is_invite_code(id, &code));
    // Whoever guesses learns nothing, not even that there is such a community.
    if club.rules().is_private && !has_code {
        return Err(Problem::not_found("community"));
    }
    let committed = communities::ask(&app.journal, context, caller.user(), id).await?;
    let (recorded, result) = committed.event(|event| match event {
        Event::Community(CommunityEvent::Joined { participant, .. }) => Some((Some(*participant), None)),
        Event::Community(CommunityEvent::Requested { invitation, .. }) => Some((None, Some(*invitation))),
        _ => None,
    })?;
    Ok(Answer::ok(JoinResult::of(recorded, result)).at(&committed))
}
