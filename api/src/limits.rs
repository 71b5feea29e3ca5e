//! Rate limits: token buckets, kept as the time at which each would be full again (GCRA; no floats, one number a key).

use std::collections::HashMap;
use std::hash::{BuildHasher as _, Hash, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use crate::config;
use crate::problem::Problem;

/// Nanoseconds in the window that limits are given for.
const WINDOW: u64 = 60_000_000_000;
const SECOND: u64 = 1_000_000_000;
/// Keys remembered in each shard.
const KEYS: usize = 20_000;
const SHARDS: usize = 8;

/// What is left of a limit, for the response headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    policy: &'static str,
    limit: u32,
    remaining: u64,
    /// Seconds until the bucket is full.
    reset: u64,
}

impl Quota {
    /// Writes `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers).
    pub fn write(&self, headers: &mut HeaderMap) {
        let Self { policy, limit, remaining, reset } = self;
        for (name, value) in [
            ("ratelimit-policy", format!("\"{policy}\";q={limit};w=60")),
            ("ratelimit", format!("\"{policy}\";r={remaining};t={reset}")),
        ] {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }
}

/// One limit and the buckets of everybody it applies to.
struct Buckets {
    policy: &'static str,
    limit: u32,
    hasher: RandomState,
    /// Key to when its bucket is full, in nanoseconds since the server started.
    full_at: [Mutex<HashMap<u64, u64>>; SHARDS],
}

impl Buckets {
    fn new(policy: &'static str, limit: u32) -> Self {
        Self { policy, limit: limit.max(1), hasher: RandomState::new(), full_at: Default::default() }
    }

    /// Takes one from the bucket of `key`, or says in how many seconds there will be one.
    fn take(&self, key: impl Hash, now: u64) -> Result<Quota, (Quota, u64)> {
        let key = self.hasher.hash_one(key);
        let each = WINDOW / u64::from(self.limit);
        // The remainder is below SHARDS.
        let shard = usize::try_from(key % SHARDS as u64).unwrap_or(0);
        let mut buckets = self.full_at[shard].lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= KEYS {
            buckets.retain(|_, full_at| *full_at > now);
            if buckets.len() >= KEYS {
                // More callers at once than we remember: better to let them all in than to keep some out.
                buckets.clear();
            }
        }
        let full_at = buckets.entry(key).or_insert(now);
        let filled = (*full_at).max(now) + each;
        let debt = filled - now;
        let quota = |debt: u64| Quota {
            policy: self.policy,
            limit: self.limit,
            remaining: WINDOW.saturating_sub(debt) / each,
            reset: debt.div_ceil(SECOND),
        };
        if debt > WINDOW {
            return Err((quota(debt - each), (debt - WINDOW).div_ceil(SECOND)));
        }
        *full_at = filled;
        Ok(quota(debt))
    }
}

/// The limits of a server.
pub struct RateLimits {
    enabled: bool,
    started: Instant,
    reads: Buckets,
    writes: Buckets,
    uploads: Buckets,
    lookups: Buckets,
    logins: Buckets,
    addresses: Buckets,
}

/// What a limit said: what is left of it, and the problem when nothing is.
pub struct Verdict {
    /// For the headers; none when limits are off.
    pub quota: Option<Quota>,
    /// 429, or nothing.
    pub refused: Option<Problem>,
}

impl RateLimits {
    /// The limits of the configuration, counted from `started`.
    #[must_use]
    pub fn new(limits: &config::Limits, started: Instant) -> Self {
        Self {
            enabled: limits.enabled,
            started,
            reads: Buckets::new("reads", limits.reads_per_minute),
            writes: Buckets::new("writes", limits.writes_per_minute),
            uploads: Buckets::new("uploads", limits.uploads_per_minute),
            lookups: Buckets::new("lookups", limits.lookups_per_minute),
            logins: Buckets::new("logins", limits.logins_per_minute),
            addresses: Buckets::new("addresses", limits.logins_per_address_per_minute),
        }
    }

    /// A read by `caller`.
    pub fn read(&self, caller: impl Hash, at: Instant) -> Verdict {
        self.judge(&self.reads, caller, at)
    }

    /// A write by `caller`.
    pub fn write(&self, caller: impl Hash, at: Instant) -> Verdict {
        self.judge(&self.writes, caller, at)
    }

    /// A file that `caller` hands in.
    pub fn upload(&self, caller: impl Hash, at: Instant) -> Verdict {
        self.judge(&self.uploads, caller, at)
    }

    /// A look at somebody else's account by `caller`.
    pub fn lookup(&self, caller: impl Hash, at: Instant) -> Verdict {
        self.judge(&self.lookups, caller, at)
    }

    /// A login or refresh from `address` as `username`.
    pub fn login(&self, address: IpAddr, username: &str, at: Instant) -> Verdict {
        let network = network(address);
        let verdict = self.judge(&self.addresses, network, at);
        if verdict.refused.is_some() { verdict } else { self.judge(&self.logins, (network, username), at) }
    }

    fn judge(&self, buckets: &Buckets, key: impl Hash, at: Instant) -> Verdict {
        if !self.enabled {
            return Verdict { quota: None, refused: None };
        }
        let elapsed = at.saturating_duration_since(self.started).as_nanos();
        match buckets.take(key, u64::try_from(elapsed).unwrap_or(u64::MAX / 2)) {
            Ok(quota) => Verdict { quota: Some(quota), refused: None },
            Err((quota, wait)) => Verdict { quota: Some(quota), refused: Some(Problem::throttled(wait)) },
        }
    }
}

/// What one customer line usually is: an IPv4 address, or the /64 of an IPv6 one.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        v4 @ IpAddr::V4(_) => v4,
        IpAddr::V6(v6) => IpAddr::V6((v6.to_bits() & !u128::from(u64::MAX)).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_gives_its_limit_and_refills_one_by_one() {
        let buckets = Buckets::new("writes", 3);
        let left: Vec<_> = (0..3).map(|_| buckets.take("ada", 0).unwrap().remaining).collect();
        assert_eq!(left, [2, 1, 0]);
        assert_eq!(buckets.take("ada", 0).unwrap_err().1, 20);
        assert!(buckets.take("bola", 0).is_ok());
        assert!(buckets.take("ada", 20 * SECOND).is_ok());
        assert!(buckets.take("ada", 20 * SECOND).is_err());
        assert_eq!(buckets.take("ada", 600 * SECOND).unwrap().remaining, 2);
    }

    #[test]
    fn the_headers_say_what_is_left() {
        let mut headers = HeaderMap::new();
        Buckets::new("writes", 300).take("ada", 0).unwrap().write(&mut headers);
        assert_eq!(headers["ratelimit-policy"], "\"writes\";q=300;w=60");
        assert_eq!(headers["ratelimit"], "\"writes\";r=299;t=1");
    }

    #[test]
    fn neighbours_in_one_ipv6_network_share_a_bucket() {
        let at = |text: &str| network(text.parse().unwrap());
        assert_eq!(at("2001:db8::1"), at("2001:db8::ffff:1"));
        assert_ne!(at("2001:db8::1"), at("2001:db8:0:1::1"));
        assert_eq!(at("::ffff:10.0.0.1"), at("10.0.0.1"));
    }

    #[test]
    fn one_switch_turns_them_off() {
        let limits = config::Limits { enabled: false, writes_per_minute: 1, ..config::Limits::default() };
        let (limits, now) = (RateLimits::new(&limits, Instant::now()), Instant::now());
        assert!((0..10).all(|_| limits.write("ada", now).refused.is_none()));
    }
}
