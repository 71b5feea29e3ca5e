//! Payments undone: by whom, until when, once.

use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::support::chance::{did, scaled};
use crate::support::client::Answer;
use crate::support::{Bank, Client, Person};

pub async fn reverse(client: &Client, transaction: &Answer) -> Answer {
    client.post(&path(transaction, "reverse"), &wrong()).await
}

pub fn path(transaction: &Answer, what: &str) -> String {
    format!("/v1/transactions/{}/{what}", transaction.text_at("transactionId"))
}

pub fn wrong() -> Value {
    json!({"reason": "Sent to the wrong person", "narration": "Back", "acknowledgeTerms": true})
}

async fn staff(bank: &Bank, transaction: &Answer) -> Answer {
    let path = path(transaction, "reverse").replace("/v1/", "/v1/staff/");
    bank.teller().await.client.post(&path, &wrong()).await
}

async fn external(person: &Person, destination: &str, amount: i64) -> Answer {
    let body = json!({
        "sourceAccount": person.current, "destinationAccount": destination, "bankCode": "000013", "amount": amount,
        "currency": "NGN",
    });
    person.client.post("/v1/payments/transfer/external", &body).await.is(201)
}

async fn later(bank: &Bank, seconds: i64) {
    bank.advance(SignedDuration::from_secs(seconds));
    bank.app.processes.run_due().await.unwrap();
}

#[tokio::test]
async fn a_payer_takes_a_transfer_back_once_and_all_of_it() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (has, bola_has) = (ada.client.balance(&ada.current).await, bola.client.balance(&bola.current).await);
    let paid = ada.client.pay(&ada.current, &bola.current, 5_000, "mistake").await.is(201);
    let back = reverse(&ada.client, &paid).await.is(201);
    assert_eq!(
        (&back.body["status"], &back.body["originalTransactionId"], &back.body["reversedAmount"]),
        (&json!("SUCCESS"), &paid.body["transactionId"], &json!(5_000))
    );
    assert_eq!((back.text_at("reason"), back.text_at("narration")), ("Sent to the wrong person", "Back"));
    assert_ne!(back.body["transactionId"], paid.body["transactionId"]);
    assert_eq!(back.header("location"), format!("/v1/transactions/{}", back.text_at("transactionId")));
    assert_eq!(ada.client.balance(&ada.current).await, has);
    assert_eq!(bola.client.balance(&bola.current).await, bola_has);
    let refused = reverse(&ada.client, &paid).await.problem(409, "INVALID_STATE");
    assert_eq!(refused.body["currentState"], "REVERSED");
    reverse(&bola.client, &paid).await.problem(409, "INVALID_STATE");
    staff(&bank, &paid).await.problem(409, "INVALID_STATE");
    // A reversal is no payment to be undone, by either side.
    reverse(&ada.client, &back).await.problem(422, "NOT_REVERSIBLE");
    reverse(&bola.client, &back).await.problem(422, "NOT_REVERSIBLE");
    let statement = ada.client.get(&format!("/v1/accounts/{}/statement?size=2", ada.current)).await.is(200);
    let amounts: Vec<_> = statement.list_at("transactions").iter().map(|entry| &entry["amount"]).collect();
    assert_eq!(amounts, [5_000, -5_000]);
    assert_eq!(statement.list_at("transactions")[0]["description"], "Reversal");
    bank.close().await;
}

#[tokio::test]
async fn a_payer_has_half_an_hour_and_the_payee_and_the_bank_all_the_time() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let pay = async |key: &str| ada.client.pay(&ada.current, &bola.current, 700, key).await.is(201);
    let (refunded, corrected, own) = (
        pay("refunded").await,
        pay("corrected").await,
        ada.client
            .post(
                "/v1/payments/transfer/self",
                &json!({"sourceAccount": ada.current, "destinationAccount": ada.savings, "amount": 900, "currency": "NGN"}),
            )
            .await
            .is(201),
    );
    bank.advance(SignedDuration::from_mins(29));
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let young = ada.client.pay(&ada.current, &bola.current, 700, "young").await.is(201);
    bank.advance(SignedDuration::from_mins(2));
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let late = reverse(&ada.client, &refunded).await.problem(422, "REVERSAL_WINDOW_CLOSED");
    assert_eq!(late.body["windowMinutes"], 30);
    reverse(&ada.client, &young).await.is(201);
    reverse(&bola.client, &refunded).await.is(201);
    staff(&bank, &corrected).await.is(201);
    bank.advance(SignedDuration::from_hours(24 * 300));
    reverse(&bank.ada().await.client, &own).await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn what_a_payee_has_left_decides_and_is_not_told_to_the_payer() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let paid = ada.client.pay(&ada.current, &bola.current, 5_000, "mistake").await.is(201);
    let has = bola.client.balance(&bola.current).await;
    bola.client.pay(&bola.current, &chidi.current, has - 4_999, "spent").await.is(201);
    let before = bank.events().await;
    let short = reverse(&ada.client, &paid).await.problem(422, "INSUFFICIENT_FUNDS");
    assert!(short.body.get("availableBalance").is_none(), "{}", short.text);
    assert!(!short.text.contains("4999") && !short.text.contains(&bola.current), "{}", short.text);
    assert_eq!(bank.events().await, before);
    // Bola herself may know.
    let short = reverse(&bola.client, &paid).await.problem(422, "INSUFFICIENT_FUNDS");
    assert_eq!(short.body["availableBalance"], 4_999);
    chidi.client.pay(&chidi.current, &bola.current, 1, "refill").await.is(201);
    let freeze = format!("/v1/staff/accounts/{}/freeze", bola.current);
    let unfreeze = format!("/v1/staff/accounts/{}/unfreeze", bola.current);
    let teller = bank.teller().await.client;
    teller.post(&freeze, &json!({"reason": "Court order"})).await.is(200);
    let frozen = reverse(&ada.client, &paid).await.problem(422, "INSUFFICIENT_FUNDS");
    assert_eq!(frozen.body["detail"], short_text(&frozen));
    teller.post(&unfreeze, &json!({"reason": "Lifted"})).await.is(200);
    reverse(&ada.client, &paid).await.is(201);
    assert_eq!(bola.client.balance(&bola.current).await, 0);
    bank.close().await;
}

fn short_text(answer: &Answer) -> &str {
    assert!(!answer.text.contains("FROZEN"), "{}", answer.text);
    "the payee's account does not have enough left"
}

#[tokio::test]
async fn only_those_who_are_part_of_it_and_only_what_can_be_undone() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let paid = ada.client.pay(&ada.current, &bola.current, 5_000, "mistake").await.is(201);
    reverse(&chidi.client, &paid).await.problem(404, "NOT_FOUND");
    let teller = bank.teller().await;
    let cash = json!({"amount": 500, "currency": "NGN"});
    let deposit = format!("/v1/staff/accounts/{}/deposit", ada.current);
    let deposited = teller.client.post(&deposit, &cash).await.is(201);
    let refused = reverse(&ada.client, &deposited).await.problem(422, "NOT_REVERSIBLE");
    assert_eq!(refused.body["transactionType"], "DEPOSIT");
    staff(&bank, &deposited).await.problem(422, "NOT_REVERSIBLE");
    let terms = json!({"reason": "Wrong", "acknowledgeTerms": false});
    assert_eq!(ada.client.post(&path(&paid, "reverse"), &terms).await.pointers(), ["/acknowledgeTerms"]);
    assert_eq!(ada.client.post(&path(&paid, "reverse"), &json!({})).await.pointers(), ["/reason"]);
    bank.close().await;
}

#[tokio::test]
async fn a_payment_on_its_way_is_called_back_until_the_rail_has_paid_it_out() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let has = ada.client.balance(&ada.current).await;
    let sent = external(&ada, "0123456789", 5_000).await;
    bank.app.processes.run_due().await.unwrap();
    reverse(&ada.client, &sent).await.is(201);
    assert_eq!(ada.client.balance(&ada.current).await, has);
    later(&bank, 100_000).await;
    assert_eq!((bank.events_of("payment.settled").await, bank.events_of("payment.returned").await), (0, 0));
    let left: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM schedule WHERE task NOT IN ('files.sweep', 'interest.post', 'account.silence')",
    )
    .fetch_one(&bank.pool)
    .await
    .unwrap();
    assert_eq!(left, 0);

    let ada = bank.ada().await;
    // 0005 settles at once at the rail: before and after the bank has heard of it, the answer is the same.
    for number in ["0123456789", "9000000005"] {
        let sent = external(&ada, number, 700).await;
        bank.advance(SignedDuration::from_secs(61));
        let early = reverse(&ada.client, &sent).await.problem(409, "INVALID_STATE");
        bank.app.processes.run_due().await.unwrap();
        let late = reverse(&ada.client, &sent).await.problem(409, "INVALID_STATE");
        assert_eq!(
            (&early.body["currentState"], &late.body["currentState"]),
            (&json!("SETTLED"), &json!("SETTLED"))
        );
    }
    // A rail that does not answer: nothing happens, try again.
    let sent = external(&ada, "9000000003", 700).await;
    let before = bank.events().await;
    let down = reverse(&ada.client, &sent).await.problem(503, "UNAVAILABLE");
    assert!(!down.header("retry-after").is_empty());
    assert_eq!(bank.events().await, before);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_reverse_at_once_one_does() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let has = ada.client.balance(&ada.current).await;
    for round in 0..scaled(5) {
        let paid =
            ada.client.pay(&ada.current, &bola.current, 5_000, &format!("round-{round}")).await.is(201);
        let sides =
            [ada.client.clone(), bola.client.clone(), ada.client.at(address), bola.client.at(address)];
        let answers = join_all(sides.iter().cycle().take(16).map(|side| reverse(side, &paid))).await;
        let (done, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 201);
        assert_eq!(done.len(), 1, "round {round}");
        for answer in refused {
            assert_eq!(answer.problem(409, "INVALID_STATE").body["currentState"], "REVERSED");
        }
        assert_eq!(ada.client.balance(&ada.current).await, has);
    }
    did(16 * scaled(5), "reversals at once");
    second.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payee_who_spends_while_it_is_taken_back_does_one_or_the_other() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let kept = bola.client.balance(&bola.current).await;
    for round in 0..scaled(6) {
        let paid = ada.client.pay(&ada.current, &bola.current, 5_000, &format!("in-{round}")).await.is(201);
        let key = format!("out-{round}");
        let everything = bola.client.balance(&bola.current).await;
        let spend = bola.client.pay(&bola.current, &chidi.current, everything, &key);
        let (back, spent) = if round % 2 == 0 {
            let (back, spent) = tokio::join!(reverse(&ada.client, &paid), spend);
            (back, spent)
        } else {
            let (spent, back) = tokio::join!(spend, reverse(&ada.client, &paid));
            (back, spent)
        };
        match (back.status, spent.status) {
            (201, 422) => assert_eq!(bola.client.balance(&bola.current).await, kept),
            (422, 201) => {
                assert_eq!(bola.client.balance(&bola.current).await, 0);
                chidi
                    .client
                    .pay(&chidi.current, &bola.current, kept, &format!("refill-{round}"))
                    .await
                    .is(201);
            }
            statuses => panic!("{statuses:?} {} {}", back.text, spent.text),
        }
    }
    did(scaled(6), "races of a reversal and a payment");
    bank.close().await;
}
