//! Webhooks: addresses outside the bank that are told what happens in it.
//!
//! The aggregate is one address: what it wants to hear, which generation its secret is of, and whether it is told anything
//! at present. What was sent to it, how often and with what success is bookkeeping beside the log
//! (`commands/src/webhooks`); what is said is [`published`].

mod command;
mod error;
mod event;
mod filter;
mod payload;
#[cfg(test)]
mod tests;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub use command::WebhookCommand;
pub use error::WebhookError;
pub use event::{DisableReason, Settings, WebhookEvent};
pub use filter::{EventFilter, NoSuchEvents, event_types};
pub use payload::{Published, PublishedData, published};

use crate::aggregate::Aggregate;

/// The most addresses a bank has.
pub const MOST: usize = 100;

/// How long an old secret signs beside the one that takes its place.
pub const OVERLAP: SignedDuration = SignedDuration::from_hours(24);

/// An address that is told, by its id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Webhook {
    /// It never was.
    #[default]
    Absent,
    /// It is told.
    Enabled(Endpoint),
    /// It is not told anything for now; what happens meanwhile waits.
    Disabled(Endpoint),
    /// It is gone.
    Removed,
}

/// What there is to know of an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// Where it is and what it wants to hear.
    pub settings: Settings,
    /// Which secret signs: 0 for the first.
    pub generation: u32,
    /// Until when the secret of the generation before signs too.
    pub old_until: Option<Timestamp>,
}

impl Endpoint {
    /// The generations of the secrets that sign at `now`, the newest first.
    pub fn generations(&self, now: Timestamp) -> impl Iterator<Item = u32> {
        let old = self.old_until.filter(|until| now < *until).and_then(|_| self.generation.checked_sub(1));
        std::iter::once(self.generation).chain(old)
    }
}

impl Webhook {
    /// The address, while there is one.
    #[must_use]
    pub const fn endpoint(&self) -> Option<&Endpoint> {
        match self {
            Self::Enabled(endpoint) | Self::Disabled(endpoint) => Some(endpoint),
            Self::Absent | Self::Removed => None,
        }
    }

    /// The address, if it is told.
    #[must_use]
    pub const fn enabled(&self) -> Option<&Endpoint> {
        match self {
            Self::Enabled(endpoint) => Some(endpoint),
            Self::Absent | Self::Disabled(_) | Self::Removed => None,
        }
    }

    const fn refuse(&self) -> WebhookError {
        match self {
            Self::Absent | Self::Removed => WebhookError::Unknown,
            Self::Enabled(_) => WebhookError::InvalidState { state: "ENABLED" },
            Self::Disabled(_) => WebhookError::InvalidState { state: "DISABLED" },
        }
    }

    fn change(&mut self, change: impl FnOnce(&mut Endpoint)) {
        match self {
            Self::Enabled(endpoint) | Self::Disabled(endpoint) => change(endpoint),
            Self::Absent | Self::Removed => {}
        }
    }
}

impl Aggregate for Webhook {
    const TYPE: &'static str = "webhook";
    type Command = WebhookCommand;
    type Event = WebhookEvent;
    type Error = WebhookError;

    fn decide(&self, command: WebhookCommand) -> Result<Vec<WebhookEvent>, WebhookError> {
        let event = match (self, command) {
            (Self::Absent, WebhookCommand::Create(settings)) => WebhookEvent::Created(settings),
            (Self::Enabled(known) | Self::Disabled(known), WebhookCommand::Change(settings)) => {
                if known.settings == *settings {
                    return Ok(Vec::new());
                }
                WebhookEvent::Changed(settings)
            }
            (Self::Enabled(known) | Self::Disabled(known), WebhookCommand::RotateSecret { at }) => {
                WebhookEvent::SecretRotated {
                    generation: known.generation.checked_add(1).ok_or(WebhookError::Unknown)?,
                    old_until: at.saturating_add(OVERLAP).unwrap_or(at),
                }
            }
            (Self::Disabled(_), WebhookCommand::Enable) => WebhookEvent::Enabled,
            (Self::Enabled(_), WebhookCommand::Disable { reason }) => WebhookEvent::Disabled { reason },
            (Self::Enabled(_), WebhookCommand::Test) => WebhookEvent::Tested,
            (Self::Enabled(_), WebhookCommand::Replay { after }) => WebhookEvent::Replayed { after },
            (Self::Enabled(_), WebhookCommand::Redeliver { position }) => {
                WebhookEvent::Redelivered { position }
            }
            (Self::Enabled(_) | Self::Disabled(_), WebhookCommand::Remove) => WebhookEvent::Removed,
            (Self::Absent | Self::Enabled(_) | Self::Disabled(_) | Self::Removed, _) => {
                return Err(self.refuse());
            }
        };
        Ok(vec![event])
    }

    fn evolve(&mut self, event: &WebhookEvent) {
        match event {
            WebhookEvent::Created(settings) => {
                let settings = (**settings).clone();
                *self = Self::Enabled(Endpoint { settings, generation: 0, old_until: None });
            }
            WebhookEvent::Changed(settings) => self.change(|known| known.settings = (**settings).clone()),
            WebhookEvent::SecretRotated { generation, old_until } => self.change(|known| {
                known.generation = *generation;
                known.old_until = Some(*old_until);
            }),
            WebhookEvent::Enabled => {
                if let Self::Disabled(known) = self {
                    *self = Self::Enabled(known.clone());
                }
            }
            WebhookEvent::Disabled { .. } => {
                if let Self::Enabled(known) = self {
                    *self = Self::Disabled(known.clone());
                }
            }
            WebhookEvent::Removed => *self = Self::Removed,
            // What they order is done by whoever sends.
            WebhookEvent::Tested | WebhookEvent::Replayed { .. } | WebhookEvent::Redelivered { .. } => {}
        }
    }
}
