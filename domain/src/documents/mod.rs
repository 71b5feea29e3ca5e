//! Documents: evidence that a customer hands in, and what staff make of it.
//!
//! ```text
//!   Absent --upload--> Pending --verify--> Verified
//!                              --reject--> Rejected
//! ```

mod command;
mod error;
mod event;
pub mod mrz;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use command::DocumentCommand;
pub use error::DocumentError;
pub use event::{
    DocumentEvent, DocumentPurpose, DocumentSide, DocumentStatus, Extracted, ExtractedFrom, Uploaded,
};

use crate::aggregate::Aggregate;
use crate::kernel::{StoredFile, UserId};

/// A document, by its id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Document {
    /// Not handed in.
    #[default]
    Absent,
    /// Nobody has looked at it.
    Pending(Held),
    /// Somebody has, and believes it.
    Verified(Held),
    /// Somebody has, and does not.
    Rejected(Held),
}

/// What later decisions need to know of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// Whose it is.
    pub owner: UserId,
    /// Where its bytes are.
    pub file: StoredFile,
}

impl Document {
    /// The document, whatever became of it.
    #[must_use]
    pub const fn held(&self) -> Option<&Held> {
        match self {
            Self::Absent => None,
            Self::Pending(held) | Self::Verified(held) | Self::Rejected(held) => Some(held),
        }
    }

    fn refuse(&self) -> DocumentError {
        let status = match self {
            Self::Absent => return DocumentError::Unknown,
            Self::Pending(_) => DocumentStatus::Pending,
            Self::Verified(_) => DocumentStatus::Verified,
            Self::Rejected(_) => DocumentStatus::Rejected,
        };
        DocumentError::InvalidState { status }
    }

    fn into_held(self) -> Option<Held> {
        match self {
            Self::Absent => None,
            Self::Pending(held) | Self::Verified(held) | Self::Rejected(held) => Some(held),
        }
    }
}

impl Aggregate for Document {
    const TYPE: &'static str = "document";
    type Command = DocumentCommand;
    type Event = DocumentEvent;
    type Error = DocumentError;

    fn decide(&self, command: DocumentCommand) -> Result<Vec<DocumentEvent>, DocumentError> {
        let event = match (self, command) {
            (Self::Absent, DocumentCommand::Upload(uploaded)) => DocumentEvent::Uploaded(uploaded),
            (
                Self::Pending(held),
                DocumentCommand::Verify { by, .. } | DocumentCommand::Reject { by, .. },
            ) if held.owner == by => return Err(DocumentError::Own),
            (Self::Pending(held), DocumentCommand::Verify { note, .. }) => {
                DocumentEvent::Verified { owner: held.owner, note }
            }
            (Self::Pending(held), DocumentCommand::Reject { reason, .. }) => {
                DocumentEvent::Rejected { owner: held.owner, reason }
            }
            (Self::Pending(_) | Self::Verified(_) | Self::Rejected(_), DocumentCommand::Upload(_))
            | (
                Self::Absent | Self::Verified(_) | Self::Rejected(_),
                DocumentCommand::Verify { .. } | DocumentCommand::Reject { .. },
            ) => return Err(self.refuse()),
        };
        Ok(vec![event])
    }

    fn evolve(&mut self, event: &DocumentEvent) {
        let into = match event {
            DocumentEvent::Uploaded(uploaded) => {
                *self = Self::Pending(Held { owner: uploaded.owner, file: uploaded.file.clone() });
                return;
            }
            DocumentEvent::Verified { .. } => Self::Verified,
            DocumentEvent::Rejected { .. } => Self::Rejected,
        };
        *self = std::mem::take(self).into_held().map_or(Self::Absent, into);
    }

    fn owner(&self) -> Option<UserId> {
        self.held().map(|held| held.owner)
    }
}
