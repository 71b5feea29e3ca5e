//! What can happen to a person's records.

use serde::{Deserialize, Serialize};

use super::details::Details;
use super::id::RecordId;
use crate::aggregate::{AggregateEvent, names};
use crate::kernel::Personal;

/// Events of a person's records.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComplianceEvent {
    /// There is a record, which nobody has verified.
    Added {
        /// Its id.
        id: RecordId,
        /// What it says.
        details: Box<Details>,
    },
    /// A record says something else now.
    Changed(Box<Changed>),
    /// A record is no more.
    Removed {
        /// Which.
        id: RecordId,
        /// Why, in the customer's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Personal<String>>,
        /// Records of its kind that are left.
        remaining: usize,
    },
    /// Staff have found a record to be true.
    Verified {
        /// Which.
        id: RecordId,
        /// How they know, for the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<Personal<String>>,
    },
    /// Staff have found a record not to be true.
    Rejected {
        /// Which.
        id: RecordId,
        /// Why; the customer can read it.
        reason: Personal<String>,
    },
}

/// A record that says something else now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changed {
    /// Its id.
    pub id: RecordId,
    /// What it says, all of it.
    pub details: Details,
    /// The names in the interface of the fields that differ from before; none when it was asked for what it said already.
    pub updated_fields: Vec<String>,
    /// Whether it is still verified, or rejected: a fact that differs is pending.
    pub status: VerificationStatus,
}

crate::spelled! {
    /// What staff think of a record.
    pub enum VerificationStatus {
        /// They have not looked yet.
        Pending = "PENDING",
        /// It is true.
        Verified = "VERIFIED",
        /// It is not.
        Rejected = "REJECTED",
    }
}

impl AggregateEvent for ComplianceEvent {
    names! {
        Added = "compliance.added",
        Changed = "compliance.changed",
        Removed = "compliance.removed",
        Verified = "compliance.verified",
        Rejected = "compliance.rejected",
    }
}
