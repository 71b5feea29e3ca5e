//! Which events are told outside the bank, and which of them an address wants to hear.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::catalogue::Kind;

/// The test event, which everybody can be sent.
pub(super) const TESTED: &str = "webhook.tested";

/// Events of nouns that are told which are nobody's business but the person's and the bank's.
const WITHHELD: &[&str] = &[
    "devices.pin_set",
    "devices.pin_tried",
    "user.identity_looked_up",
    "user.password_set",
    "user.sessions_ended",
];

/// Whether what happens to such a thing is told at all.
const fn is_told(kind: Kind) -> bool {
    match kind {
        Kind::Account
        | Kind::Beneficiaries
        | Kind::Card
        | Kind::Closure
        | Kind::Community
        | Kind::Compliance
        | Kind::Devices
        | Kind::Dispute
        | Kind::Document
        | Kind::Loan
        | Kind::LoanProduct
        | Kind::Mandate
        | Kind::Payment
        | Kind::Plan
        | Kind::Product
        | Kind::Recurrence
        | Kind::Tags
        | Kind::User => true,
        // How people log in, what the bank writes to them, its own machinery, and webhooks themselves.
        Kind::Messages
        | Kind::Mfa
        | Kind::Rebuild
        | Kind::Resets
        | Kind::Session
        | Kind::Verifications
        | Kind::Webhook => false,
    }
}

/// The names of all events that are told, as the log has them; the test event is the last.
pub fn event_types() -> impl Iterator<Item = &'static str> {
    let told = Kind::ALL.iter().filter(|kind| is_told(**kind)).flat_map(|kind| kind.event_names());
    told.copied().filter(|name| !WITHHELD.contains(name)).chain([TESTED])
}

/// Which events somebody wants to hear of: one (`payment.completed`), those of a noun (`payment.*`), or all (`*`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventFilter(String);

/// Text that names no event that is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected *, a noun such as payment.*, or an event such as payment.completed")]
pub struct NoSuchEvents;

impl EventFilter {
    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether events of this name are wanted.
    #[must_use]
    pub fn wants(&self, name: &str) -> bool {
        match self.0.strip_suffix('*') {
            Some(noun) => name.starts_with(noun) && name != TESTED,
            None => name == self.0,
        }
    }

    /// The names of the events that one of `filters` wants.
    pub fn names(filters: &[Self]) -> Vec<&'static str> {
        event_types().filter(|name| filters.iter().any(|filter| filter.wants(name))).collect()
    }
}

impl FromStr for EventFilter {
    type Err = NoSuchEvents;

    fn from_str(text: &str) -> Result<Self, NoSuchEvents> {
        let filter = Self(text.to_owned());
        let noun = text.strip_suffix('*').is_none_or(|noun| noun.is_empty() || noun.ends_with('.'));
        if noun && event_types().any(|name| filter.wants(name)) { Ok(filter) } else { Err(NoSuchEvents) }
    }
}

impl fmt::Display for EventFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
