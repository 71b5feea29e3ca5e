//! Pages and orders of lists.

use std::str::FromStr;

/// Which part of a list: pages count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// From 1.
    pub page: u32,
    /// Items a page.
    pub size: u32,
}

impl Page {
    /// How many items come before this page.
    #[must_use]
    pub fn offset(self) -> i64 {
        i64::from(self.page.saturating_sub(1)) * i64::from(self.size)
    }

    /// The most items this page can hold.
    #[must_use]
    pub fn limit(self) -> i64 {
        i64::from(self.size)
    }
}

impl Default for Page {
    /// The first twenty.
    fn default() -> Self {
        Self { page: 1, size: 20 }
    }
}

/// One page of a list, and how long the whole list is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paged<T> {
    /// The items of the page; none past the end.
    pub items: Vec<T>,
    /// Items on all pages.
    pub total: i64,
}

impl<T> Default for Paged<T> {
    fn default() -> Self {
        Self { items: Vec::new(), total: 0 }
    }
}

/// The fields a list can be sorted by.
pub trait SortField: Copy + Default + 'static {
    /// Each field by its name in the interface.
    const NAMES: &'static [(&'static str, Self)];
}

/// An order: `amount` is ascending, `-amount` descending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sort<F> {
    /// By which field; ties are broken by identity.
    pub field: F,
    /// Largest first.
    pub descending: bool,
}

impl<F: SortField> Default for Sort<F> {
    /// Newest first.
    fn default() -> Self {
        Self { field: F::default(), descending: true }
    }
}

impl<F> Sort<F> {
    pub(crate) const fn direction(&self) -> &'static str {
        if self.descending { "DESC" } else { "ASC" }
    }
}

/// The list cannot be sorted by that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the list is sorted by one of: {}", allowed.join(", "))]
pub struct UnknownSort {
    /// What it can be sorted by.
    pub allowed: Vec<&'static str>,
}

impl<F: SortField> FromStr for Sort<F> {
    type Err = UnknownSort;

    fn from_str(text: &str) -> Result<Self, UnknownSort> {
        let (name, descending) = text.strip_prefix('-').map_or((text, false), |name| (name, true));
        F::NAMES
            .iter()
            .find(|(allowed, _)| *allowed == name)
            .map(|&(_, field)| Self { field, descending })
            .ok_or_else(|| UnknownSort { allowed: F::NAMES.iter().map(|(allowed, _)| *allowed).collect() })
    }
}

/// `text` as a pattern for `LIKE` that matches it anywhere, its own `%` and `_` meaning themselves.
pub(crate) fn contains(text: &str) -> String {
    format!("%{}", beginning(text))
}

/// `text` as a pattern for `LIKE` that matches what begins with it, its own `%` and `_` meaning themselves.
pub(crate) fn beginning(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 1);
    for letter in text.chars() {
        if matches!(letter, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push('%');
    pattern
}
