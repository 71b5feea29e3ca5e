//! What staff think of what people say.

use serde_json::{Value, json};

use super::{KIN, add_kin, list};
use crate::support::Bank;

#[tokio::test]
async fn staff_verify_and_reject_until_something_changes() {
    let bank = Bank::open().await;
    let (ada, teller) = (bank.ada().await, bank.teller().await);
    let id = add_kin(&ada, "Bola").await;
    let judge = async |id: &str, verb: &str, body: Value| {
        teller.client.post(&format!("/v1/staff/compliance/{id}/{verb}"), &body).await
    };
    let reason = || json!({"reason": "Nobody answers there"});
    let now = async || list(&ada.client, KIN, "kin").await[0].clone();
    assert_eq!(judge(&id, "reject", json!({})).await.pointers(), ["/reason"]);
    let rejected = judge(&id, "reject", reason()).await.is(200);
    assert_eq!((rejected.text_at("recordId"), rejected.text_at("verificationStatus")), (&*id, "REJECTED"));
    // The customer's own reads do not wait for what staff write.
    bank.caught_up().await;
    assert_eq!(
        (&now().await["status"], &now().await["rejectionReason"]),
        (&json!("REJECTED"), &reason()["reason"])
    );
    for (verb, body) in [("verify", json!({})), ("reject", reason())] {
        let settled = judge(&id, verb, body).await.problem(409, "INVALID_STATE");
        assert_eq!(settled.body["currentState"], "REJECTED");
    }
    let changed = ada.client.put(KIN, &json!({"kinId": id, "phoneNumber": "+2348031000199"})).await.is(200);
    assert_eq!(changed.text_at("verificationStatus"), "PENDING");
    assert_eq!(now().await["rejectionReason"], Value::Null);
    let verified = judge(&id, "verify", json!({"note": "Called them"})).await.is(200);
    assert_eq!(
        (verified.text_at("verificationStatus"), &verified.body["verificationRequired"]),
        ("VERIFIED", &json!(false))
    );
    let sql = "SELECT metadata ->> 'actor' FROM events WHERE position = $1";
    let position: i64 = verified.header("bursar-position").parse().unwrap();
    let actor: String = sqlx::query_scalar(sql).bind(position).fetch_one(&bank.pool).await.unwrap();
    assert_eq!(actor, bank.user("teller@example.com").await.to_string());

    // Another who comes first from now on leaves it verified; what is said anew does not.
    let other = add_kin(&ada, "Chidi").await;
    let first = ada.client.put(KIN, &json!({"kinId": other, "isPrimary": true})).await.is(200);
    assert_eq!(first.body["updatedFields"], json!(["isPrimary"]));
    let listed = list(&ada.client, &format!("{KIN}?verificationStatus=VERIFIED"), "kin").await;
    assert_eq!((listed.len(), &listed[0]["isPrimary"]), (1, &json!(false)));
    let same = ada.client.put(KIN, &json!({"kinId": id, "firstName": "Bola"})).await.is(200);
    assert_eq!(
        (&same.body["verificationRequired"], &same.body["updatedFields"]),
        (&json!(false), &json!([]))
    );
    let renamed = ada.client.put(KIN, &json!({"kinId": id, "firstName": "Bolaji"})).await.is(200);
    assert_eq!(renamed.body["verificationRequired"], true);
    let path = format!("/v1/staff/compliance/{id}/verify");
    let then = teller.client.post_with_key(&path, "then", &json!({})).await.is(200);
    ada.client.delete(&format!("{KIN}?kinId={id}")).await.is(200);
    judge(&id, "verify", json!({})).await.problem(404, "NOT_FOUND");
    // A repeat is answered as then.
    assert_eq!(teller.client.post_with_key(&path, "then", &json!({})).await.is(200).body, then.body);
    bank.close().await;
}
