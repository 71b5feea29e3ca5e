//! Tokens that were verified, so that each signature is checked once.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bursar_commands::keys::sha256;
use jiff::Timestamp;

use super::Caller;

/// Enough that threads rarely meet.
const SHARDS: usize = 16;

/// SHA-256 of a token.
pub type TokenHash = [u8; 32];

/// Hash of token to whoever it speaks for, bounded. The token itself is not kept.
pub struct Verified {
    shards: [Mutex<HashMap<TokenHash, Caller>>; SHARDS],
    /// Most entries a shard.
    most: usize,
}

impl Verified {
    /// Remembers about `most` tokens.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self { shards: Default::default(), most: most.div_ceil(SHARDS).max(1) }
    }

    /// What a token is known by.
    #[must_use]
    pub fn hash(token: &str) -> TokenHash {
        sha256(token.as_bytes())
    }

    /// Whoever the token speaks for, if it was verified and is good at `now`.
    #[must_use]
    pub fn get(&self, hash: &TokenHash, now: Timestamp) -> Option<Caller> {
        let mut shard = self.shard(hash);
        let caller = shard.get(hash)?;
        if caller.is_good(now) {
            return Some(caller.clone());
        }
        shard.remove(hash);
        None
    }

    /// Remembers a token until it expires or its session ends.
    pub fn put(&self, hash: TokenHash, caller: Caller, now: Timestamp) {
        let mut shard = self.shard(&hash);
        if shard.len() >= self.most {
            shard.retain(|_, caller| caller.is_good(now));
        }
        if shard.len() >= self.most
            && let Some(any) = shard.keys().next().copied()
        {
            shard.remove(&any);
        }
        shard.insert(hash, caller);
    }

    fn shard(&self, hash: &TokenHash) -> MutexGuard<'_, HashMap<TokenHash, Caller>> {
        let index = usize::from(hash[0]) % SHARDS;
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}
