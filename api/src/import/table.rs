//! One file: its heading, and its rows one after another.

use std::fs::File;
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use csv::{ByteRecord, StringRecord};
use serde_json::Value;

use super::problems::{Problem, Problems};
use crate::request::{Faults, Field};

/// A file of an import.
#[derive(Debug)]
pub struct Layout {
    /// Its name.
    pub file: &'static str,
    /// The columns it must have.
    pub required: &'static [&'static str],
    /// Those that it may have.
    pub optional: &'static [&'static str],
}

/// Longest id that another bank may have given to something.
const LONGEST_ID: usize = 64;

impl Layout {
    fn columns(&self) -> impl Iterator<Item = &'static str> {
        self.required.iter().chain(self.optional).copied()
    }
}

/// A file that is being read.
pub struct Table {
    layout: &'static Layout,
    reader: csv::Reader<BufReader<File>>,
    /// Where each column of the layout is.
    places: Vec<Option<usize>>,
    width: usize,
    raw: ByteRecord,
    /// Bytes that are behind us, and all of them.
    pub read: u64,
    /// How large the file is.
    pub size: u64,
}

impl Table {
    /// Opens a file of `dir`. None when it is not there, or has no heading that can be used, which is a problem then.
    ///
    /// # Errors
    /// When it is there and cannot be read.
    pub fn open(
        dir: &Path,
        layout: &'static Layout,
        problems: &mut Problems,
    ) -> Result<Option<Self>, std::io::Error> {
        let path: PathBuf = dir.join(layout.file);
        let file = match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let size = file.metadata()?.len();
        let reader = BufReader::with_capacity(1 << 18, file);
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(reader);
        let heading = reader.byte_headers().map_err(std::io::Error::other)?.clone();
        let mut wrong = |column, code, message: String| {
            let (file, line) = (layout.file, 1);
            problems.add(Problem { file, line, column, code, message, expected: None, given: None });
        };
        // What a spreadsheet writes in front of its first column.
        let name =
            |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_start_matches('\u{feff}').trim().to_owned();
        let names: Vec<String> = heading.iter().map(name).collect();
        for (place, name) in names.iter().enumerate() {
            if !layout.columns().any(|column| column == name) {
                wrong("", "UNKNOWN_COLUMN", format!("there is no column {name:?} in this file"));
            } else if names.iter().take(place).any(|other| other == name) {
                wrong("", "REPEATED_COLUMN", format!("{name} is there twice"));
            }
        }
        let places: Vec<Option<usize>> =
            layout.columns().map(|column| names.iter().position(|name| name == column)).collect();
        for (column, place) in layout.required.iter().zip(&places) {
            if place.is_none() {
                wrong(column, "MISSING_COLUMN", "this column is required".to_owned());
            }
        }
        if layout.required.iter().zip(&places).any(|(_, place)| place.is_none()) {
            return Ok(None);
        }
        let width = names.len();
        Ok(Some(Self { layout, reader, places, width, raw: ByteRecord::new(), read: 0, size }))
    }

    /// The next row that can be read as text; those that cannot are problems.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn next(&mut self, problems: &mut Problems) -> Result<Option<Row<'_>>, std::io::Error> {
        loop {
            let more = self.reader.read_byte_record(&mut self.raw).map_err(std::io::Error::other)?;
            self.read = self.reader.position().byte();
            if !more {
                return Ok(None);
            }
            let line = self.raw.position().map_or(0, csv::Position::line);
            let mut wrong = |code, message: String| {
                let (file, column) = (self.layout.file, "");
                problems.add(Problem { file, line, column, code, message, expected: None, given: None });
            };
            if self.raw.len() != self.width {
                wrong("WRONG_WIDTH", format!("{} fields under {} columns", self.raw.len(), self.width));
                continue;
            }
            match StringRecord::from_byte_record(std::mem::take(&mut self.raw)) {
                Ok(record) => {
                    return Ok(Some(Row {
                        layout: self.layout,
                        places: &self.places,
                        line,
                        record,
                        sound: true,
                    }));
                }
                Err(error) => {
                    wrong("NOT_UTF8", "the row is not UTF-8".to_owned());
                    self.raw = error.into_byte_record();
                }
            }
        }
    }

    /// Gives the memory of a row back, for the next.
    pub fn done(&mut self, record: StringRecord) {
        self.raw = record.into_byte_record();
    }
}

/// A row, and whether anything was wrong with it so far.
pub struct Row<'a> {
    layout: &'static Layout,
    places: &'a [Option<usize>],
    /// Its line in the file.
    pub line: u64,
    record: StringRecord,
    sound: bool,
}

impl Row<'_> {
    /// The text under a column of the layout, without white space around it; empty when there is none.
    #[must_use]
    pub fn text(&self, column: &str) -> &str {
        let at = self.layout.columns().position(|name| name == column);
        let place = at.and_then(|at| self.places.get(at).copied().flatten());
        place.and_then(|place| self.record.get(place)).unwrap_or("").trim()
    }

    /// All fields, in the order of the layout: what the row says, whatever the order of the columns.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.places.iter().map(|place| place.and_then(|place| self.record.get(place)).unwrap_or("").trim())
    }

    /// Whether nothing was wrong with it.
    #[must_use]
    pub const fn is_sound(&self) -> bool {
        self.sound
    }

    /// The memory it is in.
    #[must_use]
    pub fn into_record(self) -> StringRecord {
        self.record
    }

    /// Something is wrong with it.
    pub fn wrong(
        &mut self,
        problems: &mut Problems,
        column: &'static str,
        code: &'static str,
        message: impl Into<String>,
    ) {
        self.differs(problems, column, code, message, None);
    }

    /// Something is not what it should be.
    pub fn differs(
        &mut self,
        problems: &mut Problems,
        column: &'static str,
        code: &'static str,
        message: impl Into<String>,
        expected_given: Option<(String, String)>,
    ) {
        self.sound = false;
        let (expected, given) = expected_given.unzip();
        let (file, line) = (self.layout.file, self.line);
        problems.add(Problem { file, line, column, code, message: message.into(), expected, given });
    }

    /// A value that must be there, as a request would hold it.
    pub fn need<T: Field>(&mut self, problems: &mut Problems, column: &'static str) -> Option<T> {
        if self.text(column).is_empty() {
            self.wrong(problems, column, "REQUIRED", "there must be something here");
            return None;
        }
        self.may(problems, column)
    }

    /// A value that may be there.
    pub fn may<T: Field>(&mut self, problems: &mut Problems, column: &'static str) -> Option<T> {
        let text = self.text(column);
        if text.is_empty() {
            return None;
        }
        match T::read(Value::String(text.to_owned())) {
            Ok(value) => Some(value),
            Err(faults) => {
                self.faults(problems, column, faults);
                None
            }
        }
    }

    fn faults(&mut self, problems: &mut Problems, column: &'static str, faults: Faults) {
        for fault in faults {
            self.wrong(problems, column, fault.code, fault.message);
        }
    }

    /// What the other bank calls something: 1 to 64 characters that can be printed.
    pub fn id(&mut self, problems: &mut Problems, column: &'static str) -> Option<String> {
        let text = self.text(column);
        if text.is_empty() {
            self.wrong(problems, column, "REQUIRED", "there must be something here");
            return None;
        }
        if text.len() > LONGEST_ID || text.chars().any(char::is_control) {
            self.wrong(problems, column, "MALFORMED", "expected an id of 1 to 64 characters");
            return None;
        }
        Some(text.to_owned())
    }
}
