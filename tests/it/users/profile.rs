//! What a person says about themselves.

use super::*;

const NEW: &str = "ada.new@example.com";

#[tokio::test]
async fn a_profile_is_read_and_changed_field_by_field() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let before = profile(&ada.client).await;
    let tag = before.header("etag").to_owned();
    let unchanged = ada.client.request(reqwest::Method::GET, "/v1/users/profile");
    unchanged.header("If-None-Match", &tag).send().await.is(304);
    let body = json!({
        "address": {"street": "12 Marina", "city": "Lagos", "state": "Lagos", "postalCode": "101001", "country": "NG"},
        "preferences": {"timezone": "Africa/Lagos", "notifications": {"push": false}},
    });
    let updated = patch(&ada, &body).await.is(200);
    assert_eq!(updated.body["updatedFields"], json!(["address", "preferences"]));
    assert_eq!((updated.text_at("status"), &updated.body["requiresVerification"]), ("SUCCESS", &json!([])));
    let moved =
        patch(&ada, &json!({"address": {"city": "Abuja"}, "preferences": {"language": "en"}})).await.is(200);
    // English it was before.
    assert_eq!(moved.body["updatedFields"], json!(["address"]));
    let after = profile(&ada.client).await;
    let expected = json!({"street": "12 Marina", "city": "Abuja", "state": "Lagos", "postalCode": "101001", "country": "NG"});
    assert_eq!(after.body["address"], expected);
    assert_eq!(
        after.body["preferences"]["notifications"],
        json!({"email": true, "sms": true, "push": false})
    );
    assert_ne!(after.body["updatedAt"], before.body["updatedAt"]);
    let events = bank.events().await;
    let nothing = patch(&ada, &json!({"address": {"city": "Abuja"}})).await.is(200);
    assert_eq!(nothing.body["updatedFields"], json!([]));
    assert_eq!(bank.events().await, events);
    bank.close().await;
}

/// Every field of the profile that is not the caller's to set, and every field of others that the interface knows.
const FOREIGN: [&str; 18] = [
    "userId",
    "status",
    "verificationLevel",
    "emailVerified",
    "phoneVerified",
    "dateOfBirth",
    "countryCode",
    "permissions",
    "password",
    "passwordHash",
    "staffPermissions",
    "createdAt",
    "updatedAt",
    "avatar",
    "isAdmin",
    "pendingChanges",
    "preferredLanguage",
    "accountNumber",
];

#[tokio::test]
async fn nothing_is_changed_that_is_not_to_be_changed() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (before, events) = (profile(&ada.client).await, bank.events().await);
    for field in FOREIGN {
        for value in [json!("FULL"), json!(true), json!({"a": 1})] {
            let mut body = json!({"address": {"city": "Lagos"}});
            body[field] = value;
            let refused = patch(&ada, &body).await;
            assert_eq!(refused.pointers(), [format!("/{field}")]);
        }
    }
    for (body, pointer) in [
        (json!({"address": {"city": "Lagos", "verified": true}}), "/address/verified"),
        (json!({"preferences": {"notifications": {"fax": true}}}), "/preferences/notifications/fax"),
        (json!({"preferences": {"timezone": "Mars/Olympus"}}), "/preferences/timezone"),
        (json!({"address": {"country": "ZZ"}}), "/address/country"),
        (json!({"a/b~c": 1}), "/a~1b~0c"),
    ] {
        assert_eq!(patch(&ada, &body).await.pointers(), [pointer], "{body}");
    }
    // Somebody else's is nobody's.
    let of = |id: String| {
        let request = ada.client.request(reqwest::Method::PATCH, &format!("/v1/users/{id}"));
        request.header("X-Request-Id", "same").json(&json!({"firstName": "Eve"})).send()
    };
    let foreign = of(crate::ratchet::people::id_of(&bola).await).await.problem(404, "NOT_FOUND");
    let unknown = of("usr_0192f0c1a00070008000000000000abc".to_owned()).await.problem(404, "NOT_FOUND");
    assert_eq!(foreign.text, unknown.text);
    assert_eq!(bank.events().await, events);
    assert_eq!(profile(&ada.client).await.body, before.body);
    // Elsewhere they are passed over.
    let mut body = newcomer();
    for field in FOREIGN
        .into_iter()
        .filter(|field| !["dateOfBirth", "countryCode", "preferredLanguage"].contains(field))
    {
        body[field] = json!("FULL");
    }
    let made = bank.client().post("/v1/users", &body).await.is(201);
    assert_eq!(made.text_at("status"), "PENDING");
    bank.close().await;
}

#[tokio::test]
async fn a_new_mailbox_counts_once_it_is_proven_and_the_old_one_is_told() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let events = bank.events().await;
    patch(&ada, &json!({"email": NEW})).await.problem(422, "PASSWORD_MISMATCH");
    let wrong = json!({"email": NEW, "currentPassword": "not the password"});
    patch(&ada, &wrong).await.problem(422, "PASSWORD_MISMATCH");
    assert_eq!(bank.events().await, events);
    let updated = patch(&ada, &with_password(json!({"email": "Ada.New@example.com"}))).await.is(200);
    assert_eq!(
        (&updated.body["updatedFields"], &updated.body["requiresVerification"]),
        (&json!([]), &json!(["email"]))
    );
    let id = updated.body["verifications"][0]["verificationId"].clone();
    assert!(message_to(&bank, "ada@example.com").await["subject"].as_str().unwrap().contains("is to change"));
    let waits = profile(&ada.client).await;
    assert_eq!(
        (waits.text_at("email"), &waits.body["pendingChanges"]["email"]),
        ("ada@example.com", &json!("a******@example.com"))
    );
    bank.client().session("ada@example.com", "still").await;
    let code = code_to(&bank, NEW).await;
    let body = json!({"verificationId": id, "verificationCode": code});
    let confirmed = ada.client.post("/v1/users/email/confirm", &body).await.is(200);
    assert_eq!((confirmed.text_at("email"), &confirmed.body["changed"]), (NEW, &json!(true)));
    assert!(message_to(&bank, "ada@example.com").await["subject"].as_str().unwrap().contains("has changed"));
    let after = profile(&ada.client).await;
    assert_eq!((after.text_at("email"), &after.body["emailVerified"]), (NEW, &json!(true)));
    bank.client().session(NEW, "device").await;
    // The old address is free.
    bank.client().post("/v1/users", &with(newcomer(), "email", "ada@example.com")).await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn of_two_who_want_a_mailbox_whoever_proves_it_first_has_it() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let wants = with_password(json!({"email": NEW}));
    let of = |answer: &Answer| answer.body["verifications"][0]["verificationId"].as_str().unwrap().to_owned();
    let (first, second) = (of(&patch(&ada, &wants).await.is(200)), of(&patch(&bola, &wants).await.is(200)));
    let code = |who: &str, id: &str| crate::ratchet::people::code(&bank, who, id);
    let (ada_id, bola_id) =
        (crate::ratchet::people::id_of(&ada).await, crate::ratchet::people::id_of(&bola).await);
    let confirm = |id: &str, code: String| json!({"verificationId": id, "verificationCode": code});
    bola.client.post("/v1/users/email/confirm", &confirm(&second, code(&bola_id, &second))).await.is(200);
    let late = ada.client.post("/v1/users/email/confirm", &confirm(&first, code(&ada_id, &first))).await;
    late.problem(409, "EMAIL_TAKEN");
    assert_eq!(profile(&ada.client).await.text_at("email"), "ada@example.com");
    bank.client().session("ada@example.com", "device").await;
    bank.close().await;
}

#[tokio::test]
async fn a_new_phone_counts_once_it_is_proven() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let fund = |phone: &str| {
        let body = json!({
            "destinationAccount": ada.current, "phoneNumber": phone, "walletProvider": "MTN_MOMO", "amount": 100,
            "currency": "NGN",
        });
        let client = ada.client.clone();
        async move { client.post("/v1/payments/fund/via/mwallet", &body).await }
    };
    let updated = patch(&ada, &with_password(json!({"phoneNumber": "+2348031000909"}))).await.is(200);
    assert_eq!(updated.body["requiresVerification"], json!(["phoneNumber"]));
    fund("+2348031000909").await.problem(422, "PHONE_NOT_YOURS");
    let code = code_to(&bank, "+2348031000909").await;
    assert!(message_to(&bank, "+2348031000101").await["subject"].as_str().unwrap().contains("is to change"));
    let body = json!({"verificationId": updated.body["verifications"][0]["verificationId"], "verificationCode": code});
    ada.client.post("/v1/users/phone/confirm", &body).await.is(200);
    fund("+2348031000909").await.is(201);
    fund("+2348031000101").await.problem(422, "PHONE_NOT_YOURS");
    bank.close().await;
}

#[tokio::test]
async fn a_code_is_mailed_to_ones_own_mailbox_and_for_nobody_else() {
    let bank = Bank::configured(crate::support::thrifty()).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (own, foreign) =
        (crate::ratchet::people::id_of(&ada).await, crate::ratchet::people::id_of(&bola).await);
    let events = bank.events().await;
    let verify = |email: &str, user: &str| json!({"email": email, "userId": user});
    ada.client
        .post("/v1/users/email/verify", &verify("ada@example.com", &foreign))
        .await
        .problem(403, "NOT_YOURSELF");
    ada.client
        .post("/v1/users/email/verify", &verify("bola@example.com", &own))
        .await
        .problem(422, "EMAIL_MISMATCH");
    assert_eq!(bank.events().await, events);
    let sent = ada.client.post("/v1/users/email/verify", &verify("Ada@example.com", &own)).await.is(201);
    assert_eq!((sent.text_at("status"), sent.text_at("email")), ("SENT", "ada@example.com"));
    assert!(sent.body["expiresAt"].is_string() && sent.body["resendAvailable"].is_boolean());
    let body = json!({
        "verificationId": sent.body["verificationId"], "verificationCode": code_to(&bank, "ada@example.com").await,
    });
    bola.client.post("/v1/users/email/confirm", &body).await.problem(404, "NOT_FOUND");
    let confirmed = ada.client.post("/v1/users/email/confirm", &body).await.is(200);
    assert_eq!(confirmed.body["changed"], false);
    assert_eq!(profile(&ada.client).await.body["emailVerified"], true);
    for _ in 0..4 {
        ada.client.post("/v1/users/email/verify", &verify("ada@example.com", &own)).await.is(201);
    }
    ada.client
        .post("/v1/users/email/verify", &verify("ada@example.com", &own))
        .await
        .problem(429, "TOO_MANY_CODES");
    bank.close().await;
}
