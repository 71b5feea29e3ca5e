//! What is kept of the authority, so that only servers with the master key can read it.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use bursar_domain::Entropy;
use serde::{Deserialize, Serialize};
use zeroize::{Zeroize as _, Zeroizing};

use super::PkiError;
use crate::keys::Keys;

/// What the sealed bytes are, so that they can stand for nothing else.
const ABOUT: &[u8] = b"bursar certificate authority 1";

/// Two certificates and their keys, as PEM. No `Debug`.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) root: String,
    pub(super) root_key: String,
    pub(super) issuing: String,
    pub(super) issuing_key: String,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.root_key.zeroize();
        self.issuing_key.zeroize();
    }
}

/// AES-256-GCM: the nonce, then the ciphertext with its tag.
pub(super) fn seal(keys: &Keys, entropy: &dyn Entropy, kept: &Kept) -> Result<Vec<u8>, PkiError> {
    let mut nonce = [0; NONCE_LEN];
    entropy.fill(&mut nonce);
    let mut text = Zeroizing::new(serde_json::to_vec(kept).map_err(|_| PkiError::Sealed)?);
    let (head, at) = (nonce, Nonce::assume_unique_for_key(nonce));
    key(keys)?.seal_in_place_append_tag(at, Aad::from(ABOUT), &mut *text).map_err(|_| PkiError::Sealed)?;
    Ok([&head[..], &text].concat())
}

pub(super) fn open(keys: &Keys, sealed: &[u8]) -> Result<Kept, PkiError> {
    let (nonce, text) = sealed.split_at_checked(NONCE_LEN).ok_or(PkiError::Sealed)?;
    let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| PkiError::Sealed)?;
    let mut text = Zeroizing::new(text.to_vec());
    let opened =
        key(keys)?.open_in_place(nonce, Aad::from(ABOUT), &mut text).map_err(|_| PkiError::Sealed)?;
    serde_json::from_slice(opened).map_err(|_| PkiError::Sealed)
}

fn key(keys: &Keys) -> Result<LessSafeKey, PkiError> {
    UnboundKey::new(&AES_256_GCM, &*keys.authority).map(LessSafeKey::new).map_err(|_| PkiError::Sealed)
}
