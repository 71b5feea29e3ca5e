//! What can happen to a person's messages.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, Due, When, names};
use crate::kernel::{MessageId, Personal};

/// The process that hands messages over to whoever delivers them.
pub const DELIVER: &str = "messages.deliver";

/// Events of a person's messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessagesEvent {
    /// They were told something.
    Posted(Box<Notice>),
    /// It was handed over to whoever delivers it.
    Delivered {
        /// Which.
        id: MessageId,
        /// By which way.
        channel: Channel,
    },
    /// It will not be sent by this way: nobody delivers, or nobody took it for too long. They find it in the app.
    Undelivered {
        /// Which.
        id: MessageId,
        /// By which way.
        channel: Channel,
    },
    /// They do not want to see it any more. It stays in the log.
    Deleted {
        /// Which.
        id: MessageId,
    },
}

/// Something the bank tells a customer. Holds no code and no token: those are sent by the verification's own process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// Its id, minted by the use case.
    pub id: MessageId,
    /// What kind of news it is.
    pub category: Category,
    /// What it is about, in a few words that name nobody.
    pub subject: String,
    /// What people read.
    pub body: Personal<String>,
    /// The ways it is sent besides being kept in the app.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub channels: BTreeSet<Channel>,
    /// Where to, when it is not the address on file: an address that is being given up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Recipient>,
    /// What it is about, for programs: ids by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub about: BTreeMap<String, String>,
}

/// Where a notice goes instead of the address on file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipient {
    /// Email address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<Personal<String>>,
    /// Phone number, E.164.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phone_number: Option<Personal<String>>,
}

crate::spelled! {
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

crate::spelled! {
    /// What kind of news a message is.
    pub enum Category {
        /// Passwords, devices, addresses: what only the customer should be able to change.
        Security = "SECURITY",
        /// Money that moved, or did not.
        Payment = "PAYMENT",
        /// Accounts, cards, loans.
        Account = "ACCOUNT",
        /// What the bank needs to know of its customers.
        Compliance = "COMPLIANCE",
        /// Everything else.
        General = "GENERAL",
    }
}

impl AggregateEvent for MessagesEvent {
    names! {
        Posted = "messages.posted",
        Delivered = "messages.delivered",
        Undelivered = "messages.undelivered",
        Deleted = "messages.deleted",
    }

    fn dues(&self) -> Vec<Due> {
        match self {
            Self::Posted(notice) if !notice.channels.is_empty() => {
                vec![Due { task: DELIVER, when: When::Now }]
            }
            Self::Posted(_) | Self::Delivered { .. } | Self::Undelivered { .. } | Self::Deleted { .. } => {
                Vec::new()
            }
        }
    }
}
