//! The rows of a table that a fold holds in memory from one batch to the next.

use std::collections::HashMap;
use std::hash::Hash;

/// Rows held at most between batches; beyond it the window starts afresh. About 50 MB of accounts.
const HELD: usize = 250_000;

/// Rows by key, and which of them changed since they were last saved.
#[derive(Debug)]
pub(crate) struct Window<K, R> {
    rows: HashMap<K, Slot<R>>,
    changed: Vec<K>,
}

#[derive(Debug)]
struct Slot<R> {
    row: R,
    changed: bool,
}

impl<K, R> Default for Window<K, R> {
    fn default() -> Self {
        Self { rows: HashMap::new(), changed: Vec::new() }
    }
}

impl<K: Hash + Eq + Clone, R> Window<K, R> {
    pub(crate) fn holds(&self, key: &K) -> bool {
        self.rows.contains_key(key)
    }

    /// Puts in a row as the table has it.
    pub(crate) fn loaded(&mut self, key: K, row: R) {
        self.rows.insert(key, Slot { row, changed: false });
    }

    /// Puts in a row the table does not have yet.
    pub(crate) fn insert(&mut self, key: &K, row: R) {
        self.rows.insert(key.clone(), Slot { row, changed: true });
        self.changed.push(key.clone());
    }

    /// The row, to be changed.
    pub(crate) fn change(&mut self, key: &K) -> Option<&mut R> {
        let slot = self.rows.get_mut(key)?;
        if !slot.changed {
            slot.changed = true;
            self.changed.push(key.clone());
        }
        Some(&mut slot.row)
    }

    /// The row, which its owner now saves by itself.
    pub(crate) fn settle(&mut self, key: &K) -> Option<&R> {
        let slot = self.rows.get_mut(key)?;
        slot.changed = false;
        Some(&slot.row)
    }

    /// Whether the row differs from the table's.
    pub(crate) fn has_changed(&self, key: &K) -> bool {
        self.rows.get(key).is_some_and(|slot| slot.changed)
    }

    /// How many rows changed.
    pub(crate) const fn pending(&self) -> usize {
        self.changed.len()
    }

    /// The changed rows.
    pub(crate) fn changed(&self) -> impl Iterator<Item = (&K, &R)> {
        self.changed.iter().filter_map(|key| {
            let slot = self.rows.get(key)?;
            slot.changed.then_some((key, &slot.row))
        })
    }

    /// Every row is saved now. True when the window had grown too large and is empty again.
    pub(crate) fn saved(&mut self) -> bool {
        if self.rows.len() > HELD {
            *self = Self::default();
            return true;
        }
        for key in self.changed.drain(..) {
            if let Some(slot) = self.rows.get_mut(&key) {
                slot.changed = false;
            }
        }
        false
    }
}
