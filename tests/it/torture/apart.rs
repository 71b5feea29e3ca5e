//! T7 and T32: the server and its database do not reach each other, and there is no connection to be had.

use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::workload::Workload;
use crate::support::Bank;
use crate::support::chance::{Chance, did, scaled};
use crate::support::client::Answer;
use crate::support::invariants::none;
use crate::support::proxy::Link;

/// After so long everybody is served again.
const RECOVERY: Duration = Duration::from_secs(5);
/// Longer than anybody may be left without an answer.
const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread")]
#[ignore = "just torture"]
async fn a_server_and_its_database_that_were_apart_go_on_within_seconds() {
    let mut chance = Chance::new();
    let (bank, faults) = Bank::behind_a_proxy().await;
    let work = Workload::start(bank.address, bank.events().await, 8, usize::MAX).await;
    let mut slowest = Duration::ZERO;
    let rounds = scaled(20);
    for _ in 0..rounds {
        work.does(16, PATIENCE).await;
        match chance.between(0, 3) {
            // What was sent arrives late.
            0 => {
                faults.set(Link::Silent);
                tokio::time::sleep(chance.millis(10, 1_500)).await;
            }
            // Or never.
            1 => {
                faults.set(Link::Silent);
                tokio::time::sleep(chance.millis(10, 1_000)).await;
                faults.set(Link::Down);
                tokio::time::sleep(chance.millis(0, 200)).await;
            }
            2 => {
                faults.set(Link::Down);
                tokio::time::sleep(chance.millis(1, 1_000)).await;
            }
            _ => {
                faults.delay_statements(chance.millis(5, 100));
                work.does(16, PATIENCE).await;
            }
        }
        faults.calm();
        slowest = slowest.max(work.does(16, RECOVERY).await);
    }
    did(rounds, "times apart");
    println!("back after {slowest:?} at the latest; {} tries were turned away", work.unavailable());
    let told = work.finish().await;
    none(&told.violations(&bank.pool).await);
    bank.caught_up().await;
    bank.close().await;
}

/// All at once, each answered in time; how many were turned away.
async fn turned_away(asked: impl Iterator<Item = impl Future<Output = Answer>>) -> usize {
    let timed = asked.map(|one| tokio::time::timeout(PATIENCE, one));
    let answers = join_all(timed).await.into_iter().map(|answer| answer.expect("somebody waits for ever"));
    let refused = answers.filter(|answer| answer.status >= 300).map(|answer| {
        assert!(!answer.header("retry-after").is_empty(), "{}", answer.text);
        answer.problem(503, "UNAVAILABLE")
    });
    refused.count()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "just torture"]
async fn who_finds_no_free_connection_is_told_to_come_back() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let statement = format!("/v1/accounts/{}/statement", ada.current);
    let (mut refused, rounds) = (0, scaled(5));
    for round in 0..rounds {
        let before = bank.events_of("payment.completed").await;
        // Somebody has them all: `bank.pool` is the server's own.
        let most = bank.app.pool.options().get_max_connections();
        let held = join_all((0..most).map(|_| bank.app.pool.acquire())).await;
        let began = Instant::now();
        let reads = (0..10).map(|_| ada.client.get(&statement));
        let keys: Vec<String> = (0..10).map(|n| format!("pool-{round}-{n}")).collect();
        let writes = keys.iter().map(|key| ada.client.pay(&ada.current, &bola.current, 1, key));
        let (reads, writes) = tokio::join!(turned_away(reads), turned_away(writes));
        assert!(began.elapsed() < PATIENCE);
        assert_eq!(reads, 10, "a read without a connection");
        refused += reads + writes;
        drop(held);
        assert_eq!(turned_away((0..10).map(|_| ada.client.get(&statement))).await, 0);
        // Whoever was told to come back does, with the same key, and has paid once.
        assert_eq!(
            turned_away(keys.iter().map(|key| ada.client.pay(&ada.current, &bola.current, 1, key))).await,
            0
        );
        assert_eq!(bank.events_of("payment.completed").await, before + 10);
    }
    did(refused, "requests turned away");
    bank.caught_up().await;
    bank.close().await;
}
