//! The bank's clock and randomness: the one place that asks the machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use bursar_commands::journal::Observer;
use bursar_domain::kernel::{Sources, micros};
use bursar_domain::{Clock, Entropy, Recorded};
use jiff::{SignedDuration, Timestamp};

/// The machine's time plus what the sandbox has added to it. Never goes back, even when the machine's does.
#[derive(Debug, Default)]
pub struct BankClock {
    /// Microseconds ahead of the machine.
    ahead: AtomicI64,
    /// Microseconds since 1970 that were answered last.
    latest: AtomicI64,
}

impl BankClock {
    /// Moves the clock forward; a negative step does nothing.
    pub fn advance(&self, by: SignedDuration) {
        let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX).max(0);
        // Wrapping would go back by millennia; saturating stops at the end of time, which `now` caps.
        let _ =
            self.ahead.fetch_update(Ordering::AcqRel, Ordering::Acquire, |a| Some(a.saturating_add(micros)));
    }
}

impl BankClock {
    /// Sets the clock to `at`, also back: only for filling an empty bank with a past, before anybody reads it.
    #[allow(clippy::disallowed_methods, reason = "the wiring: everything else takes a Clock")]
    pub(crate) fn set(&self, at: Timestamp) {
        let ahead = at.as_microsecond().saturating_sub(Timestamp::now().as_microsecond());
        self.ahead.store(ahead, Ordering::Release);
        self.latest.store(at.as_microsecond(), Ordering::Release);
    }
}

/// Another server's clock may be ahead: ours is never behind what the log says has happened.
impl Observer for BankClock {
    fn recorded(&self, events: &[Recorded]) {
        if let Some(last) = events.last() {
            self.latest.fetch_max(last.recorded_at.as_microsecond(), Ordering::AcqRel);
        }
    }
}

impl Clock for BankClock {
    #[allow(clippy::disallowed_methods, reason = "the wiring: everything else takes a Clock")]
    fn now(&self) -> Timestamp {
        let machine = Timestamp::now().as_microsecond();
        let wanted = machine.saturating_add(self.ahead.load(Ordering::Acquire));
        let latest = self.latest.fetch_max(wanted, Ordering::AcqRel).max(wanted);
        micros(Timestamp::from_microsecond(latest).unwrap_or(Timestamp::MAX))
    }
}

/// The operating system's CSPRNG.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[allow(clippy::disallowed_methods, reason = "the wiring: everything else takes an Entropy")]
    fn fill(&self, buffer: &mut [u8]) {
        if aws_lc_rs::rand::fill(buffer).is_err() {
            // Predictable tokens are worse than no server.
            std::process::abort();
        }
    }
}

/// Sources for a server, and the clock in them, which the sandbox may move.
#[must_use]
pub fn system() -> (Sources, Arc<BankClock>) {
    let clock = Arc::new(BankClock::default());
    (Sources { clock: Arc::clone(&clock) as Arc<dyn Clock>, entropy: Arc::new(SystemEntropy) }, clock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_moves_forward_only() {
        let clock = BankClock::default();
        let before = clock.now();
        clock.advance(SignedDuration::from_hours(24));
        let after = clock.now();
        assert!(after.duration_since(before) >= SignedDuration::from_hours(24));
        clock.advance(SignedDuration::from_hours(-48));
        assert!(clock.now() >= after);
    }
}
