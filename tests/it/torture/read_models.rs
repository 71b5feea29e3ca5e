//! T26, T27 and T57: read models that are slow, whose leader changes all the time, and that somebody has edited.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bursar_projections::{Entry, catalogue};
use futures_util::future::join_all;
use sqlx::PgPool;

use crate::ratchet::World;
use crate::support::chance::{Chance, did, scaled};
use crate::support::payer::Payer;
use crate::support::{Bank, rebuild, verify};

const PAYERS: usize = 64;
const PAYMENTS: usize = 160;

/// As many payments as it takes, beside whatever is done to the read models; the slowest answer.
async fn paid_meanwhile(bank: &Bank, disturb: impl AsyncFn(Arc<AtomicBool>)) -> Duration {
    let (ada, bola) =
        (Payer::at(&bank.app, "ada@example.com").await, Payer::at(&bank.app, "bola@example.com").await);
    let payers = (0..PAYERS).map(|_| {
        let (ada, bola) = (ada.clone(), bola.clone());
        tokio::spawn(async move {
            let mut slowest = Duration::ZERO;
            for _ in 0..scaled(PAYMENTS) {
                let began = Instant::now();
                ada.pay(&bola, 1, None).await.unwrap();
                slowest = slowest.max(began.elapsed());
            }
            slowest
        })
    });
    let (all, done) = (join_all(payers.collect::<Vec<_>>()), Arc::new(AtomicBool::new(false)));
    let paying = async {
        let slowest = all.await.into_iter().map(Result::unwrap).max().unwrap();
        done.store(true, Ordering::SeqCst);
        slowest
    };
    let (slowest, ()) = tokio::join!(paying, disturb(Arc::clone(&done)));
    did(PAYERS * scaled(PAYMENTS), "events");
    slowest
}

/// Every read model has everything, soon.
async fn caught_up(bank: &Bank) {
    let (began, head) = (Instant::now(), bank.events().await);
    bank.app.freshness.wait(&[], head, Duration::from_secs(600)).await.unwrap();
    println!("everything is readable {:?} later", began.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "just torture"]
async fn a_read_model_that_is_slow_holds_no_payment_up_and_loses_nothing() {
    let bank = Bank::open().await;
    let pool = bank.pool.clone();
    let slowest = paid_meanwhile(&bank, async |done: Arc<AtomicBool>| {
        let mut chance = Chance::new();
        let mut held = 0;
        while !done.load(Ordering::SeqCst) {
            let table = chance.one_of(&["statement_entries", "accounts", "transactions", "trial_balance"]);
            let mut tx = pool.begin().await.unwrap();
            sqlx::query(&format!("LOCK TABLE {table}")).execute(&mut *tx).await.unwrap();
            tokio::time::sleep(chance.millis(20, 400)).await;
            tx.rollback().await.unwrap();
            held += 1;
        }
        did(held, "times a table was held");
    });
    let slowest = slowest.await;
    assert!(slowest < Duration::from_secs(5), "a payment waited for a read model: {slowest:?}");
    caught_up(&bank).await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "just torture"]
async fn read_models_whose_leader_changes_all_the_time_take_every_event_once() {
    let bank = Bank::open().await;
    let (second, _) = bank.second().await;
    let pool = bank.pool.clone();
    paid_meanwhile(&bank, async |done: Arc<AtomicBool>| {
        let mut chance = Chance::new();
        let mut lost = 0;
        while !done.load(Ordering::SeqCst) {
            tokio::time::sleep(chance.millis(50, 400)).await;
            lost += usize::from(deposed(&pool).await);
        }
        assert!(lost > 0, "nobody led");
        did(lost, "leaders deposed");
    })
    .await;
    caught_up(&bank).await;
    second.close().await;
    bank.close().await;
}

/// Ends the session of whoever runs the read models.
async fn deposed(pool: &PgPool) -> bool {
    let sql = "SELECT count(pg_terminate_backend(pid)) > 0 FROM pg_locks
                WHERE locktype = 'advisory' AND granted
                  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

/// Another value, of whatever kind the column is.
fn another(column: &str, kind: &str) -> Option<String> {
    Some(match kind {
        "bigint" | "integer" | "smallint" | "numeric" => format!("{column} + 1"),
        "boolean" => format!("NOT {column}"),
        "timestamp with time zone" => format!("{column} + interval '1 second'"),
        "date" => format!("{column} + 1"),
        "text" => format!("{column} || 'x'"),
        _ => return None,
    })
}

/// Somebody changes one value of one row, or removes it. None when nothing could be changed.
async fn edited(pool: &PgPool, entry: &Entry, table: &str, chance: &mut Chance) -> Option<String> {
    let columns: Vec<(String, String)> = sqlx::query_as(
        "SELECT column_name, data_type FROM information_schema.columns
          WHERE table_schema = 'read' AND table_name = $1 AND is_generated = 'NEVER' ORDER BY ordinal_position",
    )
    .bind(table)
    .fetch_all(pool)
    .await
    .unwrap();
    let one = format!(
        "ctid = (SELECT ctid FROM {table} ORDER BY md5(ctid::text || '{}') LIMIT 1)",
        chance.between(0, 9_999)
    );
    // What a CHECK refuses is no edit; another column is.
    for _ in 0..20 {
        let (column, kind) = &columns[usize::try_from(chance.between(0, columns.len() as u64 - 1)).unwrap()];
        let sql = match another(column, kind) {
            _ if chance.between(0, 9) == 0 => format!("DELETE FROM {table} WHERE {one}"),
            Some(value) => {
                format!("UPDATE {table} SET {column} = {value} WHERE {one} AND {column} IS NOT NULL")
            }
            None => continue,
        };
        if sqlx::query(&sql).execute(pool).await.is_ok_and(|done| done.rows_affected() == 1) {
            return Some(format!("{}: {sql}", entry.name));
        }
    }
    None
}

/// `TEST_SCALE=20` edits each table twenty times.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "just torture"]
async fn whatever_somebody_edits_in_a_read_model_is_found_and_mended() {
    let world = World::new().await;
    world.bank.caught_up().await;
    let pool = &world.bank.pool;
    let mut chance = Chance::new();
    let (mut edits, mut untouched) = (0, Vec::new());
    for entry in catalogue() {
        for table in entry.tables {
            let mut here = 0;
            for _ in 0..scaled(1) {
                let Some(what) = edited(pool, entry, table.name, &mut chance).await else { break };
                let verified = verify(pool, &[entry.name]).await.unwrap();
                assert!(verified[0].differing > 0, "nobody noticed: {what}");
                rebuild(pool, &[entry.name]).await.unwrap();
                let mended = verify(pool, &[entry.name]).await.unwrap();
                assert_eq!(mended[0].differing, 0, "not mended: {what}");
                here += 1;
            }
            if here == 0 {
                untouched.push(table.name);
            }
            edits += here;
        }
    }
    did(edits, "edits of read models");
    println!("nothing to edit in {untouched:?}");
    assert!(untouched.len() <= 4, "too many tables are empty: {untouched:?}");
    world.bank.close().await;
}
