//! Why a document command is refused.

use super::DocumentStatus;

crate::rejections! {
    /// Refusals of a document.
    pub enum DocumentError {
        /// No document of that id, or not the caller's.
        Unknown: NotFound "NOT_FOUND" = "no such document",
        /// Somebody decides about evidence of their own.
        Own: Forbidden "OWN_DOCUMENT" = "somebody else must decide about a document of yours",
        /// Somebody has decided about it.
        InvalidState {
            /// Its state.
            status: DocumentStatus => "currentState",
        }: Conflict "INVALID_STATE" = "the document is {status}",
    }
}
