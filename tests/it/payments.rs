//! Transfers: once, twice, to nobody, by nobody, with nothing.

use jiff::SignedDuration;
use serde_json::json;

use crate::support::Bank;
use crate::support::client::transfer;

const INTERNAL: &str = "/v1/payments/transfer/internal";

#[tokio::test]
async fn a_transfer_moves_money_once_however_often_it_is_sent() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (had, bola_had) = (ada.client.balance(&ada.current).await, bola.client.balance(&bola.current).await);

    let first = ada.client.pay(&ada.current, &bola.current, 250_000, "lunch").await.is(201);
    assert_eq!(first.body["status"], "SUCCESS");
    assert_eq!(first.body["transferType"], "INTERNAL");
    let id = first.body["transactionId"].as_str().unwrap();
    assert_eq!(first.header("location"), format!("/v1/transactions/{id}"));
    let events = bank.events().await;

    let again = ada.client.pay(&ada.current, &bola.current, 250_000, "lunch").await.is(201);
    assert_eq!(again.text, first.text);
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(again.header("location"), first.header("location"));
    assert_eq!(bank.events().await, events);

    ada.client
        .pay(&ada.current, &bola.current, 250_001, "lunch")
        .await
        .problem(422, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(ada.client.balance(&ada.current).await, had - 250_000);
    assert_eq!(bola.client.balance(&bola.current).await, bola_had + 250_000);
    bank.close().await;
}

/// Keys are kept by the day: a repeat writes nothing, and makes no place for them that lasts.
#[tokio::test]
async fn a_repeat_may_be_the_first_request_of_a_day() {
    let bank = Bank::open().await;
    let now = bank.app.journal.sources().clock.now();
    let midnight = now.round((jiff::Unit::Hour, 24)).unwrap() + SignedDuration::from_hours(48);
    bank.advance(midnight.duration_since(now) - SignedDuration::from_mins(1));
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let first = ada.client.pay(&ada.current, &bola.current, 1, "yesterday").await.is(201);
    bank.advance(SignedDuration::from_mins(2));
    let again = ada.client.pay(&ada.current, &bola.current, 1, "yesterday").await.is(201);
    assert_eq!(again.text, first.text);
    ada.client.pay(&ada.current, &bola.current, 1, "today").await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn the_same_key_of_somebody_else_or_elsewhere_is_another_key() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    ada.client.pay(&ada.current, &bola.current, 100, "one").await.is(201);
    let bolas = bola.client.pay(&bola.current, &ada.current, 100, "one").await.is(201);
    assert_eq!(bolas.header("idempotent-replayed"), "");
    let own = transfer(&ada.current, &ada.savings, 100);
    let elsewhere = ada.client.post_with_key("/v1/payments/transfer/self", "one", &own).await.is(201);
    assert_eq!(elsewhere.header("idempotent-replayed"), "");
    bank.close().await;
}

#[tokio::test]
async fn nobody_spends_more_than_they_have() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (has, events) = (ada.client.balance(&ada.current).await, bank.events().await);
    let refused = ada.client.pay(&ada.current, &bola.current, has + 1, "all").await;
    let refused = refused.problem(422, "INSUFFICIENT_FUNDS");
    assert_eq!(refused.body["availableBalance"], has);
    assert_eq!(bank.events().await, events, "a refusal leaves no trace");
    // The key of a refusal is free: the refusal was not recorded.
    ada.client.pay(&ada.current, &bola.current, has, "all").await.is(201);
    assert_eq!(ada.client.balance(&ada.current).await, 0);
    bank.close().await;
}

#[tokio::test]
async fn a_strangers_account_and_an_unknown_one_are_the_same() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let events = bank.events().await;
    let pay = |source: &str| {
        ada.client
            .request(reqwest::Method::POST, INTERNAL)
            .header("X-Request-Id", "the-same")
            .json(&transfer(source, &ada.current, 1))
            .send()
    };
    let strangers = pay(&bola.current).await.problem(404, "NOT_FOUND");
    let unknown = pay("1000000008").await.problem(404, "NOT_FOUND");
    assert_eq!(strangers.text, unknown.text);
    assert_eq!(bank.events().await, events);
    // The payee must exist too.
    ada.client.pay(&ada.current, "1000000008", 1, "k").await.problem(404, "NOT_FOUND");
    bank.close().await;
}

#[tokio::test]
async fn bad_bodies_are_told_everything_at_once() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let events = bank.events().await;
    let wrong = json!({"sourceAccount": 7, "destinationAccount": "12", "amount": 0, "currency": "naira"});
    let answer = ada.client.post(INTERNAL, &wrong).await;
    let mut pointers = answer.pointers();
    pointers.sort_unstable();
    assert_eq!(pointers, ["/amount", "/currency", "/destinationAccount", "/sourceAccount"]);
    for garbage in ["", "{", "[]", "nonsense", "{\"amount\": 1e400}", "\u{0}"] {
        let post = ada.client.request(reqwest::Method::POST, INTERNAL).raw("application/json", garbage);
        assert_eq!(post.send().await.status, 400, "{garbage:?}");
    }
    for amount in [json!(-1), json!(0), json!(1.5), json!("1"), json!(1_000_000_000_000_001_i64), json!(null)]
    {
        let body = json!({"sourceAccount": ada.current, "destinationAccount": ada.savings, "amount": amount, "currency": "NGN"});
        assert_eq!(ada.client.post(INTERNAL, &body).await.pointers(), ["/amount"], "{amount}");
    }
    let form = ada.client.request(reqwest::Method::POST, INTERNAL).raw("text/plain", "a=b");
    assert_eq!(form.send().await.status, 415);
    let huge =
        ada.client.request(reqwest::Method::POST, INTERNAL).raw("application/json", vec![b' '; 1_100_000]);
    assert_eq!(huge.send().await.status, 413);
    assert_eq!(bank.events().await, events);
    bank.close().await;
}

#[tokio::test]
async fn money_stays_in_its_currency_and_between_two_accounts() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let mut dollars = transfer(&ada.current, &ada.savings, 5);
    dollars["currency"] = json!("USD");
    ada.client.post(INTERNAL, &dollars).await.problem(422, "CURRENCY_MISMATCH");
    ada.client.pay(&ada.current, &ada.current, 5, "loop").await.problem(422, "SAME_ACCOUNT");
    bank.close().await;
}

#[tokio::test]
async fn cash_goes_over_the_till_only_by_staff() {
    let bank = Bank::open().await;
    let (ada, teller) = (bank.ada().await, bank.teller().await);
    let had = ada.client.balance(&ada.current).await;
    let cash = json!({"amount": 5_000, "currency": "NGN", "narration": "Cash", "reference": "SLIP-1"});
    let deposit = format!("/v1/staff/accounts/{}/deposit", ada.current);
    let withdraw = format!("/v1/staff/accounts/{}/withdraw", ada.current);
    ada.client.post(&deposit, &cash).await.problem(403, "PERMISSION_DENIED");
    teller.client.post(&deposit, &cash).await.is(201);
    teller.client.post(&withdraw, &cash).await.is(201);
    teller.client.post("/v1/staff/accounts/1000000008/deposit", &cash).await.problem(404, "NOT_FOUND");
    assert_eq!(ada.client.balance(&ada.current).await, had);
    bank.close().await;
}

#[tokio::test]
async fn a_self_transfer_needs_both_accounts() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let path = "/v1/payments/transfer/self";
    ada.client.post(path, &transfer(&ada.current, &ada.savings, 10)).await.is(201);
    ada.client.post(path, &transfer(&ada.current, &bola.current, 10)).await.problem(404, "NOT_FOUND");
    ada.client.post(path, &transfer(&bola.current, &ada.current, 10)).await.problem(404, "NOT_FOUND");
    bank.close().await;
}
