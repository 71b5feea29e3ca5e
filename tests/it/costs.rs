//! What a payment costs, in numbers that do not depend on the machine.

use crate::support::Bank;
use futures_util::future::join_all;

#[tokio::test(flavor = "multi_thread")]
async fn a_batch_of_payments_is_three_round_trips_whatever_its_size() {
    let (bank, faults) = Bank::behind_a_proxy().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (ada, bola) = (&ada, &bola);
    let pay = |n: usize| async move {
        ada.client.pay(&ada.current, &bola.current, 1, &format!("round-trips-{n}")).await
    };
    // Statements are prepared and accounts remembered.
    pay(0).await.is(201);
    faults.batches.lock().unwrap().clear();
    for answer in join_all((1..=100).map(pay)).await {
        answer.is(201);
    }
    let batches = faults.batches.lock().unwrap().clone();
    // BEGIN with the lock, the append, COMMIT.
    assert!(batches.iter().all(|round_trips| *round_trips == 3), "{batches:?}");
    assert!((1..100).contains(&batches.len()), "payments share batches: {}", batches.len());
    bank.close().await;
}
