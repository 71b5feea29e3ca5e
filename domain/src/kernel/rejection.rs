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
