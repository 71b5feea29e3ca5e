//! Whom outside the bank it tells what happens in it.

mod delivery;
pub mod sink;
mod storm;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Value, json};

use crate::support::{Bank, config};

fn settings(url: &str) -> Value {
    json!({"url": url, "eventTypes": ["payment.*", "account.opened"], "description": "Bookkeeping"})
}

#[tokio::test]
async fn a_secret_is_shown_when_it_is_made_and_to_whoever_asks_with_the_same_key() {
    let bank = Bank::open().await;
    let admin = bank.approver().await.client;
    let create = || {
        admin.request(reqwest::Method::POST, "/v1/staff/webhooks").json(&settings("https://example.com/a"))
    };
    let made = create().key("one").send().await.is(201);
    assert_eq!(made.header("cache-control"), "no-store");
    let secret = made.text_at("secret").to_owned();
    let bytes = BASE64.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
    assert!((24..=64).contains(&bytes.len()));
    assert_eq!(create().key("one").send().await.is(201).text_at("secret"), secret);
    assert_ne!(create().key("two").send().await.is(201).text_at("secret"), secret);

    let path = format!("/v1/staff/webhooks/{}", made.text_at("webhookId"));
    assert_eq!(made.header("location"), path);
    let read = admin.get(&path).await.is(200);
    assert_eq!(read.body["eventTypes"], json!(["payment.*", "account.opened"]));
    assert_eq!((read.text_at("status"), &read.body["oldSecretUntil"]), ("ENABLED", &Value::Null));
    assert!(!read.text.contains("whsec_"));
    let rotated = admin.post(&format!("{path}/rotate-secret"), &json!({})).await.is(200);
    assert_ne!(rotated.text_at("secret"), secret);
    assert!(admin.get(&path).await.is(200).body["oldSecretUntil"].is_string());
    // No secret is in the log.
    let log: String = sqlx::query_scalar("SELECT string_agg(payload::text, '') FROM events")
        .fetch_one(&bank.pool)
        .await
        .unwrap();
    assert!(!log.contains("whsec_") && !log.contains(secret.trim_start_matches("whsec_")));
    bank.close().await;
}

#[tokio::test]
async fn a_webhook_is_changed_stopped_started_and_removed() {
    let bank = Bank::open().await;
    let admin = bank.approver().await.client;
    let made = admin.post("/v1/staff/webhooks", &settings("https://example.com/a")).await.is(201);
    let path = format!("/v1/staff/webhooks/{}", made.text_at("webhookId"));
    let mut changed = settings("https://example.com/b");
    changed["eventTypes"] = json!(["*"]);
    admin.put(&path, &changed).await.is(200);
    assert_eq!(admin.put(&path, &changed).await.is(200).text_at("message"), "It was so already");
    assert_eq!(admin.get(&path).await.is(200).text_at("url"), "https://example.com/b");
    let stop = format!("{path}/disable");
    admin.post(&stop, &json!({})).await.is(200);
    let again = admin.post(&stop, &json!({})).await.problem(409, "INVALID_STATE");
    assert_eq!(again.text_at("currentState"), "DISABLED");
    let stopped = admin.get(&path).await.is(200);
    assert_eq!((stopped.text_at("status"), stopped.text_at("disabledReason")), ("DISABLED", "REQUESTED"));
    admin.post(&format!("{path}/enable"), &json!({})).await.is(200);
    admin.delete(&path).await.is(200);
    admin.get(&path).await.problem(404, "NOT_FOUND");
    admin.post(&format!("{path}/enable"), &json!({})).await.problem(404, "NOT_FOUND");
    assert!(admin.get("/v1/staff/webhooks").await.is(200).list_at("webhooks").is_empty());
    bank.close().await;
}

#[tokio::test]
async fn only_events_that_are_told_can_be_asked_for_and_only_addresses_be_told() {
    let mut strict = config();
    strict.sandbox = false;
    let bank = Bank::configured(strict).await;
    let admin = bank.approver().await.client;
    let types = admin.get("/v1/staff/webhooks/event-types").await.is(200);
    let types = types.list_at("eventTypes");
    assert!(types.contains(&json!("payment.completed")) && !types.contains(&json!("session.started")));
    for (field, value) in [
        ("url", json!("http://example.com")),
        ("url", json!("https://ada:secret@example.com")),
        ("url", json!("example.com")),
        ("eventTypes", json!([])),
        ("eventTypes", json!(["session.started"])),
        ("eventTypes", json!(["payment"])),
        ("secret", json!("mine")),
    ] {
        let mut body = settings("https://example.com");
        body[field] = value;
        let refused = admin.post("/v1/staff/webhooks", &body).await.problem(400, "VALIDATION_FAILED");
        assert!(refused.body["errors"][0]["pointer"].as_str().unwrap().starts_with(&format!("/{field}")));
    }
    bank.close().await;
}

#[test]
fn the_guide_names_every_event() {
    let guide = include_str!("../../api/docs/webhooks.md");
    let rows: Vec<&str> = guide.lines().filter(|line| line.starts_with("| `")).collect();
    let mut named: Vec<String> = Vec::new();
    for row in rows {
        let words: Vec<&str> = row.split('`').skip(1).step_by(2).collect();
        let noun = words[0].strip_suffix(".*").unwrap();
        named.extend(words[1..].iter().map(|event| format!("{noun}.{event}")));
    }
    let mut told: Vec<String> = bursar_domain::webhooks::event_types().map(str::to_owned).collect();
    told.retain(|name| name != "webhook.tested");
    named.sort();
    told.sort();
    assert_eq!(named, told);
}
