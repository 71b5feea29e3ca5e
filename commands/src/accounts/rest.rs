//! Accounts that nobody uses: after a long silence no money leaves them until staff know that their holder is there.

use bursar_domain::AccountNumber;
use bursar_domain::accounts::{AccountCommand, SILENCE};
use bursar_domain::ledger::AccountStatus;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::SignedDuration;

use super::telling;
use crate::owned::CommandError;
use crate::processes::{Done, Task, Work, context, submit_due};
use crate::{Journal, Unit};

/// When to look again where nothing can be too long.
const A_MONTH: SignedDuration = SignedDuration::from_hours(30 * 24);

/// Looks at each account when its silence would be too long, and puts it to rest if it is.
pub struct WatchSilence {
    journal: Journal,
    /// None: no silence is too long.
    longest: Option<SignedDuration>,
}

impl WatchSilence {
    /// The task on this journal; accounts rest after so many days, or never.
    #[must_use]
    pub const fn new(journal: Journal, days: u32) -> Self {
        // Below 2^32 days: some 10^14 seconds.
        let longest = if days == 0 { None } else { Some(SignedDuration::from_hours(24 * days as i64)) };
        Self { journal, longest }
    }

    async fn look(&self, work: &Work) -> Result<Done, CommandError> {
        // The setting may be another one day.
        let Some(longest) = self.longest else { return Ok(Done::Again(work.now + A_MONTH)) };
        let number = AccountNumber::from(work.subject.as_str());
        let account = self.journal.ledger_account(&number).await?;
        let Some(account) = account.filter(|account| account.status == AccountStatus::Active) else {
            // Whatever makes it active again orders the watch anew.
            return Ok(Done::Finished);
        };
        let Some(silent_since) = account.last_active_at else { return Ok(Done::Finished) };
        let over = silent_since.checked_add(longest).unwrap_or(jiff::Timestamp::MAX);
        // What a live loan is collected from must stay open for it.
        if over > work.now || account.ties.bond().is_some() {
            return Ok(Done::Again(over.max(work.now + SignedDuration::from_hours(24))));
        }
        let unit = Unit::new(context(SILENCE, &work.subject, &silent_since.to_string()))
            .step(&number, AccountCommand::FallDormant { silent_since });
        let words = "Nobody has used your account for long. Please come to us if you want to use it again.";
        let unit = telling(&self.journal, unit, &number, "Your account is at rest", words.to_owned()).await?;
        submit_due(&self.journal, unit).await
    }
}

impl Task for WatchSilence {
    fn name(&self) -> &'static str {
        SILENCE
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.look(work).boxed()
    }
}
