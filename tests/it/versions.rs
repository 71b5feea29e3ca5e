//! `ETag`, `If-None-Match`, `If-Match`.

use reqwest::Method;
use serde_json::json;

use crate::support::Bank;

#[tokio::test]
async fn a_client_that_has_it_is_not_sent_it_again() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let path = format!("/v1/accounts/{}", ada.current);
    let tag = ada.client.get(&path).await.is(200).header("etag").to_owned();
    let again = || ada.client.request(Method::GET, &path).header("If-None-Match", &tag).send();
    assert_eq!((again().await.status, again().await.text.as_str()), (304, ""));
    ada.client.pay(&ada.current, &bola.current, 1, "k").await.is(201);
    again().await.is(200);
    bank.close().await;
}

#[tokio::test]
async fn what_has_changed_since_it_was_read_is_not_overwritten() {
    let bank = Bank::open().await;
    let (ada, teller) = (bank.ada().await, bank.teller().await);
    let read = ada.client.get(&format!("/v1/accounts/{}", ada.current)).await.is(200);
    let tag = read.header("etag").to_owned();
    let path = |verb: &str| format!("/v1/staff/accounts/{}/{verb}", ada.current);
    let reason = json!({"reason": "court order"});
    let freeze = |tag: &str| {
        teller.client.request(Method::POST, &path("freeze")).header("If-Match", tag).json(&reason).send()
    };
    freeze("\"99-0000\"").await.problem(412, "PRECONDITION_FAILED");
    freeze("nonsense").await.problem(412, "PRECONDITION_FAILED");
    freeze(&tag).await.is(200);
    teller.client.post(&path("unfreeze"), &reason).await.is(200);
    // Frozen and unfrozen in between: the tag is two versions old.
    freeze(&tag).await.problem(412, "PRECONDITION_FAILED");
    freeze("*").await.is(200);
    bank.close().await;
}

#[tokio::test]
async fn what_is_made_anew_has_no_version_to_match() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let tag = ada.client.get(&format!("/v1/accounts/{}", ada.current)).await.header("etag").to_owned();
    let body = crate::support::client::transfer(&ada.current, &bola.current, 1);
    let pay = ada.client.request(Method::POST, "/v1/payments/transfer/internal").header("If-Match", &tag);
    pay.json(&body).send().await.is(201);
    bank.close().await;
}
