use std::sync::atomic::{AtomicU64, Ordering};

use bursar_domain::users::UserEvent;
use bursar_domain::{Event, Kind, Personal, StreamId, codec};

use super::*;

/// Randomness that counts.
#[derive(Default)]
struct Counting(AtomicU64);

impl Entropy for Counting {
    fn fill(&self, buffer: &mut [u8]) {
        let n = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
        buffer.iter_mut().zip(n.iter().rev().cycle()).for_each(|(slot, byte)| *slot = *byte);
    }
}

fn vault(byte: char) -> Arc<Vault> {
    let master = MasterKey::parse(&format!("{byte}{}", "A".repeat(42))).unwrap();
    Arc::new(Vault::new(&master, Arc::new(Counting::default())))
}

fn person(last: char) -> UserId {
    format!("usr_0192f0c1a0007000800000000000000{last}").parse().unwrap()
}

#[test]
fn a_data_key_is_wrapped_for_one_person_by_one_master_key() {
    let (ours, theirs) = (vault('A'), vault('B'));
    let Minted { wrapped, .. } = ours.mint(person('1'));
    let stored = StoredKey { wrapped: Some(&wrapped), wrapped_by: ours.wrapped_by() };
    assert_eq!(ours.learn(person('1'), stored), Ok(()));
    assert_eq!(ours.learn(person('2'), stored), Err(ForeignKey));
    assert_eq!(theirs.learn(person('1'), stored), Err(ForeignKey));
    assert_ne!(ours.wrapped_by(), theirs.wrapped_by());
    assert_ne!(ours.mint(person('1')).wrapped, ours.mint(person('1')).wrapped);
}

#[test]
fn a_sealed_event_opens_where_it_was_sealed_and_nowhere_else() {
    let vault = vault('A');
    let Minted { key, .. } = vault.mint(person('1'));
    let event: Event = UserEvent::PasswordSet { hash: Personal::new("hash".to_owned()) }.into();
    let stream = StreamId::new(Kind::User, person('1'));
    let clear = event.write().unwrap();
    let seal =
        |out: &mut String, place: &str, value: &str| vault.seal((person('1'), &key), place, value, out);
    let (once, again) =
        (codec::seal(&stream, 7, &clear, seal).unwrap(), codec::seal(&stream, 7, &clear, seal).unwrap());
    assert_ne!(once, again, "no nonce is used twice");
    vault.keep(person('1'), key.clone());
    let codec = codec::Codec::new(Arc::clone(&vault) as Arc<dyn KeyRing>);
    let read = |stream: &StreamId, sequence, payload: &str| {
        codec.decode(stream, sequence, ("user.password_set", "1"), payload)
    };
    assert_eq!(read(&stream, 7, &once).unwrap(), event);
    assert!(read(&stream, 8, &once).is_err());
    assert!(read(&StreamId::new(Kind::User, person('2')), 7, &once).is_err());
    // Under somebody else's key it is not opened either.
    vault.keep(person('2'), vault.mint(person('2')).key);
    assert!(read(&stream, 7, &once.replace(&person('1').to_string(), &person('2').to_string())).is_err());
    vault.erased(person('1'));
    // Whoever read the key before it was destroyed brings it too late.
    vault.keep(person('1'), key.clone());
    assert_eq!(read(&stream, 7, &once).unwrap(), UserEvent::PasswordSet { hash: Personal::Erased }.into());
}
