//! Read models whose rows are kept as they are: a struct whose fields are the table's columns.
//!
//! The cheap way to a read model that is not on the path of every payment. Postgres turns rows into JSON and back
//! (`to_jsonb`, `jsonb_populate_recordset`), so that a column is named once, in the struct, and once, in the migration.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Display;
use std::hash::Hash;

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::types::Json;
use sqlx::{PgConnection, PgPool, Postgres, QueryBuilder};

use crate::page::{Page, Paged};
use crate::read_model::{Mask, Table};

/// Rows held at most between batches; beyond it everything is read anew.
const HELD: usize = 250_000;

/// A row.
pub(crate) trait Record: Serialize + DeserializeOwned + Send + Sync + Unpin + 'static {
    /// The table. Its primary key is one column, or the group's and another.
    const TABLE: &'static Table;
    /// The column that rows are loaded by: an owner's rows come into memory together. It never changes.
    const GROUP: &'static str;
    /// What is in the (last) column of the primary key.
    type Key: Ord + Clone + Display + Send + Sync;
    /// What is in the column of the group.
    type Group: Hash + Ord + Clone + Display + Send + Sync;

    /// The row's key.
    fn key(&self) -> Self::Key;

    /// The row's group.
    fn group(&self) -> Self::Group;
}

/// Rows a fold holds in memory, and what changed since they were last saved.
#[derive(Debug)]
pub(crate) struct Records<R: Record> {
    groups: HashMap<R::Group, BTreeMap<R::Key, Slot<R>>>,
    /// Rows that went.
    removed: BTreeSet<(R::Group, R::Key)>,
    /// Rows that differ from the table's.
    changed: usize,
    /// The groups that are left as they are.
    mask: Mask,
}

#[derive(Debug)]
struct Slot<R> {
    row: R,
    changed: bool,
}

impl<R: Record> Default for Records<R> {
    fn default() -> Self {
        Self { groups: HashMap::new(), removed: BTreeSet::new(), changed: 0, mask: Mask::Nothing }
    }
}

impl<R: Record> Records<R> {
    /// Brings the rows of `groups` into memory, those that are not there yet.
    pub(crate) async fn load(
        &mut self,
        db: &mut PgConnection,
        groups: impl Iterator<Item = R::Group>,
    ) -> sqlx::Result<()> {
        let mut missing = Vec::new();
        for group in groups {
            if let Entry::Vacant(place) = self.groups.entry(group) {
                missing.push(place.key().to_string());
                place.insert(BTreeMap::new());
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let sql = format!("SELECT to_jsonb(t) FROM {} t WHERE {} = ANY($1)", R::TABLE.name, R::GROUP);
        for Json(row) in sqlx::query_scalar::<_, Json<R>>(&sql).bind(&missing).fetch_all(db).await? {
            let group = self.groups.entry(row.group()).or_default();
            group.insert(row.key(), Slot { row, changed: false });
        }
        Ok(())
    }

    /// Leaves groups as they are from now on.
    pub(crate) fn mask(&mut self, mask: &Mask) {
        self.mask = mask.clone();
    }

    fn hides(&self, group: &R::Group) -> bool {
        !self.mask.is_nothing() && self.mask.hides(&group.to_string())
    }

    /// Puts in a row, in the place of one with its key.
    pub(crate) fn insert(&mut self, row: R) {
        if self.hides(&row.group()) {
            return;
        }
        let (group, key) = (row.group(), row.key());
        self.removed.remove(&(group.clone(), key.clone()));
        let before = self.groups.entry(group).or_default().insert(key, Slot { row, changed: true });
        self.changed += usize::from(before.is_none_or(|slot| !slot.changed));
    }

    /// A row.
    pub(crate) fn get(&self, group: &R::Group, key: &R::Key) -> Option<&R> {
        self.groups.get(group)?.get(key).map(|slot| &slot.row)
    }

    /// The rows of a group.
    pub(crate) fn rows(&self, group: &R::Group) -> impl Iterator<Item = &R> {
        self.groups.get(group).into_iter().flat_map(BTreeMap::values).map(|slot| &slot.row)
    }

    /// Changes the rows of a group that `which` names. True when there was one.
    pub(crate) fn change(
        &mut self,
        group: &R::Group,
        which: impl Fn(&R) -> bool,
        mut change: impl FnMut(&mut R),
    ) -> bool {
        if self.hides(group) {
            return false;
        }
        let mut found = false;
        for slot in self.groups.get_mut(group).into_iter().flat_map(BTreeMap::values_mut) {
            if which(&slot.row) {
                change(&mut slot.row);
                self.changed += usize::from(!slot.changed);
                slot.changed = true;
                found = true;
            }
        }
        found
    }

    /// Changes those rows in memory, of whatever group, that `which` names.
    pub(crate) fn change_all(&mut self, which: impl Fn(&R) -> bool, mut change: impl FnMut(&mut R)) {
        let mask = &self.mask;
        let shown = |group: &R::Group| mask.is_nothing() || !mask.hides(&group.to_string());
        let groups = self.groups.iter_mut().filter(|(group, _)| shown(group));
        for slot in groups.flat_map(|(_, rows)| rows.values_mut()) {
            if which(&slot.row) {
                change(&mut slot.row);
                self.changed += usize::from(!slot.changed);
                slot.changed = true;
            }
        }
    }

    /// Takes a row out. True when there was one.
    pub(crate) fn remove(&mut self, group: &R::Group, key: &R::Key) -> bool {
        if self.hides(group) {
            return false;
        }
        let Some(slot) = self.groups.get_mut(group).and_then(|rows| rows.remove(key)) else { return false };
        self.changed -= usize::from(slot.changed);
        self.removed.insert((group.clone(), key.clone()));
        true
    }

    /// Takes all rows of a group out.
    pub(crate) fn remove_all(&mut self, group: &R::Group) {
        let keys: Vec<R::Key> =
            self.groups.get(group).into_iter().flat_map(BTreeMap::keys).cloned().collect();
        for key in &keys {
            self.remove(group, key);
        }
    }

    /// How many rows wait for [`save`](Self::save).
    pub(crate) fn pending(&self) -> usize {
        self.changed + self.removed.len()
    }

    /// Writes what changed since the last time.
    pub(crate) async fn save(&mut self, db: &mut PgConnection) -> sqlx::Result<()> {
        if self.pending() == 0 {
            return Ok(());
        }
        let slots = self.groups.values_mut().flat_map(BTreeMap::values_mut);
        let changed = slots.filter_map(|slot| std::mem::take(&mut slot.changed).then_some(&slot.row));
        let rows: Vec<&R> = changed.collect();
        let removed = self.removed.iter().map(|(group, key)| (group.to_string(), key.to_string()));
        let gone = rows.iter().map(|row| (row.group().to_string(), row.key().to_string())).chain(removed);
        let (groups, keys): (Vec<String>, Vec<String>) = gone.unzip();
        let (table, group, key) = (R::TABLE.name, R::GROUP, key_column::<R>());
        let delete = format!(
            "DELETE FROM {table} t USING UNNEST($1::text[], $2::text[]) AS gone (g, k)
             WHERE t.{group} = gone.g COLLATE \"C\" AND t.{key} = gone.k COLLATE \"C\""
        );
        sqlx::query(&delete).bind(&groups).bind(&keys).execute(&mut *db).await?;
        let insert = format!("INSERT INTO {table} SELECT * FROM jsonb_populate_recordset(NULL::{table}, $1)");
        sqlx::query(&insert).bind(Json(rows)).execute(db).await?;
        self.removed.clear();
        self.changed = 0;
        if self.groups.values().map(BTreeMap::len).sum::<usize>() > HELD {
            self.groups.clear();
        }
        Ok(())
    }
}

/// The column that tells the rows of a group apart.
fn key_column<R: Record>() -> &'static str {
    R::TABLE.key.last().copied().unwrap_or(R::GROUP)
}

/// The groups that have a row with one of `values` in `column`.
pub(crate) async fn groups_with<R: Record>(
    db: &mut PgConnection,
    column: &str,
    values: &[String],
) -> sqlx::Result<Vec<String>> {
    if values.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!("SELECT DISTINCT {} FROM {} WHERE {column} = ANY($1)", R::GROUP, R::TABLE.name);
    sqlx::query_scalar(&sql).bind(values).fetch_all(db).await
}

/// Every row, by key.
pub(crate) async fn all<R: Record>(pool: &PgPool) -> sqlx::Result<Vec<R>> {
    let sql = format!("SELECT to_jsonb(t) FROM {} t ORDER BY {}", R::TABLE.name, key_column::<R>());
    let rows = sqlx::query_scalar::<_, Json<R>>(&sql).fetch_all(pool).await?;
    Ok(rows.into_iter().map(|Json(row)| row).collect())
}

/// The row with this key, whoever's it is.
pub(crate) async fn find<R: Record>(pool: &PgPool, key: &R::Key) -> sqlx::Result<Option<R>> {
    let sql = format!("SELECT to_jsonb(t) FROM {} t WHERE {} = $1", R::TABLE.name, key_column::<R>());
    let row = sqlx::query_scalar::<_, Json<R>>(&sql).bind(key.to_string()).fetch_optional(pool).await?;
    Ok(row.map(|Json(row)| row))
}

/// One page of the rows of `group` that meet the conditions `matching` adds (each beginning with ` AND `), in the
/// order `order` (`column DESC`); ties go by key.
pub(crate) async fn list<R: Record>(
    pool: &PgPool,
    group: &R::Group,
    matching: impl Fn(&mut QueryBuilder<'_, Postgres>),
    order: &str,
    page: Page,
) -> sqlx::Result<Paged<R>> {
    let in_group = |query: &mut QueryBuilder<'_, Postgres>| {
        query.push(format!(" AND {} = ", R::GROUP)).push_bind(group.to_string());
        matching(query);
    };
    list_all(pool, in_group, order, page).await
}

/// One page of the rows that meet the conditions `matching` adds, whosever they are; otherwise as [`list`].
pub(crate) async fn list_all<R: Record>(
    pool: &PgPool,
    matching: impl Fn(&mut QueryBuilder<'_, Postgres>),
    order: &str,
    page: Page,
) -> sqlx::Result<Paged<R>> {
    let wanted = |select: &str| {
        let mut query = QueryBuilder::new(format!("{select} FROM {} t WHERE true", R::TABLE.name));
        matching(&mut query);
        query
    };
    let total = wanted("SELECT count(*)").build_query_scalar().fetch_one(pool).await?;
    let mut rows = wanted("SELECT to_jsonb(t)");
    rows.push(format!(" ORDER BY {order}, {} LIMIT ", key_column::<R>())).push_bind(page.limit());
    rows.push(" OFFSET ").push_bind(page.offset());
    let items: Vec<Json<R>> = rows.build_query_scalar().fetch_all(pool).await?;
    Ok(Paged { items: items.into_iter().map(|Json(row)| row).collect(), total })
}

/// Adds a condition for each value that is wanted: its column has it.
pub(crate) fn equal<const N: usize>(
    query: &mut QueryBuilder<'_, Postgres>,
    wanted: [(&str, Option<String>); N],
) {
    for (column, value) in wanted {
        if let Some(value) = value {
            query.push(format!(" AND {column} = ")).push_bind(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, serde::Deserialize)]
    struct Pet {
        name: String,
        owner: u8,
    }

    impl Record for Pet {
        const TABLE: &'static Table =
            &Table { name: "pets", key: &["name"], position: "position", append_only: false };
        const GROUP: &'static str = "owner";
        type Key = String;
        type Group = u8;

        fn key(&self) -> String {
            self.name.clone()
        }

        fn group(&self) -> u8 {
            self.owner
        }
    }

    fn pet(name: &str, owner: u8) -> Pet {
        Pet { name: name.to_owned(), owner }
    }

    #[test]
    fn a_row_waits_once_however_often_it_changes() {
        let mut pets = Records::default();
        pets.insert(pet("Rex", 1));
        pets.insert(pet("Rex", 1));
        pets.insert(pet("Tom", 2));
        assert_eq!(pets.pending(), 2);
        assert!(pets.change(&1, |_| true, |_| {}));
        assert!(!pets.change(&2, |pet| pet.name == "Rex", |_| {}));
        assert!(!pets.change(&3, |_| true, |_| {}));
        assert_eq!(pets.pending(), 2);
    }

    #[test]
    fn a_row_that_went_waits_to_be_deleted_unless_it_came_back() {
        let mut pets = Records::default();
        pets.insert(pet("Rex", 1));
        assert!(pets.remove(&1, &"Rex".to_owned()));
        assert!(!pets.remove(&1, &"Rex".to_owned()));
        assert_eq!((pets.pending(), pets.removed.len()), (1, 1));
        pets.insert(pet("Rex", 1));
        assert_eq!((pets.pending(), pets.removed.len()), (1, 0));
    }
}
