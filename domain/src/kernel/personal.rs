//! Data about a person, marked so that the log can encrypt and forget it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A name, an email, a phone number, an address, a credential: data about one person in an event.
///
/// In the log the value is an object with the single member `personal`, which is how the
/// [codec](crate::codec) finds it. Before storing, the codec may replace it by `sealed` (ciphertext);
/// when the person's key is destroyed, reading yields [`Personal::Erased`]. Formatting never shows
/// the value, so that it cannot slip into a log line.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Personal<T> {
    /// The value in the clear.
    #[serde(rename = "personal")]
    Clear(T),
    /// Ciphertext, as the independent reader sees it.
    #[serde(rename = "sealed")]
    Sealed(String),
    /// The key is gone and the value with it.
    #[serde(rename = "erased")]
    Erased,
}

impl<T> Personal<T> {
    /// Marks `value` as personal.
    pub const fn new(value: T) -> Self {
        Self::Clear(value)
    }

    /// The value, unless it is sealed or erased.
    pub const fn get(&self) -> Option<&T> {
        match self {
            Self::Clear(value) => Some(value),
            Self::Sealed(_) | Self::Erased => None,
        }
    }
}

impl Personal<String> {
    /// The value, or the text people are shown in its place.
    #[must_use]
    pub fn or_erased(&self) -> &str {
        self.get().map_or("[erased]", String::as_str)
    }
}

impl<T> fmt::Debug for Personal<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Clear(_) => "[personal]",
            Self::Sealed(_) => "[sealed]",
            Self::Erased => "[erased]",
        })
    }
}

impl<T> From<T> for Personal<T> {
    fn from(value: T) -> Self {
        Self::Clear(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formatting_never_shows_the_value() {
        assert_eq!(format!("{:?}", Personal::new("Ada".to_owned())), "[personal]");
    }

    #[test]
    fn each_form_reads_back() {
        for value in [Personal::new("Ada".to_owned()), Personal::Sealed("x".into()), Personal::Erased] {
            let json = serde_json::to_string(&value).unwrap();
            assert_eq!(serde_json::from_str::<Personal<String>>(&json).unwrap(), value);
        }
    }
}
