//! What somebody can do who gets at an export.

use std::fs;
use std::path::{Path, PathBuf};

use bursar_commands::proof::merkle::{Frontier, leaf_hash};
use serde_json::Value;

use super::{Done, Kept};
use crate::support::chance::Chance;

/// How many ways there are.
pub const KINDS: usize = 20;

/// The one file of events of a small bank.
fn events(dir: &Path) -> PathBuf {
    fs::read_dir(dir.join("events")).unwrap().next().unwrap().unwrap().path()
}

/// Its lines, each with its end.
fn lines(dir: &Path) -> Vec<Vec<u8>> {
    let text = zstd::decode_all(&*fs::read(events(dir)).unwrap()).unwrap();
    text.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

fn write(dir: &Path, lines: &[Vec<u8>]) {
    fs::write(events(dir), zstd::encode_all(&*lines.concat(), 3).unwrap()).unwrap();
}

/// The lines of the file of checkpoints.
fn checkpoints(dir: &Path) -> Vec<String> {
    let text = fs::read_to_string(dir.join("checkpoints.jsonl")).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn write_checkpoints(dir: &Path, lines: &[String]) {
    fs::write(dir.join("checkpoints.jsonl"), lines.join("\n") + "\n").unwrap();
}

fn edit(dir: &Path, name: &str, edit: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(dir.join(name)).unwrap();
    edit(&mut bytes);
    fs::write(dir.join(name), bytes).unwrap();
}

fn manifest(dir: &Path, field: &str, value: Value) {
    edit(dir, "bundle.json", |bytes| {
        let mut manifest: Value = serde_json::from_slice(bytes).unwrap();
        manifest[field] = value;
        *bytes = serde_json::to_vec(&manifest).unwrap();
    });
}

/// Does one of them somewhere.
pub fn tamper(kept: &Kept, dir: &Path, kind: usize, chance: &mut Chance) -> Done {
    let newest = kept.newest();
    let p = i64::try_from(chance.between(2, newest.unsigned_abs() - 1)).unwrap();
    let at = usize::try_from(p - 1).unwrap();
    match kind {
        0..=6 => in_events(dir, kind, at, chance),
        7..=9 => in_hashes(dir, kind, at, newest, chance),
        10..=15 => in_checkpoints(kept, dir, kind, p, chance),
        16 => {
            manifest(dir, "origin", "another.example.com/journal".into());
            Done { manifest: true, ..Done::at("origin", 0) }
        }
        17 => {
            // The file of events has its name from it.
            manifest(dir, "events", (newest - 1).into());
            Done::at("fewer events", 1)
        }
        18 => {
            let old = kept.around(p.min(kept.seals[kept.seals.len() - 2])).1;
            cut(dir, old);
            Done::at("cut off whole", old + 1)
        }
        _ => signed_by_an_impostor(kept, dir, at),
    }
}

fn in_events(dir: &Path, kind: usize, at: usize, chance: &mut Chance) -> Done {
    let position = i64::try_from(at + 1).unwrap();
    let mut all = lines(dir);
    let what = match kind {
        0 => {
            let place = usize::try_from(chance.between(0, all[at].len() as u64 - 2)).unwrap();
            all[at][place] ^= 1 << chance.between(0, 6);
            if all[at][place] == b'\n' {
                all[at][place] = b'#';
            }
            format!("byte {place} of an event")
        }
        1 => {
            all.remove(at);
            "an event removed".to_owned()
        }
        2 => {
            all.insert(at, all[at].clone());
            write(dir, &all);
            return Done::at("an event twice", position + 1);
        }
        3 => {
            all.swap(at, at + 1);
            "two events swapped".to_owned()
        }
        4 => {
            all.truncate(at);
            "truncated".to_owned()
        }
        5 => {
            // A file of another number of bytes, or one that unpacks to something else, from some position on.
            let mut packed = fs::read(events(dir)).unwrap();
            packed.truncate(usize::try_from(chance.between(1, packed.len() as u64 - 1)).unwrap());
            fs::write(events(dir), packed).unwrap();
            return Done::within("packed file truncated", 1, i64::try_from(all.len() + 1).unwrap());
        }
        _ => {
            let packed = fs::read(events(dir)).unwrap();
            loop {
                let mut changed = packed.clone();
                let place = usize::try_from(chance.between(0, packed.len() as u64 - 1)).unwrap();
                changed[place] ^= 1 << chance.between(0, 7);
                // Some bits of the format mean nothing.
                if zstd::decode_all(&*changed).ok().as_deref() != Some(&*all.concat()) {
                    fs::write(events(dir), changed).unwrap();
                    let what = format!("byte {place} of the packed file");
                    return Done::within(what, 1, i64::try_from(all.len() + 1).unwrap());
                }
            }
        }
    };
    write(dir, &all);
    Done::at(what, position)
}

fn in_hashes(dir: &Path, kind: usize, at: usize, newest: i64, chance: &mut Chance) -> Done {
    let position = i64::try_from(at + 1).unwrap();
    let byte = usize::try_from(chance.between(0, 31)).unwrap();
    match kind {
        7 => edit(dir, "hashes.bin", |hashes| hashes[at * 32 + byte] ^= 1),
        8 => edit(dir, "hashes.bin", |hashes| hashes.truncate(at * 32 + byte)),
        _ => {
            edit(dir, "hashes.bin", |hashes| hashes.resize(hashes.len() + byte + 1, 7));
            return Done::at("more hashes", newest);
        }
    }
    Done::at("hashes", position)
}

fn in_checkpoints(kept: &Kept, dir: &Path, kind: usize, p: i64, chance: &mut Chance) -> Done {
    let mut all = checkpoints(dir);
    let place = kept.seals.partition_point(|size| *size < p);
    let before = |place: usize| place.checked_sub(1).map_or(0, |before| kept.seals[before]);
    let what = match kind {
        10 => {
            // Anywhere but in the time, which nobody has signed.
            let time = all[place].find("\"sealedAt\"").unwrap()..all[place].find("\"note\"").unwrap();
            let byte = loop {
                let byte = usize::try_from(chance.between(0, all[place].len() as u64 - 1)).unwrap();
                if !time.contains(&byte) && all[place].as_bytes()[byte].is_ascii_alphanumeric() {
                    break byte;
                }
            };
            let other = if all[place].as_bytes()[byte] == b'7' { "8" } else { "7" };
            all[place].replace_range(byte..=byte, other);
            format!("byte {byte} of a checkpoint")
        }
        11 => {
            all.insert(place, all[place].clone());
            write_checkpoints(dir, &all);
            return Done::at("a checkpoint twice", kept.seals[place] + 1);
        }
        12 => {
            let place = place.min(all.len() - 2);
            all.swap(place, place + 1);
            write_checkpoints(dir, &all);
            // The larger one holds; the smaller one behind it cannot.
            return Done::at("checkpoints swapped", kept.seals[place + 1] + 1);
        }
        13 => {
            let cut = usize::try_from(chance.between(1, all[place].len() as u64 - 1)).unwrap();
            let cut = (0..=cut).rev().find(|cut| all[place].is_char_boundary(*cut)).unwrap();
            all[place].truncate(cut);
            all.truncate(place + 1);
            "checkpoints truncated".to_owned()
        }
        14 => {
            all.clear();
            fs::write(dir.join("checkpoints.jsonl"), "").unwrap();
            return Done::at("no checkpoints", 1);
        }
        _ => {
            // The newest is gone: nobody inside the directory vouches for what it was about.
            all.pop();
            write_checkpoints(dir, &all);
            return Done::at("the newest checkpoint removed", kept.seals[kept.seals.len() - 2] + 1);
        }
    };
    write_checkpoints(dir, &all);
    Done::at(what, before(place) + 1)
}

/// Cuts everything behind a checkpoint off, in every file.
fn cut(dir: &Path, size: i64) {
    let events_now = events(dir);
    let mut all = lines(dir);
    all.truncate(usize::try_from(size).unwrap());
    write(dir, &all);
    fs::rename(events_now, dir.join(format!("events/{:012}-{size:012}.jsonl.zst", 1))).unwrap();
    edit(dir, "hashes.bin", |hashes| hashes.truncate(usize::try_from(size).unwrap() * 32));
    let mut kept = checkpoints(dir);
    kept.retain(|line| serde_json::from_str::<Value>(line).unwrap()["size"].as_i64().unwrap() <= size);
    write_checkpoints(dir, &kept);
    manifest(dir, "events", size.into());
}

/// An event is changed, and everything in the directory that says otherwise, the key too.
fn signed_by_an_impostor(kept: &Kept, dir: &Path, at: usize) -> Done {
    let impostor = kept.impostor();
    let mut all = lines(dir);
    let text = String::from_utf8(all[at].clone()).unwrap();
    all[at] = text.replacen("\"actor\":\"", "\"actor\":\"x", 1).into_bytes();
    assert_ne!(all[at], text.as_bytes());
    write(dir, &all);
    let (mut tree, mut hashes, mut checkpoints) = (Frontier::default(), Vec::new(), Vec::new());
    for line in &all {
        let leaf = leaf_hash(line.trim_ascii_end());
        hashes.extend_from_slice(&leaf);
        tree.push(leaf);
        let size = i64::try_from(tree.size()).unwrap();
        if kept.seals.contains(&size) {
            let root = bursar_commands::keys::hex(&tree.root());
            let note = impostor.sign(tree.size(), tree.root());
            let line = serde_json::json!({
                "size": size, "root": root, "sealedAt": "2026-01-31T00:00:00Z", "note": note,
            });
            checkpoints.push(line.to_string());
        }
    }
    fs::write(dir.join("hashes.bin"), hashes).unwrap();
    write_checkpoints(dir, &checkpoints);
    fs::write(dir.join("key.txt"), format!("{}\n", impostor.verifier())).unwrap();
    Done::at("signed by an impostor", 1)
}
