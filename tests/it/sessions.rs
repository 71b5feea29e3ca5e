//! Logging in, refreshing, logging out, and what a thief can do with what they find.

use bursar_api::config::Config;
use futures_util::future::join_all;
use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::client::{Answer, PASSWORD};
use crate::support::secrets::tables_with;
use crate::support::{Bank, Client};

const LOGIN: &str = "/v1/users/password/login";
const REFRESH: &str = "/v1/users/token/refresh";
const REVOKE: &str = "/v1/users/token/revoke";

fn credentials(username: &str, password: &str) -> Value {
    json!({"username": username, "password": password, "deviceInfo": {"deviceId": "phone"}})
}

async fn refresh(bank: &Bank, session: &Value, device: &str) -> Answer {
    let body = json!({"refreshToken": session["refreshToken"], "deviceId": device});
    bank.client().post(REFRESH, &body).await
}

/// Whoever holds the session's access token.
fn holder(bank: &Bank, session: &Value) -> Client {
    bank.client().with_token(session["accessToken"].as_str().unwrap())
}

async fn is_live(bank: &Bank, session: &Value) -> bool {
    let answer = holder(bank, session).get("/v1/accounts").await;
    if answer.status == 200 {
        return true;
    }
    answer.problem(401, "UNAUTHENTICATED");
    false
}

#[tokio::test]
async fn the_right_password_opens_a_session() {
    let bank = Bank::open().await;
    let mut body = credentials("  ADA@Example.com ", PASSWORD);
    body["deviceInfo"]["ipAddress"] = json!("203.0.113.9");
    let login = bank.client().post(LOGIN, &body).await.is(200);
    assert_eq!((login.text_at("tokenType"), login.number_at("expiresIn")), ("Bearer", 900));
    assert_eq!(login.body["permissions"], json!(["READ_ACCOUNT", "WRITE_TRANSACTIONS", "MANAGE_PROFILE"]));
    assert_eq!(login.body["userProfile"]["firstName"], "Ada");
    assert_eq!(login.body["requiresMFA"], false);
    assert_eq!(login.header("cache-control"), "no-store");
    assert!(is_live(&bank, &login.body).await);
    // A quarter of an hour later it is over, to the second.
    bank.advance(SignedDuration::from_secs(898));
    assert!(is_live(&bank, &login.body).await);
    bank.advance(SignedDuration::from_secs(2));
    assert!(!is_live(&bank, &login.body).await);
    bank.close().await;
}

#[tokio::test]
async fn an_unknown_user_and_a_wrong_password_are_answered_alike() {
    let bank = Bank::open().await;
    let events = bank.events().await;
    let try_it = async |username: &str, password: &str| {
        let request = bank.client().request(Method::POST, LOGIN).header("X-Request-Id", "same");
        request.json(&credentials(username, password)).send().await
    };
    let wrong = try_it("ada@example.com", "not-her-password").await.problem(401, "INVALID_CREDENTIALS");
    for (username, password) in [
        ("nobody@example.com", PASSWORD),
        ("ada@example.com' --", PASSWORD),
        ("ada@example.com", "Bursar-demo-2026"),
        ("ada@example.com", "x"),
        ("ada@example.com", &"x".repeat(4_096)),
    ] {
        let runs = bank.app.passwords.runs();
        let answer = try_it(username, password).await;
        assert_eq!(bank.app.passwords.runs() - runs, 1, "{username}: the same work");
        assert_eq!((answer.status, &answer.text), (401, &wrong.text), "{username}");
        assert_eq!(answer.header("www-authenticate"), wrong.header("www-authenticate"));
    }
    assert_eq!(bank.events().await, events);
    bank.close().await;
}

#[tokio::test]
async fn after_many_wrong_passwords_the_right_one_must_wait() {
    let bank = Bank::open().await;
    let wrong = credentials("ada@example.com", "wrong-password");
    // At once: each is counted before it is looked at, so that no more than five are.
    let guesses = (0..9).map(|_| async { bank.client().post(LOGIN, &wrong).await.status });
    let mut answers = join_all(guesses).await;
    answers.sort_unstable();
    assert_eq!(answers, [401, 401, 401, 401, 401, 429, 429, 429, 429]);
    // Each further one waits twice as long.
    for delay in [1, 2, 4, 8, 16] {
        bank.advance(SignedDuration::from_secs(delay));
        bank.client().post(LOGIN, &wrong).await.problem(401, "INVALID_CREDENTIALS");
    }
    let waits = bank.client().post(LOGIN, &credentials("ada@example.com", PASSWORD)).await;
    let waits = waits.problem(429, "RATE_LIMITED");
    assert!((16..=32).contains(&waits.header("retry-after").parse::<u64>().unwrap()));
    // Nobody else waits for it.
    bank.client().post(LOGIN, &credentials("bola@example.com", PASSWORD)).await.is(200);
    bank.close().await;
}

#[tokio::test]
async fn a_repeated_login_is_the_same_login() {
    let bank = Bank::open().await;
    let body = credentials("ada@example.com", PASSWORD);
    let first = bank.client().post_with_key(LOGIN, "login-1", &body).await.is(200);
    let events = bank.events().await;
    let again = bank.client().post_with_key(LOGIN, "login-1", &body).await.is(200);
    assert_eq!((&again.text, again.header("idempotent-replayed")), (&first.text, "true"));
    // The key alone opens nothing: it stands for the password it came with.
    let guess =
        bank.client().post_with_key(LOGIN, "login-1", &credentials("ada@example.com", "a-guessed-one")).await;
    guess.problem(401, "INVALID_CREDENTIALS");
    let bola =
        bank.client().post_with_key(LOGIN, "login-1", &credentials("bola@example.com", PASSWORD)).await;
    assert_ne!(bola.is(200).body["userId"], first.body["userId"]);
    // Bola's session, and the device that they have not logged in from before.
    assert_eq!(bank.events().await, events + 2);
    bank.close().await;
}

#[tokio::test]
async fn a_refresh_token_is_good_once() {
    let bank = Bank::open().await;
    let login = bank.client().session("ada@example.com", "phone").await;
    let second = refresh(&bank, &login, "phone").await.is(200);
    assert_eq!(second.number_at("expiresIn"), 900);
    assert_eq!(second.header("cache-control"), "no-store");
    assert_ne!(second.body["refreshToken"], login["refreshToken"]);
    assert_ne!(second.body["accessToken"], login["accessToken"]);
    assert!(is_live(&bank, &second.body).await);
    let third = refresh(&bank, &second.body, "phone").await.is(200);
    assert!(is_live(&bank, &third.body).await);
    bank.close().await;
}

#[tokio::test]
async fn a_lost_answer_is_given_again_within_a_minute() {
    let bank = Bank::open().await;
    let login = bank.client().session("ada@example.com", "phone").await;
    let lost = refresh(&bank, &login, "phone").await.is(200);
    bank.advance(SignedDuration::from_secs(59));
    let again = refresh(&bank, &login, "phone").await.is(200);
    assert_eq!(again.body["refreshToken"], lost.body["refreshToken"]);
    assert!(is_live(&bank, &again.body).await);
    refresh(&bank, &again.body, "phone").await.is(200);
    bank.close().await;
}

#[tokio::test]
async fn an_old_refresh_token_that_comes_back_ends_the_session() {
    let bank = Bank::open().await;
    // From the same device after a minute; from another one at once; two generations old at once.
    for case in ["late", "elsewhere", "older"] {
        let login = bank.client().session("ada@example.com", "phone").await;
        let mut newest = refresh(&bank, &login, "phone").await.is(200).body;
        match case {
            "late" => bank.advance(SignedDuration::from_secs(62)),
            "older" => newest = refresh(&bank, &newest, "phone").await.is(200).body,
            _ => {}
        }
        assert!(is_live(&bank, &newest).await, "{case}");
        let device = if case == "elsewhere" { "thief" } else { "phone" };
        refresh(&bank, &login, device).await.problem(401, "INVALID_TOKEN");
        assert!(!is_live(&bank, &newest).await, "{case}: the access token dies at once");
        refresh(&bank, &newest, "phone").await.problem(401, "INVALID_TOKEN");
    }
    assert_eq!(bank.events_of("session.ended").await, 3);
    bank.close().await;
}

#[tokio::test]
async fn a_current_refresh_token_from_another_device_ends_the_session() {
    let bank = Bank::open().await;
    let login = bank.client().session("ada@example.com", "phone").await;
    refresh(&bank, &login, "thief").await.problem(401, "INVALID_TOKEN");
    assert!(!is_live(&bank, &login).await);
    refresh(&bank, &login, "phone").await.problem(401, "INVALID_TOKEN");
    bank.close().await;
}

#[tokio::test]
async fn forged_refresh_tokens_are_all_refused_alike_and_end_nothing() {
    let bank = Bank::open().await;
    let login = bank.client().session("ada@example.com", "phone").await;
    let events = bank.events().await;
    let token = login["refreshToken"].as_str().unwrap();
    let (head, tag) = token.rsplit_once('.').unwrap();
    let forged = [
        format!("{head}."),
        format!("{head}.{}", "A".repeat(tag.len())),
        token.replace(".0.", ".1."),
        "x".into(),
    ];
    for text in forged.iter().map(String::as_str).chain([login["accessToken"].as_str().unwrap()]) {
        let answer = refresh(&bank, &json!({"refreshToken": text}), "phone").await;
        answer.problem(401, "INVALID_TOKEN");
    }
    assert_eq!(bank.events().await, events);
    assert!(is_live(&bank, &login).await);
    bank.close().await;
}

#[tokio::test]
async fn refresh_tokens_end_after_a_day_and_sessions_after_ninety() {
    let bank = Bank::open().await;
    let login = bank.client().session("ada@example.com", "phone").await;
    bank.advance(SignedDuration::from_hours(24));
    refresh(&bank, &login, "phone").await.problem(401, "INVALID_TOKEN");

    let mut body = credentials("ada@example.com", PASSWORD);
    body["rememberMe"] = json!(true);
    let mut session = bank.client().post(LOGIN, &body).await.is(200).body;
    // Refreshed every 29 days, it lives on until it is 90 days old.
    for _ in 0..3 {
        bank.advance(SignedDuration::from_hours(29 * 24));
        session = refresh(&bank, &session, "phone").await.is(200).body;
    }
    bank.advance(SignedDuration::from_hours(3 * 24));
    refresh(&bank, &session, "phone").await.problem(401, "INVALID_TOKEN");
    bank.close().await;
}

#[tokio::test]
async fn logging_out_twice_is_logging_out_once() {
    let bank = Bank::open().await;
    let login = bank.client().session("ada@example.com", "phone").await;
    let other = bank.client().session("ada@example.com", "laptop").await;
    let out = holder(&bank, &login).post(REVOKE, &json!({})).await.is(200);
    assert_eq!(
        (out.text_at("status"), &out.body["sessionEnded"], out.number_at("tokensRevoked")),
        ("SUCCESS", &json!(true), 2)
    );
    assert!(!is_live(&bank, &login).await);
    assert!(is_live(&bank, &other).await, "the other device stays logged in");
    let events = bank.events().await;
    let again = holder(&bank, &login).post(REVOKE, &json!({})).await.is(200);
    assert_eq!((again.text_at("status"), again.number_at("tokensRevoked")), ("SUCCESS", 0));
    assert_eq!(bank.events().await, events);
    refresh(&bank, &login, "phone").await.problem(401, "INVALID_TOKEN");
    bank.close().await;
}

#[tokio::test]
async fn somebody_elses_tokens_are_revoked_with_success_and_live_on() {
    let bank = Bank::open().await;
    let (ada, bola) = (
        bank.client().session("ada@example.com", "a").await,
        bank.client().session("bola@example.com", "b").await,
    );
    let events = bank.events().await;
    let foreign =
        json!({"accessToken": bola["accessToken"], "refreshToken": bola["refreshToken"], "deviceId": "b"});
    let answer = holder(&bank, &ada).post(REVOKE, &foreign).await.is(200);
    assert_eq!((answer.text_at("status"), answer.number_at("tokensRevoked")), ("SUCCESS", 0));
    assert_eq!(bank.events().await, events);
    assert!(is_live(&bank, &bola).await && is_live(&bank, &ada).await);
    refresh(&bank, &bola, "b").await.is(200);
    // Her own, named, end.
    let own = json!({"accessToken": ada["accessToken"], "refreshToken": ada["refreshToken"]});
    assert_eq!(holder(&bank, &ada).post(REVOKE, &own).await.is(200).number_at("tokensRevoked"), 2);
    assert!(!is_live(&bank, &ada).await);
    bank.close().await;
}

#[tokio::test]
async fn the_public_key_set_names_the_key_of_every_token() {
    let bank = Bank::open().await;
    let login = bank.client().session("ada@example.com", "phone").await;
    let token = login["accessToken"].as_str().unwrap();
    let parts: Vec<&str> = token.split('.').collect();
    let header: Value = serde_json::from_slice(&base64url(parts[0])).unwrap();
    let claims: Value = serde_json::from_slice(&base64url(parts[1])).unwrap();
    let keys = bank.client().get("/.well-known/jwks.json").await.is(200);
    let keys = keys.list_at("keys");
    assert_eq!(keys.len(), 1);
    let expected = json!({"typ": "at+jwt", "alg": "EdDSA", "kid": keys[0]["kid"]});
    assert_eq!(header, expected);
    assert_eq!(
        (&keys[0]["kty"], &keys[0]["crv"], &keys[0]["use"]),
        (&json!("OKP"), &json!("Ed25519"), &json!("sig"))
    );
    assert_eq!((base64url(keys[0]["x"].as_str().unwrap()).len(), base64url(parts[2]).len()), (32, 64));
    assert_eq!(keys[0].get("d"), None, "the private part stays at home");
    assert_eq!(claims["exp"].as_i64().unwrap() - claims["iat"].as_i64().unwrap(), 900);
    assert_eq!(
        (&claims["iss"], &claims["aud"], &claims["sub"]),
        (&json!("bursar"), &json!("bursar"), &login["userId"])
    );
    assert_eq!(claims["perm"], login["permissions"]);
    assert!(claims["sid"].is_string() && claims["jti"].is_string());
    bank.close().await;
}

/// Base64url without padding (RFC 4648, section 5).
fn base64url(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'-' => 62,
        b'_' => 63,
        _ => panic!("not base64url: {text}"),
    };
    let whole = |chunk: &[u8]| {
        let bits = chunk.iter().fold(0_u32, |bits, c| bits << 6 | u32::from(value(*c)));
        let bits = bits << (6 * (4 - chunk.len()));
        bits.to_be_bytes()[1..chunk.len()].to_vec()
    };
    text.as_bytes().chunks(4).flat_map(whole).collect()
}

#[tokio::test]
async fn a_client_token_can_be_made_mandatory() {
    let mut strict = Config { sandbox: true, ..Config::default() };
    strict.auth.require_client_token = true;
    strict.auth.client_token = Some("app-token".to_owned().into());
    let bank = Bank::configured(strict).await;
    let body = credentials("ada@example.com", PASSWORD);
    bank.client().post(LOGIN, &body).await.problem(401, "UNAUTHENTICATED");
    bank.client().with_token("app-tokem").post(LOGIN, &body).await.problem(401, "UNAUTHENTICATED");
    let login = bank.client().with_token("app-token").post(LOGIN, &body).await.is(200);
    // And it gives no rights.
    bank.client().with_token("app-token").get("/v1/accounts").await.problem(401, "UNAUTHENTICATED");
    refresh(&bank, &login.body, "phone").await.problem(401, "UNAUTHENTICATED");
    bank.close().await;
}

#[tokio::test]
async fn no_secret_is_in_any_table() {
    let bank = Bank::open().await;
    let wrong = "canary-wrong-password-5170";
    bank.client().post_with_key(LOGIN, "canary-key-1", &credentials("ada@example.com", wrong)).await.is(401);
    let login = bank
        .client()
        .post_with_key(LOGIN, "canary-key-2", &credentials("ada@example.com", PASSWORD))
        .await
        .is(200);
    let next = refresh(&bank, &login.body, "phone").await.is(200);
    holder(&bank, &next.body).post(REVOKE, &json!({"refreshToken": next.body["refreshToken"]})).await.is(200);
    let token = |body: &Value, name: &str| body[name].as_str().unwrap().to_owned();
    let mut secrets =
        vec![PASSWORD.to_owned(), wrong.to_owned(), "canary-key-1".to_owned(), "canary-key-2".to_owned()];
    for body in [&login.body, &next.body] {
        secrets.extend([token(body, "accessToken"), token(body, "refreshToken")]);
        // Nor the parts that make them what they are: the signatures.
        let signatures = ["accessToken", "refreshToken"].map(|name| token(body, name));
        secrets.extend(signatures.map(|token| token.rsplit_once('.').unwrap().1.to_owned()));
    }
    // The search finds what is there.
    let who = login.body["userId"].as_str().unwrap();
    assert!(tables_with(&bank, who).await.contains(&"journal.events".to_owned()));
    for secret in secrets {
        assert_eq!(tables_with(&bank, &secret).await, [""; 0], "{secret}");
    }
    bank.close().await;
}
