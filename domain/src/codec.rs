//! From event to stored bytes and back: upcasting, and the seam where personal data is encrypted.

use std::borrow::Cow;

use cqrs_es::persist::{EventUpcaster, SerializedEvent};
use jiff::Timestamp;

use crate::catalogue::{Event, Kind, UnknownKind};
use crate::envelope::{Position, Recorded, StreamId};

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

/// Encrypts and decrypts the [`Personal`](crate::Personal) parts of a payload.
///
/// A payload holds them as objects with the single member `personal`. [`Self::seal`] sees every payload that
/// contains one before it is stored, [`Self::open`] every payload that contains `sealed` before it is read.
pub trait PersonalCodec: Send + Sync {
    /// The payload to store.
    fn seal<'a>(&self, stream: &StreamId, sequence: i64, payload: Cow<'a, str>) -> Cow<'a, str>;

    /// The payload to read.
    fn open<'a>(&self, stream: &StreamId, sequence: i64, payload: Cow<'a, str>) -> Cow<'a, str>;
}

/// Stores personal data as they are.
#[derive(Debug, Clone, Copy, Default)]
pub struct InTheClear;

impl PersonalCodec for InTheClear {
    fn seal<'a>(&self, _: &StreamId, _: i64, payload: Cow<'a, str>) -> Cow<'a, str> {
        payload
    }

    fn open<'a>(&self, _: &StreamId, _: i64, payload: Cow<'a, str>) -> Cow<'a, str> {
        payload
    }
}

/// The upcasters of every event shape that has been superseded, oldest first.
///
/// Our codec and the independent reader of `bursar audit replay` use the same list.
#[must_use]
pub fn upcasters() -> Vec<Box<dyn EventUpcaster>> {
    Vec::new()
}

/// Writes and reads payloads.
pub struct Codec {
    personal: Box<dyn PersonalCodec>,
    upcasters: Vec<Box<dyn EventUpcaster>>,
}

impl std::fmt::Debug for Codec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Codec")
    }
}

impl Default for Codec {
    fn default() -> Self {
        Self::new(Box::new(InTheClear), upcasters())
    }
}

impl Codec {
    /// A codec that keeps personal data as `personal` decides.
    #[must_use]
    pub fn new(personal: Box<dyn PersonalCodec>, upcasters: Vec<Box<dyn EventUpcaster>>) -> Self {
        Self { personal, upcasters }
    }

    /// The payload as it is stored.
    ///
    /// # Errors
    /// When the event cannot be written as JSON; no event of the catalogue does that.
    pub fn encode(&self, stream: &StreamId, sequence: i64, event: &Event) -> Result<String, Unreadable> {
        let payload = event
            .write()
            .map_err(|e| unreadable(stream, sequence, event.name(), event.version(), &e.to_string()))?;
        if payload.contains(r#""personal":"#) {
            return Ok(self.personal.seal(stream, sequence, payload.into()).into_owned());
        }
        Ok(payload)
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
        if payload.contains(r#""sealed":"#) {
            payload = self.personal.open(stream, sequence, payload);
        }
        if let Some(upcast) = self.upcast(stream, sequence, (name, version), &payload)? {
            payload = upcast.into();
        }
        let wrong = |e: &serde_json::Error| unreadable(stream, sequence, name, version, &classify(e));
        let mut json = serde_json::Deserializer::from_str(&payload);
        let event = stream.kind.read(&mut json).map_err(|e| wrong(&e))?;
        json.end().map_err(|e| wrong(&e))?;
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
