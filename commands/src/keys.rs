//! The server's secrets, each for one purpose, all derived from the bank's key. That one is drawn once and kept wrapped by
//! the master key (see [`vault`](crate::vault)), so that a new master key changes none of them.

#[cfg(test)]
mod tests;
mod tokens;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::{hkdf, hmac};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bursar_domain::Entropy;
use bursar_domain::cards::CardNumber;
use bursar_domain::kernel::{CardId, CommunityId, EnrolmentId, SessionId, UserId, VerificationId, WebhookId};
pub use tokens::{RefreshToken, ResetToken};
use zeroize::Zeroizing;

use crate::journal::Idempotency;
use crate::journal::counters::CounterKey;

/// 32 secret bytes that every other key is wrapped by. Lose them and everything personal in the log is lost, and every
/// token, key and pepper.
#[derive(Clone)]
pub struct MasterKey(Zeroizing<[u8; 32]>);

/// Text that is not a master key. Says nothing about the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a master key is 32 bytes, written as 43 characters of base64url")]
pub struct MalformedMasterKey;

impl MasterKey {
    /// A fresh one.
    #[must_use]
    pub fn draw(entropy: &dyn Entropy) -> Self {
        let mut bytes = Zeroizing::new([0_u8; 32]);
        entropy.fill(&mut *bytes);
        Self(bytes)
    }

    /// Reads what [`to_text`](Self::to_text) wrote; white space around it is allowed.
    ///
    /// # Errors
    /// [`MalformedMasterKey`].
    pub fn parse(text: &str) -> Result<Self, MalformedMasterKey> {
        let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(text.trim()).map_err(|_| MalformedMasterKey)?);
        let bytes: [u8; 32] = bytes.as_slice().try_into().map_err(|_| MalformedMasterKey)?;
        Ok(Self(Zeroizing::new(bytes)))
    }

    /// The key that encrypts other keys, and what tells that it was this one.
    pub(crate) fn wrapping(&self) -> (Zeroizing<[u8; 32]>, [u8; 16]) {
        let prk = hkdf::Salt::new(hkdf::HKDF_SHA256, b"bursar master key").extract(self.0.as_slice());
        (expand(&prk, b"key wrapping"), first_half(&*expand(&prk, b"fingerprint")))
    }

    /// Base64url without padding, for a file that only the server may read.
    #[must_use]
    pub fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(URL_SAFE_NO_PAD.encode(self.0.as_slice()))
    }
}

/// The keys derived from the bank's key with HKDF-SHA256 (RFC 5869). No `Debug`, so that none can be logged.
pub struct Keys {
    /// Seed of the Ed25519 key that signs access tokens (RFC 8032).
    pub token_seed: Zeroizing<[u8; 32]>,
    /// Seed of the Ed25519 key that signs checkpoints of the log.
    pub checkpoint_seed: Zeroizing<[u8; 32]>,
    /// Secret input of argon2id, which a stolen database lacks.
    pub(crate) pepper: Zeroizing<[u8; 32]>,
    /// Seals the keys of the certificate authority.
    pub(crate) authority: Zeroizing<[u8; 32]>,
    refresh: hmac::Key,
    idempotency: hmac::Key,
    lookup: hmac::Key,
    card: hmac::Key,
    own_card: hmac::Key,
    code: hmac::Key,
    reset: hmac::Key,
    counter: hmac::Key,
    reset_name: hmac::Key,
    totp: hmac::Key,
    device: hmac::Key,
    invite: hmac::Key,
    import: hmac::Key,
    webhook: hmac::Key,
}

/// Names the counters that all servers share. No `Debug`.
#[derive(Clone)]
pub struct CounterKeys(hmac::Key);

impl CounterKeys {
    /// What a counter is kept under: which one, and whose.
    #[must_use]
    pub fn of(&self, parts: &[&str]) -> CounterKey {
        let mut counter = hmac::Context::with_key(&self.0);
        for part in parts {
            // The lengths keep the parts apart, whatever is in them.
            counter.update(&part.len().to_be_bytes());
            counter.update(part.as_bytes());
        }
        first_half(counter.sign().as_ref())
    }
}

impl Keys {
    /// The keys of this bank; always the same ones.
    #[must_use]
    pub fn derive(bank_key: &[u8; 32]) -> Self {
        let prk = hkdf::Salt::new(hkdf::HKDF_SHA256, b"bursar").extract(bank_key);
        let key = |purpose| hmac::Key::new(hmac::HMAC_SHA256, expand(&prk, purpose).as_slice());
        Self {
            token_seed: expand(&prk, b"access token Ed25519"),
            checkpoint_seed: expand(&prk, b"checkpoint Ed25519"),
            pepper: expand(&prk, b"password pepper"),
            authority: expand(&prk, b"certificate authority"),
            refresh: key(b"refresh token"),
            idempotency: key(b"idempotency"),
            lookup: key(b"email lookup"),
            card: key(b"card number"),
            own_card: key(b"number of a card of the bank's own"),
            code: key(b"verification code"),
            reset: key(b"password reset token"),
            counter: key(b"counter"),
            reset_name: key(b"password reset name"),
            totp: key(b"TOTP secret"),
            device: key(b"device"),
            invite: key(b"community invite code"),
            import: key(b"import from another bank"),
            webhook: key(b"webhook secret"),
        }
    }

    /// The refresh token of one generation of a session: a pure function of the two and the server's key, so
    /// that a repeated answer is the same answer and no token needs to be kept.
    #[must_use]
    pub fn refresh_token(&self, session: SessionId, generation: u32) -> RefreshToken {
        let head = format!("{session}.{generation}");
        let tag = hmac::sign(&self.refresh, head.as_bytes());
        let text = Zeroizing::new(format!("{head}.{}", URL_SAFE_NO_PAD.encode(tag)));
        RefreshToken { session, generation, text }
    }

    /// Reads a token that this server made; `None` for anything else.
    #[must_use]
    pub fn read_refresh_token(&self, text: &str) -> Option<RefreshToken> {
        let (head, tag) = text.rsplit_once('.')?;
        let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
        hmac::verify(&self.refresh, head.as_bytes(), &tag).ok()?;
        let (session, generation) = head.split_once('.')?;
        let (session, generation) = (session.parse().ok()?, generation.parse().ok()?);
        Some(RefreshToken { session, generation, text: Zeroizing::new(text.to_owned()) })
    }

    /// What the journal remembers of an `Idempotency-Key`: scoped to who asked and for what, and useless to
    /// whoever reads the table.
    #[must_use]
    pub fn idempotency(&self, caller: &str, method: &str, path: &str, key: &str, body: &[u8]) -> Idempotency {
        // None of the parts can hold a NUL byte, so no two scopes read the same.
        let mut scope = hmac::Context::with_key(&self.idempotency);
        for part in ["key", caller, method, path, key] {
            scope.update(part.as_bytes());
            scope.update(&[0]);
        }
        let mut request = hmac::Context::with_key(&self.idempotency);
        request.update(b"body\0");
        request.update(body);
        Idempotency {
            key: first_half(scope.sign().as_ref()),
            fingerprint: first_half(request.sign().as_ref()),
        }
    }

    /// Names the counters that all servers share.
    #[must_use]
    pub fn counters(&self) -> CounterKeys {
        CounterKeys(self.counter.clone())
    }

    /// The keyed hash under which a lower-case email address is claimed and found.
    #[must_use]
    pub fn email_lookup(&self, email: &str) -> [u8; 32] {
        whole(&hmac::sign(&self.lookup, email.as_bytes()))
    }

    /// What stands for an identity document of a person: without the key it cannot be made from a number, and it does not
    /// tell that two people gave the same one.
    #[must_use]
    pub fn identity_token(&self, person: UserId, kind: &str, country: &str, number: &str) -> [u8; 32] {
        let mut identity = hmac::Context::with_key(&self.lookup);
        // No email address holds a NUL byte, and none of the parts does.
        for part in ["identity", &person.to_string(), kind, country, number] {
            identity.update(part.as_bytes());
            identity.update(&[0]);
        }
        whole(&identity.sign())
    }

    /// What stands for a card in the hands of its holder. Without the key it cannot be made from a number, however
    /// few numbers begin and end like this one; and it does not tell that two people hold the same card.
    #[must_use]
    pub fn card_token(&self, holder: UserId, number: &CardNumber) -> [u8; 32] {
        let mut card = hmac::Context::with_key(&self.card);
        // An id of a user holds no NUL byte.
        card.update(holder.to_string().as_bytes());
        card.update(&[0]);
        card.update(number.digits().as_bytes());
        whole(&card.sign())
    }

    /// Stands for a number that the bank has given to one of its own cards, whosever it is.
    #[must_use]
    pub fn own_card_token(&self, number: &CardNumber) -> [u8; 32] {
        whole(&hmac::sign(&self.own_card, number.digits().as_bytes()))
    }

    /// What the number of a card of the bank's own is made of: a pure function of the card, so that whoever makes the card can
    /// be told the number and nobody needs to keep it.
    #[must_use]
    pub fn card_serial(&self, id: CardId) -> u64 {
        let mut card = hmac::Context::with_key(&self.own_card);
        card.update(id.to_string().as_bytes());
        whole(&card.sign()).iter().take(8).fold(0, |serial, byte| serial << 8 | u64::from(*byte))
    }
}

impl Keys {
    /// The code of a verification, six digits: a pure function of whose it is, which, and how often it was sent again, so
    /// that no code needs to be kept.
    #[must_use]
    pub fn code(&self, user: UserId, verification: VerificationId, resends: u32) -> Zeroizing<String> {
        let mut tag = hmac::Context::with_key(&self.code);
        // Neither id holds a NUL byte.
        for part in [user.to_string(), verification.to_string(), resends.to_string()] {
            tag.update(part.as_bytes());
            tag.update(&[0]);
        }
        let mut eight = [0; 8];
        eight.iter_mut().zip(tag.sign().as_ref()).for_each(|(to, from)| *to = *from);
        // Of 2^64 values, the last 551,616 make some codes likelier than others by a part in 10^13.
        Zeroizing::new(format!("{:06}", u64::from_be_bytes(eight) % 1_000_000))
    }

    /// The token with which a person sets a password without knowing the old one: 256 bits and what they are about.
    #[must_use]
    pub fn reset_token(&self, user: UserId, verification: VerificationId) -> ResetToken {
        let head = format!("{user}.{verification}");
        let tag = hmac::sign(&self.reset, head.as_bytes());
        let text = Zeroizing::new(format!("{head}.{}", URL_SAFE_NO_PAD.encode(tag)));
        ResetToken { user, verification, text }
    }

    /// The stream in which resets under a name are asked for, which does not tell the name.
    #[must_use]
    pub fn reset_name(&self, name: &str) -> String {
        hex(&first_half(hmac::sign(&self.reset_name, name.as_bytes()).as_ref()))
    }

    /// The secret that an authenticator app and the bank share (RFC 4226 asks for 160 bits): a pure function of whose it is
    /// and which.
    #[must_use]
    pub fn totp_secret(&self, user: UserId, app: EnrolmentId) -> Zeroizing<[u8; 20]> {
        // Neither id holds a dot.
        let tag = hmac::sign(&self.totp, format!("{user}.{app}").as_bytes());
        let mut secret = Zeroizing::new([0; 20]);
        secret.iter_mut().zip(tag.as_ref()).for_each(|(to, from)| *to = *from);
        secret
    }

    /// What a device of somebody's is remembered by.
    #[must_use]
    pub fn device(&self, user: UserId, device_id: &str) -> String {
        hex(&first_half(hmac::sign(&self.device, format!("{user}.{device_id}").as_bytes()).as_ref()))
    }

    /// What lets people join a community, 128 bits: a pure function of which it is, so that it need not be kept.
    #[must_use]
    pub fn invite_code(&self, community: CommunityId) -> String {
        hex(&first_half(hmac::sign(&self.invite, community.to_string().as_bytes()).as_ref()))
    }

    /// What stands for something that another bank has named, or for what it said of it. The parts are kept apart, whatever is in
    /// them.
    #[must_use]
    pub fn imported<'a>(&self, parts: impl IntoIterator<Item = &'a str>) -> [u8; 32] {
        let mut tag = hmac::Context::with_key(&self.import);
        for part in parts {
            tag.update(&part.len().to_be_bytes());
            tag.update(part.as_bytes());
        }
        whole(&tag.sign())
    }

    /// Whether `text` is what lets people join a community; equal time for every wrong one.
    #[must_use]
    pub fn is_invite_code(&self, community: CommunityId, text: &str) -> bool {
        verify_slices_are_equal(self.invite_code(community).as_bytes(), text.trim().as_bytes()).is_ok()
    }

    /// The secret by which an address knows that it is the bank who tells it something, 256 bits: a pure function of which
    /// address and which generation, so that it need not be kept, and a repeated answer is the same answer.
    #[must_use]
    pub fn webhook_secret(&self, webhook: WebhookId, generation: u32) -> Zeroizing<[u8; 32]> {
        // No id holds a dot.
        Zeroizing::new(whole(&hmac::sign(&self.webhook, format!("{webhook}.{generation}").as_bytes())))
    }

    /// Reads a token that this server made; `None` for anything else.
    #[must_use]
    pub fn read_reset_token(&self, text: &str) -> Option<ResetToken> {
        let (head, tag) = text.rsplit_once('.')?;
        let tag = URL_SAFE_NO_PAD.decode(tag).ok()?;
        hmac::verify(&self.reset, head.as_bytes(), &tag).ok()?;
        let (user, verification) = head.split_once('.')?;
        let (user, verification) = (user.parse().ok()?, verification.parse().ok()?);
        Some(ResetToken { user, verification, text: Zeroizing::new(text.to_owned()) })
    }
}

/// The key of something a process does when it is due (`product:CUR-001`), equal on every server.
#[must_use]
pub fn due_key(name: &str) -> Idempotency {
    let hash = first_half(&sha256(name.as_bytes()));
    Idempotency { key: hash, fingerprint: hash }
}

fn expand(prk: &hkdf::Prk, purpose: &[u8]) -> Zeroizing<[u8; 32]> {
    let mut key = Zeroizing::new([0_u8; 32]);
    let purpose = [purpose];
    // HKDF fails only above 255 hash lengths or when the lengths differ; both are 32 here.
    let filled = prk.expand(&purpose, hkdf::HKDF_SHA256).and_then(|okm| okm.fill(&mut *key));
    debug_assert!(filled.is_ok());
    key
}

/// SHA-256.
#[must_use]
pub fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, bytes).as_ref());
    hash
}

/// Two hexadecimal digits a byte.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut hex, byte| {
        // Writing to a String cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// A tag of HMAC-SHA256: 32 bytes.
fn whole(tag: &hmac::Tag) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(tag.as_ref());
    hash
}

/// The first 16 of at least 16 bytes.
fn first_half(hash: &[u8]) -> [u8; 16] {
    let mut half = [0; 16];
    half.iter_mut().zip(hash).for_each(|(to, from)| *to = *from);
    half
}
