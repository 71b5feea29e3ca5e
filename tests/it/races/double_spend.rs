//! T17: eight race for one account that has money for only some of them.

use std::sync::Arc;

use bursar_domain::kernel::TransactionId;
use futures_util::future::join_all;
use tokio::sync::Barrier;

use crate::support::chance::{Chance, scaled};
use crate::support::invariants::{none, red, violations};
use crate::support::payer::{Payer, race};
use crate::support::{Bank, forge};

const RACERS: usize = 8;
const ROUNDS: usize = 500;
/// What each racer wants to spend, kobo.
const SHARE: i64 = 100;

/// Kobo in an account.
async fn balance(bank: &Bank, payer: &Payer) -> i64 {
    bank.app.journal.ledger_account(&payer.number().into()).await.unwrap().unwrap().balance
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_racers_spend_what_there_is_and_no_more() {
    let mut chance = Chance::new();
    let bank = Bank::open().await;
    let (second, _) = bank.second().await;
    let (here, there) = (Payer::at(&bank.app, ADA).await, Payer::at(&second, ADA).await);
    let racers: Vec<Payer> =
        (0..RACERS).map(|n| if n % 2 == 0 { here.clone() } else { there.clone() }).collect();
    let (bola, chidi) = (Payer::at(&bank.app, BOLA).await, Payer::at(&bank.app, CHIDI).await);
    here.pay(&bola, balance(&bank, &here).await, None).await.unwrap();
    let mut left = 0;
    for round in 0..scaled(ROUNDS) {
        // Money for some of them, or all, or none; and some that is enough for nobody.
        let covered = chance.between(0, 8);
        let target = SHARE * i64::try_from(covered).unwrap() + i64::try_from(chance.between(0, 99)).unwrap();
        let (from, to) = if target > left { (&bola, &here) } else { (&here, &bola) };
        if target != left {
            from.pay(to, (target - left).abs(), None).await.unwrap();
        }
        let paid = race(&racers, &chidi, SHARE, "INSUFFICIENT_FUNDS").await;
        assert_eq!(u64::try_from(paid).unwrap(), covered, "round {round}");
        left = target % SHARE;
        assert_eq!(balance(&bank, &here).await, left, "round {round}");
    }
    second.close().await;
    let (pool, database) = bank.stop().await;
    none(&violations(&pool).await);
    pool.close().await;
    database.drop_now().await.unwrap();
}

const ADA: &str = "ada@example.com";
const BOLA: &str = "bola@example.com";
const CHIDI: &str = "chidi@example.com";

#[tokio::test(flavor = "multi_thread")]
async fn racers_who_look_at_the_balance_before_they_spend_are_found_out() {
    let bank = Bank::open().await;
    let (ada, bola) = (Payer::at(&bank.app, ADA).await, Payer::at(&bank.app, BOLA).await);
    let (pool, database) = bank.stop().await;
    let (sources, _) = bursar_api::sources::system();
    let barrier = Arc::new(Barrier::new(RACERS));
    let racers = (0..RACERS).map(|_| {
        let (pool, barrier) = (pool.clone(), Arc::clone(&barrier));
        let (ada, bola, id) = (ada.clone(), bola.clone(), TransactionId::mint(&sources).to_string());
        tokio::spawn(async move {
            let mut tx = pool.begin().await.unwrap();
            let sql = "SELECT balance FROM ledger_accounts WHERE account = $1";
            let has: i64 = sqlx::query_scalar(sql).bind(ada.number()).fetch_one(&mut *tx).await.unwrap();
            barrier.wait().await;
            // There is enough, or was.
            forge::payment(&mut tx, &id, ada.number(), bola.number(), has / 2).await.unwrap();
            tx.commit().await.unwrap();
        })
    });
    for racer in join_all(racers).await {
        racer.unwrap();
    }
    red(&violations(&pool).await, "I3: a debit at position ");
    pool.close().await;
    database.drop_now().await.unwrap();
}
