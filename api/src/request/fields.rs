//! Reading a JSON body field by field, with every error at once.
//!
//! A request type is declared with [`request!`](crate::request), which makes the struct, its OpenAPI schema and its
//! [`Field`] implementation from one list. The body is parsed once; reading it costs no further parse.

use bursar_domain::kernel::{UserId, utc_date};
use bursar_domain::products::AccountType;
use bursar_domain::{AccountNumber, Amount, Currency};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use crate::problem::FieldError;

/// What is wrong with a value; pointers are relative to it.
pub type Faults = Vec<FieldError>;

/// A value a request can hold.
pub trait Field: Sized {
    /// Reads a value that is there.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    fn read(value: Value) -> Result<Self, Faults>;

    /// What an absent or null one means.
    ///
    /// # Errors
    /// `REQUIRED`, unless the field is optional.
    fn absent() -> Result<Self, Faults> {
        Err(fault("REQUIRED", "this field is required"))
    }
}

/// One thing wrong with a value.
#[must_use]
pub fn fault(code: &'static str, message: &str) -> Faults {
    vec![FieldError { pointer: String::new(), code, message: message.to_owned() }]
}

/// The fields of one JSON object, taken one after another.
#[derive(Debug)]
pub struct Fields {
    object: Map<String, Value>,
    faults: Faults,
}

impl Fields {
    /// The fields of `value`.
    ///
    /// # Errors
    /// When it is not an object.
    pub fn of(value: Value) -> Result<Self, Faults> {
        match value {
            Value::Object(object) => Ok(Self { object, faults: Vec::new() }),
            _ => Err(fault("WRONG_TYPE", "expected an object")),
        }
    }

    /// Takes the field `name`; when it is wrong, remembers why and answers `None`.
    pub fn take<T: Field>(&mut self, name: &str) -> Option<T> {
        let read = match self.object.get_mut(name).map(Value::take) {
            None | Some(Value::Null) => T::absent(),
            Some(value) => T::read(value),
        };
        read.map_err(|faults| {
            self.faults.extend(
                faults.into_iter().map(|f| FieldError { pointer: format!("/{name}{}", f.pointer), ..f }),
            );
        })
        .ok()
    }

    /// The request, unless a field was wrong.
    ///
    /// # Errors
    /// Everything that was wrong.
    pub fn finish<T>(self, request: Option<T>) -> Result<T, Faults> {
        match request {
            Some(request) if self.faults.is_empty() => Ok(request),
            _ => Err(self.faults),
        }
    }
}

/// Declares the body of a request: the struct, its OpenAPI schema, and how it is read.
///
/// `field: Type as SchemaType = "jsonName"`; a field of type `Option<_>` may be absent or null.
#[macro_export]
macro_rules! request {
    ($(#[$about:meta])* $name:ident {
        $($(#[$doc:meta])* $field:ident: $type:ty as $schema:ty = $json:literal,)*
    }) => {
        $(#[$about])*
        #[derive(utoipa::ToSchema)]
        #[allow(dead_code, reason = "the interface names fields that the bank passes over")]
        pub struct $name {$(
            $(#[$doc])*
            #[schema(value_type = $schema, rename = $json)]
            pub $field: $type,
        )*}

        impl $crate::request::Field for $name {
            fn read(value: serde_json::Value) -> Result<Self, $crate::request::Faults> {
                let mut fields = $crate::request::Fields::of(value)?;
                $(let $field = fields.take::<$type>($json);)*
                // Every field has been read by now, so that every error is known.
                let request = (|| Some(Self { $($field: $field?,)* }))();
                fields.finish(request)
            }
        }
    };
}

impl<T: Field> Field for Option<T> {
    fn read(value: Value) -> Result<Self, Faults> {
        T::read(value).map(Some)
    }

    fn absent() -> Result<Self, Faults> {
        Ok(None)
    }
}

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
}

/// A password or token: kept out of every error, and bounded.
pub struct Secret(pub String);

impl Field for Secret {
    fn read(value: Value) -> Result<Self, Faults> {
        let Text(text) = Text::<4096>::read(value)?;
        Ok(Self(text))
    }
}

/// A field that the interface names and the bank decides: whatever it holds is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ignored;

impl Field for Ignored {
    fn read(_: Value) -> Result<Self, Faults> {
        Ok(Self)
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
}

impl Field for Amount {
    fn read(value: Value) -> Result<Self, Faults> {
        Self::try_from(integer(&value)?).map_err(|e| fault("OUT_OF_RANGE", &e.to_string()))
    }
}

impl Field for bool {
    fn read(value: Value) -> Result<Self, Faults> {
        value.as_bool().ok_or_else(|| fault("WRONG_TYPE", "expected true or false"))
    }
}

impl Field for Currency {
    fn read(value: Value) -> Result<Self, Faults> {
        string(value)?
            .parse()
            .map_err(|e: bursar_domain::kernel::MoneyError| fault("MALFORMED", &e.to_string()))
    }
}

impl Field for AccountNumber {
    fn read(value: Value) -> Result<Self, Faults> {
        let text = string(value)?;
        text.parse()
            .map_err(|_| fault("MALFORMED", "an account number is ten digits, the last one a check digit"))
    }
}

impl Field for UserId {
    fn read(value: Value) -> Result<Self, Faults> {
        string(value)?.parse().map_err(|_| fault("MALFORMED", "not a user id"))
    }
}

/// A timestamp of RFC 3339, whose years have four digits and which Postgres can hold.
pub(super) fn timestamp(text: &str) -> Option<Timestamp> {
    text.parse().ok().filter(|at| utc_date(*at).year() > 0)
}

impl Field for Timestamp {
    fn read(value: Value) -> Result<Self, Faults> {
        let text = string(value)?;
        timestamp(&text)
            .ok_or_else(|| fault("MALFORMED", "expected a timestamp such as 2026-01-31T00:00:00Z"))
    }
}

impl Field for SignedDuration {
    fn read(value: Value) -> Result<Self, Faults> {
        let wrong = || fault("MALFORMED", "expected an ISO 8601 duration such as P1D or PT2H");
        let span: jiff::Span = string(value)?.parse().map_err(|_| wrong())?;
        // Days are 24 hours: the bank counts in UTC.
        span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())
    }
}

impl Field for AccountType {
    fn read(value: Value) -> Result<Self, Faults> {
        let text = string(value)?;
        let known = [Self::Current, Self::Savings, Self::TargetSavings];
        known
            .into_iter()
            .find(|known| known.as_str() == text)
            .ok_or_else(|| fault("UNKNOWN_VALUE", "expected CURRENT, SAVINGS or TARGET_SAVINGS"))
    }
}

/// How often a plan saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frequency {
    /// Every week.
    Weekly,
    /// Every month.
    Monthly,
}

impl From<Frequency> for String {
    fn from(frequency: Frequency) -> Self {
        match frequency {
            Frequency::Weekly => "WEEKLY".to_owned(),
            Frequency::Monthly => "MONTHLY".to_owned(),
        }
    }
}

impl Field for Frequency {
    fn read(value: Value) -> Result<Self, Faults> {
        match string(value)?.as_str() {
            "WEEKLY" => Ok(Self::Weekly),
            "MONTHLY" => Ok(Self::Monthly),
            _ => Err(fault("UNKNOWN_VALUE", "expected WEEKLY or MONTHLY")),
        }
    }
}

fn string(value: Value) -> Result<String, Faults> {
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
