//! What only a test bank has.

use serde_json::json;

use crate::support::process::{Server, directory};
use crate::support::{Bank, Client};

#[tokio::test]
async fn the_clock_moves_forward_only_and_stays_moved_over_a_restart() {
    let dir = directory("clock");
    let server = Server::start(&dir).await;
    let client = Client::new(server.address);
    let moved = client.post("/v1/sandbox/clock", &json!({"advance": "P3D"})).await.is(200);
    client.post("/v1/sandbox/clock", &json!({"to": "2001-01-01T00:00:00Z"})).await.is(400);
    client.post("/v1/sandbox/clock", &json!({"advance": "-PT1S"})).await.is(400);
    assert_eq!(server.stop().await, 0);
    // Nothing was recorded after the jump: the clock itself is remembered.
    let server = Server::start(&dir).await;
    let later =
        Client::new(server.address).post("/v1/sandbox/clock", &json!({"advance": "PT0S"})).await.is(200);
    let time = |answer: &crate::support::client::Answer| {
        answer.body["now"].as_str().unwrap().parse::<jiff::Timestamp>().unwrap()
    };
    assert!(time(&later) >= time(&moved), "{} {}", later.text, moved.text);
    assert_eq!(server.stop().await, 0);
    std::fs::remove_dir_all(dir).unwrap();
}

#[tokio::test]
async fn a_server_is_never_behind_what_the_log_says_has_happened() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let there = ada.client.at(address);
    // One server's clock is an hour ahead; what it writes has happened for the other too.
    bank.client().post("/v1/sandbox/clock", &json!({"advance": "PT10M"})).await.is(200);
    ada.client.pay(&ada.current, &bola.current, 1, "ahead").await.is(201);
    let paid = there.pay(&ada.current, &bola.current, 2, "behind").await.is(201);
    let at = paid.body["processedAt"].as_str().unwrap();
    let balance = there.get(&format!("/v1/accounts/{}/balance?asOf={at}", ada.current)).await.is(200);
    assert_eq!(balance.body["lastTransactionDate"], at);
    let statement = there.get(&format!("/v1/accounts/{}/statement?size=1", ada.current)).await.is(200);
    assert_eq!(statement.body["transactions"][0]["amount"], -2);
    second.close().await;
    bank.close().await;
}
