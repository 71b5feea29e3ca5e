//! Looking for what must be nowhere.

use super::Bank;

/// The tables in which `text` is, as text or as bytes.
pub async fn tables_with(bank: &Bank, text: &str) -> Vec<String> {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT format('%I.%I', table_schema, table_name) FROM information_schema.tables
         WHERE table_schema IN ('journal', 'read') AND table_type = 'BASE TABLE'",
    )
    .fetch_all(&bank.pool)
    .await
    .unwrap();
    assert!(tables.len() >= 10, "{tables:?}");
    let mut found = Vec::new();
    for table in tables {
        // The whole row as text, and every byte column as the bytes it holds.
        let sql = format!(
            "SELECT count(*) FROM {table} t
             WHERE position($1 IN t::text) > 0 OR position(encode($1::bytea, 'hex') IN t::text) > 0"
        );
        let count: i64 = sqlx::query_scalar(&sql).bind(text).fetch_one(&bank.pool).await.unwrap();
        if count > 0 {
            found.push(table);
        }
    }
    found
}
