//! Savings plans: contributions on their days, and the end of a plan on its date.

use bursar_domain::kernel::midnight;
use bursar_domain::ledger::AccountStatus;
use bursar_domain::payments::{Pay, PaymentCommand, PaymentKind};
use bursar_domain::savings::{CONTRIBUTE, Contributions, MATURE, Plan, PlanCommand, Saver};
use bursar_domain::{AccountNumber, Currency};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::civil::Date;

use crate::accounts::telling;
use crate::journal::SubmitError;
use crate::owned::CommandError;
use crate::payments;
use crate::processes::{Done, Task, Work, context, submit_due};
use crate::{Journal, Unit};

/// Makes the contributions that are due. One that is refused is skipped, and whoever saves is told.
pub struct MakeContributions {
    journal: Journal,
}

impl MakeContributions {
    /// The task on this journal.
    #[must_use]
    pub const fn new(journal: Journal) -> Self {
        Self { journal }
    }

    /// Makes one contribution: that of the oldest day that is due. Its event orders the next day, which may be due as well.
    async fn contribute(&self, work: &Work) -> Result<Done, CommandError> {
        let (plan, _) = self.journal.load::<Plan>(&work.subject).await?;
        let Some(saver) = plan.saving() else { return Ok(Done::Finished) };
        let Some((saves, due)) = next(saver) else { return Ok(Done::Finished) };
        if midnight(due) > work.now {
            return Ok(Done::Again(midnight(due)));
        }
        let number = AccountNumber::from(work.subject.as_str());
        let account = self.journal.ledger_account(&number).await?;
        let Some(account) = account.filter(|account| account.status != AccountStatus::Closed) else {
            let ended =
                Unit::new(context(CONTRIBUTE, &work.subject, "ended")).step(&number, PlanCommand::End);
            return submit_due(&self.journal, ended).await;
        };
        let by = payments::mint(&self.journal);
        let pay = Pay {
            payer: Some(saver.owner),
            narration: Some("Savings plan".to_owned()),
            ..Pay::between(
                PaymentKind::Own,
                saves.source.clone(),
                number.clone(),
                saves.amount,
                account.currency,
                payments::reference_of(by),
            )
        };
        // The plan decides first, so that what the ledger refuses was due.
        let unit = Unit::new(context(CONTRIBUTE, &work.subject, &due.to_string()))
            .step(&number, PlanCommand::Contribute { due, by })
            .create(by, PaymentCommand::Pay(Box::new(pay)));
        let code = match self.journal.submit(unit).await {
            Ok(_) => return Ok(Done::Finished),
            Err(SubmitError::Refused(reason)) => reason.code().to_owned(),
            Err(error) => return Err(error.into()),
        };
        let words = format!(
            "{} for your savings account ending in {} was not saved on {due}: {}.",
            money(saves, account.currency),
            number.last_four(),
            if code == "INSUFFICIENT_FUNDS" {
                "there was not enough money"
            } else {
                "the payment was refused"
            }
        );
        let skipped = Unit::new(context(CONTRIBUTE, &work.subject, &format!("{due}:skipped")))
            .step(&number, PlanCommand::Skip { due, code });
        let skipped = telling(&self.journal, skipped, &number, "A contribution was skipped", words).await?;
        submit_due(&self.journal, skipped).await
    }
}

impl Task for MakeContributions {
    fn name(&self) -> &'static str {
        CONTRIBUTE
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.contribute(work).boxed()
    }
}

/// Ends plans on their dates, and tells whoever has saved.
pub struct MaturePlans {
    journal: Journal,
    contributions: MakeContributions,
}

impl MaturePlans {
    /// The task on this journal.
    #[must_use]
    pub fn new(journal: Journal) -> Self {
        Self { contributions: MakeContributions::new(journal.clone()), journal }
    }

    async fn mature(&self, work: &Work) -> Result<Done, CommandError> {
        let mut plan = self.journal.load::<Plan>(&work.subject).await?.0;
        match plan.saving().map(|saver| saver.matures_at) {
            Some(Some(at)) if at > work.now => return Ok(Done::Again(at)),
            Some(Some(_)) => {}
            Some(None) | None => return Ok(Done::Finished),
        }
        // What was due before its date is contributed first.
        while plan.saving().and_then(next).is_some_and(|(_, due)| midnight(due) <= work.now) {
            self.contributions.contribute(work).await?;
            plan = self.journal.load::<Plan>(&work.subject).await?.0;
        }
        if plan.saving().is_none() {
            return Ok(Done::Finished);
        }
        let number = AccountNumber::from(work.subject.as_str());
        let unit = Unit::new(context(MATURE, &work.subject, "matured"))
            .step(&number, PlanCommand::Mature { now: work.now });
        let words = format!(
            "The plan of your savings account ending in {} has come to its date. The money is yours to use, and earns on.",
            number.last_four()
        );
        let unit = telling(&self.journal, unit, &number, "Your savings plan is complete", words).await?;
        submit_due(&self.journal, unit).await
    }
}

impl Task for MaturePlans {
    fn name(&self) -> &'static str {
        MATURE
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.mature(work).boxed()
    }
}

/// What is due next, and on which day.
fn next(saver: &Saver) -> Option<(&Contributions, Date)> {
    let saves = saver.contributions.as_ref()?;
    saves.next.map(|due| (saves, due))
}

fn money(saves: &Contributions, currency: Currency) -> String {
    format!("{} {currency}", currency.decimal(saves.amount.minor().into()))
}
