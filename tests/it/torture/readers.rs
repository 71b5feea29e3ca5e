//! Whatever reads bytes from outside, and may refuse them but never panic. [`malformed`](super::malformed) tries these readers on
//! every day; the fuzz targets of `tests/fuzz` take this file in, so that there is one list, and so that nothing here may use the
//! support of the other tests.

use std::sync::Arc;

use bursar_api::auth::AccessTokens;
use bursar_api::auth::proof::{Proof, TrustAnchor};
use bursar_api::request::Field;
use bursar_commands::files::{Files, ObjectFiles, PictureLimits};
use bursar_commands::pki::ReadRequest;
use bursar_domain::codec::{Codec, Stored};
use bursar_domain::kernel::FileType;
use bursar_domain::{Amount, Currency};
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// Whether it takes what it is given to be good.
pub type Reads = Box<dyn Fn(&[u8]) -> bool>;

/// By the name of its fuzz target.
pub type Reader = (&'static str, fn() -> Reads);

/// The readers of the bank.
pub const READERS: [Reader; 8] = [
    ("token", token),
    ("certificate", certificate),
    ("signing_request", signing_request),
    ("date", date),
    ("duration", duration),
    ("money", money),
    ("event", event),
    ("upload", upload),
];

/// The control: a reader that nobody should write.
pub const TRUSTING: Reader = ("trusting", trusting);

/// The reader of that name.
pub fn named(name: &str) -> Reads {
    let found = READERS.iter().chain([&TRUSTING]).find(|(is, _)| *is == name);
    let (_, reads) = found.unwrap_or_else(|| panic!("nothing reads a {name}"));
    reads()
}

fn tokens() -> AccessTokens {
    AccessTokens::new(&[7; 32], "bursar", "bursar", 900).unwrap()
}

/// A good one.
pub fn signed_token() -> String {
    let (user, session) = ("usr_0192f0c1a0007000800000000000000a", "ses_0192f0c1a0007000800000000000000a");
    let (user, session) = (user.parse().unwrap(), session.parse().unwrap());
    tokens().sign(user, session, "jti", Timestamp::UNIX_EPOCH, &[]).unwrap()
}

fn token() -> Reads {
    let tokens = tokens();
    Box::new(move |bytes| tokens.verify(&String::from_utf8_lossy(bytes)).is_some())
}

fn certificate() -> Reads {
    let assertion = signed_token();
    Box::new(move |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let Ok(anchor) = TrustAnchor::parse(&text) else { return false };
        // And as the certificate of a device, which it is not.
        let (chain, device, nonce) = (&[], "d", "n");
        let proof = Proof { certificate: &text, chain, assertion: &assertion, device, nonce, body: b"{}" };
        proof.check(&anchor, "a", Timestamp::UNIX_EPOCH).is_none()
    })
}

fn signing_request() -> Reads {
    Box::new(|bytes| ReadRequest::parse(&String::from_utf8_lossy(bytes)).is_ok())
}

fn field<T: Field>(bytes: &[u8]) -> bool {
    let said = Value::String(String::from_utf8_lossy(bytes).into_owned());
    T::read(said).is_ok()
}

fn date() -> Reads {
    Box::new(field::<Date>)
}

fn duration() -> Reads {
    Box::new(field::<SignedDuration>)
}

fn money() -> Reads {
    Box::new(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let Some((amount, currency)) = text.split_once(' ') else { return false };
        let said: Value = serde_json::from_str(amount).unwrap_or(Value::Null);
        <Amount as Field>::read(said).is_ok() && currency.parse::<Currency>().is_ok()
    })
}

/// One event, as the log has it.
fn event() -> Reads {
    let codec = Codec::default();
    Box::new(move |bytes| {
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
        codec.read(&row).is_ok()
    })
}

fn upload() -> Reads {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    // It is looked into, and not kept.
    let store = Arc::new(ObjectFiles::directory(&std::env::temp_dir()).unwrap());
    let files = Files::new(store, PictureLimits { most_pixels: 1_000_000, at_once: 1 });
    Box::new(move |bytes| {
        // What it begins with says what it claims to be.
        let Some(kind) = FileType::of(bytes) else { return false };
        runtime.block_on(files.check(kind, bytes.to_vec())).is_ok()
    })
}

/// Believes a length, behind four letters that chance alone does not come by.
fn trusting() -> Reads {
    Box::new(|bytes| {
        let [b'B', b'A', b'N', b'K', length, rest @ ..] = bytes else { return false };
        rest[..usize::from(*length)].len() < 300
    })
}
