//! From the text of a column to the type it was.

use std::error::Error;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::de::IntoDeserializer;
use serde::de::value::{Error as ValueError, StrDeserializer};

/// What [`FromStr`] makes of a column.
pub(crate) fn parsed<T>(text: &str) -> sqlx::Result<T>
where
    T: FromStr,
    T::Err: Error + Send + Sync + 'static,
{
    text.parse().map_err(|e: T::Err| sqlx::Error::Decode(e.into()))
}

/// The enum variant whose name in events is the column's text.
pub(crate) fn decoded<T: DeserializeOwned>(text: &str) -> sqlx::Result<T> {
    let name: StrDeserializer<'_, ValueError> = text.into_deserializer();
    T::deserialize(name).map_err(|e| sqlx::Error::Decode(e.into()))
}
