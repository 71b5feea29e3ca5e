//! Why a command to a list of tags is refused.

use crate::kernel::TagId;

crate::rejections! {
    /// Refusals of a list.
    pub enum TagsError {
        /// No tag of that id is in it.
        Unknown: NotFound "NOT_FOUND" = "no such tag",
        /// The name is another tag's; case does not matter.
        NameTaken {
            /// Which.
            tag_id: TagId => "tagId",
        }: Conflict "TAG_EXISTS" = "the tag {tag_id} has this name already",
        /// The tag cannot be put on transactions.
        Inactive {
            /// Which.
            tag_id: TagId => "tagId",
            /// `INACTIVE`.
            state: &'static str => "currentState",
        }: Conflict "INVALID_STATE" = "the tag {tag_id} is {state}",
        /// The list, or a transaction, has its most.
        Full {
            /// What there would be too many of.
            limit: &'static str => "limit",
            /// How many.
            allowed: usize => "allowed",
        }: Unprocessable "LIMIT_EXCEEDED" = "there can be at most {allowed} {limit}",
    }
}
