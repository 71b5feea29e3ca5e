//! Statements: their holders are told that the next one is there, once for each account and period.

use bursar_domain::AccountNumber;
use bursar_domain::accounts::{Account, AccountCommand, STATEMENT, StatementDelivery};
use bursar_domain::kernel::utc_date;
use bursar_domain::messages::{Category, Channel, MessagesCommand};
use bursar_domain::users::User;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::messages::notice;
use crate::owned::CommandError;
use crate::processes::{Done, Task, Work, context, submit_due};
use crate::{Journal, Unit};

/// Tells holders of their statements, in the unit that records it.
pub struct SendStatements {
    journal: Journal,
}

impl SendStatements {
    /// The task on this journal.
    #[must_use]
    pub const fn new(journal: Journal) -> Self {
        Self { journal }
    }

    async fn send(&self, work: &Work) -> Result<Done, CommandError> {
        let number = AccountNumber::from(work.subject.as_str());
        let (account, _) = self.journal.load::<Account>(number.as_str()).await?;
        let Some(contract) = account.contract() else { return Ok(Done::Finished) };
        let Some(next) = contract.next_statement else { return Ok(Done::Finished) };
        if next.at > work.now {
            return Ok(Done::Again(next.at));
        }
        let way = match contract.settings.statement_delivery {
            StatementDelivery::None => return Ok(Done::Finished),
            StatementDelivery::Email => Channel::Email,
            StatementDelivery::Push => Channel::Push,
        };
        let (holder, _) = self.journal.load::<User>(&contract.owner.to_string()).await?;
        if holder.person().is_none() {
            return Ok(Done::Finished);
        }
        let (from, today) = (next.from, utc_date(work.now));
        let to = utc_date(next.at).yesterday().unwrap_or(from);
        let path = format!("/v1/accounts/{number}/statement?from={from}&to={to}");
        let words = format!("The statement of your account for {from} to {to} is ready: {path}");
        let mut notice = notice(self.journal.sources(), Category::Account, "Your statement is ready", words);
        notice.channels = [way].into();
        notice.about.extend([
            ("accountNumber".to_owned(), number.to_string()),
            ("from".to_owned(), from.to_string()),
            ("to".to_owned(), to.to_string()),
            ("link".to_owned(), path),
        ]);
        let unit = Unit::new(context(STATEMENT, &work.subject, &from.to_string()))
            .step(&number, AccountCommand::SendStatement { from, to, today })
            .step(contract.owner, MessagesCommand::Post(Box::new(notice)));
        submit_due(&self.journal, unit).await
    }
}

impl Task for SendStatements {
    fn name(&self) -> &'static str {
        STATEMENT
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.send(work).boxed()
    }
}
