//! Comparing a live table with the one rebuilt beside it.

use bursar_domain::Position;
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

/// How many rows of the live `table` differ, and the first of them in the order of the log.
pub(super) async fn differences(
    db: &mut PgConnection,
    shadow: &Shadow,
    table: &'static Table,
) -> sqlx::Result<(i64, Vec<Diff>)> {
    let (live, next) = (shadow.live(table), shadow.next(table));
    if digest(db, &live).await? == digest(db, &next).await? {
        return Ok((0, Vec::new()));
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
    let rows = sqlx::query(&sql).fetch_all(db).await?;
    let differing = rows.first().map_or(Ok(0), |row| row.try_get(0))?;
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
    Ok((differing, rows.iter().map(diff).collect::<sqlx::Result<_>>()?))
}

/// The number of rows and the sum of their 64-bit hashes: equal tables are recognised without joining them.
async fn digest(db: &mut PgConnection, table: &str) -> sqlx::Result<(i64, Option<String>)> {
    let sql = format!("SELECT count(*), sum(hash_record_extended(t, 0))::text FROM {table} t");
    sqlx::query_as(&sql).fetch_one(db).await
}
