//! The way to the store breaks at the worst moments.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;

use crate::support::client::{Answer, transfer};
use crate::support::{Bank, Person};

/// Asks with the same key until there is an answer, as an app does.
async fn pay_for_certain(payer: &Person, payee: &str, amount: i64, key: &str) -> String {
    loop {
        let answer = payer.client.pay(&payer.current, payee, amount, key).await;
        match answer.status {
            201 => return answer.body["transactionId"].as_str().unwrap().to_owned(),
            503 => assert_ne!(answer.header("retry-after"), ""),
            other => panic!("{other}: {}", answer.text),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_that_is_not_answered_is_resolved_and_not_guessed() {
    let (bank, faults) = Bank::behind_a_proxy().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = bank.events_of("payment.completed").await;
    let had = ada.client.balance(&ada.current).await;
    let mut ids = Vec::new();
    for round in 0..60 {
        // From here the two look the same: the connection is gone. One time the server has committed, the other not.
        if round % 2 == 0 {
            faults.leave_commits_unanswered(1);
        } else {
            faults.swallow_commits(1);
        }
        // Without a key, so that nothing but the resolution stands between a lost answer and a second payment.
        let body = transfer(&ada.current, &bola.current, 10);
        let answers =
            join_all((0..4).map(|_| ada.client.post("/v1/payments/transfer/internal", &body))).await;
        let id = |answer: Answer| answer.is(201).body["transactionId"].as_str().unwrap().to_owned();
        ids.extend(answers.into_iter().map(id));
    }
    assert!(faults.cuts.load(Ordering::SeqCst) >= 60);
    let paid = i64::try_from(ids.len()).unwrap();
    ids.sort();
    ids.dedup();
    assert_eq!(i64::try_from(ids.len()).unwrap(), paid);
    assert_eq!(bank.events_of("payment.completed").await, before + paid);
    assert_eq!(ada.client.balance(&ada.current).await, had - 10 * paid);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whichever_message_to_the_store_is_lost_nothing_is_half_done() {
    let (bank, faults) = Bank::behind_a_proxy().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = bank.events_of("payment.completed").await;
    let mut paid = 0;
    // Warm, a payment takes about a dozen messages; after a cut everything is asked for anew, which takes more.
    for n in 1..=40 {
        let cuts = faults.cuts.load(Ordering::SeqCst);
        faults.cut_at_message(n);
        while faults.cuts.load(Ordering::SeqCst) == cuts {
            pay_for_certain(&ada, &bola.current, 10, &format!("message-{n}-{paid}")).await;
            paid += 1;
        }
    }
    assert_eq!(bank.events_of("payment.completed").await, before + paid);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_cut_at_any_moment_lose_and_double_nothing() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = bank.events_of("payment.completed").await;
    let stop = Arc::new(AtomicBool::new(false));
    let payers: Vec<_> = (0..8)
        .map(|n| {
            let (client, stop) = (ada.client.clone(), Arc::clone(&stop));
            let (source, destination) = (ada.current.clone(), bola.current.clone());
            tokio::spawn(async move {
                let mut paid = 0;
                for i in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let key = format!("cut-{n}-{i}");
                    // Asked again until it is answered, as an app does; the key makes sure that it is paid once.
                    while client.pay(&source, &destination, 1, &key).await.status != 201 {}
                    paid += 1;
                }
                paid
            })
        })
        .collect();
    let mut cuts = 0;
    for n in 0..40_u64 {
        tokio::time::sleep(Duration::from_millis(10 + 7 * (n % 5))).await;
        // Every session of the bank but ours, in the middle of whatever it does: also between COMMIT and its answer.
        let cut = sqlx::query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid()
                AND (query LIKE '%head%' OR query = 'COMMIT')",
        );
        cuts += cut.fetch_all(&bank.pool).await.map_or(0, |rows| rows.len());
    }
    stop.store(true, Ordering::Relaxed);
    let mut paid = 0;
    for payer in payers {
        paid += payer.await.unwrap();
    }
    assert!(cuts > 10 && paid > 100, "too little happened to mean anything: {cuts} cuts, {paid} payments");
    assert_eq!(bank.events_of("payment.completed").await, before + paid);
    bank.close().await;
}
