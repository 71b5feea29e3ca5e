//! Failed logins: a growing delay for each user name, and an end to guessing.

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
/// Names remembered.
const NAMES: usize = 100_000;

/// Counts tries per user name, in memory.
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
    fn opens_at(self) -> Instant {
        match self.failed {
            0..FREE => self.last,
            FREE..MOST => self.last + Duration::from_secs(1 << (self.failed - FREE).min(16)).min(LONGEST),
            MOST.. => self.last + FORGET,
        }
    }
}

/// A try that is under way. Dropped without a word (a client that hangs up) it has failed.
#[derive(Debug)]
pub struct Attempt<'a> {
    guard: &'a LoginGuard,
    name: u64,
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
        if let Some(tries) = self.guard.lock().get_mut(&self.name) {
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
    pub fn attempt(&self, username: &str, now: Instant) -> Result<Attempt<'_>, Problem> {
        let mut tries = self.lock();
        if tries.len() >= NAMES {
            tries.retain(|_, t| t.under_way > 0 || now.saturating_duration_since(t.last) < LONGEST);
        }
        let name = self.hasher.hash_one(username);
        let entry = tries.entry(name).or_insert(Tries { failed: 0, under_way: 0, last: now });
        if now.saturating_duration_since(entry.last) >= FORGET {
            entry.failed = 0;
        }
        let wait = entry.opens_at().saturating_duration_since(now);
        if !wait.is_zero() {
            return Err(Problem::throttled(wait.as_secs() + 1));
        }
        if entry.under_way >= AT_ONCE {
            return Err(Problem::throttled(1));
        }
        entry.under_way += 1;
        Ok(Attempt { guard: self, name, at: now, outcome: Outcome::Failed })
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
            drop(guard.attempt("ada", now).unwrap());
        }
        assert!(guard.attempt("ada", now).is_err());
        assert!(guard.attempt("bola", now).is_ok());
        let later = now + Duration::from_secs(1);
        guard.attempt("ada", later).unwrap().void();
        guard.attempt("ada", later).unwrap().succeeded();
        assert!(guard.attempt("ada", now).is_ok());
    }

    #[test]
    fn a_crowd_of_guesses_gains_little() {
        let (guard, now) = (LoginGuard::default(), Instant::now());
        let crowd: Vec<_> = (0..1000).filter_map(|_| guard.attempt("ada", now).ok()).collect();
        assert_eq!(crowd.len(), 16);
        drop(crowd);
        assert!(guard.attempt("ada", now + Duration::from_secs(60)).is_err());
    }

    #[test]
    fn nobody_guesses_more_than_a_hundred_times() {
        let (guard, mut now) = (LoginGuard::default(), Instant::now());
        for _ in 0..100 {
            now += LONGEST;
            drop(guard.attempt("ada", now).unwrap());
        }
        assert!(guard.attempt("ada", now + LONGEST).is_err());
        assert!(guard.attempt("ada", now + FORGET).is_ok());
    }
}
