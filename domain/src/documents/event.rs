//! What can happen to a document.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::aggregate::{AggregateEvent, names};
use crate::kernel::{Personal, StoredFile, UserId};

crate::spelled! {
    /// What a document is evidence of.
    pub enum DocumentPurpose {
        /// Where somebody lives, what they earn: whatever the law wants to see.
        Compliance = "COMPLIANCE",
        /// Who somebody is.
        Identification = "IDENTIFICATION",
    }
}

crate::spelled! {
    /// Which side of an identity document a picture shows.
    pub enum DocumentSide {
        /// The side with the picture of its holder.
        Front = "FRONT",
        /// The other side.
        Back = "BACK",
    }
}

crate::spelled! {
    /// What became of a document.
    pub enum DocumentStatus {
        /// Nobody has looked at it.
        Pending = "PENDING",
        /// It is believed.
        Verified = "VERIFIED",
        /// It is not believed.
        Rejected = "REJECTED",
    }
}

crate::spelled! {
    /// Where the data of a document come from.
    pub enum ExtractedFrom {
        /// Its machine-readable zone, whose check digits are right. That a document says so makes it not genuine.
        Mrz = "MRZ",
        /// Whoever handed it in; nothing could be read.
        Submitted = "SUBMITTED",
    }
}

/// Events of a document. Each says whose it is, so that a reader needs no other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentEvent {
    /// It is handed in.
    Uploaded(Box<Uploaded>),
    /// It is believed; the actor says so.
    Verified {
        /// Whose it is.
        owner: UserId,
        /// What was seen, for the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        note: Option<String>,
    },
    /// It is not believed; the actor says so.
    Rejected {
        /// Whose it is.
        owner: UserId,
        /// Why; its owner can read it.
        reason: String,
    },
}

/// A document as it was handed in. Its bytes are not in here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uploaded {
    /// Whose it is.
    pub owner: UserId,
    /// What it is evidence of.
    pub purpose: DocumentPurpose,
    /// What kind of document it is, in the words of whoever handed it in: `UTILITY_BILL`, `PASSPORT`.
    pub document_type: String,
    /// What they call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Personal<String>>,
    /// What they say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Personal<String>>,
    /// The number on it, as they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<Personal<String>>,
    /// Who issued it: ISO 3166-1 alpha-2.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuing_country: Option<String>,
    /// When it was issued, as they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue_date: Option<Date>,
    /// Until when it is good, as they say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiry_date: Option<Date>,
    /// Which side a picture shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub side: Option<DocumentSide>,
    /// Where its bytes are.
    pub file: StoredFile,
    /// Bytes as they were handed in. A picture is kept without what is no picture in it.
    pub size: u64,
    /// What could be read from it; none unless it is about who somebody is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extracted: Option<Extracted>,
}

/// What an identity document says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extracted {
    /// Where that comes from.
    pub from: ExtractedFrom,
    /// Its number.
    pub document_number: Option<Personal<String>>,
    /// The name on it.
    pub full_name: Option<Personal<String>>,
    /// The date of birth on it.
    pub date_of_birth: Option<Personal<Date>>,
    /// Until when it is good.
    pub expiry_date: Option<Date>,
}

impl DocumentEvent {
    /// Whose document it happened to.
    #[must_use]
    pub const fn owner(&self) -> UserId {
        match self {
            Self::Uploaded(uploaded) => uploaded.owner,
            Self::Verified { owner, .. } | Self::Rejected { owner, .. } => *owner,
        }
    }
}

impl AggregateEvent for DocumentEvent {
    names! {
        Uploaded = "document.uploaded",
        Verified = "document.verified",
        Rejected = "document.rejected",
    }

    fn subject(&self, _stream: &str) -> Option<UserId> {
        Some(self.owner())
    }
}
