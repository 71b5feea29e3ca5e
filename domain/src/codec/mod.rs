//! From event to stored bytes and back: upcasting, and the seam where personal data is encrypted.
//!
//! A payload holds a [`Personal`](crate::Personal) part as an object with the single member `personal`. In the log each
//! of them is sealed with the key of the person whom the event is about ([`AggregateEvent::subject`]):
//!
//! ```text
//!   {"first_name":{"personal":"Ada"}}  <-->  {"first_name":{"sealed":"1.usr_0192....<ciphertext>"}}
//! ```
//!
//! Version and key id are readable, so that whoever reads many rows knows which keys to fetch first
//! ([`Codec::lacking`]). Where the part stands (stream, sequence, JSON pointer) is authenticated with it: moved anywhere
//! else, it does not open. This module knows where the parts are; a [`KeyRing`] knows the keys.
//!
//! [`AggregateEvent::subject`]: crate::AggregateEvent::subject

mod parts;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

use cqrs_es::persist::{EventUpcaster, SerializedEvent};
use jiff::Timestamp;

use crate::catalogue::{Event, Kind, UnknownKind};
use crate::envelope::{Position, Recorded, StreamId};
use crate::kernel::UserId;
use parts::Malformed;

/// A stored event that cannot be read. Names the event, never its content.
#[derive(Debug, thiserror::Error)]
#[error("{name} version {version} of {stream}, sequence {sequence}, cannot be read: {reason}")]
pub struct Unreadable {
    /// The stored event type.
    pub name: String,
    /// The stored version.
    pub version: String,
    /// The stream it is in.
    pub stream: String,
    /// Its place in the stream.
    pub sequence: i64,
    /// What is wrong with it.
    pub reason: String,
}

/// One row of the log, as stored.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the columns of journal.events, documented there")]
pub struct Stored<'a> {
    pub position: Position,
    pub recorded_at: Timestamp,
    pub sequence: i64,
    pub aggregate_type: &'a str,
    pub aggregate_id: &'a str,
    pub event_type: &'a str,
    pub event_version: &'a str,
    pub payload: &'a str,
    pub metadata: &'a str,
}

/// The data keys that a process has at hand, one a person.
///
/// Reading is synchronous and keys are in the store: whoever reads rows asks [`Codec::lacking`] first, fetches those
/// keys and lets the ring [`learn`](Self::learn) them.
pub trait KeyRing: Send + Sync {
    /// Whether the key of `subject` has to be fetched before anything of theirs can be opened.
    fn lacks(&self, subject: UserId) -> bool;

    /// Takes a key as the store holds it.
    ///
    /// # Errors
    /// [`ForeignKey`] when this process cannot unwrap it.
    fn learn(&self, subject: UserId, stored: StoredKey<'_>) -> Result<(), ForeignKey>;

    /// The key is destroyed, for good.
    fn erased(&self, subject: UserId);

    /// Opens what was sealed for `place`: writes the JSON value, or answers false when the key is destroyed.
    ///
    /// # Errors
    /// [`Unopened`].
    fn open(&self, subject: UserId, place: &str, sealed: &str, out: &mut String) -> Result<bool, Unopened>;
}

/// A row of `journal.data_keys`.
#[derive(Debug, Clone, Copy)]
pub struct StoredKey<'a> {
    /// The key, wrapped; none when it was destroyed.
    pub wrapped: Option<&'a [u8]>,
    /// Which master key wrapped it.
    pub wrapped_by: &'a [u8],
}

/// A data key that another master key wrapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a data key is wrapped by another master key: give this process the current one")]
pub struct ForeignKey;

/// Ciphertext that does not open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unopened {
    /// There is no such key.
    #[error("the data key of a person is missing")]
    NoKey,
    /// It was changed, or moved from where it was sealed.
    #[error("ciphertext was changed or moved")]
    Forged,
}

/// The version of the sealed form.
const SEALED: &str = "1.";

/// Writes the stored form of a part whose ciphertext, base64url, `write` appends.
pub fn write_sealed(out: &mut String, subject: UserId, write: impl FnOnce(&mut String)) {
    use std::fmt::Write as _;
    // Writing to a String cannot fail.
    let _ = write!(out, "{{\"sealed\":\"{SEALED}{subject}.");
    write(out);
    out.push_str("\"}");
}

/// Whether a payload has personal parts in the clear.
#[must_use]
pub fn has_personal(payload: &str) -> bool {
    // A quotation mark inside a string is escaped, so that only a member can look like this.
    payload.contains(r#""personal":"#)
}

/// Seals the personal parts of a payload: `seal` is told the place that the ciphertext is bound to and the value as
/// JSON, and writes the stored form ([`write_sealed`]).
///
/// # Errors
/// When `payload` is not JSON, which no event of the catalogue comes to.
pub fn seal(
    stream: &StreamId,
    sequence: i64,
    payload: &str,
    mut seal: impl FnMut(&mut String, &str, &str),
) -> Result<String, NotJson> {
    let mut place = Place::of(stream, sequence);
    let sealed = parts::replace(payload, "personal", |out, pointer, value| {
        seal(out, place.at(pointer), value);
        Ok(())
    });
    sealed.map_err(|Malformed| NotJson)
}

/// A payload that is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not JSON")]
pub struct NotJson;

/// What ciphertext is bound to, as text. No part of it can hold a line break.
struct Place {
    text: String,
    stream: usize,
}

impl Place {
    fn of(stream: &StreamId, sequence: i64) -> Self {
        use std::fmt::Write as _;
        let mut text = String::with_capacity(128);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}\n{}\n{sequence}", stream.kind, stream.id);
        Self { stream: text.len(), text }
    }

    fn at(&mut self, pointer: &str) -> &str {
        self.text.truncate(self.stream);
        self.text.push_str(pointer);
        &self.text
    }
}

/// The upcasters of every event shape that has been superseded, oldest first.
///
/// Our codec and the independent reader of `bursar audit replay` use the same list.
#[must_use]
pub fn upcasters() -> Vec<Box<dyn EventUpcaster>> {
    Vec::new()
}

/// Writes and reads payloads. The default one has no keys: what is sealed stays
/// [`Personal::Sealed`](crate::Personal::Sealed).
pub struct Codec {
    ring: Option<Arc<dyn KeyRing>>,
    upcasters: Vec<Box<dyn EventUpcaster>>,
}

impl std::fmt::Debug for Codec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Codec")
    }
}

impl Default for Codec {
    fn default() -> Self {
        Self { ring: None, upcasters: upcasters() }
    }
}

impl Codec {
    /// A codec that opens what it reads with the keys of `ring`.
    #[must_use]
    pub fn new(ring: Arc<dyn KeyRing>) -> Self {
        Self { ring: Some(ring), upcasters: upcasters() }
    }

    /// Whose keys must be fetched before `payloads` can be read; none, when the codec has no ring.
    #[must_use]
    pub fn lacking<'a>(&self, payloads: impl IntoIterator<Item = &'a str>) -> Vec<UserId> {
        let Some(ring) = &self.ring else { return Vec::new() };
        let mut lacking: Vec<UserId> =
            payloads.into_iter().flat_map(key_ids).filter(|subject| ring.lacks(*subject)).collect();
        lacking.sort_unstable();
        lacking.dedup();
        lacking
    }

    /// Takes a key that was [lacking](Self::lacking), as the store holds it.
    ///
    /// # Errors
    /// [`ForeignKey`].
    pub fn learn(&self, subject: UserId, stored: StoredKey<'_>) -> Result<(), ForeignKey> {
        self.ring.as_ref().map_or(Ok(()), |ring| ring.learn(subject, stored))
    }

    /// The payload as JSON, personal parts in the clear; [`seal`] is for whoever stores it.
    ///
    /// # Errors
    /// When the event cannot be written as JSON; no event of the catalogue does that.
    pub fn encode(&self, stream: &StreamId, sequence: i64, event: &Event) -> Result<String, Unreadable> {
        event.write().map_err(|e| unreadable(stream, sequence, event.name(), event.version(), &e.to_string()))
    }

    /// The event that `payload` holds, in its current shape.
    ///
    /// # Errors
    /// [`Unreadable`] when it holds none.
    pub fn decode(
        &self,
        stream: &StreamId,
        sequence: i64,
        (name, version): (&str, &str),
        payload: &str,
    ) -> Result<Event, Unreadable> {
        let mut payload = Cow::Borrowed(payload);
        if let Some(ring) = &self.ring
            && payload.contains(r#""sealed":"#)
        {
            let opened = open(&**ring, stream, sequence, &payload);
            payload = opened.map_err(|e| unreadable(stream, sequence, name, version, &e.to_string()))?.into();
        }
        if let Some(upcast) = self.upcast(stream, sequence, (name, version), &payload)? {
            payload = upcast.into();
        }
        let wrong = |e: &serde_json::Error| unreadable(stream, sequence, name, version, &classify(e));
        let mut json = serde_json::Deserializer::from_str(&payload);
        let event = stream.kind.read(&mut json).map_err(|e| wrong(&e))?;
        json.end().map_err(|e| wrong(&e))?;
        if let Some(ring) = &self.ring
            && let Some(subject) = event.erases(&stream.id)
        {
            ring.erased(subject);
        }
        Ok(event)
    }

    /// The event of one row of the log.
    ///
    /// # Errors
    /// [`Unreadable`] when type, payload or metadata are not what the catalogue expects.
    pub fn read(&self, row: &Stored<'_>) -> Result<Recorded, Unreadable> {
        let wrong = |reason: String| Unreadable {
            name: row.event_type.to_owned(),
            version: row.event_version.to_owned(),
            stream: format!("{} {}", row.aggregate_type, row.aggregate_id),
            sequence: row.sequence,
            reason,
        };
        let kind: Kind = row.aggregate_type.parse().map_err(|e: UnknownKind| wrong(e.to_string()))?;
        let stream = StreamId { kind, id: row.aggregate_id.into() };
        let event = self.decode(&stream, row.sequence, (row.event_type, row.event_version), row.payload)?;
        Ok(Recorded {
            position: row.position,
            sequence: row.sequence,
            recorded_at: row.recorded_at,
            metadata: serde_json::from_str(row.metadata).map_err(|e| wrong(classify(&e)))?,
            stream,
            event,
        })
    }

    fn upcast(
        &self,
        stream: &StreamId,
        sequence: i64,
        (name, version): (&str, &str),
        payload: &str,
    ) -> Result<Option<String>, Unreadable> {
        if !self.upcasters.iter().any(|upcaster| upcaster.can_upcast(name, version)) {
            return Ok(None);
        }
        let wrong = |e: &serde_json::Error| unreadable(stream, sequence, name, version, &classify(e));
        let mut event = SerializedEvent {
            aggregate_id: stream.id.to_string(),
            sequence: usize::try_from(sequence).unwrap_or(0),
            aggregate_type: stream.kind.as_str().to_owned(),
            event_type: name.to_owned(),
            event_version: version.to_owned(),
            payload: serde_json::from_str(payload).map_err(|e| wrong(&e))?,
            metadata: serde_json::Value::Null,
        };
        for upcaster in &self.upcasters {
            if upcaster.can_upcast(&event.event_type, &event.event_version) {
                event = upcaster.upcast(event);
            }
        }
        Ok(Some(event.payload.to_string()))
    }
}

/// Opens the sealed parts of a payload.
fn open(ring: &dyn KeyRing, stream: &StreamId, sequence: i64, payload: &str) -> Result<String, Unopened> {
    let mut place = Place::of(stream, sequence);
    parts::replace(payload, "sealed", |out, pointer, value| {
        let token =
            value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).ok_or(Unopened::Forged)?;
        let (subject, sealed) =
            token.strip_prefix(SEALED).and_then(|rest| rest.split_once('.')).ok_or(Unopened::Forged)?;
        let subject = subject.parse().map_err(|_| Unopened::Forged)?;
        let start = out.len();
        out.push_str(r#"{"personal":"#);
        if ring.open(subject, place.at(pointer), sealed, out)? {
            out.push('}');
        } else {
            out.truncate(start);
            out.push_str(r#""erased""#);
        }
        Ok(())
    })
}

impl From<Malformed> for Unopened {
    fn from(_: Malformed) -> Self {
        Self::Forged
    }
}

/// The ids of the keys that parts of a payload were sealed with.
fn key_ids(payload: &str) -> impl Iterator<Item = UserId> {
    let sealed = payload.split(r#""sealed":""#).skip(1);
    sealed.filter_map(|rest| rest.strip_prefix(SEALED)?.split('.').next()?.parse().ok())
}

/// Whose key sealed this text, when it is a part that was sealed.
#[must_use]
pub fn sealed_for(text: &str) -> Option<UserId> {
    text.strip_prefix(SEALED)?.split_once('.')?.0.parse().ok()
}

/// A serde error without the text it quotes, which may be somebody's name.
fn classify(error: &serde_json::Error) -> String {
    format!("{:?} error at line {} column {}", error.classify(), error.line(), error.column())
}

fn unreadable(stream: &StreamId, sequence: i64, name: &str, version: &str, reason: &str) -> Unreadable {
    Unreadable {
        name: name.to_owned(),
        version: version.to_owned(),
        stream: stream.to_string(),
        sequence,
        reason: reason.to_owned(),
    }
}
