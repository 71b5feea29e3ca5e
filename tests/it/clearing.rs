//! Payments that leave the bank or come into it: on their way, arrived, or come back.

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::support::client::Answer;
use crate::support::{Bank, Person};

async fn send(person: &Person, destination: &str, amount: i64) -> Answer {
    let body = json!({
        "sourceAccount": person.current, "destinationAccount": destination, "destinationName": "Bola Adeyemi",
        "bankCode": "000013", "bankName": "Guaranty Trust Bank", "amount": amount, "currency": "NGN",
        "narration": "Rent <June> & \"water\"", "reference": "RENT",
    });
    person.client.post("/v1/payments/transfer/external", &body).await
}

async fn fund(person: &Person, amount: i64, provider: &str) -> Answer {
    let body = json!({
        "walletProvider": provider, "phoneNumber": "+2348031000101", "destinationAccount": person.current,
        "amount": amount, "currency": "NGN",
    });
    person.client.post("/v1/payments/fund/via/mwallet", &body).await
}

async fn balances(person: &Person) -> (i64, i64) {
    let path = format!("/v1/accounts/{}/balance", person.current);
    let answer = person.client.get(&path).await.is(200);
    (answer.number_at("ledgerBalance"), answer.number_at("availableBalance"))
}

async fn newest(person: &Person) -> Value {
    let path = format!("/v1/accounts/{}/statement?size=1", person.current);
    person.client.get(&path).await.is(200).body["transactions"][0].clone()
}

#[tokio::test]
async fn a_transfer_to_another_bank_is_debited_at_once_and_arrives_later() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let (before, _) = balances(&ada).await;
    let sent = send(&ada, "0123456789", 5_000).await.is(201);
    assert_eq!((&sent.body["status"], &sent.body["transferType"]), (&json!("SUCCESS"), &json!("EXTERNAL")));
    assert_eq!(sent.body["destinationAccount"], "0123456789");
    assert!(!sent.text_at("estimatedDeliveryTime").is_empty());
    assert_eq!(balances(&ada).await, (before - 5_000, before - 5_000));
    bank.app.processes.run_due().await.unwrap();
    assert_eq!(bank.internal("settlement.banks").await, 5_000);
    assert_eq!(bank.events_of("payment.settled").await, 0);
    bank.later(61).await;
    assert_eq!((bank.internal("settlement.banks").await, bank.internal("nostro").await), (0, 5_000));
    assert_eq!(bank.events_of("payment.settled").await, 1);
    // Nothing is left to be done, and nothing is done twice.
    bank.later(100_000).await;
    assert_eq!(bank.events_of("payment.settled").await, 1);
    let left: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM schedule WHERE task NOT IN ('files.sweep', 'interest.post', 'account.silence')",
    )
    .fetch_one(&bank.pool)
    .await
    .unwrap();
    assert_eq!(left, 0);
    bank.close().await;
}

#[tokio::test]
async fn what_does_not_arrive_comes_back_and_the_customer_is_told() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let (before, _) = balances(&ada).await;
    for (number, seconds) in [("9000000001", 1), ("9000000002", 61)] {
        let sent = send(&ada, number, 5_000).await.is(201);
        bank.later(seconds).await;
        let ada = bank.ada().await;
        assert_eq!(balances(&ada).await, (before, before), "{number}");
        let back = newest(&ada).await;
        assert_eq!((&back["description"], &back["amount"]), (&json!("Payment returned"), &json!(5_000)));
        assert_eq!(back["transactionId"], sent.body["transactionId"]);
        let told = bank.client().get("/v1/sandbox/messages?to=ada@example.com").await.is(200);
        assert_eq!(told.list_at("messages")[0]["data"]["transactionId"], sent.body["transactionId"]);
    }
    assert_eq!((bank.internal("settlement.banks").await, bank.internal("nostro").await), (0, 0));
    bank.close().await;
}

#[tokio::test]
async fn a_rail_that_is_down_gets_the_same_payment_again_until_it_answers() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    send(&ada, "9000000003", 700).await.is(201);
    for _ in 0..3 {
        bank.app.processes.run_due().await.unwrap();
        let (attempts, error): (i32, Option<String>) =
            sqlx::query_as("SELECT attempts, last_error FROM schedule WHERE task = 'payment.clear'")
                .fetch_one(&bank.pool)
                .await
                .unwrap();
        assert!(attempts >= 1 && error.as_deref() == Some("UNAVAILABLE"), "{attempts} {error:?}");
        bank.advance(SignedDuration::from_secs(10));
    }
    bank.later(120).await;
    assert_eq!((bank.internal("settlement.banks").await, bank.internal("nostro").await), (0, 700));
    assert_eq!(bank.events_of("payment.completed").await, 1 + demo_payments(&bank).await);
    bank.close().await;
}

/// Payments that the demo's people had made before.
async fn demo_payments(bank: &Bank) -> i64 {
    let sql = "SELECT count(*) FROM events WHERE event_type = 'payment.completed' AND payload->'completed'->>'kind' <> 'EXTERNAL'";
    sqlx::query_scalar(sql).fetch_one(&bank.pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_clear_each_payment_once() {
    let bank = Bank::open().await;
    let (second, _) = bank.second().await;
    let ada = bank.ada().await;
    for n in 0..40 {
        send(&ada, &format!("0123456{n:03}"), 100).await.is(201);
    }
    bank.advance(SignedDuration::from_secs(61));
    let (one, other) = tokio::join!(bank.app.processes.run_due(), second.processes.run_due());
    one.unwrap();
    other.unwrap();
    let settled = async || bank.events_of("payment.settled").await;
    for _ in 0..100 {
        if settled().await == 40 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!((settled().await, bank.internal("nostro").await), (40, 4_000));
    second.close().await;
    bank.close().await;
}

#[tokio::test]
async fn money_from_a_wallet_is_there_and_cannot_be_spent_until_it_has_arrived() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let (before, available) = balances(&ada).await;
    let funded = fund(&ada, 3_000, "mtn_momo").await.is(201);
    assert_eq!((&funded.body["walletProvider"], &funded.body["amount"]), (&json!("MTN_MOMO"), &json!(3_000)));
    assert_eq!(balances(&ada).await, (before + 3_000, available));
    assert_eq!(bank.internal("settlement.wallet.MTN_MOMO").await, -3_000);
    let spend = send(&ada, "0123456789", available + 1).await.problem(422, "INSUFFICIENT_FUNDS");
    assert_eq!(spend.body["availableBalance"], available);
    bank.later(61).await;
    assert_eq!(balances(&ada).await, (before + 3_000, available + 3_000));
    assert_eq!(bank.internal("settlement.wallet.MTN_MOMO").await, 0);
    // Nor is there a settlement account for whatever somebody types.
    let unknown = fund(&ada, 3_000, "MTN_MOMA").await.problem(422, "NOT_OFFERED");
    assert!(unknown.list_at("walletProviders").contains(&json!("MTN_MOMO")));
    // Somebody else's wallet pays nothing in.
    let bola = bank.bola().await;
    fund(&bola, 3_000, "MTN_MOMO").await.problem(422, "PHONE_NOT_YOURS");
    bank.close().await;
}

#[tokio::test]
async fn a_wallet_is_paid_and_kept() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let body = json!({
        "sourceAccount": ada.current, "phoneNumber": "+234 803 100 0102", "walletProvider": "MTN_MOMO",
        "amount": 400, "currency": "NGN", "saveAsBeneficiary": true,
    });
    let sent = ada.client.post("/v1/payments/transfer/mwallet", &body).await.is(201);
    assert_eq!(
        (&sent.body["transferType"], &sent.body["phoneNumber"]),
        (&json!("MWALLET"), &json!("+2348031000102"))
    );
    let kept = ada.client.get("/v1/payments/beneficiaries/mwallet").await.is(200);
    assert_eq!(kept.list_at("beneficiaries")[0]["transferCount"], 1);
    for wrong in ["08030000002", "+234", "+99912345678", "phone"] {
        let mut body = body.clone();
        body["phoneNumber"] = json!(wrong);
        assert_eq!(
            ada.client.post("/v1/payments/transfer/mwallet", &body).await.pointers(),
            ["/phoneNumber"]
        );
    }
    bank.close().await;
}
