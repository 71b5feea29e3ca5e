//! Standing instructions, how far they are, and what became of their days.

use bursar_domain::codec::Codec;
use bursar_domain::kernel::{Frequency, MandateId, PauseReason, TransactionId, UserId};
use bursar_domain::mandates::{MandateEvent, MandateStatus, MandateType, Plan, SetUp, Target};
use bursar_domain::users::Erased;
use bursar_domain::{AccountNumber, Amount, Currency, Event, Kind, Personal, Position, Recorded};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

use crate::page::{Page, Paged, Sort, SortField, contains};
use crate::past::{Explanation, Of, Trace, each};
use crate::read_model::{FoldError, ReadModel, Table};
use crate::records::{Record, Records, equal, find, groups_with, list, list_all};
use crate::row::{ERASED, erase, erasure, named, parsed};
use crate::statement_entries::AsOf;

/// A mandate. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MandateRow {
    /// Its id.
    pub mandate_id: MandateId,
    /// Who pays.
    pub owner: UserId,
    /// What they call it.
    pub mandate_name: String,
    /// What kind they call it.
    pub mandate_type: MandateType,
    /// The account debited.
    pub source_account: AccountNumber,
    /// Code of the bank or biller; none for this bank.
    pub institution: Option<String>,
    /// Name of the bank or biller.
    pub institution_name: Option<String>,
    /// What is bought of a biller.
    pub item_id: Option<String>,
    /// The account credited, or the customer's number at the biller.
    pub beneficiary_account: String,
    /// The payee's name.
    pub beneficiary_name: Option<String>,
    /// Each payment, minor units.
    pub amount: Amount,
    /// In which currency.
    pub currency: Currency,
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
    pub status: MandateStatus,
    /// Why it is paused; none unless it is.
    pub pause_reason: Option<PauseReason>,
    /// The day of the next payment; none unless it is active.
    pub next_due: Option<Date>,
    /// Payments made.
    pub execution_count: i64,
    /// Their sum, minor units.
    pub total_executed: i64,
    /// Days that failed.
    pub failure_count: i64,
    /// When the last payment was made.
    pub last_executed_at: Option<Timestamp>,
    /// Code of the last refusal; none when the last payment was made.
    pub last_failure: Option<String>,
    /// When it was given.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Events so far.
    pub version: i64,
    /// Position of the last event that changed the row.
    pub last_position: Position,
}

/// What became of a day of a mandate. The field names are the table's columns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExecutionRow {
    /// The mandate and the day.
    pub execution_id: String,
    /// The mandate.
    pub mandate_id: MandateId,
    /// The day.
    pub due: Date,
    /// How much it was about, minor units.
    pub amount: Amount,
    /// What became of it.
    pub status: ExecutionStatus,
    /// The payment.
    pub transaction_id: Option<TransactionId>,
    /// Code of the last refusal.
    pub failure: Option<String>,
    /// When that was known.
    pub recorded_at: Timestamp,
    /// Position of the event that says so.
    pub last_position: Position,
}

bursar_domain::spelled! {
    /// What became of a day.
    pub enum ExecutionStatus {
        /// It was paid.
        Success = "SUCCESS",
        /// It was refused, the last time as well.
        Failed = "FAILED",
        /// The mandate was paused.
        Skipped = "SKIPPED",
    }
}

impl MandateRow {
    fn begun(event: &Recorded, mandate_id: MandateId, set_up: &SetUp) -> Self {
        let (institution, institution_name, item_id, number) = match &set_up.target {
            Target::Account { account_number } => (None, None, None, account_number.to_string()),
            Target::Outside { outside, item_id } => (
                outside.institution().map(str::to_owned),
                outside.institution_name().map(str::to_owned),
                item_id.clone(),
                outside.number().to_owned(),
            ),
        };
        let text = |value: &Option<Personal<String>>| value.as_ref().map(|text| text.or_erased().to_owned());
        let Plan { name, amount, calendar, starts_at, ends_at, description } = set_up.plan.clone();
        Self {
            mandate_id,
            owner: set_up.owner,
            mandate_name: name,
            mandate_type: set_up.mandate_type,
            source_account: set_up.source.clone(),
            institution,
            institution_name,
            item_id,
            beneficiary_account: number,
            beneficiary_name: text(&set_up.payee_name),
            amount,
            currency: set_up.currency,
            frequency: calendar.frequency(),
            execution_day: calendar.day(),
            starts_at,
            ends_at,
            description,
            status: if set_up.is_active { MandateStatus::Active } else { MandateStatus::Paused },
            pause_reason: (!set_up.is_active).then_some(PauseReason::Requested),
            next_due: set_up.is_active.then_some(set_up.first),
            execution_count: 0,
            total_executed: 0,
            failure_count: 0,
            last_executed_at: None,
            last_failure: None,
            created_at: event.recorded_at,
            updated_at: event.recorded_at,
            version: event.sequence,
            last_position: event.position,
        }
    }

    fn plan(&mut self, plan: &Plan) {
        self.mandate_name.clone_from(&plan.name);
        self.amount = plan.amount;
        self.frequency = plan.calendar.frequency();
        self.execution_day = plan.calendar.day();
        self.ends_at = plan.ends_at;
        self.description.clone_from(&plan.description);
    }

    fn grow(&mut self, event: &Recorded, what: &MandateEvent) {
        match what {
            MandateEvent::SetUp(_) => return,
            MandateEvent::Executed { amount, next, .. } => {
                self.execution_count += 1;
                self.total_executed = self.total_executed.saturating_add(amount.minor());
                self.last_executed_at = Some(event.recorded_at);
                self.last_failure = None;
                (self.status, self.next_due) = (MandateStatus::going(*next), *next);
            }
            MandateEvent::Refused { code, .. } => self.last_failure = Some(code.clone()),
            MandateEvent::Failed { code, next, .. } => {
                self.failure_count += 1;
                self.last_failure = Some(code.clone());
                (self.status, self.next_due) = (MandateStatus::going(*next), *next);
            }
            MandateEvent::Changed { plan, next } => {
                self.plan(plan);
                self.next_due = *next;
            }
            MandateEvent::Paused { reason } => {
                (self.status, self.next_due) = (MandateStatus::Paused, None);
                self.pause_reason = Some(*reason);
            }
            MandateEvent::Resumed { next, .. } => {
                (self.status, self.next_due) = (MandateStatus::Active, Some(*next));
            }
            MandateEvent::Cancelled { .. } => {
                (self.status, self.next_due) = (MandateStatus::Cancelled, None);
            }
        }
        if self.status != MandateStatus::Paused {
            self.pause_reason = None;
        }
        self.updated_at = event.recorded_at;
        self.version = event.sequence;
        self.last_position = event.position;
    }

    fn erase(&mut self, position: Position) {
        erase(&mut self.beneficiary_name);
        if self.institution.is_some() {
            ERASED.clone_into(&mut self.beneficiary_account);
        }
        self.last_position = position;
    }

    fn pays(&self, erased: &Erased) -> bool {
        let number = self.beneficiary_account.as_str();
        self.institution.is_none() && erased.accounts.iter().any(|account| account.as_str() == number)
    }
}

impl Record for MandateRow {
    const TABLE: &'static Table = &Mandates::TABLES[0];
    const GROUP: &'static str = "mandate_id";
    type Key = MandateId;
    type Group = MandateId;

    fn key(&self) -> MandateId {
        self.mandate_id
    }

    fn group(&self) -> MandateId {
        self.mandate_id
    }
}

impl Record for ExecutionRow {
    const TABLE: &'static Table = &Mandates::TABLES[1];
    const GROUP: &'static str = "mandate_id";
    type Key = String;
    type Group = MandateId;

    fn key(&self) -> String {
        self.execution_id.clone()
    }

    fn group(&self) -> MandateId {
        self.mandate_id
    }
}

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

bursar_domain::spelled! {
    /// A number of a mandate.
    pub enum MandateField {
        /// Payments made.
        ExecutionCount = "executionCount",
        /// Their sum, minor units.
        TotalAmountExecuted = "totalAmountExecuted",
        /// Days that failed.
        FailureCount = "failureCount",
    }
}

impl MandateRow {
    /// The number that a field is.
    #[must_use]
    pub const fn number(&self, field: MandateField) -> i64 {
        match field {
            MandateField::ExecutionCount => self.execution_count,
            MandateField::TotalAmountExecuted => self.total_executed,
            MandateField::FailureCount => self.failure_count,
        }
    }
}

/// A mandate as it was at a past moment, with what had become of its last `days` days, the latest first; none before it was
/// given. A payee who was erased since has no name in the past either.
///
/// # Errors
/// When the database cannot be read.
pub async fn as_of(
    pool: &PgPool,
    codec: &Codec,
    now: &MandateRow,
    as_of: AsOf,
    days: usize,
) -> sqlx::Result<Option<(MandateRow, Vec<ExecutionRow>)>> {
    let (mut model, id) = (Mandates::default(), now.mandate_id);
    let stream = id.to_string();
    each(pool, codec, Of::Stream(Kind::Mandate, &stream), Some(as_of), |event| model.fold(event)).await?;
    let Some(mut row) = model.rows.get(&id, &id).cloned() else { return Ok(None) };
    if now.beneficiary_name.as_deref() == Some(ERASED) {
        row.erase(row.last_position);
    }
    let mut executions: Vec<ExecutionRow> = model.executions.rows(&id).cloned().collect();
    executions.sort_by_key(|execution| std::cmp::Reverse(execution.due));
    executions.truncate(days);
    Ok(Some((row, executions)))
}

/// How a number of a mandate came about: the last `limit` events that changed it. None when there is no such mandate.
///
/// # Errors
/// When the database cannot be read.
pub async fn explain(
    pool: &PgPool,
    codec: &Codec,
    id: MandateId,
    field: MandateField,
    as_of: Option<AsOf>,
    limit: usize,
) -> sqlx::Result<Option<Explanation>> {
    let (mut model, mut trace) = (Mandates::default(), Trace::new(limit));
    let stream = id.to_string();
    each(pool, codec, Of::Stream(Kind::Mandate, &stream), as_of, |event| {
        model.fold(event)?;
        trace.take(event, model.rows.get(&id, &id).map(|row| row.number(field)))
    })
    .await?;
    Ok(trace.finish())
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
