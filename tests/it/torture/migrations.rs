//! T62: a migration is cut off at every message to the database. The next one goes on, and ends where it would have ended.

use std::sync::atomic::Ordering;

use bursar_api::database;
use bursar_api::postgres::{TestDatabase, fresh_database};
use sqlx::PgPool;

use crate::support::chance::{Chance, did, scaled};
use crate::support::pool;
use crate::support::proxy::in_front_of;

/// Every column, constraint, index, comment and dataset.
const EVERYTHING: &str = "
    SELECT format('%s.%s %s %s %s %s', table_schema, table_name, column_name, data_type, is_nullable, column_default)
      FROM information_schema.columns WHERE table_schema IN ('journal', 'read', 'reference')
    UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname IN ('journal', 'read', 'reference')
    UNION ALL SELECT format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
    UNION ALL SELECT format('%s %s %s', objoid::regclass, objsubid, description) FROM pg_description WHERE objoid > 16384
    UNION ALL SELECT format('%s currencies', count(*)) FROM reference.currencies
    UNION ALL SELECT format('%s cities', count(*)) FROM reference.cities
    ORDER BY 1";

async fn everything(pool: &PgPool) -> Vec<String> {
    sqlx::query_scalar(EVERYTHING).fetch_all(pool).await.unwrap()
}

async fn nothing_yet() -> TestDatabase {
    fresh_database("nothing yet", async |_| Ok(())).await.unwrap()
}

/// `TEST_SCALE=16` cuts at every message.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "just torture"]
async fn a_migration_that_was_cut_off_anywhere_goes_on_where_it_was() {
    let whole = nothing_yet().await;
    database::migrate(&whole.url.parse().unwrap()).await.unwrap();
    let straight = pool(&whole.url);
    let expected = everything(&straight).await;
    assert!(expected.len() > 500, "{}", expected.len());
    straight.close().await;
    whole.drop_now().await.unwrap();
    let stride = 16_u64.div_ceil(scaled(1) as u64);
    let mut chance = Chance::new();
    let (mut n, mut cuts, mut half_done) = (1, 0, 0);
    loop {
        let database = nothing_yet().await;
        let (through, faults) = in_front_of(&database.url).await;
        faults.cut_at_message(n);
        let cut = database::migrate(&through.parse().unwrap()).await;
        faults.calm();
        let straight = pool(&database.url);
        let begun = "SELECT to_regclass('journal.head') IS NOT NULL";
        let begun: bool = sqlx::query_scalar(begun).fetch_one(&straight).await.unwrap();
        half_done += usize::from(cut.is_err() && begun);
        if cut.is_ok() {
            // It got over it, where a connection could be asked for again; or there was no such message.
            assert_eq!(everything(&straight).await, expected, "said to be done after message {n}");
        }
        database::migrate(&database.url.parse().unwrap())
            .await
            .unwrap_or_else(|e| panic!("after message {n}: {e}"));
        assert_eq!(everything(&straight).await, expected, "after message {n}");
        straight.close().await;
        database.drop_now().await.unwrap();
        if faults.cuts.load(Ordering::SeqCst) == 0 {
            // Nothing else may stop it.
            cut.unwrap();
            break;
        }
        cuts += 1;
        n += i64::try_from(chance.between(1, 2 * stride - 1)).unwrap();
    }
    did(cuts, "migrations cut off");
    assert!(half_done > 0, "none was cut off in the middle");
}
