//! Certificates in the wrong hands, and devices at two servers at once. What the verifier makes of certificates that the bank
//! never issues is tested beside it.

use futures_util::future::join_all;
use serde_json::json;
use tokio::net::TcpListener;

use super::certificates::{login, requested, sign};
use super::{active, status};
use crate::support::devices::{self, Device};
use crate::support::{Bank, Client, build_for, config, pool};

/// Ada's phone with a certificate that is good for so many days.
async fn certified(bank: &Bank, days: u32) -> (Client, Device) {
    let ada = active(bank, "ada@example.com", "phone").await;
    let (csr, key) = requested(&ada, "phone").await;
    let signed = sign(&ada, &csr, json!({"validityDays": days})).await.is(201);
    let device = Device::certified("phone", &key, signed.text_at("certificateContent"));
    (ada, device)
}

#[tokio::test]
async fn an_assertion_is_for_one_request_whichever_server_gets_it() {
    let bank = Bank::certifying(config()).await;
    let (_, device) = certified(&bank, 30).await;
    let (other, _) = build_for(pool(bank.url()), config(), None).await;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let there = bank.client().at(listener.local_addr().unwrap());
    tokio::spawn(bursar_api::app::serve(other.clone(), listener, std::future::pending()));
    let now = || bank.app.journal.sources().clock.now().as_second();
    let body = device.body().to_string();
    let refused = async |client: &Client, body: &str, assertion: &str| {
        devices::login(client, body, assertion).send().await.problem(401, "INVALID_CREDENTIALS");
    };
    // Control: this is how it works, at either server.
    let used = device.assertion(&body, "used at the first server", now());
    devices::login(&bank.client(), &body, &used).send().await.is(200);
    let also = device.assertion(&body, "used at the second server", now());
    devices::login(&there, &body, &also).send().await.is(200);
    // Once more, at the other one.
    refused(&there, &body, &used).await;
    refused(&bank.client(), &body, &also).await;
    let sessions = bank.events_of("session.started").await;
    // For another body.
    let fresh = device.assertion(&body, "about the first body", now());
    refused(&bank.client(), &body.replace("DESKTOP", "MOBILE"), &fresh).await;
    // With another nonce than the body's, old or new.
    let renamed = body.replace("nonce of the device", "another nonce, of the thief");
    refused(&bank.client(), &renamed, &device.assertion(&renamed, "about another nonce", now())).await;
    // Too late, and too early.
    refused(&bank.client(), &body, &device.assertion(&body, "made a minute ago", now() - 61)).await;
    refused(&bank.client(), &body, &device.assertion(&body, "made in the future", now() + 60)).await;
    // Of a device of that name which another authority has certified.
    let foreign = Device::named("phone");
    let body = foreign.body().to_string();
    refused(&bank.client(), &body, &foreign.assertion(&body, "of another authority", now())).await;
    assert_eq!(bank.events_of("session.started").await, sessions);
    other.close().await;
    bank.close().await;
}

#[tokio::test]
async fn a_certificate_is_good_to_its_last_second() {
    let bank = Bank::certifying(config()).await;
    let (_, device) = certified(&bank, 1).await;
    bank.later(24 * 60 * 60 - 60).await;
    login(&bank, &device, "in time").await.is(200);
    bank.later(61).await;
    login(&bank, &device, "too late").await.problem(401, "INVALID_CREDENTIALS");
    let ada = bank.client().session("ada@example.com", "phone").await;
    let ada = bank.client().with_token(ada["accessToken"].as_str().unwrap());
    let seen = status(&ada).await;
    assert_eq!(
        (&seen["certificateStatus"], &seen["enrollmentStatus"]),
        (&json!("EXPIRED"), &json!("ENROLLED"))
    );
    assert_eq!(seen["securityPosture"]["certificateValid"], false);
    // There is nothing left to rotate.
    let rotate = json!({"deviceId": "phone"});
    let refused = ada.post("/v1/device/cert/rotate", &rotate).await.problem(409, "INVALID_STATE");
    assert_eq!(refused.body["currentState"], "EXPIRED");
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_servers_are_one_authority_and_sign_a_request_once() {
    let bank = Bank::open().await;
    let (_, second) = bank.second().await;
    let ada = active(&bank, "ada@example.com", "phone").await;
    let servers = [ada.clone(), ada.at(second)];
    let authorities = join_all(servers.iter().map(|server| server.get("/pki/ca.pem"))).await;
    assert_eq!(authorities[0].text, authorities[1].text);
    let (csr, _) = requested(&ada, "phone").await;
    let signed = join_all((0..8).map(|n| sign(&servers[n % 2], &csr, json!({})))).await;
    assert_eq!(signed.iter().filter(|answer| answer.status == 201).count(), 1);
    for refused in signed.into_iter().filter(|answer| answer.status != 201) {
        refused.problem(409, "INVALID_STATE");
    }
    // A rotation begins once, too.
    let rotate = json!({"deviceId": "phone"});
    let begun = join_all((0..8).map(|n| servers[n % 2].post("/v1/device/cert/rotate", &rotate))).await;
    assert_eq!(begun.iter().filter(|answer| answer.status == 201).count(), 1);
    assert!(begun.iter().all(|answer| [201, 409].contains(&answer.status)));
    assert_eq!(bank.events_of("devices.certificate_issued").await, 1);
    assert_eq!(bank.events_of("devices.rotation_started").await, 1);
    bank.close().await;
}
