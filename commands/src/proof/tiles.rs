//! The tree in the store: tiles of 256 hashes (C2SP `tlog-tiles`), level 0 over events, each level over tiles of the one
//! below.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use sqlx::{PgExecutor, PgPool};

use super::merkle::{Frontier, Hash, perfect, root};
use crate::journal::StoreError;

/// Levels of the tree in a tile.
const HEIGHT: u32 = 8;
/// Hashes in a whole tile.
pub(super) const WIDTH: usize = 1 << HEIGHT;

/// Hashes one after the other.
type Tile = Vec<Hash>;

/// A tile's level and its place there.
pub(super) type At = (i16, i64);

/// The right edge of the tree: in each level, what its last tile holds so far.
pub(super) struct Edge {
    size: u64,
    levels: Vec<Tile>,
    /// Tiles that became whole.
    whole: Vec<(At, Tile)>,
}

impl Edge {
    /// Reads the edge of the tree of `size` events.
    ///
    /// # Errors
    /// [`StoreError`], also when a tile is not what was written.
    pub(super) async fn read(executor: impl PgExecutor<'_>, size: u64) -> Result<Self, StoreError> {
        let places: Vec<(At, usize)> = (0..)
            .map(|level| (level, size >> (HEIGHT * level)))
            .take_while(|(_, hashes)| *hashes > 0)
            .map(|(level, hashes)| (at(level, hashes >> HEIGHT), low_bits(hashes)))
            .collect();
        let wanted = places.iter().filter(|(_, hashes)| *hashes > 0).map(|(at, _)| *at);
        let tiles = fetch(executor, wanted).await?;
        let levels = places.iter().map(|(at, hashes)| prefix(&tiles, *at, *hashes).map(<[Hash]>::to_vec));
        Ok(Self { size, levels: levels.collect::<Result<_, _>>()?, whole: Vec::new() })
    }

    /// Adds an event.
    pub(super) fn push(&mut self, leaf: Hash) {
        let (mut hash, mut level) = (leaf, 0);
        loop {
            if self.levels.len() == level {
                self.levels.push(Tile::with_capacity(WIDTH));
            }
            self.levels[level].push(hash);
            if self.levels[level].len() < WIDTH {
                break;
            }
            let tile = std::mem::replace(&mut self.levels[level], Tile::with_capacity(WIDTH));
            let mut inside = Frontier::default();
            inside.extend(tile.iter().copied());
            hash = inside.root();
            let shift = HEIGHT * (u32::try_from(level).unwrap_or(u32::MAX) + 1);
            self.whole.push((at(u32::try_from(level).unwrap_or(u32::MAX), self.size >> shift), tile));
            level += 1;
        }
        self.size += 1;
    }

    /// How many events the tree has.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The root of the tree.
    pub(super) fn root(&self) -> Hash {
        let mut subtrees = Vec::new();
        for tile in self.levels.iter().rev() {
            let mut inside = Frontier::default();
            inside.extend(tile.iter().copied());
            subtrees.extend_from_slice(inside.subtrees());
        }
        root(&subtrees)
    }

    /// What has to be written: the tiles that became whole, and those at the edge.
    pub(super) fn changed(self) -> (Vec<i16>, Vec<i64>, Vec<Vec<u8>>) {
        let size = self.size;
        let edge = (0..).zip(self.levels).filter(|(_, tile)| !tile.is_empty());
        let edge = edge.map(|(level, tile)| (at(level, size >> (HEIGHT * (level + 1))), tile));
        let mut columns = (Vec::new(), Vec::new(), Vec::new());
        for ((level, index), tile) in self.whole.into_iter().chain(edge) {
            columns.0.push(level);
            columns.1.push(index);
            columns.2.push(tile.concat());
        }
        columns
    }
}

/// The hashes of these subtrees of the tree of the log, in their order.
///
/// # Errors
/// [`StoreError`], also when the tree does not reach so far.
pub(super) async fn hashes(pool: &PgPool, subtrees: &[Range<u64>]) -> Result<Vec<Hash>, StoreError> {
    let parts: Vec<Vec<(u32, u64)>> = subtrees.iter().cloned().map(perfect).collect();
    let wanted = parts.iter().flatten().map(|part| place(*part).0);
    let tiles = fetch(pool, wanted).await?;
    let hash = |part: &(u32, u64)| -> Result<Hash, StoreError> {
        let (tile, within) = place(*part);
        let mut inside = Frontier::default();
        inside.extend(prefix(&tiles, tile, within.end)?[within].iter().copied());
        Ok(inside.root())
    };
    let whole = |parts: Vec<(u32, u64)>| -> Result<Hash, StoreError> {
        let hashes: Vec<Hash> = parts.iter().map(hash).collect::<Result<_, _>>()?;
        Ok(root(&hashes))
    };
    parts.into_iter().map(whole).collect()
}

/// The hashes of the events `after < position <= through`, as they were sealed.
///
/// # Errors
/// [`StoreError`], also when the tree does not reach so far.
pub(crate) async fn leaves(pool: &PgPool, leaves: Range<u64>) -> Result<Vec<Hash>, StoreError> {
    let tiles = (leaves.start >> HEIGHT)..=(leaves.end.saturating_sub(1) >> HEIGHT);
    let tiles = fetch(pool, tiles.map(|index| at(0, index))).await?;
    leaves
        .map(|leaf| {
            let (tile, within) = place((0, leaf));
            let hashes = prefix(&tiles, tile, within.end);
            hashes.map(|hashes| hashes[within.start]).map_err(|missing| {
                StoreError::Damaged(format!("position {} has no sealed hash: {missing}", leaf + 1))
            })
        })
        .collect()
}

/// Where a perfect subtree is: its tile, and the hashes in it that make it up.
fn place((level, n): (u32, u64)) -> (At, Range<usize>) {
    let inside = level % HEIGHT;
    let first = n << inside;
    let start = low_bits(first);
    (at(level / HEIGHT, first >> HEIGHT), start..start + (1 << inside))
}

/// The place in a tile.
fn low_bits(n: u64) -> usize {
    // Below 256.
    usize::try_from(n % WIDTH as u64).unwrap_or(0)
}

fn at(level: u32, index: u64) -> At {
    // A log has fewer than 2^63 events, and a tree of them eight levels of tiles.
    (i16::try_from(level).unwrap_or(i16::MAX), i64::try_from(index).unwrap_or(i64::MAX))
}

/// The first `count` hashes of a tile.
fn prefix(tiles: &BTreeMap<At, Tile>, at: At, count: usize) -> Result<&[Hash], StoreError> {
    if count == 0 {
        return Ok(&[]);
    }
    tiles.get(&at).and_then(|tile| tile.get(..count)).ok_or_else(|| {
        StoreError::Damaged(format!("tile {} of level {} has fewer than {count} hashes", at.1, at.0))
    })
}

async fn fetch(
    executor: impl PgExecutor<'_>,
    wanted: impl Iterator<Item = At>,
) -> Result<BTreeMap<At, Tile>, StoreError> {
    let wanted: BTreeSet<At> = wanted.collect();
    let (levels, indices): (Vec<i16>, Vec<i64>) = wanted.into_iter().unzip();
    let rows = sqlx::query!(
        "SELECT t.level, t.index, t.hashes FROM tiles t
           JOIN UNNEST($1::smallint[], $2::bigint[]) AS wanted (level, index)
             ON t.level = wanted.level AND t.index = wanted.index",
        &levels,
        &indices,
    )
    .fetch_all(executor)
    .await?;
    Ok(rows.into_iter().map(|row| ((row.level, row.index), split(&row.hashes))).collect())
}

fn split(bytes: &[u8]) -> Tile {
    bytes.chunks_exact(32).filter_map(|hash| hash.try_into().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::merkle::leaf_hash;
    use super::*;

    #[test]
    fn an_edge_has_the_root_of_the_tree_at_every_size() {
        let mut edge = Edge { size: 0, levels: Vec::new(), whole: Vec::new() };
        let mut tree = Frontier::default();
        for n in 0..70_000_u64 {
            let leaf = leaf_hash(&n.to_be_bytes());
            edge.push(leaf);
            tree.push(leaf);
            if n % 251 == 0 || n > 65_500 && n < 65_600 {
                assert_eq!((edge.root(), edge.size()), (tree.root(), tree.size()), "{n}");
            }
        }
        let (levels, indices, tiles) = edge.changed();
        assert_eq!(levels.iter().filter(|level| **level == 0).count(), 70_000 / 256 + 1);
        assert_eq!(levels.iter().filter(|level| **level == 1).count(), 2);
        assert_eq!(levels.last(), Some(&2));
        assert_eq!((indices.last(), tiles.last().map(Vec::len)), (Some(&0), Some(32)));
    }
}
