//! Reading what was made: lists over all accounts, and single transactions.

mod walks;

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::support::client::transfer;
use crate::support::{Bank, Person};

/// The transactions of a list.
async fn list(person: &Person, query: &str) -> Vec<Value> {
    let listed = person.client.get(&format!("/v1/transactions?{query}")).await.is(200);
    // The bank's own work goes on meanwhile.
    let by_somebody = |row: &&Value| row["type"] != "SAVINGS_INTEREST";
    listed.list_at("transactions").iter().filter(by_somebody).cloned().collect()
}

fn ids(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["transactionId"].as_str().unwrap()).collect()
}

async fn pay(from: &Person, to: &str, amount: i64, narration: &str) -> String {
    let mut body = transfer(&from.current, to, amount);
    body["narration"] = json!(narration);
    let paid = from.client.post("/v1/payments/transfer/internal", &body).await.is(201);
    paid.text_at("transactionId").to_owned()
}

async fn send(person: &Person, destination: &str) -> String {
    let body = json!({
        "sourceAccount": person.current, "destinationAccount": destination, "destinationName": "Bola Adeyemi",
        "bankCode": "000013", "bankName": "Guaranty Trust Bank", "amount": 5_000, "currency": "NGN",
    });
    let sent = person.client.post("/v1/payments/transfer/external", &body).await.is(201);
    sent.text_at("transactionId").to_owned()
}

#[tokio::test]
async fn payments_of_all_accounts_are_one_list_newest_first() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = list(&ada, "").await;
    let lunch = pay(&ada, &bola.current, 700, "Lunch").await;
    let body = json!({"sourceAccount": ada.current, "destinationAccount": ada.savings, "amount": 50, "currency": "NGN"});
    let saved = ada.client.post("/v1/payments/transfer/self", &body).await.is(201);
    let saved = saved.text_at("transactionId");
    let back = pay(&bola, &ada.savings, 300, "Your half").await;
    bank.caught_up().await;
    let rows = list(&ada, "").await;
    // Each once, also the one between two accounts of hers.
    assert_eq!(ids(&rows)[..3], [back.as_str(), saved, lunch.as_str()]);
    assert_eq!(ids(&rows)[3..], ids(&before)[..rows.len() - 3]);
    let seen: Vec<_> = rows.iter().map(|row| (&row["direction"], &row["type"])).take(3).collect();
    assert_eq!(
        seen,
        [
            (&json!("CREDIT"), &json!("INTERNAL")),
            (&json!("DEBIT"), &json!("SELF")),
            (&json!("DEBIT"), &json!("INTERNAL"))
        ]
    );
    let of_bola = list(&bola, "").await;
    assert_eq!(ids(&of_bola)[..2], [back.as_str(), lunch.as_str()]);
    // What Ada calls Bola is her business.
    assert_eq!(
        (&rows[2]["destinationName"], &of_bola[1]["destinationName"]),
        (&json!("Bola Adeyemi"), &Value::Null)
    );
    assert_eq!((&of_bola[1]["direction"], &of_bola[1]["narration"]), (&json!("CREDIT"), &json!("Lunch")));
    assert_eq!(of_bola[1]["sourceAccount"], ada.current);

    let paged = ada.client.get("/v1/transactions?size=2&page=2").await.is(200);
    assert_eq!(ids(paged.list_at("transactions")), ids(&rows)[2..4]);
    assert_eq!(paged.body["pagination"]["hasPrevious"], true);
    let last = ada.client.get("/v1/transactions?size=100&page=1000").await.is(200);
    assert!(last.list_at("transactions").is_empty());
    bank.close().await;
}

#[tokio::test]
async fn lists_are_filtered_and_sorted() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    bank.advance(SignedDuration::from_hours(24 * 40));
    let (ada, bola) = (bank.person("ada@example.com").await, {
        drop((ada, bola));
        bank.bola().await
    });
    let today = bank.app.journal.sources().clock.now().to_string();
    let today = &today[..10];
    let small = pay(&ada, &bola.current, 100, "50% off <b>").await;
    let large = pay(&ada, &bola.savings, 900, "Rent_June").await;
    let sent = send(&ada, "0123456789").await;
    let got = pay(&bola, &ada.savings, 400, "Thanks").await;
    bank.caught_up().await;
    for (query, expected) in [
        // Thirty days when nothing is said: what the demo did is longer ago.
        ("", vec![&got, &sent, &large, &small]),
        ("type=EXTERNAL", vec![&sent]),
        ("type=INTERNAL&minAmount=200&maxAmount=899", vec![&got]),
        ("minAmount=900&maxAmount=900", vec![&large]),
        ("q=50%25", vec![&small]),
        ("q=%25", vec![&small]),
        ("q=RENT_j", vec![&large]),
        ("q=guaranty", vec![&sent]),
        ("q=0123456789", vec![&sent]),
        ("q=bank:", vec![]),
        ("status=SUCCESS", vec![&got, &sent, &large, &small]),
        ("status=REVERSED", vec![]),
        ("sort=amount", vec![&small, &got, &large, &sent]),
        ("sort=processedAt", vec![&small, &large, &sent, &got]),
        ("tagId=tag_0192f0c1a00070008000000000000abc", vec![]),
    ] {
        let rows = list(&ada, query).await;
        assert_eq!(ids(&rows), expected, "{query}");
    }
    let by_account = format!("accountNumber={}", ada.savings);
    assert_eq!(ids(&list(&ada, &by_account).await), [&got]);
    assert_eq!(ids(&list(&ada, &format!("from={today}&to={today}")).await).len(), 4);
    assert!(list(&ada, &format!("to={today}T00:00:00Z")).await.is_empty());
    assert!(list(&ada, "from=2026-01-01&to=2026-12-31").await.len() <= 20);

    let wrong = "type=GIFT&status=LOST&tagId=food&accountNumber=1&minAmount=-1&sort=owner&page=0&from=x";
    let refused = ada.client.get(&format!("/v1/transactions?{wrong}")).await;
    let mut pointers = refused.pointers();
    pointers.sort_unstable();
    assert_eq!(
        pointers,
        ["/accountNumber", "/from", "/minAmount", "/page", "/sort", "/status", "/tagId", "/type"]
    );
    bank.close().await;
}

#[tokio::test]
async fn a_transaction_is_read_by_both_sides_and_tells_what_became_of_it() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let lunch = pay(&ada, &bola.current, 700, "Lunch").await;
    let (sent, lost) = (send(&ada, "0123456789").await, send(&ada, "9000000002").await);
    bank.caught_up().await;
    let read = async |person: &Person, id: &str| person.client.get(&format!("/v1/transactions/{id}")).await;
    let one = read(&ada, &lunch).await.is(200);
    assert_eq!((&one.body["status"], &one.body["amount"]), (&json!("SUCCESS"), &json!(700)));
    assert_eq!(one.body["receiptUrl"], format!("/v1/transactions/{lunch}/receipt"));
    read(&bola, &lunch).await.is(200);
    let (strangers, unknown) =
        (read(&chidi, &lunch).await, read(&chidi, "txn_0192f0c1a00070008000000000000abc").await);
    assert_eq!(
        (strangers.status, strangers.body["detail"].clone()),
        (404, unknown.problem(404, "NOT_FOUND").body["detail"].clone())
    );

    let accepted = read(&ada, &sent).await.is(200);
    assert_eq!(
        (&accepted.body["status"], &accepted.body["institutionName"]),
        (&json!("SUCCESS"), &json!("Guaranty Trust Bank"))
    );
    assert_eq!(accepted.body["destinationAccount"], "0123456789");
    let tag = accepted.header("etag").to_owned();
    let again = ada.client.request(reqwest::Method::GET, &format!("/v1/transactions/{sent}"));
    assert_eq!(again.header("If-None-Match", &tag).send().await.status, 304);
    bank.later(61).await;
    bank.caught_up().await;
    let settled = read(&ada, &sent).await.is(200);
    assert_eq!(settled.body["status"], "SETTLED");
    assert!(settled.body["settledAt"].as_str() > settled.body["processedAt"].as_str());
    assert_ne!(settled.header("etag"), tag);
    let returned = read(&ada, &lost).await.is(200);
    assert_eq!(returned.body["status"], "RETURNED");
    assert!(!returned.text_at("returnReason").is_empty() && !returned.text_at("returnedAt").is_empty());
    assert_eq!(ids(&list(&ada, "status=RETURNED").await), [&lost]);
    bank.close().await;
}
