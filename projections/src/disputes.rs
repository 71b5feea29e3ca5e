//! Complaints about payments.

use bursar_domain::disputes::{DisputeEvent, DisputeReason, DisputeStatus, Opened};
use bursar_domain::kernel::{DisputeId, TransactionId, UserId};
use bursar_domain::{Currency, Event, Kind, Personal, Position, Recorded};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

use crate::page::{Page, Paged, Sort, SortField};
use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{self, Record, Records, equal, list_all};
use crate::row::{erase, erasure, named, parsed};

/// A dispute. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisputeRow {
    /// Its id.
    pub dispute_id: DisputeId,
    /// Who paid and complains.
    pub owner: UserId,
    /// The payment.
    pub transaction_id: TransactionId,
    /// What was wrong.
    pub reason: DisputeReason,
    /// How much of the payment, minor units.
    pub amount: i64,
    /// The payment's currency.
    pub currency: Currency,
    /// Where it is.
    pub status: DisputeStatus,
    /// A number to quote to the bank.
    pub reference: String,
    /// What happened, in the payer's words.
    pub description: Option<String>,
    /// Names of files that support it.
    pub supporting_documents: Vec<String>,
    /// Where the payer can be called.
    pub contact_phone: Option<String>,
    /// Where the payer can be written to.
    pub contact_email: Option<String>,
    /// What was said about it last: by staff, or by the payer who took it back.
    pub note: Option<String>,
    /// The transaction that gave the money back.
    pub refunded_by: Option<TransactionId>,
    /// When it was begun.
    pub submitted_at: Timestamp,
    /// When it last moved.
    pub updated_at: Timestamp,
    /// Events so far.
    pub version: i64,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

impl DisputeRow {
    fn begun(event: &Recorded, dispute_id: DisputeId, opened: &Opened) -> Self {
        let text = |value: &Option<Personal<String>>| value.as_ref().map(|text| text.or_erased().to_owned());
        Self {
            dispute_id,
            owner: opened.owner,
            transaction_id: opened.transaction_id,
            reason: opened.reason,
            amount: opened.amount.minor(),
            currency: opened.currency,
            status: DisputeStatus::Pending,
            reference: opened.reference.clone(),
            description: opened.description.clone(),
            supporting_documents: opened.supporting_documents.clone(),
            contact_phone: text(&opened.contact_phone),
            contact_email: text(&opened.contact_email),
            note: None,
            refunded_by: None,
            submitted_at: event.recorded_at,
            updated_at: event.recorded_at,
            version: event.sequence,
            last_position: event.position,
        }
    }
}

impl Record for DisputeRow {
    const TABLE: &'static Table = &Disputes::TABLES[0];
    const GROUP: &'static str = "dispute_id";
    type Key = DisputeId;
    type Group = DisputeId;

    fn key(&self) -> DisputeId {
        self.dispute_id
    }

    fn group(&self) -> DisputeId {
        self.dispute_id
    }
}

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DisputeSort {
    /// When they were begun.
    #[default]
    SubmittedAt,
    /// How much they are about.
    Amount,
}

impl SortField for DisputeSort {
    const NAMES: &'static [(&'static str, Self)] =
        &[("submittedAt", Self::SubmittedAt), ("disputeAmount", Self::Amount)];
}

/// Which disputes a list shows; everything that is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct DisputeFilter {
    /// Only this customer's.
    pub owner: Option<UserId>,
    /// Only those about this payment.
    pub transaction_id: Option<TransactionId>,
    /// Only those in this state.
    pub status: Option<DisputeStatus>,
}

/// One page of the disputes that `filter` lets through.
///
/// # Errors
/// When the database cannot be read.
pub async fn filtered(
    pool: &PgPool,
    filter: &DisputeFilter,
    sort: Sort<DisputeSort>,
    page: Page,
) -> sqlx::Result<Paged<DisputeRow>> {
    let column = match sort.field {
        DisputeSort::SubmittedAt => "submitted_at",
        DisputeSort::Amount => "amount",
    };
    let order = format!("{column} {}", sort.direction());
    let matching = |query: &mut QueryBuilder<'_, Postgres>| {
        let wanted = [
            ("owner", filter.owner.map(|id| id.to_string())),
            ("transaction_id", filter.transaction_id.map(|id| id.to_string())),
            ("status", filter.status.map(|status| status.to_string())),
        ];
        equal(query, wanted);
    };
    list_all(pool, matching, &order, page).await
}

/// The dispute, if it is `owner`'s; whosever it is, when no owner is given.
///
/// # Errors
/// When the database cannot be read.
pub async fn find(pool: &PgPool, owner: Option<UserId>, id: DisputeId) -> sqlx::Result<Option<DisputeRow>> {
    let found = records::find::<DisputeRow>(pool, &id).await?;
    Ok(found.filter(|dispute| owner.is_none_or(|owner| dispute.owner == owner)))
}

/// The read model behind [`filtered`].
#[derive(Debug, Default)]
pub struct Disputes {
    rows: Records<DisputeRow>,
}

impl ReadModel for Disputes {
    const NAME: &'static str = "disputes";
    const READS: &'static [Kind] = &[Kind::Dispute, Kind::User];
    const TABLES: &'static [Table] =
        &[Table { name: "disputes", key: &["dispute_id"], position: "last_position", append_only: false }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let disputes = events.iter().filter(|event| event.stream.kind == Kind::Dispute);
        self.rows.load(db, disputes.filter_map(|event| named(event).ok())).await?;
        let erased: Vec<String> =
            events.iter().filter_map(erasure).map(|(user, _)| user.to_string()).collect();
        if erased.is_empty() {
            return Ok(());
        }
        let theirs = sqlx::query_scalar!("SELECT dispute_id FROM disputes WHERE owner = ANY($1)", &erased);
        let theirs = theirs.fetch_all(&mut *db).await?;
        let theirs: Vec<DisputeId> = theirs.iter().map(|id| parsed(id)).collect::<sqlx::Result<_>>()?;
        self.rows.load(db, theirs.into_iter()).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        if let Some((user, _)) = erasure(event) {
            let contact = |row: &mut DisputeRow| {
                erase(&mut row.contact_phone);
                erase(&mut row.contact_email);
                row.last_position = event.position;
            };
            self.rows.change_all(|row| row.owner == user, contact);
        }
        let Event::Dispute(what) = &event.event else { return Ok(()) };
        let id = named(event)?;
        let (status, words, refund) = match what {
            DisputeEvent::Opened(opened) => {
                self.rows.insert(DisputeRow::begun(event, id, opened));
                return Ok(());
            }
            DisputeEvent::ReviewStarted { note } => (DisputeStatus::UnderReview, note, None),
            DisputeEvent::Won { refunded_by, note } => (DisputeStatus::Won, note, Some(*refunded_by)),
            DisputeEvent::Lost { note } => (DisputeStatus::Lost, note, None),
            DisputeEvent::Withdrawn { reason } => (DisputeStatus::Withdrawn, reason, None),
        };
        self.rows.change(
            &id,
            |_| true,
            |row| {
                row.status = status;
                row.note.clone_from(words);
                row.refunded_by = refund;
                row.updated_at = event.recorded_at;
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
