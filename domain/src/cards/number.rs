//! What is printed on a card.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::kernel::luhn_check_digit;

/// Digits of the issuer identification number that may be kept.
const BIN: usize = 6;

/// A full card number (PAN): 12 to 19 digits, the last one a Luhn check digit (ISO/IEC 7812-1).
///
/// It lives as long as the request that brings it: it is not serialised, and formatting does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct CardNumber(String);

/// Not a card number. Says nothing about the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a card number is 12 to 19 digits, the last one a check digit")]
pub struct MalformedCardNumber;

impl CardNumber {
    /// A number of the bank's own: sixteen digits, of which the first six are its issuer identification number `bin`, and the
    /// nine after them the last nine of `serial`.
    ///
    /// # Errors
    /// [`MalformedCardNumber`], when `bin` is not six digits.
    pub fn issue(bin: &str, serial: u64) -> Result<Self, MalformedCardNumber> {
        if bin.len() != BIN || !bin.bytes().all(|b| b.is_ascii_digit()) {
            return Err(MalformedCardNumber);
        }
        let body = format!("{bin}{:09}", serial % 1_000_000_000);
        let check = luhn_check_digit(body.as_bytes());
        Ok(Self(format!("{body}{check}")))
    }

    /// All digits: only for what makes a token of them.
    #[must_use]
    pub fn digits(&self) -> &str {
        &self.0
    }

    /// The issuer identification number: the first six digits.
    #[must_use]
    pub fn bin(&self) -> &str {
        self.0.get(..BIN).unwrap_or_default()
    }

    /// The last four digits.
    #[must_use]
    pub fn last_four(&self) -> &str {
        self.0.get(self.0.len().saturating_sub(4)..).unwrap_or_default()
    }
}

/// A number of which only the last four digits are shown.
#[must_use]
pub fn masked(last_four: &str) -> String {
    format!("**** **** **** {last_four}")
}

impl FromStr for CardNumber {
    type Err = MalformedCardNumber;

    /// Reads the digits; people write spaces and hyphens between them.
    fn from_str(text: &str) -> Result<Self, MalformedCardNumber> {
        let digits: String = text.chars().filter(|c| !matches!(c, ' ' | '-')).collect();
        let (body, check) =
            digits.as_bytes().split_at_checked(digits.len().saturating_sub(1)).ok_or(MalformedCardNumber)?;
        let well_formed = (12..=19).contains(&digits.len())
            && digits.bytes().all(|b| b.is_ascii_digit())
            && check == [b'0' + luhn_check_digit(body)];
        if well_formed { Ok(Self(digits)) } else { Err(MalformedCardNumber) }
    }
}

impl fmt::Debug for CardNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[card number]")
    }
}

/// The month a card is good until, its last day included. Spelled `MM/YY`, in this century.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "std::borrow::Cow<'_, str>", into = "String")]
pub struct CardExpiry {
    year: i16,
    month: i8,
}

/// Not an expiry date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an expiry date is a month and a year: MM/YY")]
pub struct MalformedExpiry;

impl CardExpiry {
    /// The month in which `day` is.
    #[must_use]
    pub fn of(day: Date) -> Self {
        Self { year: day.year(), month: day.month() }
    }

    /// The first instant at which the card is no good any more, UTC.
    #[must_use]
    pub fn ends_at(self) -> Timestamp {
        let (year, month) = if self.month == 12 { (self.year + 1, 1) } else { (self.year, self.month + 1) };
        let first = Date::new(year, month, 1).and_then(|day| day.to_zoned(TimeZone::UTC));
        // A month of this century and the day after it are in every calendar.
        first.map_or(Timestamp::MIN, |start| start.timestamp())
    }
}

impl FromStr for CardExpiry {
    type Err = MalformedExpiry;

    fn from_str(text: &str) -> Result<Self, MalformedExpiry> {
        let two = |part: &str| match part.as_bytes() {
            [a, b] if a.is_ascii_digit() && b.is_ascii_digit() => part.parse::<i8>().ok(),
            _ => None,
        };
        let (month, year) = text.split_once('/').ok_or(MalformedExpiry)?;
        let (month, year) = two(month).zip(two(year)).ok_or(MalformedExpiry)?;
        if !(1..=12).contains(&month) {
            return Err(MalformedExpiry);
        }
        Ok(Self { year: 2000 + i16::from(year), month })
    }
}

impl fmt::Display for CardExpiry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}/{:02}", self.month, self.year % 100)
    }
}

impl TryFrom<std::borrow::Cow<'_, str>> for CardExpiry {
    type Error = MalformedExpiry;

    fn try_from(text: std::borrow::Cow<'_, str>) -> Result<Self, MalformedExpiry> {
        text.parse()
    }
}

impl From<CardExpiry> for String {
    fn from(expiry: CardExpiry) -> Self {
        expiry.to_string()
    }
}
