//! The datasets that ship with the bank, as an analyst finds them.

use bursar_api::database::migrate;
use futures_util::future::try_join_all;
use sqlx::Row as _;

use crate::support::Bank;

/// What `loaded` says each table holds.
async fn loaded(bank: &Bank) -> Vec<(String, i64)> {
    let rows = sqlx::query("SELECT dataset, rows FROM loaded ORDER BY dataset").fetch_all(&bank.pool).await;
    rows.unwrap().iter().map(|row| (row.get("dataset"), row.get("rows"))).collect()
}

async fn count(bank: &Bank, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM reference.{table}");
    sqlx::query_scalar(&sql).fetch_one(&bank.pool).await.unwrap()
}

async fn execute(bank: &Bank, sql: &str) {
    sqlx::raw_sql(sql).execute(&bank.pool).await.unwrap();
}

async fn name_of(bank: &Bank, code: &str) -> Option<String> {
    let sql = "SELECT bank_name FROM banks WHERE bank_code = $1";
    sqlx::query_scalar(sql).bind(code).fetch_optional(&bank.pool).await.unwrap()
}

#[tokio::test]
async fn a_new_bank_has_every_dataset_in_its_table() {
    let bank = Bank::open().await;
    let expected = [
        ("banks", 323),
        ("biller_categories", 8),
        ("biller_items", 91),
        ("billers", 32),
        ("card_bin_ranges", 26),
        ("cities", 35_229),
        ("countries", 249),
        ("currencies", 178),
        ("genders", 3),
        ("loan_intervals", 5),
        ("marital_statuses", 4),
        ("periods", 5),
        ("professions", 436),
        ("relationships", 18),
        ("states", 3_765),
    ];
    assert_eq!(loaded(&bank).await, expected.map(|(table, rows)| (table.to_owned(), rows)));
    for (table, rows) in expected {
        assert_eq!(count(&bank, table).await, rows, "{table}");
    }
    // An empty field is null, a quoted comma is a comma, a leading zero stays.
    let sql = "SELECT concat_ws('|', item_name, amount_minor, max_amount_minor) FROM biller_items
               WHERE item_code = 'SBX_AIR_ALPHA_VTU'";
    let item: String = sqlx::query_scalar(sql).fetch_one(&bank.pool).await.unwrap();
    assert_eq!(item, "Airtime, any amount|5000000");
    assert_eq!(name_of(&bank, "000014").await.as_deref(), Some("Access Bank"));
    bank.close().await;
}

#[tokio::test]
async fn a_dataset_is_loaded_when_it_is_another_and_only_then() {
    let bank = Bank::open().await;
    let options = bank.pool.connect_options();
    execute(&bank, "UPDATE banks SET bank_name = 'Renamed' WHERE bank_code = '000014'").await;
    migrate(&options).await.unwrap();
    assert_eq!(
        name_of(&bank, "000014").await.as_deref(),
        Some("Renamed"),
        "the file is the one that is loaded"
    );

    // As an older version left it: a name that is another by now, a bank that is gone, one that is not there yet.
    // Rows that others name are replaced too.
    execute(
        &bank,
        "UPDATE loaded SET sha256 = 'of another file' WHERE dataset IN ('banks', 'billers');
         INSERT INTO banks SELECT 'gone', 'Gone', bank_type, country, NULL, true FROM banks LIMIT 1;
         DELETE FROM banks WHERE bank_code = '000001'",
    )
    .await;
    // Several servers start at once.
    try_join_all((0..4).map(|_| migrate(&options))).await.unwrap();
    assert_eq!(name_of(&bank, "000014").await.as_deref(), Some("Access Bank"));
    assert_eq!(name_of(&bank, "000001").await.as_deref(), Some("Sterling Bank"));
    assert_eq!(name_of(&bank, "gone").await, None);
    assert_eq!((count(&bank, "banks").await, count(&bank, "billers").await), (323, 32));
    bank.close().await;
}

#[tokio::test]
async fn every_table_and_column_says_what_it_is() {
    let bank = Bank::open().await;
    let sql = "SELECT n.nspname || '.' || c.relname || coalesce('.' || a.attname, '')
               FROM pg_class c
               JOIN pg_namespace n ON n.oid = c.relnamespace
               LEFT JOIN LATERAL (
                   SELECT attname, attnum FROM pg_attribute
                   WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped
                   UNION ALL SELECT NULL, 0) a ON true
               WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname <> '_sqlx_migrations'
                   AND n.nspname = ANY($1)
                   AND coalesce(CASE a.attnum WHEN 0 THEN obj_description(c.oid, 'pg_class')
                                              ELSE col_description(c.oid, a.attnum) END, '') = ''
               ORDER BY 1";
    let silent = async |schemas: &[&str]| {
        sqlx::query_scalar::<_, String>(sql).bind(schemas).fetch_all(&bank.pool).await.unwrap()
    };
    assert_eq!(silent(&["journal", "read", "reference"]).await, Vec::<String>::new());
    // What has no comment is found.
    execute(&bank, "CREATE SCHEMA mute; CREATE TABLE mute.words (word text)").await;
    assert_eq!(silent(&["mute"]).await, ["mute.words", "mute.words.word"]);
    bank.close().await;
}
