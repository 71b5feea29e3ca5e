//! Second factors: enrolling one, being asked for it, and what somebody who has only the password can do.

use futures_util::future::join_all;
use jiff::SignedDuration;
use reqwest::Method;
use serde_json::{Value, json};

use crate::ratchet::rows;
use crate::support::chance::{did, scaled};
use crate::support::client::{Answer, PASSWORD};
use crate::support::secrets::tables_with;
use crate::support::totp::{base32, code};
use crate::support::{Bank, Client, config};

const TOTP: &str = "/v1/users/mfa/totp";
const SMS: &str = "/v1/users/mfa/sms";
const VERIFY: &str = "/v1/users/mfa/verify";

async fn login(bank: &Bank, device: &str) -> Answer {
    let body =
        json!({"username": "ada@example.com", "password": PASSWORD, "deviceInfo": {"deviceId": device}});
    bank.client().post("/v1/users/password/login", &body).await
}

/// Whoever has the access token of an answer.
fn holder(bank: &Bank, answer: &Answer) -> Client {
    bank.client().with_token(answer.text_at("accessToken"))
}

fn given(code: &str, method: &str) -> Value {
    json!({"code": code, "method": method, "deviceId": "phone"})
}

/// What an app with this secret shows now.
fn shown(bank: &Bank, secret: &str) -> String {
    code(&base32(secret), bank.app.journal.sources().clock.now().as_second() / 30)
}

/// Ada's app; its secret.
async fn enrol(bank: &Bank, ada: &Client) -> String {
    let enrolled = ada.post(TOTP, &json!({"password": PASSWORD})).await.is(200);
    assert_eq!(enrolled.header("cache-control"), "no-store");
    let secret = enrolled.text_at("secret").to_owned();
    assert!(enrolled.text_at("otpauthUri").contains(&format!("secret={secret}&")));
    ada.post(&format!("{TOTP}/confirm"), &json!({"code": shown(bank, &secret)})).await.is(200);
    secret
}

/// The newest code sent to Ada's phone.
async fn texted(bank: &Bank) -> String {
    bank.app.processes.run_due().await.unwrap();
    let user = bank.user("ada@example.com").await;
    let (ada, _) = bank.app.journal.load::<bursar_domain::users::User>(&user.to_string()).await.unwrap();
    let phone = ada.person().unwrap().phone_number.get().unwrap().replace('+', "%2B");
    let sent = bank.client().get(&format!("/v1/sandbox/messages?to={phone}")).await.is(200);
    let codes = sent.list_at("messages").iter().filter_map(|message| message["data"]["code"].as_str());
    codes.map(str::to_owned).next().expect("a code")
}

#[tokio::test]
async fn an_app_is_asked_for_a_code_at_every_login() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    ada.post(TOTP, &json!({"password": "not-her-password"})).await.problem(422, "WRONG_PASSWORD");
    let secret = enrol(&bank, &ada).await;
    let pending = login(&bank, "phone").await.is(200);
    assert_eq!((&pending.body["requiresMFA"], &pending.body["refreshToken"]), (&json!(true), &json!("")));
    assert_eq!((pending.number_at("expiresIn"), &pending.body["permissions"]), (300, &json!(["MFA_VERIFY"])));
    assert_eq!(pending.body["userProfile"]["email"], "", "nothing is told yet");
    let waiting = holder(&bank, &pending);
    // The code of the enrolment was good once.
    let used = waiting.post(VERIFY, &given(&shown(&bank, &secret), "TOTP")).await;
    used.problem(422, "INVALID_CODE");
    bank.advance(SignedDuration::from_secs(30));
    let code = shown(&bank, &secret);
    let elsewhere = json!({"code": code, "method": "TOTP", "deviceId": "laptop"});
    waiting.post(VERIFY, &elsewhere).await.problem(401, "INVALID_TOKEN");
    let whole = waiting.post_with_key(VERIFY, "verify", &given(&code, "TOTP")).await.is(200);
    assert_eq!((&whole.body["requiresMFA"], whole.number_at("expiresIn")), (&json!(false), 900));
    holder(&bank, &whole).get("/v1/accounts").await.is(200);
    // A lost answer is given again; the token of the login is worthless for anything else.
    let again = waiting.post_with_key(VERIFY, "verify", &given(&code, "TOTP")).await.is(200);
    assert_eq!(again.text, whole.text);
    waiting.post(VERIFY, &given(&code, "TOTP")).await.problem(401, "UNAUTHENTICATED");
    // The same code for another login.
    let other = holder(&bank, &login(&bank, "phone").await.is(200));
    other.post(VERIFY, &given(&code, "TOTP")).await.problem(422, "INVALID_CODE");
    // Neither the secret nor a code is anywhere.
    for text in [&secret, &code] {
        assert_eq!(tables_with(&bank, text).await, [""; 0], "{text}");
    }
    bank.advance(SignedDuration::from_secs(30));
    let off = ada.request(Method::DELETE, TOTP).json(&json!({"code": shown(&bank, &secret)})).send().await;
    assert_eq!(off.is(200).body["enabled"], false);
    assert_eq!(login(&bank, "phone").await.is(200).body["requiresMFA"], false);
    bank.close().await;
}

#[tokio::test]
async fn codes_by_short_message_are_asked_for_too() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    ada.post(SMS, &json!({"password": PASSWORD})).await.is(200);
    let code = texted(&bank).await;
    let wrong = if code == "000000" { "000001" } else { "000000" };
    ada.post(&format!("{SMS}/confirm"), &json!({"code": wrong})).await.problem(422, "INVALID_CODE");
    ada.post(&format!("{SMS}/confirm"), &json!({"code": code})).await.is(200);
    let waiting = holder(&bank, &login(&bank, "phone").await.is(200));
    let first = texted(&bank).await;
    waiting.post("/v1/users/mfa/resend", &json!({"deviceId": "phone"})).await.problem(429, "RESEND_TOO_SOON");
    bank.advance(SignedDuration::from_secs(60));
    waiting.post("/v1/users/mfa/resend", &json!({"deviceId": "phone"})).await.is(200);
    let second = texted(&bank).await;
    if first != second {
        waiting.post(VERIFY, &given(&first, "SMS")).await.problem(422, "INVALID_CODE");
    }
    let whole = waiting.post(VERIFY, &given(&second, "SMS")).await.is(200);
    holder(&bank, &whole).get("/v1/accounts").await.is(200);
    assert_eq!(tables_with(&bank, &format!("\"{second}\"")).await, [""; 0]);
    ada.request(Method::DELETE, SMS).json(&json!({"password": PASSWORD})).send().await.is(200);
    assert_eq!(login(&bank, "phone").await.is(200).body["requiresMFA"], false);
    bank.close().await;
}

#[tokio::test]
async fn a_new_device_is_asked_for_a_code_where_the_bank_wants_it() {
    let mut config = config();
    config.auth.mfa_on_new_device = true;
    let bank = Bank::configured(config).await;
    let waiting = holder(&bank, &login(&bank, "phone").await.is(200));
    waiting.get("/v1/accounts").await.problem(403, "PERMISSION_DENIED");
    waiting.post(VERIFY, &given(&texted(&bank).await, "SMS")).await.is(200);
    assert_eq!(login(&bank, "phone").await.is(200).body["requiresMFA"], false);
    assert_eq!(login(&bank, "laptop").await.is(200).body["requiresMFA"], true);
    bank.close().await;
}

/// Guesses at the code of one login at the same moment.
const CROWD: usize = 40;

#[tokio::test(flavor = "multi_thread")]
async fn of_many_codes_at_once_no_more_than_five_are_looked_at() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let ada = bank.ada().await.client;
    enrol(&bank, &ada).await;
    let looks = || bank.app.factors.second.looks() + second.factors.second.looks();
    for _ in 0..scaled(1) {
        let before = looks();
        let waiting = holder(&bank, &login(&bank, "phone").await.is(200));
        let there = waiting.at(address);
        // Letters: none of them is right by chance.
        let guesses = (0..CROWD).map(|n| {
            let client = if n % 2 == 0 { &waiting } else { &there };
            async move { client.post(VERIFY, &given(&format!("x{n:05}"), "TOTP")).await }
        });
        let answers = join_all(guesses).await;
        assert_eq!(looks() - before, 5);
        let wrong = answers.iter().filter(|answer| answer.body["code"] == "INVALID_CODE").count();
        let refused = answers.iter().filter(|answer| answer.body["code"] == "TRIES_EXHAUSTED").count();
        assert_eq!((wrong, refused), (5, CROWD - 5));
        // Nor are more than twenty a day, in however many logins.
        for _ in 0..5 {
            let waiting = holder(&bank, &login(&bank, "phone").await.is(200));
            join_all((0..5).map(|n| {
                let waiting = waiting.clone();
                async move { waiting.post(VERIFY, &given(&format!("y{n:05}"), "TOTP")).await }
            }))
            .await;
        }
        assert_eq!(looks() - before, 20);
        let waiting = holder(&bank, &login(&bank, "phone").await.is(200));
        waiting.post(VERIFY, &given("zzzzzz", "TOTP")).await.problem(429, "TOO_MANY_TRIES");
        // A day later, at both.
        for server in [bank.client(), bank.client().at(address)] {
            server.post("/v1/sandbox/clock", &json!({"advance": "PT25H"})).await.is(200);
        }
    }
    did((CROWD + 26) * scaled(1), "guesses at a code");
    second.close().await;
    bank.close().await;
}

#[tokio::test]
async fn the_password_alone_opens_nothing() {
    let bank = Bank::open().await;
    let ada = bank.ada().await.client;
    let secret = enrol(&bank, &ada).await;
    let pending = login(&bank, "phone").await.is(200);
    let waiting = holder(&bank, &pending);
    let events = bank.done().await;
    let own = ["/v1/users/mfa/verify", "/v1/users/mfa/resend", "/v1/users/token/revoke"];
    let world = crate::ratchet::World::new().await;
    for row in rows().iter().filter(|row| row.is_private() && !own.contains(&row.path)) {
        let request = row.request(&waiting.at(world.bank.address), &world, (row.own)(&world));
        // Another bank's token is nobody's: what counts is asked of the bank that made it.
        assert_eq!(request.send().await.status, 401, "{row}");
        let here = waiting.request(row.method.clone(), &row.path((row.own)(&world)));
        let body = row.body.map(|body| body(&world, (row.own)(&world)));
        let here = match &body {
            Some(body) => here.json(body),
            None => here,
        };
        // What is everybody's may be looked at by whoever has a token.
        let answer = here.send().await;
        let harmless = row.is_everybodys() && answer.status == 200;
        assert!(harmless || matches!(answer.status, 401 | 403), "{row}: {} {}", answer.status, answer.text);
    }
    for token in ["", "x", pending.text_at("accessToken")] {
        let refresh = json!({"refreshToken": token, "deviceId": "phone"});
        assert!(matches!(bank.client().post("/v1/users/token/refresh", &refresh).await.status, 400 | 401));
    }
    assert_eq!(bank.done().await, events);
    // After five minutes it does not even take a code.
    bank.advance(SignedDuration::from_secs(300));
    waiting.post(VERIFY, &given(&shown(&bank, &secret), "TOTP")).await.problem(401, "UNAUTHENTICATED");
    world.bank.close().await;
    bank.close().await;
}
