//! The schedule in several servers, some of which die, after days on which nobody was there.

use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, ToSpan as _};
use serde_json::json;

use crate::recurrences::{midnight, on, today};
use crate::reversals::path;
use crate::support::Bank;
use crate::support::chance::Chance;

/// The days on which a mandate or a recurrence was executed, in the order of the log.
async fn executed(bank: &Bank, id: &str) -> Vec<String> {
    let sql = "SELECT payload->'executed'->>'due' FROM events WHERE aggregate_id = $1
               AND event_type LIKE '%.executed' ORDER BY position";
    sqlx::query_scalar(sql).bind(id).fetch_all(&bank.pool).await.unwrap()
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
        assert_eq!(executed(&bank, id).await, expected, "{id}");
    }
    let failed = bank.events_of("mandate.failed").await + bank.events_of("recurrence.failed").await;
    assert_eq!((failed, bank.events_of("mandate.refused").await), (0, 0));
    let ada = bank.ada().await;
    assert_eq!(ada.client.balance(&ada.current).await, has - 12 * 6 * 100);
    second.0.close().await;
    third.0.close().await;
    bank.close().await;
}
