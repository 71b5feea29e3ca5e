//! A refusal: why the bank said no, in a form an app can act on.

use std::error::Error;

use serde_json::Value;

/// The family a refusal belongs to; the API maps each to one HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RejectionKind {
    /// The request itself is wrong (400).
    Invalid,
    /// The caller is not, or no longer, who they say (401).
    Unauthenticated,
    /// The caller may not (403).
    Forbidden,
    /// No such thing, or not the caller's (404).
    NotFound,
    /// Not in this state, or somebody was first (409).
    Conflict,
    /// Not the version the caller has seen (412).
    Stale,
    /// Well-formed, and refused by a rule about money or business (422).
    Unprocessable,
    /// Too often or too soon (429). A member `retryAfter` says after how many seconds to try again.
    Throttled,
}

/// Implemented by every error an aggregate or the ledger can answer.
pub trait Rejection: Error + Send + Sync + 'static {
    /// Stable, UPPER_SNAKE; part of the interface.
    fn code(&self) -> &'static str;

    /// Its family.
    fn kind(&self) -> RejectionKind;

    /// Further members of the problem body (`availableBalance`, `currentState`, ...).
    fn members(&self) -> Vec<(&'static str, Value)> {
        Vec::new()
    }
}

/// Declares an enum of refusals, one named reason each: `Variant: Kind "CODE" = "text for people"`.
///
/// A field that is given a name (`limit: i64 => "limit"`) becomes a member of the problem body; one that is not appears
/// in the text only.
#[macro_export]
macro_rules! rejections {
    ($(#[$about:meta])* pub enum $name:ident {$(
        $(#[$doc:meta])*
        $variant:ident $({ $($(#[$field_doc:meta])* $field:ident: $type:ty $(=> $member:literal)?),* $(,)? })?:
            $kind:ident $code:literal = $text:tt,
    )*}) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
        pub enum $name {$(
            $(#[$doc])*
            #[error($text)]
            $variant $({ $($(#[$field_doc])* $field: $type),* })?,
        )*}

        impl $crate::Rejection for $name {
            fn code(&self) -> &'static str {
                match self {$(Self::$variant { .. } => $code,)*}
            }

            fn kind(&self) -> $crate::RejectionKind {
                match self {$(Self::$variant { .. } => $crate::RejectionKind::$kind,)*}
            }

            #[allow(unused_variables, reason = "fields that are only in the text")]
            fn members(&self) -> Vec<(&'static str, serde_json::Value)> {
                match self {$(
                    Self::$variant { $($($field,)*)? } => {
                        vec![$($($(($member, serde_json::json!($field)),)?)*)?]
                    }
                )*}
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::rejections! {
        /// Refusals of a test.
        pub enum Refusal {
            /// Nothing to add.
            Plain: NotFound "NOT_FOUND" = "no such thing",
            /// One field for people, one for programs too.
            Detailed { who: &'static str, most: i64 => "limit" }: Unprocessable "LIMIT" = "{who} may take {most}",
        }
    }

    #[test]
    fn a_named_field_is_a_member_and_the_others_are_text() {
        let refusal = Refusal::Detailed { who: "Ada", most: 5 };
        assert_eq!(refusal.to_string(), "Ada may take 5");
        assert_eq!(refusal.members(), [("limit", serde_json::json!(5))]);
        assert_eq!((refusal.code(), refusal.kind()), ("LIMIT", RejectionKind::Unprocessable));
        assert!(Refusal::Plain.members().is_empty());
    }
}
