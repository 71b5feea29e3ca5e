//! Changing a password, and setting one without the old one.

use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::support::client::{Answer, PASSWORD};
use crate::support::secrets::tables_with;
use crate::support::{Bank, config};

const CHANGE: &str = "/v1/users/password/change";
const RESET: &str = "/v1/users/password/reset";
const CONFIRM: &str = "/v1/users/password/confirm";
const NEW: &str = "a-password-of-another-year";

fn change(current: &str, new: &str) -> Value {
    json!({"currentPassword": current, "newPassword": new, "confirmPassword": new})
}

fn confirm(token: &str, new: &str) -> Value {
    json!({"resetToken": token, "newPassword": new, "confirmPassword": new})
}

async fn login(bank: &Bank, email: &str, password: &str) -> Answer {
    let body = json!({"username": email, "password": password, "deviceInfo": {"deviceId": "phone"}});
    bank.client().post("/v1/users/password/login", &body).await
}

/// The newest token mailed to somebody.
async fn mailed(bank: &Bank, email: &str) -> String {
    bank.app.processes.run_due().await.unwrap();
    let sent = bank.client().get(&format!("/v1/sandbox/messages?to={email}")).await.is(200);
    let tokens = sent.list_at("messages").iter().filter_map(|message| message["data"]["token"].as_str());
    tokens.map(str::to_owned).next().expect("a token")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_ends_every_other_session_on_every_server() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let ada = bank.ada().await.client;
    let others = [bank.ada().await.client, bank.ada().await.client];
    for other in &others {
        other.at(address).get("/v1/accounts").await.is(200);
    }
    let spare = bank.client().session("ada@example.com", "spare").await;
    let changed = ada.post_with_key(CHANGE, "change", &change(PASSWORD, NEW)).await.is(200);
    assert_eq!(
        (changed.number_at("sessionsInvalidated"), &changed.body["nextLoginRequired"]),
        (3, &json!(false))
    );
    let position = changed.header("bursar-position").parse::<i64>().unwrap();
    second.journal.head().wait_for(|reached| *reached >= position).await.unwrap();
    for other in &others {
        other.get("/v1/accounts").await.problem(401, "UNAUTHENTICATED");
        other.at(address).get("/v1/accounts").await.problem(401, "UNAUTHENTICATED");
    }
    ada.get("/v1/accounts").await.is(200);
    ada.at(address).get("/v1/accounts").await.is(200);
    let refresh = json!({"refreshToken": spare["refreshToken"], "deviceId": "spare"});
    bank.client().post("/v1/users/token/refresh", &refresh).await.problem(401, "INVALID_TOKEN");
    // The repeat is answered from the log, though its password is no longer the current one.
    let again = ada.post_with_key(CHANGE, "change", &change(PASSWORD, NEW)).await.is(200);
    assert_eq!((&again.text, again.header("idempotent-replayed")), (&changed.text, "true"));
    login(&bank, "ada@example.com", PASSWORD).await.problem(401, "INVALID_CREDENTIALS");
    login(&bank, "ada@example.com", NEW).await.is(200);
    // The owner is told.
    let told = ada.get("/v1/users/messages").await.is(200);
    assert_eq!(told.body["messages"][0]["subject"], "Your password was changed");
    for secret in [PASSWORD, NEW] {
        assert_eq!(tables_with(&bank, secret).await, [""; 0]);
    }
    second.close().await;
    bank.close().await;
}

#[tokio::test]
async fn a_wrong_current_password_is_counted_like_a_failed_login() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    let events = bank.events().await;
    ada.post(CHANGE, &json!({"currentPassword": PASSWORD, "newPassword": NEW, "confirmPassword": "other"}))
        .await
        .problem(422, "PASSWORD_MISMATCH");
    ada.post(CHANGE, &change(PASSWORD, "short")).await.problem(422, "WEAK_PASSWORD");
    ada.post(CHANGE, &change(PASSWORD, PASSWORD)).await.problem(422, "PASSWORD_UNCHANGED");
    for _ in 0..4 {
        ada.post(CHANGE, &change("not-her-password", NEW)).await.problem(422, "WRONG_PASSWORD");
    }
    for delay in [0, 1, 2] {
        bank.advance(SignedDuration::from_secs(delay));
        ada.post(CHANGE, &change("not-her-password", NEW)).await.problem(422, "WRONG_PASSWORD");
    }
    ada.post(CHANGE, &change(PASSWORD, NEW)).await.problem(429, "RATE_LIMITED");
    assert_eq!(bank.events().await, events);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_changes_at_once_from_two_sessions_one_wins() {
    let bank = Bank::open().await;
    for round in 0..5 {
        let (one, other) = (bank.ada().await.client, bank.ada().await.client);
        let (first, second) = (change(PASSWORD, NEW), change(PASSWORD, "yet-another-password"));
        let (first, second) = tokio::join!(one.post(CHANGE, &first), other.post(CHANGE, &second));
        let won = [&first, &second].into_iter().filter(|answer| answer.status == 200).count();
        assert_eq!(won, 1, "{round}: {} {}", first.text, second.text);
        let lives = [&one, &other].map(|client| client.get("/v1/accounts"));
        let [one, other] = lives;
        let (one, other) = (one.await.status, other.await.status);
        assert_eq!([first.status == 200, second.status == 200], [one == 200, other == 200], "{round}");
        let user = bank.user("ada@example.com").await;
        let old = bursar_commands::passwords::Password::typed(PASSWORD.to_owned());
        let context = bursar_commands::Context::default();
        bursar_commands::users::set_password(&bank.app.journal, &bank.app.passwords, context, user, old)
            .await
            .unwrap();
    }
    bank.close().await;
}

#[tokio::test]
async fn a_reset_says_and_does_the_same_for_somebody_and_for_nobody() {
    let mut config = config();
    config.codes.a_day = 3;
    let bank = Bank::configured(config).await;
    let ask = async |name: &str, n: usize| {
        let request = bank.client().request(reqwest::Method::POST, RESET).header("X-Request-Id", "same");
        let (runs, events) = (bank.app.passwords.runs(), bank.done().await);
        let answer = request.key(&format!("{name} {n}")).json(&json!({"email": name})).send().await;
        assert_eq!(bank.app.passwords.runs(), runs, "nothing is hashed");
        (answer, bank.done().await - events)
    };
    for n in 0..4 {
        let (somebody, written) = ask("ada@example.com", n).await;
        let (nobody, written_for_nobody) = ask("nobody@example.com", n).await;
        assert_eq!((somebody.status, written), (nobody.status, written_for_nobody), "{n}");
        let mut bodies = [somebody.body.clone(), nobody.body.clone()];
        for body in &mut bodies {
            // Each was asked at a moment of its own.
            body.as_object_mut().unwrap().remove("resetTokenExpiry");
            body.as_object_mut().unwrap().remove("retryAfter");
        }
        assert_eq!(bodies[0], bodies[1], "{n}");
        let names = |answer: &Answer| answer.headers.keys().map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(names(&somebody), names(&nobody), "{n}");
        assert_eq!(somebody.status, if n < 3 { 200 } else { 429 });
        // A repeat is the same answer for both.
        if n < 3 {
            assert_eq!(ask("nobody@example.com", n).await.0.text, nobody.text);
            assert_eq!(ask("ada@example.com", n).await.0.text, somebody.text);
        }
    }
    bank.client().post(RESET, &json!({})).await.problem(400, "VALIDATION_FAILED");
    bank.close().await;
}

#[tokio::test]
async fn a_token_sets_a_password_once_and_only_the_newest_does() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    let asked = bank.client().post(RESET, &json!({"username": " ADA@example.com"})).await.is(200);
    assert_eq!((asked.text_at("status"), &asked.body["emailSent"]), ("SUCCESS", &json!(true)));
    let older = mailed(&bank, "ada@example.com").await;
    bank.client().post(RESET, &json!({"email": "ada@example.com"})).await.is(200);
    let token = mailed(&bank, "ada@example.com").await;
    assert_ne!(older, token);
    bank.client().post(CONFIRM, &confirm(&older, NEW)).await.problem(422, "INVALID_TOKEN");
    bank.client().post(CONFIRM, &confirm("x", NEW)).await.problem(422, "INVALID_TOKEN");
    bank.client().post(CONFIRM, &confirm(&token, "short")).await.problem(422, "WEAK_PASSWORD");
    let mut differs = confirm(&token, NEW);
    differs["confirmPassword"] = json!("something else entirely");
    bank.client().post(CONFIRM, &differs).await.problem(422, "PASSWORD_MISMATCH");
    bank.caught_up().await;
    let set = bank.client().post_with_key(CONFIRM, "set", &confirm(&token, NEW)).await.is(200);
    assert_eq!(set.number_at("sessionsInvalidated"), 1);
    ada.get("/v1/accounts").await.problem(401, "UNAUTHENTICATED");
    let again = bank.client().post_with_key(CONFIRM, "set", &confirm(&token, NEW)).await.is(200);
    assert_eq!(again.text, set.text);
    bank.client().post(CONFIRM, &confirm(&token, "yet-another-one")).await.problem(422, "INVALID_TOKEN");
    login(&bank, "ada@example.com", NEW).await.is(200);
    assert_eq!(tables_with(&bank, &token).await, [""; 0]);
    assert_eq!(tables_with(&bank, token.rsplit_once('.').unwrap().1).await, [""; 0]);
    // After half an hour it is too late.
    bank.client().post(RESET, &json!({"email": "bola@example.com"})).await.is(200);
    let late = mailed(&bank, "bola@example.com").await;
    bank.advance(SignedDuration::from_mins(30));
    bank.client().post(CONFIRM, &confirm(&late, NEW)).await.problem(422, "INVALID_TOKEN");
    bank.close().await;
}
