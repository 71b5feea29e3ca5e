//! Which ids a file has had, however many: beyond a few thousand a part they are on disk, so that memory stays what it is.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, ErrorKind, Read as _, Seek as _, Write as _};

/// Parts that are looked at one after another at the end.
const PARTS: usize = 64;
/// Ids of a part that are kept in memory.
const KEPT: usize = 16_384;
/// Bytes of an id's hash, and of the line it is on.
const ENTRY: usize = 24;

/// The ids seen so far.
pub struct Seen {
    parts: Vec<Part>,
    /// How many ids there are.
    pub count: u64,
}

#[derive(Default)]
struct Part {
    kept: Vec<u8>,
    spilled: Option<File>,
}

impl Seen {
    pub fn new() -> Self {
        Self { parts: (0..PARTS).map(|_| Part::default()).collect(), count: 0 }
    }

    /// One more id, by its hash, and the line it is on.
    pub fn add(&mut self, hash: &[u8; 32], line: u64) -> std::io::Result<()> {
        let place = usize::from(hash.first().copied().unwrap_or(0)) % PARTS;
        self.count += 1;
        let Some(part) = self.parts.get_mut(place) else { return Ok(()) };
        part.kept.extend_from_slice(hash.get(..16).unwrap_or(hash));
        part.kept.extend_from_slice(&line.to_be_bytes());
        if part.kept.len() < KEPT * ENTRY {
            return Ok(());
        }
        if part.spilled.is_none() {
            part.spilled = Some(nameless()?);
        }
        if let Some(file) = &mut part.spilled {
            file.write_all(&part.kept)?;
        }
        part.kept.clear();
        Ok(())
    }

    /// The lines whose ids an earlier line has had, and that earlier line.
    pub fn repeated(self) -> std::io::Result<Vec<(u64, u64)>> {
        let mut repeated = Vec::new();
        for part in self.parts {
            let mut bytes = Vec::new();
            if let Some(mut file) = part.spilled {
                file.rewind()?;
                BufReader::new(file).read_to_end(&mut bytes)?;
            }
            bytes.extend_from_slice(&part.kept);
            let mut entries: Vec<[u8; ENTRY]> =
                bytes.chunks_exact(ENTRY).filter_map(|entry| entry.try_into().ok()).collect();
            // The line is the end of an entry, so that the earliest comes first.
            entries.sort_unstable();
            let mut first: Option<[u8; ENTRY]> = None;
            for entry in entries {
                match first {
                    Some(before) if before[..16] == entry[..16] => {
                        repeated.push((line(&entry), line(&before)));
                    }
                    _ => first = Some(entry),
                }
            }
        }
        repeated.sort_unstable();
        Ok(repeated)
    }
}

fn line(entry: &[u8; ENTRY]) -> u64 {
    entry.iter().skip(16).fold(0, |line, byte| line << 8 | u64::from(*byte))
}

/// A file of the system's directory for such files, that is gone when nobody has it open.
fn nameless() -> std::io::Result<File> {
    for n in 0_u32.. {
        let path = std::env::temp_dir().join(format!("bursar-import-{}-{n}", std::process::id()));
        match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            file => {
                let file = file?;
                std::fs::remove_file(path)?;
                return Ok(file);
            }
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(n: u32) -> [u8; 32] {
        let mut hash = [0; 32];
        hash[..4].copy_from_slice(&n.wrapping_mul(2_654_435_761).to_be_bytes());
        hash
    }

    #[test]
    fn a_repeated_id_is_found_however_many_lie_between() {
        let mut seen = Seen::new();
        // More than are kept in memory.
        let many = u32::try_from(KEPT * PARTS).unwrap() + 50_000;
        for n in 0..many {
            seen.add(&hash(n), u64::from(n) + 2).unwrap();
        }
        seen.add(&hash(7), u64::from(many) + 2).unwrap();
        seen.add(&hash(many - 1), u64::from(many) + 3).unwrap();
        let repeated = seen.repeated().unwrap();
        assert_eq!(repeated, [(u64::from(many) + 2, 9), (u64::from(many) + 3, u64::from(many) + 1)]);
    }

    #[test]
    fn ids_that_differ_are_not_repeated() {
        let mut seen = Seen::new();
        (0..1000).for_each(|n| seen.add(&hash(n), u64::from(n)).unwrap());
        assert_eq!(seen.repeated().unwrap(), []);
    }
}
