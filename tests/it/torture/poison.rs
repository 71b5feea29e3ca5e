//! T25: the log has an event that cannot be read, in fifteen ways. Only the model that needs it stops, somebody is told, and money
//! moves all the same.

use std::time::{Duration, Instant};

use crate::support::chance::did;
use crate::support::{Bank, rebuild};

/// What is wrong with it, and what makes the payload of a good event so.
const SHAPES: [(&str, &str); 15] = [
    ("a variant that nobody knows", "replace(payload::text, 'defined', 'vanished')::json"),
    ("null", "'null'::json"),
    ("a number", "'1'::json"),
    ("a text", "'\"defined\"'::json"),
    ("a list", "json_build_array(payload)"),
    ("nothing", "'{}'::json"),
    ("two variants", "(payload::jsonb || '{\"retired\": null}')::json"),
    ("a field is missing", "(payload::jsonb #- '{defined,currency}')::json"),
    ("a number where a text is", "jsonb_set(payload::jsonb, '{defined,name}', '7')::json"),
    ("a text where a number is", "jsonb_set(payload::jsonb, '{defined,minimum_balance}', '\"7\"')::json"),
    ("a fraction", "jsonb_set(payload::jsonb, '{defined,minimum_balance}', '0.5')::json"),
    (
        "too large for 64 bits",
        "jsonb_set(payload::jsonb, '{defined,minimum_balance}', '99999999999999999999')::json",
    ),
    ("no such currency", "jsonb_set(payload::jsonb, '{defined,currency}', '\"naira\"')::json"),
    (
        "sealed for nobody",
        "jsonb_set(payload::jsonb, '{defined,name}',
                   '{\"sealed\": \"1.usr_0192f0c1a00070008000000000000abc.AAAA\"}')::json",
    ),
    ("nested without end", "(repeat('[', 500) || repeat(']', 500))::json"),
];

/// As if somebody else had written it: a product that is like another one, but for what is wrong.
async fn written(bank: &Bank, id: &str, payload: &str) {
    let mut tx = bank.pool.begin().await.unwrap();
    sqlx::query("SELECT FROM head FOR UPDATE").execute(&mut *tx).await.unwrap();
    let sql = format!(
        "INSERT INTO events (position, sequence, recorded_at, aggregate_type, aggregate_id, event_type, event_version,
                             payload, metadata)
         SELECT head.position + 1, 1, head.recorded_at, aggregate_type, $1, event_type, event_version, {payload}, metadata
           FROM head, events WHERE aggregate_id = 'CUR-001' AND sequence = 1"
    );
    assert_eq!(sqlx::query(&sql).bind(id).execute(&mut *tx).await.unwrap().rows_affected(), 1);
    sqlx::query("UPDATE head SET position = position + 1").execute(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
}

/// It can be read again.
async fn mended(bank: &Bank, id: &str) {
    let sql = "UPDATE events e SET payload = o.payload
                 FROM events o WHERE o.aggregate_id = 'CUR-001' AND o.sequence = 1 AND e.aggregate_id = $1";
    sqlx::query(sql).bind(id).execute(&bank.pool).await.unwrap();
    rebuild(&bank.pool, &["products"]).await.unwrap();
}

/// The read models that are parked, once they are these.
async fn parked(bank: &Bank, expected: &[&str], what: &str) {
    let began = Instant::now();
    loop {
        let ready = bank.client().get("/readyz").await;
        let models = ready.list_at("projections").iter().filter(|model| model["parked"] == true);
        let names: Vec<&str> = models.map(|model| model["name"].as_str().unwrap()).collect();
        if names == expected {
            assert_eq!(ready.status, if expected.is_empty() { 200 } else { 503 }, "{what}");
            return;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{what}: {names:?} are parked, not {expected:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_wrong_with_an_event_only_the_model_that_needs_it_stops() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    for (n, (what, payload)) in SHAPES.into_iter().enumerate() {
        let id = format!("BAD-{n:03}");
        written(&bank, &id, payload).await;
        let paid = ada.client.pay(&ada.current, &bola.current, 5, &id).await.is(201);
        parked(&bank, &["products"], what).await;
        let statement =
            ada.client.get(&format!("/v1/accounts/{}/statement?size=1", ada.current)).await.is(200);
        assert_eq!(
            statement.list_at("transactions")[0]["transactionId"],
            paid.body["transactionId"],
            "{what}"
        );
        mended(&bank, &id).await;
        parked(&bank, &[], what).await;
    }
    did(SHAPES.len(), "poisoned events");
    bank.caught_up().await;
    bank.close().await;
}
