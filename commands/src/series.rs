//! Making the payments of a series, whichever noun it is of: recurrences and mandates.

use bursar_domain::kernel::{Run, Series};
use bursar_domain::{Aggregate, State};
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use jiff::civil::Date;

use crate::journal::SubmitError;
use crate::owned::CommandError;
use crate::processes::{Done, Work, context, submit_due};
use crate::{Journal, Unit};

/// That the payment of a day was refused.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    /// The day.
    pub(crate) due: Date,
    /// Why.
    pub(crate) code: String,
    /// When.
    pub(crate) now: Timestamp,
}

/// A noun whose payments are made on the days of a calendar.
pub(crate) trait Pays: Send + Sync {
    /// What it pays.
    type What: Send + Sync + 'static;
    /// The task, as its events call it.
    const TASK: &'static str;

    /// Where it is written.
    fn journal(&self) -> &Journal;

    /// Adds the payment of a day to a unit. The series comes first in it, so that what the ledger refuses was due.
    fn paying<'a>(
        &'a self,
        unit: Unit,
        id: &'a str,
        run: &'a Run<Self::What>,
        due: Date,
    ) -> BoxFuture<'a, Result<Unit, CommandError>>;

    /// Adds to a unit that the payment of a day was refused.
    fn refused<'a>(
        &'a self,
        unit: Unit,
        id: &'a str,
        run: &'a Run<Self::What>,
        refusal: Refusal,
    ) -> BoxFuture<'a, Result<Unit, CommandError>>;
}

/// Makes one payment: that of the oldest day that is due. Its event orders the next day, which may be due as well.
pub(crate) async fn execute<P: Pays>(pays: &P, work: &Work) -> Result<Done, CommandError>
where
    Series<P::What>: Aggregate + TryFrom<State>,
{
    let (series, _) = pays.journal().load::<Series<P::What>>(&work.subject).await?;
    let Some((run, due, at)) = series.due() else { return Ok(Done::Finished) };
    if at > work.now {
        return Ok(Done::Again(at));
    }
    let unit = Unit::new(context(P::TASK, &work.subject, &due.to_string()));
    let paid = match pays.paying(unit, &work.subject, run, due).await {
        Ok(unit) => pays.journal().submit(unit).await.map_err(CommandError::from),
        Err(error) => Err(error),
    };
    let code = match paid {
        Ok(_) => return Ok(Done::Finished),
        Err(CommandError::Submit(SubmitError::Refused(reason))) => reason.code().to_owned(),
        Err(error) => return Err(error),
    };
    let refusal = Refusal { due, code, now: work.now };
    let unit = Unit::new(context(P::TASK, &work.subject, &format!("{due}:refused:{}", run.tries)));
    let unit = pays.refused(unit, &work.subject, run, refusal).await?;
    submit_due(pays.journal(), unit).await
}
