//! Passwords: what may be one, and argon2id behind a limit, because hashing is the dearest thing a stranger can ask for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use argon2::{Algorithm, Argon2, Params, PasswordHasher, PasswordVerifier, Version};
use bursar_domain::{Entropy, Rejection, RejectionKind};
use tokio::sync::Semaphore;
use zeroize::Zeroizing;

use crate::keys::Keys;

/// Passwords of at least [`SHORTEST`] characters that everybody tries first, lower case, one a line.
const COMMON: &str = include_str!("passwords/common.txt");
/// Fewest characters of a password.
pub const SHORTEST: usize = 12;
/// Most characters of a password.
pub const LONGEST: usize = 128;

/// A password as somebody typed it. Wiped when dropped; no `Debug`.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// A password to be checked against a hash.
    #[must_use]
    pub fn typed(text: String) -> Self {
        Self(Zeroizing::new(text))
    }

    /// A password to be set.
    ///
    /// # Errors
    /// [`WeakPassword`], unless it has 12 to 128 characters and is not among the common ones.
    pub fn chosen(text: String) -> Result<Self, WeakPassword> {
        let password = Self::typed(text);
        let characters = password.0.chars().count();
        if !(SHORTEST..=LONGEST).contains(&characters) {
            return Err(WeakPassword::Length);
        }
        if password.is_common() { Err(WeakPassword::Common) } else { Ok(password) }
    }

    /// Whether it is the same password.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        aws_lc_rs::constant_time::verify_slices_are_equal(self.0.as_bytes(), other.0.as_bytes()).is_ok()
    }

    /// On the list, or one short piece over and over (`abcabcabcabc`).
    fn is_common(&self) -> bool {
        let lower = Zeroizing::new(self.0.to_lowercase());
        let bytes = lower.as_bytes();
        let repeats = |piece: usize| bytes.iter().zip(bytes.iter().skip(piece)).all(|(a, b)| a == b);
        COMMON.lines().any(|common| common == lower.as_str()) || (1..=4).any(repeats)
    }
}

/// Why a password cannot be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    /// Too short or too long.
    #[error("a password has 12 to 128 characters")]
    Length,
    /// Everybody tries it first.
    #[error("this password is too common")]
    Common,
}

impl Rejection for WeakPassword {
    fn code(&self) -> &'static str {
        "WEAK_PASSWORD"
    }

    fn kind(&self) -> RejectionKind {
        RejectionKind::Unprocessable
    }
}

/// Hashes and checks passwords, no more at once than there are processors.
pub struct Passwords {
    hasher: Arc<Hasher>,
    permits: Arc<Semaphore>,
    /// Hashes computed so far.
    runs: Arc<AtomicU64>,
    /// The hash that is checked when there is none, so that an unknown user costs the same work.
    decoy: String,
}

/// Hashing failed for a reason that has nothing to do with the password. Carries nothing about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the password could not be hashed")]
pub struct HashingFailed;

impl Passwords {
    /// A hasher with the pepper of `keys` and the parameters OWASP gives for argon2id: 19 MiB, 2 passes, 1 lane.
    ///
    /// # Errors
    /// [`HashingFailed`], when argon2 does not work on this machine at all.
    pub fn new(keys: &Keys, entropy: Arc<dyn Entropy>) -> Result<Self, HashingFailed> {
        let hasher = Hasher { pepper: keys.pepper.clone(), entropy };
        let decoy = hasher.hash(b"nobody has this password")?;
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            hasher: Arc::new(hasher),
            permits: Arc::new(Semaphore::new(processors)),
            runs: Arc::default(),
            decoy,
        })
    }

    /// The PHC string of a password, with a fresh salt.
    ///
    /// # Errors
    /// [`HashingFailed`].
    pub async fn hash(&self, password: Password) -> Result<String, HashingFailed> {
        let hasher = Arc::clone(&self.hasher);
        self.limited(move || hasher.hash(password.0.as_bytes())).await?
    }

    /// Whether `password` is the one of `hash`. Without a hash the answer is no, after the same work.
    pub async fn verify(&self, password: Password, hash: Option<String>) -> bool {
        let known = hash.is_some();
        let hash = hash.unwrap_or_else(|| self.decoy.clone());
        let hasher = Arc::clone(&self.hasher);
        let equal = self.limited(move || hasher.verify(password.0.as_bytes(), &hash)).await;
        known & equal.unwrap_or(false)
    }

    /// How many hashes were computed: what tells whether two answers cost the same work.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    async fn limited<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, HashingFailed> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(|_| HashingFailed)?;
        // The permit goes along: when the caller hangs up, the work goes on, and still counts.
        let work = move || {
            let _permit = permit;
            work()
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| HashingFailed)
    }
}

struct Hasher {
    pepper: Zeroizing<[u8; 32]>,
    entropy: Arc<dyn Entropy>,
}

impl Hasher {
    fn argon2(&self) -> Result<Argon2<'_>, HashingFailed> {
        let algorithm = (Algorithm::Argon2id, Version::V0x13, Params::default());
        Argon2::new_with_secret(self.pepper.as_slice(), algorithm.0, algorithm.1, algorithm.2)
            .map_err(|_| HashingFailed)
    }

    fn hash(&self, password: &[u8]) -> Result<String, HashingFailed> {
        let mut salt = [0_u8; 16];
        self.entropy.fill(&mut salt);
        let hash = self.argon2()?.hash_password_with_salt(password, &salt).map_err(|_| HashingFailed)?;
        Ok(hash.to_string())
    }

    fn verify(&self, password: &[u8], hash: &str) -> bool {
        self.argon2().is_ok_and(|argon2| argon2.verify_password(password, hash).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Zeros;

    impl Entropy for Zeros {
        fn fill(&self, buffer: &mut [u8]) {
            buffer.fill(0);
        }
    }

    fn passwords(bank_key: &[u8; 32]) -> Passwords {
        Passwords::new(&Keys::derive(bank_key), Arc::new(Zeros)).unwrap()
    }

    fn chosen(text: &str) -> Result<Password, WeakPassword> {
        Password::chosen(text.to_owned())
    }

    #[test]
    fn a_password_is_long_enough_and_not_common() {
        assert!(chosen("bursar-demo-2026").is_ok());
        assert!(chosen("ein Pferd frisst keinen Gurkensalat").is_ok());
        assert_eq!(chosen("elevenchars").err(), Some(WeakPassword::Length));
        assert_eq!(chosen(&"x1".repeat(65)).err(), Some(WeakPassword::Length));
        for common in ["Password1234", "123456789012", "aaaaaaaaaaaa", "abcABCabcabc", "qwertyuiop123"] {
            assert_eq!(chosen(common).err(), Some(WeakPassword::Common), "{common}");
        }
    }

    #[tokio::test]
    async fn only_the_password_of_the_hash_under_the_same_key_is_right() {
        let passwords = passwords(&[1; 32]);
        let hash = passwords.hash(Password::typed("a good password".into())).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
        assert!(passwords.verify(Password::typed("a good password".into()), Some(hash.clone())).await);
        assert!(!passwords.verify(Password::typed("a bad password".into()), Some(hash.clone())).await);
        assert!(!passwords.verify(Password::typed("nobody has this password".into()), None).await);
        let other = self::passwords(&[2; 32]);
        assert!(!other.verify(Password::typed("a good password".into()), Some(hash)).await);
    }
}
