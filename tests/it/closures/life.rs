//! Accounts while they last: set up by their holders, at rest after a silence, stated when it is due, and in the way of an
//! erasure as long as there is money.

use bursar_domain::kernel::Permission::PiiErase;
use serde_json::{Value, json};

use super::{application, asking, status};
use crate::personal_data::staff;
use crate::ratchet::closing::opens;
use crate::ratchet::lending;
use crate::support::leaving::leaves;
use crate::support::{Bank, Client, Person};

const DAY: i64 = 24 * 60 * 60;

async fn configure(person: &Person, account: &str, body: &Value) -> Value {
    person.client.put(&format!("/v1/accounts/{account}/configure"), body).await.is(200).body
}

#[tokio::test]
async fn what_is_not_said_stays_and_what_is_unknown_is_refused() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let account = opens(&ada, "TSV-001", 50_000).await;
    let first = configure(
        &ada,
        &account,
        &json!({
            "savingsGoal": 900_000, "notifications": {"sms": true}, "statementDelivery": "EMAIL",
        }),
    )
    .await;
    assert_eq!(first["notifications"], json!({"email": true, "sms": true, "push": false}));
    assert_eq!(
        (&first["statementFrequency"], &first["earlyClosureAllowed"]),
        (&json!("MONTHLY"), &json!(true))
    );
    assert!(first["nextStatementDate"].as_str().unwrap().ends_with("-01T00:00:00Z"));
    let second =
        configure(&ada, &account, &json!({"savingsAmount": 5_000, "earlyClosureAllowed": false})).await;
    for (field, value) in [("savingsGoal", json!(900_000)), ("savingsAmount", json!(5_000))] {
        assert_eq!(second[field], value, "{field}");
    }
    for field in ["notifications", "statementDelivery", "nextStatementDate"] {
        assert_eq!(second[field], first[field], "{field}");
    }
    let read = ada.client.get(&format!("/v1/accounts/{account}")).await.is(200).body;
    for field in ["savingsGoal", "savingsAmount", "notifications", "statementDelivery", "earlyClosureAllowed"]
    {
        assert_eq!(read[field], second[field], "{field}");
    }
    let path = format!("/v1/accounts/{account}/configure");
    let unknown = ada.client.put(&path, &json!({"dailyLimit": 1, "notifications": {"fax": true}})).await;
    assert_eq!(unknown.problem(400, "VALIDATION_FAILED").pointers(), ["/dailyLimit", "/notifications/fax"]);
    let path = format!("/v1/accounts/{}/configure", ada.current);
    ada.client.put(&path, &json!({"savingsGoal": 1})).await.problem(422, "PLAN_NOT_ALLOWED");
    bank.close().await;
}

#[tokio::test]
async fn whoever_wanted_to_be_held_to_a_plan_is() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let account = opens(&ada, "TSV-001", 50_000).await;
    let now = bank.app.journal.sources().clock.now();
    let soon = now + jiff::SignedDuration::from_hours(48);
    configure(&ada, &account, &json!({"maturityDate": soon.to_string(), "earlyClosureAllowed": false})).await;
    let refused = asking(&ada, &account, &application(&ada.current)).await;
    assert!(!refused.problem(422, "EARLY_CLOSURE_NOT_ALLOWED").text_at("maturityDate").is_empty());
    bank.later(2 * DAY + 1).await;
    asking(&bank.ada().await, &account, &application(&ada.current)).await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn an_account_that_nobody_uses_comes_to_rest_and_wakes_at_the_counter() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let (quiet, busy) = (opens(&ada, "TSV-001", 50_000).await, opens(&ada, "TSV-001", 50_000).await);
    bank.later(300 * DAY).await;
    let ada = bank.ada().await;
    ada.client.pay(&busy, &ada.current, 1, "still there").await.is(201);
    bank.later(64 * DAY).await;
    assert_eq!(status(&bank.ada().await, &quiet).await, "ACTIVE");
    bank.later(2 * DAY).await;
    let (ada, teller) = (bank.ada().await, bank.teller().await);
    bank.caught_up().await;
    assert_eq!((status(&ada, &quiet).await, status(&ada, &busy).await), ("DORMANT".into(), "ACTIVE".into()));
    let refused = ada.client.pay(&quiet, &ada.current, 1, "asleep").await.problem(409, "INVALID_STATE");
    assert_eq!(refused.body["currentState"], "DORMANT");
    // Money comes in, and does not wake it.
    ada.client.pay(&busy, &quiet, 1, "in").await.is(201);
    bank.caught_up().await;
    let told = bank.client().get("/v1/sandbox/messages?to=ada@example.com").await.is(200);
    let resting =
        |m: &&Value| m["subject"] == "Your account is at rest" && m["data"]["accountNumber"] == *quiet;
    assert_eq!(told.list_at("messages").iter().filter(resting).count(), 1);
    let path = format!("/v1/staff/accounts/{quiet}/reactivate");
    let reason = json!({"reason": "Came with a passport"});
    assert_eq!(teller.client.post(&path, &reason).await.is(200).text_at("accountStatus"), "ACTIVE");
    teller.client.post(&path, &reason).await.problem(409, "INVALID_STATE");
    bank.later(DAY).await;
    assert_eq!(status(&bank.ada().await, &quiet).await, "ACTIVE", "its silence has begun anew");
    bank.later(366 * DAY).await;
    assert_eq!(status(&bank.ada().await, &quiet).await, "DORMANT");
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_period_is_stated_once_whoever_runs_it_and_however_late() {
    let bank = Bank::open().await;
    let (second, _) = bank.second().await;
    let ada = bank.ada().await;
    let account = opens(&ada, "TSV-001", 50_000).await;
    let set =
        configure(&ada, &account, &json!({"statementDelivery": "EMAIL", "statementFrequency": "WEEKLY"}))
            .await;
    let first: jiff::Timestamp = set["nextStatementDate"].as_str().unwrap().parse().unwrap();
    // Whichever server delivers: what the log says was sent, and that a message went with each.
    let periods = async || -> Vec<(String, String)> {
        bank.caught_up().await;
        let sent = "SELECT payload->'statement_sent'->>'from', payload->'statement_sent'->>'to' FROM events
                     WHERE event_type = 'account.statement_sent' ORDER BY position";
        let sent: Vec<(String, String)> = sqlx::query_as(sent).fetch_all(&bank.pool).await.unwrap();
        let told = "SELECT count(*) FROM events WHERE event_type = 'messages.posted'
                       AND payload->'posted'->>'subject' = 'Your statement is ready'";
        let told: i64 = sqlx::query_scalar(told).fetch_one(&bank.pool).await.unwrap();
        assert_eq!(usize::try_from(told).unwrap(), sent.len());
        sent
    };
    let ahead = first.duration_since(bank.app.journal.sources().clock.now());
    bank.later(ahead.as_secs() - 60).await;
    assert_eq!(periods().await, []);
    bank.advance(jiff::SignedDuration::from_secs(120));
    // Two servers at once; then three weeks in which nothing ran.
    let (here, there) = (bank.app.processes.run_due(), second.processes.run_due());
    let (here, there) = tokio::join!(here, there);
    here.unwrap();
    there.unwrap();
    assert_eq!(periods().await.len(), 1);
    bank.later(3 * 7 * DAY).await;
    let stated = periods().await;
    assert_eq!(stated.len(), 4, "{stated:?}");
    for pair in stated.windows(2) {
        let end: jiff::civil::Date = pair[0].1.parse().unwrap();
        assert_eq!(end.tomorrow().unwrap().to_string(), pair[1].0, "no day is left out: {stated:?}");
    }
    // No more of them.
    configure(&bank.ada().await, &account, &json!({"statementDelivery": "NONE"})).await;
    bank.later(14 * DAY).await;
    assert_eq!(periods().await.len(), 4);
    second.close().await;
    bank.close().await;
}

async fn erases(client: &Client, user: &str) -> crate::support::client::Answer {
    let path = format!("/v1/staff/subjects/{user}/erase");
    client.post(&path, &json!({"reason": "Asked for it in writing"})).await
}

#[tokio::test]
async fn whoever_has_money_or_owes_it_is_not_erased() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (teller, approver) = (bank.teller().await, bank.approver().await);
    let maker = staff(&bank, "teller@example.com", &[PiiErase]).await.1;
    let checker = staff(&bank, "approver@example.com", &[PiiErase]).await.1;
    let her = bank.user("ada@example.com").await.to_string();
    let loan = lending::applies(&ada).await;
    lending::staff(&teller.client, &loan, "start-review", &json!({})).await;
    lending::staff(&approver.client, &loan, "approve", &json!({})).await;
    lending::staff(&teller.client, &loan, "disburse", &json!({})).await;
    erases(&maker, &her).await.is(200);
    let events = bank.events().await;
    // Money in one account, a loan on the other: whichever is looked at first.
    let refused = erases(&checker, &her).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(["ACCOUNT_BOUND", "ACCOUNT_NOT_EMPTY"].contains(&refused.text_at("code")), "{}", refused.text);
    assert_eq!(bank.events().await, events);
    ada.client.get("/v1/users/profile").await.is(200);
    bank.caught_up().await;
    let owed = ada.client.get(&format!("/v1/loans/{loan}")).await.is(200);
    let pay = json!({
        "amount": owed.number_at("payoffAmount"), "currency": "NGN", "paymentType": "FULL",
        "sourceAccount": ada.current,
    });
    ada.client.post(&format!("/v1/payments/loans/{loan}"), &pay).await.is(201);
    erases(&checker, &her).await.problem(409, "ACCOUNT_NOT_EMPTY");
    // The control: the borrower has paid, the accounts are closed or empty.
    leaves(&ada, &bola.current, (&approver.client, &teller.client)).await;
    assert_eq!(erases(&checker, &her).await.is(200).text_at("status"), "ERASED");
    ada.client.get("/v1/accounts").await.problem(401, "UNAUTHENTICATED");
    bank.caught_up().await;
    let known =
        approver.client.get(&format!("/v1/staff/account-closures?accountNumber={}", ada.savings)).await;
    assert_eq!(known.is(200).list_at("applications")[0]["applicationStatus"], "COMPLETED");
    bank.close().await;
}
