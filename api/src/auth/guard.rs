//! Failed logins: a growing delay for each user name and device, so that a stranger's guesses do not keep the
//! owner out, and an end to guessing a name, from however many devices. Counted by all servers together.

use bursar_commands::journal::counters::{self, CounterKey, Slowing};

use crate::limits::Shared;
use crate::problem::Problem;

/// Microseconds.
const SECOND: i64 = 1_000_000;
/// A name that was left alone this long starts afresh.
const FORGET: i64 = 24 * 60 * 60 * SECOND;
/// Five failures from a device are free; then it waits, from a second up to five minutes.
const DEVICE: Slowing = Slowing { free: 5, first: SECOND, longest: 300 * SECOND, forget: FORGET };
/// After a hundred failures in a row a name is not guessed at any more, until it was left alone for a day.
const NAME: Slowing = Slowing { free: 100, first: FORGET, longest: FORGET, forget: FORGET };

/// Counts tries.
pub struct LoginGuard(Shared);

/// A try that is under way. It has been counted as a failure already, so that tries made at once are all counted, and one
/// whose client hangs up is.
#[must_use = "a try that is not said to have succeeded has failed"]
pub struct Attempt<'a> {
    guard: &'a LoginGuard,
    /// The name with the device, and the name.
    keys: [CounterKey; 2],
}

impl Attempt<'_> {
    /// The password was right: failures before it are forgiven.
    pub async fn succeeded(self) {
        if let Err(error) = counters::forgive(&self.guard.0.pool, self.keys).await {
            // They are logged in; the worst is a delay the next time.
            tracing::warn!(%error, "failed logins cannot be forgiven");
        }
    }

    /// It came to no answer through no fault of the caller.
    pub async fn void(self) {
        if let Err(error) = counters::unguess(&self.guard.0.pool, self.keys).await {
            tracing::warn!(%error, "a login that was not looked at counts as failed");
        }
    }
}

impl LoginGuard {
    /// Forgives the failures under a name, on whichever devices: it was proven otherwise who they are.
    pub async fn forgive(&self, username: &str) {
        let key = self.0.keys.of(&["guess", username]);
        if let Err(error) = counters::forgive(&self.0.pool, [key, key]).await {
            tracing::warn!(%error, "failed logins cannot be forgiven");
        }
    }

    /// A guard that counts there.
    #[must_use]
    pub const fn new(shared: Shared) -> Self {
        Self(shared)
    }

    /// Begins a try.
    ///
    /// # Errors
    /// 429 with the seconds to wait; 503 when it cannot be counted.
    pub async fn attempt(&self, username: &str, device: &str) -> Result<Attempt<'_>, Problem> {
        let Shared { pool, keys, .. } = &self.0;
        let keys = [keys.of(&["guess", username, device]), keys.of(&["guess", username])];
        let now = self.0.now();
        let [own, all] = keys;
        match counters::guess(pool, (own, DEVICE), (all, NAME), now).await? {
            Ok(()) => Ok(Attempt { guard: self, keys }),
            Err(opens_at) => {
                let wait = opens_at.saturating_sub(now).max(0) / SECOND + 1;
                Err(Problem::throttled(wait.unsigned_abs()))
            }
        }
    }
}
