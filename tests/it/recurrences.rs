//! Payments that are repeated: on which days, once each, whatever happens in between.

use std::time::Duration;

use bursar_commands::processes::{Done, Task as _, Work};
use bursar_commands::recurrences::ExecuteRecurrences;
use futures_util::future::join_all;
use jiff::civil::{Date, date};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use serde_json::{Value, json};

use crate::reversals::path;
use crate::support::client::Answer;
use crate::support::{Bank, Client};

async fn repeat(client: &Client, transaction: &Answer, body: &Value) -> Answer {
    client.post(&path(transaction, "recurring"), body).await
}

/// Every day from tomorrow on.
fn daily(bank: &Bank) -> Value {
    json!({"frequency": "DAILY", "startDate": midnight(today(bank).tomorrow().unwrap())})
}

pub fn midnight(day: Date) -> String {
    format!("{day}T00:00:00Z")
}

pub fn today(bank: &Bank) -> Date {
    TimeZone::UTC.to_datetime(bank.app.journal.sources().clock.now()).date()
}

/// Moves the clock to the middle of a day, however many days lie between, and lets everything that is due be done.
pub async fn on(bank: &Bank, day: Date) {
    at(bank, day.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp()).await;
}

/// Moves the clock to a moment, and lets everything that is due be done.
pub async fn at(bank: &Bank, moment: Timestamp) {
    if moment > bank.app.journal.sources().clock.now() {
        bank.client().post("/v1/sandbox/clock", &json!({"to": moment})).await.is(200);
    }
    // What the server's own processes had begun before may still be under way.
    let sql = "SELECT count(*) FROM schedule WHERE due_at <= $1::timestamptz AND task NOT IN ('files.sweep', 'account.silence')";
    for _ in 0..200 {
        bank.app.processes.run_due().await.unwrap();
        let due: i64 = sqlx::query_scalar(sql).bind(moment.to_string()).fetch_one(&bank.pool).await.unwrap();
        if due == 0 {
            return bank.caught_up().await;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    panic!("something stays due");
}

/// The days that events of this kind are about, in the order of the log.
async fn days(bank: &Bank, recurrence: &Answer, kind: &str) -> Vec<String> {
    let sql = "SELECT payload->$2->>'due' FROM events WHERE aggregate_id = $1 AND event_type = 'recurrence.' || $2 ORDER BY position";
    let id = recurrence.text_at("recurringId");
    sqlx::query_scalar(sql).bind(id).bind(kind).fetch_all(&bank.pool).await.unwrap()
}

async fn read(client: &Client, recurrence: &Answer) -> Value {
    client.get(&of(recurrence)).await.is(200).body
}

fn of(recurrence: &Answer) -> String {
    format!("/v1/recurring/{}", recurrence.text_at("recurringId"))
}

/// A bank in which years may pass before somebody pays.
async fn never_dormant() -> Bank {
    let mut config = crate::support::config();
    config.accounts.dormant_after_days = 36_500;
    Bank::configured(config).await
}

#[tokio::test]
async fn month_ends_keep_their_day_over_a_leap_year() {
    let bank = never_dormant().await;
    let now = today(&bank).year();
    let year = (now + 1..now + 9).find(|year| date(*year, 1, 1).in_leap_year()).unwrap();
    on(&bank, date(year, 1, 15)).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let has = ada.client.balance(&ada.current).await;
    let paid = ada.client.pay(&ada.current, &bola.current, 1_000, "rent").await.is(201);
    let plan = json!({
        "frequency": "MONTHLY", "startDate": midnight(date(year, 1, 20)), "endDate": midnight(date(year, 5, 31)),
        "executionDay": 31, "isActive": true, "description": "Rent",
    });
    let begun = repeat(&ada.client, &paid, &plan).await.is(201);
    for field in ["frequency", "startDate", "endDate", "executionDay", "isActive", "description"] {
        assert_eq!(begun.body[field], plan[field], "{field}");
    }
    assert_eq!(begun.body["nextExecutionDate"], midnight(date(year, 1, 31)));
    assert_eq!(begun.header("location"), of(&begun));
    on(&bank, date(year, 1, 30)).await;
    assert_eq!(days(&bank, &begun, "executed").await, [""; 0]);
    let mut expected = Vec::new();
    for (month, day) in [(1, 31), (2, 29), (3, 31), (4, 30), (5, 31)] {
        let due = date(year, month, day);
        on(&bank, due).await;
        expected.push(due.to_string());
        assert_eq!(days(&bank, &begun, "executed").await, expected);
    }
    let ada = bank.ada().await;
    let seen = read(&ada.client, &begun).await;
    assert_eq!(
        (&seen["recurringStatus"], &seen["isActive"], &seen["nextExecutionDate"], &seen["executionCount"]),
        (&json!("COMPLETED"), &json!(false), &Value::Null, &json!(5))
    );
    on(&bank, date(year, 12, 31)).await;
    let ada = bank.ada().await;
    assert_eq!(ada.client.balance(&ada.current).await, has - 6_000);
    let statement =
        format!("/v1/accounts/{}/statement?size=1&from={year}-05-31&to={year}-05-31", ada.current);
    let last = ada.client.get(&statement).await.is(200).list_at("transactions")[0].clone();
    assert_eq!((&last["transactionId"], &last["narration"]), (&seen["lastTransactionId"], &json!("Rent")));
    assert_eq!((&last["amount"], &last["reference"]), (&json!(-1_000), &json!("LUNCH")));
    bank.close().await;
}

#[tokio::test]
async fn a_leap_day_is_the_end_of_february_in_other_years() {
    let bank = never_dormant().await;
    let now = today(&bank).year();
    let year = (now + 1..now + 9).find(|year| date(*year, 1, 1).in_leap_year()).unwrap();
    on(&bank, date(year, 2, 1)).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let paid = ada.client.pay(&ada.current, &bola.current, 1_000, "rent").await.is(201);
    let plan = json!({"frequency": "YEARLY", "startDate": midnight(date(year, 2, 29))});
    let begun = repeat(&ada.client, &paid, &plan).await.is(201);
    on(&bank, date(year + 4, 3, 1)).await;
    let (four, end) = (1..4, |years| date(year + years, 2, 28).to_string());
    let mut expected = vec![date(year, 2, 29).to_string()];
    expected.extend(four.map(end));
    expected.push(date(year + 4, 2, 29).to_string());
    assert_eq!(days(&bank, &begun, "executed").await, expected);
    bank.close().await;
}

#[tokio::test]
async fn after_downtime_missed_days_are_executed_once_each_and_oldest_first() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (has, start) = (ada.client.balance(&ada.current).await, today(&bank));
    let paid = ada.client.pay(&ada.current, &bola.current, 1_000, "daily").await.is(201);
    let begun = repeat(&ada.client, &paid, &daily(&bank)).await.is(201);
    // The clock of a bank that was down jumps: nothing was looked at in between.
    on(&bank, start.checked_add(7.days()).unwrap()).await;
    let expected: Vec<_> = (1..=7).map(|n| start.checked_add(n.days()).unwrap().to_string()).collect();
    assert_eq!(days(&bank, &begun, "executed").await, expected);
    on(&bank, start.checked_add(7.days()).unwrap()).await;
    let ada = bank.ada().await;
    assert_eq!(ada.client.balance(&ada.current).await, has - 8_000);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_execute_each_day_once() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (has, start) = (ada.client.balance(&ada.current).await, today(&bank));
    let paid = ada.client.pay(&ada.current, &bola.current, 100, "daily").await.is(201);
    let mut all = Vec::new();
    for _ in 0..12 {
        all.push(repeat(&ada.client, &paid, &daily(&bank)).await.is(201));
    }
    let last = start.checked_add(4.days()).unwrap();
    let noon = json!({"to": last.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp()});
    let (here, there) = (bank.client(), bank.client().at(address));
    let (one, other) =
        tokio::join!(here.post("/v1/sandbox/clock", &noon), there.post("/v1/sandbox/clock", &noon));
    // Whoever is asked second may be there already: what the other has written by then took it along.
    assert!(
        [(200, 200), (200, 400), (400, 200)].contains(&(one.status, other.status)),
        "{} {}",
        one.text,
        other.text
    );
    on(&bank, last).await;
    let expected: Vec<_> = (1..=4).map(|n| start.checked_add(n.days()).unwrap().to_string()).collect();
    for one in &all {
        assert_eq!(days(&bank, one, "executed").await, expected);
        assert_eq!(days(&bank, one, "failed").await, [""; 0]);
    }
    let ada = bank.ada().await;
    assert_eq!(ada.client.balance(&ada.current).await, has - 100 - 12 * 4 * 100);
    second.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_two_servers_believe_to_be_theirs_is_done_once() {
    let bank = Bank::open().await;
    let (second, _) = bank.second().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (has, due) = (ada.client.balance(&ada.current).await, today(&bank));
    let paid = ada.client.pay(&ada.current, &bola.current, 100, "daily").await.is(201);
    let tasks = [&bank.app.journal, &second.journal].map(|journal| ExecuteRecurrences::new(journal.clone()));
    let (subjects, now) = (8, bank.app.journal.sources().clock.now());
    for _ in 0..subjects {
        let plan = json!({"frequency": "DAILY", "startDate": midnight(due), "endDate": midnight(due)});
        let begun = repeat(&ada.client, &paid, &plan).await.is(201);
        let subject = begun.text_at("recurringId").to_owned();
        // Leases have run out: everybody does it at the same time, the servers' own processes included.
        let work = Work { subject, due_at: now, now, attempt: 1 };
        let runs = tasks.iter().cycle().take(6).map(|task| task.run(&work));
        for done in join_all(runs).await {
            assert_eq!(done.unwrap(), Done::Finished);
        }
        assert_eq!(days(&bank, &begun, "executed").await, [due.to_string()]);
        assert_eq!(days(&bank, &begun, "failed").await, [""; 0]);
    }
    assert_eq!(ada.client.balance(&ada.current).await, has - 100 - subjects * 100);
    second.close().await;
    bank.close().await;
}

#[tokio::test]
async fn a_payment_that_is_refused_is_recorded_and_three_in_a_row_pause() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let start = today(&bank);
    let after = |days: i64| start.checked_add(days.days()).unwrap();
    let paid = ada.client.pay(&ada.current, &bola.current, 1_000, "daily").await.is(201);
    let begun = repeat(&ada.client, &paid, &daily(&bank)).await.is(201);
    let left = ada.client.balance(&ada.current).await - 1_000;
    ada.client.pay(&ada.current, &chidi.current, left, "away").await.is(201);
    on(&bank, after(3)).await;
    assert_eq!(days(&bank, &begun, "executed").await, [after(1).to_string()]);
    let ada = bank.ada().await;
    let seen = read(&ada.client, &begun).await;
    assert_eq!(
        (&seen["recurringStatus"], &seen["failureCount"], &seen["lastFailure"], &seen["nextExecutionDate"]),
        (&json!("ACTIVE"), &json!(2), &json!("INSUFFICIENT_FUNDS"), &json!(midnight(after(4))))
    );
    on(&bank, after(6)).await;
    let failed: Vec<_> = (2..=4).map(|n| after(n).to_string()).collect();
    assert_eq!(days(&bank, &begun, "failed").await, failed);
    let (ada, chidi) = (bank.ada().await, bank.chidi().await);
    let seen = read(&ada.client, &begun).await;
    assert_eq!((&seen["recurringStatus"], &seen["nextExecutionDate"]), (&json!("PAUSED"), &Value::Null));
    // With money again it goes on, and what was due in between is passed over.
    chidi.client.pay(&chidi.current, &ada.current, 5_000, "back").await.is(201);
    let resumed = ada
        .client
        .request(reqwest::Method::PUT, &of(&begun))
        .json(&json!({"isActive": true}))
        .send()
        .await
        .is(200);
    assert_eq!(
        (&resumed.body["isActive"], &resumed.body["nextExecutionDate"]),
        (&json!(true), &json!(midnight(after(6))))
    );
    on(&bank, after(7)).await;
    let done: Vec<_> = [1, 6, 7].map(|n| after(n).to_string()).into();
    assert_eq!(days(&bank, &begun, "executed").await, done);
    bank.close().await;
}

#[tokio::test]
async fn its_owner_sees_it_pauses_it_and_cancels_it() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let start = today(&bank);
    let after = |days: i64| start.checked_add(days.days()).unwrap();
    let paid = ada.client.pay(&ada.current, &bola.current, 1_000, "daily").await.is(201);
    let mut plan = daily(&bank);
    plan["isActive"] = json!(false);
    let begun = repeat(&ada.client, &paid, &plan).await.is(201);
    assert_eq!((&begun.body["isActive"], &begun.body["nextExecutionDate"]), (&json!(false), &Value::Null));
    let set = async |client: &Client, active: bool| {
        let request = client.request(reqwest::Method::PUT, &of(&begun));
        request.json(&json!({"isActive": active})).send().await
    };
    set(&ada.client, false).await.problem(409, "INVALID_STATE");
    set(&bola.client, true).await.problem(404, "NOT_FOUND");
    set(&ada.client, true).await.is(200);
    on(&bank, after(1)).await;
    let ada = bank.ada().await;
    set(&ada.client, false).await.is(200);
    // Resumed on the day that was executed already: that day stays executed once.
    set(&ada.client, true).await.is(200);
    on(&bank, after(1)).await;
    assert_eq!(days(&bank, &begun, "executed").await, [after(1).to_string()]);
    let listed = ada.client.get("/v1/recurring?status=ACTIVE&sort=nextExecutionDate").await.is(200);
    assert_eq!(listed.list_at("recurring")[0]["recurringId"], begun.body["recurringId"]);
    let ada = bank.ada().await;
    let cancelled = ada.client.delete(&of(&begun)).await.is(200);
    assert_eq!(cancelled.body["recurringStatus"], "CANCELLED");
    ada.client.delete(&of(&begun)).await.problem(409, "INVALID_STATE");
    set(&ada.client, true).await.problem(409, "INVALID_STATE");
    on(&bank, after(9)).await;
    assert_eq!(days(&bank, &begun, "executed").await, [after(1).to_string()]);
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
async fn a_plan_must_make_sense_and_be_about_ones_own_payment() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let start = today(&bank);
    let paid = ada.client.pay(&ada.current, &bola.current, 1_000, "paid").await.is(201);
    repeat(&bola.client, &paid, &daily(&bank)).await.problem(422, "NOT_REPEATABLE");
    let deposit = format!("/v1/staff/accounts/{}/deposit", ada.current);
    let cash = json!({"amount": 500, "currency": "NGN"});
    let deposited = bank.teller().await.client.post(&deposit, &cash).await.is(201);
    repeat(&ada.client, &deposited, &daily(&bank)).await.problem(422, "NOT_REPEATABLE");
    let with = |member: &str, value: Value| {
        let mut plan = json!({"frequency": "WEEKLY", "startDate": midnight(start)});
        plan[member] = value;
        plan
    };
    for (plan, pointer) in [
        (json!({}), vec!["/frequency", "/startDate"]),
        (with("frequency", json!("HOURLY")), vec!["/frequency"]),
        (with("startDate", json!("soon")), vec!["/startDate"]),
        (with("executionDay", json!(32)), vec!["/executionDay"]),
        (with("executionDay", json!(8)), vec!["/executionDay"]),
        (with("endDate", json!(midnight(start.yesterday().unwrap()))), vec!["/endDate"]),
    ] {
        assert_eq!(repeat(&ada.client, &paid, &plan).await.pointers(), pointer, "{plan}");
    }
    // One day from start to end, and it is another weekday.
    let other = start.weekday().wrapping_add(2).to_monday_one_offset();
    let mut plan = with("endDate", json!(midnight(start.tomorrow().unwrap())));
    plan["executionDay"] = json!(other);
    repeat(&ada.client, &paid, &plan).await.problem(422, "NOTHING_TO_EXECUTE");
    // Days of the past are not made up for.
    let long_ago =
        json!({"frequency": "DAILY", "startDate": midnight(start.checked_sub(30.days()).unwrap())});
    let begun = repeat(&ada.client, &paid, &long_ago).await.is(201);
    assert_eq!(begun.body["nextExecutionDate"], midnight(start));
    on(&bank, start.tomorrow().unwrap()).await;
    let expected = [start, start.tomorrow().unwrap()].map(|day| day.to_string());
    assert_eq!(days(&bank, &begun, "executed").await, expected);
    bank.close().await;
}

#[tokio::test]
async fn a_payment_out_of_the_bank_goes_over_its_rail_each_time() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let body = json!({
        "sourceAccount": ada.current, "destinationAccount": "0123456789", "bankCode": "000013", "amount": 700,
        "currency": "NGN",
    });
    let sent = ada.client.post("/v1/payments/transfer/external", &body).await.is(201);
    repeat(&ada.client, &sent, &daily(&bank)).await.is(201);
    on(&bank, today(&bank).checked_add(3.days()).unwrap()).await;
    bank.advance(SignedDuration::from_mins(5));
    on(&bank, today(&bank).tomorrow().unwrap()).await;
    bank.advance(SignedDuration::from_mins(5));
    let moved: Timestamp = bank.app.journal.sources().clock.now();
    bank.client()
        .post("/v1/sandbox/clock", &json!({"to": moved + SignedDuration::from_mins(5)}))
        .await
        .is(200);
    for _ in 0..100 {
        if bank.events_of("payment.settled").await == 5 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(
        (bank.events_of("recurrence.executed").await, bank.events_of("payment.settled").await),
        (4, 5)
    );
    bank.close().await;
}
