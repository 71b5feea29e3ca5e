//! Keys that are kept encrypted by another key.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use bursar_domain::Entropy;
use zeroize::Zeroizing;

use crate::keys::MasterKey;

/// The setting that holds the bank's key.
pub(super) const BANK_KEY: &str = "bank_key";
/// Bytes of a key.
pub(super) const KEY_LEN: usize = 32;
/// Bytes of the tag at the end of a ciphertext (AES-GCM).
const TAG_LEN: usize = 16;

/// What a [`MasterKey`] encrypts other keys with. No `Debug`.
pub(super) struct Wrapping {
    key: LessSafeKey,
    /// Tells master keys apart, and nothing else about them.
    pub(super) id: [u8; 16],
}

impl Wrapping {
    pub(super) fn of(master: &MasterKey) -> Self {
        let (key, id) = master.wrapping();
        Self { key: aes(&key), id }
    }

    /// `key` encrypted, bound to what it is for.
    pub(super) fn wrap(&self, purpose: &str, key: &[u8; KEY_LEN], entropy: &dyn Entropy) -> Vec<u8> {
        let mut out = Vec::with_capacity(NONCE_LEN + KEY_LEN + TAG_LEN);
        encrypt(&self.key, purpose.as_bytes(), key, entropy, &mut out);
        out
    }

    /// The bank's key as a setting: which master key wraps it, and then it.
    pub(super) fn wrap_bank_key(&self, key: &[u8; KEY_LEN], entropy: &dyn Entropy) -> Vec<u8> {
        let mut setting = self.id.to_vec();
        setting.extend(self.wrap(BANK_KEY, key, entropy));
        setting
    }

    /// What [`wrap_bank_key`](Self::wrap_bank_key) made.
    pub(super) fn unwrap_bank_key(&self, setting: &[u8]) -> Option<Zeroizing<[u8; KEY_LEN]>> {
        self.unwrap(BANK_KEY, setting.strip_prefix(&self.id)?)
    }

    /// What [`wrap`](Self::wrap) encrypted for the same purpose.
    pub(super) fn unwrap(&self, purpose: &str, wrapped: &[u8]) -> Option<Zeroizing<[u8; KEY_LEN]>> {
        let mut buffer = Zeroizing::new(wrapped.to_vec());
        let key = decrypt(&self.key, purpose.as_bytes(), &mut buffer)?;
        Some(Zeroizing::new(key.try_into().ok()?))
    }
}

/// An AES-256-GCM key.
pub(super) fn aes(key: &[u8; KEY_LEN]) -> LessSafeKey {
    match UnboundKey::new(&AES_256_GCM, key) {
        Ok(key) => LessSafeKey::new(key),
        // Fails only for a key of another length.
        Err(_) => unreachable!("a key of 32 bytes"),
    }
}

/// Appends nonce, ciphertext and tag.
///
/// A nonce is 96 random bits: with one key used for at most a few million values of one person, two of them are equal
/// with a chance below 2^-50 (NIST SP 800-38D allows 2^32 uses of a key).
pub(super) fn encrypt(
    key: &LessSafeKey,
    place: &[u8],
    value: &[u8],
    entropy: &dyn Entropy,
    out: &mut Vec<u8>,
) {
    let mut nonce = [0; NONCE_LEN];
    entropy.fill(&mut nonce);
    out.extend_from_slice(&nonce);
    let start = out.len();
    out.extend_from_slice(value);
    let nonce = Nonce::assume_unique_for_key(nonce);
    let Some(secret) = out.get_mut(start..) else { return };
    match key.seal_in_place_separate_tag(nonce, Aad::from(place), secret) {
        Ok(tag) => out.extend_from_slice(tag.as_ref()),
        // Fails only for a value of more than 64 GiB. What is not encrypted must not get out.
        Err(_) => out.clear(),
    }
}

/// What [`encrypt`] appended for the same place; none when it was changed or is from elsewhere.
pub(super) fn decrypt<'a>(key: &LessSafeKey, place: &[u8], sealed: &'a mut [u8]) -> Option<&'a [u8]> {
    let (nonce, secret) = sealed.split_at_mut_checked(NONCE_LEN)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
    key.open_in_place(nonce, Aad::from(place), secret).ok().map(|value| &*value)
}
