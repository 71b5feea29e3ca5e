//! Messages to customers: how the bank tells somebody something, and the port by which it leaves the house.
//!
//! ```text
//!   use case --> unit.step(user, MessagesCommand::Post(notice(..)))     in the unit of what the message is about
//!                   '--(same commit)--> schedule: messages.deliver
//!                                           '--> DeliverMessages --> Messenger: sandbox, SMTP, HTTP gateway
//! ```
//!
//! A message is sent at least once, with an id that is the same at every try. Codes and tokens are no messages of this kind:
//! see [`verifications`](crate::verifications).

mod gateway;
mod smtp;
mod ways;

use std::collections::BTreeMap;
use std::sync::Arc;

use bursar_domain::Personal;
use bursar_domain::kernel::{MessageId, Sources, UserId};
use bursar_domain::messages::{Category, DELIVER, Messages, MessagesCommand, Notice, Recipient};
use bursar_domain::users::User;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

pub use bursar_domain::messages::Channel;
pub use gateway::{Gateway, GatewayError, Template};
pub use smtp::{Mailer, MailerError};
pub use ways::Ways;

use crate::owned::CommandError;
use crate::processes::{Done, Task, Work, context};
use crate::{Committed, Context, Journal, Unit};

/// How long a message is offered to whoever delivers it.
const PATIENCE: SignedDuration = SignedDuration::from_hours(24);

/// A message on its way out of the bank.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// The same at every try, so that a gateway can drop a repeat.
    pub id: String,
    /// How it travels.
    pub channel: Channel,
    /// Email address, phone number or user id.
    pub to: String,
    /// What it is about.
    pub subject: String,
    /// What people read. May hold a code: never to be logged.
    pub body: String,
    /// What it is for, for programs. May hold a code.
    pub data: Value,
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} by {}", self.id, self.channel)
    }
}

/// The message could not be handed over; it is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the message could not be handed over")]
pub struct NotSent;

/// Hands messages to whoever delivers them.
pub trait Messenger: Send + Sync {
    /// Whether there is somebody who delivers by this way at all.
    fn carries(&self, channel: Channel) -> bool;

    /// Hands over one message.
    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), NotSent>>;
}

/// Something to tell a customer, in the app and by mail; change `channels`, `to` and `about` where that is not it.
#[must_use]
pub fn notice(sources: &Sources, category: Category, subject: &str, body: String) -> Notice {
    Notice {
        id: MessageId::mint(sources),
        category,
        subject: subject.to_owned(),
        body: Personal::new(body),
        channels: [Channel::Email].into(),
        to: None,
        about: BTreeMap::new(),
    }
}

/// Takes a message out of what its reader sees. It stays in the log.
///
/// # Errors
/// `NOT_FOUND`.
pub async fn delete(
    journal: &Journal,
    context: Context,
    user: UserId,
    id: MessageId,
) -> Result<Committed, CommandError> {
    Ok(journal.submit(Unit::new(context).step(user, MessagesCommand::Delete { id })).await?)
}

/// Hands messages to the messenger, one person's at a time.
pub struct DeliverMessages {
    journal: Journal,
    messenger: Arc<dyn Messenger>,
}

impl DeliverMessages {
    /// The task, with this messenger.
    #[must_use]
    pub fn new(journal: Journal, messenger: Arc<dyn Messenger>) -> Self {
        Self { journal, messenger }
    }

    async fn deliver(&self, work: &Work) -> Result<Done, CommandError> {
        let (messages, _) = self.journal.load::<Messages>(&work.subject).await?;
        let (user, _) = self.journal.load::<User>(&work.subject).await?;
        let mut failed = false;
        for notice in messages.outgoing() {
            for &channel in &notice.channels {
                let (id, address) = (notice.id, address(notice, channel, &user, &work.subject));
                let outcome = match address.filter(|_| self.messenger.carries(channel)) {
                    None => MessagesCommand::GiveUp { id, channel },
                    Some(to) => match self.messenger.send(message(notice, channel, to)).await {
                        Ok(()) => MessagesCommand::Deliver { id, channel },
                        Err(NotSent) if is_stale(id, work.now) => MessagesCommand::GiveUp { id, channel },
                        Err(NotSent) => {
                            failed = true;
                            continue;
                        }
                    },
                };
                let context = context(DELIVER, &work.subject, &format!("{id}:{channel}"));
                self.journal.submit(Unit::new(context).step(&work.subject, outcome)).await?;
            }
        }
        if failed { Err(CommandError::unavailable()) } else { Ok(Done::Finished) }
    }
}

impl Task for DeliverMessages {
    fn name(&self) -> &'static str {
        DELIVER
    }

    fn run<'a>(&'a self, work: &'a Work) -> BoxFuture<'a, Result<Done, CommandError>> {
        self.deliver(work).boxed()
    }
}

fn is_stale(id: MessageId, now: Timestamp) -> bool {
    now.duration_since(id.minted_at()) > PATIENCE
}

/// Where a notice goes by this way; none when nobody is known, or nobody any more.
fn address(notice: &Notice, channel: Channel, user: &User, id: &str) -> Option<String> {
    let person = user.person();
    let given = |pick: fn(&Recipient) -> &Option<Personal<String>>| match &notice.to {
        Some(recipient) => pick(recipient).as_ref()?.get().cloned(),
        None => None,
    };
    let filed = notice.to.is_none();
    match channel {
        Channel::Email if filed => person?.email.get().cloned(),
        Channel::Sms if filed => person?.phone_number.get().cloned(),
        Channel::Email => given(|to| &to.email),
        Channel::Sms => given(|to| &to.phone_number),
        Channel::Push => Some(id.to_owned()),
    }
}

fn message(notice: &Notice, channel: Channel, to: String) -> Message {
    let mut data = json!(notice.about);
    data["messageId"] = json!(notice.id);
    data["category"] = json!(notice.category);
    Message {
        id: format!("{}:{channel}", notice.id),
        channel,
        to,
        subject: notice.subject.clone(),
        body: notice.body.or_erased().to_owned(),
        data,
    }
}
