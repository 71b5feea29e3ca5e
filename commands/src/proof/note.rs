//! Checkpoints as signed notes: C2SP `tlog-checkpoint` and `signed-note`, with an Ed25519 key (RFC 8032).
//!
//! ```text
//! bank.example.com/journal                                    <- origin, which is the name of the key too
//! 20852                                                       <- events
//! CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=                 <- root of their Merkle tree
//!
//! — bank.example.com/journal Az3grlgt...                      <- key id and signature, base64
//! ```

use std::fmt;
use std::str::FromStr;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::merkle::Hash;

/// The algorithm byte of Ed25519 in key ids and encoded keys.
const ED25519_KIND: u8 = 1;

/// What a signature vouches for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Which log.
    pub origin: String,
    /// How many events.
    pub size: u64,
    /// The root of their tree.
    pub root: Hash,
}

impl fmt::Display for Checkpoint {
    /// The text that is signed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n{}\n{}", self.origin, self.size, STANDARD.encode(self.root))
    }
}

/// Text that is not a checkpoint this key has signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum BadNote {
    #[error("this is not a signed checkpoint")]
    Malformed,
    #[error("the checkpoint is not signed by this key")]
    Unsigned,
    #[error("the signature of the checkpoint is wrong")]
    Forged,
}

/// A name that cannot stand in a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the name of a log has no white space and no plus sign, and is not empty")]
pub struct BadOrigin;

/// A key that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key reads NAME+8 hexadecimal digits+44 characters of base64")]
pub struct BadKey;

/// Signs checkpoints. No `Debug`.
pub struct Signer {
    pair: Ed25519KeyPair,
    verifier: Verifier,
}

impl Signer {
    /// The signer of the log named `origin`, with the key that this seed makes.
    ///
    /// # Errors
    /// [`BadOrigin`].
    pub fn new(origin: &str, seed: &[u8; 32]) -> Result<Self, BadOrigin> {
        if origin.is_empty() || origin.contains(|c: char| c.is_whitespace() || c == '+') {
            return Err(BadOrigin);
        }
        // Every 32 bytes are a seed.
        let pair = Ed25519KeyPair::from_seed_unchecked(seed).map_err(|_| BadOrigin)?;
        let mut public = [0; 32];
        public.copy_from_slice(pair.public_key().as_ref());
        Ok(Self { pair, verifier: Verifier { name: origin.to_owned(), public } })
    }

    /// Who vouches, for those who check.
    #[must_use]
    pub fn verifier(&self) -> &Verifier {
        &self.verifier
    }

    /// The signed note: so many events have this root.
    #[must_use]
    pub fn sign(&self, size: u64, root: Hash) -> String {
        let origin = self.verifier.name.clone();
        let text = Checkpoint { origin, size, root }.to_string();
        let signature = self.pair.sign(text.as_bytes());
        let signature = [&self.verifier.id()[..], signature.as_ref()].concat();
        format!("{text}\n\u{2014} {} {}\n", self.verifier.name, STANDARD.encode(signature))
    }
}

/// Checks signed checkpoints. Written `NAME+KEY ID+KEY`, as C2SP `signed-note` has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verifier {
    name: String,
    public: [u8; 32],
}

impl Verifier {
    /// The name of the log, and of its key.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first bytes of a hash of name and key, by which a signature is found.
    fn id(&self) -> [u8; 4] {
        let hash = digest(&SHA256, &[self.name.as_bytes(), &[b'\n', ED25519_KIND], &self.public].concat());
        let mut id = [0; 4];
        id.iter_mut().zip(hash.as_ref()).for_each(|(to, from)| *to = *from);
        id
    }

    /// Reads a signed note.
    ///
    /// # Errors
    /// [`BadNote`].
    pub fn open(&self, note: &str) -> Result<Checkpoint, BadNote> {
        let (text, signatures) = note.split_once("\n\n").ok_or(BadNote::Malformed)?;
        let text = format!("{text}\n");
        let mut found = Err(BadNote::Unsigned);
        for line in signatures.lines() {
            let signature = line.strip_prefix("\u{2014} ").and_then(|line| line.split_once(' '));
            let (name, signature) = signature.ok_or(BadNote::Malformed)?;
            let signature = STANDARD.decode(signature).map_err(|_| BadNote::Malformed)?;
            let Some((id, signature)) = signature.split_first_chunk() else { return Err(BadNote::Malformed) };
            if name == self.name && *id == self.id() {
                let key = UnparsedPublicKey::new(&ED25519, self.public);
                key.verify(text.as_bytes(), signature).map_err(|_| BadNote::Forged)?;
                found = Ok(());
            }
        }
        found?;
        let mut lines = text.lines();
        let mut line = || lines.next().ok_or(BadNote::Malformed);
        let origin = line()?.to_owned();
        let size = line()?.parse().map_err(|_| BadNote::Malformed)?;
        let root = STANDARD.decode(line()?).ok().and_then(|root| root.try_into().ok());
        let checkpoint = Checkpoint { origin, size, root: root.ok_or(BadNote::Malformed)? };
        // One text a checkpoint: no leading zeros, nothing behind it.
        let ours = checkpoint.origin == self.name && checkpoint.to_string() == text;
        if ours { Ok(checkpoint) } else { Err(BadNote::Malformed) }
    }
}

impl fmt::Display for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = STANDARD.encode([&[ED25519_KIND], &self.public[..]].concat());
        write!(f, "{}+{}+{key}", self.name, crate::keys::hex(&self.id()))
    }
}

impl FromStr for Verifier {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        let mut parts = text.trim().splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(BadKey);
        };
        let key = STANDARD.decode(key).map_err(|_| BadKey)?;
        let public = match key.split_first() {
            Some((&ED25519_KIND, public)) => public.try_into().map_err(|_| BadKey)?,
            _ => return Err(BadKey),
        };
        let verifier = Self { name: name.to_owned(), public };
        if crate::keys::hex(&verifier.id()) == id { Ok(verifier) } else { Err(BadKey) }
    }
}

/// The notes in a file of checkpoints: each ends with its signature, and empty lines do not count between them.
#[must_use]
pub fn split(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let notes = lines.split_inclusive(|line| line.starts_with('\u{2014}'));
    notes
        .map(|note| {
            note.iter()
                .skip_while(|line| line.is_empty())
                .fold(String::new(), |note, line| note + line + "\n")
        })
        .filter(|note| !note.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signer(seed: u8) -> Signer {
        Signer::new("bank.example.com/journal", &[seed; 32]).unwrap()
    }

    #[test]
    fn a_signed_checkpoint_reads_back() {
        let signer = signer(1);
        let note = signer.sign(7, [9; 32]);
        assert!(note.starts_with("bank.example.com/journal\n7\nCQkJ"), "{note}");
        assert!(note.contains("\n\n\u{2014} bank.example.com/journal "));
        let checkpoint = signer.verifier().open(&note).unwrap();
        assert_eq!((checkpoint.size, checkpoint.root), (7, [9; 32]));
        let again: Verifier = signer.verifier().to_string().parse().unwrap();
        assert_eq!(again.open(&note), Ok(checkpoint));
    }

    #[test]
    fn a_file_of_notes_comes_apart_into_what_was_signed() {
        let notes = [signer(1).sign(7, [9; 32]), signer(1).sign(8, [1; 32])];
        assert_eq!(split(&(notes.join("\n") + "\n")), notes);
        assert_eq!(split(&notes.concat()), notes);
        assert!(split("").is_empty());
    }

    #[test]
    fn what_is_changed_or_signed_by_others_is_refused() {
        let note = signer(1).sign(7, [9; 32]);
        let verifier = signer(1).verifier().clone();
        assert_eq!(verifier.open(&note.replacen("\n7\n", "\n8\n", 1)), Err(BadNote::Forged));
        assert_eq!(verifier.open(&signer(2).sign(7, [9; 32])), Err(BadNote::Unsigned));
        let elsewhere = Signer::new("other.example.com/journal", &[1; 32]).unwrap();
        assert_eq!(verifier.open(&elsewhere.sign(7, [9; 32])), Err(BadNote::Unsigned));
        for malformed in ["", "\n\n", "a\nb\n\nc", note.trim_end().rsplit_once("\n\n").unwrap().0] {
            assert!(verifier.open(malformed).is_err(), "{malformed}");
        }
    }

    #[test]
    fn names_and_keys_that_cannot_be_are_refused() {
        for name in ["", "two words", "a+b", "line\nbreak"] {
            assert!(Signer::new(name, &[1; 32]).is_err(), "{name}");
        }
        let key = signer(1).verifier().to_string();
        let other_id = key.replacen('+', "+0", 1);
        for key in ["", "name", "name+00000000+AAAA", &other_id] {
            assert!(key.parse::<Verifier>().is_err(), "{key}");
        }
    }
}
