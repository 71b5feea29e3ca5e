//! The fields of a body that name something in a dataset.

use bursar_commands::reference::embedded;
use bursar_domain::reference::Choice;
use serde_json::Value;
use utoipa::openapi::schema::Schema;

use crate::request::{Faults, Field, Title, fault, schema};

/// How somebody stands to the customer: a code of `/v1/datasets/person/relationships`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relationship(pub String);

impl From<Relationship> for String {
    fn from(relationship: Relationship) -> Self {
        relationship.0
    }
}

impl Relationship {
    fn codes() -> impl Iterator<Item = &'static str> {
        let all: &[Choice] = embedded().map_or(&[], |lookup| &lookup.choices.relationships);
        all.iter().filter(|choice| choice.is_active).map(|choice| &*choice.code)
    }
}

impl Field for Relationship {
    fn read(value: Value) -> Result<Self, Faults> {
        let Title::<64>(text) = Title::read(value)?;
        if Self::codes().any(|code| code == text) {
            return Ok(Self(text));
        }
        let codes: Vec<&str> = Self::codes().collect();
        Err(fault("UNKNOWN_VALUE", &format!("expected one of: {}", codes.join(", "))))
    }

    fn schema() -> Schema {
        schema::text(|text| text.enum_values(Some(Self::codes())))
    }
}

/// A country of `/v1/datasets/countries`, by either ISO 3166-1 code or by its name; case does not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Country {
    /// As it was written.
    pub text: String,
    /// Its alpha-2 code.
    pub code: &'static str,
}

impl Field for Country {
    fn read(value: Value) -> Result<Self, Faults> {
        let Title::<100>(text) = Title::read(value)?;
        let found = embedded().ok().and_then(|lookup| lookup.places.country(&text));
        let unknown = || fault("UNKNOWN_VALUE", "expected a country: its ISO 3166 code or its English name");
        let code = &*found.ok_or_else(unknown)?.country_code;
        Ok(Self { text, code })
    }

    fn schema() -> Schema {
        Title::<100>::schema()
    }
}
