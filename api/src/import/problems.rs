//! Everything that is wrong with the files, in one report.

use std::collections::BTreeMap;

use serde::Serialize;

/// Problems of one kind that are told in full; the others are counted.
const TOLD: usize = 20;

/// Something that is wrong with a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The file.
    pub file: &'static str,
    /// The line in it, from 1; the heading is the first. 0 when it is not about a line.
    pub line: u64,
    /// The column; empty when it is about the whole row.
    pub column: &'static str,
    /// What kind of problem it is, in upper case.
    pub code: &'static str,
    /// What is wrong, for people. Nothing personal.
    pub message: String,
    /// What it should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if !self.column.is_empty() {
            write!(f, " {}", self.column)?;
        }
        write!(f, ": {} {}", self.code, self.message)?;
        if let (Some(expected), Some(given)) = (&self.expected, &self.given) {
            write!(f, " (expected {expected}, given {given})")?;
        }
        Ok(())
    }
}

/// The problems of one kind.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
pub struct Kind {
    /// How many there are.
    pub count: u64,
    /// The first of them.
    pub first: Vec<Problem>,
}

/// The problems that were found.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Problems(BTreeMap<&'static str, Kind>);

impl Problems {
    /// One more.
    pub fn add(&mut self, problem: Problem) {
        let kind = self.0.entry(problem.code).or_default();
        kind.count += 1;
        if kind.first.len() < TOLD {
            kind.first.push(problem);
        }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.values().map(|kind| kind.count).sum()
    }

    /// All of them, line by line, for a terminal.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().flat_map(|(code, kind)| {
            let more = kind.count - u64::try_from(kind.first.len()).unwrap_or(kind.count);
            let rest = (more > 0).then(|| format!("... and {more} more of {code}"));
            kind.first.iter().map(ToString::to_string).chain(rest)
        })
    }
}
