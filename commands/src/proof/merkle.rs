//! The Merkle tree of RFC 6962, section 2.1, and its proofs as RFC 9162, section 2.1, verifies them.
//!
//! Subtrees are named by the leaves they cover; leaf `n` is the event at position `n + 1`.

use std::ops::Range;

use aws_lc_rs::digest::{Context, SHA256};

/// SHA-256.
pub type Hash = [u8; 32];

/// The hash of a leaf.
#[must_use]
pub fn leaf_hash(record: &[u8]) -> Hash {
    sha256(&[&[0], record])
}

/// The hash of two subtrees.
#[must_use]
pub fn node_hash(left: &Hash, right: &Hash) -> Hash {
    sha256(&[&[1], left, right])
}

fn sha256(parts: &[&[u8]]) -> Hash {
    let mut context = Context::new(&SHA256);
    parts.iter().for_each(|part| context.update(part));
    let mut hash = [0; 32];
    hash.copy_from_slice(context.finish().as_ref());
    hash
}

/// The hash of a tree whose perfect subtrees, left to right and therefore largest first, have these hashes.
#[must_use]
pub fn root(subtrees: &[Hash]) -> Hash {
    let mut right_to_left = subtrees.iter().rev();
    let Some(last) = right_to_left.next() else { return sha256(&[]) };
    right_to_left.fold(*last, |right, left| node_hash(left, &right))
}

/// A tree that grows at its right end, of which only what is still needed is kept: a hash for each bit of its size.
#[derive(Debug, Clone, Default)]
pub struct Frontier {
    size: u64,
    subtrees: Vec<Hash>,
}

impl Frontier {
    /// Adds a leaf, or the next subtree when all of them have one size.
    pub fn push(&mut self, hash: Hash) {
        let complete = self.size.trailing_ones() as usize;
        // A pair is complete for each bit that the size carries over; the frontier holds one subtree a bit.
        let left = self.subtrees.split_off(self.subtrees.len() - complete);
        self.subtrees.push(left.iter().rev().fold(hash, |right, left| node_hash(left, &right)));
        self.size += 1;
    }

    /// How many were added.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The perfect subtrees, largest first.
    #[must_use]
    pub fn subtrees(&self) -> &[Hash] {
        &self.subtrees
    }

    /// The hash of everything that was added.
    #[must_use]
    pub fn root(&self) -> Hash {
        root(&self.subtrees)
    }
}

impl Extend<Hash> for Frontier {
    fn extend<I: IntoIterator<Item = Hash>>(&mut self, hashes: I) {
        hashes.into_iter().for_each(|hash| self.push(hash));
    }
}

/// Where a tree over `leaves` divides: the largest power of two below their number.
fn middle(leaves: &Range<u64>) -> u64 {
    leaves.start + (1 << (leaves.end - leaves.start - 1).ilog2())
}

/// The subtrees whose hashes prove that leaf `leaf` is in a tree of `size` leaves, from the leaf up.
/// None are needed, and none would do, when it is not.
#[must_use]
pub fn inclusion(leaf: u64, size: u64) -> Vec<Range<u64>> {
    let (mut around, mut path) = (0..size, Vec::new());
    if !around.contains(&leaf) {
        return path;
    }
    while around.end - around.start > 1 {
        let middle = middle(&around);
        if leaf < middle {
            path.push(middle..around.end);
            around.end = middle;
        } else {
            path.push(around.start..middle);
            around.start = middle;
        }
    }
    path.reverse();
    path
}

/// The subtrees whose hashes prove that the tree of `new` leaves begins with the tree of `old` ones, from the bottom up.
#[must_use]
pub fn consistency(old: u64, new: u64) -> Vec<Range<u64>> {
    let (mut around, mut path) = (0..new, Vec::new());
    if old == 0 || old >= new {
        return path;
    }
    while old < around.end {
        let middle = middle(&around);
        if old <= middle {
            path.push(middle..around.end);
            around.end = middle;
        } else {
            path.push(around.start..middle);
            around.start = middle;
        }
    }
    // The old tree is a subtree of the new one: whoever asks has its hash.
    if around.start > 0 {
        path.push(around);
    }
    path.reverse();
    path
}

/// The perfect subtrees of `leaves`, left to right: each as its level (a leaf is at 0) and its number in that level.
#[must_use]
pub fn perfect(leaves: Range<u64>) -> Vec<(u32, u64)> {
    let (mut start, mut subtrees) = (leaves.start, Vec::new());
    while start < leaves.end {
        let fits = (leaves.end - start).ilog2();
        let level = if start == 0 { fits } else { fits.min(start.trailing_zeros()) };
        subtrees.push((level, start >> level));
        start += 1 << level;
    }
    subtrees
}

/// Whether `path` leads from a leaf's hash to the root of the tree of `size` leaves (RFC 9162, section 2.1.3.2).
#[must_use]
pub fn includes(root: &Hash, size: u64, leaf: u64, leaf_hash: Hash, path: &[Hash]) -> bool {
    let sides = inclusion(leaf, size);
    if leaf >= size || sides.len() != path.len() {
        return false;
    }
    let hash = sides.iter().zip(path).fold(leaf_hash, |hash, (side, other)| {
        if side.start > leaf { node_hash(&hash, other) } else { node_hash(other, &hash) }
    });
    hash == *root
}

/// Whether `path` proves that the tree of `new` leaves begins with the one of `old` (RFC 9162, section 2.1.4.2).
#[must_use]
pub fn extends((old, old_root): (u64, &Hash), (new, new_root): (u64, &Hash), path: &[Hash]) -> bool {
    if old == 0 || old >= new {
        return path.is_empty() && (old == 0 || (old == new && old_root == new_root));
    }
    let sides = consistency(old, new);
    if sides.len() != path.len() {
        return false;
    }
    // Where the proof begins: at the old tree itself, or at the last subtree of it.
    let (first, sides, path) = match (sides.first(), path.first()) {
        (Some(side), Some(hash)) if side.end == old => (*hash, &sides[1..], &path[1..]),
        _ => (*old_root, &sides[..], path),
    };
    let (mut was, mut is) = (first, first);
    for (side, other) in sides.iter().zip(path) {
        if side.start >= old {
            is = node_hash(&is, other);
        } else {
            was = node_hash(other, &was);
            is = node_hash(other, &is);
        }
    }
    was == *old_root && is == *new_root
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::hex;

    fn leaves(n: u64) -> Vec<Hash> {
        (0..n).map(|n| leaf_hash(&n.to_be_bytes())).collect()
    }

    /// The definition of RFC 6962, word by word.
    fn mth(leaves: &[Hash]) -> Hash {
        match leaves {
            [] => sha256(&[]),
            [leaf] => *leaf,
            _ => {
                let (left, right) = leaves.split_at(1 << (leaves.len() - 1).ilog2());
                node_hash(&mth(left), &mth(right))
            }
        }
    }

    fn of(leaves: &[Hash], range: &Range<u64>) -> Hash {
        mth(&leaves[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()])
    }

    #[test]
    fn the_roots_of_the_certificate_transparency_test_vectors_come_out() {
        // The inputs and roots that implementations of RFC 6962 share.
        let inputs: [&[u8]; 8] = [
            b"",
            b"\x00",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let mut tree = Frontier::default();
        assert_eq!(hex(&tree.root()), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        tree.push(leaf_hash(inputs[0]));
        assert_eq!(hex(&tree.root()), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
        tree.extend(inputs[1..].iter().map(|input| leaf_hash(input)));
        assert_eq!(hex(&tree.root()), "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328");
    }

    #[test]
    fn a_frontier_has_the_root_of_the_definition_at_every_size() {
        let (leaves, mut tree) = (leaves(300), Frontier::default());
        for n in 0..leaves.len() {
            assert_eq!(tree.root(), mth(&leaves[..n]), "{n}");
            assert_eq!((tree.size(), tree.subtrees().len()), (n as u64, n.count_ones() as usize));
            tree.push(leaves[n]);
        }
    }

    #[test]
    fn every_leaf_of_every_tree_is_proven_and_no_other_is() {
        let leaves = leaves(40);
        for size in 1..=40 {
            let root = of(&leaves, &(0..size));
            for leaf in 0..size {
                let hash = of(&leaves, &(leaf..leaf + 1));
                let path: Vec<Hash> = inclusion(leaf, size).iter().map(|side| of(&leaves, side)).collect();
                assert!(includes(&root, size, leaf, hash, &path), "{leaf} of {size}");
                assert!(!includes(&root, size, leaf, leaf_hash(b"other"), &path));
                assert!(!includes(&root, size, (leaf + 1) % size, hash, &path) || size == 1);
                assert!(!includes(&root, size, size, hash, &path));
                for wrong in 0..path.len() {
                    let mut path = path.clone();
                    path[wrong][0] ^= 1;
                    assert!(!includes(&root, size, leaf, hash, &path));
                    path.remove(wrong);
                    assert!(!includes(&root, size, leaf, hash, &path));
                }
            }
        }
    }

    #[test]
    fn every_tree_extends_every_smaller_one_and_no_other() {
        let leaves = leaves(40);
        for new in 1..=40 {
            let new_root = of(&leaves, &(0..new));
            for old in 0..=new {
                let old_root = of(&leaves, &(0..old));
                let path: Vec<Hash> = consistency(old, new).iter().map(|side| of(&leaves, side)).collect();
                assert!(extends((old, &old_root), (new, &new_root), &path), "{old} {new}");
                let other = leaf_hash(b"other");
                assert!(old == 0 || !extends((old, &other), (new, &new_root), &path), "{old} {new}");
                assert!(old == 0 || !extends((old, &old_root), (new, &other), &path), "{old} {new}");
                for wrong in 0..path.len() {
                    let mut path = path.clone();
                    path[wrong][0] ^= 1;
                    assert!(!extends((old, &old_root), (new, &new_root), &path));
                }
            }
        }
    }

    #[test]
    fn a_range_is_the_sum_of_its_perfect_subtrees() {
        let leaves = leaves(70);
        let ranges = (1..=70).flat_map(|new| (0..new).flat_map(move |old| consistency(old, new)));
        for range in ranges {
            let hashes: Vec<Hash> = perfect(range.clone())
                .into_iter()
                .map(|(level, n)| of(&leaves, &(n << level..(n + 1) << level)))
                .collect();
            assert_eq!(root(&hashes), of(&leaves, &range), "{range:?}");
        }
    }
}
