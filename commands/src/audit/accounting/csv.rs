//! Tables as comma-separated values (RFC 4180), the way that `COPY ... WITH (FORMAT csv, HEADER)` of Postgres takes them:
//! nothing between two commas is no value, two quotation marks are a text that is empty.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::super::BundleError;
use super::super::whole::Whole;
use super::tables::{Cell, Kind, Sink, Table};

/// The SQL that loads the tables.
const LOAD: &str = "load.sql";

/// A file of rows.
pub(super) struct Csv {
    out: Whole,
    line: String,
}

impl Sink for Csv {
    fn begin(dir: &Path, table: &'static Table) -> Result<Self, BundleError> {
        let mut out = Whole::create(dir.join(format!("{}.csv", table.name)))?;
        let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
        out.put(format!("{}\r\n", names.join(",")).as_bytes())?;
        Ok(Self { out, line: String::new() })
    }

    fn row(&mut self, cells: &[Cell<'_>]) -> Result<(), BundleError> {
        self.line.clear();
        for (place, cell) in cells.iter().enumerate() {
            if place > 0 {
                self.line.push(',');
            }
            field(&mut self.line, *cell);
        }
        self.line.push_str("\r\n");
        self.out.put(self.line.as_bytes())
    }

    fn finish(self) -> Result<PathBuf, BundleError> {
        self.out.finish()
    }

    fn beside(dir: &Path, tables: &[&Table]) -> Result<Option<PathBuf>, BundleError> {
        let mut out = Whole::create(dir.join(LOAD))?;
        out.put(load(tables).as_bytes())?;
        out.finish().map(Some)
    }
}

/// Writes a cell. A String takes everything.
fn field(line: &mut String, cell: Cell<'_>) {
    match cell {
        Cell::Empty => {}
        Cell::Whole(number) => line.push_str(&number.to_string()),
        Cell::Time(at) => line.push_str(&at.to_string()),
        Cell::Money(minor, currency) => line.push_str(&currency.decimal(minor.into())),
        Cell::Text(text) if !text.is_empty() && !text.contains(['"', ',', '\r', '\n']) => line.push_str(text),
        Cell::Text(text) => {
            line.push('"');
            line.push_str(&text.replace('"', "\"\""));
            line.push('"');
        }
    }
}

fn load(tables: &[&Table]) -> String {
    let mut sql =
        "-- Loads the tables beside this file into Postgres: psql -d DATABASE -f load.sql, from here.\n\
                   CREATE SCHEMA bursar;\nSET search_path TO bursar;\n"
            .to_owned();
    for table in tables {
        let columns = table.columns.iter().map(|column| {
            let of = match column.kind {
                Kind::Whole => "bigint",
                Kind::Text => "text",
                Kind::Json => "json",
                Kind::Time => "timestamptz",
                Kind::Decimal => "numeric",
            };
            let null = if column.optional { "" } else { " NOT NULL" };
            format!("    {} {of}{null}", column.name)
        });
        let columns: Vec<String> = columns.collect();
        let quoted = |text: &str| text.replace('\'', "''");
        let _ = write!(sql, "\nCREATE TABLE {} (\n{}\n);\n", table.name, columns.join(",\n"));
        let _ = writeln!(sql, "COMMENT ON TABLE {} IS '{}';", table.name, quoted(table.about));
        for column in table.columns {
            let about = quoted(column.about);
            let _ = writeln!(sql, "COMMENT ON COLUMN {}.{} IS '{about}';", table.name, column.name);
        }
        let _ = writeln!(sql, "\\copy {0} FROM '{0}.csv' WITH (FORMAT csv, HEADER)", table.name);
    }
    sql
}
