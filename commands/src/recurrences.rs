//! Repeating a payment of the past on certain days.

use bursar_domain::kernel::{Calendar, RecurrenceId, Run, UserId, utc_date};
use bursar_domain::payments::{Completed, Party, Pay, PaymentCommand, PaymentKind};
use bursar_domain::recurrences::{EXECUTE, NewRecurrence, RecurrenceCommand, RecurrenceError, Repeated};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use jiff::civil::Date;

use crate::owned::CommandError;
use crate::payments;
use crate::processes::{Done, Task, Work};
use crate::series::{self, Pays, Refusal};
use crate::transactions::{self, Involved};
use crate::{Committed, Context, Journal, Unit};

/// On which days a payment is repeated, and how its payments are called.
#[derive(Debug, Clone)]
pub struct Plan {
    /// On which days.
    pub calendar: Calendar,
    /// From when on, as the payer said it.
    pub starts_at: Timestamp,
    /// Until when, as the payer said it.
    pub ends_at: Option<Timestamp>,
    /// What it is for; the narration of its payments.
    pub description: Option<String>,
    /// Whether it begins paused.
    pub is_paused: bool,
}

/// Repeats a payment that `owner` made. Its payments are made like the first: same accounts, same amount, same reference.
///
/// # Errors
/// `NOT_REPEATABLE` unless it is an outgoing payment of theirs, `NOTHING_TO_EXECUTE`.
pub async fn set_up(
    journal: &Journal,
    context: Context,
    owner: UserId,
    found: &Involved,
    plan: Plan,
) -> Result<Committed, CommandError> {
    let kind = found.completed.kind;
    if found.party != Party::Payer || !is_repeatable(kind) {
        return Err(CommandError::refused(RecurrenceError::NotRepeatable { kind }));
    }
    let new = NewRecurrence {
        owner,
        transaction_id: found.id,
        calendar: plan.calendar,
        starts_at: plan.starts_at,
        ends_at: plan.ends_at,
        description: plan.description,
        is_paused: plan.is_paused,
        today: utc_date(journal.sources().clock.now()),
    };
    let id = RecurrenceId::mint(journal.sources());
    let unit = Unit::new(context).create(id, RecurrenceCommand::SetUp(Box::new(new)));
    Ok(journal.submit(unit).await?)
}

const fn is_repeatable(kind: PaymentKind) -> bool {
    match kind {
        PaymentKind::Internal
        | PaymentKind::Own
        | PaymentKind::External
        | PaymentKind::Mwallet
        | PaymentKind::Bills => true,
        PaymentKind::Deposit
        | PaymentKind::Withdrawal
        | PaymentKind::CardFunding
        | PaymentKind::MwalletFunding
        | PaymentKind::Reversal
        | PaymentKind::Refund
        | PaymentKind::LoanDisbursement
        | PaymentKind::LoanRepayment
        | PaymentKind::LoanInterest
        | PaymentKind::LoanWriteOff
        | PaymentKind::SavingsInterest
        | PaymentKind::Closure
        | PaymentKind::TakenOver => false,
    }
}

/// Pauses a recurrence of `owner`'s, or makes its payments again; what was due in between is passed over.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` when it is so already, or over; `NOTHING_TO_EXECUTE`.
pub async fn set_active(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: RecurrenceId,
    active: bool,
) -> Result<Committed, CommandError> {
    let today = utc_date(journal.sources().clock.now());
    let command = if active { RecurrenceCommand::Resume { today } } else { RecurrenceCommand::Pause };
    Ok(journal.submit(Unit::new(context).step_of(owner, id, command)).await?)
}

/// Ends a recurrence of `owner`'s.
///
/// # Errors
/// `NOT_FOUND`; `INVALID_STATE` when it is over.
pub async fn cancel(
    journal: &Journal,
    context: Context,
    owner: UserId,
    id: RecurrenceId,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step_of(owner, id, RecurrenceCommand::Cancel)).await?)
}

/// Makes the payments that are due.
pub struct ExecuteRecurrences {
    journal: Journal,
}

impl ExecuteRecurrences {
    /// The task on this journal.
    #[must_use]
    pub const fn new(journal: Journal) -> Self {
        Self { journal }
    }
}

impl Pays for ExecuteRecurrences {
    type What = Repeated;
    const TASK: &'static str = EXECUTE;

    fn journal(&self) -> &Journal {
        &self.journal
    }

    fn paying<'a>(
        &'a self,
        unit: Unit,
        id: &'a str,
        run: &'a Run<Repeated>,
        due: Date,
    ) -> BoxFuture<'a, Result<Unit, CommandError>> {
        async move {
            let paid = transactions::any(&self.journal, run.what.transaction_id).await?.completed;
            let by = payments::mint(&self.journal);
            let unit = unit.step(id, RecurrenceCommand::Execute { due, by });
            Ok(unit.create(by, PaymentCommand::Pay(Box::new(again(paid, run)))))
        }
        .boxed()
    }

    fn refused<'a>(
        &'a self,
        unit: Unit,
        id: &'a str,
        _run: &'a Run<Repeated>,
        Refusal { due, code, .. }: Refusal,
    ) -> BoxFuture<'a, Result<Unit, CommandError>> {
        async move { Ok(unit.step(id, RecurrenceCommand::Fail { due, code })) }.boxed()
    }
}

impl Task for ExecuteRecurrences {
    fn name(&self) -> &'static str {
        EXECUTE
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        series::execute(self, work).boxed()
    }
}

/// The payment once more.
fn again(paid: Completed, run: &Run<Repeated>) -> Pay {
    Pay {
        kind: paid.kind,
        payer: Some(run.owner),
        source: paid.source,
        destination: paid.destination,
        destination_name: paid.destination_name.and_then(|name| name.get().cloned()),
        outside: paid.outside,
        amount: paid.amount,
        currency: paid.currency,
        fee: paid.fee,
        narration: run.what.description.clone().or(paid.narration),
        reference: paid.reference,
        save_as_beneficiary: false,
        undoes: None,
        loan: None,
        earned: None,
        origin: None,
    }
}
