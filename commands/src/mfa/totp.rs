//! Codes of an authenticator app: RFC 6238 with SHA-1, six digits and steps of 30 seconds, which is what apps can do.
//!
//! Thirty lines instead of a crate: the crates read the machine's clock or bring a QR code along.

use aws_lc_rs::hmac;
use zeroize::Zeroizing;

/// Seconds a code is shown.
const STEP: i64 = 30;
/// How many steps a phone's clock may be off.
const WINDOW: i64 = 1;

/// The step whose code this is, of those around `now` (seconds since 1970). Looks at all of them, whichever it is.
pub(super) fn step_of(secret: &[u8], code: &str, now: i64) -> Option<i64> {
    let now = now.div_euclid(STEP);
    (now - WINDOW..=now + WINDOW).fold(None, |found, step| {
        let shown = self::code(secret, step);
        let same = aws_lc_rs::constant_time::verify_slices_are_equal(shown.as_bytes(), code.as_bytes());
        if same.is_ok() { Some(step) } else { found }
    })
}

/// The code of a step (RFC 4226, 5.3).
pub(super) fn code(secret: &[u8], step: i64) -> Zeroizing<String> {
    let key = hmac::Key::new(hmac::HMAC_SHA1_FOR_LEGACY_USE_ONLY, secret);
    let tag = hmac::sign(&key, &step.to_be_bytes());
    let tag = tag.as_ref();
    let offset = usize::from(tag.last().copied().unwrap_or(0) & 0x0f);
    let mut four = [0; 4];
    four.iter_mut().zip(tag.iter().skip(offset)).for_each(|(to, from)| *to = *from);
    Zeroizing::new(format!("{:06}", (u32::from_be_bytes(four) & 0x7fff_ffff) % 1_000_000))
}

/// Base32 without padding (RFC 4648), as apps read secrets.
pub(super) fn base32(bytes: &[u8]) -> Zeroizing<String> {
    const ALPHABET: [u8; 32] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    let mut text = Zeroizing::new(String::with_capacity(bytes.len().div_ceil(5) * 8));
    for chunk in bytes.chunks(5) {
        let bits =
            chunk.iter().enumerate().fold(0_u64, |bits, (n, byte)| bits | u64::from(*byte) << (32 - 8 * n));
        for n in 0..(chunk.len() * 8).div_ceil(5) {
            // Five bits are below 32.
            let five = usize::try_from(bits >> (35 - 5 * n) & 31).unwrap_or(0);
            text.push(char::from(ALPHABET[five]));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &[u8] = b"12345678901234567890";

    #[test]
    fn the_vectors_of_rfc_6238() {
        // Appendix B gives eight digits; ours are the last six.
        for (now, code) in [
            (59, "287082"),
            (1_111_111_109, "081804"),
            (1_111_111_111, "050471"),
            (1_234_567_890, "005924"),
            (2_000_000_000, "279037"),
            (20_000_000_000, "353130"),
        ] {
            assert_eq!(self::code(SECRET, now / STEP).as_str(), code, "{now}");
            assert_eq!(step_of(SECRET, code, now), Some(now / STEP));
        }
    }

    #[test]
    fn a_clock_may_be_off_by_one_step() {
        let code = code(SECRET, 100);
        let at = |now| step_of(SECRET, &code, now);
        assert_eq!([at(2_969), at(2_970), at(3_059), at(3_060)], [None, Some(100), Some(100), None]);
        assert_eq!(step_of(SECRET, "", 3_000), None);
        assert_eq!(step_of(SECRET, "1234567", 3_000), None);
    }

    #[test]
    fn the_vectors_of_rfc_4648() {
        for (bytes, text) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(base32(bytes.as_bytes()).as_str(), text);
        }
    }
}
