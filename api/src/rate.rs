//! Rates and ratios as JSON numbers.

use rust_decimal::Decimal;
use serde::ser::Error as _;
use serde::{Serialize as _, Serializer};
use serde_json::value::RawValue;

/// Writes an exact decimal as a JSON number, digit by digit: it never passes through a float.
///
/// # Errors
/// Never: the text of a decimal is a JSON number.
pub fn number<S: Serializer>(rate: &Decimal, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(rate.normalize().to_string()).map_err(S::Error::custom)?.serialize(serializer)
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
