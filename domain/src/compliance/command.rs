//! What a person's records can be asked.

use jiff::civil::Date;

use super::details::{Change, Details};
use super::id::RecordId;
use crate::kernel::{AddressId, Personal};

/// Commands to a person's records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ComplianceCommand {
    /// Keep a record. An address takes the place of the one of its type.
    Keep {
        /// The id of a new record, of the kind that `details` are of.
        id: RecordId,
        /// What it says.
        details: Box<Details>,
        /// The address whose place it takes, if the customer names one.
        in_place_of: Option<AddressId>,
        /// The UTC day.
        today: Date,
    },
    /// Change a record.
    Change {
        /// Which.
        id: RecordId,
        /// What is different now.
        change: Box<Change>,
        /// The UTC day.
        today: Date,
    },
    /// Remove a record.
    Remove {
        /// Which.
        id: RecordId,
        /// Why.
        reason: Option<Personal<String>>,
    },
    /// Find it to be true.
    Verify {
        /// Which.
        id: RecordId,
        /// How staff know.
        note: Option<Personal<String>>,
    },
    /// Find it not to be true.
    Reject {
        /// Which.
        id: RecordId,
        /// Why.
        reason: Personal<String>,
    },
}
