//! The buckets of one bulk limit, in memory.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bursar_domain::kernel::UserId;

use super::{Policy, Verdict, WINDOW};

/// Callers remembered in each shard.
const KEYS: usize = 20_000;
const SHARDS: usize = 8;

/// One limit and the buckets of everybody it applies to. Times are microseconds since the server started.
pub(super) struct Buckets {
    policy: Policy,
    hasher: RandomState,
    shards: [Mutex<HashMap<UserId, Bucket>>; SHARDS],
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    full_at: i64,
    /// Given since the other servers were last told.
    untold: u32,
}

impl Buckets {
    pub(super) fn new(policy: Policy) -> Self {
        Self { policy, hasher: RandomState::new(), shards: Default::default() }
    }

    pub(super) const fn policy(&self) -> Policy {
        self.policy
    }

    /// Takes one from the caller's bucket, if there is one.
    pub(super) fn take(&self, caller: UserId, now: i64) -> Verdict {
        let mut buckets = self.shard(caller);
        if buckets.len() >= KEYS {
            buckets.retain(|_, bucket| bucket.full_at > now);
            if buckets.len() >= KEYS {
                // More callers at once than we remember: better to let them all in than to keep some out.
                buckets.clear();
            }
        }
        let bucket = buckets.entry(caller).or_insert(Bucket { full_at: now, untold: 0 });
        let full_at = bucket.full_at.max(now);
        let debt = full_at - now + self.policy.cost();
        if debt > WINDOW {
            return self.policy.verdict(false, full_at - now);
        }
        *bucket = Bucket { full_at: now + debt, untold: bucket.untold.saturating_add(1) };
        self.policy.verdict(true, debt)
    }

    /// What was given since this was last asked, to everybody whose bucket is not full: nothing, to some of them, of whom
    /// the other servers may have something to tell.
    pub(super) fn given(&self, now: i64) -> Vec<(UserId, u32)> {
        let mut given = Vec::new();
        for shard in &self.shards {
            let mut buckets = shard.lock().unwrap_or_else(PoisonError::into_inner);
            for (user, bucket) in buckets.iter_mut().filter(|(_, b)| b.untold > 0 || b.full_at > now) {
                given.push((*user, std::mem::take(&mut bucket.untold)));
            }
        }
        given
    }

    /// The other servers could not be told.
    pub(super) fn untold(&self, caller: UserId, count: u32) {
        if let Some(bucket) = self.shard(caller).get_mut(&caller) {
            bucket.untold = bucket.untold.saturating_add(count);
        }
    }

    /// With what other servers gave, the bucket is not full before `full_at`.
    pub(super) fn owes(&self, caller: UserId, full_at: i64) {
        if let Some(bucket) = self.shard(caller).get_mut(&caller) {
            bucket.full_at = bucket.full_at.max(full_at);
        }
    }

    fn shard(&self, caller: UserId) -> MutexGuard<'_, HashMap<UserId, Bucket>> {
        // The remainder is below SHARDS.
        let index = usize::try_from(self.hasher.hash_one(caller) % SHARDS as u64).unwrap_or(0);
        self.shards[index].lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::SECOND;
    use super::*;

    fn buckets() -> (Buckets, UserId, UserId) {
        let (sources, _) = crate::sources::system();
        let policy = Policy { name: "writes", limit: 3 };
        (Buckets::new(policy), UserId::mint(&sources), UserId::mint(&sources))
    }

    fn refused(verdict: &Verdict) -> bool {
        verdict.refused.is_some()
    }

    #[test]
    fn a_bucket_gives_its_limit_and_refills_one_by_one() {
        let (buckets, ada, bola) = buckets();
        let left: Vec<_> = (0..3).map(|_| buckets.take(ada, 0).quota.unwrap().remaining).collect();
        assert_eq!(left, [2, 1, 0]);
        assert!(refused(&buckets.take(ada, 0)));
        assert!(!refused(&buckets.take(bola, 0)));
        assert!(refused(&buckets.take(ada, 19 * SECOND)));
        assert!(!refused(&buckets.take(ada, 20 * SECOND)));
        assert!(refused(&buckets.take(ada, 20 * SECOND)));
        assert_eq!(buckets.take(ada, 600 * SECOND).quota.unwrap().remaining, 2);
    }

    #[test]
    fn what_others_gave_is_owed_here() {
        let (buckets, ada, _) = buckets();
        assert!(!refused(&buckets.take(ada, 0)));
        assert_eq!(buckets.given(0), [(ada, 1)]);
        assert_eq!(buckets.given(0), [(ada, 0)]);
        assert_eq!(buckets.given(20 * SECOND), []);
        buckets.owes(ada, 60 * SECOND);
        assert!(refused(&buckets.take(ada, 0)));
        assert!(!refused(&buckets.take(ada, 20 * SECOND)));
        buckets.untold(ada, 2);
        assert_eq!(buckets.given(0), [(ada, 3)]);
    }
}
