//! What the bank does by itself: interest accrues, what is due is collected, unused approvals end.

use bursar_domain::kernel::{LoanId, midnight, utc_date};
use bursar_domain::ledger::AccountStatus;
use bursar_domain::loans::{COLLECT, Case, EXPIRE, Loan, LoanCommand, loan_number};
use bursar_domain::{Aggregate as _, Amount};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::civil::Date;

use super::pay::{Order, accrual};
use super::telling;
use crate::journal::SubmitError;
use crate::owned::CommandError;
use crate::payments;
use crate::processes::{Done, Task, Work, context, submit_due};
use crate::{Journal, Unit};

/// What a collection finds when there is not enough money.
const SHORT: &str = "INSUFFICIENT_FUNDS";

/// Accrues interest on due dates, and collects what is due from the borrower's account: as much as there is, and the rest on
/// each day after.
pub struct CollectLoans {
    journal: Journal,
}

impl CollectLoans {
    /// The task on this journal.
    #[must_use]
    pub const fn new(journal: Journal) -> Self {
        Self { journal }
    }

    async fn day(&self, work: &Work) -> Result<Done, CommandError> {
        let Ok(id) = work.subject.parse::<LoanId>() else { return Ok(Done::Finished) };
        let today = utc_date(work.now);
        self.accrue(work, id, today).await?;
        let (loan, _) = self.journal.load::<Loan>(&work.subject).await?;
        // Work that was held up is not done in the name of a day that is over: others have collected since, and will tomorrow.
        let now = self.journal.sources().clock.now();
        if utc_date(now) > today {
            return Ok(Done::Again(now));
        }
        let Some(case) = loan.running() else { return Ok(Done::Finished) };
        let Some(next) = case.book.next().map(|row| row.due) else { return Ok(Done::Finished) };
        if next > today {
            return Ok(Done::Again(midnight(next)));
        }
        let owed = case.book.arrears(today).owed;
        let short = match self.collect(work, id, &loan, case, today).await? {
            Collected::Sum(sum) if sum >= owed => return Ok(Done::Finished),
            Collected::Sum(_) => SHORT.to_owned(),
            Collected::Nothing(code) => code,
        };
        self.miss(work, id, today, short).await?;
        Ok(Done::Again(midnight(today.tomorrow().unwrap_or(today))))
    }

    /// Interest of instalments that are due.
    async fn accrue(&self, work: &Work, id: LoanId, today: Date) -> Result<(), CommandError> {
        let (loan, _) = self.journal.load::<Loan>(&work.subject).await?;
        let Some(case) = loan.running() else { return Ok(()) };
        let Ok(amount) = Amount::try_from(case.book.to_accrue(today)) else { return Ok(()) };
        let transaction_id = payments::mint(&self.journal);
        let command = LoanCommand::Accrue { transaction_id, amount, today };
        let unit = Unit::new(context(COLLECT, &work.subject, &format!("{today}:interest"))).step(id, command);
        self.journal.submit(accrual(unit, id, case, amount, transaction_id)).await?;
        Ok(())
    }

    /// As much of what is due as the account has.
    async fn collect(
        &self,
        work: &Work,
        id: LoanId,
        loan: &Loan,
        case: &Case,
        today: Date,
    ) -> Result<Collected, CommandError> {
        let source = &case.applied.account;
        let account = self.journal.ledger_account(source).await?;
        let has = match account {
            Some(account) if account.status == AccountStatus::Active => account.available(),
            Some(_) | None => return Ok(Collected::Nothing("INVALID_STATE".to_owned())),
        };
        let sum = has.min(case.book.arrears(today).owed);
        let Ok(amount) = Amount::try_from(sum) else { return Ok(Collected::Nothing(SHORT.to_owned())) };
        let order = Order {
            id,
            case,
            amount,
            source,
            today,
            payment_type: None,
            collected: true,
            narration: None,
            reference: None,
        };
        let unit = Unit::new(context(COLLECT, &work.subject, &today.to_string()));
        match self.journal.submit(order.unit(&self.journal, unit, loan)).await {
            Ok(_) => Ok(Collected::Sum(sum)),
            // Somebody paid in the meantime: look again.
            Err(SubmitError::Refused(reason)) if reason.code() == "LOAN_CHANGED" => {
                Err(SubmitError::Refused(reason).into())
            }
            Err(SubmitError::Refused(reason)) => Ok(Collected::Nothing(reason.code().to_owned())),
            Err(error) => Err(error.into()),
        }
    }

    /// Records arrears that have reached another stage, and tells the borrower.
    async fn miss(&self, work: &Work, id: LoanId, today: Date, code: String) -> Result<(), CommandError> {
        let (loan, _) = self.journal.load::<Loan>(&work.subject).await?;
        let command = LoanCommand::Miss { today, code };
        let Some(case) = loan.running() else { return Ok(()) };
        match loan.decide(command.clone()) {
            Ok(events) if !events.is_empty() => {}
            Ok(_) | Err(_) => return Ok(()),
        }
        let (currency, owed) = (case.applied.terms.currency, case.book.arrears(today).owed);
        let words = format!(
            "{} {currency} of your loan {} could not be collected. Please see to it that your account has enough.",
            currency.decimal(owed.into()),
            loan_number(id)
        );
        let unit = Unit::new(context(COLLECT, &work.subject, &format!("{today}:missed"))).step(id, command);
        let unit = telling(&self.journal, unit, case, id, "Your loan payment could not be collected", words);
        submit_due(&self.journal, unit).await.map(|_| ())
    }
}

/// What a collection brought.
enum Collected {
    /// So much, minor units.
    Sum(i64),
    /// Nothing, and why: the refusal's code.
    Nothing(String),
}

impl Task for CollectLoans {
    fn name(&self) -> &'static str {
        COLLECT
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.day(work).boxed()
    }
}

/// Ends approvals that nobody used in time.
pub struct ExpireApprovals {
    journal: Journal,
}

impl ExpireApprovals {
    /// The task on this journal.
    #[must_use]
    pub const fn new(journal: Journal) -> Self {
        Self { journal }
    }

    async fn expire(&self, work: &Work) -> Result<Done, CommandError> {
        let (loan, _) = self.journal.load::<Loan>(&work.subject).await?;
        let Loan::Approved(case) = &loan else { return Ok(Done::Finished) };
        if let Some((_, until)) = case.approved
            && until > work.now
        {
            return Ok(Done::Again(until));
        }
        let unit = Unit::new(context(EXPIRE, &work.subject, "expired"))
            .step(&work.subject, LoanCommand::Expire { now: work.now });
        submit_due(&self.journal, unit).await
    }
}

impl Task for ExpireApprovals {
    fn name(&self) -> &'static str {
        EXPIRE
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.expire(work).boxed()
    }
}
