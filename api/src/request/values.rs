//! The types that fields of a body and query parameters can have.

use std::str::FromStr;

use bursar_domain::Amount;
use bursar_domain::kernel::{IdError, Spelled, utc_date};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};

use super::fields::{Faults, Field, Fields, fault, under};
use super::schema;

/// The most items a list may have.
const LONGEST_LIST: usize = 100;

/// Text of 1 to `MOST` characters, none of them a control character (Postgres cannot keep a NUL, and nobody's
/// narration needs a bell).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text<const MOST: usize>(pub String);

impl<const MOST: usize> From<Text<MOST>> for String {
    fn from(text: Text<MOST>) -> Self {
        text.0
    }
}

impl<const MOST: usize> Field for Text<MOST> {
    fn read(value: Value) -> Result<Self, Faults> {
        let text = string(value)?;
        if text.is_empty() || text.chars().count() > MOST {
            return Err(fault("LENGTH", &format!("expected 1 to {MOST} characters")));
        }
        if text.chars().any(char::is_control) {
            return Err(fault("CONTROL_CHARACTER", "control characters are not allowed"));
        }
        Ok(Self(text))
    }

    fn schema() -> Schema {
        schema::text(|text| text.min_length(Some(1)).max_length(Some(MOST)))
    }
}

/// Text that names something: white space around it does not count, and there must be something else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title<const MOST: usize>(pub String);

impl<const MOST: usize> From<Title<MOST>> for String {
    fn from(title: Title<MOST>) -> Self {
        title.0
    }
}

impl<const MOST: usize> Field for Title<MOST> {
    fn read(value: Value) -> Result<Self, Faults> {
        let Text(text) = Text::<MOST>::read(Value::String(string(value)?.trim().to_owned()))?;
        Ok(Self(text))
    }

    fn schema() -> Schema {
        Text::<MOST>::schema()
    }
}

/// A colour: `#` and 3, 4, 6 or 8 hexadecimal digits, or a name of letters. Nothing else that a style sheet would read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Color(pub String);

impl From<Color> for String {
    fn from(color: Color) -> Self {
        color.0
    }
}

impl Field for Color {
    fn read(value: Value) -> Result<Self, Faults> {
        let text = string(value)?;
        let fits = match text.strip_prefix('#') {
            Some(digits) => {
                matches!(digits.len(), 3 | 4 | 6 | 8) && digits.bytes().all(|b| b.is_ascii_hexdigit())
            }
            None => (1..=30).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphabetic()),
        };
        if fits {
            return Ok(Self(text));
        }
        Err(fault("MALFORMED", "expected a colour such as #FF8800 or orange"))
    }

    fn schema() -> Schema {
        schema::text(|text| {
            text.pattern(Some("^(#([0-9A-Fa-f]{3,4}|[0-9A-Fa-f]{6}|[0-9A-Fa-f]{8})|[A-Za-z]{1,30})$"))
        })
    }
}

/// A code or number of somebody else's making: letters, digits, `_` and `-`, upper case whatever was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Code<const MOST: usize>(pub String);

impl<const MOST: usize> From<Code<MOST>> for String {
    fn from(code: Code<MOST>) -> Self {
        code.0
    }
}

impl<const MOST: usize> Field for Code<MOST> {
    fn read(value: Value) -> Result<Self, Faults> {
        let text = string(value)?.to_ascii_uppercase();
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"_-".contains(&b);
        if (1..=MOST).contains(&text.len()) && text.bytes().all(allowed) {
            return Ok(Self(text));
        }
        Err(fault("MALFORMED", &format!("expected 1 to {MOST} letters, digits, _ or -")))
    }

    fn schema() -> Schema {
        schema::text(|text| text.pattern(Some(format!("^[A-Za-z0-9_-]{{1,{MOST}}}$"))))
    }
}

/// A phone number, in its one international spelling (E.164).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phone(pub String);

impl From<Phone> for String {
    fn from(phone: Phone) -> Self {
        phone.0
    }
}

impl Field for Phone {
    fn read(value: Value) -> Result<Self, Faults> {
        let text = string(value)?;
        let wrong =
            || fault("MALFORMED", "expected a phone number with its country code, such as +2348030000001");
        let number = phonenumber::parse(None, &text).map_err(|_| wrong())?;
        if !text.trim_start().starts_with('+') || !phonenumber::is_valid(&number) {
            return Err(wrong());
        }
        Ok(Self(number.format().mode(phonenumber::Mode::E164).to_string()))
    }

    fn schema() -> Schema {
        schema::text(|text| text.pattern(Some(r"^\+[0-9 ().-]{7,20}$")))
    }
}

/// An email address: what mail programs agree on, without comments, quotes or spaces. Case is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Email(pub String);

impl From<Email> for String {
    fn from(email: Email) -> Self {
        email.0
    }
}

impl Field for Email {
    fn read(value: Value) -> Result<Self, Faults> {
        let text = string(value)?;
        let word = |c: char| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
        let label = |label: &str| {
            !label.is_empty()
                && !label.starts_with('-')
                && !label.ends_with('-')
                && label.chars().all(|c| c.is_alphanumeric() || c == '-')
        };
        let fits = text.rsplit_once('@').is_some_and(|(local, domain)| {
            local.len() <= 64
                && local.split('.').all(|part| !part.is_empty() && part.chars().all(word))
                && domain.contains('.')
                && domain.split('.').all(label)
        });
        if fits && text.len() <= 254 {
            return Ok(Self(text));
        }
        Err(fault("MALFORMED", "expected an email address such as ada@example.com"))
    }

    fn schema() -> Schema {
        schema::text(|text| text.format(Some(SchemaFormat::Custom("email".to_owned()))).max_length(Some(254)))
    }
}

/// A password or token: kept out of every error, and bounded.
pub struct Secret(pub String);

impl Field for Secret {
    fn read(value: Value) -> Result<Self, Faults> {
        let Text(text) = Text::<4096>::read(value)?;
        Ok(Self(text))
    }

    fn schema() -> Schema {
        schema::text(|text| text.min_length(Some(1)).max_length(Some(4096)).write_only(true))
    }
}

/// A certificate or a signing request, in PEM or base64: lines of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pem(pub String);

impl Field for Pem {
    fn read(value: Value) -> Result<Self, Faults> {
        const MOST: usize = 16 * 1024;
        let text = string(value)?;
        if text.is_empty() || text.len() > MOST {
            return Err(fault("LENGTH", "expected 1 to 16384 characters"));
        }
        if !text.bytes().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) {
            return Err(fault("MALFORMED", "expected PEM or base64"));
        }
        Ok(Self(text))
    }

    fn schema() -> Schema {
        schema::text(|text| text.min_length(Some(1)).max_length(Some(16 * 1024)))
    }
}

/// A field that the interface names and the bank decides: whatever it holds is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ignored;

impl Field for Ignored {
    fn read(_: Value) -> Result<Self, Faults> {
        Ok(Self)
    }

    fn schema() -> Schema {
        ObjectBuilder::new().schema_type(utoipa::openapi::schema::SchemaType::AnyValue).into()
    }
}

/// A body with nothing in it that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nothing;

impl Field for Nothing {
    const ASKS_FOR_NOTHING: bool = true;

    fn read(value: Value) -> Result<Self, Faults> {
        Fields::of(value).map(|_| Self)
    }

    fn schema() -> Schema {
        ObjectBuilder::new().schema_type(Type::Object).into()
    }
}

/// One of the values of an enum, by its spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OneOf<T>(pub T);

impl<T: Spelled> Field for OneOf<T> {
    fn read(value: Value) -> Result<Self, Faults> {
        let text = string(value)?;
        let found = T::ALL.iter().copied().find(|known| known.spelling() == text);
        found
            .map(Self)
            .ok_or_else(|| fault("UNKNOWN_VALUE", &format!("expected one of: {}", T::SPELLINGS.join(", "))))
    }

    fn schema() -> Schema {
        schema::one_of(T::SPELLINGS)
    }
}

/// A whole number of minor units from 0 on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Minor(pub i64);

impl Field for Minor {
    fn read(value: Value) -> Result<Self, Faults> {
        match integer(&value)? {
            minor @ 0..=Amount::MAX => Ok(Self(minor)),
            _ => Err(fault("OUT_OF_RANGE", "expected 0 to 1000000000000000 minor units")),
        }
    }

    fn from_text(text: String) -> Result<Self, Faults> {
        Self::read(number(&text))
    }

    fn schema() -> Schema {
        schema::whole(0, Some(Amount::MAX))
    }
}

/// A place in the log: 1 is the first event's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogPosition(pub i64);

impl FromStr for LogPosition {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        // One spelling a number.
        let position =
            text.parse().ok().filter(|position: &i64| *position >= 1 && position.to_string() == text);
        position.map(Self).ok_or(IdError)
    }
}

impl Field for LogPosition {
    fn read(value: Value) -> Result<Self, Faults> {
        let position = integer(&value)?;
        if position >= 1 {
            Ok(Self(position))
        } else {
            Err(fault("OUT_OF_RANGE", "expected a whole number from 1"))
        }
    }

    fn from_text(text: String) -> Result<Self, Faults> {
        Self::read(number(&text))
    }

    fn schema() -> Schema {
        schema::whole(1, None)
    }
}

/// A place in the log that something comes after; 0 is before everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct After(pub i64);

impl Field for After {
    fn read(value: Value) -> Result<Self, Faults> {
        let position = integer(&value)?;
        if position >= 0 {
            Ok(Self(position))
        } else {
            Err(fault("OUT_OF_RANGE", "expected a whole number from 0"))
        }
    }

    fn from_text(text: String) -> Result<Self, Faults> {
        Self::read(number(&text))
    }

    fn schema() -> Schema {
        schema::whole(0, None)
    }
}

/// A whole number from `LEAST` to `MOST`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Whole<const LEAST: u32, const MOST: u32>(pub u32);

impl<const LEAST: u32, const MOST: u32> Field for Whole<LEAST, MOST> {
    fn read(value: Value) -> Result<Self, Faults> {
        let number = u32::try_from(integer(&value)?).ok().filter(|number| (LEAST..=MOST).contains(number));
        number
            .map(Self)
            .ok_or_else(|| fault("OUT_OF_RANGE", &format!("expected a whole number from {LEAST} to {MOST}")))
    }

    fn from_text(text: String) -> Result<Self, Faults> {
        Self::read(number(&text))
    }

    fn schema() -> Schema {
        schema::whole(LEAST.into(), Some(MOST.into()))
    }
}

/// The number of a day: of the month, or of the week, where 1 is Monday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayNumber(pub i8);

impl Field for DayNumber {
    fn read(value: Value) -> Result<Self, Faults> {
        let day = i8::try_from(integer(&value)?).ok().filter(|day| (1..=31).contains(day));
        day.map(Self).ok_or_else(|| fault("OUT_OF_RANGE", "expected a day from 1 to 31"))
    }

    fn schema() -> Schema {
        schema::whole(1, Some(31))
    }
}

impl Field for Amount {
    fn read(value: Value) -> Result<Self, Faults> {
        Self::try_from(integer(&value)?).map_err(|e| fault("OUT_OF_RANGE", &e.to_string()))
    }

    fn schema() -> Schema {
        schema::whole(1, Some(Self::MAX))
    }
}

impl Field for bool {
    fn read(value: Value) -> Result<Self, Faults> {
        value.as_bool().ok_or_else(|| fault("WRONG_TYPE", "expected true or false"))
    }

    fn from_text(text: String) -> Result<Self, Faults> {
        text.parse().map_err(|_| fault("WRONG_TYPE", "expected true or false"))
    }

    fn schema() -> Schema {
        ObjectBuilder::new().schema_type(Type::Boolean).into()
    }
}

/// Up to a hundred values.
impl<T: Field> Field for Vec<T> {
    fn read(value: Value) -> Result<Self, Faults> {
        let Value::Array(items) = value else { return Err(fault("WRONG_TYPE", "expected a list")) };
        if items.len() > LONGEST_LIST {
            return Err(fault("LENGTH", &format!("expected at most {LONGEST_LIST} items")));
        }
        let mut faults = Faults::new();
        let mut read = Self::with_capacity(items.len());
        for (place, item) in items.into_iter().enumerate() {
            match T::read(item) {
                Ok(item) => read.push(item),
                Err(wrong) => faults.extend(under(place, wrong)),
            }
        }
        if faults.is_empty() { Ok(read) } else { Err(faults) }
    }

    fn schema() -> Schema {
        schema::list(T::schema())
    }
}

/// A timestamp of RFC 3339, whose years have four digits and which Postgres can hold.
pub(super) fn timestamp(text: &str) -> Option<Timestamp> {
    text.parse().ok().filter(|at| utc_date(*at).year() > 0)
}

impl Field for Timestamp {
    fn read(value: Value) -> Result<Self, Faults> {
        timestamp(&string(value)?)
            .ok_or_else(|| fault("MALFORMED", "expected a timestamp such as 2026-01-31T00:00:00Z"))
    }

    fn schema() -> Schema {
        schema::formatted(KnownFormat::DateTime)
    }
}

/// A day of the calendar, in the form of RFC 3339 and no other.
impl Field for Date {
    fn read(value: Value) -> Result<Self, Faults> {
        let text = string(value)?;
        // jiff would take a timestamp's day too, and years of six digits.
        let day = Some(&text).filter(|text| text.len() == 10).and_then(|text| text.parse().ok());
        day.filter(|day: &Self| day.year() > 0)
            .ok_or_else(|| fault("MALFORMED", "expected a date such as 2026-01-31"))
    }

    fn schema() -> Schema {
        schema::formatted(KnownFormat::Date)
    }
}

impl Field for SignedDuration {
    fn read(value: Value) -> Result<Self, Faults> {
        let wrong = || fault("MALFORMED", "expected an ISO 8601 duration such as P1D or PT2H");
        let span: jiff::Span = string(value)?.parse().map_err(|_| wrong())?;
        // Days are 24 hours: the bank counts in UTC.
        span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())
    }

    fn schema() -> Schema {
        schema::formatted(KnownFormat::Duration)
    }
}

pub(super) fn parsed<T: FromStr>(value: Value, expected: &str) -> Result<T, Faults> {
    string(value)?.parse().map_err(|_| fault("MALFORMED", expected))
}

pub(super) fn string(value: Value) -> Result<String, Faults> {
    match value {
        Value::String(text) => Ok(text),
        _ => Err(fault("WRONG_TYPE", "expected a string")),
    }
}

fn integer(value: &Value) -> Result<i64, Faults> {
    match value {
        Value::Number(number) => {
            number.as_i64().ok_or_else(|| fault("OUT_OF_RANGE", "expected a whole number of at most 64 bits"))
        }
        _ => Err(fault("WRONG_TYPE", "expected a whole number")),
    }
}

/// The number that `text` spells; text that spells none stays text.
fn number(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| Value::String(text.to_owned()), Value::from)
}
