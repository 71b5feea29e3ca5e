//! Documents that customers handed in.

use bursar_domain::documents::{
    DocumentEvent, DocumentPurpose, DocumentSide, DocumentStatus, ExtractedFrom, Uploaded,
};
use bursar_domain::kernel::{DocumentId, FileId, FileType, UserId};
use bursar_domain::{Event, Kind, Personal, Position, Recorded};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

use crate::page::{Page, Paged, Sort, SortField};
use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{self, Record, Records, equal, list_all};
use crate::row::{erase, erasure, named};

/// A document. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentRow {
    /// Its id.
    pub document_id: DocumentId,
    /// Whose it is.
    pub owner: UserId,
    /// What it is evidence of.
    pub purpose: DocumentPurpose,
    /// What kind of document it is.
    pub document_type: String,
    /// What became of it.
    pub status: DocumentStatus,
    /// What its owner calls it.
    pub name: Option<String>,
    /// What its owner says about it.
    pub description: Option<String>,
    /// The number on it, as its owner says.
    pub number: Option<String>,
    /// Who issued it.
    pub issuing_country: Option<String>,
    /// When it was issued.
    pub issue_date: Option<Date>,
    /// Until when it is good.
    pub expiry_date: Option<Date>,
    /// Which side a picture shows.
    pub side: Option<DocumentSide>,
    /// What the file is.
    pub file_type: FileType,
    /// What the file is called in the store.
    pub file_id: FileId,
    /// SHA-256 of the encrypted file, hex.
    pub sha256: String,
    /// Bytes as they were handed in.
    pub size: i64,
    /// Where what follows comes from.
    pub extracted_from: Option<ExtractedFrom>,
    /// Its number.
    pub extracted_number: Option<String>,
    /// The name on it.
    pub extracted_name: Option<String>,
    /// The date of birth on it.
    pub extracted_birth: Option<Date>,
    /// Until when it is good.
    pub extracted_expiry: Option<Date>,
    /// What staff noted.
    pub note: Option<String>,
    /// Who decided.
    pub decided_by: Option<String>,
    /// When they did.
    pub decided_at: Option<Timestamp>,
    /// When it was handed in.
    pub uploaded_at: Timestamp,
    /// Events so far.
    pub version: i64,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

impl DocumentRow {
    fn of(event: &Recorded, document_id: DocumentId, document: &Uploaded) -> Self {
        let text = |text: &Option<Personal<String>>| text.as_ref().map(|text| text.or_erased().to_owned());
        let extracted = document.extracted.as_ref();
        Self {
            document_id,
            owner: document.owner,
            purpose: document.purpose,
            document_type: document.document_type.clone(),
            status: DocumentStatus::Pending,
            name: text(&document.name),
            description: text(&document.description),
            number: text(&document.number),
            issuing_country: document.issuing_country.clone(),
            issue_date: document.issue_date,
            expiry_date: document.expiry_date,
            side: document.side,
            file_type: document.file.file_type,
            file_id: document.file.id,
            sha256: document.file.sha256.clone(),
            size: i64::try_from(document.size).unwrap_or(i64::MAX),
            extracted_from: extracted.map(|extracted| extracted.from),
            extracted_number: extracted.and_then(|extracted| text(&extracted.document_number)),
            extracted_name: extracted.and_then(|extracted| text(&extracted.full_name)),
            extracted_birth: extracted.and_then(|e| e.date_of_birth.as_ref()?.get().copied()),
            extracted_expiry: extracted.and_then(|extracted| extracted.expiry_date),
            note: None,
            decided_by: None,
            decided_at: None,
            uploaded_at: event.recorded_at,
            version: event.sequence,
            last_position: event.position,
        }
    }
}

impl DocumentRow {
    /// What its owner said, and what it says of them, can be read no more.
    fn erase(&mut self, position: Position) {
        let texts = [&mut self.name, &mut self.description, &mut self.number];
        texts.into_iter().chain([&mut self.extracted_number, &mut self.extracted_name]).for_each(erase);
        self.extracted_birth = None;
        self.last_position = position;
    }
}

impl Record for DocumentRow {
    const TABLE: &'static Table = &Documents::TABLES[0];
    const GROUP: &'static str = "owner";
    type Key = DocumentId;
    type Group = UserId;

    fn key(&self) -> DocumentId {
        self.document_id
    }

    fn group(&self) -> UserId {
        self.owner
    }
}

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DocumentSort {
    /// When they were handed in.
    #[default]
    UploadedAt,
}

impl SortField for DocumentSort {
    const NAMES: &'static [(&'static str, Self)] = &[("uploadedAt", Self::UploadedAt)];
}

/// Which documents a list shows; everything that is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct DocumentFilter {
    /// Only this customer's.
    pub owner: Option<UserId>,
    /// Only evidence of this.
    pub purpose: Option<DocumentPurpose>,
    /// Only those in this state.
    pub status: Option<DocumentStatus>,
}

/// One page of the documents that `filter` lets through.
///
/// # Errors
/// When the database cannot be read.
pub async fn filtered(
    pool: &PgPool,
    filter: &DocumentFilter,
    sort: Sort<DocumentSort>,
    page: Page,
) -> sqlx::Result<Paged<DocumentRow>> {
    let column = match sort.field {
        DocumentSort::UploadedAt => "uploaded_at",
    };
    let order = format!("{column} {}", sort.direction());
    let matching = |query: &mut QueryBuilder<'_, Postgres>| {
        let wanted = [
            ("owner", filter.owner.map(|id| id.to_string())),
            ("purpose", filter.purpose.map(|purpose| purpose.to_string())),
            ("status", filter.status.map(|status| status.to_string())),
        ];
        equal(query, wanted);
    };
    list_all(pool, matching, &order, page).await
}

/// The document, whosever it is.
///
/// # Errors
/// When the database cannot be read.
pub async fn find(pool: &PgPool, id: DocumentId) -> sqlx::Result<Option<DocumentRow>> {
    records::find::<DocumentRow>(pool, &id).await
}

/// The read model behind [`filtered`].
#[derive(Debug, Default)]
pub struct Documents {
    rows: Records<DocumentRow>,
}

impl ReadModel for Documents {
    const NAME: &'static str = "documents";
    const READS: &'static [Kind] = &[Kind::Document, Kind::User];
    const TABLES: &'static [Table] =
        &[Table { name: "documents", key: &["document_id"], position: "last_position", append_only: false }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let owners = events.iter().filter_map(|event| match &event.event {
            Event::Document(what) => Some(what.owner()),
            _ => erasure(event).map(|(user, _)| user),
        });
        self.rows.load(db, owners).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        if let Some((user, _)) = erasure(event) {
            self.rows.change(&user, |_| true, |row| row.erase(event.position));
        }
        let Event::Document(what) = &event.event else { return Ok(()) };
        let id: DocumentId = named(event)?;
        let (status, note) = match what {
            DocumentEvent::Uploaded(uploaded) => {
                self.rows.insert(DocumentRow::of(event, id, uploaded));
                return Ok(());
            }
            DocumentEvent::Verified { note, .. } => (DocumentStatus::Verified, note.clone()),
            DocumentEvent::Rejected { reason, .. } => (DocumentStatus::Rejected, Some(reason.clone())),
        };
        self.rows.change(
            &what.owner(),
            |row| row.document_id == id,
            |row| {
                row.status = status;
                row.note.clone_from(&note);
                row.decided_by = Some(event.metadata.actor.to_string());
                row.decided_at = Some(event.recorded_at);
                row.version = event.sequence;
                row.last_position = event.position;
            },
        );
        Ok(())
    }

    fn pending(&self) -> usize {
        self.rows.pending()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.rows.save(db).await
    }
}
