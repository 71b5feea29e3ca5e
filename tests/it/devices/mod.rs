//! Devices: whether they may be used, what they prove themselves with, and whose they are.

mod attacks;
mod certificates;
mod pins;
mod transfers;

use serde_json::{Value, json};

use crate::support::client::{Answer, PASSWORD};
use crate::support::{Bank, Client, Person};

const STATUS: &str = "/v1/device/status";

/// Logs in from a device that describes itself.
async fn from_device(bank: &Bank, email: &str, device: &str) -> Client {
    let body = json!({
        "username": email, "password": PASSWORD,
        "deviceInfo": {
            "deviceId": device, "deviceType": "MOBILE", "manufacturer": "Acme", "model": "One",
            "osVersion": "17", "appVersion": "2.1",
        },
    });
    let session = bank.client().post("/v1/users/password/login", &body).await.is(200);
    bank.client().with_token(session.text_at("accessToken"))
}

async fn moved(client: &Client, device: &str, action: &str) -> Answer {
    client.post(STATUS, &json!({"deviceId": device, "action": action})).await
}

/// Logs in from a device that is then active.
async fn active(bank: &Bank, email: &str, device: &str) -> Client {
    let client = from_device(bank, email, device).await;
    moved(&client, device, "ACTIVATE").await.is(200);
    client
}

async fn status(client: &Client) -> Value {
    client.get(STATUS).await.is(200).body
}

async fn staff(teller: &Person, bank: &Bank, email: &str, device: &str, what: &str) -> Answer {
    // What others have done is not waited for.
    bank.caught_up().await;
    let body = json!({"userId": bank.user(email).await, "reason": "Called"});
    teller.client.post(&format!("/v1/staff/devices/{device}/{what}"), &body).await
}

#[tokio::test]
async fn a_device_appears_with_a_login_and_lives_as_its_owner_and_staff_say() {
    let bank = Bank::open().await;
    let ada = from_device(&bank, "ada@example.com", "phone").await;
    let seen = status(&ada).await;
    assert_eq!(seen["deviceId"], "phone");
    assert_eq!((&seen["status"], &seen["enrollmentStatus"]), (&json!("PENDING"), &json!("NOT_ENROLLED")));
    assert_eq!(seen["certificateStatus"], "NONE");
    let info = json!({"type": "MOBILE", "manufacturer": "Acme", "model": "One", "osVersion": "17", "appVersion": "2.1"});
    assert_eq!(seen["deviceInfo"], info);
    assert_eq!(seen["securityPosture"]["pinEnabled"], false);

    let activated = moved(&ada, "phone", "ACTIVATE").await.is(200);
    assert_eq!(
        (&activated.body["newState"], &activated.body["sessionsTerminated"]),
        (&json!("ACTIVE"), &json!(0))
    );
    assert_eq!(
        moved(&ada, "phone", "ACTIVATE").await.problem(409, "INVALID_STATE").body["currentState"],
        "ACTIVE"
    );

    // Another session on the device ends; the one that asks goes on, and so does one on another device.
    let (second, laptop) = (
        from_device(&bank, "ada@example.com", "phone").await,
        from_device(&bank, "ada@example.com", "laptop").await,
    );
    let stopped = moved(&ada, "phone", "DEACTIVATE").await.is(200);
    assert_eq!(stopped.body["newState"], "INACTIVE");
    assert!(stopped.number_at("sessionsTerminated") >= 1);
    second.get(STATUS).await.problem(401, "UNAUTHENTICATED");
    laptop.get(STATUS).await.is(200);
    assert_eq!(status(&ada).await["status"], "INACTIVE");

    moved(&ada, "phone", "BLOCK").await.is(200);
    assert_eq!(
        moved(&ada, "phone", "ACTIVATE").await.problem(409, "INVALID_STATE").body["currentState"],
        "BLOCKED"
    );
    let teller = bank.teller().await;
    staff(&teller, &bank, "bola@example.com", "phone", "activate").await.problem(404, "NOT_FOUND");
    staff(&teller, &bank, "ada@example.com", "phone", "activate").await.is(200);
    assert_eq!(status(&ada).await["status"], "ACTIVE");
    staff(&teller, &bank, "ada@example.com", "phone", "revoke").await.is(200);
    // Staff end every session on it.
    ada.get(STATUS).await.problem(401, "UNAUTHENTICATED");
    let revoked = laptop.get(&format!("{STATUS}?deviceId=phone")).await.is(200);
    assert_eq!(revoked.body["status"], "REVOKED");
    staff(&teller, &bank, "ada@example.com", "phone", "activate").await.problem(409, "INVALID_STATE");
    bank.close().await;
}

#[tokio::test]
async fn a_strangers_device_is_answered_like_none_and_nobody_speaks_for_another() {
    let bank = Bank::open().await;
    let (ada, bola) = (active(&bank, "ada@example.com", "phone").await, bank.bola().await);
    let asked = async |device: &str| {
        let asked = bola.client.request(reqwest::Method::GET, &format!("{STATUS}?deviceId={device}"));
        asked.header("X-Request-Id", "same").send().await
    };
    let unknown = asked("nothing").await.problem(404, "NOT_FOUND");
    assert_eq!(asked("phone").await.text, unknown.text);
    // A device of the same name is another device.
    let own = from_device(&bank, "bola@example.com", "phone").await;
    assert_eq!(status(&own).await["status"], "PENDING");
    let events = bank.events().await;
    let bolas = bank.user("bola@example.com").await;
    for (path, body) in [
        (STATUS, json!({"deviceId": "phone", "action": "BLOCK", "adminId": bolas})),
        (
            "/v1/device/pin",
            json!({"deviceId": "phone", "userId": bolas, "pin": "4071", "confirmPin": "4071"}),
        ),
        ("/v1/device/pin/reset", json!({"deviceId": "phone", "userId": bolas})),
        (
            "/v1/device/pin/change",
            json!({"deviceId": "phone", "userId": bolas, "currentPin": "1", "newPin": "4071", "confirmNewPin": "4071"}),
        ),
        (
            "/v1/device/ownership/transfer",
            json!({"deviceId": "phone", "currentOwnerId": bolas, "newOwnerId": bolas}),
        ),
        (
            "/v1/device/ownership/accept",
            json!({"transferId": "trf_0192f0c1a00070008000000000000abc", "acceptorId": bolas, "acceptanceCode": "1"}),
        ),
    ] {
        ada.post(path, &body).await.problem(403, "NOT_YOU");
    }
    assert_eq!(bank.events().await, events);
    bank.close().await;
}
