//! People and what the bank keeps of them: staff erase it, and two of them must agree.

use axum::extract::State;
use bursar_commands::{Committed, users};
use bursar_domain::Event;
use bursar_domain::kernel::UserId;
use bursar_domain::users::UserEvent;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::Answer;
use crate::app::App;
use crate::auth::PiiErase;
use crate::openapi::{IfMatch, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{InPath, Text, Write};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(erase_subject))
}

request! {
    /// Why a person is erased.
    Erasure {
        /// For the file, where it stays readable: no name belongs in it.
        reason: Text<500> = "reason",
    }
}

/// How far an erasure is.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErasureResult {
    /// `PENDING_APPROVAL` when somebody has asked for it, `ERASED` once somebody else has.
    status: &'static str,
    user_id: String,
    /// The member of staff who asked.
    requested_by: String,
    /// The one who agreed; null until then.
    approved_by: Option<String>,
    reason: String,
    updated_at: Timestamp,
    message: &'static str,
}

/// Staff: erases a person.
///
/// The first call records the request; the same call by somebody else carries it out. Everything personal that was ever
/// recorded of the person is encrypted with a key of theirs, which is destroyed then: it cannot be read any more, by
/// anybody, in the log or in what is made of it. Balances, entries and proofs stay. The person's sessions are over at once,
/// and what accounts they still have, all of them empty, are closed.
#[utoipa::path(
    post, path = "/v1/staff/subjects/{userId}/erase", tag = "Staff",
    params(InPath<UserId>, WriteHeaders, IfMatch), request_body = Erasure,
    responses((status = 200, description = "Requested, or erased.", body = ErasureResult), WriteProblems)
)]
async fn erase_subject(
    State(app): State<App>,
    id: InPath<UserId>,
    write: Write<PiiErase, Erasure>,
) -> Result<Answer<ErasureResult>, Problem> {
    let Write { caller, body, context, .. } = write;
    let (user, reason) = (id.get()?, body.reason.into());
    let days = &*app.day_ends;
    let committed = users::erase(&app.journal, &app.keys, days, context, caller.user(), user, reason).await?;
    let result = result(&committed)?;
    Ok(Answer::ok(result).at(&committed))
}

fn result(committed: &Committed) -> Result<ErasureResult, Problem> {
    let (recorded, what) = committed.event(|event| match event {
        Event::User(UserEvent::ErasureRequested { by, reason }) => {
            Some(("PENDING_APPROVAL", by, None, reason, "Another member of staff must agree"))
        }
        Event::User(UserEvent::Erased(erased)) => {
            let approved_by = Some(erased.approved_by);
            Some(("ERASED", &erased.requested_by, approved_by, &erased.reason, "Personal data erased"))
        }
        _ => None,
    })?;
    let (status, by, approved_by, reason, message) = what;
    Ok(ErasureResult {
        status,
        user_id: recorded.stream.id.to_string(),
        requested_by: by.to_string(),
        approved_by: approved_by.map(|by| by.to_string()),
        reason: reason.clone(),
        updated_at: recorded.recorded_at,
        message,
    })
}
