//! Proving who one is.

use super::*;

const LOOKUP: &str = "/v1/users/identity/lookup";
const RESEND: &str = "/v1/users/identity/resend-code";
const CONFIRM: &str = "/v1/users/identity/confirm";
const PHONE: &str = "+2348031000777";

fn claim() -> Value {
    json!({
        "identityType": "NIN", "identityNumber": "12345678901", "country": "NG", "firstName": "ngozi",
        "lastName": "BALOGUN", "dateOfBirth": "1991-07-03", "phoneNumber": PHONE,
    })
}

fn confirmation(id: &str, code: &str) -> Value {
    json!({"verificationId": id, "verificationCode": code, "phoneNumber": PHONE})
}

async fn status(client: &Client, id: &str) -> String {
    client.get(&format!("/v1/users/verifications/{id}")).await.is(200).text_at("status").to_owned()
}

/// A code that is not `right`.
fn wrong(right: &str) -> &'static str {
    if right == "000000" { "111111" } else { "000000" }
}

#[tokio::test]
async fn whoever_is_in_the_register_and_has_the_phone_may_use_the_bank() {
    let bank = Bank::open().await;
    let (ngozi, user) = registered(&bank).await;
    let found = ngozi.post(LOOKUP, &claim()).await.is(201);
    let id = found.text_at("verificationId").to_owned();
    assert_eq!((found.text_at("status"), found.text_at("verificationMethod")), ("PENDING", "SMS"));
    assert_eq!(found.header("location"), format!("/v1/users/verifications/{id}"));
    assert!(!found.text_at("estimatedTime").is_empty() && !found.text_at("nextStep").is_empty());
    assert_eq!(status(&ngozi, &id).await, "PENDING");
    let code = code_to(&bank, PHONE).await;
    let confirmed = ngozi.post(CONFIRM, &confirmation(&id, &code)).await.is(200);
    assert_eq!(confirmed.body["userId"], json!(user));
    assert_eq!((confirmed.text_at("status"), confirmed.text_at("verificationLevel")), ("VERIFIED", "FULL"));
    assert_eq!(status(&ngozi, &id).await, "VERIFIED");
    let known = profile(&ngozi).await;
    assert_eq!((known.text_at("status"), known.text_at("verificationLevel")), ("ACTIVE", "FULL"));
    assert_eq!((&known.body["phoneVerified"], &known.body["emailVerified"]), (&json!(true), &json!(false)));
    ngozi.post(CONFIRM, &confirmation(&id, &code)).await.problem(409, "INVALID_STATE");
    // The number is nowhere.
    assert_eq!(crate::support::secrets::tables_with(&bank, "12345678901").await, Vec::<String>::new());
    bank.close().await;
}

#[tokio::test]
async fn whoever_is_not_who_they_say_is_told_nothing_more() {
    let bank = Bank::open().await;
    let (ngozi, _) = registered(&bank).await;
    let events = bank.events().await;
    let mut refusals = Vec::new();
    for (member, value) in [
        ("firstName", "Ada"),
        ("lastName", "Okafor"),
        ("dateOfBirth", "1991-07-04"),
        ("phoneNumber", "+2348031000101"),
        ("identityNumber", "12345670001"),
        ("identityNumber", "12345670002"),
    ] {
        let request = ngozi.request(reqwest::Method::POST, LOOKUP).header("X-Request-Id", "same");
        let refused = request.json(&with(claim(), member, value)).send().await;
        refusals.push(refused.problem(422, "IDENTITY_MISMATCH").text);
    }
    refusals.dedup();
    assert_eq!(refusals.len(), 1);
    ngozi.post(LOOKUP, &with(claim(), "identityNumber", "12345670003")).await.problem(503, "UNAVAILABLE");
    assert_eq!(ngozi.post(LOOKUP, &with(claim(), "country", "ZZ")).await.pointers(), ["/country"]);
    assert_eq!(ngozi.post(LOOKUP, &with(claim(), "identityType", "SSN")).await.pointers(), ["/identityType"]);
    assert_eq!(bank.events().await, events);
    bank.close().await;
}

#[tokio::test]
async fn five_wrong_codes_end_it_and_so_does_time() {
    let bank = Bank::open().await;
    let (ngozi, _) = registered(&bank).await;
    let id = ngozi.post(LOOKUP, &claim()).await.is(201).text_at("verificationId").to_owned();
    let code = code_to(&bank, PHONE).await;
    for left in (0..5).rev() {
        let refused =
            ngozi.post(CONFIRM, &confirmation(&id, wrong(&code))).await.problem(422, "INVALID_CODE");
        assert_eq!(refused.body["remainingTries"], left);
    }
    let failed = ngozi.post(CONFIRM, &confirmation(&id, &code)).await.problem(409, "INVALID_STATE");
    assert_eq!((failed.text_at("currentState"), status(&ngozi, &id).await.as_str()), ("FAILED", "FAILED"));

    let id = ngozi.post(LOOKUP, &claim()).await.is(201).text_at("verificationId").to_owned();
    let code = code_to(&bank, PHONE).await;
    bank.advance(jiff::SignedDuration::from_secs(600));
    let expired = ngozi.post(CONFIRM, &confirmation(&id, &code)).await.problem(409, "INVALID_STATE");
    assert_eq!((expired.text_at("currentState"), status(&ngozi, &id).await.as_str()), ("EXPIRED", "EXPIRED"));
    bank.close().await;
}

#[tokio::test]
async fn nobody_pumps_short_messages() {
    let bank = Bank::configured(crate::support::thrifty()).await;
    let (ngozi, _) = registered(&bank).await;
    let id = ngozi.post(LOOKUP, &claim()).await.is(201).text_at("verificationId").to_owned();
    let body = json!({"verificationId": id, "phoneNumber": PHONE});
    let early = ngozi.post(RESEND, &body).await.problem(429, "RESEND_TOO_SOON");
    assert!(!early.header("retry-after").is_empty());
    for count in 1..=4 {
        bank.later(61).await;
        let resent = ngozi.post(RESEND, &body).await.is(200);
        assert_eq!(resent.number_at("resendCount"), count);
        assert!(resent.body["nextResendTime"].is_string() && resent.body["expiresAt"].is_string());
    }
    bank.later(61).await;
    ngozi.post(RESEND, &body).await.problem(429, "TOO_MANY_CODES");
    ngozi.post(LOOKUP, &claim()).await.problem(429, "TOO_MANY_CODES");
    bank.app.processes.run_due().await.unwrap();
    let sent = bank.client().get("/v1/sandbox/messages?to=%2B2348031000777").await.is(200);
    assert_eq!(sent.list_at("messages").len(), 5);
    // Not to another phone, whoever asks.
    let other = json!({"verificationId": id, "phoneNumber": "+2348031000666"});
    ngozi.post(RESEND, &other).await.problem(422, "IDENTITY_MISMATCH");
    bank.close().await;
}

#[tokio::test]
async fn a_code_counts_in_the_session_that_asked_for_it() {
    let bank = Bank::open().await;
    let (ngozi, user) = registered(&bank).await;
    let id = ngozi.post(LOOKUP, &claim()).await.is(201).text_at("verificationId").to_owned();
    let code = code_to(&bank, PHONE).await;
    let permissions = [bursar_domain::kernel::Permission::ManageProfile];
    let session = bank.session(user.parse().unwrap(), &permissions).await;
    let elsewhere = bank.client().with_token(&bank.token(user.parse().unwrap(), session, &permissions, 0));
    let events = bank.events().await;
    elsewhere.post(CONFIRM, &confirmation(&id, &code)).await.problem(404, "NOT_FOUND");
    assert_eq!(bank.events().await, events);
    ngozi.post(CONFIRM, &confirmation(&id, &code)).await.is(200);
    bank.close().await;
}

#[tokio::test]
async fn a_new_name_counts_once_the_register_knows_it() {
    let bank = Bank::open().await;
    let (ngozi, user) = registered(&bank).await;
    let path = format!("/v1/users/{user}");
    let rename =
        |name: &str| ngozi.request(reqwest::Method::PATCH, &path).json(&json!({"lastName": name})).send();
    let id = ngozi.post(LOOKUP, &claim()).await.is(201).text_at("verificationId").to_owned();
    let code = code_to(&bank, PHONE).await;
    // Not verified yet: it changes at once, and the code of before is for somebody else.
    let renamed = rename("Eze").await.is(200);
    assert_eq!(
        (&renamed.body["updatedFields"], &renamed.body["requiresVerification"]),
        (&json!(["lastName"]), &json!([]))
    );
    ngozi.post(CONFIRM, &confirmation(&id, &code)).await.problem(409, "IDENTITY_CHANGED");
    let verify = async |name: &str| {
        let found = ngozi.post(LOOKUP, &with(claim(), "lastName", name)).await.is(201);
        let code = code_to(&bank, PHONE).await;
        ngozi.post(CONFIRM, &confirmation(found.text_at("verificationId"), &code)).await.is(200);
    };
    verify("Eze").await;
    let waits = rename("Okafor").await.is(200);
    assert_eq!(
        (&waits.body["updatedFields"], &waits.body["requiresVerification"]),
        (&json!([]), &json!(["lastName"]))
    );
    let known = profile(&ngozi).await;
    assert_eq!(
        (known.text_at("lastName"), &known.body["pendingChanges"]["lastName"]),
        ("Eze", &json!("Okafor"))
    );
    verify("Okafor").await;
    let known = profile(&ngozi).await;
    assert_eq!(
        (known.text_at("lastName"), &known.body["pendingChanges"]["lastName"]),
        ("Okafor", &Value::Null)
    );
    bank.close().await;
}
