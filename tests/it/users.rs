//! People: how they come to the bank, how they prove who they are, and what of their profile counts when.

mod identity;
mod profile;

use serde_json::{Value, json};

use crate::ratchet::people::{Holder, holder};
use crate::support::client::{Answer, PASSWORD};
use crate::support::{Bank, Client, Person};

fn newcomer() -> Value {
    json!({
        "firstName": " Ngozi ", "lastName": "Balogun", "email": "Ngozi@Example.com",
        "phoneNumber": "+234 803 100 0777", "dateOfBirth": "1991-07-03", "countryCode": "NG", "preferredLanguage": "en",
    })
}

fn with(mut body: Value, member: &str, value: impl Into<Value>) -> Value {
    body[member] = value.into();
    body
}

/// The newest message to somebody.
async fn message_to(bank: &Bank, to: &str) -> Value {
    bank.app.processes.run_due().await.unwrap();
    let to = to.replace('+', "%2B");
    let sent = bank.client().get(&format!("/v1/sandbox/messages?to={to}")).await.is(200);
    sent.list_at("messages").first().cloned().unwrap_or_default()
}

/// The code in it.
async fn code_to(bank: &Bank, to: &str) -> String {
    message_to(bank, to).await["data"]["code"].as_str().expect("a code").to_owned()
}

/// Somebody who has registered, with a session.
async fn registered(bank: &Bank) -> (Client, String) {
    let user = bank.client().post("/v1/users", &newcomer()).await.is(201).text_at("userId").to_owned();
    let permissions = [bursar_domain::kernel::Permission::ManageProfile];
    let id = user.parse().unwrap();
    let session = bank.session(id, &permissions).await;
    (bank.client().with_token(&bank.token(id, session, &permissions, 0)), user)
}

async fn profile(client: &Client) -> Answer {
    client.get("/v1/users/profile").await.is(200)
}

#[tokio::test]
async fn somebody_registers_and_is_told_what_comes_next() {
    let bank = Bank::open().await;
    let answer = bank.client().post("/v1/users", &newcomer()).await.is(201);
    assert_eq!((answer.text_at("status"), answer.header("location")), ("PENDING", "/v1/users/profile"));
    assert!(answer.body["createdAt"].is_string() && answer.text_at("userId").starts_with("usr_"));
    assert_eq!(message_to(&bank, "ngozi@example.com").await["subject"], "Welcome");
    let again = with(newcomer(), "email", "NGOZI@example.com");
    bank.client().post("/v1/users", &again).await.problem(409, "EMAIL_TAKEN");
    let teller = bank.teller().await;
    let path = format!("/v1/staff/customers/{}", answer.text_at("userId"));
    let known = teller.client.get(&path).await.is(200);
    for (member, value) in [
        ("firstName", json!("Ngozi")),
        ("email", json!("ngozi@example.com")),
        ("phoneNumber", json!("+2348031000777")),
        ("dateOfBirth", json!("1991-07-03")),
        ("status", json!("PENDING")),
        ("verificationLevel", json!("NONE")),
        ("emailVerified", json!(false)),
        ("phoneVerified", json!(false)),
        ("preferredLanguage", json!("en")),
    ] {
        assert_eq!(known.body[member], value, "{member}");
    }
    bank.close().await;
}

#[tokio::test]
async fn only_somebody_alive_old_enough_and_reachable_becomes_a_customer() {
    let bank = Bank::open().await;
    let events = bank.events().await;
    let anybody = bank.client();
    for (member, value) in [
        ("email", "nobody"),
        ("email", "a@b"),
        ("phoneNumber", "08031000777"),
        ("phoneNumber", "+234"),
        ("dateOfBirth", "03.07.1991"),
        ("dateOfBirth", "2999-01-01"),
        ("dateOfBirth", "1800-01-01"),
        ("countryCode", "ZZ"),
        ("preferredLanguage", "english language"),
        ("firstName", "   "),
    ] {
        let answer = anybody.post("/v1/users", &with(newcomer(), member, value)).await;
        assert_eq!(answer.pointers(), [format!("/{member}")], "{value}: {}", answer.text);
    }
    let missing = anybody.post("/v1/users", &json!({})).await;
    let required = ["/firstName", "/lastName", "/email", "/phoneNumber", "/dateOfBirth", "/countryCode"];
    assert_eq!(missing.pointers(), required);
    let young =
        (bursar_domain::kernel::utc_date(bank.app.journal.sources().clock.now()).year() - 10).to_string();
    let child = with(newcomer(), "dateOfBirth", format!("{young}-01-01"));
    let refused = anybody.post("/v1/users", &child).await.problem(422, "UNDER_AGE");
    assert_eq!(refused.body["minimumAge"], 16);
    assert_eq!(bank.events().await, events);
    bank.close().await;
}

/// What the holder of an account says.
fn said(holder: &Holder) -> Value {
    json!({
        "firstName": "N.", "lastName": "balogun", "email": holder.email.to_uppercase(), "dateOfBirth": "1991-07-03",
        "address": {"street": "12 Marina", "city": "Lagos", "country": "NG"},
        "preferences": {"language": "yo", "timezone": "Africa/Lagos", "notifications": {"sms": false}},
    })
}

fn by(account: &str) -> String {
    format!("/v1/users/by/{account}")
}

#[tokio::test]
async fn the_holder_of_an_account_begins_to_use_it_digitally() {
    let bank = Bank::open().await;
    let (teller, ada) = (bank.teller().await, bank.ada().await);
    let holder = holder(&teller, 1).await;
    let seen = ada.client.get(&by(&holder.account)).await.is(200);
    let expected = json!({
        "userId": holder.user, "name": "N**** B******", "phoneNumber": "+234*******777",
        "accountNumber": holder.account, "digitalActive": false,
    });
    assert_eq!(seen.body, expected);
    let answer = bank.client().post(&by(&holder.account), &said(&holder)).await.is(200);
    assert_eq!(answer.body["userId"], json!(holder.user));
    assert_eq!(answer.body["accountNumber"], json!(holder.account));
    assert_eq!(answer.text_at("status"), "ACTIVE");
    assert!(answer.body["updatedAt"].is_string());
    assert_eq!(ada.client.get(&by(&holder.account)).await.is(200).body["digitalActive"], true);
    assert_eq!(message_to(&bank, &holder.email).await["subject"], "Digital banking is on");
    bank.caught_up().await;
    let known = teller.client.get(&format!("/v1/staff/customers/{}", holder.user)).await.is(200);
    assert_eq!(known.body["address"]["street"], "12 Marina");
    assert_eq!(known.body["preferences"]["timezone"], "Africa/Lagos");
    assert_eq!(
        known.body["preferences"]["notifications"],
        json!({"email": true, "sms": false, "push": true})
    );
    // What was said about names and ways to be reached is nothing.
    assert_eq!((&known.body["firstName"], &known.body["email"]), (&json!("Ngozi"), &json!(holder.email)));
    bank.close().await;
}

#[tokio::test]
async fn an_account_is_not_taken_over_by_guessing_who_holds_it() {
    let bank = Bank::open().await;
    let (teller, ada, bola) = (bank.teller().await, bank.ada().await, bank.bola().await);
    let holder = holder(&teller, 1).await;
    let events = bank.events().await;
    let right = said(&holder);
    let mut refusals = Vec::new();
    let mut no_contact = right.clone();
    no_contact["email"] = Value::Null;
    for (account, body) in [
        (holder.account.as_str(), with(right.clone(), "lastName", "Okafor")),
        (&holder.account, with(right.clone(), "dateOfBirth", "1991-07-04")),
        (&holder.account, with(right.clone(), "email", "thief@example.com")),
        (&holder.account, with(no_contact.clone(), "phoneNumber", "+2348031000666")),
        (&holder.account, no_contact),
        // Nobody's, none of a customer's, and somebody's who uses the bank already.
        ("1000000008", right.clone()),
        ("0000000000", right.clone()),
        (&ada.current, right.clone()),
    ] {
        let refused =
            bank.client().request(reqwest::Method::POST, &by(account)).header("X-Request-Id", "same");
        refusals.push(refused.json(&body).send().await.problem(422, "IDENTITY_MISMATCH").text);
    }
    refusals.dedup();
    assert_eq!(refusals.len(), 1, "{refusals:?}");
    assert_eq!(bank.events().await, events);

    // Whoever knows everything about Ada changes nothing of hers either, unless they are her.
    let mine = profile(&ada.client).await;
    let mut about_ada = json!({"address": {"city": "Thieves' den"}});
    for member in ["lastName", "dateOfBirth", "phoneNumber"] {
        about_ada[member] = mine.body[member].clone();
    }
    bank.client().post(&by(&ada.current), &about_ada).await.problem(422, "IDENTITY_MISMATCH");
    bola.client.post(&by(&ada.current), &about_ada).await.problem(422, "IDENTITY_MISMATCH");
    ada.client.post(&by(&ada.current), &about_ada).await.is(200);
    assert_eq!(profile(&ada.client).await.body["address"]["city"], "Thieves' den");
    bank.close().await;
}

#[tokio::test]
async fn looking_people_up_and_guessing_are_limited() {
    let mut config = crate::support::config();
    config.limits.enabled = true;
    let bank = Bank::configured(config).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    for _ in 0..5 {
        ada.client.get(&by(&bola.current)).await.is(200);
    }
    let limited = ada.client.get(&by(&bola.current)).await.problem(429, "RATE_LIMITED");
    assert!(!limited.header("retry-after").is_empty());
    bola.client.get(&by(&ada.current)).await.is(200);
    let guess = json!({"lastName": "Okafor", "dateOfBirth": "1991-07-04", "phoneNumber": "+2348031000101"});
    for _ in 0..5 {
        bank.client().post(&by(&ada.current), &guess).await.problem(422, "IDENTITY_MISMATCH");
    }
    bank.client().post(&by(&ada.current), &guess).await.problem(429, "RATE_LIMITED");
    for _ in 0..4 {
        bank.client()
            .post("/v1/users", &with(newcomer(), "countryCode", "ZZ"))
            .await
            .problem(400, "VALIDATION_FAILED");
    }
    bank.client().post("/v1/users", &newcomer()).await.is(201);
    bank.client().post("/v1/users", &newcomer()).await.problem(429, "RATE_LIMITED");
    bank.close().await;
}

async fn patch(person: &Person, body: &Value) -> Answer {
    let id = crate::ratchet::people::id_of(person).await;
    person.client.request(reqwest::Method::PATCH, &format!("/v1/users/{id}")).json(body).send().await
}

/// A body that also changes where the bank reaches somebody.
fn with_password(mut body: Value) -> Value {
    body["currentPassword"] = json!(PASSWORD);
    body
}
