//! What every endpoint has in common.

use std::path::Path;
use std::time::{Duration, Instant};

use bursar_api::config::Config;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::client::{Answer, transfer};
use crate::support::{Bank, config};

const INTERNAL: &str = "/v1/payments/transfer/internal";

#[tokio::test]
async fn a_request_id_goes_from_the_client_into_the_log_and_back() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let paid = ada.client.request(Method::POST, INTERNAL).header("X-Request-Id", "order-17/a");
    let paid = paid.json(&transfer(&ada.current, &bola.current, 5)).send().await.is(201);
    assert_eq!(paid.header("x-request-id"), "order-17/a");
    let sql = "SELECT metadata ->> 'correlation_id', metadata ->> 'actor' FROM events WHERE position = $1";
    let position: i64 = paid.header("bursar-position").parse().unwrap();
    let metadata = async |position: i64| -> (String, String) {
        sqlx::query_as(sql).bind(position).fetch_one(&bank.pool).await.unwrap()
    };
    let ada_id = bank.user("ada@example.com").await.to_string();
    assert_eq!(metadata(position).await, ("order-17/a".to_owned(), ada_id));
    // One that could do harm in a log or is too long is replaced, as is none.
    for id in ["two words", "", &"x".repeat(129)] {
        let answer = ada.client.request(Method::POST, INTERNAL).header("X-Request-Id", id);
        let answer = answer.json(&transfer(&ada.current, &bola.current, 5)).send().await.is(201);
        let ours = answer.header("x-request-id");
        assert!(ours.len() == 32 && ours.bytes().all(|b| b.is_ascii_hexdigit()), "{id}: {ours}");
        let position = answer.header("bursar-position").parse().unwrap();
        assert_eq!(metadata(position).await.0, ours);
    }
    bank.close().await;
}

#[tokio::test]
async fn a_write_tells_its_position_and_a_read_can_ask_for_it() {
    let mut impatient = config();
    impatient.projections.wait_millis = 100;
    let bank = Bank::configured(impatient).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let paid = ada.client.pay(&ada.current, &bola.current, 5, "one").await.is(201);
    let position: i64 = paid.header("bursar-position").parse().unwrap();
    assert_eq!(position, bank.events().await);
    let read = async |path: &str, position: &str| {
        let request = bola.client.request(Method::GET, path).header("Bursar-Min-Position", position);
        request.send().await
    };
    let statement = format!("/v1/accounts/{}/statement", bola.current);
    let seen = read(&statement, &position.to_string()).await.is(200);
    assert_eq!(seen.list_at("transactions")[0]["transactionId"], paid.body["transactionId"]);
    for path in [&*statement, "/v1/accounts", "/v1/account/products/types"] {
        let began = Instant::now();
        let late = read(path, &(position + 1_000).to_string()).await.problem(503, "UNAVAILABLE");
        assert!(late.header("retry-after").parse::<u64>().unwrap() >= 1);
        assert!(began.elapsed() < Duration::from_secs(2), "{path}: {:?}", began.elapsed());
        for wrong in ["-1", "x", "9223372036854775808", ""] {
            assert_eq!(read(path, wrong).await.pointers(), ["/Bursar-Min-Position"], "{wrong}");
        }
    }
    bank.close().await;
}

#[tokio::test]
async fn what_is_not_there_is_a_problem_too() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    for path in [
        "/",
        "/v1",
        "/v1/nothing",
        "/v1/accounts/",
        "/V1/accounts",
        "/v1//accounts",
        "/%00",
        "/v1/accounts/%ff",
    ] {
        ada.client.get(path).await.problem(404, "NOT_FOUND");
        let stranger = bank.client().get(path).await;
        assert!([401, 404].contains(&stranger.status), "{path}: {}", stranger.text);
    }
    for method in [Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS, Method::TRACE] {
        let answer = ada.client.request(method, "/v1/accounts").send().await;
        let allowed = answer.problem(405, "METHOD_NOT_ALLOWED").header("allow").to_owned();
        assert!(allowed.contains("GET") && allowed.contains("POST"), "{allowed}");
    }
    bank.close().await;
}

#[tokio::test]
async fn head_is_get_without_the_body() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    for path in ["/healthz".to_owned(), "/v1/accounts".to_owned(), format!("/v1/accounts/{}", ada.current)] {
        let get = ada.client.get(&path).await.is(200);
        let head = ada.client.request(Method::HEAD, &path).send().await.is(200);
        assert_eq!((&*head.text, head.header("etag")), ("", get.header("etag")), "{path}");
        assert_eq!(head.header("content-type"), get.header("content-type"));
    }
    bank.close().await;
}

#[tokio::test]
async fn an_idempotency_key_is_printable_and_not_too_long() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let events = bank.events().await;
    let pay = async |key: &[u8]| {
        let value = reqwest::header::HeaderValue::from_bytes(key).unwrap();
        let request = ada.client.request(Method::POST, INTERNAL).header_value("Idempotency-Key", value);
        request.json(&transfer(&ada.current, &bola.current, 5)).send().await
    };
    let long = "k".repeat(256);
    for bad in [b"".as_slice(), "schl\u{fc}ssel".as_bytes(), b"\xff", b"tab\there", long.as_bytes()] {
        assert_eq!(pay(bad).await.problem(400, "VALIDATION_FAILED").pointers(), ["/Idempotency-Key"]);
    }
    assert_eq!(bank.events().await, events);
    pay(&long.as_bytes()[1..]).await.is(201);
    assert_eq!(pay(&long.as_bytes()[1..]).await.is(201).header("idempotent-replayed"), "true");
    pay(b"{\"a\": 'b' ~!").await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn a_key_can_be_made_mandatory_for_money() {
    let mut strict = config();
    strict.server.require_idempotency_key = true;
    let bank = Bank::configured(strict).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let without = ada.client.post(INTERNAL, &transfer(&ada.current, &bola.current, 5)).await;
    assert_eq!(without.problem(400, "VALIDATION_FAILED").pointers(), ["/Idempotency-Key"]);
    ada.client.pay(&ada.current, &bola.current, 5, "k").await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn whoever_runs_the_bank_can_see_how_it_is() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    assert_eq!(bank.client().get("/healthz").await.is(200).body, json!({"status": "UP"}));
    let paid = ada.client.pay(&ada.current, &bola.current, 5, "one").await.is(201);
    ada.client.get(&format!("/v1/accounts/{}/statement", ada.current)).await.is(200);
    let ready = bank.client().get("/readyz").await.is(200);
    assert_eq!((ready.text_at("status"), &ready.body["database"]), ("READY", &json!(true)));
    let names: Vec<&Value> = ready.list_at("projections").iter().map(|model| &model["name"]).collect();
    assert_eq!(names, bursar_projections::catalogue().iter().map(|entry| entry.name).collect::<Vec<_>>());
    let position = ready.list_at("projections")[3]["position"].as_i64().unwrap();
    assert!(position >= paid.header("bursar-position").parse().unwrap());
    let metrics = bank.client().get("/metrics").await.is(200);
    assert!(metrics.header("content-type").starts_with("text/plain"));
    for name in ["bursar_http_request_seconds", "bursar_pool_connections", "bursar_projection_lag_events"] {
        assert!(metrics.text.contains(name), "{name}");
    }
    // Ids never become labels.
    assert!(!metrics.text.contains(&ada.current));
    bank.close().await;
}

#[tokio::test]
async fn the_document_is_the_committed_one() {
    let bank = Bank::open().await;
    let served = bank.client().get("/openapi.json").await.is(200).body;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/openapi.json");
    let committed: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(served == committed, "api/openapi.json is not what the server serves");
    assert!(served["openapi"].as_str().unwrap().starts_with("3.1."));
    bank.close().await;
}

#[tokio::test]
async fn the_documentation_needs_nothing_from_elsewhere() {
    let bank = Bank::open().await;
    let page = bank.client().get("/docs/").await.is(200);
    assert!(page.header("content-type").starts_with("text/html"));
    let links = |text: &str| -> Vec<String> {
        let after = |name: &str| {
            text.split(name).skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
        };
        let (sources, references): (Vec<String>, Vec<String>) = (after("src=\""), after("href=\""));
        [sources, references].concat()
    };
    let assets = links(&page.text);
    assert!(assets.len() >= 3, "{assets:?}");
    for asset in &assets {
        assert!(!asset.contains("//"), "{asset} comes from elsewhere");
        let answer = bank.client().get(&format!("/docs/{}", asset.trim_start_matches("./"))).await.is(200);
        for loads in ["@import", "importScripts(", "url(http", "url(//"] {
            assert!(!answer.text.contains(loads), "{asset} {loads}");
        }
    }
    bank.close().await;
}

#[tokio::test]
async fn outside_a_sandbox_its_routes_are_like_any_unknown_path() {
    let bank = Bank::configured(Config { sandbox: false, ..config() }).await;
    let unknown = |answer: Answer| answer.problem(404, "NOT_FOUND").body["detail"].clone();
    let nothing = unknown(bank.client().get("/v1/nothing").await);
    assert_eq!(unknown(bank.client().get("/v1/sandbox/messages").await), nothing);
    assert_eq!(unknown(bank.client().post("/v1/sandbox/clock", &json!({"advance": "P1D"})).await), nothing);
    let document = bank.client().get("/openapi.json").await.is(200);
    assert!(!document.text.contains("/v1/sandbox"));
    bank.close().await;
}

#[tokio::test]
async fn the_sandbox_clock_moves_forward_by_reasonable_steps() {
    let bank = Bank::open().await;
    let clock = async |body: Value| bank.client().post("/v1/sandbox/clock", &body).await;
    let now =
        clock(json!({"advance": "PT0S"})).await.is(200).text_at("now").parse::<jiff::Timestamp>().unwrap();
    let later =
        clock(json!({"advance": "P1DT2H"})).await.is(200).text_at("now").parse::<jiff::Timestamp>().unwrap();
    assert_eq!(later.duration_since(now).as_hours(), 26);
    let to = later + jiff::SignedDuration::from_hours(48);
    let there = clock(json!({"to": to})).await.is(200).text_at("now").parse::<jiff::Timestamp>().unwrap();
    assert!(there >= to);
    for wrong in [
        json!({}),
        json!({"advance": "-P1D"}),
        json!({"advance": "P1M"}),
        json!({"advance": "P9999Y"}),
        json!({"advance": "1 fortnight"}),
        json!({"advance": "PT1S", "to": to}),
        json!({"to": now}),
        json!({"to": "9999-12-31T00:00:00Z"}),
        json!({"advance": 5}),
    ] {
        assert!(
            !clock(wrong.clone()).await.problem(400, "VALIDATION_FAILED").pointers().is_empty(),
            "{wrong}"
        );
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_says_so_and_loses_nothing() {
    let mut narrow = config();
    narrow.journal.queue = 1;
    narrow.journal.batch = 1;
    let bank = Bank::configured(narrow).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (had, before) = (ada.client.balance(&ada.current).await, bank.events_of("payment.completed").await);
    let keys: Vec<String> = (0..200).map(|n| format!("queue-{n}")).collect();
    let pay = async |key: &String| ada.client.pay(&ada.current, &bola.current, 3, key).await;
    let answers = join_all(keys.iter().map(pay)).await;
    let mut paid = Vec::new();
    for (key, answer) in keys.iter().zip(answers) {
        if answer.status == 201 {
            paid.push((key, answer));
        } else {
            assert_eq!(answer.problem(503, "UNAVAILABLE").header("retry-after"), "1");
        }
    }
    let count = i64::try_from(paid.len()).unwrap();
    assert!(count > 0 && count < 200, "{count} of 200 got in");
    assert_eq!(ada.client.balance(&ada.current).await, had - 3 * count);
    assert_eq!(bank.events_of("payment.completed").await, before + count);
    // Whoever was turned away tries again; whoever was not, is told the same as before.
    for (key, first) in paid {
        let again = pay(key).await.is(201);
        assert_eq!((&again.text, again.header("idempotent-replayed")), (&first.text, "true"));
    }
    for key in &keys {
        pay(key).await.is(201);
    }
    assert_eq!(ada.client.balance(&ada.current).await, had - 3 * 200);
    bank.close().await;
}
