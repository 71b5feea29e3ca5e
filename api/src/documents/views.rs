//! How documents look from outside.

use bursar_commands::Committed;
use bursar_domain::documents::{DocumentEvent, Extracted, Uploaded};
use bursar_domain::{Event, Personal, Recorded};
use bursar_projections::documents::DocumentRow;
use jiff::Timestamp;
use jiff::civil::Date;
use serde::Serialize;
use utoipa::ToSchema;

use crate::answer::Answer;
use crate::paging::Pagination;
use crate::problem::Problem;

/// A document that the law wants to see, taken in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComplianceUploaded {
    document_id: String,
    /// `UPLOADED`.
    status: &'static str,
    /// `PENDING`: staff look at it.
    processing_status: &'static str,
    uploaded_at: Timestamp,
    /// Bytes as they were uploaded.
    file_size: u64,
    message: &'static str,
}

/// A document that shows who the caller is, taken in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IdentificationUploaded {
    document_id: String,
    /// `UPLOADED`.
    status: &'static str,
    /// `PENDING`: staff look at it.
    verification_status: &'static str,
    extracted_data: Option<ExtractedData>,
    uploaded_at: Timestamp,
    /// Bytes as they were uploaded.
    file_size: u64,
    message: &'static str,
}

/// What a document says. It is never taken for true before staff say so.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExtractedData {
    document_number: Option<String>,
    full_name: Option<String>,
    #[schema(value_type = Option<String>, format = Date)]
    date_of_birth: Option<Date>,
    #[schema(value_type = Option<String>, format = Date)]
    expiry_date: Option<Date>,
    /// `MRZ`: read from the document. `SUBMITTED`: what the caller said; nothing could be read.
    source: &'static str,
    /// Whether staff have compared it with the document.
    verified: bool,
}

/// A document of the caller.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentView {
    document_id: String,
    /// `COMPLIANCE` or `IDENTIFICATION`.
    purpose: &'static str,
    document_type: String,
    document_name: Option<String>,
    description: Option<String>,
    /// `PENDING`, `VERIFIED` or `REJECTED`.
    verification_status: &'static str,
    /// Why it was rejected.
    reason: Option<String>,
    document_number: Option<String>,
    issuing_country: Option<String>,
    #[schema(value_type = Option<String>, format = Date)]
    issue_date: Option<Date>,
    #[schema(value_type = Option<String>, format = Date)]
    expiry_date: Option<Date>,
    /// `FRONT` or `BACK`.
    document_side: Option<&'static str>,
    /// `PDF`, `JPG` or `PNG`.
    file_type: &'static str,
    /// Bytes as they were uploaded.
    file_size: i64,
    extracted_data: Option<ExtractedData>,
    uploaded_at: Timestamp,
    verified_at: Option<Timestamp>,
}

/// A document, for staff.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StaffDocumentView {
    #[serde(flatten)]
    document: DocumentView,
    /// Whose it is.
    user_id: String,
    /// What staff noted when they decided.
    note: Option<String>,
    /// Who decided.
    decided_by: Option<String>,
    /// SHA-256 of the file as it is stored, which is encrypted; hex.
    sha256: String,
    /// Where the file is.
    content_url: String,
}

/// Documents of the caller.
#[derive(Debug, Serialize, ToSchema)]
pub struct DocumentList {
    pub(super) documents: Vec<DocumentView>,
    pub(super) pagination: Pagination,
}

/// Documents, for staff.
#[derive(Debug, Serialize, ToSchema)]
pub struct StaffDocumentList {
    pub(super) documents: Vec<StaffDocumentView>,
    pub(super) pagination: Pagination,
}

/// What staff made of a document.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentDecided {
    /// `SUCCESS`.
    status: &'static str,
    document_id: String,
    user_id: String,
    /// `VERIFIED` or `REJECTED`.
    verification_status: &'static str,
    /// Why it was rejected.
    reason: Option<String>,
    decided_at: Timestamp,
    message: &'static str,
}

impl ComplianceUploaded {
    pub(super) fn of(recorded: &Recorded, uploaded: &Uploaded) -> Self {
        Self {
            document_id: recorded.stream.id.to_string(),
            status: "UPLOADED",
            processing_status: "PENDING",
            uploaded_at: recorded.recorded_at,
            file_size: uploaded.size,
            message: "Document uploaded",
        }
    }
}

impl IdentificationUploaded {
    pub(super) fn of(recorded: &Recorded, uploaded: &Uploaded) -> Self {
        Self {
            document_id: recorded.stream.id.to_string(),
            status: "UPLOADED",
            verification_status: "PENDING",
            extracted_data: uploaded.extracted.as_ref().map(ExtractedData::from),
            uploaded_at: recorded.recorded_at,
            file_size: uploaded.size,
            message: "Document uploaded",
        }
    }
}

impl From<&Extracted> for ExtractedData {
    fn from(extracted: &Extracted) -> Self {
        let text = |text: &Option<Personal<String>>| text.as_ref().map(|text| text.or_erased().to_owned());
        Self {
            document_number: text(&extracted.document_number),
            full_name: text(&extracted.full_name),
            date_of_birth: extracted.date_of_birth.as_ref().and_then(Personal::get).copied(),
            expiry_date: extracted.expiry_date,
            source: extracted.from.as_str(),
            verified: false,
        }
    }
}

impl From<DocumentRow> for DocumentView {
    fn from(row: DocumentRow) -> Self {
        let is_verified = row.status.as_str() == "VERIFIED";
        let is_rejected = row.status.as_str() == "REJECTED";
        Self {
            document_id: row.document_id.to_string(),
            purpose: row.purpose.as_str(),
            document_type: row.document_type,
            document_name: row.name,
            description: row.description,
            verification_status: row.status.as_str(),
            reason: row.note.filter(|_| is_rejected),
            document_number: row.number,
            issuing_country: row.issuing_country,
            issue_date: row.issue_date,
            expiry_date: row.expiry_date,
            document_side: row.side.map(|side| side.as_str()),
            file_type: row.file_type.as_str(),
            file_size: row.size,
            extracted_data: row.extracted_from.map(|from| ExtractedData {
                document_number: row.extracted_number,
                full_name: row.extracted_name,
                date_of_birth: row.extracted_birth,
                expiry_date: row.extracted_expiry,
                source: from.as_str(),
                verified: is_verified,
            }),
            uploaded_at: row.uploaded_at,
            verified_at: row.decided_at.filter(|_| is_verified),
        }
    }
}

impl From<DocumentRow> for StaffDocumentView {
    fn from(row: DocumentRow) -> Self {
        Self {
            user_id: row.owner.to_string(),
            note: row.note.clone(),
            decided_by: row.decided_by.clone(),
            sha256: row.sha256.clone(),
            content_url: format!("/v1/staff/documents/{}/content", row.document_id),
            document: row.into(),
        }
    }
}

impl DocumentDecided {
    pub(super) fn of(committed: &Committed) -> Result<Answer<Self>, Problem> {
        let (recorded, (owner, verification_status, reason, message)) =
            committed.event(|event| match event {
                Event::Document(DocumentEvent::Verified { owner, .. }) => {
                    Some((owner, "VERIFIED", None, "Document verified"))
                }
                Event::Document(DocumentEvent::Rejected { owner, reason }) => {
                    Some((owner, "REJECTED", Some(reason.clone()), "Document rejected"))
                }
                _ => None,
            })?;
        let result = Self {
            status: "SUCCESS",
            document_id: recorded.stream.id.to_string(),
            user_id: owner.to_string(),
            verification_status,
            reason,
            decided_at: recorded.recorded_at,
            message,
        };
        Ok(Answer::ok(result).at(committed))
    }
}
