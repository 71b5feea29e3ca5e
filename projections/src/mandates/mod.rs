//! Standing instructions, how far they are, and what became of their days.

mod past;
mod row;

use bursar_domain::kernel::{MandateId, UserId};
use bursar_domain::mandates::{MandateEvent, MandateStatus, MandateType};
use bursar_domain::users::Erased;
use bursar_domain::{Amount, Event, Kind, Recorded};
use jiff::civil::Date;
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

pub use past::{MandateField, as_of, explain};
pub use row::{ExecutionRow, ExecutionStatus, MandateRow};

use crate::page::{Page, Paged, Sort, SortField, contains};
use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{Records, equal, find, groups_with, list, list_all};
use crate::row::{erasure, named, parsed};

/// What a list can be sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MandateSort {
    /// When they were given.
    #[default]
    CreatedAt,
    /// When they are due next.
    Next,
    /// How much.
    Amount,
    /// Their name.
    Name,
}

impl SortField for MandateSort {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("createdAt", Self::CreatedAt),
        ("nextExecutionDate", Self::Next),
        ("amount", Self::Amount),
        ("mandateName", Self::Name),
    ];
}

/// Which mandates of somebody's a list shows; everything that is `None` does not matter.
#[derive(Debug, Clone, Default)]
pub struct MandateFilter {
    /// Only those in this state.
    pub status: Option<MandateStatus>,
    /// Only those of this kind.
    pub mandate_type: Option<MandateType>,
    /// With this in name, description, the payee's name or number; case does not matter.
    pub q: Option<String>,
}

/// One page of those of `owner`'s that `filter` lets through.
///
/// # Errors
/// When the database cannot be read.
pub async fn of_owner(
    pool: &PgPool,
    owner: UserId,
    filter: &MandateFilter,
    sort: Sort<MandateSort>,
    page: Page,
) -> sqlx::Result<Paged<MandateRow>> {
    let column = match sort.field {
        MandateSort::CreatedAt => "created_at",
        MandateSort::Next => "next_due",
        MandateSort::Amount => "amount",
        MandateSort::Name => "mandate_name",
    };
    let order = format!("{column} {} NULLS LAST", sort.direction());
    let matching = |query: &mut QueryBuilder<'_, Postgres>| {
        let wanted = [
            ("owner", Some(owner.to_string())),
            ("status", filter.status.map(|status| status.to_string())),
            ("mandate_type", filter.mandate_type.map(|kind| kind.to_string())),
        ];
        equal(query, wanted);
        if let Some(q) = &filter.q {
            let text = "concat_ws(' ', mandate_name, description, beneficiary_name, beneficiary_account)";
            query.push(format!(" AND {text} ILIKE ")).push_bind(contains(q));
        }
    };
    list_all(pool, matching, &order, page).await
}

/// The mandate, if it is `owner`'s.
///
/// # Errors
/// When the database cannot be read.
pub async fn owned(pool: &PgPool, owner: UserId, id: MandateId) -> sqlx::Result<Option<MandateRow>> {
    Ok(find::<MandateRow>(pool, &id).await?.filter(|mandate| mandate.owner == owner))
}

/// What became of the days of a mandate, the latest first.
///
/// # Errors
/// When the database cannot be read.
pub async fn history(pool: &PgPool, id: MandateId, page: Page) -> sqlx::Result<Paged<ExecutionRow>> {
    list(pool, &id, |_| {}, "due DESC", page).await
}

/// The read model behind [`of_owner`] and [`history`].
#[derive(Debug, Default)]
pub struct Mandates {
    rows: Records<MandateRow>,
    executions: Records<ExecutionRow>,
}

impl Mandates {
    /// What became of days, as an event says.
    fn days(&mut self, event: &Recorded, mandate_id: MandateId, what: &MandateEvent) {
        let amount = self.rows.get(&mandate_id, &mandate_id).map(|row| row.amount);
        let mut put = |due: Date, amount: Amount, status, transaction_id, failure| {
            self.executions.insert(ExecutionRow {
                execution_id: format!("{mandate_id}:{due}"),
                mandate_id,
                due,
                amount,
                status,
                transaction_id,
                failure,
                recorded_at: event.recorded_at,
                last_position: event.position,
            });
        };
        match what {
            MandateEvent::Executed { due, by, amount, .. } => {
                put(*due, *amount, ExecutionStatus::Success, Some(*by), None);
            }
            MandateEvent::Failed { due, code, amount, .. } => {
                put(*due, *amount, ExecutionStatus::Failed, None, Some(code.clone()));
            }
            MandateEvent::Resumed { skipped, .. } => {
                for (due, amount) in skipped.iter().zip(std::iter::repeat(amount)) {
                    let Some(amount) = amount else { continue };
                    put(*due, amount, ExecutionStatus::Skipped, None, None);
                }
            }
            MandateEvent::SetUp(_)
            | MandateEvent::Refused { .. }
            | MandateEvent::Changed { .. }
            | MandateEvent::Paused { .. }
            | MandateEvent::Cancelled { .. } => {}
        }
    }

    /// Brings those into memory in which somebody pays or is paid who was erased.
    async fn load_erased(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let erased: Vec<(UserId, &Erased)> = events.iter().filter_map(erasure).collect();
        let users: Vec<String> = erased.iter().map(|(user, _)| user.to_string()).collect();
        let accounts = erased.iter().flat_map(|(_, erased)| &erased.accounts).map(ToString::to_string);
        let accounts: Vec<String> = accounts.collect();
        let mut found = groups_with::<MandateRow>(db, "owner", &users).await?;
        found.extend(groups_with::<MandateRow>(db, "beneficiary_account", &accounts).await?);
        let found: Vec<MandateId> = found.iter().map(|id| parsed(id)).collect::<sqlx::Result<_>>()?;
        self.rows.load(db, found.into_iter()).await
    }
}

impl ReadModel for Mandates {
    const NAME: &'static str = "mandates";
    const READS: &'static [Kind] = &[Kind::Mandate, Kind::User];
    const TABLES: &'static [Table] = &[
        Table { name: "mandates", key: &["mandate_id"], position: "last_position", append_only: false },
        Table {
            name: "mandate_executions",
            key: &["execution_id"],
            position: "last_position",
            append_only: false,
        },
    ];

    async fn load(&mut self, db: &mut PgConnection, events: &[Recorded]) -> sqlx::Result<()> {
        let mandates = events.iter().filter(|event| event.stream.kind == Kind::Mandate);
        self.rows.load(db, mandates.filter_map(|event| named(event).ok())).await?;
        self.load_erased(db, events).await
    }

    fn fold(&mut self, event: &Recorded) -> Result<(), FoldError> {
        if let Some((user, erased)) = erasure(event) {
            self.rows.change_all(|row| row.owner == user, |row| row.erase(event.position));
            self.rows.change_all(|row| row.pays(erased), |row| row.erase(event.position));
        }
        let Event::Mandate(what) = &event.event else { return Ok(()) };
        let id = named(event)?;
        if let MandateEvent::SetUp(set_up) = what {
            self.rows.insert(MandateRow::begun(event, id, set_up));
        } else {
            self.rows.change(&id, |_| true, |row| row.grow(event, what));
        }
        self.days(event, id, what);
        Ok(())
    }

    fn pending(&self) -> usize {
        self.rows.pending() + self.executions.pending()
    }

    async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        self.rows.save(db).await?;
        self.executions.save(db).await
    }
}
