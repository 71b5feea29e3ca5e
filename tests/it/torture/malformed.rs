//! T54: everything that reads bytes from outside ([`readers`](super::readers)), with bytes that no app would send: good examples,
//! mutated by chance for some time each. It may refuse them, and never panics. This runs wherever the other tests do;
//! [`fuzz`](super::fuzz) gives the same readers to a fuzzer that watches their way.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use image::ImageFormat;

use super::readers::{READERS, Reads, TRUSTING, signed_token};
use crate::documents::{PDF, picture};
use crate::support::chance::{Chance, did, scaled};

/// For each; `TEST_SCALE=240` is a minute.
pub const TIME: Duration = Duration::from_millis(250);

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
fn tried(what: &str, chance: &mut Chance, good: &[Vec<u8>], reads: &Reads) -> usize {
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

/// Good examples for the reader of that name.
pub fn good(reader: &str) -> Vec<Vec<u8>> {
    match reader {
        "token" => texts(&[&signed_token()]),
        "certificate" => {
            let mut params = rcgen::CertificateParams::new(vec!["bursar.test".to_owned()]).unwrap();
            params.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
            let certificate = params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap();
            texts(&[&certificate.pem()])
        }
        "signing_request" => {
            let device = rcgen::KeyPair::generate().unwrap();
            let asked =
                rcgen::CertificateParams::new(Vec::new()).unwrap().serialize_request(&device).unwrap();
            texts(&[&asked.pem().unwrap()])
        }
        "date" => texts(&["2026-01-31", "0001-01-01", "9999-12-31"]),
        "duration" => texts(&["P1D", "PT2H30M", "PT0.5S", "P1DT1S"]),
        "money" => texts(&["1 NGN", "1000000000000000 USD", "5 EUR"]),
        "event" => {
            let fixtures = super::top().join("domain/fixtures");
            let paid = ["1", "1.2", "1.4"].map(|n| fixtures.join(format!("payment.completed.{n}.json")));
            paid.map(|file| std::fs::read(file).unwrap()).into()
        }
        "upload" => vec![picture(9, 7, ImageFormat::Png), picture(9, 7, ImageFormat::Jpeg), PDF.to_vec()],
        "trusting" => texts(&["BANK\x03abc"]),
        _ => panic!("no good {reader}"),
    }
}

#[test]
fn nothing_that_anybody_sends_makes_the_bank_panic() {
    let mut chance = Chance::new();
    let tries = READERS.map(|(name, reads)| tried(name, &mut chance, &good(name), &reads()));
    did(tries.iter().sum(), "inputs to 8 readers");
}

/// Control: a reader that trusts a length is found out.
#[test]
fn a_reader_that_believes_what_it_is_told_is_found_out() {
    let mut chance = Chance::of(3);
    let (name, reads) = TRUSTING;
    let found = catch_unwind(AssertUnwindSafe(|| tried(name, &mut chance, &good(name), &reads())));
    assert!(found.is_err(), "nobody noticed");
}
