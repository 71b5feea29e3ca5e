//! Documents for an application: handed in by the borrower, read and decided by staff.

use axum::extract::State;
use bursar_commands::loans::{NewDocument, add_document, check};
use bursar_domain::Event;
use bursar_domain::kernel::{DocumentId, FileType, LoanId};
use bursar_domain::loan_products::LoanDocumentType;
use bursar_domain::loans::{CheckOutcome, Item, ItemStatus, LoanDocument, LoanEvent};
use bursar_domain::{Personal, Recorded};
use bursar_projections::loans::find;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::MODEL;
use super::staff::{LoanItemChecked, LoanNote, LoanReason, checked};
use crate::answer::{Answer, FileAnswer};
use crate::app::App;
use crate::auth::{Allowed, LoanReview, WriteTransactions};
use crate::edge::Scope;
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::problem::Problem;
use crate::request;
use crate::request::{Conditions, FileContent, InPath, OneOf, Text, Write};

request! {
    /// A document for an application.
    LoanDocumentRequest {
        /// What it is.
        document_type: OneOf<LoanDocumentType> = "documentType",
        /// What the caller calls it.
        document_name: Option<Text<255>> = "documentName",
        /// Base64; at most 5 MiB decoded.
        file_content: FileContent = "fileContent",
        /// What the file is.
        file_type: OneOf<FileType> = "fileType",
        /// What the caller says about it.
        description: Option<Text<1000>> = "description",
    }
}

/// A document that was handed in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LoanDocumentAdded {
    /// `SUCCESS`.
    status: &'static str,
    document_id: String,
    loan_id: String,
    document_type: &'static str,
    document_name: Option<String>,
    uploaded_at: Timestamp,
    /// Bytes, as it was handed in.
    file_size: u64,
    /// `PENDING` until staff have looked.
    verification_status: &'static str,
    message: &'static str,
}

/// Hands in a document for an application of the caller, until it is decided.
#[utoipa::path(
    post, path = "/v1/loans/{loanId}/documents", tag = "Loans",
    params(InPath<LoanId>, WriteHeaders, IfMatch), request_body = LoanDocumentRequest,
    responses((status = 201, description = "Uploaded.", body = LoanDocumentAdded), WriteProblems)
)]
pub(super) async fn add_loan_document(
    State(app): State<App>,
    id: InPath<LoanId>,
    scope: axum::Extension<Scope>,
    write: Write<WriteTransactions, LoanDocumentRequest>,
) -> Result<Answer<LoanDocumentAdded>, Problem> {
    let Write { caller, body, context, .. } = write;
    let id = id.get()?;
    scope.limit(app.limits.upload(caller.user(), scope.started()))?;
    let new = NewDocument {
        document_type: body.document_type.0,
        name: body.document_name.map(String::from),
        description: body.description.map(String::from),
        file_type: body.file_type.0,
        content: body.file_content.bytes()?,
    };
    let committed = add_document(&app.journal, &app.files, context, caller.user(), id, new).await?;
    let (recorded, document) = committed.event(|event| match event {
        Event::Loan(LoanEvent::DocumentAdded(document)) => Some(&**document),
        _ => None,
    })?;
    let location = format!("/v1/loans/{id}");
    Ok(Answer::ok(LoanDocumentAdded::of(recorded, document)).at(&committed).created(&location))
}

/// Staff: a document is believed.
#[utoipa::path(
    post, path = "/v1/staff/loans/{loanId}/documents/{documentId}/verify", tag = "Staff",
    params(InPath<LoanId>, InPath<DocumentId>, WriteHeaders, IfMatch), request_body = LoanNote,
    responses((status = 200, description = "Verified.", body = LoanItemChecked), WriteProblems)
)]
pub(super) async fn verify_loan_document(
    State(app): State<App>,
    id: InPath<LoanId>,
    document: InPath<DocumentId>,
    write: Write<LoanReview, LoanNote>,
) -> Result<Answer<LoanItemChecked>, Problem> {
    let Write { caller, body, context, .. } = write;
    let (id, item) = (id.get()?, Item::Document(document.get()?));
    let found = (CheckOutcome::Verified, body.note.map(String::from));
    checked(&check(&app.journal, context, caller.user(), id, item, found).await?)
}

/// Staff: a document is not believed.
#[utoipa::path(
    post, path = "/v1/staff/loans/{loanId}/documents/{documentId}/reject", tag = "Staff",
    params(InPath<LoanId>, InPath<DocumentId>, WriteHeaders, IfMatch), request_body = LoanReason,
    responses((status = 200, description = "Rejected.", body = LoanItemChecked), WriteProblems)
)]
pub(super) async fn reject_loan_document(
    State(app): State<App>,
    id: InPath<LoanId>,
    document: InPath<DocumentId>,
    write: Write<LoanReview, LoanReason>,
) -> Result<Answer<LoanItemChecked>, Problem> {
    let Write { caller, body, context, .. } = write;
    let (id, item) = (id.get()?, Item::Document(document.get()?));
    let found = (CheckOutcome::Rejected, Some(body.reason.into()));
    checked(&check(&app.journal, context, caller.user(), id, item, found).await?)
}

/// Staff: reads the file of a document.
#[utoipa::path(
    get, path = "/v1/staff/loans/{loanId}/documents/{documentId}/content", tag = "Staff",
    params(InPath<LoanId>, InPath<DocumentId>, ReadHeaders),
    responses((status = 200, description = "The file.", content(
        (Vec<u8> = "application/pdf"), (Vec<u8> = "image/jpeg"), (Vec<u8> = "image/png"),
    )), ReadProblems)
)]
pub(super) async fn read_loan_document(
    State(app): State<App>,
    caller: Allowed<LoanReview>,
    wants: Conditions,
    id: InPath<LoanId>,
    document: InPath<DocumentId>,
) -> Result<FileAnswer, Problem> {
    let (id, document) = (id.get()?, document.get()?);
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let loan = find(&app.pool, None, id).await?.ok_or_else(|| Problem::not_found("loan"))?;
    let found = loan.documents.into_iter().find(|one| one.document_id == document);
    let file = found.ok_or_else(|| Problem::not_found("document"))?.file;
    let bytes = app.files.get(&app.journal, loan.owner, &file).await?;
    Ok(FileAnswer::attached(&file, &document.to_string(), bytes, wants.none_match))
}

impl LoanDocumentAdded {
    fn of(recorded: &Recorded, document: &LoanDocument) -> Self {
        Self {
            status: "SUCCESS",
            document_id: document.id.to_string(),
            loan_id: recorded.stream.id.to_string(),
            document_type: document.document_type.as_str(),
            document_name: document.name.as_ref().map(Personal::or_erased).map(str::to_owned),
            uploaded_at: recorded.recorded_at,
            file_size: document.size,
            verification_status: ItemStatus::Pending.as_str(),
            message: "Document uploaded",
        }
    }
}
