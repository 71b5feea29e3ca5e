//! Disputes: who may begin one, what staff decide, and that nobody is paid back twice.

use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::reversals::{path, reverse};
use crate::support::chance::{did, scaled};
use crate::support::client::Answer;
use crate::support::{Bank, Client, Person};

async fn dispute(client: &Client, transaction: &Answer, amount: i64) -> Answer {
    let body = json!({
        "disputeReason": "UNAUTHORIZED", "disputeAmount": amount, "description": "I was asleep",
        "supportingDocuments": ["statement.pdf", "passport.jpg"], "contactPhone": "+2348031000101",
        "contactEmail": "ada@example.com",
    });
    client.post(&path(transaction, "dispute"), &body).await
}

async fn review(bank: &Bank, dispute: &Answer) -> Answer {
    let path = format!("/v1/staff/disputes/{}/start-review", dispute.text_at("disputeId"));
    bank.approver().await.client.post(&path, &json!({})).await
}

async fn resolve(bank: &Bank, dispute: &Answer, outcome: &str) -> Answer {
    let path = format!("/v1/staff/disputes/{}/resolve", dispute.text_at("disputeId"));
    bank.approver().await.client.post(&path, &json!({"outcome": outcome, "note": "Checked"})).await
}

async fn withdraw(client: &Client, dispute: &Answer) -> Answer {
    let path = format!("/v1/disputes/{}/withdraw", dispute.text_at("disputeId"));
    client.post(&path, &json!({"reason": "It was my brother"})).await
}

async fn read(client: &Client, dispute: &Answer) -> Value {
    client.get(&format!("/v1/disputes/{}", dispute.text_at("disputeId"))).await.is(200).body
}

async fn chargebacks(bank: &Bank) -> i64 {
    let sql = "SELECT balance FROM ledger_accounts WHERE account = 'bank:chargebacks:NGN'";
    sqlx::query_scalar(sql).fetch_optional(&bank.pool).await.unwrap().unwrap_or(0)
}

async fn external(person: &Person, destination: &str, amount: i64) -> Answer {
    let body = json!({
        "sourceAccount": person.current, "destinationAccount": destination, "bankCode": "000013", "amount": amount,
        "currency": "NGN",
    });
    person.client.post("/v1/payments/transfer/external", &body).await.is(201)
}

#[tokio::test]
async fn a_payer_who_was_right_gets_the_disputed_amount_from_the_bank() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (has, bola_has) = (ada.client.balance(&ada.current).await, bola.client.balance(&bola.current).await);
    let paid = ada.client.pay(&ada.current, &bola.current, 5_000, "paid").await.is(201);
    let begun = dispute(&ada.client, &paid, 3_000).await.is(201);
    assert_eq!(begun.header("location"), format!("/v1/disputes/{}", begun.text_at("disputeId")));
    assert_eq!(
        (&begun.body["status"], &begun.body["disputeStatus"], &begun.body["disputeReason"]),
        (&json!("SUCCESS"), &json!("PENDING"), &json!("UNAUTHORIZED"))
    );
    assert_eq!(
        (&begun.body["transactionId"], &begun.body["disputeAmount"]),
        (&paid.body["transactionId"], &json!(3_000))
    );
    // Nothing has moved yet, and nobody decides what nobody has looked at.
    assert_eq!(ada.client.balance(&ada.current).await, has - 5_000);
    let early = resolve(&bank, &begun, "WON").await.problem(409, "INVALID_STATE");
    assert_eq!(early.body["currentState"], "PENDING");
    review(&bank, &begun).await.is(200);
    let won = resolve(&bank, &begun, "WON").await.is(200);
    assert_eq!((&won.body["disputeStatus"], &won.body["refundedAmount"]), (&json!("WON"), &json!(3_000)));
    assert_eq!(ada.client.balance(&ada.current).await, has - 2_000);
    assert_eq!(bola.client.balance(&bola.current).await, bola_has + 5_000);
    assert_eq!(chargebacks(&bank).await, -3_000);
    bank.caught_up().await;
    let seen = read(&ada.client, &begun).await;
    assert_eq!(
        (&seen["disputeStatus"], &seen["note"], &seen["refundTransactionId"]),
        (&json!("WON"), &json!("Checked"), &won.body["refundTransactionId"])
    );
    assert_eq!(seen["supportingDocuments"], json!(["statement.pdf", "passport.jpg"]));
    resolve(&bank, &begun, "WON").await.problem(409, "INVALID_STATE");
    // What was refunded is neither disputed nor reversed once more; the rest may be disputed.
    let refused = reverse(&ada.client, &paid).await.problem(409, "INVALID_STATE");
    assert_eq!(refused.body["currentState"], "REFUNDED");
    let most = dispute(&ada.client, &paid, 2_001).await.problem(422, "AMOUNT_OUT_OF_RANGE");
    assert_eq!(most.body["maximumAmount"], 2_000);
    dispute(&ada.client, &paid, 2_000).await.is(201);
    let refund = json!({"transactionId": won.body["refundTransactionId"]});
    let refund = Answer { body: refund, ..won };
    reverse(&ada.client, &refund).await.problem(422, "NOT_REVERSIBLE");
    bank.close().await;
}

#[tokio::test]
async fn a_payer_who_was_wrong_or_changed_their_mind_gets_nothing_and_may_try_again() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let paid = ada.client.pay(&ada.current, &bola.current, 5_000, "paid").await.is(201);
    let has = ada.client.balance(&ada.current).await;
    let begun = dispute(&ada.client, &paid, 5_000).await.is(201);
    let again = dispute(&ada.client, &paid, 1).await.problem(409, "INVALID_STATE");
    assert_eq!(again.body["currentState"], "DISPUTED");
    withdraw(&bola.client, &begun).await.problem(404, "NOT_FOUND");
    let withdrawn = withdraw(&ada.client, &begun).await.is(200);
    assert_eq!(withdrawn.body["disputeStatus"], "WITHDRAWN");
    withdraw(&ada.client, &begun).await.problem(409, "INVALID_STATE");
    review(&bank, &begun).await.problem(409, "INVALID_STATE");
    let begun = dispute(&ada.client, &paid, 5_000).await.is(201);
    review(&bank, &begun).await.is(200);
    resolve(&bank, &begun, "LOST").await.is(200);
    withdraw(&ada.client, &begun).await.problem(409, "INVALID_STATE");
    assert_eq!((ada.client.balance(&ada.current).await, chargebacks(&bank).await), (has, 0));
    // With nothing open any more, it can be undone in peace.
    reverse(&bola.client, &paid).await.is(201);
    let late = dispute(&ada.client, &paid, 1).await.problem(409, "INVALID_STATE");
    assert_eq!(late.body["currentState"], "REVERSED");
    bank.close().await;
}

#[tokio::test]
async fn only_an_outgoing_payment_of_ones_own_is_disputed_and_for_120_days() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let paid = ada.client.pay(&ada.current, &bola.current, 5_000, "paid").await.is(201);
    dispute(&chidi.client, &paid, 1).await.problem(404, "NOT_FOUND");
    dispute(&bola.client, &paid, 1).await.problem(422, "NOT_DISPUTABLE");
    let own = json!({"sourceAccount": ada.current, "destinationAccount": ada.savings, "amount": 9, "currency": "NGN"});
    let own = ada.client.post("/v1/payments/transfer/self", &own).await.is(201);
    dispute(&ada.client, &own, 9).await.problem(422, "NOT_DISPUTABLE");
    dispute(&ada.client, &paid, 5_001).await.problem(422, "AMOUNT_OUT_OF_RANGE");
    let wrong = json!({"disputeReason": "MOOD", "supportingDocuments": [1], "contactPhone": "0803"});
    let mut pointers: Vec<_> = {
        let answer = ada.client.post(&path(&paid, "dispute"), &wrong).await;
        answer.pointers().into_iter().map(str::to_owned).collect()
    };
    pointers.sort();
    assert_eq!(pointers, ["/contactPhone", "/disputeAmount", "/disputeReason", "/supportingDocuments/0"]);
    bank.advance(SignedDuration::from_hours(24 * 120 - 1));
    let begun = dispute(&bank.ada().await.client, &paid, 1).await.is(201);
    withdraw(&bank.ada().await.client, &begun).await.is(200);
    bank.advance(SignedDuration::from_hours(2));
    let late = dispute(&bank.ada().await.client, &paid, 1).await.problem(422, "DISPUTE_WINDOW_CLOSED");
    assert_eq!(late.body["windowDays"], 120);
    bank.close().await;
}

#[tokio::test]
async fn a_payment_that_comes_back_while_it_is_disputed_is_given_back_once() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let has = ada.client.balance(&ada.current).await;
    // 0002 is returned by the rail after its usual delay.
    let (first, second) =
        (external(&ada, "9000000002", 5_000).await, external(&ada, "9000000002", 5_000).await);
    let (back, refunded) = (
        dispute(&ada.client, &first, 5_000).await.is(201),
        dispute(&ada.client, &second, 5_000).await.is(201),
    );
    review(&bank, &back).await.is(200);
    review(&bank, &refunded).await.is(200);
    // The second one is refunded before the rail returns it: what comes back is then the bank's.
    resolve(&bank, &refunded, "WON").await.is(200);
    assert_eq!((ada.client.balance(&ada.current).await, chargebacks(&bank).await), (has - 5_000, -5_000));
    bank.advance(SignedDuration::from_secs(61));
    bank.app.processes.run_due().await.unwrap();
    assert_eq!(bank.events_of("payment.returned").await, 2);
    assert_eq!((ada.client.balance(&ada.current).await, chargebacks(&bank).await), (has, 0));
    let too_late = resolve(&bank, &back, "WON").await.problem(409, "INVALID_STATE");
    assert_eq!(too_late.body["currentState"], "RETURNED");
    resolve(&bank, &back, "LOST").await.is(200);
    assert_eq!((ada.client.balance(&ada.current).await, chargebacks(&bank).await), (has, 0));
    bank.close().await;
}

#[tokio::test]
async fn disputes_are_listed_for_their_owner_and_for_staff() {
    let bank = Bank::open().await;
    let (ada, bola, approver) = (bank.ada().await, bank.bola().await, bank.approver().await);
    let paid = ada.client.pay(&ada.current, &bola.current, 5_000, "one").await.is(201);
    let ada_s = dispute(&ada.client, &paid, 500).await.is(201);
    let paid = bola.client.pay(&bola.current, &ada.current, 5_000, "two").await.is(201);
    let bola_s = dispute(&bola.client, &paid, 700).await.is(201);
    review(&bank, &bola_s).await.is(200);
    bank.caught_up().await;
    let ids = async |client: &Client, path: &str| {
        let listed = client.get(path).await.is(200);
        let ids = listed.list_at("disputes").iter().map(|one| one["disputeId"].clone());
        ids.collect::<Vec<_>>()
    };
    let (one, two) = (ada_s.body["disputeId"].clone(), bola_s.body["disputeId"].clone());
    assert_eq!(ids(&ada.client, "/v1/disputes").await, std::slice::from_ref(&one));
    assert_eq!(ids(&approver.client, "/v1/staff/disputes").await, [two.clone(), one.clone()]);
    assert_eq!(
        ids(&approver.client, "/v1/staff/disputes?sort=disputeAmount").await,
        [one.clone(), two.clone()]
    );
    assert_eq!(ids(&approver.client, "/v1/staff/disputes?status=UNDER_REVIEW").await, [two]);
    let about = format!("/v1/staff/disputes?transactionId={}", ada_s.text_at("transactionId"));
    assert_eq!(ids(&approver.client, &about).await, [one]);
    let wrong = approver.client.get("/v1/staff/disputes?status=open&transactionId=1").await;
    assert_eq!(wrong.pointers(), ["/status", "/transactionId"]);
    let path = format!("/v1/disputes/{}", ada_s.text_at("disputeId"));
    bola.client.get(&path).await.problem(404, "NOT_FOUND");
    // What one has read is what one moves.
    let tag = ada.client.get(&path).await.is(200).header("etag").to_owned();
    review(&bank, &ada_s).await.is(200);
    let request = ada.client.request(reqwest::Method::POST, &format!("{path}/withdraw"));
    request.header("If-Match", &tag).json(&json!({})).send().await.problem(412, "PRECONDITION_FAILED");
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_dispute_and_a_reversal_at_once_one_happens() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    for round in 0..scaled(8) {
        let has = ada.client.balance(&ada.current).await;
        let paid =
            ada.client.pay(&ada.current, &bola.current, 5_000, &format!("round-{round}")).await.is(201);
        let (back, begun) = if round % 2 == 0 {
            tokio::join!(reverse(&ada.client, &paid), dispute(&ada.client, &paid, 5_000))
        } else {
            let (begun, back) = tokio::join!(dispute(&ada.client, &paid, 5_000), reverse(&ada.client, &paid));
            (back, begun)
        };
        match (back.status, begun.status) {
            (201, 409) => assert_eq!(begun.body["currentState"], "REVERSED"),
            (409, 201) => {
                assert_eq!(back.body["currentState"], "DISPUTED");
                review(&bank, &begun).await.is(200);
                let path = format!("/v1/staff/disputes/{}/resolve", begun.text_at("disputeId"));
                let (approver, won) =
                    (bank.approver().await.client, json!({"outcome": "WON", "note": "Checked"}));
                let all = join_all((0..6).map(|_| approver.post(&path, &won))).await;
                assert_eq!(all.iter().filter(|answer| answer.status == 200).count(), 1);
            }
            statuses => panic!("{statuses:?} {} {}", back.text, begun.text),
        }
        assert_eq!(ada.client.balance(&ada.current).await, has);
    }
    did(scaled(8), "races of a dispute and a reversal");
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_decision_and_a_withdrawal_at_once_one_happens() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    for round in 0..scaled(4) {
        let paid = ada.client.pay(&ada.current, &bola.current, 900, &format!("round-{round}")).await.is(201);
        let has = ada.client.balance(&ada.current).await;
        let begun = dispute(&ada.client, &paid, 900).await.is(201);
        review(&bank, &begun).await.is(200);
        let (won, withdrawn) = tokio::join!(resolve(&bank, &begun, "WON"), withdraw(&ada.client, &begun));
        let back = match (won.status, withdrawn.status) {
            (200, 409) => 900,
            (409, 200) => 0,
            statuses => panic!("{statuses:?} {} {}", won.text, withdrawn.text),
        };
        assert_eq!(ada.client.balance(&ada.current).await, has + back);
    }
    did(scaled(4), "races of a decision and a withdrawal");
    bank.close().await;
}
