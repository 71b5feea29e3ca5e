//! From the text of a column to the type it was.

use std::error::Error;
use std::str::FromStr;

use bursar_domain::kernel::UserId;
use bursar_domain::users::{Erased, UserEvent};
use bursar_domain::{AccountNumber, Event, Kind, Recorded};
use rust_decimal::Decimal;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, de::IntoDeserializer};

use crate::read_model::FoldError;

/// Whose stream the event is in, where a stream is a person's.
pub(crate) fn owner(event: &Recorded) -> Result<UserId, FoldError> {
    named(event)
}

/// What stands for something personal once the person is erased, in a row as in a rebuild.
pub(crate) const ERASED: &str = "[erased]";

/// How a person was erased, and who.
pub(crate) fn erasure(event: &Recorded) -> Option<(UserId, &Erased)> {
    match &event.event {
        Event::User(UserEvent::Erased(erased)) => Some((event.stream.id.parse().ok()?, erased)),
        _ => None,
    }
}

/// Erases a text that may be absent.
pub(crate) fn erase(text: &mut Option<String>) {
    if let Some(text) = text {
        ERASED.clone_into(text);
    }
}

/// The accounts whose balances or settings the event changes.
pub(crate) fn accounts(event: &Recorded) -> impl Iterator<Item = AccountNumber> {
    let own = (event.stream.kind == Kind::Account).then(|| AccountNumber::from(event.stream.id.as_str()));
    let moved = match &event.event {
        Event::Payment(payment) => payment.movement(),
        _ => None,
    };
    own.into_iter().chain(moved.into_iter().flat_map(|moved| moved.accounts().cloned()))
}

/// The id of the stream that the event is in.
pub(crate) fn named<T: FromStr>(event: &Recorded) -> Result<T, FoldError> {
    event.stream.id.parse().map_err(|_| FoldError::ForeignStream(event.stream.id.to_string()))
}

/// Reads the number that `to_jsonb` makes of a `numeric`: exact up to the 15 digits that a JSON number carries safely,
/// which is for rates and ratios, not for money.
pub(crate) fn rate<'de, D: Deserializer<'de>>(number: D) -> Result<Decimal, D::Error> {
    serde_json::Number::deserialize(number)?.to_string().parse().map_err(D::Error::custom)
}

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
