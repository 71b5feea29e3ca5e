//! Time and randomness are parameters. The two traits here are the only doors they come in by.

use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use uuid::Uuid;

/// Where the time comes from. Implementations never go back.
pub trait Clock: Send + Sync {
    /// The present, UTC, whole microseconds (what Postgres keeps).
    fn now(&self) -> Timestamp;
}

/// Where unpredictable bytes come from. In production a CSPRNG; in tests a counter.
pub trait Entropy: Send + Sync {
    /// Overwrites `buffer` with unpredictable bytes.
    fn fill(&self, buffer: &mut [u8]);
}

/// The clock and the randomness of one bank.
#[derive(Clone)]
pub struct Sources {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// The randomness.
    pub entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for Sources {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sources")
    }
}

/// A UUIDv7: milliseconds first, then randomness.
#[must_use]
pub fn uuid_v7(sources: &Sources) -> Uuid {
    let mut random = [0_u8; 10];
    sources.entropy.fill(&mut random);
    uuid_v7_at(sources.clock.now(), &random)
}

/// The UUIDv7 of a moment, with bytes that the caller has chosen.
pub(crate) fn uuid_v7_at(at: Timestamp, random: &[u8; 10]) -> Uuid {
    let millis = u64::try_from(at.as_millisecond()).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, random).into_uuid()
}

/// `at` without the part below a microsecond, so that what is stored equals what is held.
#[must_use]
pub fn micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

/// The UTC day `at` falls on.
#[must_use]
pub fn utc_date(at: Timestamp) -> Date {
    TimeZone::UTC.to_datetime(at).date()
}

/// The first moment of the UTC day `day`.
#[must_use]
pub fn midnight(day: Date) -> Timestamp {
    day.to_zoned(TimeZone::UTC).map_or(Timestamp::MAX, |at| at.timestamp())
}

/// The first moment after the UTC day `day`.
#[must_use]
pub fn end_of_day(day: Date) -> Timestamp {
    day.tomorrow().map_or(Timestamp::MAX, midnight)
}

/// Whole seconds from `at` until `then`, at least one.
#[must_use]
pub fn seconds_until(at: Timestamp, then: Timestamp) -> i64 {
    then.duration_since(at).as_secs().saturating_add(1).max(1)
}

/// `seconds` after `at`, or as late as timestamps go.
#[must_use]
pub fn add_seconds(at: Timestamp, seconds: i64) -> Timestamp {
    at.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

/// The first day of the UTC month of `day`.
#[must_use]
pub fn month_start(day: Date) -> Date {
    day.first_of_month()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    /// Randomness that counts.
    #[derive(Default)]
    pub(crate) struct Counting(AtomicU64);

    impl Entropy for Counting {
        fn fill(&self, buffer: &mut [u8]) {
            let n = self.0.fetch_add(1, Ordering::Relaxed).to_be_bytes();
            for (slot, byte) in buffer.iter_mut().zip(n.iter().cycle()) {
                *slot = *byte;
            }
        }
    }

    struct Ticking(AtomicU64);

    impl Clock for Ticking {
        fn now(&self) -> Timestamp {
            let n = self.0.fetch_add(1, Ordering::Relaxed);
            Timestamp::from_millisecond(1_700_000_000_000 + i64::try_from(n).unwrap()).unwrap()
        }
    }

    pub(crate) fn sources() -> Sources {
        Sources { clock: Arc::new(Ticking(AtomicU64::new(0))), entropy: Arc::new(Counting::default()) }
    }
}
