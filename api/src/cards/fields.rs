//! The fields of a body that are printed on a card. What is wrong with one is said without quoting it.

use bursar_domain::cards::{CardExpiry, CardNumber};
use serde_json::Value;
use utoipa::openapi::schema::Schema;

use crate::request::{Faults, Field, Secret, fault, schema};

impl Field for CardNumber {
    fn read(value: Value) -> Result<Self, Faults> {
        let Secret(text) = Secret::read(value)?;
        text.parse()
            .map_err(|e: bursar_domain::cards::MalformedCardNumber| fault("MALFORMED", &e.to_string()))
    }

    fn schema() -> Schema {
        schema::text(|text| text.pattern(Some("^[0-9 -]{12,37}$")).write_only(true))
    }
}

impl Field for CardExpiry {
    fn read(value: Value) -> Result<Self, Faults> {
        let Secret(text) = Secret::read(value)?;
        text.parse().map_err(|e: bursar_domain::cards::MalformedExpiry| fault("MALFORMED", &e.to_string()))
    }

    fn schema() -> Schema {
        schema::text(|text| text.pattern(Some("^(0[1-9]|1[0-2])/[0-9]{2}$")))
    }
}

/// A card's security code, of which nothing is kept but how long it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SecurityCode {
    /// Digits.
    pub length: usize,
}

impl Field for SecurityCode {
    fn read(value: Value) -> Result<Self, Faults> {
        let Secret(text) = Secret::read(value)?;
        let length = text.len();
        if matches!(length, 3 | 4) && text.bytes().all(|b| b.is_ascii_digit()) {
            return Ok(Self { length });
        }
        Err(fault("MALFORMED", "expected the three or four digits of the security code"))
    }

    fn schema() -> Schema {
        schema::text(|text| text.pattern(Some("^[0-9]{3,4}$")).write_only(true))
    }
}
