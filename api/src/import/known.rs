//! Which rows the log has already, asked many at a time.

use std::collections::HashMap;

use bursar_commands::journal::imported::{Came, origins};
use bursar_domain::Kind;

use super::problems::{Problem, Problems};
use super::table::Layout;
use super::{Import, ImportError};

/// Rows that are asked about at once.
pub const ASKED: usize = 4_000;

/// A row, as the log would have it.
pub struct Asked {
    /// The id of what it is.
    pub id: String,
    /// What stands for all that it says.
    pub print: String,
    /// Its line.
    pub line: u64,
    /// What the other bank calls its account, where it is a transaction.
    pub account: String,
}

/// What the log says of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// Nothing.
    New,
    /// It was taken over, and said the same.
    Known,
    /// It was taken over, and said something else; or it is something else.
    Changed,
}

/// What the log says of these rows, in order.
///
/// # Errors
/// When the bank cannot be asked.
pub async fn ask(import: &Import<'_>, kind: Kind, rows: &[Asked]) -> Result<Vec<Answer>, ImportError> {
    let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
    let found: HashMap<String, Came> = origins(import.pool, kind, &ids).await?;
    Ok(rows
        .iter()
        .map(|row| match found.get(&row.id) {
            None => Answer::New,
            Some(came) if came.row.as_deref() == Some(&row.print) => Answer::Known,
            Some(_) => Answer::Changed,
        })
        .collect())
}

/// Says that a row was taken over, and said something else.
pub fn changed(problems: &mut Problems, layout: &'static Layout, line: u64) {
    let message = "it was taken over, and said something else: what is in the bank's log stays".to_owned();
    let (file, column, code) = (layout.file, "id", "CHANGED");
    problems.add(Problem { file, line, column, code, message, expected: None, given: None });
}
