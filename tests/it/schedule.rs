//! The schedule in several servers, some of which die, after days on which nobody was there.

use std::time::{Duration, Instant};

use bursar_api::postgres::{EmbeddedPostgres, Options};
use bursar_api::{database, demo};
use bursar_domain::Clock as _;
use bursar_domain::kernel::utc_date;
use futures_util::future::join_all;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use reqwest::Method;
use serde_json::json;
use sqlx::PgPool;

use crate::recurrences::{midnight, on, today};
use crate::reversals::path;
use crate::support::chance::{Chance, did, scaled};
use crate::support::process::Server;
use crate::support::{self, Bank, Client, Scratch, build, check, config, person_at};

/// The days on which a mandate or a recurrence was executed, in the order of the log.
async fn executed(pool: &PgPool, id: &str) -> Vec<String> {
    let sql = "SELECT payload->'executed'->>'due' FROM events WHERE aggregate_id = $1
               AND event_type LIKE '%.executed' ORDER BY position";
    sqlx::query_scalar(sql).bind(id).fetch_all(pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_due_day_is_executed_once_by_servers_that_die_and_were_away() {
    let mut chance = Chance::new();
    let bank = Bank::open().await;
    let (second, third) = (bank.second().await, bank.second().await);
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let start = today(&bank);
    let after = |days: i64| start.checked_add(days.days()).unwrap();
    let paid = ada.client.pay(&ada.current, &bola.current, 100, "daily").await.is(201);
    let has = ada.client.balance(&ada.current).await;
    let mut ids = Vec::new();
    for _ in 0..6 {
        let mandate = json!({
            "amount": 100, "currency": "NGN", "frequency": "DAILY", "startDate": midnight(after(1)),
            "sourceAccount": ada.current, "beneficiaryAccount": bola.current,
        });
        let given = ada.client.post("/v1/mandates", &mandate).await.is(201);
        ids.push(given.text_at("mandateId").to_owned());
        let plan = json!({"frequency": "DAILY", "startDate": midnight(after(1))});
        let repeated = ada.client.post(&path(&paid, "recurring"), &plan).await.is(201);
        ids.push(repeated.text_at("recurringId").to_owned());
    }
    // One day, the next, three days at once after an outage, and one more.
    for day in [1, 2, 5, 6] {
        let noon = after(day).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp();
        let clients = [bank.client(), bank.client().at(second.1), bank.client().at(third.1)];
        let moves = clients.map(|client| {
            tokio::spawn(async move { client.post("/v1/sandbox/clock", &json!({"to": noon})).await })
        });
        // Workers that die in the middle of what they do, and leave their claims behind.
        for round in 0..6 {
            let processes = [&bank.app, &second.0, &third.0][round % 3].processes.clone();
            let worker = tokio::spawn(async move { processes.run_due().await });
            tokio::time::sleep(chance.millis(0, 25)).await;
            worker.abort();
            let claims = "UPDATE schedule SET leased_until = $1::timestamptz, attempts = attempts + 1
                           WHERE due_at <= $2::timestamptz AND task LIKE '%.execute' AND random() < 0.3";
            let dead = (noon + SignedDuration::from_secs(2)).to_string();
            sqlx::query(claims).bind(dead).bind(noon.to_string()).execute(&bank.pool).await.unwrap();
        }
        // The minute passes for which the claims of the dead are respected.
        let over = "UPDATE schedule SET leased_until = $1::timestamptz WHERE leased_until > $1::timestamptz";
        let dead = (noon + SignedDuration::from_secs(2)).to_string();
        sqlx::query(over).bind(dead).execute(&bank.pool).await.unwrap();
        for moved in moves {
            // Who is asked late may be there already: what the others have written by then took it along.
            let moved = moved.await.unwrap();
            assert!([200, 400].contains(&moved.status), "{}", moved.text);
        }
        on(&bank, after(day)).await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let expected: Vec<String> = (1..=6).map(|day| after(day).to_string()).collect();
    for id in &ids {
        assert_eq!(executed(&bank.pool, id).await, expected, "{id}");
    }
    let failed = bank.events_of("mandate.failed").await + bank.events_of("recurrence.failed").await;
    assert_eq!((failed, bank.events_of("mandate.refused").await), (0, 0));
    let ada = bank.ada().await;
    assert_eq!(ada.client.balance(&ada.current).await, has - 12 * 6 * 100);
    second.0.close().await;
    third.0.close().await;
    bank.close().await;
}

/// A standing instruction of the last test: due once a day, whoever is there.
const EXECUTED: &str = "SELECT count(*) FROM events WHERE event_type = 'mandate.executed'";
/// Work that somebody has claimed and not done.
const CLAIMED: &str = "SELECT count(*) FROM schedule WHERE task = 'mandate.execute' AND attempts > 0";
const DUE: &str =
    "SELECT count(*) FROM schedule WHERE task = 'mandate.execute' AND due_at <= $1::timestamptz";

async fn count(pool: &PgPool, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn each_due_day_is_executed_once_by_processes_that_are_killed() {
    let mut chance = Chance::new();
    let scratch = Scratch::new("killed");
    // A server on its own refuses the tests' Postgres, which forgets.
    let options = Options::new(scratch.path());
    let postgres = tokio::task::spawn_blocking(|| EmbeddedPostgres::start(options)).await.unwrap().unwrap();
    let url = postgres.url("bursar");
    database::migrate(&url.parse().unwrap()).await.unwrap();
    let pool = support::pool(&url);
    let (app, clock) = build(pool.clone(), config()).await;
    demo::people(&app, &clock).await.unwrap();
    let start = utc_date(clock.now());
    app.close().await;
    let start_one = || Server::serve(&url, scratch.path());
    let mut servers = vec![start_one().await, start_one().await, start_one().await];
    let ada = person_at(servers[0].address, "ada@example.com").await;
    let bola = person_at(servers[1].address, "bola@example.com").await;
    let after = |days: i64| start.checked_add(days.days()).unwrap();
    let has = ada.client.balance(&ada.current).await;
    let mut ids = Vec::new();
    for _ in 0..scaled(120) {
        let mandate = json!({
            "amount": 100, "currency": "NGN", "frequency": "DAILY", "startDate": midnight(after(1)),
            "sourceAccount": ada.current, "beneficiaryAccount": bola.current,
        });
        ids.push(ada.client.post("/v1/mandates", &mandate).await.is(201).text_at("mandateId").to_owned());
    }
    let mandates = i64::try_from(ids.len()).unwrap();
    let (mut done, mut left_behind) = (0, 0);
    // One day, the next, three days at once after an outage, and one more.
    for (days, on) in [(1, 1), (1, 2), (3, 5), (1, 6)] {
        let noon = after(on).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp();
        // Each is killed once in the middle of it, when some part of the day's work has been done. Its claims are respected for
        // a minute.
        for killed in 0..3 {
            let moving = tokio::spawn(everybody_to(&servers, noon + SignedDuration::from_secs(70 * killed)));
            let part = i64::try_from(chance.between(1, 30)).unwrap() + 30 * killed;
            reaches(&pool, done + mandates * days * part / 100).await;
            servers.remove(0).kill();
            left_behind += count(&pool, CLAIMED).await;
            moving.abort();
            servers.push(start_one().await);
        }
        done += mandates * days;
        everybody_to(&servers, noon + SignedDuration::from_mins(5)).await;
        reaches(&pool, done).await;
        let due: i64 = sqlx::query_scalar(DUE).bind(noon.to_string()).fetch_one(&pool).await.unwrap();
        assert_eq!(due, 0);
    }
    did(ids.len() * 6, "due days");
    let expected: Vec<String> = (1..=6).map(|day| after(day).to_string()).collect();
    for id in &ids {
        assert_eq!(executed(&pool, id).await, expected, "{id}");
    }
    assert!(left_behind > 0, "nobody was killed at work");
    let client = Client::new(servers[0].address).login("ada@example.com").await;
    assert_eq!(client.balance(&ada.current).await, has - 6 * 100 * mandates);
    drop(servers);
    check(&pool).await;
    pool.close().await;
    tokio::task::spawn_blocking(|| postgres.stop()).await.unwrap();
}

/// Moves every server's clock; one that is killed in the meantime does not answer.
fn everybody_to(servers: &[Server], to: Timestamp) -> impl Future<Output = ()> + use<> {
    let clients: Vec<Client> = servers.iter().map(|server| Client::new(server.address)).collect();
    async move {
        let body = json!({"to": to});
        let moves = clients
            .iter()
            .map(|client| client.request(Method::POST, "/v1/sandbox/clock").json(&body).try_send());
        for moved in join_all(moves).await.into_iter().flatten() {
            // Whoever has just started may be there: what the others have written took it along.
            assert!([200, 400].contains(&moved.status), "{}", moved.text);
        }
    }
}

/// Returns when so many mandates were executed.
async fn reaches(pool: &PgPool, executed: i64) {
    let patience = Instant::now() + Duration::from_secs(120);
    while count(pool, EXECUTED).await < executed {
        assert!(Instant::now() < patience, "what is due is not done");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
