//! What can happen to an address that is told.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::EventFilter;
use crate::aggregate::{AggregateEvent, names};
use crate::envelope::Position;

/// Events of an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookEvent {
    /// It is told from now on.
    Created(Box<Settings>),
    /// It is elsewhere, or wants to hear other things.
    Changed(Box<Settings>),
    /// Another secret signs.
    SecretRotated {
        /// Which: 1 for the second.
        generation: u32,
        /// Until when the one before signs too.
        old_until: Timestamp,
    },
    /// It is told again.
    Enabled,
    /// It is told nothing for now.
    Disabled {
        /// Why.
        reason: DisableReason,
    },
    /// It is gone.
    Removed,
    /// It is told that this is a test: the one event of its own that it hears of.
    Tested,
    /// It is told everything once more that happened after a position.
    Replayed {
        /// The position.
        after: Position,
    },
    /// It is told one thing once more.
    Redelivered {
        /// The position of the event.
        position: Position,
    },
}

/// Where an address is and what it wants to hear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The address. It holds no password; what else is in it is not secret.
    pub url: String,
    /// Which events.
    pub event_types: Vec<EventFilter>,
    /// What it is, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

crate::spelled! {
    /// Why an address is told nothing.
    pub enum DisableReason {
        /// Staff wanted it so.
        Requested = "REQUESTED",
        /// One thing could not be delivered for days, however often it was tried.
        Failing = "FAILING",
        /// It has said that it is gone (410).
        Gone = "GONE",
    }
}

impl AggregateEvent for WebhookEvent {
    names! {
        Created = "webhook.created",
        Changed = "webhook.changed",
        SecretRotated = "webhook.secret_rotated",
        Enabled = "webhook.enabled",
        Disabled = "webhook.disabled",
        Removed = "webhook.removed",
        Tested = "webhook.tested",
        Replayed = "webhook.replayed",
        Redelivered = "webhook.redelivered",
    }
}
