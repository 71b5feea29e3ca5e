//! Failed logins: a growing delay for each user name and device, so that a stranger's guesses do not keep the
//! owner out, and an end to guessing a name, from however many devices.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::problem::Problem;

/// Failures before the first delay.
const FREE: u32 = 5;
/// Failures in a row after which no guess is taken until [`FORGET`] has passed.
const MOST: u32 = 100;
/// Tries of one name at the same time: what a crowd of guesses can gain on the delay.
const AT_ONCE: u32 = 16;
/// Longest delay between two tries.
const LONGEST: Duration = Duration::from_secs(300);
/// A name that was left alone this long starts afresh.
const FORGET: Duration = Duration::from_secs(24 * 60 * 60);
/// Names, and names with a device, remembered.
const NAMES: usize = 200_000;

/// Counts tries, in memory.
#[derive(Debug, Default)]
pub struct LoginGuard {
    hasher: RandomState,
    tries: Mutex<HashMap<u64, Tries>>,
}

#[derive(Debug, Clone, Copy)]
struct Tries {
    failed: u32,
    under_way: u32,
    last: Instant,
}

impl Tries {
    /// When a name may be tried with a device again.
    fn device_opens_at(self) -> Instant {
        match self.failed {
            0..FREE => self.last,
            FREE.. => self.last + Duration::from_secs(1 << (self.failed - FREE).min(16)).min(LONGEST),
        }
    }

    /// When a name may be tried at all again.
    fn name_opens_at(self) -> Instant {
        if self.failed < MOST { self.last } else { self.last + FORGET }
    }

    /// Whether forgetting it changes nothing that matters.
    fn is_stale(self, now: Instant) -> bool {
        let kept = if self.failed < MOST { LONGEST } else { FORGET };
        self.under_way == 0 && now.saturating_duration_since(self.last) >= kept
    }
}

/// A try that is under way. Dropped without a word (a client that hangs up) it has failed.
#[derive(Debug)]
pub struct Attempt<'a> {
    guard: &'a LoginGuard,
    /// The name, and the name with the device.
    keys: [u64; 2],
    at: Instant,
    outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Failed,
    Succeeded,
    Void,
}

impl Attempt<'_> {
    /// The password was right: failures before it are forgiven.
    pub fn succeeded(mut self) {
        self.outcome = Outcome::Succeeded;
    }

    /// It came to no answer through no fault of the caller.
    pub fn void(mut self) {
        self.outcome = Outcome::Void;
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut all = self.guard.lock();
        for key in self.keys {
            let Some(tries) = all.get_mut(&key) else { continue };
            tries.under_way = tries.under_way.saturating_sub(1);
            match self.outcome {
                Outcome::Failed => {
                    tries.failed = tries.failed.saturating_add(1);
                    tries.last = self.at;
                }
                Outcome::Succeeded => tries.failed = 0,
                Outcome::Void => {}
            }
        }
    }
}

impl LoginGuard {
    /// Begins a try.
    ///
    /// # Errors
    /// 429 with the seconds to wait.
    pub fn attempt(&self, username: &str, device: &str, now: Instant) -> Result<Attempt<'_>, Problem> {
        let mut all = self.lock();
        if all.len() >= NAMES {
            all.retain(|_, tries| !tries.is_stale(now));
        }
        let keys = [self.hasher.hash_one(username), self.hasher.hash_one((username, device))];
        let tries = keys.map(|key| {
            let tries = all.entry(key).or_insert(Tries { failed: 0, under_way: 0, last: now });
            if now.saturating_duration_since(tries.last) >= FORGET {
                tries.failed = 0;
            }
            *tries
        });
        let [name, with_device] = tries;
        let opens_at = name.name_opens_at().max(with_device.device_opens_at());
        let wait = opens_at.saturating_duration_since(now);
        if !wait.is_zero() {
            return Err(Problem::throttled(wait.as_secs() + 1));
        }
        if name.under_way >= AT_ONCE {
            return Err(Problem::throttled(1));
        }
        for key in keys {
            all.entry(key).and_modify(|tries| tries.under_way += 1);
        }
        Ok(Attempt { guard: self, keys, at: now, outcome: Outcome::Failed })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Tries>> {
        self.tries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sixth_wrong_password_must_wait_and_a_right_one_forgives() {
        let (guard, now) = (LoginGuard::default(), Instant::now());
        for _ in 0..5 {
            drop(guard.attempt("ada", "phone", now).unwrap());
        }
        assert!(guard.attempt("ada", "phone", now).is_err());
        assert!(guard.attempt("bola", "phone", now).is_ok());
        let later = now + Duration::from_secs(1);
        guard.attempt("ada", "phone", later).unwrap().void();
        guard.attempt("ada", "phone", later).unwrap().succeeded();
        assert!(guard.attempt("ada", "phone", now).is_ok());
    }

    #[test]
    fn a_strangers_guesses_do_not_keep_the_owner_out() {
        let (guard, now) = (LoginGuard::default(), Instant::now());
        for _ in 0..5 {
            drop(guard.attempt("ada", "stranger", now).unwrap());
        }
        assert!(guard.attempt("ada", "stranger", now).is_err());
        guard.attempt("ada", "phone", now).unwrap().succeeded();
    }

    #[test]
    fn a_crowd_of_guesses_gains_little() {
        let (guard, now) = (LoginGuard::default(), Instant::now());
        let crowd: Vec<_> = (0..1000).filter_map(|_| guard.attempt("ada", "phone", now).ok()).collect();
        assert_eq!(crowd.len(), 16);
        drop(crowd);
        assert!(guard.attempt("ada", "phone", now + Duration::from_secs(60)).is_err());
    }

    #[test]
    fn nobody_guesses_more_than_a_hundred_times() {
        let (guard, mut now) = (LoginGuard::default(), Instant::now());
        for n in 0..100 {
            now += Duration::from_secs(1);
            drop(guard.attempt("ada", &format!("device {n}"), now).unwrap());
        }
        assert!(guard.attempt("ada", "phone", now + LONGEST).is_err());
        assert!(guard.attempt("ada", "phone", now + FORGET).is_ok());
    }
}
