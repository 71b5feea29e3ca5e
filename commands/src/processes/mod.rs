//! Processes: work that the bank does by itself when it is due.
//!
//! ```text
//!   event --(same commit)--> schedule row: task, subject, due_at
//!                               | claimed with SKIP LOCKED, leased for a while: two servers do not do it twice at once
//!                               v
//!                             Task::run --> an ordinary command with a deterministic idempotency key
//!                               |             '--> its event moves or drops the row, in its commit
//!                               '--> Again(at), or an error: tried again later, longer and longer apart
//! ```
//!
//! A server that dies half-way leaves its lease to run out; whoever repeats the work finds it done, because the command
//! is refused or answers what was so already.

mod store;

use std::sync::Arc;
use std::time::Duration;

use bursar_domain::Metadata;
use futures_util::future::{BoxFuture, join_all};
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::journal::{StoreError, SubmitError};
use crate::keys::due_key;
use crate::{CommandError, Context, Journal, Unit};
pub(crate) use store::Claimed;
pub use store::Planned;

/// How often the schedule is looked at: one index scan.
const POLL: Duration = Duration::from_millis(200);
/// How often somebody who waits for the work of others looks whether it is done.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// Rows claimed at once.
const BATCH: i64 = 64;
/// How long a claim is respected.
const LEASE: SignedDuration = SignedDuration::from_secs(60);
/// The first pause after a failure; doubled up to the longest.
const FIRST_PAUSE: SignedDuration = SignedDuration::from_secs(1);
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_hours(1);

/// One piece of due work.
#[derive(Debug, Clone)]
pub struct Work {
    /// The aggregate it is about.
    pub subject: String,
    /// When it was due.
    pub due_at: Timestamp,
    /// Now, by the bank's clock.
    pub now: Timestamp,
    /// 1 at the first try.
    pub attempt: u32,
}

/// How a piece of work ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// It needs no more; the row goes, unless an event has ordered it anew.
    Finished,
    /// Nothing is wrong; look again at this time.
    Again(Timestamp),
}

/// A kind of due work.
pub trait Task: Send + Sync {
    /// Its name in the schedule.
    fn name(&self) -> &'static str;

    /// Does one piece of it.
    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>>;
}

/// One page of the work that is due or will be, soonest first, and how much there is: of one task, or of all.
///
/// # Errors
/// When the schedule cannot be read.
pub async fn planned(
    journal: &Journal,
    task: Option<&str>,
    offset: i64,
    limit: i64,
) -> Result<(Vec<Planned>, i64), StoreError> {
    store::planned(journal.backing(), task, offset, limit).await
}

/// Orders work that no event orders: chores that are done again and again. Nothing happens when it is ordered already.
///
/// # Errors
/// When the schedule cannot be written.
pub async fn order_once(
    journal: &Journal,
    task: &str,
    subject: &str,
    at: Timestamp,
) -> Result<(), StoreError> {
    store::add(journal.backing(), task, subject, at).await
}

/// Orders the first piece of work of a task that goes from one subject to the next. Nothing happens when it has one.
///
/// # Errors
/// When the schedule cannot be written.
pub async fn begin(journal: &Journal, task: &str, subject: &str, at: Timestamp) -> Result<(), StoreError> {
    store::begin(journal.backing(), task, subject, at).await
}

/// The context of a command that a task gives: the same for every try of the same due work.
#[must_use]
pub fn context(task: &str, subject: &str, step: &str) -> Context {
    let due = format!("{task}:{subject}:{step}");
    Context {
        idempotency: Some(due_key(&due)),
        metadata: Metadata::by(format!("system:{task}"), due),
        ..Context::default()
    }
}

/// Submits what was due. Refused: another server was first, or somebody has seen to it that it is due no more.
///
/// # Errors
/// When the store is away.
pub(crate) async fn submit_due(journal: &Journal, unit: Unit) -> Result<Done, CommandError> {
    match journal.submit(unit).await {
        Ok(_) | Err(SubmitError::Refused(_)) => Ok(Done::Finished),
        Err(error) => Err(error.into()),
    }
}

/// The processes of this server.
#[derive(Clone)]
pub struct Processes(Arc<Inner>);

struct Inner {
    journal: Journal,
    tasks: Vec<Box<dyn Task>>,
}

impl std::fmt::Debug for Processes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.tasks.iter().map(|task| task.name())).finish()
    }
}

impl Processes {
    /// Processes that do these tasks; rows of other tasks are left to whoever knows them.
    #[must_use]
    pub fn new(journal: Journal, tasks: Vec<Box<dyn Task>>) -> Self {
        Self(Arc::new(Inner { journal, tasks }))
    }

    /// Runs until `stop` says so.
    #[must_use]
    pub fn start(&self, mut stop: watch::Receiver<bool>) -> JoinHandle<()> {
        let this = self.clone();
        tokio::spawn(async move {
            while !*stop.borrow() {
                if let Err(error) = this.do_free().await {
                    tracing::warn!(%error, "the schedule cannot be read; trying again");
                }
                tokio::select! {
                    () = tokio::time::sleep(POLL) => {}
                    _ = stop.wait_for(|stop| *stop) => {}
                }
            }
        })
    }

    /// Does everything that is due now, and what that makes due, until nothing is; what another worker has begun is waited
    /// for, as long as its lease lasts.
    ///
    /// # Errors
    /// When the schedule cannot be read.
    pub async fn run_due(&self) -> Result<(), CommandError> {
        loop {
            self.do_free().await?;
            let now = self.0.journal.sources().clock.now();
            if !store::is_anything_due(self.0.journal.backing(), &self.names(), now).await? {
                return Ok(());
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    fn names(&self) -> Vec<&str> {
        self.0.tasks.iter().map(|task| task.name()).collect()
    }

    /// Does everything that is due now and that nobody else has begun, and what that makes due.
    async fn do_free(&self) -> Result<(), CommandError> {
        loop {
            let now = self.0.journal.sources().clock.now();
            let claimed =
                store::claim(self.0.journal.backing(), &self.names(), now, now + LEASE, BATCH).await?;
            if claimed.is_empty() {
                return Ok(());
            }
            for outcome in join_all(claimed.into_iter().map(|row| self.work(row, now))).await {
                outcome?;
            }
        }
    }

    async fn work(&self, row: Claimed, now: Timestamp) -> Result<(), CommandError> {
        let Some(task) = self.0.tasks.iter().find(|task| task.name() == row.task) else { return Ok(()) };
        let work = Work { subject: row.subject, due_at: row.due_at, now, attempt: row.attempts };
        let backing = self.0.journal.backing();
        match task.run(&work).await {
            Ok(Done::Finished) => store::finish(backing, &row.task, &work).await?,
            Ok(Done::Again(at)) => store::put_off(backing, &row.task, &work, at, None).await?,
            Err(error) => {
                tracing::warn!(task = row.task, subject = work.subject, attempt = work.attempt, %error, "due work failed");
                metrics::counter!("bursar_process_failures_total", "task" => task.name()).increment(1);
                let reason = error.code().unwrap_or("UNAVAILABLE");
                store::put_off(backing, &row.task, &work, now + pause(work.attempt), Some(reason)).await?;
            }
        }
        metrics::counter!("bursar_process_runs_total", "task" => task.name()).increment(1);
        Ok(())
    }
}

/// How long to wait after so many failures.
#[must_use]
pub fn pause(attempts: u32) -> SignedDuration {
    let doubled = 1_i32.checked_shl(attempts.saturating_sub(1)).filter(|factor| *factor > 0);
    doubled.and_then(|factor| FIRST_PAUSE.checked_mul(factor)).unwrap_or(LONGEST_PAUSE).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_tried_again_longer_and_longer_apart() {
        let pauses: Vec<_> = [1, 2, 3, 12, 13, 40].map(|n| pause(n).as_secs()).to_vec();
        assert_eq!(pauses, [1, 2, 4, 2048, 3600, 3600]);
    }
}
