//! Leaving the bank: what somebody has to do before nothing is theirs any more.

use serde_json::json;

use super::client::Answer;
use super::{Client, Person};

/// Asks for an account to be closed, and two members of staff close it. Answers what the second is told.
pub async fn closes(person: &Person, account: &str, into: &str, (one, other): (&Client, &Client)) -> Answer {
    let body = json!({"closureReason": "Leaving", "transferAccount": into, "acknowledgeTerms": true});
    let asked = person.client.post(&format!("/v1/accounts/{account}/close"), &body).await.is(201);
    let path = format!("/v1/staff/account-closures/{}", asked.text_at("applicationId"));
    one.post(&format!("{path}/approve"), &json!({})).await.is(200);
    other.post(&format!("{path}/finalize"), &json!({})).await
}

/// Ends somebody's disputes, closes all their accounts but the current one, and pays what is in that to `heir`. Payments on
/// their way must have arrived.
pub async fn leaves(person: &Person, heir: &str, staff: (&Client, &Client)) {
    let disputes = person.client.get("/v1/disputes?status=PENDING").await.is(200);
    for dispute in disputes.list_at("disputes") {
        let path = format!("/v1/disputes/{}/withdraw", dispute["disputeId"].as_str().unwrap());
        person.client.post(&path, &json!({})).await.is(200);
    }
    let accounts = person.client.get("/v1/accounts?size=100").await.is(200);
    let others =
        accounts.list_at("accounts").iter().map(|account| account["accountNumber"].as_str().unwrap());
    for account in others.filter(|account| *account != person.current) {
        closes(person, account, &person.current, staff).await.is(200);
    }
    let left = person.client.balance(&person.current).await;
    if left > 0 {
        person.client.pay(&person.current, heir, left, "all that is left").await.is(201);
    }
}
