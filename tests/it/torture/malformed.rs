//! T54: everything that reads bytes from outside, with bytes that no app would send: good examples, mutated by chance for some
//! time each. It may refuse them, and never panics. A test of its own rather than `cargo fuzz`, so that it runs wherever the
//! others do, and on the same compiler as the bank.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bursar_api::auth::AccessTokens;
use bursar_api::auth::proof::{Proof, TrustAnchor};
use bursar_api::request::Field;
use bursar_commands::files::{Files, ObjectFiles, PictureLimits};
use bursar_commands::pki::ReadRequest;
use bursar_domain::codec::{Codec, Stored};
use bursar_domain::kernel::FileType;
use bursar_domain::{Amount, Currency};
use image::ImageFormat;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use crate::documents::{PDF, picture};
use crate::support::Scratch;
use crate::support::chance::{Chance, did, scaled};

/// For each; `TEST_SCALE=240` is a minute.
const TIME: Duration = Duration::from_millis(250);

/// What is fun to find in the middle of something.
const TOKENS: [&[u8]; 14] = [
    b"\0",
    b"\xff\xff\xff\xff",
    b"\x80",
    b"-",
    b"9223372036854775808",
    b"1e999",
    b"\"",
    b"{",
    b"]",
    b".",
    b"=",
    b"\xed\xa0\x80",
    b"null",
    b"P",
];

/// Something like one of `good`.
fn mutated(chance: &mut Chance, good: &[Vec<u8>]) -> Vec<u8> {
    let any = |chance: &mut Chance, most: usize| usize::try_from(chance.between(0, most as u64)).unwrap();
    let mut bytes = good[any(chance, good.len() - 1)].clone();
    for _ in 0..chance.between(1, 8) {
        let place = any(chance, bytes.len());
        match chance.between(0, 6) {
            0 if place < bytes.len() => bytes[place] ^= 1 << chance.between(0, 7),
            1 if place < bytes.len() => bytes[place] = u8::try_from(chance.between(0, 255)).unwrap(),
            2 => bytes.truncate(place),
            3 => drop(bytes.splice(place..place, chance.one_of(&TOKENS).iter().copied())),
            4 => {
                let end = any(chance, bytes.len() - place) + place;
                bytes.drain(place..end);
            }
            5 => {
                let end = (any(chance, bytes.len() - place) + place).min(place + 64);
                let again = bytes[place..end].to_vec();
                bytes.splice(place..place, again);
            }
            _ => {
                let other = &good[any(chance, good.len() - 1)];
                let from = any(chance, other.len());
                bytes.truncate(place);
                bytes.extend_from_slice(&other[from..]);
            }
        }
    }
    bytes
}

/// Reads as many as there is time for; answers how many of them were taken to be good.
fn tried(what: &str, chance: &mut Chance, good: &[Vec<u8>], reads: impl Fn(&[u8]) -> bool) -> usize {
    assert!(good.iter().all(|bytes| reads(bytes)), "{what}: a good one is refused");
    let (began, enough) = (Instant::now(), TIME * u32::try_from(scaled(1)).unwrap());
    let (mut inputs, mut taken) = (0, 0);
    while began.elapsed() < enough {
        let bytes = mutated(chance, good);
        let read = catch_unwind(AssertUnwindSafe(|| reads(&bytes)));
        let is_good =
            read.unwrap_or_else(|_| panic!("{what} panics at {:?}", String::from_utf8_lossy(&bytes)));
        taken += usize::from(is_good);
        inputs += 1;
    }
    println!("{what}: {inputs} inputs, {taken} of them good");
    inputs
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

fn field<T: Field>(bytes: &[u8]) -> bool {
    let said = Value::String(String::from_utf8_lossy(bytes).into_owned());
    T::read(said).is_ok()
}

/// One event, as the log has it.
fn event(bytes: &[u8]) -> bool {
    let payload = String::from_utf8_lossy(bytes);
    let row = Stored {
        position: 1,
        recorded_at: Timestamp::UNIX_EPOCH,
        sequence: 1,
        aggregate_type: "payment",
        aggregate_id: "txn_0192f0c1a00070008000000000000abc",
        event_type: "payment.completed",
        event_version: "1",
        payload: &payload,
        metadata: r#"{"actor":"system:test"}"#,
    };
    Codec::default().read(&row).is_ok()
}

#[test]
fn nothing_that_anybody_sends_makes_the_bank_panic() {
    let mut chance = Chance::new();
    let mut inputs = 0;
    let tokens = AccessTokens::new(&[7; 32], "bursar", "bursar", 900).unwrap();
    let (user, session) = ("usr_0192f0c1a0007000800000000000000a", "ses_0192f0c1a0007000800000000000000a");
    let token = tokens
        .sign(user.parse().unwrap(), session.parse().unwrap(), "jti", Timestamp::UNIX_EPOCH, &[])
        .unwrap();
    inputs += tried("token", &mut chance, &texts(&[&token]), |bytes| {
        tokens.verify(&String::from_utf8_lossy(bytes)).is_some()
    });
    let authority = rcgen::KeyPair::generate().unwrap();
    let mut params = rcgen::CertificateParams::new(vec!["bursar.test".to_owned()]).unwrap();
    params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&authority).unwrap().pem();
    inputs += tried("certificate", &mut chance, &texts(&[&certificate]), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let Ok(anchor) = TrustAnchor::parse(&text) else { return false };
        // And as the certificate of a device, which it is not.
        let proof =
            Proof { certificate: &text, chain: &[], assertion: &token, device: "d", nonce: "n", body: b"{}" };
        proof.check(&anchor, "a", Timestamp::UNIX_EPOCH).is_none()
    });
    let asked = rcgen::CertificateParams::new(Vec::new())
        .unwrap()
        .serialize_request(&authority)
        .unwrap()
        .pem()
        .unwrap();
    inputs += tried("signing request", &mut chance, &texts(&[&asked]), |bytes| {
        ReadRequest::parse(&String::from_utf8_lossy(bytes)).is_ok()
    });
    let days = texts(&["2026-01-31", "0001-01-01", "9999-12-31"]);
    inputs += tried("date", &mut chance, &days, field::<Date>);
    let durations = texts(&["P1D", "PT2H30M", "PT0.5S", "P1DT1S"]);
    inputs += tried("duration", &mut chance, &durations, field::<SignedDuration>);
    let money = texts(&["1 NGN", "1000000000000000 USD", "5 EUR"]);
    inputs += tried("money", &mut chance, &money, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let Some((amount, currency)) = text.split_once(' ') else { return false };
        let said: Value = serde_json::from_str(amount).unwrap_or(Value::Null);
        <Amount as Field>::read(said).is_ok() && currency.parse::<Currency>().is_ok()
    });
    let fixtures = super::top().join("domain/fixtures");
    let paid = ["1", "1.2", "1.4"]
        .map(|n| std::fs::read(fixtures.join(format!("payment.completed.{n}.json"))).unwrap());
    inputs += tried("event", &mut chance, &paid, event);
    inputs += uploads(&mut chance);
    did(inputs, "inputs to 8 readers");
}

fn uploads(chance: &mut Chance) -> usize {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let scratch = Scratch::new("malformed");
    let store = Arc::new(ObjectFiles::directory(scratch.path()).unwrap());
    let files = Files::new(store, PictureLimits { most_pixels: 1_000_000, at_once: 1 });
    let good = [picture(9, 7, ImageFormat::Png), picture(9, 7, ImageFormat::Jpeg), PDF.to_vec()];
    let checks = |bytes: &[u8]| {
        // What it begins with says what it claims to be.
        let Some(kind) = FileType::of(bytes) else { return false };
        runtime.block_on(files.check(kind, bytes.to_vec())).is_ok()
    };
    tried("upload", chance, &good, checks)
}

/// Control: a reader that trusts a length is found out.
#[test]
fn a_reader_that_believes_what_it_is_told_is_found_out() {
    let mut chance = Chance::of(3);
    let trusting =
        |bytes: &[u8]| bytes.first().is_none_or(|length| bytes[1..=usize::from(*length)].len() < 300);
    let found =
        catch_unwind(AssertUnwindSafe(|| tried("trust", &mut chance, &[b"\x03abc".to_vec()], trusting)));
    assert!(found.is_err(), "nobody noticed");
}
