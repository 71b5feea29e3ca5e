//! Messages: what the bank has told a customer. Each is kept for them to read in the app; some are also sent to their
//! mailbox, their phone or their device, by a process that the event orders.
//!
//! One stream a person. What a message is about stands in the same unit, so that nobody is told what did not happen, and
//! nothing happens untold.

mod command;
mod error;
mod event;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use command::MessagesCommand;
pub use error::MessagesError;
pub use event::{Category, Channel, DELIVER, MessagesEvent, Notice, Recipient};

use crate::aggregate::Aggregate;
use crate::kernel::MessageId;

/// A person's messages, by user id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Messages {
    /// What they have not deleted.
    kept: BTreeSet<MessageId>,
    /// What is still to be sent, and by which ways.
    outgoing: BTreeMap<MessageId, Notice>,
}

impl Messages {
    /// What is still to be sent, oldest first; its `channels` are the ones that are left.
    pub fn outgoing(&self) -> impl Iterator<Item = &Notice> {
        self.outgoing.values()
    }

    fn waits(&self, id: MessageId, channel: Channel) -> bool {
        self.outgoing.get(&id).is_some_and(|notice| notice.channels.contains(&channel))
    }
}

impl Aggregate for Messages {
    const TYPE: &'static str = "messages";
    type Command = MessagesCommand;
    type Event = MessagesEvent;
    type Error = MessagesError;

    fn decide(&self, command: MessagesCommand) -> Result<Vec<MessagesEvent>, MessagesError> {
        match command {
            MessagesCommand::Post(notice) => Ok(vec![MessagesEvent::Posted(notice)]),
            MessagesCommand::Deliver { id, channel } => Ok(self
                .waits(id, channel)
                .then_some(MessagesEvent::Delivered { id, channel })
                .into_iter()
                .collect()),
            MessagesCommand::GiveUp { id, channel } => Ok(self
                .waits(id, channel)
                .then_some(MessagesEvent::Undelivered { id, channel })
                .into_iter()
                .collect()),
            MessagesCommand::Delete { id } if self.kept.contains(&id) => {
                Ok(vec![MessagesEvent::Deleted { id }])
            }
            MessagesCommand::Delete { .. } => Err(MessagesError::Unknown),
        }
    }

    fn evolve(&mut self, event: &MessagesEvent) {
        match event {
            MessagesEvent::Posted(notice) => {
                self.kept.insert(notice.id);
                if !notice.channels.is_empty() {
                    self.outgoing.insert(notice.id, (**notice).clone());
                }
            }
            MessagesEvent::Delivered { id, channel } | MessagesEvent::Undelivered { id, channel } => {
                if let Some(notice) = self.outgoing.get_mut(id) {
                    notice.channels.remove(channel);
                    if notice.channels.is_empty() {
                        self.outgoing.remove(id);
                    }
                }
            }
            MessagesEvent::Deleted { id } => {
                self.kept.remove(id);
            }
        }
    }
}
