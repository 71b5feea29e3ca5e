//! A dataset in memory.

use std::collections::HashMap;

use super::ReferenceError;

/// A row that can be looked up.
pub trait Entry {
    /// What names it; unique in its dataset.
    fn code(&self) -> &str;

    /// What people call it.
    fn name(&self) -> &str;
}

/// The rows of a dataset: in the order of their names, and by code.
#[derive(Debug, Clone)]
pub struct Dataset<T> {
    rows: Vec<T>,
    places: HashMap<String, usize>,
}

impl<T: Entry> Dataset<T> {
    /// The dataset of these rows.
    ///
    /// # Errors
    /// [`ReferenceError::Duplicate`].
    pub fn new(mut rows: Vec<T>) -> Result<Self, ReferenceError> {
        rows.sort_by_cached_key(|row| (row.name().to_lowercase(), row.code().to_owned()));
        let mut places = HashMap::with_capacity(rows.len());
        for (place, row) in rows.iter().enumerate() {
            if places.insert(row.code().to_owned(), place).is_some() {
                return Err(ReferenceError::Duplicate(row.code().to_owned()));
            }
        }
        Ok(Self { rows, places })
    }

    /// The row with this code.
    #[must_use]
    pub fn get(&self, code: &str) -> Option<&T> {
        self.places.get(code).and_then(|place| self.rows.get(*place))
    }

    /// All rows, in the order of their names.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.rows.iter()
    }

    /// The row that `code`, a row of another dataset, names.
    pub(super) fn named_by(&self, code: &str, named: &str) -> Result<&T, ReferenceError> {
        let dangling = || ReferenceError::Dangling { code: code.to_owned(), missing: named.to_owned() };
        self.get(named).ok_or_else(dangling)
    }
}
