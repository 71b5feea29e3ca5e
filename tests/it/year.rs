//! A year of a bank's own work: loans are collected, savings earn and are contributed to, payments repeat. Killed at random
//! and cut off from its store, it ends in the log of an undisturbed year.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bursar_api::App;
use bursar_api::sources::BankClock;
use bursar_domain::kernel::{midnight, utc_date};
use bursar_domain::loans::loan_number;
use jiff::civil::Date;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::runtime::Runtime;

use crate::ratchet::lending::{applies, staff};
use crate::support::chance::Chance;
use crate::support::{Bank, Person, build, check, config, pool, proxy};

/// A bank that is going to live by itself.
struct Begun {
    pool: PgPool,
    database: bursar_api::postgres::TestDatabase,
    /// The day on which it was left alone.
    day: Date,
    /// What its own ids are called, so that two banks can be compared.
    names: Vec<(String, String)>,
}

/// Loans of three, one of whom has no money left; plans that save, and one that cannot; a payment that repeats; standing
/// instructions, one of somebody without money.
async fn begun() -> Begun {
    let bank = Bank::open().await;
    let day = utc_date(bank.app.journal.sources().clock.now()).first_of_month();
    // A day that every month has, and on which no interest is posted.
    let day = day.saturating_add(1.month()).saturating_add(9.days());
    let noon = midnight(day) + SignedDuration::from_hours(12);
    bank.client().post("/v1/sandbox/clock", &json!({"to": noon})).await.is(200);
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let (teller, approver) = (bank.teller().await, bank.approver().await);
    let mut names = Vec::new();
    for (person, name) in [(&ada, "loan of Ada"), (&bola, "loan of Bola"), (&chidi, "loan of Chidi")] {
        let loan = applies(person).await;
        staff(&teller.client, &loan, "start-review", &json!({})).await;
        staff(&approver.client, &loan, "approve", &json!({})).await;
        staff(&teller.client, &loan, "disburse", &json!({})).await;
        names.push((loan_number(loan.parse().unwrap()), format!("number of {name}")));
        names.push((loan, name.to_owned()));
    }
    let maturity = midnight(day.saturating_add(10.months()));
    for (person, frequency, amount, name) in [
        (&ada, "MONTHLY", 10_000, "plan of Ada"),
        (&chidi, "WEEKLY", 5_000, "plan of Chidi"),
        // More than there ever is.
        (&ada, "MONTHLY", 900_000_000, "dream of Ada"),
    ] {
        let opened = plan(person, frequency, amount, maturity).await;
        names.push((opened, name.to_owned()));
    }
    let paid = ada.client.pay(&ada.current, &chidi.current, 1_000, "rent").await.is(201);
    let repeated = json!({"frequency": "MONTHLY", "startDate": midnight(day.saturating_add(5.days()))});
    let path = format!("/v1/transactions/{}/recurring", paid.text_at("transactionId"));
    let repeated = ada.client.post(&path, &repeated).await.is(201);
    names.push((repeated.text_at("recurringId").to_owned(), "rent of Ada".to_owned()));
    for (payer, payee, name) in [(&ada, &chidi, "order of Ada"), (&bola, &chidi, "order of Bola")] {
        let mandate = json!({
            "amount": 1_000, "currency": "NGN", "frequency": "WEEKLY", "sourceAccount": payer.current,
            "startDate": midnight(day.saturating_add(3.days())), "beneficiaryAccount": payee.current,
        });
        let given = payer.client.post("/v1/mandates", &mandate).await.is(201);
        names.push((given.text_at("mandateId").to_owned(), name.to_owned()));
    }
    // Bola's money is gone: her loan will be late, later, and in default.
    let all = bola
        .client
        .get(&format!("/v1/accounts/{}/balance", bola.current))
        .await
        .number_at("availableBalance");
    bola.client.pay(&bola.current, &ada.current, all, "gone").await.is(201);
    bank.caught_up().await;
    let (pool, database) = bank.stop().await;
    Begun { pool, database, day, names }
}

async fn plan(person: &Person, frequency: &str, amount: i64, maturity: Timestamp) -> String {
    let body = json!({
        "productId": "TSV-001", "currency": "NGN", "savingsFrequency": frequency, "savingsAmount": amount,
        "savingsGoal": amount * 10, "maturityDate": maturity, "sourceAccount": person.current,
        "initialDeposit": 100_000,
    });
    person.client.post("/v1/accounts", &body).await.is(201).text_at("accountNumber").to_owned()
}

/// A server that can be killed: everything of it runs on a runtime of its own, which goes without a goodbye.
struct Mortal {
    runtime: Option<Runtime>,
    app: App,
    clock: Arc<BankClock>,
}

impl Mortal {
    async fn start(url: &str) -> Self {
        let url = url.to_owned();
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let (app, clock) = runtime.spawn(async move { build(pool(&url), config()).await }).await.unwrap();
        Self { runtime: Some(runtime), app, clock }
    }

    /// Everything that is due by now.
    fn work(&self) -> tokio::task::JoinHandle<bool> {
        let app = self.app.clone();
        self.runtime.as_ref().unwrap().spawn(async move { app.processes.run_due().await.is_ok() })
    }

    fn kill(&mut self) {
        self.runtime.take().unwrap().shutdown_background();
    }

    fn at(&self, now: Timestamp) {
        let ahead = now.duration_since(self.app.journal.sources().clock.now());
        if ahead.is_positive() {
            self.clock.advance(ahead);
        }
    }

    async fn stop(mut self) {
        let app = self.app.clone();
        self.runtime.as_ref().unwrap().spawn(async move { app.close().await }).await.unwrap();
        self.kill();
    }
}

/// What goes wrong in a year.
#[derive(Default)]
struct Trouble {
    kills: usize,
    cuts: usize,
}

/// Lets a year pass, day by day. Chance kills the server and cuts its way to the store.
async fn live(bank: &Begun, mut chance: Option<Chance>) -> Trouble {
    let (through, faults) = proxy::in_front_of(&bank.database.url).await;
    let mut server = Mortal::start(&through).await;
    let mut trouble = Trouble::default();
    let last = bank.day.saturating_add(1.year());
    for day in bank.day.series(1.day()).skip(1).take_while(|day| *day <= last) {
        let evening = midnight(day) + SignedDuration::from_hours(23);
        let mut now = midnight(day);
        server.at(now);
        // Most of the days are quiet.
        let mut struck = chance.as_mut().map_or(0, |chance| chance.between(0, 9));
        let patience = Instant::now() + Duration::from_secs(60);
        loop {
            assert!(Instant::now() < patience, "{day} does not end");
            match struck {
                1 => faults.leave_commits_unanswered(1),
                2 => faults.swallow_commits(1),
                3 => faults.cut_at_message(i64::try_from(chance.as_mut().unwrap().between(1, 60)).unwrap()),
                _ => {}
            }
            let work = server.work();
            if struck == 4 {
                tokio::time::sleep(chance.as_mut().unwrap().millis(0, 20)).await;
                server.kill();
                trouble.kills += 1;
                server = Mortal::start(&through).await;
            } else {
                let _ = tokio::time::timeout(Duration::from_secs(5), work).await;
            }
            faults.calm();
            struck = 0;
            // What was begun by a server that is dead is begun again when its lease is over, what has failed after a while.
            let Some(due) = next_due(&bank.pool, evening).await else { break };
            now = due.max(now) + SignedDuration::from_secs(61);
            server.at(now);
        }
    }
    trouble.cuts = faults.cuts.load(std::sync::atomic::Ordering::SeqCst);
    server.stop().await;
    trouble
}

/// When the next work before the evening is due, if there is any.
async fn next_due(pool: &PgPool, evening: Timestamp) -> Option<Timestamp> {
    let sql = "SELECT (extract(epoch FROM min(due_at)) * 1000000)::bigint FROM schedule
                WHERE due_at <= $1::timestamptz AND task <> 'files.sweep'";
    let due: Option<i64> = sqlx::query_scalar(sql).bind(evening.to_string()).fetch_one(pool).await.unwrap();
    due.map(|micros| Timestamp::from_microsecond(micros).unwrap())
}

/// The log since the bank was left alone, day by day. Within a day, what belongs to nobody else may come in any order. Ids
/// that were minted are called by their kind; balances after a posting are compared day by day in the books.
async fn log(bank: &Begun) -> BTreeMap<String, Vec<String>> {
    let sql = "SELECT (recorded_at AT TIME ZONE 'UTC')::date::text, aggregate_type, aggregate_id, event_type, payload::text
                 FROM events WHERE recorded_at >= $1::timestamptz ORDER BY position";
    let since = midnight(bank.day.tomorrow().unwrap()).to_string();
    let rows: Vec<(String, String, String, String, String)> =
        sqlx::query_as(sql).bind(since).fetch_all(&bank.pool).await.unwrap();
    let mut days: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (day, kind, id, event, payload) in rows {
        let mut payload: Value = serde_json::from_str(&payload).unwrap();
        without_chance(&mut payload);
        let line = named(&format!("{kind} {id} {event} {payload}"), &bank.names);
        days.entry(day).or_default().push(line);
    }
    days.values_mut().for_each(|lines| lines.sort());
    days
}

/// Without what differs from bank to bank: sealed words, times of day, balances between two postings.
fn without_chance(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for secret in ["balance", "reference", "id", "body", "sealed"] {
                members.remove(secret);
            }
            members.values_mut().for_each(without_chance);
        }
        Value::Array(items) => items.iter_mut().for_each(without_chance),
        Value::String(text) if text.parse::<Timestamp>().is_ok() => text.truncate("2026-01-31".len()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Ids by the names they were given, and the others by their kind.
fn named(line: &str, names: &[(String, String)]) -> String {
    let mut line = line.to_owned();
    for (id, name) in names {
        line = line.replace(id, name);
    }
    for prefix in ["txn_", "msg_"] {
        let mut rest = line.as_str();
        let mut plain = String::new();
        while let Some(at) = rest.find(prefix) {
            plain.push_str(&rest[..at + prefix.len()]);
            rest = &rest[(at + prefix.len() + 32).min(rest.len())..];
        }
        line = plain + rest;
    }
    line
}

/// The books of each day, and every customer's balance at its end.
async fn books(bank: &Begun) -> Vec<(String, String, i64)> {
    let sql = "SELECT day::text, ledger_account, balance FROM trial_balance
               UNION ALL SELECT day::text, side || ' ' || line, amount FROM balance_sheet
               UNION ALL SELECT day::text, account_number, ledger_balance FROM daily_balances
               ORDER BY 1, 2, 3";
    let rows: Vec<(String, String, i64)> = sqlx::query_as(sql).fetch_all(&bank.pool).await.unwrap();
    let since = bank.day.to_string();
    let rows = rows.into_iter().filter(|(day, ..)| *day > since);
    let mut rows: Vec<_> = rows.map(|(day, line, sum)| (day, named(&line, &bank.names), sum)).collect();
    rows.sort();
    rows
}

/// How many events of each kind a year holds.
async fn counted(bank: &Begun, event: &str) -> i64 {
    let sql = "SELECT count(*) FROM events WHERE event_type = $1";
    sqlx::query_scalar(sql).bind(event).fetch_one(&bank.pool).await.unwrap()
}

async fn interest(bank: &Begun) -> i64 {
    sqlx::query_scalar("SELECT count(*) FROM interest_postings").fetch_one(&bank.pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_year_with_a_server_that_is_killed_again_and_again_is_like_any_other() {
    let began = Instant::now();
    let (calm, stormy) = (begun().await, begun().await);
    assert_eq!(calm.day, stormy.day, "run it again: the month turned in between");
    live(&calm, None).await;
    let trouble = live(&stormy, Some(Chance::new())).await;
    println!("{} kills, {} cuts, {:?}", trouble.kills, trouble.cuts, began.elapsed());
    assert!(trouble.kills >= 15 && trouble.cuts >= 30, "{} kills, {} cuts", trouble.kills, trouble.cuts);
    // A year worth the name.
    for (event, least) in [
        ("loan.closed", 2),
        ("loan.missed", 3),
        ("plan.contributed", 45),
        ("plan.skipped", 9),
        ("plan.matured", 3),
        ("recurrence.executed", 11),
        ("mandate.executed", 50),
        ("mandate.paused", 1),
    ] {
        assert!(counted(&calm, event).await >= least, "{event}: {}", counted(&calm, event).await);
    }
    assert!(interest(&calm).await >= 12 * 3);
    let (expected, found) = (log(&calm).await, log(&stormy).await);
    for (day, events) in &expected {
        assert_eq!(found.get(day), Some(events), "{day}");
    }
    assert_eq!(found.len(), expected.len());
    assert_eq!(books(&stormy).await, books(&calm).await);
    for bank in [calm, stormy] {
        let unbalanced = "SELECT day::text FROM trial_balance GROUP BY day, currency HAVING sum(balance) <> 0
                          UNION ALL SELECT day::text FROM balance_sheet GROUP BY day, currency
                          HAVING sum(CASE side WHEN 'ASSET' THEN amount ELSE -amount END) <> 0";
        let unbalanced: Vec<String> = sqlx::query_scalar(unbalanced).fetch_all(&bank.pool).await.unwrap();
        assert_eq!(unbalanced, [""; 0]);
        check(&bank.pool).await;
        bank.pool.close().await;
        bank.database.drop_now().await.unwrap();
    }
}
