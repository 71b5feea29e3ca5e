//! What the sequencer remembers, in three layers: committed, the batch at hand, the unit at hand.
//!
//! A refused unit drops the top layer, a failed batch the two upper ones: neither leaves a trace.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash};
use std::num::NonZeroUsize;

use lru::LruCache;

/// Hashes the same in every process, so that a simulation evicts in the same order each time. Only for maps that live as long as a
/// batch: nobody can fill them with keys that collide.
pub(super) type Steady = BuildHasherDefault<DefaultHasher>;

/// A bounded map of committed values with two layers of uncommitted ones on top.
#[derive(Debug)]
pub(super) struct Layers<K: Hash + Eq, V> {
    committed: LruCache<K, V>,
    batch: HashMap<K, V, Steady>,
    unit: HashMap<K, V, Steady>,
}

impl<K: Hash + Eq + Clone, V> Layers<K, V> {
    /// Remembers at most `capacity` committed values.
    pub(super) fn new(capacity: NonZeroUsize) -> Self {
        Self { committed: LruCache::new(capacity), batch: HashMap::default(), unit: HashMap::default() }
    }

    /// The value as the unit at hand sees it.
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.unit.get(key).or_else(|| self.batch.get(key)).or_else(|| self.committed.peek(key))
    }

    /// The value as the last commit left it.
    pub(super) fn committed(&self, key: &K) -> Option<&V> {
        self.committed.peek(key)
    }

    /// Whether the value is known; keeps it from being evicted soon.
    pub(super) fn touch(&mut self, key: &K) -> bool {
        self.unit.contains_key(key) || self.batch.contains_key(key) || self.committed.get(key).is_some()
    }

    /// Writes on behalf of the unit at hand.
    pub(super) fn put(&mut self, key: K, value: V) {
        self.unit.insert(key, value);
    }

    /// Remembers a value read from the store.
    pub(super) fn learn(&mut self, key: K, value: V) {
        self.committed.put(key, value);
    }

    /// Forgets a value that another process changed.
    pub(super) fn forget(&mut self, key: &K) {
        self.committed.pop(key);
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.committed.clear();
        self.drop_batch();
    }

    /// The unit stands.
    pub(super) fn keep_unit(&mut self) {
        self.batch.extend(self.unit.drain());
    }

    /// The unit was refused.
    pub(super) fn drop_unit(&mut self) {
        self.unit.clear();
    }

    /// What the batch wrote.
    pub(super) const fn written(&self) -> &HashMap<K, V, Steady> {
        &self.batch
    }

    /// The batch is committed.
    pub(super) fn keep_batch(&mut self) {
        for (key, value) in self.batch.drain() {
            self.committed.put(key, value);
        }
    }

    /// The batch is not committed.
    pub(super) fn drop_batch(&mut self) {
        self.unit.clear();
        self.batch.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers() -> Layers<u8, u8> {
        let mut layers = Layers::new(NonZeroUsize::new(2).unwrap());
        layers.learn(1, 10);
        layers
    }

    #[test]
    fn a_refused_unit_leaves_no_trace() {
        let mut layers = layers();
        layers.put(1, 11);
        layers.keep_unit();
        layers.put(1, 12);
        assert_eq!(layers.get(&1), Some(&12));
        layers.drop_unit();
        assert_eq!(layers.get(&1), Some(&11));
    }

    #[test]
    fn a_failed_batch_leaves_no_trace() {
        let mut layers = layers();
        layers.put(1, 11);
        layers.keep_unit();
        layers.drop_batch();
        assert_eq!(layers.get(&1), Some(&10));
    }

    #[test]
    fn a_committed_batch_is_what_the_next_one_sees() {
        let mut layers = layers();
        layers.put(1, 11);
        layers.keep_unit();
        layers.keep_batch();
        assert_eq!((layers.get(&1), layers.written().len()), (Some(&11), 0));
    }

    #[test]
    fn the_least_used_value_goes_first() {
        let mut layers = layers();
        layers.learn(2, 20);
        assert!(layers.touch(&1));
        layers.learn(3, 30);
        assert_eq!((layers.get(&1), layers.get(&2)), (Some(&10), None));
    }
}
