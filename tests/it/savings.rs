//! Savings plans: contributions on their days, once each; what is short is skipped and told; the end of a plan.

use bursar_commands::processes::{Task as _, Work};
use bursar_commands::savings::MakeContributions;
use bursar_domain::kernel::{midnight, utc_date};
use futures_util::future::join;
use jiff::ToSpan as _;
use jiff::civil::{Date, date};
use serde_json::{Value, json};

use crate::support::client::Answer;
use crate::support::{Bank, Person};

/// The fifteenth of next month: a day that every month has.
async fn begin(bank: &Bank) -> Date {
    let today = utc_date(bank.app.journal.sources().clock.now());
    let day = today.first_of_month().saturating_add(1.month()).saturating_add(14.days());
    on(bank, day).await;
    day
}

async fn on(bank: &Bank, day: Date) {
    bank.client().post("/v1/sandbox/clock", &json!({"to": midnight(day)})).await.is(200);
    bank.caught_up().await;
}

/// A target savings account of somebody's that saves 500 naira a month.
async fn opens(person: &Person, change: &Value) -> Answer {
    let mut body = json!({
        "accountType": "TARGET_SAVINGS", "productId": "TSV-001", "currency": "NGN", "accountName": "A bicycle",
        "savingsGoal": 600_000, "savingsFrequency": "MONTHLY", "savingsAmount": 50_000,
        "sourceAccount": person.current, "initialDeposit": 100_000,
    });
    for (name, value) in change.as_object().unwrap() {
        body[name] = value.clone();
    }
    person.client.post("/v1/accounts", &body).await
}

/// The days that events of this kind are about, in the order of the log.
async fn days(bank: &Bank, account: &str, kind: &str) -> Vec<String> {
    let sql = "SELECT payload->$2->>'due' FROM events
                WHERE aggregate_type = 'plan' AND aggregate_id = $1 AND event_type = 'plan.' || $2 ORDER BY position";
    sqlx::query_scalar(sql).bind(account).bind(kind).fetch_all(&bank.pool).await.unwrap()
}

fn months(first: Date, count: i32) -> Vec<String> {
    (1..=count).map(|n| first.saturating_add(n.months()).to_string()).collect()
}

/// What the customer was told, newest first.
async fn told(person: &Person) -> Vec<String> {
    let answer = person.client.get("/v1/users/messages").await.is(200);
    answer.list_at("messages").iter().map(|message| message["subject"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_plan_saves_on_its_days_until_its_date() {
    let bank = Bank::open().await;
    let first = begin(&bank).await;
    let ada = bank.ada().await;
    let has = ada.client.balance(&ada.current).await;
    let maturity = first.saturating_add(4.months());
    let opened = opens(&ada, &json!({"maturityDate": midnight(maturity)})).await.is(201);
    let account = opened.text_at("accountNumber").to_owned();
    assert_eq!(ada.client.balance(&account).await, 100_000);
    on(&bank, first.saturating_add(1.month()).yesterday().unwrap()).await;
    assert_eq!(days(&bank, &account, "contributed").await, [""; 0]);
    for month in 1..=3 {
        on(&bank, first.saturating_add(month.months())).await;
        assert_eq!(days(&bank, &account, "contributed").await, months(first, month));
    }
    assert_eq!(bank.events_of("plan.matured").await, 0);
    on(&bank, first.saturating_add(6.months())).await;
    // What falls on the plan's date is not contributed any more.
    assert_eq!(days(&bank, &account, "contributed").await, months(first, 3));
    assert_eq!(bank.events_of("plan.matured").await, 1);
    let ada = bank.ada().await;
    assert!(told(&ada).await.contains(&"Your savings plan is complete".to_owned()));
    assert_eq!(ada.client.balance(&ada.current).await, has - 100_000 - 3 * 50_000);
    let sql = "SELECT count(*) FROM schedule WHERE task LIKE 'plan.%'";
    assert_eq!(sqlx::query_scalar::<_, i64>(sql).fetch_one(&bank.pool).await.unwrap(), 0);
    bank.close().await;
}

#[tokio::test]
async fn what_is_short_is_skipped_and_told_and_the_next_day_is_as_if_nothing_had_been() {
    let bank = Bank::open().await;
    let first = begin(&bank).await;
    let ada = bank.ada().await;
    let account = opens(&ada, &json!({})).await.is(201).text_at("accountNumber").to_owned();
    let all = ada.client.balance(&ada.current).await;
    let empties = crate::support::client::transfer(&ada.current, &ada.savings, all);
    ada.client.post("/v1/payments/transfer/self", &empties).await.is(201);
    on(&bank, first.saturating_add(1.month())).await;
    assert_eq!(days(&bank, &account, "skipped").await, months(first, 1));
    let ada = bank.ada().await;
    assert!(told(&ada).await.contains(&"A contribution was skipped".to_owned()));
    let fills = crate::support::client::transfer(&ada.savings, &ada.current, all);
    ada.client.post("/v1/payments/transfer/self", &fills).await.is(201);
    on(&bank, first.saturating_add(2.months())).await;
    assert_eq!(days(&bank, &account, "skipped").await, months(first, 1));
    assert_eq!(days(&bank, &account, "contributed").await, months(first, 2)[1..]);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn after_downtime_missed_days_follow_each_other_once_whichever_server_looks() {
    let bank = Bank::open().await;
    let first = begin(&bank).await;
    let ada = bank.ada().await;
    let weekly = json!({"savingsFrequency": "WEEKLY", "initialDeposit": null});
    let account = opens(&ada, &weekly).await.is(201).text_at("accountNumber").to_owned();
    let other = bank.second_through(bank.url()).await;
    let tasks = [&bank.app, &other].map(|app| MakeContributions::new(app.journal.clone()));
    let until = first.saturating_add(70.days());
    bank.clock.advance(midnight(until).duration_since(bank.app.journal.sources().clock.now()));
    // The other server's clock is the log's.
    crate::messages::tell(&bank, "ada@example.com", "Good morning").await;
    let now = midnight(until);
    let work = Work { subject: account.clone(), due_at: now, now, attempt: 1 };
    for _ in 0..12 {
        let (one, two) = join(tasks[0].run(&work), tasks[1].run(&work)).await;
        assert!(one.is_ok() && two.is_ok());
    }
    bank.caught_up().await;
    let weeks: Vec<String> = (1..=10).map(|n| first.saturating_add((7 * n).days()).to_string()).collect();
    assert_eq!(days(&bank, &account, "contributed").await, weeks);
    let ada = bank.ada().await;
    let saved: i64 = 10 * 50_000;
    assert!(ada.client.balance(&account).await >= saved);
    other.close().await;
    bank.close().await;
}

#[tokio::test]
async fn a_plan_is_only_what_its_holder_can_begin() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    opens(&ada, &json!({"maturityDate": midnight(date(2020, 1, 1))})).await.problem(422, "MATURITY_PASSED");
    opens(&ada, &json!({"sourceAccount": bola.current})).await.problem(404, "NOT_FOUND");
    let elsewhere = json!({"accountType": "SAVINGS", "productId": "SAV-001"});
    opens(&ada, &elsewhere).await.problem(422, "PLAN_NOT_ALLOWED");
    // Without an account to save from nothing is saved by itself.
    let alone = json!({"sourceAccount": null, "initialDeposit": null});
    opens(&ada, &alone).await.is(201);
    assert_eq!(bank.events_of("plan.began").await, 0);
    bank.close().await;
}
