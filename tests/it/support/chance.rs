//! Chance that can be had again, and how often it is tried.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// SplitMix64: good enough for delays and choices. `TEST_SEED=7 cargo test ...` repeats a run's choices.
pub struct Chance(u64);

impl Chance {
    /// Of `TEST_SEED`, else of the time; prints which.
    pub fn new() -> Self {
        Self::of(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos().into())
    }

    /// Of `TEST_SEED`, else of `seed`; prints which.
    pub fn of(seed: u64) -> Self {
        let given = std::env::var("TEST_SEED").ok();
        let seed = given.map_or(seed, |seed| seed.parse().expect("TEST_SEED is a number"));
        println!("TEST_SEED={seed}");
        Self(seed)
    }

    /// Of a seed that another chance drew.
    pub const fn quietly(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// `least..=most`.
    pub fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    /// One of `all`.
    pub fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[usize::try_from(self.between(0, all.len() as u64 - 1)).unwrap()]
    }

    pub fn millis(&mut self, least: u64, most: u64) -> Duration {
        Duration::from_millis(self.between(least, most))
    }
}

/// How often something is done: `TEST_SCALE` times what a usual run has time for.
pub fn scaled(count: usize) -> usize {
    let scale = std::env::var("TEST_SCALE").ok();
    count * scale.map_or(1, |scale| scale.parse().expect("TEST_SCALE is a whole number"))
}

/// Says what was done how often, for the table of `just torture`.
pub fn did(count: usize, what: &str) {
    println!("DID {count} {what}");
}
