//! Who delivers by which way.

use std::sync::Arc;

use bursar_domain::messages::Channel;
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};

use super::{Message, Messenger, NotSent};

/// A messenger for each way that the bank has; messages by the others stay in the app.
#[derive(Default)]
pub struct Ways {
    /// Mail.
    pub email: Option<Arc<dyn Messenger>>,
    /// Short messages.
    pub sms: Option<Arc<dyn Messenger>>,
    /// Notifications.
    pub push: Option<Arc<dyn Messenger>>,
}

impl Ways {
    fn way(&self, channel: Channel) -> Option<&dyn Messenger> {
        match channel {
            Channel::Email => self.email.as_deref(),
            Channel::Sms => self.sms.as_deref(),
            Channel::Push => self.push.as_deref(),
        }
    }
}

impl Messenger for Ways {
    fn carries(&self, channel: Channel) -> bool {
        self.way(channel).is_some()
    }

    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), NotSent>> {
        match self.way(message.channel) {
            Some(way) => way.send(message),
            None => ready(Err(NotSent)).boxed(),
        }
    }
}
