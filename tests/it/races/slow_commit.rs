//! T23: two servers write, one of them commits slowly, and a follower reads the log by position. It misses nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bursar_commands::journal::Observer;
use bursar_domain::Recorded;
use futures_util::future::join_all;
use sqlx::PgPool;

use crate::support::chance::{Chance, did, scaled};
use crate::support::invariants::{missed, none, red};
use crate::support::payer::Payer;
use crate::support::{Bank, proxy};

/// Payers at each server.
const PAYERS: usize = 64;
const PAYMENTS: usize = 160;

/// Reads what comes after the last it has seen, again and again, until `done` and there is nothing more.
async fn follow(pool: PgPool, next: &'static str, after: i64, done: Arc<AtomicBool>) -> Vec<i64> {
    let mut seen = vec![after];
    loop {
        let finished = done.load(Ordering::SeqCst);
        let rows: Vec<i64> = sqlx::query_scalar(next).bind(seen.last()).fetch_all(&pool).await.unwrap();
        if rows.is_empty() {
            if finished {
                return seen.split_off(1);
            }
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
        seen.extend(rows);
    }
}

/// What a server hears of the log.
#[derive(Default)]
struct Heard(Mutex<Vec<i64>>);

impl Observer for Heard {
    fn recorded(&self, events: &[Recorded]) {
        self.0.lock().unwrap().extend(events.iter().map(|event| event.position));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_by_position_misses_nothing_however_slowly_one_server_commits() {
    let mut chance = Chance::new();
    let bank = Bank::open().await;
    let (through, faults) = proxy::in_front_of(bank.url()).await;
    let slow = bank.second_through(&through).await;
    let before = bank.events().await;
    let heard: Vec<Arc<Heard>> = [&bank.app, &slow]
        .map(|app| {
            let heard = Arc::new(Heard::default());
            app.journal.observe(Arc::clone(&heard) as Arc<dyn Observer>);
            heard
        })
        .into();
    let done = Arc::new(AtomicBool::new(false));
    let next = "SELECT position FROM events WHERE position > $1 ORDER BY position LIMIT 500";
    let follower = tokio::spawn(follow(bank.pool.clone(), next, before, Arc::clone(&done)));
    let mut payers = Vec::new();
    for app in [&bank.app, &slow] {
        let ada = Payer::at(app, "ada@example.com").await;
        let bola = Payer::at(app, "bola@example.com").await;
        payers.extend((0..PAYERS).map(|_| {
            let (ada, bola) = (ada.clone(), bola.clone());
            tokio::spawn(async move {
                for _ in 0..scaled(PAYMENTS) {
                    ada.pay(&bola, 1, None).await.unwrap();
                }
            })
        }));
    }
    let all_paid = join_all(payers);
    tokio::pin!(all_paid);
    loop {
        // Sometimes no slower than the other, sometimes for as long as it takes the other to write many batches.
        faults.delay_commits(chance.millis(0, 1) * u32::try_from(chance.between(1, 30)).unwrap());
        tokio::select! {
            paid = &mut all_paid => break paid.into_iter().for_each(|paid| paid.unwrap()),
            () = tokio::time::sleep(Duration::from_millis(20)) => {}
        }
    }
    done.store(true, Ordering::SeqCst);
    let all: Vec<i64> = (before + 1..=bank.events().await).collect();
    assert_eq!(all.len(), 2 * PAYERS * scaled(PAYMENTS));
    none(&missed(&all, &follower.await.unwrap()));
    did(all.len(), "events followed");
    let mut head = slow.journal.head();
    head.wait_for(|position| *position == all[all.len() - 1]).await.unwrap();
    let mut head = bank.app.journal.head();
    head.wait_for(|position| *position == all[all.len() - 1]).await.unwrap();
    for heard in heard {
        none(&missed(&all, &heard.0.lock().unwrap()));
    }
    slow.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_follower_of_a_log_numbered_by_a_sequence_is_found_to_miss_events() {
    let bank = Bank::open().await;
    sqlx::query("CREATE TABLE naive_log (id bigserial PRIMARY KEY)").execute(&bank.pool).await.unwrap();
    let done = Arc::new(AtomicBool::new(false));
    let next = "SELECT id FROM naive_log WHERE id > $1 ORDER BY id LIMIT 500";
    let follower = tokio::spawn(follow(bank.pool.clone(), next, 0, Arc::clone(&done)));
    let writers = [0, 10].map(|slow| {
        let pool = bank.pool.clone();
        tokio::spawn(async move {
            for _ in 0..50 {
                let mut tx = pool.begin().await.unwrap();
                sqlx::query("INSERT INTO naive_log DEFAULT VALUES").execute(&mut *tx).await.unwrap();
                tokio::time::sleep(Duration::from_millis(slow)).await;
                tx.commit().await.unwrap();
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        })
    });
    for writer in join_all(writers).await {
        writer.unwrap();
    }
    done.store(true, Ordering::SeqCst);
    let all: Vec<i64> =
        sqlx::query_scalar("SELECT id FROM naive_log ORDER BY id").fetch_all(&bank.pool).await.unwrap();
    assert_eq!(all.len(), 100);
    let missed = missed(&all, &follower.await.unwrap());
    red(&missed, "T23: ");
    println!("{} of {} missed", missed.len(), all.len());
    bank.close().await;
}
