//! Whom customers keep to pay again.

use serde_json::json;

use crate::support::Bank;
use crate::support::client::transfer;

const INTERNAL: &str = "/v1/payments/beneficiaries/internal";

#[tokio::test]
async fn a_payee_is_kept_listed_and_removed() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let body = json!({
        "accountNumber": bola.current, "accountName": "Bola Adeyemi", "nickname": "B", "isFavorite": true,
        "transferType": "INTERNAL",
    });
    let added = ada.client.post(INTERNAL, &body).await.is(201).body;
    assert_eq!((&added["status"], &added["accountNumber"]), (&json!("CREATED"), &json!(bola.current)));
    let listed = ada.client.get(INTERNAL).await.is(200);
    let [kept] = listed.list_at("beneficiaries") else { panic!("{}", listed.text) };
    assert_eq!(
        *kept,
        json!({
            "beneficiaryId": added["beneficiaryId"], "accountNumber": bola.current, "accountName": "Bola Adeyemi",
            "nickname": "B", "isFavorite": true, "lastUsed": null, "transferCount": 0,
        })
    );
    assert_eq!(bola.client.get(INTERNAL).await.is(200).list_at("beneficiaries").len(), 0);

    let again = ada.client.post(INTERNAL, &json!({"accountNumber": bola.current})).await;
    assert_eq!(again.problem(409, "BENEFICIARY_EXISTS").body["beneficiaryId"], added["beneficiaryId"]);
    let nobody = ada.client.post(INTERNAL, &json!({"accountNumber": "1000000008"})).await;
    nobody.problem(404, "NOT_FOUND");
    let elsewhere = json!({"accountNumber": bola.savings, "transferType": "MWALLET"});
    assert_eq!(ada.client.post(INTERNAL, &elsewhere).await.pointers(), ["/transferType"]);

    let path = format!("/v1/payments/beneficiaries/{}", added["beneficiaryId"].as_str().unwrap());
    let removed = ada.client.delete(&path).await.is(200).body;
    assert_eq!((&removed["status"], &removed["beneficiaryId"]), (&json!("SUCCESS"), &added["beneficiaryId"]));
    assert_eq!(ada.client.get(INTERNAL).await.is(200).list_at("beneficiaries").len(), 0);
    ada.client.delete(&path).await.problem(404, "NOT_FOUND");
    // Whoever was taken out can come back.
    ada.client.post(INTERNAL, &json!({"accountNumber": bola.current})).await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn a_payee_who_is_saved_with_the_payment_is_counted_from_it_on() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let pay = async |save: bool| {
        let mut body = transfer(&ada.current, &bola.current, 100);
        body["saveAsBeneficiary"] = json!(save);
        body["destinationName"] = json!("Bola Adeyemi");
        ada.client.post("/v1/payments/transfer/internal", &body).await.is(201)
    };
    pay(false).await;
    assert_eq!(ada.client.get(INTERNAL).await.is(200).list_at("beneficiaries").len(), 0);
    pay(true).await;
    pay(true).await;
    let last = pay(false).await;
    // What others pay to her is not Ada's doing.
    chidi
        .client
        .post("/v1/payments/transfer/internal", &transfer(&chidi.current, &bola.current, 5))
        .await
        .is(201);
    let listed = ada.client.get(INTERNAL).await.is(200);
    let [kept] = listed.list_at("beneficiaries") else { panic!("{}", listed.text) };
    assert_eq!((&kept["accountName"], &kept["transferCount"]), (&json!("Bola Adeyemi"), &json!(3)));
    assert_eq!(kept["lastUsed"], last.body["processedAt"]);
    bank.close().await;
}

#[tokio::test]
async fn lists_are_paged_filtered_and_sorted() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    for (account, name) in [(&bola.current, "Bola"), (&chidi.current, "Chidi"), (&bola.savings, "50% off")] {
        let body = json!({"accountNumber": account, "accountName": name, "isFavorite": name == "Chidi"});
        ada.client.post(INTERNAL, &body).await.is(201);
    }
    let names = async |query: &str| {
        let listed = ada.client.get(&format!("{INTERNAL}?{query}")).await.is(200);
        let names = listed
            .list_at("beneficiaries")
            .iter()
            .map(|kept| kept["accountName"].as_str().unwrap().to_owned());
        names.collect::<Vec<_>>()
    };
    assert_eq!(names("").await, ["50% off", "Chidi", "Bola"]);
    assert_eq!(names("sort=name&size=2&page=2").await, ["Chidi"]);
    assert_eq!(names("isFavorite=true").await, ["Chidi"]);
    assert_eq!(names("q=50%25").await, ["50% off"]);
    let wrong = ada.client.get(&format!("{INTERNAL}?isFavorite=maybe&sort=owner&page=0")).await;
    assert_eq!(wrong.pointers(), ["/isFavorite", "/sort", "/page"]);
    bank.close().await;
}
