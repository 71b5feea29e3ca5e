//! Comparing a live table with the one rebuilt beside it.

use bursar_domain::Position;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{PgConnection, Row};

use super::shadow::Shadow;
use crate::read_model::Table;

/// Rows described at most, for each table.
const SHOWN: i64 = 100;

/// A row that is not what the log says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diff {
    /// The table.
    pub table: &'static str,
    /// The row's primary key, an object of columns.
    pub key: Value,
    /// The row as the log says; `None` when there should be none.
    pub expected: Option<Value>,
    /// The row as it is; `None` when it is missing.
    pub actual: Option<Value>,
    /// The event that made the row what it should be: from here on, table and log disagree.
    pub first_diverging_position: Position,
}

bursar_domain::spelled! {
    /// How a row is not what the log says.
    pub enum DifferenceKind {
        /// Columns of it differ.
        Changed = "CHANGED",
        /// It is not there.
        Missing = "MISSING",
        /// It should not be there.
        Extra = "EXTRA",
    }
}

/// A [`Diff`] without what is in the row, which may be personal: what is kept of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// The table.
    pub table: String,
    /// The row's primary key, an object of columns.
    pub key: Value,
    /// From this event on, table and log disagree.
    pub first_position: Position,
    /// How.
    pub kind: DifferenceKind,
    /// The columns that differ; none when the row is missing or should not be there.
    pub columns: Vec<String>,
}

impl Difference {
    pub(super) fn of(diff: &Diff) -> Self {
        let (kind, columns) = match (&diff.expected, &diff.actual) {
            (Some(Value::Object(expected)), Some(Value::Object(found))) => {
                let differ = expected.iter().filter(|(column, value)| found.get(*column) != Some(value));
                (DifferenceKind::Changed, differ.map(|(column, _)| column.clone()).collect())
            }
            (Some(_), None) => (DifferenceKind::Missing, Vec::new()),
            _ => (DifferenceKind::Extra, Vec::new()),
        };
        Self {
            table: diff.table.to_owned(),
            key: diff.key.clone(),
            first_position: diff.first_diverging_position,
            kind,
            columns,
        }
    }

    /// The row that differs, of a table of `model`; without its values.
    pub(super) fn diff(&self, model: &str) -> Option<Diff> {
        Some(Diff {
            table: super::state::table(model, &self.table)?,
            key: self.key.clone(),
            expected: None,
            actual: None,
            first_diverging_position: self.first_position,
        })
    }
}

/// What comparing a table came to.
pub(super) struct Compared {
    pub(super) rows: i64,
    pub(super) differing: i64,
    pub(super) diffs: Vec<Diff>,
}

/// How many rows of the live `table` differ, and the first of them in the order of the log.
pub(super) async fn differences(
    db: &mut PgConnection,
    shadow: &Shadow,
    table: &'static Table,
) -> sqlx::Result<Compared> {
    let (live, next) = (shadow.live(table), shadow.next(table));
    let (ours, theirs) = (digest(db, &next).await?, digest(db, &live).await?);
    let compared = ours.0.max(theirs.0);
    if ours == theirs {
        return Ok(Compared { rows: compared, differing: 0, diffs: Vec::new() });
    }
    let on: Vec<String> = table.key.iter().map(|column| format!("n.{column} = l.{column}")).collect();
    let key: Vec<String> =
        table.key.iter().map(|column| format!("'{column}', coalesce(n.{column}, l.{column})")).collect();
    let (first, on, key, at) = (table.key[0], on.join(" AND "), key.join(", "), table.position);
    let sql = format!(
        "SELECT count(*) OVER (), jsonb_build_object({key}),
                CASE WHEN n.{first} IS NOT NULL THEN to_jsonb(n) END,
                CASE WHEN l.{first} IS NOT NULL THEN to_jsonb(l) END, coalesce(n.{at}, l.{at}) AS at
         FROM {next} n FULL JOIN {live} l ON {on}
         WHERE ROW(n.*) IS DISTINCT FROM ROW(l.*) ORDER BY at LIMIT {SHOWN}"
    );
    let found = sqlx::query(&sql).fetch_all(db).await?;
    let differing = found.first().map_or(Ok(0), |row| row.try_get(0))?;
    let value = |row: &sqlx::postgres::PgRow, column: usize| {
        row.try_get::<Option<Json<Value>>, _>(column).map(|value| value.map(|Json(value)| value))
    };
    let diff = |row| {
        Ok(Diff {
            table: table.name,
            key: value(row, 1)?.unwrap_or_default(),
            expected: value(row, 2)?,
            actual: value(row, 3)?,
            first_diverging_position: row.try_get(4)?,
        })
    };
    Ok(Compared { rows: compared, differing, diffs: found.iter().map(diff).collect::<sqlx::Result<_>>()? })
}

/// The number of rows and the sum of their 64-bit hashes: equal tables are recognised without joining them.
async fn digest(db: &mut PgConnection, table: &str) -> sqlx::Result<(i64, Option<String>)> {
    let sql = format!("SELECT count(*), sum(hash_record_extended(t, 0))::text FROM {table} t");
    sqlx::query_as(&sql).fetch_one(db).await
}
