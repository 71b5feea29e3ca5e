//! Rates and ratios as JSON numbers.

use rust_decimal::Decimal;
use serde::ser::Error as _;
use serde::{Serialize as _, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use crate::request::{Faults, Field, fault};

/// Writes an exact decimal as a JSON number, digit by digit: it never passes through a float.
///
/// # Errors
/// Never: the text of a decimal is a JSON number.
pub fn number<S: Serializer>(rate: &Decimal, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(rate.normalize().to_string()).map_err(S::Error::custom)?.serialize(serializer)
}

/// A percentage or a ratio, exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate(pub Decimal);

impl Field for Rate {
    fn read(value: Value) -> Result<Self, Faults> {
        let Value::Number(number) = value else { return Err(fault("WRONG_TYPE", "expected a number")) };
        let rate = number.to_string().parse().map(Self);
        rate.map_err(|_| fault("MALFORMED", "expected a number such as 4.25"))
    }

    fn schema() -> Schema {
        Schema::Object(ObjectBuilder::new().schema_type(Type::Number).build())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Serialize)]
    struct Rate(#[serde(serialize_with = "number")] Decimal);

    #[test]
    fn every_digit_is_kept() {
        let written = |text: &str| serde_json::to_string(&Rate(text.parse().unwrap())).unwrap();
        assert_eq!(written("4.250"), "4.25");
        assert_eq!(written("0"), "0");
        assert_eq!(written("0.1000000000000000000000000001"), "0.1000000000000000000000000001");
    }
}
