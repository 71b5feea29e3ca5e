//! Devices that change hands, and hands that grab.

use serde_json::{Value, json};

use super::{active, from_device, moved, status};
use crate::support::client::{Answer, PASSWORD};
use crate::support::{Bank, Client, config};

const TRANSFER: &str = "/v1/device/ownership/transfer";

async fn accept(bank: &Bank, client: &Client, email: &str, transfer: &str, code: &str) -> Answer {
    // What others have done is not waited for.
    bank.caught_up().await;
    let body = json!({"transferId": transfer, "acceptorId": bank.user(email).await, "acceptanceCode": code});
    let request = client.request(reqwest::Method::POST, "/v1/device/ownership/accept").json(&body);
    request.header("X-Request-Id", "same").send().await
}

/// The codes that went to this number.
async fn codes(bank: &Bank, to: &str) -> Vec<String> {
    bank.events().await;
    let path = format!("/v1/sandbox/messages?to={}", to.replace('+', "%2B"));
    let sent = bank.client().get(&path).await.is(200);
    let codes = sent.list_at("messages").iter().filter_map(|message| message["data"]["code"].as_str());
    codes.map(str::to_owned).collect()
}

async fn phone_of(bank: &Bank, email: &str) -> String {
    let id = bank.user(email).await.to_string();
    let (user, _) = bank.app.journal.load::<bursar_domain::users::User>(&id).await.unwrap();
    user.person().unwrap().phone_number.get().unwrap().clone()
}

async fn offer(bank: &Bank, from: &Client, to: &str, more: Value) -> Answer {
    let mut body = json!({
        "deviceId": "phone", "currentOwnerId": bank.user("ada@example.com").await,
        "newOwnerId": bank.user(to).await, "transferReason": "A present",
    });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    from.post(TRANSFER, &body).await
}

#[tokio::test]
async fn a_device_goes_to_whom_it_is_meant_for_and_takes_nothing_along() {
    let bank = Bank::open().await;
    let ada = active(&bank, "ada@example.com", "phone").await;
    let user = bank.user("ada@example.com").await;
    let pin = json!({"deviceId": "phone", "userId": user, "pin": "4071", "confirmPin": "4071"});
    ada.post("/v1/device/pin", &pin).await.is(200);
    let laptop = from_device(&bank, "ada@example.com", "laptop").await;
    // Bola has tried it out.
    let bola = from_device(&bank, "bola@example.com", "phone").await;
    let offered = offer(&bank, &ada, "bola@example.com", json!({})).await.is(201);
    assert_eq!(offered.body["status"], "PENDING_APPROVAL");
    let transfer = offered.text_at("transferId");
    // The code goes to Bola and to nobody else.
    let code = codes(&bank, &phone_of(&bank, "bola@example.com").await).await.remove(0);
    assert!(codes(&bank, &phone_of(&bank, "ada@example.com").await).await.is_empty());
    // Neither Chidi nor Ada can accept, with whatever code.
    let chidi = bank.chidi().await.client;
    let unknown =
        accept(&bank, &chidi, "chidi@example.com", "trf_0192f0c1a00070008000000000000abc", &code).await;
    let hijacked =
        accept(&bank, &chidi, "chidi@example.com", transfer, &code).await.problem(404, "NOT_FOUND");
    assert_eq!(hijacked.text, unknown.text);
    accept(&bank, &ada, "ada@example.com", transfer, &code).await.problem(404, "NOT_FOUND");
    let wrong = if code == "000000" { "000001" } else { "000000" };
    accept(&bank, &bola, "bola@example.com", transfer, wrong).await.problem(422, "INVALID_CODE");
    let accepted = accept(&bank, &bola, "bola@example.com", transfer, &code).await.is(200);
    assert_eq!((&accepted.body["status"], &accepted.body["deviceId"]), (&json!("SUCCESS"), &json!("phone")));
    // Ada's session on it is over, her other one is not, and the device is not hers.
    ada.get("/v1/device/status").await.problem(401, "UNAUTHENTICATED");
    laptop.get("/v1/device/status?deviceId=phone").await.problem(404, "NOT_FOUND");
    let bolas = status(&bola).await;
    assert_eq!((&bolas["status"], &bolas["enrollmentStatus"]), (&json!("PENDING"), &json!("NOT_ENROLLED")));
    assert_eq!(bolas["securityPosture"]["pinEnabled"], false);
    moved(&bola, "phone", "ACTIVATE").await.is(200);
    accept(&bank, &bola, "bola@example.com", transfer, &code).await.problem(404, "NOT_FOUND");
    bank.close().await;
}

#[tokio::test]
async fn whoever_logged_in_long_ago_says_the_password() {
    let mut config = config();
    config.devices.fresh_login_seconds = 300;
    let bank = Bank::configured(config).await;
    let ada = active(&bank, "ada@example.com", "phone").await;
    bank.advance(jiff::SignedDuration::from_secs(301));
    let events = bank.events().await;
    offer(&bank, &ada, "bola@example.com", json!({})).await.problem(403, "REAUTHENTICATION_REQUIRED");
    let wrong = json!({"password": "not-the-password"});
    offer(&bank, &ada, "bola@example.com", wrong).await.problem(422, "WRONG_PASSWORD");
    assert_eq!(bank.events().await, events);
    offer(&bank, &ada, "bola@example.com", json!({"password": PASSWORD})).await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn an_offer_stands_for_three_days_from_the_day_agreed_on_and_the_newest_counts() {
    let bank = Bank::open().await;
    let ada = active(&bank, "ada@example.com", "phone").await;
    let now = bank.app.journal.sources().clock.now();
    let at =
        |hours: i64| json!({"effectiveDate": (now + jiff::SignedDuration::from_hours(hours)).to_string()});
    offer(&bank, &ada, "bola@example.com", at(80)).await.problem(400, "VALIDATION_FAILED");
    offer(&bank, &ada, "ada@example.com", json!({})).await.problem(422, "OWN_DEVICE");
    let first = offer(&bank, &ada, "bola@example.com", json!({})).await.is(201);
    let second = offer(&bank, &ada, "bola@example.com", at(2)).await.is(201);
    let bola = bank.bola().await.client;
    let phone = phone_of(&bank, "bola@example.com").await;
    let newest = codes(&bank, &phone).await.remove(0);
    let accept = async |client: &Client, offer: &Answer| {
        accept(&bank, client, "bola@example.com", offer.text_at("transferId"), &newest).await
    };
    accept(&bola, &first).await.problem(404, "NOT_FOUND");
    accept(&bola, &second).await.problem(422, "NOT_YET_EFFECTIVE");
    bank.advance(jiff::SignedDuration::from_hours(72));
    let bola = bank.bola().await.client;
    let late = accept(&bola, &second).await.problem(409, "INVALID_STATE");
    assert_eq!(late.body["currentState"], "EXPIRED");
    assert_eq!(bank.events_of("verifications.tried").await, 0);
    bank.close().await;
}

#[tokio::test]
async fn nobody_voids_the_offer_of_somebody_else() {
    let bank = Bank::open().await;
    let ada = active(&bank, "ada@example.com", "phone").await;
    let chidi = active(&bank, "chidi@example.com", "tablet").await;
    let first = offer(&bank, &ada, "bola@example.com", json!({})).await.is(201);
    let body = json!({
        "deviceId": "tablet", "currentOwnerId": bank.user("chidi@example.com").await,
        "newOwnerId": bank.user("bola@example.com").await,
    });
    let second = chidi.post(TRANSFER, &body).await.is(201);
    let bola = bank.bola().await.client;
    let phone = phone_of(&bank, "bola@example.com").await;
    bank.events().await;
    let sent =
        bank.client().get(&format!("/v1/sandbox/messages?to={}", phone.replace('+', "%2B"))).await.is(200);
    let code = |transfer: &Answer| {
        let messages = sent.list_at("messages").iter();
        let about: Vec<_> =
            messages.filter(|m| m["data"]["transferId"] == transfer.body["transferId"]).collect();
        assert_eq!(about.len(), 1, "sent once: {}", sent.text);
        assert!(about[0]["body"].as_str().unwrap().contains(transfer.text_at("transferId")));
        about[0]["data"]["code"].as_str().unwrap().to_owned()
    };
    let accepted = async |transfer: &Answer, code: &str| {
        accept(&bank, &bola, "bola@example.com", transfer.text_at("transferId"), code).await
    };
    // One code is no other.
    if code(&first) != code(&second) {
        accepted(&first, &code(&second)).await.problem(422, "INVALID_CODE");
    }
    assert_eq!(accepted(&first, &code(&first)).await.is(200).body["deviceId"], "phone");
    assert_eq!(accepted(&second, &code(&second)).await.is(200).body["deviceId"], "tablet");
    bank.close().await;
}
