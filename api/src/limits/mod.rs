//! Rate limits: token buckets, kept as the time at which each would be full again (GCRA; no floats, one number a key).
//!
//! | | what for | kept |
//! |---|---|---|
//! | exact | logins and whatever else can be guessed at | in Postgres, for all servers together: one statement each |
//! | bulk | reads and writes of a caller | in memory; what each server gave is added up in the background, once a second |
//!
//! Bulk limits may be overshot where several servers run: until they have heard of each other, each gives a caller what its
//! own bucket holds. In any one burst that is at most the limit times the servers; what was too much is owed, so that in
//! the long run a caller gets no more than the limit. When the store is away, bulk limits hold for each server by itself;
//! exact ones are not given at all.

mod buckets;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use bursar_commands::journal::StoreError;
use bursar_commands::journal::counters::{self, Bucket, CounterKey};
use bursar_commands::keys::CounterKeys;
use bursar_domain::Clock;
use bursar_domain::kernel::UserId;
use sqlx::PgPool;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::config;
use crate::problem::Problem;
use buckets::Buckets;

/// Microseconds in the window that limits are given for.
const WINDOW: i64 = 60 * SECOND;
const SECOND: i64 = 1_000_000;
/// How often servers tell each other what they gave.
const EXCHANGE: Duration = Duration::from_secs(1);
/// A server that was not heard of for so long, in microseconds, does not run.
const SILENCE: i64 = 10 * SECOND;
/// How many exchanges pass between two sweeps.
const SWEEP: u32 = 60;
/// After so long, in microseconds, nothing counted is of any use.
const FORGET: i64 = 24 * 60 * 60 * SECOND;

/// What is left of a limit, for the response headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    policy: &'static str,
    limit: u32,
    remaining: i64,
    /// Seconds until the bucket is full.
    reset: i64,
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

/// A limit: so many a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Policy {
    name: &'static str,
    limit: u32,
}

impl Policy {
    /// How long one needs to come back.
    fn cost(self) -> i64 {
        WINDOW / i64::from(self.limit.max(1))
    }

    /// What a bucket says that will be full after `debt` microseconds, with or without one more taken.
    fn verdict(self, granted: bool, debt: i64) -> Verdict {
        let remaining = (WINDOW - debt).max(0) / self.cost();
        let quota = Quota { policy: self.name, limit: self.limit, remaining, reset: seconds(debt) };
        let wait = seconds(debt + self.cost() - WINDOW).max(1);
        let refused = (!granted).then(|| Problem::throttled(wait.unsigned_abs()));
        Verdict { quota: Some(quota), refused }
    }
}

/// Whole seconds that are no shorter.
fn seconds(micros: i64) -> i64 {
    micros.max(0).saturating_add(SECOND - 1) / SECOND
}

/// What all servers share: where it is counted, under which keys, by which clock.
#[derive(Clone)]
#[allow(missing_docs, reason = "the types say it")]
pub struct Shared {
    pub pool: PgPool,
    pub keys: CounterKeys,
    pub clock: Arc<dyn Clock>,
}

impl Shared {
    /// Microseconds since 1970.
    #[must_use]
    pub fn now(&self) -> i64 {
        self.clock.now().as_microsecond()
    }
}

/// The limits of a server. Clones share them.
#[derive(Clone)]
pub struct RateLimits(Arc<Inner>);

struct Inner {
    enabled: bool,
    started: Instant,
    reads: Buckets,
    writes: Buckets,
    uploads: Buckets,
    logins: Policy,
    addresses: Policy,
    lookups: Policy,
    shared: Shared,
}

/// What a limit said: what is left of it, and the problem when nothing is.
pub struct Verdict {
    /// For the headers; none when limits are off.
    pub quota: Option<Quota>,
    /// 429, or nothing.
    pub refused: Option<Problem>,
}

impl Verdict {
    const OFF: Self = Self { quota: None, refused: None };
}

impl RateLimits {
    /// The limits of the configuration, counted from `started`.
    #[must_use]
    pub fn new(limits: &config::Limits, started: Instant, shared: Shared) -> Self {
        Self(Arc::new(Inner {
            enabled: limits.enabled,
            started,
            reads: Buckets::new(Policy { name: "reads", limit: limits.reads_per_minute }),
            writes: Buckets::new(Policy { name: "writes", limit: limits.writes_per_minute }),
            uploads: Buckets::new(Policy { name: "uploads", limit: limits.uploads_per_minute }),
            logins: Policy { name: "logins", limit: limits.logins_per_minute },
            addresses: Policy { name: "addresses", limit: limits.logins_per_address_per_minute },
            lookups: Policy { name: "lookups", limit: limits.lookups_per_minute },
            shared,
        }))
    }

    /// A read by `caller`.
    #[must_use]
    pub fn read(&self, caller: UserId, at: Instant) -> Verdict {
        self.bulk(&self.0.reads, caller, at)
    }

    /// A write by `caller`.
    #[must_use]
    pub fn write(&self, caller: UserId, at: Instant) -> Verdict {
        self.bulk(&self.0.writes, caller, at)
    }

    /// A file that `caller` hands in.
    #[must_use]
    pub fn upload(&self, caller: UserId, at: Instant) -> Verdict {
        self.bulk(&self.0.uploads, caller, at)
    }

    /// A login, refresh, reset or whatever else proves who somebody is, from `address` as `username`.
    ///
    /// # Errors
    /// 503, when it cannot be counted.
    pub async fn login(&self, address: IpAddr, username: &str) -> Result<Verdict, Problem> {
        let network = network(address).to_string();
        let Inner { addresses, logins, .. } = *self.0;
        self.exact(&[(addresses, &[&network]), (logins, &[&network, username])]).await
    }

    /// Somebody else's data asked for by `caller`: a lookup by account number.
    ///
    /// # Errors
    /// 503, when it cannot be counted.
    pub async fn lookup(&self, caller: UserId) -> Result<Verdict, Problem> {
        self.exact(&[(self.0.lookups, &[&caller.to_string()])]).await
    }

    /// Takes from the buckets, each a limit and whom it is for; all of them must have something left.
    async fn exact(&self, wanted: &[(Policy, &[&str])]) -> Result<Verdict, Problem> {
        if !self.0.enabled {
            return Ok(Verdict::OFF);
        }
        let Shared { pool, keys, .. } = &self.0.shared;
        let bucket = |(policy, whose): &(Policy, &[&str])| {
            let parts: Vec<&str> = std::iter::once(policy.name).chain(whose.iter().copied()).collect();
            Bucket { key: keys.of(&parts), cost: policy.cost() }
        };
        let now = self.0.shared.now();
        let buckets: Vec<Bucket> = wanted.iter().map(bucket).collect();
        let taken = counters::take(pool, &buckets, WINDOW, now).await?;
        let mut said = Verdict::OFF;
        for ((policy, _), taken) in wanted.iter().zip(taken) {
            said = policy.verdict(taken.granted, taken.full_at.saturating_sub(now));
            if said.refused.is_some() {
                break;
            }
        }
        Ok(said)
    }

    fn bulk(&self, buckets: &Buckets, caller: UserId, at: Instant) -> Verdict {
        if self.0.enabled { buckets.take(caller, self.micros(at)) } else { Verdict::OFF }
    }

    /// Microseconds since the server started.
    fn micros(&self, at: Instant) -> i64 {
        i64::try_from(at.saturating_duration_since(self.0.started).as_micros()).unwrap_or(i64::MAX / 4)
    }

    /// Keeps servers at one in the background, until `stop` says so. `server` is a name that no other has.
    #[must_use]
    pub fn start(&self, server: String, mut stop: watch::Receiver<bool>) -> JoinHandle<()> {
        let this = self.clone();
        tokio::spawn(async move {
            let mut round = 0_u32;
            while !*stop.borrow() && this.0.enabled {
                if let Err(error) = this.exchange(&server, round).await {
                    tracing::debug!(%error, "limits are this server's own for the moment");
                }
                round = round.wrapping_add(1);
                tokio::select! {
                    () = tokio::time::sleep(EXCHANGE) => {}
                    _ = stop.wait_for(|stop| *stop) => {}
                }
            }
        })
    }

    /// Tells the other servers, if there are any, what this one gave, and hears what they did.
    async fn exchange(&self, server: &str, round: u32) -> Result<(), StoreError> {
        let Shared { pool, keys, .. } = &self.0.shared;
        let now = self.0.shared.now();
        if round.is_multiple_of(SWEEP) {
            counters::sweep(pool, now, now.saturating_sub(FORGET)).await?;
        }
        if counters::others(pool, server, now.saturating_sub(SILENCE), now).await? == 0 {
            return Ok(());
        }
        let begun = self.micros(Instant::now());
        let all = [&self.0.reads, &self.0.writes, &self.0.uploads];
        let given: Vec<_> = all
            .into_iter()
            .flat_map(|buckets| buckets.given(begun).into_iter().map(move |given| (buckets, given)))
            .collect();
        if given.is_empty() {
            return Ok(());
        }
        let key = |policy: Policy, user: UserId| -> CounterKey { keys.of(&[policy.name, &user.to_string()]) };
        let owed: Vec<Bucket> = given
            .iter()
            .map(|(buckets, (user, count))| Bucket {
                key: key(buckets.policy(), *user),
                cost: buckets.policy().cost().saturating_mul(i64::from(*count)),
            })
            .collect();
        match counters::owe(pool, &owed, now).await {
            Ok(full) => {
                let here = self.micros(Instant::now());
                for ((buckets, (user, _)), full_at) in given.into_iter().zip(full) {
                    buckets.owes(user, here.saturating_add(full_at.saturating_sub(now)));
                }
                Ok(())
            }
            Err(error) => {
                // It is told the next time.
                given.into_iter().for_each(|(buckets, (user, count))| buckets.untold(user, count));
                Err(error)
            }
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
    fn the_headers_say_what_is_left() {
        let mut headers = HeaderMap::new();
        let policy = Policy { name: "writes", limit: 300 };
        policy.verdict(true, policy.cost()).quota.unwrap().write(&mut headers);
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
}
