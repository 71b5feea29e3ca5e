//! PINs: hard to guess, five guesses, and a code to begin anew.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{active, from_device, status};
use crate::support::chance::{did, scaled};
use crate::support::client::Answer;
use crate::support::{Bank, Client};

const PIN: &str = "4071";

async fn create(client: &Client, user: &str, device: &str, pin: &str) -> Answer {
    let body = json!({"deviceId": device, "userId": user, "pin": pin, "confirmPin": pin});
    client.post("/v1/device/pin", &body).await
}

fn change(user: &str, device: &str, current: &str, new: &str) -> Value {
    json!({"deviceId": device, "userId": user, "currentPin": current, "newPin": new, "confirmNewPin": new})
}

/// The newest code sent to this number.
async fn code(bank: &Bank, to: &str) -> String {
    bank.events().await;
    let sent =
        bank.client().get(&format!("/v1/sandbox/messages?to={}", to.replace('+', "%2B"))).await.is(200);
    let mut codes = sent.list_at("messages").iter().filter_map(|message| message["data"]["code"].as_str());
    codes.next().unwrap().to_owned()
}

#[tokio::test]
async fn a_pin_is_set_changed_and_set_anew() {
    let bank = Bank::open().await;
    let ada = active(&bank, "ada@example.com", "phone").await;
    let user = bank.user("ada@example.com").await.to_string();
    for weak in ["1234", "0000", "121212", "123", "4071902", "abcd"] {
        create(&ada, &user, "phone", weak).await.problem(422, "WEAK_PIN");
    }
    let differ = json!({"deviceId": "phone", "userId": user, "pin": PIN, "confirmPin": "4072"});
    ada.post("/v1/device/pin", &differ).await.problem(422, "PIN_MISMATCH");
    assert_eq!(create(&ada, &user, "phone", PIN).await.is(200).body["deviceId"], "phone");
    create(&ada, &user, "phone", PIN).await.problem(409, "PIN_EXISTS");
    assert_eq!(status(&ada).await["securityPosture"]["pinEnabled"], true);

    let other = from_device(&bank, "ada@example.com", "laptop").await;
    let wrong = ada.post("/v1/device/pin/change", &change(&user, "phone", "4072", "83614")).await;
    assert_eq!(wrong.problem(422, "INVALID_PIN").body["remainingTries"], 4);
    let changed = ada.post("/v1/device/pin/change", &change(&user, "phone", PIN, "83614")).await.is(200);
    assert!(changed.number_at("sessionsInvalidated") >= 1);
    other.get("/v1/device/status").await.problem(401, "UNAUTHENTICATED");

    let reset = json!({"deviceId": "phone", "userId": user, "resetMethod": "SMS", "verificationData": {"email": "mallory@example.com"}});
    ada.post("/v1/device/pin/reset", &reset).await.problem(422, "IDENTITY_MISMATCH");
    let reset = json!({"deviceId": "phone", "userId": user, "resetMethod": "EMAIL", "verificationData": {"email": "ada@example.com"}});
    let pending = ada.post("/v1/device/pin/reset", &reset).await.is(201);
    assert_eq!((&pending.body["status"], &pending.body["resetMethod"]), (&json!("PENDING"), &json!("EMAIL")));
    let confirm = |code: &str| json!({"resetId": pending.body["resetId"], "verificationCode": code, "newPin": "902716", "confirmNewPin": "902716"});
    let code = code(&bank, "ada@example.com").await;
    let wrong = if code == "000000" { "000001" } else { "000000" };
    ada.post("/v1/device/pin/confirm", &confirm(wrong)).await.problem(422, "INVALID_CODE");
    let confirmed = ada.post("/v1/device/pin/confirm", &confirm(&code)).await.is(200);
    assert_eq!(confirmed.body["temporaryAccessRevoked"], true);
    ada.post("/v1/device/pin/confirm", &confirm(&code)).await.problem(409, "INVALID_STATE");
    ada.post("/v1/device/pin/change", &change(&user, "phone", "902716", PIN)).await.is(200);
    bank.close().await;
}

#[tokio::test]
async fn a_birth_date_is_no_pin() {
    let bank = Bank::open().await;
    let ada = active(&bank, "ada@example.com", "phone").await;
    let user = bank.user("ada@example.com").await;
    let (person, _) = bank.app.journal.load::<bursar_domain::users::User>(&user.to_string()).await.unwrap();
    let birth = *person.person().unwrap().profile.date_of_birth.get().unwrap();
    let pin = birth.strftime("%d%m%y").to_string();
    create(&ada, &user.to_string(), "phone", &pin).await.problem(422, "WEAK_PIN");
    bank.close().await;
}

/// Guesses at one PIN at the same moment.
const CROWD: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_crowd_of_guesses_at_two_servers_is_five_guesses() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let user = bank.user("ada@example.com").await.to_string();
    for round in 0..scaled(1) {
        let phone = format!("phone-{round}");
        let ada = active(&bank, "ada@example.com", &phone).await;
        create(&ada, &user, &phone, PIN).await.is(200);
        let (tried, set) =
            (bank.events_of("devices.pin_tried").await, bank.events_of("devices.pin_set").await);
        let guesses = (0..CROWD).map(|n| {
            let client = if n % 2 == 0 { ada.clone() } else { ada.at(address) };
            let body = change(&user, &phone, &format!("50{n:02}"), "83614");
            async move { client.post("/v1/device/pin/change", &body).await }
        });
        let answers = join_all(guesses).await;
        let of = |code: &str| answers.iter().filter(|answer| answer.body["code"] == code).count();
        assert_eq!((of("INVALID_PIN"), of("PIN_LOCKED")), (5, CROWD - 5));
        assert_eq!(bank.events_of("devices.pin_tried").await, tried + 5);
        // The right one comes too late.
        let right = change(&user, &phone, PIN, "83614");
        ada.post("/v1/device/pin/change", &right).await.problem(409, "PIN_LOCKED");
        assert_eq!(bank.events_of("devices.pin_set").await, set);
        assert_eq!(status(&ada).await["securityPosture"]["pinEnabled"], false);
    }
    did(CROWD * scaled(1), "guesses at a PIN");
    second.close().await;
    bank.close().await;
}
