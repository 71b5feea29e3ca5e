//! An authenticator app of a few lines.

use aws_lc_rs::hmac;
use bursar_commands::keys::Keys;
use bursar_domain::kernel::{EnrolmentId, UserId};
use jiff::Timestamp;

/// What an app with this secret shows (RFC 6238).
pub fn shown(keys: &Keys, user: UserId, app: EnrolmentId, at: Timestamp) -> String {
    code(keys.totp_secret(user, app).as_slice(), at.as_second() / 30)
}

/// The code of a step.
pub fn code(secret: &[u8], step: i64) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let at = usize::from(tag.as_ref()[19] & 15);
    let four: [u8; 4] = tag.as_ref()[at..at + 4].try_into().unwrap();
    format!("{:06}", (u32::from_be_bytes(four) & 0x7fff_ffff) % 1_000_000)
}

/// The bytes of a base32 text (RFC 4648).
pub fn base32(text: &str) -> Vec<u8> {
    let value = |c: char| "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".find(c).unwrap();
    let bits: String = text.chars().map(|c| format!("{:05b}", value(c))).collect();
    let bytes = bits.as_bytes().chunks_exact(8).map(|byte| std::str::from_utf8(byte).unwrap());
    bytes.map(|byte| u8::from_str_radix(byte, 2).unwrap()).collect()
}
