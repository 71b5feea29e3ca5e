//! Where something was before this bank took it over.

use compact_str::CompactString;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// What another bank, whose customers this one took over, knew of something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// What the other bank called it.
    pub id: CompactString,
    /// A keyed hash of what its file said: whether a file says something else now, is asked of it.
    pub row: CompactString,
    /// When it began or happened there, UTC; never later than it was recorded here.
    pub at: Timestamp,
}
