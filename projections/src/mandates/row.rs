//! A standing instruction as a row, and the days of one.

use bursar_domain::kernel::{Frequency, MandateId, PauseReason, TransactionId, UserId};
use bursar_domain::mandates::{MandateEvent, MandateStatus, MandateType, Plan, SetUp, Target};
use bursar_domain::users::Erased;
use bursar_domain::{AccountNumber, Amount, Currency, Personal, Position, Recorded};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::Mandates;
use crate::read_model::{ReadModel as _, Table};
use crate::records::Record;
use crate::row::{ERASED, erase};

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
    pub(super) fn begun(event: &Recorded, mandate_id: MandateId, set_up: &SetUp) -> Self {
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

    pub(super) fn grow(&mut self, event: &Recorded, what: &MandateEvent) {
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

    pub(super) fn erase(&mut self, position: Position) {
        erase(&mut self.beneficiary_name);
        if self.institution.is_some() {
            ERASED.clone_into(&mut self.beneficiary_account);
        }
        self.last_position = position;
    }

    pub(super) fn pays(&self, erased: &Erased) -> bool {
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
