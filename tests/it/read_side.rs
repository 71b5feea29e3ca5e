//! Read models while the bank is at work: rebuilt, poisoned, run by two servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bursar_projections::Log;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::Value;

use crate::support::{Bank, Client, codec, rebuild};

fn every_model() -> Vec<&'static str> {
    bursar_projections::catalogue().iter().map(|entry| entry.name).collect()
}

/// `READY`, or the names of the parked models.
async fn readiness(client: &Client) -> (u16, Vec<String>) {
    let answer = client.get("/readyz").await;
    let models = answer.list_at("projections").iter().filter(|model| model["parked"] == true);
    (answer.status, models.map(|model| model["name"].as_str().unwrap().to_owned()).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn read_models_are_rebuilt_while_the_bank_is_at_work() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let had = ada.client.balance(&ada.current).await;
    let statement = format!("/v1/accounts/{}/statement?size=1", ada.current);
    let done = Arc::new(AtomicBool::new(false));
    let rebuilding = tokio::spawn({
        let (pool, done) = (bank.pool.clone(), Arc::clone(&done));
        async move {
            let mut rebuilds = 0;
            while !done.load(Ordering::Relaxed) {
                let reports = rebuild(&pool, &every_model()).await.unwrap();
                assert!(reports.iter().all(|report| report.differing == 0), "{reports:?}");
                rebuilds += 1;
            }
            rebuilds
        }
    });
    let customers = (0..4).map(|customer| {
        let (ada, bola, statement) = (&ada, &bola, &statement);
        async move {
            for n in 0..50 {
                ada.client.pay(&ada.current, &bola.current, 1, &format!("{customer}-{n}")).await.is(201);
                // Their own write is there, in whichever table is the live one.
                ada.client.get(statement).await.is(200);
                ada.client.get("/v1/accounts").await.is(200);
            }
        }
    });
    join_all(customers).await;
    done.store(true, Ordering::Relaxed);
    let rebuilds = rebuilding.await.unwrap();
    assert!(rebuilds >= 2, "only {rebuilds} rebuilds in all that time");
    assert_eq!(ada.client.balance(&ada.current).await, had - 200);
    let all =
        ada.client.get(&format!("/v1/accounts/{}/statement?size=100&page=2&q=Lunch", ada.current)).await;
    assert_eq!(all.body["pagination"]["total"], 200);
    assert_eq!(readiness(&ada.client).await, (200, vec![]));
    bank.close().await;
}

/// Makes the event that defined the product `id` unreadable, or readable again.
async fn damage(bank: &Bank, id: &str, damaged: bool) {
    let (from, to) = if damaged { ("defined", "vanished") } else { ("vanished", "defined") };
    let sql = "UPDATE events SET payload = replace(payload::text, $1, $2)::json WHERE aggregate_id = $3";
    let edited = sqlx::query(sql).bind(from).bind(to).bind(id).execute(&bank.pool).await.unwrap();
    assert_eq!(edited.rows_affected(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_poisoned_event_parks_the_model_that_cannot_take_it_and_no_other() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    ada.client.get("/v1/accounts").await.is(200);
    assert_eq!(readiness(&bank.client()).await, (200, vec![]));
    // The products' model starts again from the beginning and meets an event that it cannot read.
    damage(&bank, "TSV-001", true).await;
    let restart = "UPDATE checkpoints SET position = 0, generation = generation + 1 WHERE model = 'products'";
    sqlx::query(restart).execute(&bank.pool).await.unwrap();
    sqlx::query("TRUNCATE products").execute(&bank.pool).await.unwrap();
    eventually(&bank.client(), "/readyz", 503).await;
    assert_eq!(readiness(&bank.client()).await, (503, vec!["products".to_owned()]));

    // Payments go on, and so does everything that can be read without it.
    let paid = ada.client.pay(&ada.current, &bola.current, 5, "one").await.is(201);
    let statement = ada.client.get(&format!("/v1/accounts/{}/statement", ada.current)).await.is(200);
    assert_eq!(statement.list_at("transactions")[0]["transactionId"], paid.body["transactionId"]);
    ada.client.get("/v1/accounts").await.is(200);
    // Who needs what comes after it is not shown something older, and need not wait to learn so.
    let began = std::time::Instant::now();
    ada.client.get("/v1/account/products/types").await.problem(503, "UNAVAILABLE");
    assert!(began.elapsed() < std::time::Duration::from_secs(1));

    // Once it can be read, a rebuild brings the model back, without a restart.
    damage(&bank, "TSV-001", false).await;
    rebuild(&bank.pool, &["products"]).await.unwrap();
    let products = eventually(&ada.client, "/v1/account/products/types", 200).await;
    assert_eq!(products["totalProducts"], 4);
    assert_eq!(readiness(&bank.client()).await, (200, vec![]));
    bank.close().await;
}

/// Puts the account's row off by so much, and has the server read it.
async fn off_by(bank: &Bank, account: &str, amount: i64) {
    let sql = "UPDATE accounts SET ledger_balance = ledger_balance + $2 WHERE account_number = $1";
    assert_eq!(
        sqlx::query(sql).bind(account).bind(amount).execute(&bank.pool).await.unwrap().rows_affected(),
        1
    );
    let anew = "UPDATE checkpoints SET generation = generation + 1 WHERE model = 'accounts'";
    sqlx::query(anew).execute(&bank.pool).await.unwrap();
    // It looks once a second.
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_that_cannot_take_an_event_are_parked_and_only_their_holder_is_refused() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let had = ada.client.balance(&ada.current).await;
    off_by(&bank, &bola.current, 1).await;
    // What Bola gets does not lead from the balance that the table says he has.
    let paid = ada.client.pay(&ada.current, &bola.current, 100, "one").await.is(201);
    ada.client.pay(&ada.current, &ada.savings, 10, "two").await.is(201);
    assert_eq!(ada.client.get("/v1/accounts").await.is(200).list_at("accounts").len(), 2);
    assert_eq!(ada.client.balance(&ada.current).await, had - 110);
    let position = paid.header("bursar-position");
    let request = bola.client.request(Method::GET, "/v1/accounts").header("Bursar-Min-Position", position);
    assert_ne!(request.send().await.problem(503, "UNAVAILABLE").header("retry-after"), "");
    // Elsewhere he is right.
    let listed = bola.client.get("/v1/transactions?size=1").await.is(200);
    assert_eq!(listed.list_at("transactions")[0]["amount"], 100);

    // Whoever runs the bank is told, and nobody is turned away from the server for it.
    assert_eq!(readiness(&bank.client()).await, (200, vec![]));
    let staff = bank.approver().await.client;
    let listed = staff.get("/v1/staff/ops/projections").await.is(200);
    let models = listed.list_at("projections");
    let accounts = models.iter().find(|model| model["name"] == "accounts").unwrap();
    assert_eq!(accounts["state"], "FOLLOWING");
    let parked = &accounts["parked"][0];
    assert_eq!(
        (parked["key"].as_str(), parked["position"].to_string().as_str()),
        (Some(&*bola.current), position)
    );
    assert!(parked["error"].as_str().unwrap().contains("must be"), "{parked}");
    // The banks of a test process share the gauge: this one's turn comes with its next look.
    let is_told = async || {
        let metrics = bank.client().get("/metrics").await.is(200).text;
        metrics.lines().any(|line| {
            line.starts_with("bursar_projection_parked_row_sets")
                && line.contains("accounts")
                && line.ends_with(" 1")
        })
    };
    let patience = std::time::Instant::now();
    while !is_told().await {
        assert!(patience.elapsed().as_secs() < 20, "no gauge tells of the parked rows");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }

    // Mended, another chance brings him up to the others.
    off_by(&bank, &bola.current, -1).await;
    let (codec, (sources, _)) = (codec(&bank.pool).await, bursar_api::sources::system());
    let log = Log { pool: &bank.pool, codec: &codec, clock: &*sources.clock };
    let retried = bursar_projections::retry(log, "accounts").await.unwrap();
    assert_eq!(retried.caught_up, std::slice::from_ref(&bola.current));
    eventually(&bola.client, "/v1/accounts", 200).await;
    ada.client.pay(&ada.current, &bola.current, 1, "three").await.is(201);
    bank.caught_up().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_this_version_does_not_know_stops_no_payment() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    // As if a newer server had written it.
    let mut tx = bank.pool.begin().await.unwrap();
    sqlx::query("SELECT FROM head FOR UPDATE").execute(&mut *tx).await.unwrap();
    let sql = "INSERT INTO events (position, sequence, recorded_at, aggregate_type, aggregate_id, event_type,
                                   event_version, payload, metadata)
               SELECT head.position + 1, 1, head.recorded_at, aggregate_type, 'NEW-001', event_type,
                      event_version, replace(payload::text, 'defined', 'vanished')::json, metadata
               FROM head, events WHERE aggregate_id = 'CUR-001'";
    assert_eq!(sqlx::query(sql).execute(&mut *tx).await.unwrap().rows_affected(), 1);
    sqlx::query("UPDATE head SET position = position + 1").execute(&mut *tx).await.unwrap();
    tx.commit().await.unwrap();
    let head = bank.events().await;
    let paid = ada.client.pay(&ada.current, &bola.current, 5, "one").await.is(201);
    assert_eq!(paid.header("bursar-position"), (head + 1).to_string());
    ada.client.get(&format!("/v1/accounts/{}/statement", ada.current)).await.is(200);
    assert_eq!(readiness(&bank.client()).await, (503, vec!["products".to_owned()]));
    damage(&bank, "NEW-001", false).await;
    rebuild(&bank.pool, &["products"]).await.unwrap();
    bank.close().await;
}

/// The body, once it comes with this status: the runner looks at its checkpoints once a second.
async fn eventually(client: &Client, path: &str, status: u16) -> Value {
    for _ in 0..100 {
        let answer = client.get(path).await;
        if answer.status == status {
            return answer.body;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{path} is never answered {status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_servers_runs_the_models_and_the_other_takes_over() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let there = bola.client.at(address);
    let read = async |client: &Client, account: &str, position: &str| {
        let path = format!("/v1/accounts/{account}/statement?size=1");
        let request = client.request(Method::GET, &path).header("Bursar-Min-Position", position);
        request.send().await.is(200).list_at("transactions")[0]["transactionId"].clone()
    };
    for n in 0..20 {
        let paid = ada.client.pay(&ada.current, &bola.current, 1, &format!("here-{n}")).await.is(201);
        let seen = read(&there, &bola.current, paid.header("bursar-position")).await;
        assert_eq!(seen, paid.body["transactionId"], "written here, read there");
        let paid = there.pay(&bola.current, &ada.current, 1, &format!("there-{n}")).await.is(201);
        let seen = read(&ada.client, &ada.current, paid.header("bursar-position")).await;
        assert_eq!(seen, paid.body["transactionId"], "written there, read here");
    }
    let sql = "SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_database d ON d.oid = database
               WHERE locktype = 'advisory' AND granted AND datname = current_database()";
    let leaders: i64 = sqlx::query_scalar(sql).fetch_one(&bank.pool).await.unwrap();
    assert_eq!(leaders, 1);
    // The first server goes; whoever led until now, the second does from here on.
    bank.app.close().await;
    for n in 20..40 {
        let paid = there.pay(&bola.current, &ada.current, 1, &format!("there-{n}")).await.is(201);
        let seen = read(&there, &bola.current, paid.header("bursar-position")).await;
        assert_eq!(seen, paid.body["transactionId"]);
    }
    assert_eq!(readiness(&there).await, (200, vec![]));
    second.close().await;
    bank.close().await;
}
