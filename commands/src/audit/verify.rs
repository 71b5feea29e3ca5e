//! Checks an exported log with nothing but its directory: no server, no database, no network.
//!
//! Each line in turn: it stands where it must, its hash is the one that was sealed, the tree over everything so far has
//! the root that was signed wherever a checkpoint says one, the ledger accepts its postings and arrives at the balances it
//! carries. The first thing that is not so ends it, with the position it shows at.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use bursar_domain::codec::Codec;
use bursar_domain::{Position, Recorded};

use super::bundle::{BundleError, CheckpointLine, Manifest, at, files, name};
use super::replay::{Rebuilt, difference};
use super::{Difference, Report};
use crate::journal::lines::Line;
use crate::keys::hex;
use crate::proof::merkle::{Frontier, Hash, leaf_hash};
use crate::proof::note::Verifier;
use crate::proof::position;

/// Bytes a line may have; an event has a few thousand.
const LONGEST_LINE: u64 = 16 * 1024 * 1024;

/// What a checker brings along, so that nothing has to be taken from the directory.
#[derive(Debug, Clone, Default)]
pub struct Trusted {
    /// The bank's public key; without one, the directory's own is believed.
    pub key: Option<Verifier>,
    /// Signed checkpoints that were kept outside the bank.
    pub notes: Vec<String>,
}

/// What was found in a directory.
#[derive(Debug, Clone)]
pub struct Verified {
    /// What every replay finds.
    pub report: Report,
    /// The key that vouches for the checkpoints.
    pub key: Verifier,
    /// Checkpoints whose signature and root are right.
    pub checkpoints: usize,
    /// Of those, the ones that were brought along.
    pub outside: usize,
    /// The root of the whole tree.
    pub root: Hash,
}

/// Checks the bundle in `dir`. `progress` hears how many events of how many are done.
///
/// # Errors
/// [`BundleError`] when it is not a bundle at all; a bundle that was tampered with is a difference, not an error.
pub fn verify(
    dir: &Path,
    trusted: &Trusted,
    progress: &mut dyn FnMut(i64, i64),
) -> Result<Verified, BundleError> {
    let manifest: Manifest = json(&dir.join("bundle.json"))?;
    let key = match &trusted.key {
        Some(key) => key.clone(),
        None => own_key(&dir.join("key.txt"))?,
    };
    if manifest.version != 1 {
        return Err(malformed(&dir.join("bundle.json"), "another version of this layout"));
    }
    if manifest.origin != key.name() {
        return Err(malformed(&dir.join("bundle.json"), format!("not the log of {}", key.name())));
    }
    let mut checking = Checking::new(key, manifest.events);
    let difference = checking.run(dir, trusted, progress)?.err();
    let Checking { rebuilt, tree, key, checkpoints, outside, .. } = checking;
    let events = position(tree.size());
    let mut report = Report { events, difference, ..Report::default() };
    report.accounts = rebuilt.accounts();
    report.aggregates = rebuilt.aggregates();
    rebuilt.balance(&mut report);
    Ok(Verified { report, key, checkpoints, outside, root: tree.root() })
}

fn own_key(path: &Path) -> Result<Verifier, BundleError> {
    let text = std::fs::read_to_string(path).map_err(at(path))?;
    text.parse().map_err(|e: crate::proof::note::BadKey| malformed(path, e))
}

fn malformed(path: &Path, reason: impl ToString) -> BundleError {
    BundleError::Malformed { path: path.display().to_string(), reason: reason.to_string() }
}

fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, BundleError> {
    let bytes = std::fs::read(path).map_err(at(path))?;
    serde_json::from_slice(&bytes).map_err(|e| malformed(path, e))
}

/// How far the check is.
struct Checking {
    key: Verifier,
    events: Position,
    rebuilt: Rebuilt,
    codec: Codec,
    tree: Frontier,
    /// The size of the last checkpoint that held.
    held: Position,
    checkpoints: usize,
    outside: usize,
}

/// A promise still to be held against the tree.
struct Promise {
    size: Position,
    root: Hash,
    outside: bool,
}

/// Every promise up to the first checkpoint that is not one, smallest first, and what is wrong with that.
struct Promises {
    good: Vec<Promise>,
    broken: Option<Difference>,
}

impl Checking {
    fn new(key: Verifier, events: Position) -> Self {
        let (rebuilt, codec, tree) = (Rebuilt::default(), Codec::default(), Frontier::default());
        Self { key, events, rebuilt, codec, tree, held: 0, checkpoints: 0, outside: 0 }
    }

    /// The whole check: the outer error is a directory that cannot be read, the inner one what was tampered with.
    fn run(
        &mut self,
        dir: &Path,
        trusted: &Trusted,
        progress: &mut dyn FnMut(i64, i64),
    ) -> Result<Result<(), Difference>, BundleError> {
        let Promises { good, broken } = self.promises(&dir.join("checkpoints.jsonl"), trusted)?;
        let mut promises = good.into_iter().peekable();
        let hashes = dir.join("hashes.bin");
        let mut hashes = BufReader::new(File::open(&hashes).map_err(at(&hashes))?);
        for (first, last) in files(self.events) {
            let path = dir.join("events").join(name(first, last));
            let Ok(file) = File::open(&path) else {
                return Ok(Err(difference(first, path.display(), "a file of events", "none")));
            };
            let mut lines = BufReader::new(zstd::Decoder::new(file).map_err(at(&path))?);
            for position in first..=last {
                if let Some(broken) = broken.as_ref().filter(|broken| broken.position <= position) {
                    return Ok(Err(broken.clone()));
                }
                let mut sealed = [0; 32];
                if hashes.read_exact(&mut sealed).is_err() {
                    return Ok(Err(difference(position, "hashes.bin", "a hash of the event", "none")));
                }
                let checked = self.line(position, &mut lines, &sealed);
                let checked = checked.and_then(|()| {
                    while let Some(promise) = promises.next_if(|promise| promise.size <= position) {
                        self.hold(&promise)?;
                    }
                    Ok(())
                });
                if checked.is_err() {
                    return Ok(checked);
                }
            }
            if lines.read(&mut [0]).unwrap_or(1) > 0 {
                return Ok(Err(difference(last, path.display(), "the end of the file", "more events")));
            }
            progress(last, self.events);
        }
        if hashes.read(&mut [0]).unwrap_or(1) > 0 {
            return Ok(Err(difference(self.events, "hashes.bin", "the end of the file", "more hashes")));
        }
        Ok(broken.map_or(Ok(()), Err).and_then(|()| self.end(promises.next())))
    }

    /// The checkpoints of the directory and from outside.
    fn promises(&self, path: &Path, trusted: &Trusted) -> Result<Promises, BundleError> {
        let (mut good, mut broken, mut before) = (Vec::new(), None, 0);
        for line in BufReader::new(File::open(path).map_err(at(path))?).split(b'\n') {
            match self.promise(&line.map_err(at(path))?, before) {
                Ok(promise) => {
                    before = promise.size;
                    good.push(promise);
                }
                Err(difference) => {
                    broken = Some(difference);
                    break;
                }
            }
        }
        for note in &trusted.notes {
            match self.key.open(note) {
                Ok(signed) => {
                    good.push(Promise { size: position(signed.size), root: signed.root, outside: true });
                }
                Err(bad) => {
                    broken = Some(difference(0, "a checkpoint from outside", "signed by the bank", bad));
                }
            }
        }
        good.sort_by_key(|promise| promise.size);
        Ok(Promises { good, broken })
    }

    /// The checkpoint in a line, which follows the one over `before` events. What is wrong with it shows at the first
    /// event that it alone is about.
    fn promise(&self, line: &[u8], before: Position) -> Result<Promise, Difference> {
        let subject = format!("the checkpoint after event {before}");
        let wrong = |expected: &str, found: String| difference(before + 1, &subject, expected, found);
        let line: CheckpointLine =
            serde_json::from_slice(line).map_err(|e| wrong("one that can be read", e.to_string()))?;
        let signed = self.key.open(&line.note).map_err(|bad| wrong("signed by the bank", bad.to_string()))?;
        let (size, root) = (position(signed.size), signed.root);
        if (line.size, &line.root) != (size, &hex(&root)) {
            return Err(wrong(&format!("{size} {}", hex(&root)), format!("{} {}", line.size, line.root)));
        }
        if size <= before {
            return Err(wrong("a larger one", size.to_string()));
        }
        Ok(Promise { size, root, outside: false })
    }

    /// One line: its place, its hash, and what it says.
    fn line(&mut self, position: Position, lines: &mut dyn BufRead, sealed: &Hash) -> Result<(), Difference> {
        let mut text = Vec::new();
        let read = lines.take(LONGEST_LINE).read_until(b'\n', &mut text);
        if read.is_err() || text.pop() != Some(b'\n') {
            return Err(difference(position, "the log", "an event", "none, or one that cannot be read"));
        }
        let unreadable = |reason: String| difference(position, "the log", "a readable event", reason);
        let line: Line<'_> = serde_json::from_slice(&text).map_err(|e| unreadable(e.to_string()))?;
        if line.position != position {
            return Err(difference(position, "the log", position, line.position));
        }
        let hash = leaf_hash(&text);
        if hash != *sealed {
            return Err(difference(position, "the hash of the event", hex(sealed), hex(&hash)));
        }
        self.tree.push(hash);
        let recorded = self.decode(&line).map_err(unreadable)?;
        self.rebuilt.take_one(&recorded)
    }

    fn decode(&self, line: &Line<'_>) -> Result<Recorded, String> {
        self.codec.read(&line.stored()).map_err(|e| e.to_string())
    }

    /// Holds a signed checkpoint against the tree over as many events.
    fn hold(&mut self, promise: &Promise) -> Result<(), Difference> {
        let Promise { size, root: signed, outside } = *promise;
        let root = self.tree.root();
        if signed != root {
            let subject = format!("the checkpoint over events {} to {size}", (self.held + 1).min(size));
            return Err(difference(size, subject, hex(&signed), hex(&root)));
        }
        // The directory has to vouch for itself, too.
        if !outside {
            self.held = size;
        }
        self.checkpoints += 1;
        self.outside += usize::from(outside);
        Ok(())
    }

    /// The last event is sealed, and nothing is promised beyond it.
    fn end(&self, next: Option<Promise>) -> Result<(), Difference> {
        if let Some(promise) = next {
            let missing = format!("events {} to {}", self.events + 1, promise.size);
            return Err(difference(self.events + 1, missing, "in the log, as a checkpoint says", "none"));
        }
        if self.held != self.events {
            return Err(difference(self.held + 1, "the log", "a checkpoint over every event", "none"));
        }
        Ok(())
    }
}
