//! Many at once. The small races, over HTTP; those at size are in the files beside this one.

mod clocks;
mod crossing;
mod double_spend;
mod limits;
mod reused_key;
mod same_key;
mod slow_commit;

use futures_util::future::join_all;

use crate::support::Bank;

#[tokio::test(flavor = "multi_thread")]
async fn fifty_debits_race_for_money_that_covers_ten() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let has = ada.client.balance(&ada.current).await;
    let share = has / 10;
    let keys: Vec<String> = (0..50).map(|n| format!("race-{n}")).collect();
    let answers =
        join_all(keys.iter().map(|key| ada.client.pay(&ada.current, &bola.current, share, key))).await;
    let paid = answers.iter().filter(|answer| answer.status == 201).count();
    assert_eq!(paid, 10);
    for refused in answers.into_iter().filter(|answer| answer.status != 201) {
        refused.problem(422, "INSUFFICIENT_FUNDS");
    }
    assert_eq!(ada.client.balance(&ada.current).await, has - 10 * share);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_key_sent_twenty_times_at_once_pays_once() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = bank.events_of("payment.completed").await;
    let answers = join_all((0..20).map(|_| ada.client.pay(&ada.current, &bola.current, 700, "once"))).await;
    for answer in &answers {
        assert_eq!((answer.status, &answer.text), (201, &answers[0].text));
    }
    let first_hand = answers.iter().filter(|answer| answer.header("idempotent-replayed") != "true").count();
    assert_eq!(first_hand, 1);
    assert_eq!(bank.events_of("payment.completed").await, before + 1);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn crossing_transfers_do_not_wait_for_each_other() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (has, bola_has) = (ada.client.balance(&ada.current).await, bola.client.balance(&bola.current).await);
    let keys: Vec<String> = (0..100).map(|n| format!("cross-{n}")).collect();
    let there = join_all(keys.iter().map(|key| ada.client.pay(&ada.current, &bola.current, 300, key)));
    let back = join_all(keys.iter().map(|key| bola.client.pay(&bola.current, &ada.current, 300, key)));
    let (there, back) = tokio::join!(there, back);
    assert!(there.iter().chain(&back).all(|answer| answer.status == 201));
    assert_eq!(ada.client.balance(&ada.current).await, has);
    assert_eq!(bola.client.balance(&bola.current).await, bola_has);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_reads_what_it_has_just_written() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    for n in 0..30 {
        let paid = ada.client.pay(&ada.current, &bola.current, 100 + n, &format!("ryw-{n}")).await.is(201);
        let statement =
            ada.client.get(&format!("/v1/accounts/{}/statement?size=1", ada.current)).await.is(200);
        let newest = &statement.body["transactions"][0];
        assert_eq!(newest["transactionId"], paid.body["transactionId"]);
        assert_eq!(newest["amount"], -(100 + n));
    }
    bank.close().await;
}
