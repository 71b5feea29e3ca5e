//! Bills: checked against what the biller sells, paid with a fee, on their way, and perhaps back.

use serde_json::{Value, json};

use crate::support::client::Answer;
use crate::support::{Bank, Person};

/// A satellite package for 4,400.00; the bank takes 100.00 for it.
const MINI: i64 = 440_000;
const FEE: i64 = 10_000;

fn bill(person: &Person, changed: &Value) -> Value {
    let mut body = json!({
        "sourceAccount": person.current, "billerId": "SBX_TV_SKYVIEW", "accountNumber": "1234567890",
        "customerName": "Ada Okafor", "amount": MINI, "currency": "NGN", "paymentType": "POSTPAID",
        "narration": "Football", "reference": "TV",
    });
    for (name, value) in changed.as_object().unwrap() {
        body[name] = value.clone();
    }
    body
}

async fn pay(person: &Person, changed: Value) -> Answer {
    person.client.post("/v1/payments/bills", &bill(person, &changed)).await
}

#[tokio::test]
async fn a_bill_costs_its_amount_and_the_fee_and_reaches_the_biller() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let had = ada.client.balance(&ada.current).await;
    let paid = pay(&ada, json!({})).await.is(201);
    let mut body = paid.body.clone();
    for made_up in ["transactionId", "processedAt", "receiptUrl"] {
        assert!(body.as_object_mut().unwrap().remove(made_up).unwrap().is_string());
    }
    assert_eq!(
        body,
        json!({
            "status": "SUCCESS", "message": "Bill payment accepted", "billerId": "SBX_TV_SKYVIEW",
            "billerName": "Sandbox SkyView Satellite TV", "accountNumber": "1234567890",
            "customerName": "Ada Okafor", "amount": MINI, "currency": "NGN", "paymentType": "POSTPAID",
            "sourceAccount": ada.current, "narration": "Football", "reference": "TV", "fee": FEE,
        })
    );
    assert_eq!(ada.client.balance(&ada.current).await, had - MINI - FEE);
    // The fee is a posting of its own, to an account of its own.
    assert_eq!(bank.internal("settlement.biller.SBX_TV_SKYVIEW").await, MINI);
    assert_eq!(bank.internal("fee_income").await, FEE);
    let path = format!("/v1/accounts/{}/statement?size=2", ada.current);
    let statement = ada.client.get(&path).await.is(200);
    let amounts: Vec<_> = statement.list_at("transactions").iter().map(|entry| &entry["amount"]).collect();
    assert_eq!(amounts, [&json!(-FEE), &json!(-MINI)]);
    bank.later(61).await;
    assert_eq!(bank.internal("settlement.biller.SBX_TV_SKYVIEW").await, 0);
    assert_eq!(bank.internal("nostro").await, MINI);
    bank.close().await;
}

#[tokio::test]
async fn a_bill_that_the_biller_does_not_take_comes_back_with_its_fee() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let had = ada.client.balance(&ada.current).await;
    pay(&ada, json!({"accountNumber": "1234560002"})).await.is(201);
    bank.later(61).await;
    assert_eq!(ada.client.balance(&ada.current).await, had);
    assert_eq!(bank.internal("fee_income").await, 0);
    bank.close().await;
}

#[tokio::test]
async fn what_the_biller_does_not_sell_is_refused_and_nothing_happens() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let (had, events) = (ada.client.balance(&ada.current).await, bank.events().await);
    pay(&ada, json!({"billerId": "SBX_NONE"})).await.problem(404, "NOT_FOUND");
    pay(&ada, json!({"itemId": "SBX_AIR_ALPHA_100"})).await.problem(404, "NOT_FOUND");
    let wrong = pay(&ada, json!({"accountNumber": "12345"})).await.problem(422, "CUSTOMER_REFERENCE_INVALID");
    assert_eq!(wrong.body["customerReferencePattern"], "^[0-9]{10}$");
    assert!(!wrong.text.contains("12345\""), "{}", wrong.text);
    let wrong = pay(&ada, json!({"amount": MINI + 1})).await.problem(422, "AMOUNT_NOT_OFFERED");
    assert!(wrong.list_at("offers").contains(&json!({"itemId": "SBX_TV_SKYVIEW_MINI", "amount": MINI})));
    pay(&ada, json!({"currency": "USD"})).await.problem(422, "CURRENCY_MISMATCH");
    pay(&ada, json!({"amount": 0, "billerId": 7})).await.problem(400, "VALIDATION_FAILED");
    // The amount alone would be covered, but not the fee with it.
    let all = ada.client.balance(&ada.current).await;
    let airtime = json!({"billerId": "SBX_AIR_ALPHA", "accountNumber": "08031000101", "amount": 6_000_000});
    pay(&ada, airtime).await.problem(422, "AMOUNT_NOT_OFFERED");
    assert_eq!((ada.client.balance(&ada.current).await, bank.events().await), (all, events));
    assert_eq!(all, had);
    bank.close().await;
}

#[tokio::test]
async fn any_amount_is_paid_where_the_price_is_between_bounds() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let airtime =
        |amount: i64| json!({"billerId": "SBX_AIR_ALPHA", "accountNumber": "08031000101", "amount": amount});
    pay(&ada, airtime(4_999)).await.problem(422, "AMOUNT_NOT_OFFERED");
    let paid = pay(&ada, airtime(5_000)).await.is(201);
    assert_eq!(paid.body["fee"], 0);
    bank.close().await;
}

#[tokio::test]
async fn a_biller_that_is_paid_can_be_kept() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    pay(&ada, json!({"saveAsBeneficiary": true})).await.is(201);
    let kept = ada.client.get("/v1/payments/beneficiaries/bills").await.is(200);
    let [kept] = kept.list_at("beneficiaries") else { panic!("{}", kept.text) };
    assert_eq!(
        (&kept["billerName"], &kept["customerName"], &kept["paymentCount"]),
        (&json!("Sandbox SkyView Satellite TV"), &json!("Ada Okafor"), &json!(1))
    );
    bank.close().await;
}

#[tokio::test]
async fn a_bill_is_found_by_its_transaction_and_by_the_payers_reference() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let path = |billing_ref: &str| format!("/v1/billers/query/status/{billing_ref}");
    let paid = pay(&ada, json!({"reference": "TV in May"})).await.is(201);
    let id = paid.text_at("transactionId").to_owned();
    let by_id = ada.client.get(&path(&id)).await.is(200);
    assert_eq!(
        by_id.body,
        json!({
            "billingRef": id, "transactionId": id, "status": "SUCCESS", "amount": MINI, "fee": FEE,
            "currency": "NGN", "billerName": "Sandbox SkyView Satellite TV", "customerName": "Ada Okafor",
            "accountNumber": "1234567890", "processedAt": paid.body["processedAt"], "settledAt": null,
            "message": "Accepted, and on its way to the biller", "receiptUrl": paid.body["receiptUrl"],
        })
    );
    ada.client.get(by_id.text_at("receiptUrl")).await.is(200);
    // Of two with one reference it is the newer.
    let second = pay(&ada, json!({"reference": "TV in May", "accountNumber": "1234560002"})).await.is(201);
    let by_reference = async || ada.client.get(&path("TV%20in%20May")).await.is(200);
    assert_eq!(by_reference().await.body["transactionId"], second.body["transactionId"]);
    bank.later(61).await;
    bank.caught_up().await;
    assert_eq!(by_reference().await.body["status"], "RETURNED");
    let settled = ada.client.get(&path(&id)).await.is(200);
    assert_eq!((settled.text_at("status"), settled.body["settledAt"].is_string()), ("SUCCESS", true));
    // Neither somebody else's bill nor another kind of payment is one.
    let moved = ada.client.pay(&ada.current, &bola.current, 100, "no-bill").await.is(201);
    for (client, name) in [(&bola.client, &*id), (&ada.client, moved.text_at("transactionId"))] {
        client.get(&path(name)).await.problem(404, "NOT_FOUND");
    }
    bank.close().await;
}
