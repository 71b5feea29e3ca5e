//! What staff may do, and who says so.

use serde_json::json;

use crate::support::Bank;

#[tokio::test]
async fn permissions_are_given_and_taken_back_with_the_sessions_that_have_them() {
    let bank = Bank::open().await;
    let (approver, chidi) = (bank.approver().await.client, bank.chidi().await.client);
    let id = bank.user("chidi@example.com").await;
    let path = format!("/v1/staff/users/{id}/permissions");
    let given = approver.post(&path, &json!({"grant": ["ACCOUNT_OPS", "CARD_OPS"]})).await.is(200);
    assert_eq!(given.body["granted"], json!(["ACCOUNT_OPS", "CARD_OPS"]));
    assert_eq!(approver.get(&path).await.is(200).body["permissions"], json!(["ACCOUNT_OPS", "CARD_OPS"]));
    // His session has what it began with; the next one has more.
    chidi.get("/v1/accounts").await.is(200);
    let next = bank.client().session("chidi@example.com", "phone").await;
    assert!(next["permissions"].as_array().unwrap().contains(&json!("ACCOUNT_OPS")));
    bank.caught_up().await;
    let taken = approver.post(&path, &json!({"revoke": ["ACCOUNT_OPS", "AUDIT_READ"]})).await.is(200);
    assert_eq!(
        (&taken.body["revoked"], taken.number_at("sessionsInvalidated")),
        (&json!(["ACCOUNT_OPS"]), 2)
    );
    chidi.get("/v1/accounts").await.problem(401, "UNAUTHENTICATED");
    let actor: String = sqlx::query_scalar(
        "SELECT metadata->>'actor' FROM events WHERE event_type = 'user.permissions_revoked'",
    )
    .fetch_one(&bank.pool)
    .await
    .unwrap();
    assert_eq!(actor, bank.user("approver@example.com").await.to_string());
    bank.close().await;
}

#[tokio::test]
async fn nobody_changes_their_own_and_nobody_gives_what_is_no_staffs() {
    let bank = Bank::open().await;
    let approver = bank.approver().await.client;
    let events = bank.events().await;
    let own = format!("/v1/staff/users/{}/permissions", bank.user("approver@example.com").await);
    let change = json!({"grant": ["LOAN_DISBURSE"]});
    approver.post(&own, &change).await.problem(403, "OWN_PERMISSIONS");
    let path = format!("/v1/staff/users/{}/permissions", bank.user("chidi@example.com").await);
    for wrong in [
        json!({"grant": ["MFA_VERIFY"]}),
        json!({"revoke": ["READ_ACCOUNT"]}),
        json!({"grant": ["ROOT"]}),
        json!({"grant": ["CARD_OPS"], "revoke": ["CARD_OPS"]}),
    ] {
        approver.post(&path, &wrong).await.problem(400, "VALIDATION_FAILED");
    }
    assert_eq!(bank.events().await, events);
    bank.close().await;
}
