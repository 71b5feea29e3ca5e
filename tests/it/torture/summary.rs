//! The table of what `just torture` did: made by it, and by nobody else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::catalogue::{ROWS, Row};

/// What came of a row.
pub struct Outcome {
    pub passed: bool,
    /// What was done how often, as the tests say.
    done: String,
    scale: u64,
    seed: u64,
    took: Duration,
}

impl Outcome {
    /// Of what the tests printed.
    pub fn new(passed: bool, printed: &str, scale: u64, seed: u64, took: Duration) -> Self {
        let mut done: BTreeMap<&str, u64> = BTreeMap::new();
        for line in printed.lines() {
            // The harness may have begun the line.
            let Some((_, said)) = line.split_once("DID ") else { continue };
            let Some((count, what)) = said.split_once(' ') else { continue };
            if let Ok(count) = count.parse::<u64>() {
                *done.entry(what).or_default() += count;
            }
        }
        let done: Vec<String> = done.into_iter().map(|(what, count)| format!("{count} {what}")).collect();
        Self { passed, done: done.join(", "), scale, seed, took }
    }

    fn verdict(&self) -> &'static str {
        if self.passed { "green" } else { "RED" }
    }

    pub fn in_a_line(&self) -> String {
        format!("{} after {} s: {} (TEST_SEED={})", self.verdict(), self.took.as_secs(), self.done, self.seed)
    }
}

const HEAD: [&str; 8] = ["row", "what", "how often", "scale", "seed", "seconds", "day", "verdict"];

const PROSE: &str = "# What `just torture` found

Made by `just torture`, row by row: every fault and attack of the [catalogue](it/torture/catalogue.rs) that is tried at a larger size than
`cargo test` has time for. Scale is that of `TEST_SCALE`; the seed repeats the choices (`TEST_SEED=... just torture ROW`). A row whose scale is
below that of the catalogue was tried, and not yet at full size.
";

/// The table, with what earlier runs said of other rows.
pub struct Summary {
    file: PathBuf,
    rows: BTreeMap<String, Vec<String>>,
}

impl Summary {
    pub fn of(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let cells =
            |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
        let rows: Vec<Vec<String>> = text.lines().filter(|line| line.starts_with("| T")).map(cells).collect();
        Self {
            file: file.to_owned(),
            rows: rows.into_iter().map(|cells| (cells[0].clone(), cells)).collect(),
        }
    }

    pub fn put(&mut self, row: &Row, outcome: Outcome) {
        #[allow(clippy::disallowed_methods, reason = "the day of the run")]
        let day = Timestamp::now().to_string()[..10].to_owned();
        let scale = if outcome.scale == u64::from(row.scale) {
            outcome.scale.to_string()
        } else {
            format!("{} of {}", outcome.scale, row.scale)
        };
        let verdict = outcome.verdict().to_owned();
        let (seed, seconds) = (outcome.seed.to_string(), outcome.took.as_secs().to_string());
        let cells =
            vec![row.id.to_owned(), row.what.to_owned(), outcome.done, scale, seed, seconds, day, verdict];
        self.rows.insert(row.id.to_owned(), cells);
    }

    /// In the order of the catalogue, aligned.
    pub fn write(&self) {
        let rows = ROWS.iter().filter_map(|row| self.rows.get(row.id));
        let mut lines: Vec<Vec<String>> = vec![HEAD.map(str::to_owned).into()];
        lines.extend(rows.cloned());
        let width = |n: usize| lines.iter().map(|cells| cells[n].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..HEAD.len()).map(width).collect();
        let rule = widths.iter().map(|width| "-".repeat(*width)).collect();
        lines.insert(1, rule);
        let mut text = format!("{PROSE}\n");
        for cells in lines {
            let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            text.push_str(&format!("| {} |\n", padded.collect::<Vec<_>>().join(" | ")));
        }
        std::fs::write(&self.file, text).unwrap();
    }
}

#[test]
fn a_summary_keeps_what_was_found_before() {
    let scratch = crate::support::Scratch::new("summary");
    let file = scratch.path().join("TORTURE.md");
    let printed = "TEST_SEED=7\ntest x ... DID 3 kills\nDID 4 kills\nDID 9 other things\nDID it\n";
    let (one, other) = (&ROWS[0], &ROWS[1]);
    for (row, passed) in [(one, true), (other, true), (one, false)] {
        let mut summary = Summary::of(&file);
        summary.put(row, Outcome::new(passed, printed, 2, 7, Duration::from_secs(5)));
        summary.write();
    }
    let text = std::fs::read_to_string(&file).unwrap();
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| T")).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert!(rows.iter().all(|row| row.contains("| 7 kills, 9 other things ")), "{text}");
    assert!(rows[0].contains(one.id) && rows[0].contains("RED") && rows[1].contains("green"), "{text}");
}
