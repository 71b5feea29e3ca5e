//! Interest of savings, posted on the first of each month for the one before, and when an account is closed.
//!
//! A pass goes through the accounts, a page at a time, month after month. It is the only row of its task in the schedule.
//! An account is paid for the days up to a date once: the transaction's id is made of the two, so that whoever posts it again,
//! after a crash or at the same time, is told that it exists.

use std::sync::{Arc, Mutex, PoisonError};

use bursar_domain::accounts::{Earner, Owed, Stretch};
use bursar_domain::kernel::{TransactionId, end_of_day, utc_date};
use bursar_domain::ledger::Internal;
use bursar_domain::payments::{Pay, PaymentCommand, PaymentKind};
use bursar_domain::{AccountNumber, Amount, Position};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use jiff::civil::Date;

use crate::journal::{StoreError, SubmitError};
use crate::keys::sha256;
use crate::owned::CommandError;
use crate::payments;
use crate::processes::{self, Done, Task, Work, context};
use crate::{Journal, Unit};

/// The task of posting a month's interest; its subject is the month's first day.
pub const POST: &str = "interest.post";

/// Accounts looked at in one go; others' due work comes in between.
const PAGE: usize = 400;

/// How accounts ended their days: made from the log, outside of the write side.
pub trait DayEnds: Send + Sync {
    /// The accounts that earn interest and were not paid that of `month`, from the one after `after` on, at most `most`;
    /// with all that the log says up to `at`.
    fn unposted<'a>(
        &'a self,
        at: Position,
        month: Stretch,
        after: Option<&'a AccountNumber>,
        most: usize,
    ) -> BoxFuture<'a, Result<Vec<Earner>, CommandError>>;

    /// The account, if it earns interest, with all its days through `through` and all that the log says up to `at`.
    fn of<'a>(
        &'a self,
        at: Position,
        account: &'a AccountNumber,
        through: Date,
    ) -> BoxFuture<'a, Result<Option<Earner>, CommandError>>;
}

/// Orders the first posting of a bank that has none ordered: that of the month in which its log begins.
///
/// # Errors
/// When the schedule cannot be written.
pub async fn order(journal: &Journal) -> Result<(), StoreError> {
    let began = journal.began().await?.unwrap_or_else(|| journal.sources().clock.now());
    let month = month_of(utc_date(began));
    processes::begin(journal, POST, &month.from.to_string(), end_of(month)).await
}

/// Adds to a unit the postings of all interest that `account` has earned until today and was not paid, and tells their sum,
/// minor units. For closing an account: what the unit does next finds it in the balance. The day at hand earns nothing.
///
/// # Errors
/// When the days cannot be read. The unit is refused with `INVALID_STATE` when somebody else posts in the meantime: do it again.
pub async fn settle(
    journal: &Journal,
    days: &dyn DayEnds,
    unit: Unit,
    account: &AccountNumber,
) -> Result<(Unit, i64), CommandError> {
    let today = utc_date(journal.sources().clock.now());
    let Ok(through) = today.yesterday() else { return Ok((unit, 0)) };
    let at = journal.settled().await?;
    let Some(earner) = days.of(at, account, through).await? else { return Ok((unit, 0)) };
    let owed = earner.owed(Stretch { from: Date::MIN, through });
    let sum = owed.iter().map(|owed| owed.amount).sum();
    let unit = owed.into_iter().fold(unit, |unit, owed| posting(unit, &earner, owed));
    Ok((unit, sum))
}

/// Adds a posting to a unit.
fn posting(unit: Unit, earner: &Earner, owed: Owed) -> Unit {
    let Earner { account, currency, .. } = earner;
    // More than nothing, or it would not be owed.
    let Ok(amount) = Amount::try_from(owed.amount) else { return unit };
    let id = id_of(account, owed.stretch.through);
    let expense = Internal::InterestExpense.account(*currency);
    let reference = payments::reference_of(id);
    let pay = Pay {
        narration: Some(format!("Interest {} to {}", owed.stretch.from, owed.stretch.through)),
        earned: Some(owed.stretch),
        ..Pay::between(PaymentKind::SavingsInterest, expense, account.clone(), amount, *currency, reference)
    };
    unit.step(id, PaymentCommand::Pay(Box::new(pay)))
}

/// The transaction that pays an account for the days up to `through`: there is one.
fn id_of(account: &AccountNumber, through: Date) -> TransactionId {
    let hash = sha256(format!("{POST}:{account}:{through}").as_bytes());
    let mut bytes = [0; 10];
    bytes.iter_mut().zip(hash).for_each(|(byte, hashed)| *byte = hashed);
    // From when on it can be paid.
    TransactionId::of(end_of_day(through), &bytes)
}

/// The month of a day.
fn month_of(day: Date) -> Stretch {
    Stretch { from: day.first_of_month(), through: day.last_of_month() }
}

/// When a month is over.
fn end_of(month: Stretch) -> jiff::Timestamp {
    end_of_day(month.through)
}

/// Posts the interest of each month when it is over; after months of downtime, that of the oldest first.
pub struct PostInterest {
    journal: Journal,
    days: Arc<dyn DayEnds>,
    /// How far this server is in a month: accounts that earned nothing are not looked at twice.
    reached: Mutex<Option<(Date, AccountNumber)>>,
}

impl PostInterest {
    /// The task on this journal.
    #[must_use]
    pub const fn new(journal: Journal, days: Arc<dyn DayEnds>) -> Self {
        Self { journal, days, reached: Mutex::new(None) }
    }

    async fn page(&self, work: &Work) -> Result<Done, CommandError> {
        let Ok(month) = work.subject.parse().map(month_of) else { return Ok(Done::Finished) };
        if work.now < end_of(month) {
            return Ok(Done::Again(end_of(month)));
        }
        let at = self.journal.settled().await?;
        let after = self.reached(month);
        let earners = self.days.unposted(at, month, after.as_ref(), PAGE).await?;
        for outcome in join_all(earners.iter().map(|earner| self.post(earner, month))).await {
            outcome?;
        }
        match earners.last() {
            Some(last) if earners.len() == PAGE => {
                self.reach(Some((month.from, last.account.clone())));
                Ok(Done::Again(work.now))
            }
            Some(_) | None => {
                self.reach(None);
                if let Ok(next) = month.through.tomorrow().map(month_of) {
                    let due = end_of(next);
                    processes::order_once(&self.journal, POST, &next.from.to_string(), due).await?;
                }
                Ok(Done::Finished)
            }
        }
    }

    async fn post(&self, earner: &Earner, month: Stretch) -> Result<(), CommandError> {
        for owed in earner.owed(month) {
            let due = context(POST, earner.account.as_str(), &owed.stretch.through.to_string());
            match self.journal.submit(posting(Unit::new(due), earner, owed)).await {
                Ok(_) => {}
                // Somebody else has posted it, or has closed the account, which settles it.
                Err(SubmitError::Refused(reason)) if reason.code() == "INVALID_STATE" => {}
                // Nothing of one account holds up the others.
                Err(SubmitError::Refused(reason)) => {
                    tracing::warn!(account = %earner.account, code = reason.code(), "interest was not posted");
                    metrics::counter!("bursar_interest_refused_total").increment(1);
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn reached(&self, month: Stretch) -> Option<AccountNumber> {
        let reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        reached.as_ref().filter(|(of, _)| *of == month.from).map(|(_, account)| account.clone())
    }

    fn reach(&self, place: Option<(Date, AccountNumber)>) {
        *self.reached.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }
}

impl Task for PostInterest {
    fn name(&self) -> &'static str {
        POST
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.page(work).boxed()
    }
}
