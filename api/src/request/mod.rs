//! What a request says, checked before a handler sees it.
//!
//! | extractor | for |
//! |---|---|
//! | [`Write`] | a write: caller, permission, limit, body with all its errors, idempotency key |
//! | [`Submission`] | a write without a caller: login, refresh |
//! | [`Queried`] | query parameters |
//! | [`InPath`] | the id in the path |
//! | [`Accept`] | `Accept`, where there is a choice |
//! | [`Conditions`] | `If-None-Match`, `Bursar-Min-Position` |

mod accept;
mod body;
mod fields;
mod names;
mod path;
mod people;
mod query;
mod range;
pub mod schema;
#[cfg(test)]
mod tests;
mod values;
mod write;

use axum::extract::FromRequestParts;
use axum::http::header::IF_NONE_MATCH;
use axum::http::request::Parts;
use bursar_domain::Position;

pub use accept::{Accept, Representation};
pub use fields::{Edit, Faults, Field, Fields, Strict, fault};
pub use names::{
    BillerId, BillingRef, ConsoleFile, CountryCode, DeviceName, ModelName, ProductId, StateCode,
};
pub use path::{InPath, PathId};
pub use people::{FileContent, Language, TimeZoneName};
pub use query::{Param, Params, Queried, Query, Search, Tail};
pub use range::{DateRange, day_after, midnight};
pub use values::{
    After, Code, Color, DayNumber, Email, Ignored, LogPosition, Minor, Nothing, OneOf, Pem, Phone, Secret,
    Text, Title, Whole,
};
pub use write::{Submission, Write};

use crate::app::App;
use crate::problem::Problem;

/// Headers that say what an answer must be to be of use.
#[derive(Debug, Clone, Default)]
pub struct Conditions {
    /// The entity tags the client has.
    pub none_match: Option<String>,
    /// The position the answer must include.
    pub min_position: Position,
}

impl FromRequestParts<App> for Conditions {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let min_position = match parts.headers.get("bursar-min-position") {
            None => 0,
            Some(value) => {
                let position = value.to_str().ok().and_then(|text| text.parse().ok()).filter(|p| *p >= 0);
                position.ok_or_else(|| {
                    Problem::bad_request(
                        "/Bursar-Min-Position",
                        "MALFORMED",
                        "expected a position of the log",
                    )
                })?
            }
        };
        let none_match = parts.headers.get(IF_NONE_MATCH).and_then(|v| v.to_str().ok()).map(str::to_owned);
        Ok(Self { none_match, min_position })
    }
}
