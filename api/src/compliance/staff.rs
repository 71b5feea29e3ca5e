//! Whether what customers say is true.

use axum::extract::State;
use bursar_commands::{Committed, compliance, once};
use bursar_domain::compliance::{ComplianceEvent, RecordId, VerificationStatus};
use bursar_domain::kernel::UserId;
use bursar_domain::{Event, Personal};
use bursar_projections::compliance::find;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::MODEL;
use super::views::{Judgement, Standing};
use crate::answer::Answer;
use crate::app::App;
use crate::auth::KycVerify;
use crate::openapi::{WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{InPath, PathId as _, Text, Write};

/// The routes of staff.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new().routes(routes!(verify_record)).routes(routes!(reject_record))
}

request! {
    /// That a record is true.
    VerifyRecord {
        /// How staff know, for the file.
        note: Option<Text<500>> = "note",
    }
}

request! {
    /// That a record is not true.
    RejectRecord {
        /// Why; the customer can read it.
        reason: Text<500> = "reason",
    }
}

/// Staff: finds a customer's record to be true.
#[utoipa::path(
    post, path = "/v1/staff/compliance/{recordId}/verify", tag = "Staff",
    params(InPath<RecordId>, WriteHeaders), request_body = VerifyRecord,
    responses((status = 200, description = "Verified.", body = Judgement), WriteProblems)
)]
async fn verify_record(
    State(app): State<App>,
    id: InPath<RecordId>,
    write: Write<KycVerify, VerifyRecord>,
) -> Result<Answer<Judgement>, Problem> {
    let Write { body, context, .. } = write;
    let id = id.get()?;
    // Answered as then: its owner may have removed it since.
    let verified = once(&app.journal, context, async |context| {
        let owner = owner(&app, id).await?;
        let note = body.note.map(String::from);
        Ok::<_, Problem>(compliance::verify(&app.journal, context, owner, id, note).await?)
    });
    judged(&verified.await?)
}

/// Staff: finds a customer's record not to be true.
#[utoipa::path(
    post, path = "/v1/staff/compliance/{recordId}/reject", tag = "Staff",
    params(InPath<RecordId>, WriteHeaders), request_body = RejectRecord,
    responses((status = 200, description = "Rejected.", body = Judgement), WriteProblems)
)]
async fn reject_record(
    State(app): State<App>,
    id: InPath<RecordId>,
    write: Write<KycVerify, RejectRecord>,
) -> Result<Answer<Judgement>, Problem> {
    let Write { body, context, .. } = write;
    let id = id.get()?;
    // Answered as then: its owner may have removed it since.
    let rejected = once(&app.journal, context, async |context| {
        let owner = owner(&app, id).await?;
        Ok::<_, Problem>(compliance::reject(&app.journal, context, owner, id, body.reason.into()).await?)
    });
    judged(&rejected.await?)
}

/// Whose record it is. Somebody else has written it, perhaps just now.
async fn owner(app: &App, id: RecordId) -> Result<UserId, Problem> {
    app.caught_up(&[MODEL]).await?;
    let row = find(&app.pool, id).await?;
    Ok(row.ok_or_else(|| Problem::not_found(RecordId::THING))?.owner)
}

fn judged(committed: &Committed) -> Result<Answer<Judgement>, Problem> {
    let (recorded, (id, status, words, message)) = committed.event(|event| match event {
        Event::Compliance(ComplianceEvent::Verified { id, note }) => {
            Some((id, VerificationStatus::Verified, note.as_ref(), "Record verified"))
        }
        Event::Compliance(ComplianceEvent::Rejected { id, reason }) => {
            Some((id, VerificationStatus::Rejected, Some(reason), "Record rejected"))
        }
        _ => None,
    })?;
    let result = Judgement {
        record_id: id.to_string(),
        standing: Standing::of(status, message),
        reason: words.map(Personal::or_erased).map(str::to_owned),
        updated_at: recorded.recorded_at,
    };
    Ok(Answer::ok(result).at(committed))
}
