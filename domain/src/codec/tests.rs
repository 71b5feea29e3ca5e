use std::collections::HashMap;
use std::sync::Mutex;

use super::*;
use crate::Kind;
use crate::kernel::Personal;
use crate::users::{Erased, UserEvent};

/// A ring whose ciphertext is the place and the value, so that a moved part shows.
#[derive(Default)]
struct Toy(Mutex<HashMap<UserId, bool>>);

impl KeyRing for Toy {
    fn lacks(&self, subject: UserId) -> bool {
        !self.0.lock().unwrap().contains_key(&subject)
    }

    fn learn(&self, subject: UserId, stored: StoredKey<'_>) -> Result<(), ForeignKey> {
        self.0.lock().unwrap().insert(subject, stored.wrapped.is_some());
        Ok(())
    }

    fn erased(&self, subject: UserId) {
        self.0.lock().unwrap().insert(subject, false);
    }

    fn open(&self, subject: UserId, place: &str, sealed: &str, out: &mut String) -> Result<bool, Unopened> {
        match self.0.lock().unwrap().get(&subject) {
            None => Err(Unopened::NoKey),
            Some(false) => Ok(false),
            Some(true) => {
                let value = sealed.strip_prefix(&hex(place)).ok_or(Unopened::Forged)?;
                out.push_str(&text(value));
                Ok(true)
            }
        }
    }
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn text(hex: &str) -> String {
    let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    String::from_utf8((0..hex.len()).step_by(2).map(byte).collect()).unwrap()
}

fn ada() -> UserId {
    "usr_0192f0c1a0007000800000000000000a".parse().unwrap()
}

fn stream() -> StreamId {
    StreamId::new(Kind::User, ada())
}

fn password(hash: &str) -> Event {
    UserEvent::PasswordSet { hash: Personal::new(hash.to_owned()) }.into()
}

/// As the log would hold it.
fn stored(event: &Event, sequence: i64) -> String {
    let clear = Codec::default().encode(&stream(), sequence, event).unwrap();
    seal(&stream(), sequence, &clear, |out, place, value| {
        write_sealed(out, ada(), |out| out.push_str(&(hex(place) + &hex(value))));
    })
    .unwrap()
}

fn read(codec: &Codec, sequence: i64, payload: &str) -> Result<Event, Unreadable> {
    codec.decode(&stream(), sequence, ("user.password_set", "1"), payload)
}

fn with_key() -> Codec {
    let codec = Codec::new(Arc::new(Toy::default()));
    codec.learn(ada(), StoredKey { wrapped: Some(b""), wrapped_by: b"" }).unwrap();
    codec
}

#[test]
fn a_sealed_event_opens_again() {
    let event = password(r#"a "quoted" \ hash"#);
    let payload = stored(&event, 2);
    assert!(
        payload.starts_with(&format!(r#"{{"password_set":{{"hash":{{"sealed":"1.{}."#, ada())),
        "{payload}"
    );
    assert!(!payload.contains("quoted"));
    assert_eq!(read(&with_key(), 2, &payload).unwrap(), event);
    // What was written before there were keys is read as it is.
    let clear = Codec::default().encode(&stream(), 2, &event).unwrap();
    assert_eq!(read(&with_key(), 2, &clear).unwrap(), event);
}

#[test]
fn what_is_moved_does_not_open() {
    let payload = stored(&password("hash"), 2);
    for error in [
        read(&with_key(), 3, &payload).unwrap_err(),
        read(&with_key(), 2, &payload.replace("\"hash\"", "\"hush\"")).unwrap_err(),
        read(&with_key(), 2, &payload.replace("1.usr", "2.usr")).unwrap_err(),
    ] {
        assert!(error.reason.contains("changed or moved"), "{error}");
    }
}

#[test]
fn a_codec_says_which_keys_it_lacks_and_reads_nothing_without_them() {
    let (codec, payload) = (Codec::new(Arc::new(Toy::default())), stored(&password("hash"), 2));
    let narration = format!(r#"{{"narration":"\"sealed\":\"1.{}.x"}}"#, ada());
    assert_eq!(codec.lacking([payload.as_str(), &payload, "{}"]), [ada()]);
    assert_eq!(codec.lacking([narration.as_str()]), []);
    assert!(read(&codec, 2, &payload).unwrap_err().reason.contains("missing"));
    codec.learn(ada(), StoredKey { wrapped: Some(b""), wrapped_by: b"" }).unwrap();
    assert_eq!(codec.lacking([payload.as_str()]), []);
}

#[test]
fn without_a_ring_it_stays_sealed_and_without_the_key_it_is_erased() {
    let payload = stored(&password("hash"), 2);
    let Event::User(UserEvent::PasswordSet { hash }) = read(&Codec::default(), 2, &payload).unwrap() else {
        panic!()
    };
    assert!(matches!(hash, Personal::Sealed(_)));
    let codec = with_key();
    // Whoever reads of an erasure forgets the key.
    let erased = Erased {
        requested_by: ada(),
        approved_by: ada(),
        reason: "x".into(),
        accounts: vec![],
        settled: true,
    };
    let erased = Codec::default().encode(&stream(), 3, &UserEvent::Erased(Box::new(erased)).into()).unwrap();
    codec.decode(&stream(), 3, ("user.erased", "1"), &erased).unwrap();
    let read = read(&codec, 2, &payload).unwrap();
    assert_eq!(read, UserEvent::PasswordSet { hash: Personal::Erased }.into());
}
