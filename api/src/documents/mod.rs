//! Evidence that customers hand in, and what staff make of it.

mod views;

use axum::extract::State;
use bursar_commands::Committed;
use bursar_commands::documents::{self, NewDocument};
use bursar_domain::Event;
use bursar_domain::documents::{DocumentEvent, DocumentPurpose, DocumentSide, DocumentStatus};
use bursar_domain::kernel::{DocumentId, FileType, UserId};
use bursar_projections::documents::{DocumentFilter, DocumentSort, filtered, find};
use bursar_projections::{Page, Sort};
use jiff::civil::Date;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::answer::{Answer, FileAnswer};
use crate::app::App;
use crate::auth::{Allowed, Caller, KycVerify, ManageProfile};
use crate::edge::Scope;
use crate::openapi::{IfMatch, ReadHeaders, ReadProblems, WriteHeaders, WriteProblems};
use crate::paging::Pagination;
use crate::problem::Problem;
use crate::request::{Code, Conditions, CountryCode, FileContent, InPath, OneOf, Queried, Text, Write};
use crate::{query, request};
use views::{
    ComplianceUploaded, DocumentDecided, DocumentList, DocumentView, IdentificationUploaded,
    StaffDocumentList, StaffDocumentView,
};

/// The routes of this area.
pub fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(upload_compliance_document))
        .routes(routes!(upload_identification))
        .routes(routes!(list_documents))
        .routes(routes!(read_document))
        .routes(routes!(list_documents_as_staff))
        .routes(routes!(read_document_as_staff))
        .routes(routes!(read_document_content))
        .routes(routes!(verify_document))
        .routes(routes!(reject_document))
}

/// The read model behind these pages.
const MODEL: &str = "documents";

request! {
    /// A document that the law wants to see.
    ComplianceDocument {
        /// What it is: `UTILITY_BILL`, `BANK_STATEMENT` ...
        document_type: Code<64> = "documentType",
        /// What the caller calls it.
        document_name: Option<Text<255>> = "documentName",
        /// Base64; at most 5 MiB decoded.
        file_content: FileContent = "fileContent",
        /// What the file is.
        file_type: OneOf<FileType> = "fileType",
        /// Until when it is good.
        expiry_date: Option<Date> = "expiryDate",
        /// What the caller says about it.
        description: Option<Text<1000>> = "description",
    }
}

request! {
    /// A document that shows who the caller is.
    IdentificationDocument {
        /// What it is: `PASSPORT`, `DRIVERS_LICENSE` ...
        document_type: Code<64> = "documentType",
        /// The number on it.
        document_number: Option<Text<64>> = "documentNumber",
        /// Who issued it: ISO 3166-1 alpha-2.
        issuing_country: Option<CountryCode> = "issuingCountry",
        /// When it was issued.
        issue_date: Option<Date> = "issueDate",
        /// Until when it is good.
        expiry_date: Option<Date> = "expiryDate",
        /// Base64; at most 5 MiB decoded.
        file_content: FileContent = "fileContent",
        /// What the file is.
        file_type: OneOf<FileType> = "fileType",
        /// Which side it shows.
        document_side: Option<OneOf<DocumentSide>> = "documentSide",
    }
}

request! {
    /// That a document is believed.
    Verification {
        /// What was seen, for the file.
        note: Option<Text<1000>> = "note",
    }
}

request! {
    /// That a document is not believed.
    Rejection {
        /// Why; the customer can read it.
        reason: Text<1000> = "reason",
    }
}

query! {
    /// Which documents are listed, and how.
    ListDocuments {
        /// Only in this state.
        status: Option<OneOf<DocumentStatus>> = "status",
        /// The order; newest first when absent.
        sort: Sort<DocumentSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

query! {
    /// Which documents are listed, and how.
    ListAllDocuments {
        /// Only of this customer.
        owner: Option<UserId> = "userId",
        /// Only evidence of this.
        purpose: Option<OneOf<DocumentPurpose>> = "purpose",
        /// Only in this state.
        status: Option<OneOf<DocumentStatus>> = "status",
        /// The order; newest first when absent.
        sort: Sort<DocumentSort> = "sort",
        /// Which part.
        page: Page = "page",
    }
}

/// Hands in a document that the law wants to see.
#[utoipa::path(
    post, path = "/v1/users/compliance/upload", tag = "Users",
    params(WriteHeaders), request_body = ComplianceDocument,
    responses((status = 201, description = "Uploaded.", body = ComplianceUploaded), WriteProblems)
)]
async fn upload_compliance_document(
    State(app): State<App>,
    scope: axum::Extension<Scope>,
    write: Write<ManageProfile, ComplianceDocument>,
) -> Result<Answer<ComplianceUploaded>, Problem> {
    let Write { caller, body, context, .. } = write;
    scope.limit(app.limits.upload(caller.user(), scope.started()))?;
    let OneOf(file_type) = body.file_type;
    let new = NewDocument {
        purpose: DocumentPurpose::Compliance,
        document_type: body.document_type.into(),
        name: body.document_name.map(String::from),
        description: body.description.map(String::from),
        number: None,
        issuing_country: None,
        issue_date: None,
        expiry_date: body.expiry_date,
        side: None,
        file_type,
        content: body.file_content.bytes()?,
    };
    let (journal, files, reader) = (&app.journal, &app.files, &*app.reader);
    let committed = documents::upload(journal, files, reader, context, caller.user(), new).await?;
    uploaded(&committed, ComplianceUploaded::of)
}

/// Hands in a document that shows who the caller is.
#[utoipa::path(
    post, path = "/v1/users/identification/upload", tag = "Users",
    params(WriteHeaders), request_body = IdentificationDocument,
    responses((status = 201, description = "Uploaded.", body = IdentificationUploaded), WriteProblems)
)]
async fn upload_identification(
    State(app): State<App>,
    scope: axum::Extension<Scope>,
    write: Write<ManageProfile, IdentificationDocument>,
) -> Result<Answer<IdentificationUploaded>, Problem> {
    let Write { caller, body, context, .. } = write;
    scope.limit(app.limits.upload(caller.user(), scope.started()))?;
    let country = body.issuing_country.map(|code| code.0);
    if country.as_ref().is_some_and(|code| app.places.countries.get(code).is_none()) {
        let message = "expected a country of /v1/datasets/countries";
        return Err(Problem::bad_request("/issuingCountry", "UNKNOWN_VALUE", message));
    }
    let OneOf(file_type) = body.file_type;
    let new = NewDocument {
        purpose: DocumentPurpose::Identification,
        document_type: body.document_type.into(),
        name: None,
        description: None,
        number: body.document_number.map(String::from),
        issuing_country: country,
        issue_date: body.issue_date,
        expiry_date: body.expiry_date,
        side: body.document_side.map(|OneOf(side)| side),
        file_type,
        content: body.file_content.bytes()?,
    };
    let (journal, files, reader) = (&app.journal, &app.files, &*app.reader);
    let committed = documents::upload(journal, files, reader, context, caller.user(), new).await?;
    uploaded(&committed, IdentificationUploaded::of)
}

fn uploaded<T>(
    committed: &Committed,
    view: fn(&bursar_domain::Recorded, &bursar_domain::documents::Uploaded) -> T,
) -> Result<Answer<T>, Problem> {
    let (recorded, uploaded) = committed.event(|event| match event {
        Event::Document(DocumentEvent::Uploaded(uploaded)) => Some(&**uploaded),
        _ => None,
    })?;
    let location = format!("/v1/users/documents/{}", recorded.stream.id);
    Ok(Answer::ok(view(recorded, uploaded)).at(committed).created(&location))
}

/// Lists the documents that the caller has handed in.
#[utoipa::path(
    get, path = "/v1/users/documents", tag = "Users", params(ListDocuments, ReadHeaders),
    responses((status = 200, description = "The documents.", body = DocumentList), ReadProblems)
)]
async fn list_documents(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    wants: Conditions,
    Queried(query): Queried<ListDocuments>,
) -> Result<Answer<DocumentList>, Problem> {
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let status = query.status.map(|OneOf(status)| status);
    let filter = DocumentFilter { owner: Some(caller.user()), status, purpose: None };
    let found = filtered(&app.pool, &filter, query.sort, query.page).await?;
    Ok(Answer::ok(DocumentList {
        pagination: Pagination::of(query.page, found.total),
        documents: found.items.into_iter().map(DocumentView::from).collect(),
    }))
}

/// Reads about one document of the caller.
#[utoipa::path(
    get, path = "/v1/users/documents/{documentId}", tag = "Users", params(InPath<DocumentId>, ReadHeaders),
    responses((status = 200, description = "The document.", body = DocumentView), ReadProblems)
)]
async fn read_document(
    State(app): State<App>,
    caller: Allowed<ManageProfile>,
    wants: Conditions,
    id: InPath<DocumentId>,
) -> Result<Answer<DocumentView>, Problem> {
    let id = id.get()?;
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let row = find(&app.pool, id).await?.filter(|row| row.owner == caller.user());
    let row = row.ok_or_else(|| Problem::not_found("document"))?;
    let version = row.version;
    Ok(Answer::ok(DocumentView::from(row)).tagged(version, wants.none_match))
}

/// Staff: lists documents.
#[utoipa::path(
    get, path = "/v1/staff/documents", tag = "Staff", params(ListAllDocuments, ReadHeaders),
    responses((status = 200, description = "The documents.", body = StaffDocumentList), ReadProblems)
)]
async fn list_documents_as_staff(
    State(app): State<App>,
    caller: Allowed<KycVerify>,
    wants: Conditions,
    Queried(query): Queried<ListAllDocuments>,
) -> Result<Answer<StaffDocumentList>, Problem> {
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let filter = DocumentFilter {
        owner: query.owner,
        purpose: query.purpose.map(|OneOf(purpose)| purpose),
        status: query.status.map(|OneOf(status)| status),
    };
    let found = filtered(&app.pool, &filter, query.sort, query.page).await?;
    Ok(Answer::ok(StaffDocumentList {
        pagination: Pagination::of(query.page, found.total),
        documents: found.items.into_iter().map(StaffDocumentView::from).collect(),
    }))
}

/// Staff: reads about a document.
#[utoipa::path(
    get, path = "/v1/staff/documents/{documentId}", tag = "Staff", params(InPath<DocumentId>, ReadHeaders),
    responses((status = 200, description = "The document.", body = StaffDocumentView), ReadProblems)
)]
async fn read_document_as_staff(
    State(app): State<App>,
    caller: Allowed<KycVerify>,
    wants: Conditions,
    id: InPath<DocumentId>,
) -> Result<Answer<StaffDocumentView>, Problem> {
    let id = id.get()?;
    app.fresh(&caller, &wants, &[MODEL]).await?;
    let row = find(&app.pool, id).await?.ok_or_else(|| Problem::not_found("document"))?;
    let version = row.version;
    Ok(Answer::ok(StaffDocumentView::from(row)).tagged(version, wants.none_match))
}

/// Staff: downloads a document, as an attachment.
#[utoipa::path(
    get, path = "/v1/staff/documents/{documentId}/content", tag = "Staff",
    params(InPath<DocumentId>, ReadHeaders),
    responses(
        (status = 200, description = "The file.", body = Vec<u8>, content_type = "application/octet-stream"),
        ReadProblems,
    )
)]
async fn read_document_content(
    State(app): State<App>,
    _: Allowed<KycVerify>,
    wants: Conditions,
    id: InPath<DocumentId>,
) -> Result<FileAnswer, Problem> {
    let id = id.get()?;
    let (file, bytes) = documents::content(&app.journal, &app.files, id).await?;
    Ok(FileAnswer::attached(&file, &id.to_string(), bytes, wants.none_match))
}

/// Staff: says that a document is believed. Not one's own.
#[utoipa::path(
    post, path = "/v1/staff/documents/{documentId}/verify", tag = "Staff",
    params(InPath<DocumentId>, WriteHeaders, IfMatch), request_body = Verification,
    responses((status = 200, description = "Verified.", body = DocumentDecided), WriteProblems)
)]
async fn verify_document(
    State(app): State<App>,
    id: InPath<DocumentId>,
    write: Write<KycVerify, Verification>,
) -> Result<Answer<DocumentDecided>, Problem> {
    let Write { caller, body, context, .. } = write;
    let note = body.note.map(String::from);
    let committed = documents::verify(&app.journal, context, Caller::user(&caller), id.get()?, note).await?;
    DocumentDecided::of(&committed)
}

/// Staff: says that a document is not believed. Not one's own.
#[utoipa::path(
    post, path = "/v1/staff/documents/{documentId}/reject", tag = "Staff",
    params(InPath<DocumentId>, WriteHeaders, IfMatch), request_body = Rejection,
    responses((status = 200, description = "Rejected.", body = DocumentDecided), WriteProblems)
)]
async fn reject_document(
    State(app): State<App>,
    id: InPath<DocumentId>,
    write: Write<KycVerify, Rejection>,
) -> Result<Answer<DocumentDecided>, Problem> {
    let Write { caller, body, context, .. } = write;
    let reason = body.reason.into();
    let committed = documents::reject(&app.journal, context, caller.user(), id.get()?, reason).await?;
    DocumentDecided::of(&committed)
}
