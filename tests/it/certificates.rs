//! Logging in with a device's certificate. What the verifier refuses is tested beside it.

use serde_json::json;

use crate::support::devices::{Device, LOGIN, login};
use crate::support::{Bank, build, config, pool};

#[tokio::test]
async fn a_device_logs_in_with_its_certificate_and_each_proof_is_good_once() {
    let bank = Bank::open().await;
    let device = Device::of(bank.user("ada@example.com").await);
    let now = || bank.app.journal.sources().clock.now().as_second();
    let body = device.body().to_string();
    let assertion = device.assertion(&body, "the first assertion", now());
    let session = login(&bank.client(), &body, &assertion).send().await.is(200);
    assert_eq!(session.header("cache-control"), "no-store");
    assert_eq!(session.body["permissions"], json!(["READ_ACCOUNT", "WRITE_TRANSACTIONS", "MANAGE_PROFILE"]));
    bank.client().with_token(session.text_at("accessToken")).get("/v1/accounts").await.is(200);
    let refresh = json!({"refreshToken": session.text_at("refreshToken"), "deviceId": device.id});
    bank.client().post("/v1/users/token/refresh", &refresh).await.is(200);
    // Once more: here, at another server, at one that has started since, and with the client's own key.
    let events = bank.events().await;
    let refused = login(&bank.client(), &body, &assertion).send().await.problem(401, "INVALID_CREDENTIALS");
    login(&bank.client(), &body, &assertion).key("again").send().await.problem(401, "INVALID_CREDENTIALS");
    let (second, address) = bank.second().await;
    let there = bank.client().at(address);
    login(&there, &body, &assertion).send().await.problem(401, "INVALID_CREDENTIALS");
    // The same name for another proof is no other proof.
    let renamed = device.assertion(&body, "the first assertion", now() - 1);
    login(&there, &body, &renamed).send().await.problem(401, "INVALID_CREDENTIALS");
    assert_eq!(bank.events().await, events);
    // Whatever is wrong is answered alike.
    let other = body.replace("DESKTOP", "MOBILE");
    let same = |request: crate::support::client::Request| request.header("X-Request-Id", "same").send();
    let about = same(login(&bank.client(), &other, &assertion)).await.problem(401, "INVALID_CREDENTIALS");
    for assertion in ["", "a.b.c", session.text_at("accessToken")] {
        let answer = same(login(&bank.client(), &body, assertion)).await;
        assert_eq!((answer.status, &answer.text), (401, &about.text));
    }
    let nonce_only =
        same(bank.client().request(reqwest::Method::POST, LOGIN).raw("application/json", body.clone()));
    assert_eq!(nonce_only.await.text, about.text);
    assert_eq!(refused.body["detail"], about.body["detail"]);
    second.close().await;
    bank.close().await;
}

#[tokio::test]
async fn a_revoked_certificate_a_blocked_device_and_a_stranger_are_not_let_in() {
    let bank = Bank::open().await;
    let ada = bank.user("ada@example.com").await;
    let tries = async |device: &Device, jti: &str| {
        let body = device.body().to_string();
        let now = bank.app.journal.sources().clock.now().as_second();
        login(&bank.client(), &body, &device.assertion(&body, jti, now)).send().await
    };
    let device = Device::of(ada);
    tries(&device, "before it was blocked").await.is(200);
    device.block(true);
    tries(&device, "while it was blocked").await.problem(401, "INVALID_CREDENTIALS");
    device.block(false);
    tries(&device, "after it was blocked").await.is(200);
    device.revoke();
    tries(&device, "after it was revoked").await.problem(401, "INVALID_CREDENTIALS");
    let nobodys = Device::of("usr_0192f0c1a00070008000000000000abc");
    tries(&nobodys, "of nobody in the bank").await.problem(401, "INVALID_CREDENTIALS");
    bank.close().await;
}

#[tokio::test]
async fn five_logins_a_minute_and_device() {
    let mut limited = config();
    limited.limits.enabled = true;
    let bank = Bank::configured(limited.clone()).await;
    let device = Device::of(bank.user("ada@example.com").await);
    for _ in 0..5 {
        login(&bank.client(), &device.body().to_string(), "x")
            .send()
            .await
            .problem(401, "INVALID_CREDENTIALS");
    }
    login(&bank.client(), &device.body().to_string(), "x").send().await.problem(429, "RATE_LIMITED");
    // The other servers have counted along.
    let second = build(pool(bank.url()), limited).await.0;
    let address = std::net::IpAddr::from([127, 0, 0, 1]);
    assert!(second.limits.login(address, &device.id).await.unwrap().refused.is_some());
    assert!(second.limits.login(address, "another").await.unwrap().refused.is_none());
    second.close().await;
    bank.close().await;
}
