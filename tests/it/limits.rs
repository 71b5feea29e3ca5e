//! How often somebody may ask.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::client::PASSWORD;
use crate::support::{Bank, config};

const LOGIN: &str = "/v1/users/password/login";

fn credentials(username: &str, password: &str) -> Value {
    json!({"username": username, "password": password, "deviceInfo": {"deviceId": "phone"}})
}

#[tokio::test]
async fn five_logins_a_minute_and_no_more() {
    let mut limited = config();
    limited.limits.enabled = true;
    let bank = Bank::configured(limited).await;
    for left in (0..5).rev() {
        let login = bank.client().post(LOGIN, &credentials("ada@example.com", PASSWORD)).await.is(200);
        assert_eq!(login.header("ratelimit-policy"), "\"logins\";q=5;w=60");
        assert!(login.header("ratelimit").starts_with(&format!("\"logins\";r={left};t=")), "{left} left");
    }
    let refused = bank.client().post(LOGIN, &credentials("ADA@example.com ", PASSWORD)).await;
    let refused = refused.problem(429, "RATE_LIMITED");
    assert!((1..=12).contains(&refused.header("retry-after").parse::<u64>().unwrap()));
    assert!(!refused.header("ratelimit").is_empty());
    // What the client says of its address does not count.
    let spoofed = bank.client().request(Method::POST, LOGIN).header("X-Forwarded-For", "198.51.100.1");
    spoofed.json(&credentials("ada@example.com", PASSWORD)).send().await.problem(429, "RATE_LIMITED");
    bank.client().post(LOGIN, &credentials("bola@example.com", PASSWORD)).await.is(200);
    bank.close().await;
}

#[tokio::test]
async fn reads_and_writes_have_limits_of_their_own() {
    let mut limited = config();
    limited.limits.enabled = true;
    limited.limits.reads_per_minute = 3;
    limited.limits.writes_per_minute = 2;
    let bank = Bank::configured(limited).await;
    let ada = bank.client().login("ada@example.com").await;
    for left in [2, 1, 0] {
        let read = ada.get("/v1/accounts").await.is(200);
        assert_eq!(read.header("ratelimit-policy"), "\"reads\";q=3;w=60");
        assert!(
            read.header("ratelimit").starts_with(&format!("\"reads\";r={left};t=")),
            "{}",
            read.header("ratelimit")
        );
    }
    let refused = ada.get("/v1/accounts").await.problem(429, "RATE_LIMITED");
    assert!((1..=20).contains(&refused.header("retry-after").parse::<u64>().unwrap()));
    for _ in 0..2 {
        ada.post("/v1/accounts", &json!({})).await.is(400);
    }
    ada.post("/v1/accounts", &json!({})).await.problem(429, "RATE_LIMITED");
    bank.client().login("bola@example.com").await.get("/v1/accounts").await.is(200);
    // Nobody is kept from looking whether the bank is up.
    for _ in 0..10 {
        bank.client().get("/healthz").await.is(200);
    }
    bank.close().await;
}
