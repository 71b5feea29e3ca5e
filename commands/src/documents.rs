//! Evidence that customers hand in: taken, read, kept, and decided about by staff.

mod reader;

use bursar_domain::Personal;
use bursar_domain::documents::{
    Document, DocumentCommand, DocumentError, DocumentPurpose, DocumentSide, Uploaded,
};
use bursar_domain::kernel::{DocumentId, FileType, StoredFile, UserId};
use jiff::civil::Date;

use crate::files::Files;
use crate::owned::{CommandError, once};
use crate::{Committed, Context, Journal, Unit};

pub use reader::{DocumentReader, MrzReader, Reading};

/// A document as it is handed in.
#[derive(Debug, Clone)]
pub struct NewDocument {
    /// What it is evidence of.
    pub purpose: DocumentPurpose,
    /// What kind of document it is.
    pub document_type: String,
    /// What its owner calls it.
    pub name: Option<String>,
    /// What they say about it.
    pub description: Option<String>,
    /// The number on it, as they say.
    pub number: Option<String>,
    /// Who issued it: ISO 3166-1 alpha-2.
    pub issuing_country: Option<String>,
    /// When it was issued, as they say.
    pub issue_date: Option<Date>,
    /// Until when it is good, as they say.
    pub expiry_date: Option<Date>,
    /// Which side a picture shows.
    pub side: Option<DocumentSide>,
    /// What the file should be.
    pub file_type: FileType,
    /// Its bytes.
    pub content: Vec<u8>,
}

/// Takes a document in. An identity document is read by `reader`.
///
/// # Errors
/// `FILE_TYPE_MISMATCH`, `FILE_DAMAGED`, `FILE_NOT_PLAIN`, `IMAGE_TOO_LARGE` (422).
pub async fn upload(
    journal: &Journal,
    files: &Files,
    reader: &dyn DocumentReader,
    context: Context,
    owner: UserId,
    new: NewDocument,
) -> Result<Committed, CommandError> {
    // A repeat brings nothing that is not there.
    once(journal, context, async |context| {
        let size = u64::try_from(new.content.len()).unwrap_or(u64::MAX);
        // What a picture says beside its pixels is read first: it is not kept.
        let extracted = match new.purpose {
            DocumentPurpose::Identification => {
                let reading = Reading {
                    content: &new.content,
                    file_type: new.file_type,
                    number: new.number.as_deref(),
                    expiry_date: new.expiry_date,
                    today: bursar_domain::kernel::utc_date(journal.sources().clock.now()),
                };
                Some(reader.read(reading).await?)
            }
            DocumentPurpose::Compliance => None,
        };
        let content = files.check(new.file_type, new.content).await?;
        let file = files.put(journal, owner, new.file_type, content).await?;
        let id = DocumentId::mint(journal.sources());
        let uploaded = Box::new(Uploaded {
            owner,
            purpose: new.purpose,
            document_type: new.document_type,
            name: new.name.map(Personal::new),
            description: new.description.map(Personal::new),
            number: new.number.map(Personal::new),
            issuing_country: new.issuing_country,
            issue_date: new.issue_date,
            expiry_date: new.expiry_date,
            side: new.side,
            file: file.clone(),
            size,
            extracted,
        });
        let unit = Unit::new(context).create(id, DocumentCommand::Upload(uploaded));
        files.submit(journal, unit, id, &[&file]).await
    })
    .await
}

/// Staff: it is believed.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is pending; `OWN_DOCUMENT`.
pub async fn verify(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: DocumentId,
    note: Option<String>,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step(id, DocumentCommand::Verify { by, note })).await?)
}

/// Staff: it is not believed.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` unless it is pending; `OWN_DOCUMENT`.
pub async fn reject(
    journal: &Journal,
    context: Context,
    by: UserId,
    id: DocumentId,
    reason: String,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step(id, DocumentCommand::Reject { by, reason })).await?)
}

/// Staff: the bytes of a document, as they are kept.
///
/// # Errors
/// `NOT_FOUND`; `SUBJECT_ERASED` when its owner was.
pub async fn content(
    journal: &Journal,
    files: &Files,
    id: DocumentId,
) -> Result<(StoredFile, Vec<u8>), CommandError> {
    let (document, _) = journal.load::<Document>(&id.to_string()).await?;
    let held = document.held().ok_or_else(|| CommandError::refused(DocumentError::Unknown))?;
    let bytes = files.get(journal, held.owner, &held.file).await?;
    Ok((held.file.clone(), bytes))
}
