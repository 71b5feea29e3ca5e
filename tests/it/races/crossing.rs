//! T19: money goes from A to B and from B to A at the same time, at two servers. Nobody waits for anybody for ever.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use sqlx::Connection;
use tokio::sync::Barrier;

use crate::support::Bank;
use crate::support::chance::{did, scaled};
use crate::support::invariants::{deadlocks, none, violations};
use crate::support::payer::Payer;

/// Payers in each direction at each server.
const PAYERS: usize = 8;
const TRANSFERS: usize = 640;

#[tokio::test(flavor = "multi_thread")]
async fn transfers_in_opposite_directions_neither_wait_for_each_other_nor_lose_anything() {
    let bank = Bank::open().await;
    let (second, _) = bank.second().await;
    let mut payers = Vec::new();
    let (before, had) = (bank.events_of("payment.completed").await, balances(&bank).await);
    let began = Instant::now();
    for app in [&bank.app, &second] {
        let ada = Payer::at(app, "ada@example.com").await;
        let bola = Payer::at(app, "bola@example.com").await;
        for n in 0..2 * PAYERS {
            let (from, to) =
                if n % 2 == 0 { (ada.clone(), bola.clone()) } else { (bola.clone(), ada.clone()) };
            payers.push(tokio::spawn(async move {
                for n in 0..scaled(TRANSFERS) {
                    let amount = 1 + i64::try_from(n % 100).unwrap();
                    let paid = tokio::time::timeout(PATIENCE, from.pay(&to, amount, None)).await;
                    paid.expect("a transfer waits for ever").unwrap();
                }
            }));
        }
    }
    let transfers = i64::try_from(payers.len() * scaled(TRANSFERS)).unwrap();
    for payer in join_all(payers).await {
        payer.unwrap();
    }
    println!("{transfers} transfers in {:?}", began.elapsed());
    did(usize::try_from(transfers).unwrap(), "transfers");
    assert_eq!(bank.events_of("payment.completed").await, before + transfers);
    // As much went there as came back.
    assert_eq!(balances(&bank).await, had);
    second.close().await;
    let (pool, database) = bank.stop().await;
    assert_eq!(deadlocks(&pool).await, 0);
    none(&violations(&pool).await);
    pool.close().await;
    database.drop_now().await.unwrap();
}

/// Longer than a queue of thousands takes, much shorter than for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// What the customers have.
async fn balances(bank: &Bank) -> Vec<i64> {
    let sql = "SELECT balance FROM ledger_accounts WHERE owner IS NOT NULL ORDER BY account";
    sqlx::query_scalar(sql).fetch_all(&bank.pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_who_lock_one_account_after_the_other_are_found_out() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await.current, bank.bola().await.current);
    let url = bank.url().to_owned();
    let barrier = Arc::new(Barrier::new(2));
    let writers = [[ada.clone(), bola.clone()], [bola, ada]].map(|[first, second]| {
        let (url, barrier) = (url.clone(), Arc::clone(&barrier));
        tokio::spawn(async move {
            let mut connection = sqlx::PgConnection::connect(&url).await.unwrap();
            let mut tx = connection.begin().await.unwrap();
            let lock = "SELECT FROM journal.ledger_accounts WHERE account = $1 FOR UPDATE";
            sqlx::query(lock).bind(first).execute(&mut *tx).await.unwrap();
            barrier.wait().await;
            let locked = sqlx::query(lock).bind(second).execute(&mut *tx).await.is_ok();
            drop(tx);
            connection.close().await.unwrap();
            locked
        })
    });
    let locked: Vec<bool> = join_all(writers).await.into_iter().map(Result::unwrap).collect();
    assert_eq!(locked.iter().filter(|locked| **locked).count(), 1);
    // Counted when its connection ends, a moment after it was closed.
    for _ in 0..100 {
        if deadlocks(&bank.pool).await > 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(deadlocks(&bank.pool).await, 1);
    bank.close().await;
}
