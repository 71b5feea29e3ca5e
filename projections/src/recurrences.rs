//! Payments that are repeated.

use bursar_domain::kernel::{Frequency, RecurrenceId, TransactionId, UserId};
use bursar_domain::recurrences::{RecurrenceEvent, RecurrenceStatus, SetUp};
use bursar_domain::{Event, Kind, Position, Recorded};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

use crate::page::{Page, Paged, Sort, SortField};
use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{Record, Records, equal, find, list_all};
use crate::row::named;

/// A recurrence. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecurrenceRow {
    /// Its id.
    pub recurring_id: RecurrenceId,
    /// Who pays.
    pub owner: UserId,
    /// The payment that is repeated.
    pub transaction_id: TransactionId,
    /// How often.
    pub frequency: Frequency,
    /// On which day of the month or week; none of a daily one.
    pub execution_day: Option<i8>,
    /// From when on.
    pub starts_at: Timestamp,
    /// Until when.
    pub ends_at: Option<Timestamp>,
    /// What it is for.
    pub description: Option<String>,
    /// Where it is.
    pub status: RecurrenceStatus,
    /// The day of the next payment; none unless it is active.
    pub next_due: Option<Date>,
    /// Payments made.
    pub execution_count: i64,
    /// Payments refused.
    pub failure_count: i64,
    /// The last payment made.
    pub last_transaction_id: Option<TransactionId>,
    /// When it was made.
    pub last_executed_at: Option<Timestamp>,
    /// Code of the last refusal; none when the last payment was made.
    pub last_failure: Option<String>,
    /// When it was set up.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Events so far.
    pub version: i64,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

impl RecurrenceRow {
    fn begun(event: &Recorded, recurring_id: RecurrenceId, set_up: &SetUp) -> Self {
        Self {
            recurring_id,
            owner: set_up.owner,
            transaction_id: set_up.transaction_id,
            frequency: set_up.calendar.frequency(),
            execution_day: set_up.calendar.day(),
            starts_at: set_up.starts_at,
            ends_at: set_up.ends_at,
            description: set_up.description.clone(),
            status: if set_up.next.is_some() { RecurrenceStatus::Active } else { RecurrenceStatus::Paused },
            next_due: set_up.next,
            execution_count: 0,
            failure_count: 0,
            last_transaction_id: None,
            last_executed_at: None,
            last_failure: None,
            created_at: event.recorded_at,
            updated_at: event.recorded_at,
            version: event.sequence,
            last_position: event.position,
        }
    }

    fn grow(&mut self, event: &Recorded, what: &RecurrenceEvent) {
        let going = |next: Option<Date>| {
            if next.is_some() { RecurrenceStatus::Active } else { RecurrenceStatus::Completed }
        };
        (self.status, self.next_due) = match what {
            RecurrenceEvent::SetUp(_) => return,
            RecurrenceEvent::Executed { by, next, .. } => {
                self.execution_count += 1;
                self.last_transaction_id = Some(*by);
                self.last_executed_at = Some(event.recorded_at);
                self.last_failure = None;
                (going(*next), *next)
            }
            RecurrenceEvent::Failed { code, next, .. } => {
                self.failure_count += 1;
                self.last_failure = Some(code.clone());
                (going(*next), *next)
            }
            RecurrenceEvent::Paused { .. } => (RecurrenceStatus::Paused, None),
            RecurrenceEvent::Resumed { next } => (RecurrenceStatus::Active, Some(*next)),
            RecurrenceEvent::Cancelled => (RecurrenceStatus::Cancelled, None),
        };
        self.updated_at = event.recorded_at;
        self.version = event.sequence;
        self.last_position = event.position;
    }
}

impl Record for RecurrenceRow {
    const TABLE: &'static Table = &Recurrences::TABLES[0];
    const GROUP: &'static str = "recurring_id";
    type Key = RecurrenceId;
    type Group = RecurrenceId;

    fn key(&self) -> RecurrenceId {
        self.recurring_id
    }

    fn group(&self) -> RecurrenceId {
        self.recurring_id
    }
}

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RecurrenceSort {
    /// When they were set up.
    #[default]
    CreatedAt,
    /// When they are due next.
    Next,
}

impl SortField for RecurrenceSort {
    const NAMES: &'static [(&'static str, Self)] =
        &[("createdAt", Self::CreatedAt), ("nextExecutionDate", Self::Next)];
}

/// Which recurrences of somebody's a list shows; everything that is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct RecurrenceFilter {
    /// Only those of this payment.
    pub transaction_id: Option<TransactionId>,
    /// Only those in this state.
    pub status: Option<RecurrenceStatus>,
}

/// One page of those of `owner`'s that `filter` lets through.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_owner(
    pool: &PgPool,
    owner: UserId,
    filter: &RecurrenceFilter,
    sort: Sort<RecurrenceSort>,
    page: Page,
) -> sqlx::Result<Paged<RecurrenceRow>> {
    let column = match sort.field {
        RecurrenceSort::CreatedAt => "created_at",
        RecurrenceSort::Next => "next_due",
    };
    let order = format!("{column} {} NULLS LAST", sort.direction());
    let matching = |query: &mut QueryBuilder<'_, Postgres>| {
        let wanted = [
            ("owner", Some(owner.to_string())),
            ("transaction_id", filter.transaction_id.map(|id| id.to_string())),
            ("status", filter.status.map(|status| status.to_string())),
        ];
        equal(query, wanted);
    };
    list_all(pool, matching, &order, page).await
}

/// The recurrence, if it is `owner`'s.
///
/// # Errors
/// When the database cannot be read.
pub async fn owned(pool: &PgPool, owner: UserId, id: RecurrenceId) -> sqlx::Result<Option<RecurrenceRow>> {
    Ok(find::<RecurrenceRow>(pool, &id).await?.filter(|recurrence| recurrence.owner == owner))
}

/// The read model behind [`of_owner`].
#[derive(Debug, Default)]
pub struct Recurrences {
    rows: Records<RecurrenceRow>,
}

impl ReadModel for Recurrences {
    const NAME: &'static str = "recurrences";
    const READS: &'static [Kind] = &[Kind::Recurrence];
    const TABLES: &'static [Table] = &[Table {
        name: "recurrences",
        key: &["recurring_id"],
        position: "last_position",
        append_only: false,
    }];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let recurrences = events.iter().filter(|event| event.stream.kind == Kind::Recurrence);
        self.rows.load(db, recurrences.filter_map(|event| named(event).ok())).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        let Event::Recurrence(what) = &event.event else { return Ok(()) };
        let id = named(event)?;
        if let RecurrenceEvent::SetUp(set_up) = what {
            self.rows.insert(RecurrenceRow::begun(event, id, set_up));
        } else {
            self.rows.change(&id, |_| true, |row| row.grow(event, what));
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
