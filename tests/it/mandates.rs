//! Standing instructions: on which days, once each, whatever happens in between.

use jiff::civil::{Date, date};
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use serde_json::{Value, json};

use crate::recurrences::{at, midnight, on, today};
use crate::support::client::Answer;
use crate::support::{Bank, Client, Person};

/// 1,000 from Ada to Bola every day from tomorrow on.
fn daily(bank: &Bank, payer: &Person, payee: &str) -> Value {
    json!({
        "amount": 1_000, "currency": "NGN", "frequency": "DAILY", "sourceAccount": payer.current,
        "startDate": midnight(today(bank).tomorrow().unwrap()), "beneficiaryAccount": payee,
    })
}

fn with(body: &Value, fields: Value) -> Value {
    let mut body = body.clone();
    let Value::Object(fields) = fields else { panic!() };
    for (name, value) in fields {
        body[name] = value;
    }
    body
}

async fn give(client: &Client, body: &Value) -> Answer {
    client.post("/v1/mandates", body).await.is(201)
}

fn of(mandate: &Answer) -> String {
    format!("/v1/mandates/{}", mandate.text_at("mandateId"))
}

async fn change(client: &Client, mandate: &Answer, body: Value) -> Answer {
    client.request(reqwest::Method::PUT, &of(mandate)).json(&body).send().await
}

/// The status of each day of its history, the oldest first.
async fn history(client: &Client, mandate: &Answer) -> Vec<(String, String)> {
    let seen = client.get(&of(mandate)).await.is(200);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let days = seen.list_at("executionHistory").iter().rev();
    days.map(|day| (text(&day["executionDate"])[..10].to_owned(), text(&day["status"]))).collect()
}

/// Moves the clock to an hour of a day.
async fn hour(bank: &Bank, day: Date, hours: i64) {
    let midnight: Timestamp = midnight(day).parse().unwrap();
    at(bank, midnight + SignedDuration::from_hours(hours)).await;
}

/// Somebody without money, and how much it was.
async fn emptied(person: &Person, to: &str) -> i64 {
    let has = person.client.balance(&person.current).await;
    person.client.pay(&person.current, to, has, "away").await.is(201);
    has
}

#[tokio::test]
async fn month_ends_keep_their_day_and_the_history_says_what_was_paid() {
    let bank = Bank::open().await;
    let year = today(&bank).year() + 1;
    on(&bank, date(year, 1, 15)).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (has, had) = (ada.client.balance(&ada.current).await, bola.client.balance(&bola.current).await);
    let body = json!({
        "mandateName": "Rent", "mandateType": "PAYMENT", "amount": 2_500, "currency": "NGN",
        "frequency": "MONTHLY", "startDate": midnight(date(year, 1, 20)), "endDate": midnight(date(year, 4, 30)),
        "executionDay": 31, "sourceAccount": ada.current, "beneficiaryAccount": bola.current,
        "beneficiaryName": "Bola", "description": "Flat 3", "isActive": true,
    });
    let given = give(&ada.client, &body).await;
    for field in ["mandateName", "mandateType", "amount", "currency", "frequency", "startDate", "endDate"] {
        assert_eq!(given.body[field], body[field], "{field}");
    }
    assert_eq!(given.body["nextExecutionDate"], midnight(date(year, 1, 31)));
    assert_eq!(given.header("location"), of(&given));
    let february = date(year, 2, 1).days_in_month();
    let mut expected = Vec::new();
    for (month, day) in [(1, 31), (2, february), (3, 31), (4, 30)] {
        on(&bank, date(year, month, day)).await;
        expected.push((date(year, month, day).to_string(), "SUCCESS".to_owned()));
        assert_eq!(history(&bank.ada().await.client, &given).await, expected);
    }
    on(&bank, date(year, 12, 31)).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let seen = ada.client.get(&of(&given)).await.is(200);
    assert_eq!(
        (&seen.body["status"], &seen.body["executionCount"], &seen.body["totalAmountExecuted"]),
        (&json!("COMPLETED"), &json!(4), &json!(10_000))
    );
    assert_eq!(seen.body["nextExecutionDate"], Value::Null);
    assert_eq!(ada.client.balance(&ada.current).await, has - 10_000);
    assert_eq!(bola.client.balance(&bola.current).await, had + 10_000);
    // Each day is a payment of its own that can be looked up.
    let paid = seen.list_at("executionHistory")[0]["reference"].as_str().unwrap().to_owned();
    let paid = ada.client.get(&format!("/v1/transactions/{paid}")).await.is(200);
    assert_eq!((&paid.body["amount"], &paid.body["narration"]), (&json!(2_500), &json!("Flat 3")));
    bank.close().await;
}

#[tokio::test]
async fn it_pays_own_accounts_other_banks_and_bills() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let plain = daily(&bank, &ada, &ada.savings);
    let last = json!({"endDate": plain["startDate"]});
    let own = give(&ada.client, &with(&with(&plain, last.clone()), json!({"mandateType": "SAVINGS"}))).await;
    let external =
        with(&with(&plain, last.clone()), json!({"beneficiaryAccount": "0123456789", "bankCode": "000013"}));
    let external = give(&ada.client, &external).await;
    let bill = json!({"beneficiaryAccount": "1234567890", "billerId": "SBX_TV_SKYVIEW", "amount": 440_000});
    let bill = give(&ada.client, &with(&with(&plain, last), bill)).await;
    on(&bank, today(&bank).tomorrow().unwrap()).await;
    let ada = bank.ada().await;
    for (mandate, kind) in [(&own, "SELF"), (&external, "EXTERNAL"), (&bill, "BILLS")] {
        let seen = ada.client.get(&of(mandate)).await.is(200);
        assert_eq!(seen.body["status"], "COMPLETED", "{kind}: {}", seen.text);
        let paid = seen.list_at("executionHistory")[0]["reference"].as_str().unwrap().to_owned();
        let paid = ada.client.get(&format!("/v1/transactions/{paid}")).await.is(200);
        assert_eq!(paid.body["type"], kind, "{}", paid.text);
    }
    let listed = ada.client.get("/v1/mandates?q=123456789&sort=amount").await.is(200);
    assert_eq!(listed.list_at("mandates").len(), 2);
    assert_eq!(listed.list_at("mandates")[0]["institutionCode"], "000013");
    bank.close().await;
}

#[tokio::test]
async fn a_day_is_tried_three_times_and_one_mandate_does_not_stop_another() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let day = today(&bank).tomorrow().unwrap();
    let poor = give(&ada.client, &daily(&bank, &ada, &chidi.current)).await;
    let rich = give(&bola.client, &daily(&bank, &bola, &chidi.current)).await;
    emptied(&ada, &chidi.current).await;
    hour(&bank, day, 1).await;
    assert_eq!(bank.events_of("mandate.refused").await, 1);
    assert_eq!(history(&bank.bola().await.client, &rich).await, [(day.to_string(), "SUCCESS".to_owned())]);
    let seen = bank.ada().await.client.get(&of(&poor)).await.is(200);
    assert_eq!(
        (&seen.body["lastFailure"], &seen.body["failureCount"]),
        (&json!("INSUFFICIENT_FUNDS"), &json!(0))
    );
    // Nothing until four hours later; by then there is money.
    hour(&bank, day, 4).await;
    assert_eq!(bank.events_of("mandate.refused").await, 1);
    let chidi = bank.chidi().await;
    chidi.client.pay(&chidi.current, &ada.current, 1_500, "salary").await.is(201);
    hour(&bank, day, 6).await;
    assert_eq!(history(&bank.ada().await.client, &poor).await, [(day.to_string(), "SUCCESS".to_owned())]);
    // The next day all three are refused.
    let next = day.tomorrow().unwrap();
    for (hours, refused, failed) in [(1, 2, 0), (6, 3, 0), (11, 3, 1), (23, 3, 1)] {
        hour(&bank, next, hours).await;
        let found = (bank.events_of("mandate.refused").await, bank.events_of("mandate.failed").await);
        assert_eq!(found, (refused, failed), "at {hours}");
    }
    let told = bank.client().get("/v1/sandbox/messages?to=ada@example.com").await.is(200);
    let about = |message: &&Value| message["subject"] == "A standing instruction failed";
    let told: Vec<&Value> = told.list_at("messages").iter().filter(about).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0]["body"].as_str().unwrap().contains("INSUFFICIENT_FUNDS"), "{}", told[0]);
    bank.close().await;
}

#[tokio::test]
async fn three_failed_days_pause_it_and_what_was_passed_over_is_in_the_history() {
    let bank = Bank::open().await;
    let (ada, chidi) = (bank.ada().await, bank.chidi().await);
    let start = today(&bank);
    let after = |days: i64| start.checked_add(days.days()).unwrap();
    let given = give(&ada.client, &daily(&bank, &ada, &chidi.current)).await;
    emptied(&ada, &chidi.current).await;
    // Five days at once: the first three fail, each with one late try, and then it is paused.
    on(&bank, after(5)).await;
    let (ada, chidi) = (bank.ada().await, bank.chidi().await);
    let failed = |day| (after(day).to_string(), "FAILED".to_owned());
    assert_eq!(history(&ada.client, &given).await, [failed(1), failed(2), failed(3)]);
    let seen = ada.client.get(&of(&given)).await.is(200);
    assert_eq!(
        (&seen.body["status"], &seen.body["pauseReason"], &seen.body["nextExecutionDate"]),
        (&json!("PAUSED"), &json!("FAILURES"), &Value::Null)
    );
    chidi.client.pay(&chidi.current, &ada.current, 50_000, "back").await.is(201);
    on(&bank, after(6)).await;
    let ada = bank.ada().await;
    let resumed = change(&ada.client, &given, json!({"isActive": true})).await.is(200);
    assert_eq!(
        (&resumed.body["isActive"], &resumed.body["nextExecutionDate"]),
        (&json!(true), &json!(midnight(after(6))))
    );
    on(&bank, after(7)).await;
    let of_day = |day, status: &str| (after(day).to_string(), status.to_owned());
    let expected = [
        failed(1),
        failed(2),
        failed(3),
        of_day(4, "SKIPPED"),
        of_day(5, "SKIPPED"),
        of_day(6, "SUCCESS"),
        of_day(7, "SUCCESS"),
    ];
    assert_eq!(history(&bank.ada().await.client, &given).await, expected);
    bank.close().await;
}

#[tokio::test]
async fn after_downtime_missed_days_are_executed_once_each_and_oldest_first() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (has, start) = (ada.client.balance(&ada.current).await, today(&bank));
    let given = give(&ada.client, &daily(&bank, &ada, &bola.current)).await;
    on(&bank, start.checked_add(7.days()).unwrap()).await;
    on(&bank, start.checked_add(7.days()).unwrap()).await;
    let sql = "SELECT payload->'executed'->>'due' FROM events WHERE aggregate_id = $1
               AND event_type = 'mandate.executed' ORDER BY position";
    let days: Vec<String> =
        sqlx::query_scalar(sql).bind(given.text_at("mandateId")).fetch_all(&bank.pool).await.unwrap();
    let expected: Vec<_> = (1..=7).map(|n| start.checked_add(n.days()).unwrap().to_string()).collect();
    assert_eq!(days, expected);
    let ada = bank.ada().await;
    assert_eq!(ada.client.balance(&ada.current).await, has - 7_000);
    bank.close().await;
}

#[tokio::test]
async fn its_owner_changes_it_pauses_it_and_ends_it() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let start = today(&bank);
    let after = |days: i64| start.checked_add(days.days()).unwrap();
    let given =
        give(&ada.client, &with(&daily(&bank, &ada, &bola.current), json!({"isActive": false}))).await;
    assert_eq!(given.body["nextExecutionDate"], Value::Null);
    change(&bola.client, &given, json!({"amount": 1})).await.problem(404, "NOT_FOUND");
    bola.client.get(&of(&given)).await.problem(404, "NOT_FOUND");
    let edits = json!({"mandateName": "Lunch", "amount": 700, "isActive": true, "description": "Every day"});
    let changed = change(&ada.client, &given, edits.clone()).await.is(200);
    for field in ["mandateName", "amount", "isActive", "description"] {
        assert_eq!(changed.body[field], edits[field], "{field}");
    }
    assert_eq!((&changed.body["frequency"], &changed.body["endDate"]), (&json!("DAILY"), &Value::Null));
    on(&bank, after(1)).await;
    let ada = bank.ada().await;
    let seen = ada.client.get(&of(&given)).await.is(200);
    assert_eq!(
        (&seen.body["totalAmountExecuted"], &seen.body["mandateName"]),
        (&json!(700), &json!("Lunch"))
    );
    // On the same day it becomes a weekly one, of the weekday of its start date: tomorrow's week.
    let weekly = change(&ada.client, &given, json!({"frequency": "WEEKLY"})).await.is(200);
    assert_eq!(weekly.body["nextExecutionDate"], midnight(after(8)));
    let ended = change(&ada.client, &given, json!({"endDate": midnight(after(2))})).await;
    ended.problem(422, "NOTHING_TO_EXECUTE");
    change(&ada.client, &given, json!({"executionDay": 9})).await.problem(422, "DAY_OUT_OF_RANGE");
    let listed = ada.client.get("/v1/mandates?status=ACTIVE").await.is(200);
    assert_eq!(listed.list_at("mandates")[0]["mandateId"], given.body["mandateId"]);
    let gone = ada.client.request(reqwest::Method::DELETE, &of(&given));
    let gone = gone.json(&json!({"cancellationReason": "On a diet"})).send().await.is(200);
    assert_eq!(
        (&gone.body["mandateName"], &gone.body["cancellationReason"]),
        (&json!("Lunch"), &json!("On a diet"))
    );
    ada.client.delete(&of(&given)).await.problem(409, "INVALID_STATE");
    change(&ada.client, &given, json!({"isActive": true})).await.problem(409, "INVALID_STATE");
    on(&bank, after(20)).await;
    assert_eq!(bank.events_of("mandate.executed").await, 1);
    bank.close().await;
}

#[tokio::test]
async fn a_mandate_must_make_sense() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let plain = daily(&bank, &ada, &bola.current);
    let yesterday = midnight(today(&bank).yesterday().unwrap());
    for (fields, pointer) in [
        (json!({"frequency": "HOURLY"}), "/frequency"),
        (json!({"amount": 0}), "/amount"),
        (json!({"startDate": "soon"}), "/startDate"),
        (json!({"frequency": "WEEKLY", "executionDay": 8}), "/executionDay"),
        (json!({"endDate": yesterday}), "/endDate"),
        (json!({"beneficiaryAccount": "12345"}), "/beneficiaryAccount"),
        (json!({"bankCode": "000013", "billerId": "SBX_TV_SKYVIEW"}), "/billerId"),
        (json!({"mandateType": "GIFT"}), "/mandateType"),
    ] {
        let answer = ada.client.post("/v1/mandates", &with(&plain, fields.clone())).await;
        assert_eq!(answer.pointers(), [pointer], "{fields}: {}", answer.text);
    }
    for (fields, status, code) in [
        (json!({"sourceAccount": bola.current}), 404, "NOT_FOUND"),
        (json!({"beneficiaryAccount": "1000000008"}), 404, "NOT_FOUND"),
        (json!({"beneficiaryAccount": ada.current}), 422, "SAME_ACCOUNT"),
        (json!({"currency": "USD"}), 422, "CURRENCY_MISMATCH"),
        (json!({"bankCode": "999999"}), 404, "NOT_FOUND"),
        (json!({"billerId": "SBX_TV_SKYVIEW", "beneficiaryAccount": "x"}), 422, "CUSTOMER_REFERENCE_INVALID"),
        (json!({"startDate": yesterday, "endDate": yesterday}), 422, "NOTHING_TO_EXECUTE"),
    ] {
        let answer = ada.client.post("/v1/mandates", &with(&plain, fields)).await;
        answer.problem(status, code);
    }
    assert_eq!(bank.events_of("mandate.set_up").await, 0);
    bank.close().await;
}
