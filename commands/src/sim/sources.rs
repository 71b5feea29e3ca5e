//! The clock and the randomness of a seed.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bursar_domain::kernel::micros;
use bursar_domain::{Clock, Entropy, Recorded};
use fastrand::Rng;
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use crate::journal::Observer;

/// The world's time: what the runtime's virtual clock says, and the nights that were skipped.
#[derive(Debug)]
pub(super) struct World {
    start: Instant,
    begins: Timestamp,
    skipped: AtomicI64,
}

impl World {
    /// A world that begins now, at `begins`.
    pub(super) fn new(begins: Timestamp) -> Arc<Self> {
        Arc::new(Self { start: Instant::now(), begins, skipped: AtomicI64::new(0) })
    }

    pub(super) fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.start.elapsed().as_micros()).unwrap_or(i64::MAX);
        let micros = passed.saturating_add(self.skipped.load(Ordering::Relaxed));
        self.begins.checked_add(SignedDuration::from_micros(micros)).unwrap_or(Timestamp::MAX)
    }

    /// Skips the time until `then`, unless it is over.
    pub(super) fn skip_to(&self, then: Timestamp) {
        self.skip(then.duration_since(self.now()).max(SignedDuration::ZERO));
    }

    /// Skips time; back, for a world that is broken.
    pub(super) fn skip(&self, by: SignedDuration) {
        self.skipped.fetch_add(i64::try_from(by.as_micros()).unwrap_or(0), Ordering::Relaxed);
    }
}

/// A server's clock, which may be late. Like the real one, it never goes back and is never behind what the log says.
#[derive(Debug)]
pub(super) struct ServerClock {
    world: Arc<World>,
    late: SignedDuration,
    /// Microseconds since 1970 of the last event.
    latest: AtomicI64,
    /// Goes back with the world, and past what is recorded: only to be found out.
    broken: bool,
}

impl ServerClock {
    pub(super) fn new(world: &Arc<World>, late: SignedDuration, broken: bool) -> Arc<Self> {
        Arc::new(Self { world: Arc::clone(world), late, latest: AtomicI64::new(i64::MIN), broken })
    }
}

impl Clock for ServerClock {
    fn now(&self) -> Timestamp {
        let now = micros(self.world.now().checked_sub(self.late).unwrap_or(Timestamp::MIN));
        if self.broken {
            return now;
        }
        let latest = self.latest.fetch_max(now.as_microsecond(), Ordering::Relaxed).max(now.as_microsecond());
        Timestamp::from_microsecond(latest).unwrap_or(now)
    }
}

impl Observer for ServerClock {
    fn recorded(&self, events: &[Recorded]) {
        if let Some(last) = events.last() {
            self.latest.fetch_max(last.recorded_at.as_microsecond(), Ordering::Relaxed);
        }
    }
}

/// A generator that all of a simulation shares: who draws when follows from the seed as well.
#[derive(Debug)]
pub(super) struct Chance(Mutex<Rng>);

impl Chance {
    pub(super) fn new(seed: u64) -> Self {
        Self(Mutex::new(Rng::with_seed(seed)))
    }

    fn draw<T>(&self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        draw(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// `least..=most`.
    pub(super) fn between(&self, least: u64, most: u64) -> u64 {
        self.draw(|rng| rng.u64(least..=most.max(least)))
    }

    /// True once in `times`.
    pub(super) fn once_in(&self, times: u64) -> bool {
        self.between(1, times) == 1
    }

    /// A place in a list of `length`; none in an empty one.
    pub(super) fn place(&self, length: usize) -> Option<usize> {
        (length > 0).then(|| self.draw(|rng| rng.usize(0..length)))
    }

    /// One of `all`.
    pub(super) fn one_of<'a, T>(&self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.place(all.len())?)
    }
}

impl Entropy for Chance {
    fn fill(&self, buffer: &mut [u8]) {
        self.draw(|rng| rng.fill(buffer));
    }
}
