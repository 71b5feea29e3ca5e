//! Sums and times as a file spells them.

use bursar_domain::Currency;
use bursar_domain::kernel::{micros, midnight};
use jiff::Timestamp;
use jiff::civil::Date;

/// The largest sum, minor units.
const MOST: i128 = 1_000_000_000_000_000;

/// Why a text is no sum: code and message.
pub type Fault = (&'static str, String);

/// The minor units of a decimal number such as `-1234.50`, exactly.
///
/// # Errors
/// `MALFORMED`; `INEXACT`, when the currency has no unit that small; `OUT_OF_RANGE`.
pub fn minor_units(text: &str, currency: Currency) -> Result<i64, Fault> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let number = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let dot = digits.len() > whole.len();
    if whole.is_empty() || !number(whole) || !number(fraction) || dot && fraction.is_empty() {
        return Err(("MALFORMED", "expected a sum such as -1234.50, in major units".to_owned()));
    }
    let places = usize::from(currency.minor_unit());
    if fraction.len() > places {
        return Err(("INEXACT", format!("{currency} has {places} decimal places")));
    }
    let mut sum: i128 = 0;
    let padding = std::iter::repeat_n(b'0', places - fraction.len());
    for digit in whole.bytes().chain(fraction.bytes()).chain(padding) {
        sum = sum * 10 + i128::from(digit - b'0');
        if sum > MOST {
            return Err(("OUT_OF_RANGE", "a sum has at most 10^15 minor units".to_owned()));
        }
    }
    let sum = if negative { -sum } else { sum };
    i64::try_from(sum).map_err(|_| ("OUT_OF_RANGE", "a sum has at most 10^15 minor units".to_owned()))
}

/// The moment that a date (its first, UTC) or a timestamp spells.
#[must_use]
pub fn moment(text: &str) -> Option<Timestamp> {
    if text.len() == 10 {
        text.parse().ok().filter(|day: &Date| day.year() > 0).map(midnight)
    } else {
        text.parse().ok().map(micros)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str, currency: &str) -> &'static str {
        minor_units(text, currency.parse().unwrap()).unwrap_err().0
    }

    #[test]
    fn sums_are_exact() {
        for (text, currency, minor) in [
            ("0", "NGN", 0),
            ("1234.50", "NGN", 123_450),
            ("-1234.5", "NGN", -123_450),
            ("+7", "NGN", 700),
            ("500", "JPY", 500),
            ("1.234", "KWD", 1234),
            ("10000000000000.00", "NGN", 1_000_000_000_000_000),
        ] {
            assert_eq!(minor_units(text, currency.parse().unwrap()), Ok(minor), "{text} {currency}");
        }
    }

    #[test]
    fn what_is_no_sum_says_why() {
        for text in ["", "-", ".", "1.", ".5", "1,000.00", "1e3", "NaN", "٣", "--1", "1.2.3"] {
            assert_eq!(code(text, "NGN"), "MALFORMED", "{text}");
        }
        assert_eq!(code("1.005", "NGN"), "INEXACT");
        assert_eq!(code("1.0", "JPY"), "INEXACT");
        assert_eq!(code("10000000000000.01", "NGN"), "OUT_OF_RANGE");
        assert_eq!(code(&"9".repeat(400), "NGN"), "OUT_OF_RANGE");
    }
}
