//! How often somebody may ask.

use std::time::{Duration, Instant};

use bursar_api::app::App;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::client::PASSWORD;
use crate::support::secrets::tables_with;
use crate::support::{Bank, build, config, pool};

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

#[tokio::test(flavor = "multi_thread")]
async fn what_two_servers_gave_is_added_up() {
    let mut limited = config();
    limited.limits.enabled = true;
    limited.limits.reads_per_minute = 30;
    let bank = Bank::configured(limited.clone()).await;
    let second = build(pool(bank.url()), limited).await.0;
    let ada = bank.user("ada@example.com").await;
    let gives = |app: &App| app.limits.read(ada, Instant::now()).refused.is_none();
    let given = |app: &App| (0..100).filter(|_| gives(app)).count();
    // Until they have heard of each other, each gives what its own bucket holds, and no more.
    let (here, there) = (given(&bank.app), given(&second));
    assert_eq!((here, there), (30, 30));
    // Then the caller owes what was too much: for a minute more there is nothing, at either.
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    let waits: Vec<u64> = [&bank.app, &second]
        .map(|app| {
            let quota = app.limits.read(ada, Instant::now());
            assert!(quota.refused.is_some());
            let mut headers = axum::http::HeaderMap::new();
            quota.quota.unwrap().write(&mut headers);
            let reset = headers["ratelimit"].to_str().unwrap().rsplit_once("t=").unwrap().1.to_owned();
            reset.parse().unwrap()
        })
        .to_vec();
    assert!(waits.iter().all(|seconds| (110..=120).contains(seconds)), "{waits:?}");
    second.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_logins_at_once_at_two_servers_five_get_in() {
    let mut limited = config();
    limited.limits.enabled = true;
    let bank = Bank::configured(limited.clone()).await;
    let second = build(pool(bank.url()), limited).await.0;
    let address = std::net::IpAddr::from([192, 0, 2, 1]);
    let asked = (0..40).map(|n| {
        let app = if n % 2 == 0 { bank.app.clone() } else { second.clone() };
        async move { app.limits.login(address, "ada@example.com").await.unwrap().refused.is_none() }
    });
    let granted = join_all(asked).await.into_iter().filter(|granted| *granted).count();
    assert_eq!(granted, 5);
    // Nobody's name or address is in a table.
    for text in ["ada@example.com", "192.0.2.1"] {
        let tables = tables_with(&bank, text).await;
        assert!(
            !tables.iter().any(|table| table.ends_with("buckets") || table.ends_with("guesses")),
            "{tables:?}"
        );
    }
    second.close().await;
    bank.close().await;
}
