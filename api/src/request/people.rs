//! Types of fields about people and what they hand in.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bursar_domain::kernel::LARGEST_FILE;
use jiff::tz::TimeZone;
use serde_json::Value;
use utoipa::openapi::schema::Schema;

use super::fields::{Faults, Field, fault};
use super::schema;
use super::values::string;
use crate::problem::Problem;

/// Padding may be there or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
/// Characters that the largest file takes.
const LONGEST_CONTENT: usize = LARGEST_FILE.div_ceil(3) * 4;

/// The bytes of a file, in base64. How many they are is known before any is decoded.
#[derive(Clone, PartialEq, Eq)]
pub struct FileContent(Option<Vec<u8>>);

impl FileContent {
    /// The bytes.
    ///
    /// # Errors
    /// 413 above 5 MiB.
    pub fn bytes(self) -> Result<Vec<u8>, Problem> {
        let detail = "the file has more than 5 MiB";
        let too_large = || Problem::new(axum::http::StatusCode::PAYLOAD_TOO_LARGE, "TOO_LARGE", detail);
        self.0.ok_or_else(too_large)
    }
}

impl Field for FileContent {
    const HOLDS_FILE: bool = true;

    fn read(value: Value) -> Result<Self, Faults> {
        let text = string(value)?;
        if text.len() > LONGEST_CONTENT {
            return Ok(Self(None));
        }
        let bytes = BASE64.decode(&text).map_err(|_| fault("MALFORMED", "expected base64 (RFC 4648, 4)"))?;
        match bytes.len() {
            0 => Err(fault("LENGTH", "the file is empty")),
            length => Ok(Self((length <= LARGEST_FILE).then_some(bytes))),
        }
    }

    fn schema() -> Schema {
        schema::text(|text| {
            text.content_encoding("base64").min_length(Some(4)).max_length(Some(LONGEST_CONTENT))
        })
    }
}

/// A language as BCP 47 names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Language(pub String);

impl From<Language> for String {
    fn from(language: Language) -> Self {
        language.0
    }
}

impl Field for Language {
    fn read(value: Value) -> Result<Self, Faults> {
        let text = string(value)?;
        let mut subtags = text.split('-');
        let fits = |subtag: &str, least: usize| {
            (least..=8).contains(&subtag.len()) && subtag.bytes().all(|b| b.is_ascii_alphanumeric())
        };
        let primary =
            subtags.next().is_some_and(|tag| fits(tag, 2) && tag.bytes().all(|b| b.is_ascii_alphabetic()));
        if primary && text.len() <= 35 && subtags.all(|subtag| fits(subtag, 1)) {
            return Ok(Self(text));
        }
        Err(fault("MALFORMED", "expected a language such as en or pt-BR (BCP 47)"))
    }

    fn schema() -> Schema {
        schema::text(|text| text.max_length(Some(35)).pattern(Some("^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$")))
    }
}

/// A time zone by its IANA name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeZoneName(pub String);

impl From<TimeZoneName> for String {
    fn from(zone: TimeZoneName) -> Self {
        zone.0
    }
}

impl Field for TimeZoneName {
    fn read(value: Value) -> Result<Self, Faults> {
        let text = string(value)?;
        let zone = TimeZone::get(&text).ok();
        let name = zone.as_ref().and_then(TimeZone::iana_name);
        let unknown = || fault("UNKNOWN_VALUE", "expected a time zone such as Africa/Lagos (IANA)");
        name.map(|name| Self(name.to_owned())).ok_or_else(unknown)
    }

    fn schema() -> Schema {
        schema::text(|text| text.max_length(Some(64)))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_decoded_only_when_it_is_not_too_large() {
        let read = |text: String| FileContent::read(json!(text)).map(|content| content.bytes());
        assert_eq!(read("aGk=".into()).unwrap().unwrap(), b"hi");
        assert_eq!(read("aGk".into()).unwrap().unwrap(), b"hi");
        let of = |length: usize| read(BASE64.encode(vec![0; length])).unwrap();
        assert_eq!(of(LARGEST_FILE).unwrap().len(), LARGEST_FILE);
        for too_large in [LARGEST_FILE + 1, LARGEST_FILE + 2, LARGEST_FILE + 3, LARGEST_FILE * 2] {
            assert_eq!(of(too_large).unwrap_err().status(), 413, "{too_large}");
        }
        // Not even looked at.
        assert_eq!(read("!".repeat(LONGEST_CONTENT + 1)).unwrap().unwrap_err().status(), 413);
        for bad in ["", "====", "a", "data:image/png;base64,aGk=", "aG k=", "aGk=\n", "_-8="] {
            assert!(FileContent::read(json!(bad)).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn languages_and_time_zones_are_known_ones() {
        for good in ["en", "pt-BR", "zh-Hant-TW", "yo-NG"] {
            assert!(Language::read(json!(good)).is_ok(), "{good}");
        }
        for bad in ["", "e", "english language", "en_US", "en-", "-en", "12"] {
            assert!(Language::read(json!(bad)).is_err(), "{bad}");
        }
        assert_eq!(TimeZoneName::read(json!("africa/lagos")).unwrap().0, "Africa/Lagos");
        for bad in ["", "Mars/Olympus", "../../etc/passwd", "+01:00"] {
            assert!(TimeZoneName::read(json!(bad)).is_err(), "{bad}");
        }
    }
}
