//! Messages to customers: a port, and the processes that use it. A message is due work like any other: it is sent at
//! least once, with an id that is the same at every try.

use bursar_domain::kernel::UserId;
use bursar_domain::payments::{Payment, TELL_RETURNED};
use bursar_domain::users::User;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;

use crate::Journal;
use crate::owned::CommandError;
use crate::processes::{Done, Task, Work};

bursar_domain::spelled! {
    /// How a message travels.
    pub enum Channel {
        /// Short message to a phone number.
        Sms = "SMS",
        /// Mail to an address.
        Email = "EMAIL",
        /// Notification in the app, to a user id.
        Push = "PUSH",
    }
}

/// A message to somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The same at every try, so that a gateway can drop a repeat.
    pub id: String,
    /// How it travels.
    pub channel: Channel,
    /// Email address, phone number or user id.
    pub to: String,
    /// What it is about.
    pub subject: String,
    /// What people read.
    pub body: String,
    /// What it is for, for programs.
    pub data: Value,
}

/// The message could not be handed over; it is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the message could not be handed over")]
pub struct NotSent;

/// Hands messages to whoever delivers them.
pub trait Messenger: Send + Sync {
    /// Hands over one message.
    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), NotSent>>;
}

/// Tells a customer that a payment came back.
pub struct TellReturned {
    journal: Journal,
    messenger: Arc<dyn Messenger>,
}

impl TellReturned {
    /// The task, with this messenger.
    #[must_use]
    pub fn new(journal: Journal, messenger: Arc<dyn Messenger>) -> Self {
        Self { journal, messenger }
    }

    async fn tell(&self, work: &Work) -> Result<Done, CommandError> {
        let (payment, _) = self.journal.load::<Payment>(&work.subject).await?;
        let Some(payment) = payment.made().map(|made| &made.completed) else { return Ok(Done::Finished) };
        let Some(email) = email(&self.journal, payment.payer).await? else { return Ok(Done::Finished) };
        let message = Message {
            id: format!("{TELL_RETURNED}:{}", work.subject),
            channel: Channel::Email,
            to: email,
            subject: "A payment came back".to_owned(),
            body: format!(
                "Your payment {} of {} {} (minor units) did not arrive. The money is in your account again.",
                payment.reference,
                payment.amount.minor(),
                payment.currency,
            ),
            data: json!({"transactionId": work.subject, "amount": payment.amount, "currency": payment.currency}),
        };
        match self.messenger.send(message).await {
            Ok(()) => Ok(Done::Finished),
            Err(NotSent) => Err(CommandError::unavailable()),
        }
    }
}

impl Task for TellReturned {
    fn name(&self) -> &'static str {
        TELL_RETURNED
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.tell(work).boxed()
    }
}

/// Where mail to the user goes; none when nobody is known, or nobody any more.
async fn email(journal: &Journal, user: Option<UserId>) -> Result<Option<String>, CommandError> {
    let Some(user) = user else { return Ok(None) };
    let (user, _) = journal.load::<User>(&user.to_string()).await?;
    Ok(user.person().and_then(|person| person.email.get().cloned()))
}
