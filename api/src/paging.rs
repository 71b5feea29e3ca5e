//! The `pagination` object of lists.

use bursar_projections::Page;
use serde::Serialize;
use utoipa::ToSchema;

/// Which part of a list this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Pagination {
    /// From 1.
    page: u32,
    /// Items a page, after clamping.
    size: u32,
    /// Items on all pages.
    total: i64,
    has_next: bool,
    has_previous: bool,
}

impl Pagination {
    /// Page `page` of a list of `total` items.
    #[must_use]
    pub fn of(page: Page, total: i64) -> Self {
        Self {
            page: page.page,
            size: page.size,
            total,
            has_next: page.offset().saturating_add(page.limit()) < total,
            has_previous: page.page > 1,
        }
    }

    /// What of `all`, a list in memory, is on page `page`.
    pub fn cut<T>(page: Page, all: impl Iterator<Item = T>) -> (Vec<T>, Self) {
        let all: Vec<T> = all.collect();
        let pagination = Self::of(page, i64::try_from(all.len()).unwrap_or(i64::MAX));
        let whole = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
        let items = all.into_iter().skip(whole(page.offset())).take(whole(page.limit())).collect();
        (items, pagination)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_page_has_no_next() {
        let of = |page, total| {
            let p = Pagination::of(Page { page, size: 20 }, total);
            (p.has_next, p.has_previous)
        };
        assert_eq!(of(1, 0), (false, false));
        assert_eq!(of(1, 21), (true, false));
        assert_eq!(of(2, 40), (false, true));
        assert_eq!(of(9, 40), (false, true));
    }

    #[test]
    fn a_list_in_memory_is_cut_as_one_in_a_table() {
        let cut = |page, size| Pagination::cut(Page { page, size }, 1..=5);
        assert_eq!(cut(1, 2), (vec![1, 2], Pagination::of(Page { page: 1, size: 2 }, 5)));
        assert_eq!(cut(3, 2).0, [5]);
        assert!(cut(4, 2).0.is_empty());
        assert!(cut(u32::MAX, 100).0.is_empty());
    }
}
