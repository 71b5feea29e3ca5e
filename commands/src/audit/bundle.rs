//! The log as a directory that anybody can check without the bank.
//!
//! ```text
//!   bundle.json                                     what this is, how many events, whose key; written last
//!   key.txt                                         the public key of the checkpoints (C2SP signed-note)
//!   events/000000000001-000000065536.jsonl.zst      an event a line, in order of position
//!   hashes.bin                                      the hash of each of those lines as it was sealed, 32 bytes each
//!   checkpoints.jsonl                               every signed checkpoint
//! ```
//!
//! What is personal stays encrypted in it. An export that was interrupted goes on where it was; one that is repeated later
//! adds what is new.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use bursar_domain::Position;
use serde::{Deserialize, Serialize};
use sqlx::PgPool;

use super::whole::Whole;
use crate::journal::StoreError;
use crate::journal::lines::lines;
use crate::keys::hex;
use crate::proof::note::Verifier;
use crate::proof::{self, Sealed};

/// Events in a file.
pub(super) const EVENTS_PER_FILE: Position = 65_536;
/// Events read at once.
const PAGE: i64 = 4_096;
/// Of zstd: most of what it can do, at hundreds of megabytes a second.
const COMPRESSION: i32 = 3;

/// `bundle.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    /// Of this layout.
    pub(super) version: u32,
    pub(super) origin: String,
    pub(super) events: Position,
}

/// A line of `checkpoints.jsonl`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CheckpointLine {
    pub(super) size: Position,
    pub(super) root: String,
    /// As the bank says; no signature is over it.
    pub(super) sealed_at: jiff::Timestamp,
    pub(super) note: String,
}

/// What was exported.
#[derive(Debug, Clone, Copy)]
pub struct Exported {
    /// Events in the directory.
    pub events: Position,
    /// Events that the log holds and no checkpoint vouches for yet; they are not in the directory.
    pub unsealed: i64,
    /// Checkpoints in the directory.
    pub checkpoints: usize,
}

/// Why nothing was exported.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The directory.
    #[error("{path}: {source}")]
    File {
        /// Which file.
        path: String,
        /// What happened.
        source: std::io::Error,
    },
    /// No checkpoint has been made.
    #[error("no event is sealed yet: a running server seals the log about once a second")]
    NothingSealed,
    /// The directory holds something else.
    #[error("{0} holds the log of another bank")]
    Foreign(String),
    /// Not a bundle.
    #[error("{path}: {reason}")]
    Malformed {
        /// Which file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Tells which file it was.
pub(super) fn at(path: &Path) -> impl Fn(std::io::Error) -> BundleError {
    let path = path.display().to_string();
    move |source| BundleError::File { path: path.clone(), source }
}

/// Exports what is sealed of the log into `dir`. `progress` hears how many events of how many are done.
///
/// # Errors
/// [`BundleError`].
pub async fn export(
    pool: &PgPool,
    verifier: &Verifier,
    dir: &Path,
    progress: &mut (dyn FnMut(i64, i64) + Send),
) -> Result<Exported, BundleError> {
    let newest = proof::checkpoints(pool, 0, 1).await?.pop().ok_or(BundleError::NothingSealed)?;
    let size = newest.size;
    let key = format!("{verifier}\n");
    let key_file = dir.join("key.txt");
    if fs::read_to_string(&key_file).is_ok_and(|there| there != key) {
        return Err(BundleError::Foreign(dir.display().to_string()));
    }
    let events = dir.join("events");
    fs::create_dir_all(&events).map_err(at(&events))?;
    write_whole(key_file, key.as_bytes())?;
    let files = files(size);
    clear(&events, &files)?;
    for (first, last) in files {
        let path = events.join(name(first, last));
        if !path.exists() {
            write_events(pool, path, first, last).await?;
        }
        progress(last, size);
    }
    write_hashes(pool, dir.join("hashes.bin"), size).await?;
    let checkpoints = write_checkpoints(pool, dir.join("checkpoints.jsonl"), size).await?;
    let origin = verifier.name().to_owned();
    let manifest = Manifest { version: 1, origin, events: size };
    let manifest = serde_json::to_vec(&manifest).map_err(|e| StoreError::Damaged(e.to_string()))?;
    write_whole(dir.join("bundle.json"), &manifest)?;
    let head =
        sqlx::query_scalar!("SELECT position FROM head").fetch_one(pool).await.map_err(StoreError::from)?;
    Ok(Exported { events: size, unsealed: head - size, checkpoints })
}

/// The first and the last position of each file.
pub(super) fn files(size: Position) -> Vec<(Position, Position)> {
    let mut files = Vec::new();
    let mut first = 1;
    while first <= size {
        let last = size.min(first + EVENTS_PER_FILE - 1);
        files.push((first, last));
        first = last + 1;
    }
    files
}

/// The name of a file of events.
pub(super) fn name(first: Position, last: Position) -> String {
    format!("{first:012}-{last:012}.jsonl.zst")
}

/// Removes the files that an earlier export could not fill.
fn clear(events: &Path, files: &[(Position, Position)]) -> Result<(), BundleError> {
    let wanted: BTreeSet<String> = files.iter().map(|(first, last)| name(*first, *last)).collect();
    for entry in fs::read_dir(events).map_err(at(events))? {
        let entry = entry.map_err(at(events))?;
        if !wanted.contains(&*entry.file_name().to_string_lossy()) {
            fs::remove_file(entry.path()).map_err(at(&entry.path()))?;
        }
    }
    Ok(())
}

async fn write_events(
    pool: &PgPool,
    path: PathBuf,
    first: Position,
    last: Position,
) -> Result<(), BundleError> {
    let whole = Whole::create(path)?;
    let part = whole.part().to_owned();
    let mut out = zstd::Encoder::new(whole, COMPRESSION).map_err(at(&part))?;
    let mut after = first - 1;
    while after < last {
        let page = lines(pool, after, PAGE.min(last - after)).await?;
        for (position, line) in &page {
            // What is missing shows when the bundle is checked; what follows the file's last event is not its business.
            if *position <= last {
                out.write_all(line).and_then(|()| out.write_all(b"\n")).map_err(at(&part))?;
            }
            after = *position;
        }
        if page.is_empty() {
            break;
        }
    }
    out.finish().map_err(at(&part))?.finish()?;
    Ok(())
}

async fn write_hashes(pool: &PgPool, path: PathBuf, size: Position) -> Result<(), BundleError> {
    let mut out = Whole::create(path)?;
    for (first, last) in files(size) {
        let leaves = (first - 1).unsigned_abs()..last.unsigned_abs();
        out.put(&proof::leaves(pool, leaves).await?.concat())?;
    }
    out.finish()?;
    Ok(())
}

async fn write_checkpoints(pool: &PgPool, path: PathBuf, size: Position) -> Result<usize, BundleError> {
    let mut out = Whole::create(path)?;
    let (mut after, mut written) = (0, 0);
    loop {
        let page = proof::checkpoints_after(pool, after, size, PAGE).await?;
        for Sealed { size, root, sealed_at, note } in &page {
            let line =
                CheckpointLine { size: *size, root: hex(root), sealed_at: *sealed_at, note: note.clone() };
            let line = serde_json::to_string(&line).map_err(|e| StoreError::Damaged(e.to_string()))?;
            out.put(format!("{line}\n").as_bytes())?;
        }
        written += page.len();
        let Some(last) = page.last() else { break };
        after = last.size;
    }
    out.finish()?;
    Ok(written)
}

fn write_whole(path: PathBuf, content: &[u8]) -> Result<(), BundleError> {
    let mut out = Whole::create(path)?;
    out.put(content)?;
    out.finish()?;
    Ok(())
}
