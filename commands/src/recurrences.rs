//! Repeating a payment of the past on certain days.

use bursar_domain::kernel::{Calendar, RecurrenceId, UserId, midnight, utc_date};
use bursar_domain::payments::{Completed, Party, Pay, PaymentCommand, PaymentKind};
use bursar_domain::recurrences::{
    EXECUTE, NewRecurrence, Recurrence, RecurrenceCommand, RecurrenceError, Series,
};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

use crate::journal::SubmitError;
use crate::owned::CommandError;
use crate::payments;
use crate::processes::{Done, Task, Work, context};
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
        | PaymentKind::Closure => false,
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

    /// Makes one payment: that of the oldest day that is due. Its event orders the next day, which may be due as well.
    async fn execute(&self, work: &Work) -> Result<Done, CommandError> {
        let (recurrence, _) = self.journal.load::<Recurrence>(&work.subject).await?;
        let Recurrence::Active(series) = recurrence else { return Ok(Done::Finished) };
        let Some(due) = series.next else { return Ok(Done::Finished) };
        if midnight(due) > work.now {
            return Ok(Done::Again(midnight(due)));
        }
        let paid = transactions::any(&self.journal, series.transaction_id).await?.completed;
        let by = payments::mint(&self.journal);
        // The recurrence decides first, so that what the ledger refuses was due.
        let unit = Unit::new(context(EXECUTE, &work.subject, &due.to_string()))
            .step(&work.subject, RecurrenceCommand::Execute { due, by })
            .create(by, PaymentCommand::Pay(Box::new(again(paid, &series))));
        let refusal = match self.journal.submit(unit).await {
            Ok(_) => return Ok(Done::Finished),
            Err(SubmitError::Refused(reason)) => reason.code().to_owned(),
            Err(error) => return Err(error.into()),
        };
        let fail = RecurrenceCommand::Fail { due, code: refusal };
        let unit =
            Unit::new(context(EXECUTE, &work.subject, &format!("{due}:failed"))).step(&work.subject, fail);
        match self.journal.submit(unit).await {
            // Refused: another server was first, or the owner stopped it in the meantime.
            Ok(_) | Err(SubmitError::Refused(_)) => Ok(Done::Finished),
            Err(error) => Err(error.into()),
        }
    }
}

impl Task for ExecuteRecurrences {
    fn name(&self) -> &'static str {
        EXECUTE
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.execute(work).boxed()
    }
}

/// The payment once more.
fn again(paid: Completed, series: &Series) -> Pay {
    Pay {
        kind: paid.kind,
        payer: Some(series.owner),
        source: paid.source,
        destination: paid.destination,
        destination_name: paid.destination_name.and_then(|name| name.get().cloned()),
        outside: paid.outside,
        amount: paid.amount,
        currency: paid.currency,
        fee: paid.fee,
        narration: series.description.clone().or(paid.narration),
        reference: paid.reference,
        save_as_beneficiary: false,
        undoes: None,
        loan: None,
    }
}
