//! Things as they were: a read about the past answers what the same read answered then.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::ratchet::lending::{applies, staff};
use crate::support::{Bank, Client};

/// What a read answered, and where the log was then.
struct Seen {
    path: String,
    position: i64,
    at: Timestamp,
    body: Value,
}

/// What was seen along the way.
#[derive(Default)]
struct Diary(Vec<Seen>);

impl Diary {
    async fn sees(&mut self, bank: &Bank, client: &Client, path: &str) {
        bank.caught_up().await;
        let body = client.get(path).await.is(200).body;
        let position = bank.events().await;
        let at = bank.app.journal.sources().clock.now();
        self.0.push(Seen { path: path.to_owned(), position, at, body });
    }

    /// All of it is answered again, whatever has happened since.
    async fn holds(&self, client: &Client) {
        for Seen { path, position, at, body } in &self.0 {
            for query in [format!("asOfPosition={position}"), format!("asOf={at}")] {
                let then = client.get(&format!("{path}?{query}")).await.is(200).body;
                assert_eq!(&then, body, "{path}?{query}");
            }
        }
    }
}

/// Before it was there, nothing is; after the end of the log, nobody can say; and one moment at a time.
async fn has_bounds(bank: &Bank, client: &Client, path: &str) {
    client.get(&format!("{path}?asOfPosition=1")).await.problem(404, "NOT_FOUND");
    client.get(&format!("{path}?asOf=2020-01-01T00:00:00Z")).await.problem(404, "NOT_FOUND");
    let beyond = bank.events().await + 1_000;
    for (query, pointer) in [
        (format!("asOfPosition={beyond}"), "/asOfPosition"),
        ("asOfPosition=-1".to_owned(), "/asOfPosition"),
        ("asOfPosition=soon".to_owned(), "/asOfPosition"),
        ("asOf=2999-01-01T00:00:00Z".to_owned(), "/asOf"),
        ("asOf=yesterday".to_owned(), "/asOf"),
        ("asOf=2026-01-01T00:00:00Z&asOfPosition=1".to_owned(), "/asOf"),
    ] {
        assert_eq!(client.get(&format!("{path}?{query}")).await.pointers(), [pointer], "{query}");
    }
}

#[tokio::test]
async fn a_loan_is_read_as_it_was_on_each_day_of_its_life() {
    let bank = Bank::open().await;
    let (ada, teller, approver) = (bank.ada().await, bank.teller().await, bank.approver().await);
    let loan = applies(&ada).await;
    let (path, mut diary) = (format!("/v1/loans/{loan}"), Diary::default());
    diary.sees(&bank, &ada.client, &path).await;
    for (client, step) in [(&teller, "start-review"), (&approver, "approve"), (&teller, "disburse")] {
        staff(&client.client, &loan, step, &json!({})).await;
        diary.sees(&bank, &ada.client, &path).await;
    }
    // Interest accrues, and an instalment is collected.
    bank.later(40 * 24 * 60 * 60).await;
    let ada = bank.ada().await;
    diary.sees(&bank, &ada.client, &path).await;
    let balances: Vec<&Value> = diary.0.iter().map(|seen| &seen.body["remainingBalance"]).collect();
    assert!(balances[4].as_i64() < balances[3].as_i64(), "{balances:?}");
    diary.holds(&ada.client).await;
    has_bounds(&bank, &ada.client, &path).await;
    // What is somebody else's was never there.
    let position = bank.events().await;
    let theirs = bank.bola().await.client.get(&format!("{path}?asOfPosition={position}")).await;
    theirs.problem(404, "NOT_FOUND");
    bank.close().await;
}

#[tokio::test]
async fn a_card_that_was_removed_was_there_before() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let link = async |number: &str, is_default: bool| {
        let card = json!({
            "cardNumber": number, "expiryDate": "12/60", "cvv": "123", "cardHolderName": "ADA OKAFOR",
            "cardType": "CREDIT", "cardBrand": "VISA", "issuingBank": "GTBank", "isDefault": is_default,
        });
        let linked = ada.client.post("/v1/cards/external", &card).await.is(201);
        format!("/v1/cards/{}", linked.text_at("cardId"))
    };
    let first = link("4111111111111111", true).await;
    let mut diary = Diary::default();
    diary.sees(&bank, &ada.client, &first).await;
    assert_eq!(diary.0[0].body["isDefault"], true);
    // Another becomes the default: that is an event of the other card, and this one is another all the same.
    let second = link("4012888888881881", true).await;
    diary.sees(&bank, &ada.client, &first).await;
    diary.sees(&bank, &ada.client, &second).await;
    assert_eq!(diary.0[1].body["isDefault"], false);
    ada.client.request(reqwest::Method::DELETE, &first).send().await.is(200);
    bank.caught_up().await;
    ada.client.get(&first).await.problem(404, "NOT_FOUND");
    diary.holds(&ada.client).await;
    has_bounds(&bank, &ada.client, &second).await;
    bank.close().await;
}

#[tokio::test]
async fn a_mandate_is_read_with_the_days_that_it_had_then() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let start = bank.app.journal.sources().clock.now() + jiff::SignedDuration::from_hours(24);
    let mandate = json!({
        "amount": 1_000, "currency": "NGN", "frequency": "DAILY", "startDate": start,
        "sourceAccount": ada.current, "beneficiaryAccount": bola.current, "beneficiaryName": "Bola",
    });
    let given = ada.client.post("/v1/mandates", &mandate).await.is(201);
    let path = format!("/v1/mandates/{}", given.text_at("mandateId"));
    let mut diary = Diary::default();
    diary.sees(&bank, &ada.client, &path).await;
    bank.later(3 * 24 * 60 * 60).await;
    let ada = bank.ada().await;
    diary.sees(&bank, &ada.client, &path).await;
    assert!(diary.0[1].body["executionCount"].as_i64().unwrap() >= 2, "{}", diary.0[1].body);
    ada.client.request(reqwest::Method::DELETE, &path).send().await.is(200);
    diary.sees(&bank, &ada.client, &path).await;
    diary.holds(&ada.client).await;
    has_bounds(&bank, &ada.client, &path).await;
    bank.close().await;
}

/// What was reserved then, not what is now.
#[tokio::test]
async fn what_was_available_is_what_was_not_reserved_then() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let path = format!("/v1/accounts/{}/balance", ada.current);
    let mut diary = Diary::default();
    diary.sees(&bank, &ada.client, &path).await;
    let body = json!({
        "walletProvider": "mtn_momo", "phoneNumber": "+2348031000101", "destinationAccount": ada.current,
        "amount": 3_000, "currency": "NGN",
    });
    ada.client.post("/v1/payments/fund/via/mwallet", &body).await.is(201);
    diary.sees(&bank, &ada.client, &path).await;
    let held = &diary.0[1].body;
    assert_eq!(
        held["ledgerBalance"].as_i64().unwrap() - held["availableBalance"].as_i64().unwrap(),
        3_000,
        "{held}"
    );
    bank.later(100).await;
    diary.sees(&bank, &ada.client, &path).await;
    assert_eq!(diary.0[2].body["ledgerBalance"], diary.0[2].body["availableBalance"]);
    diary.holds(&ada.client).await;
    bank.close().await;
}
