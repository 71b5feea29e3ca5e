//! What customers say about themselves and those close to them, and what staff think of it.

use bursar_domain::compliance::{
    Changed, ComplianceEvent, Details, RecordId, RecordKind, VerificationStatus,
};
use bursar_domain::kernel::UserId;
use bursar_domain::{Event, Kind, Position, Recorded};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

use crate::page::{Page, Paged, Sort, SortField};
use crate::read_model::{FoldError, Mask, ReadModel, Table};
use crate::records::{self, Record, Records, equal, list};
use crate::row::{erase, erasure, owner};

/// A record of any kind. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComplianceRow {
    /// Its id.
    pub record_id: RecordId,
    /// Whose it is.
    pub owner: UserId,
    /// What kind of record it is.
    pub kind: RecordKind,
    /// What it says: every field by its name in the interface.
    pub details: Map<String, Value>,
    /// What staff think of it.
    pub status: VerificationStatus,
    /// Why it is rejected; none unless it is.
    pub rejection_reason: Option<String>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed or judged.
    pub updated_at: Timestamp,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

impl ComplianceRow {
    fn added(event: &Recorded, owner: UserId, id: RecordId, details: &Details) -> Self {
        Self {
            record_id: id,
            owner,
            kind: id.kind(),
            details: named(details),
            status: VerificationStatus::Pending,
            rejection_reason: None,
            created_at: id.minted_at(),
            updated_at: event.recorded_at,
            last_position: event.position,
        }
    }

    fn change(&mut self, changed: &Changed) {
        self.details = named(&changed.details);
        self.judge(changed.status, self.rejection_reason.clone());
    }

    fn judge(&mut self, status: VerificationStatus, reason: Option<String>) {
        self.status = status;
        self.rejection_reason = reason.filter(|_| status == VerificationStatus::Rejected);
    }
}

fn named(details: &Details) -> Map<String, Value> {
    details.fields().into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

impl Record for ComplianceRow {
    const TABLE: &'static Table = &Compliance::TABLES[0];
    const GROUP: &'static str = "owner";
    type Key = RecordId;
    type Group = UserId;

    fn key(&self) -> RecordId {
        self.record_id
    }

    fn group(&self) -> UserId {
        self.owner
    }
}

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ComplianceSort {
    /// When they were made.
    #[default]
    CreatedAt,
    /// When they were last changed or judged.
    UpdatedAt,
}

impl SortField for ComplianceSort {
    const NAMES: &'static [(&'static str, Self)] =
        &[("createdAt", Self::CreatedAt), ("updatedAt", Self::UpdatedAt)];
}

/// Which records a list shows; everything that is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct ComplianceFilter {
    /// Only this one.
    pub id: Option<RecordId>,
    /// Only those of which staff think this.
    pub status: Option<VerificationStatus>,
    /// Only addresses of this type.
    pub address_type: Option<String>,
    /// Only people in this relationship.
    pub relationship: Option<String>,
    /// Only employments on these terms.
    pub employment_type: Option<String>,
    /// Only emergency contacts of this priority.
    pub priority: Option<String>,
}

/// One page of the records of a kind that `owner` has.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_owner(
    pool: &PgPool,
    owner: UserId,
    kind: RecordKind,
    filter: &ComplianceFilter,
    sort: Sort<ComplianceSort>,
    page: Page,
) -> sqlx::Result<Paged<ComplianceRow>> {
    let column = match sort.field {
        ComplianceSort::CreatedAt => "created_at",
        ComplianceSort::UpdatedAt => "updated_at",
    };
    let order = format!("{column} {}", sort.direction());
    let matching = |query: &mut QueryBuilder<'_, Postgres>| {
        let wanted = [
            ("kind", Some(kind.to_string())),
            ("record_id", filter.id.map(|id| id.to_string())),
            ("status", filter.status.map(|status| status.to_string())),
            ("details ->> 'addressType'", filter.address_type.clone()),
            ("details ->> 'relationship'", filter.relationship.clone()),
            ("details ->> 'employmentType'", filter.employment_type.clone()),
            ("details ->> 'priority'", filter.priority.clone()),
        ];
        equal(query, wanted);
    };
    list(pool, &owner, matching, &order, page).await
}

/// The record, whosever it is.
///
/// # Errors
/// When the database cannot be read.
pub async fn find(pool: &PgPool, id: RecordId) -> sqlx::Result<Option<ComplianceRow>> {
    records::find(pool, &id).await
}

/// The read model behind [`of_owner`].
#[derive(Debug, Default)]
pub struct Compliance {
    rows: Records<ComplianceRow>,
}

impl ReadModel for Compliance {
    const NAME: &'static str = "compliance";
    const READS: &'static [Kind] = &[Kind::Compliance, Kind::User];

    const ROW_SETS: &'static [Kind] = &[Kind::Compliance, Kind::User];

    fn mask(&mut self, mask: &Mask) {
        self.rows.mask(mask);
    }
    const TABLES: &'static [Table] = &[Table {
        name: "compliance_records",
        key: &["record_id"],
        position: "last_position",
        append_only: false,
    }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let lists =
            events.iter().filter(|event| event.stream.kind == Kind::Compliance || erasure(event).is_some());
        self.rows.load(db, lists.filter_map(|event| owner(event).ok())).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        if let Some((user, _)) = erasure(event) {
            // That they said something, and what staff thought of it, remains.
            self.rows.change(
                &user,
                |_| true,
                |row| {
                    row.details.clear();
                    erase(&mut row.rejection_reason);
                    row.last_position = event.position;
                },
            );
        }
        let Event::Compliance(what) = &event.event else { return Ok(()) };
        let owner = owner(event)?;
        let mut change = |id: RecordId, change: &dyn Fn(&mut ComplianceRow)| {
            self.rows.change(
                &owner,
                |row| row.record_id == id,
                |row| {
                    change(row);
                    row.updated_at = event.recorded_at;
                    row.last_position = event.position;
                },
            );
        };
        match what {
            ComplianceEvent::Added { id, details } => {
                self.rows.insert(ComplianceRow::added(event, owner, *id, details));
            }
            ComplianceEvent::Changed(changed) => change(changed.id, &|row| row.change(changed)),
            ComplianceEvent::Removed { id, .. } => {
                self.rows.remove(&owner, id);
            }
            ComplianceEvent::Verified { id, .. } => {
                change(*id, &|row| row.judge(VerificationStatus::Verified, None));
            }
            ComplianceEvent::Rejected { id, reason } => change(*id, &|row| {
                row.judge(VerificationStatus::Rejected, Some(reason.or_erased().to_owned()));
            }),
        }
        Ok(())
    }

    fn pending(&self) -> usize {
        self.rows.pending()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.rows.save(db).await
    }
}
