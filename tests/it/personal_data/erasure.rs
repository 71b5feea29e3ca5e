//! Erasing a person.

use bursar_commands::audit;
use bursar_domain::codec::Codec;
use bursar_domain::kernel::Permission::{AccountOps, PiiErase};
use serde_json::json;

use super::{HERS, erase, everything, left, path, staff, texts, two};
use crate::support::client::transfer;
use crate::support::secrets::tables_with;
use crate::support::{Bank, rebuild, verify};

/// What others have written down about her.
const OTHERS: &str = "Ada Okafor";

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_whoever_was_erased() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let id = everything(&bank, &ada, &bola).await;
    for secret in HERS {
        // The control: it could be found before.
        assert!(!tables_with(&bank, secret).await.is_empty(), "{secret}");
    }
    assert!(!tables_with(&bank, OTHERS).await.is_empty());
    let her = bank.user("ada@example.com").await;
    left(&bank, "ada@example.com", &bola).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (maker, checker) = two(&bank).await;
    let balance = bola.client.balance(&bola.current).await;
    assert_eq!(erase(&maker, her).await.is(200).text_at("status"), "PENDING_APPROVAL");
    ada.client.get("/v1/accounts").await.is(200);
    assert_eq!(erase(&checker, her).await.is(200).text_at("status"), "ERASED");
    // At once: her sessions, her email address.
    ada.client.get("/v1/accounts").await.problem(401, "UNAUTHENTICATED");
    bank.client().try_session("ada@example.com", "late").await.problem(401, "INVALID_CREDENTIALS");
    bank.caught_up().await;
    for secret in HERS.into_iter().chain([OTHERS]) {
        assert_eq!(tables_with(&bank, secret).await, Vec::<String>::new(), "{secret}");
    }
    // What others see of her, and what is left of her own.
    let seen = bola.client.get("/v1/transactions").await.is(200);
    let (mut said, mut kept) = (Vec::new(), Vec::new());
    texts(&seen.body, &mut said);
    texts(&bola.client.get("/v1/payments/beneficiaries/internal").await.is(200).body, &mut kept);
    assert!(said.iter().any(|text| text == "[erased]") && kept.iter().any(|text| text == "[erased]"));
    assert!(said.contains(&id), "the payment is still there");
    assert_eq!(bola.client.balance(&bola.current).await, balance);
    // A rebuild shows what the tables show; the audit needs no key and finds every number; so does `close`.
    let names: Vec<&str> = bursar_projections::catalogue().iter().map(|entry| entry.name).collect();
    let reports = verify(&bank.pool, &names).await.unwrap();
    assert!(reports.iter().all(|report| report.differing == 0), "{reports:?}");
    let rebuilt = rebuild(&bank.pool, &names).await.unwrap();
    assert!(rebuilt.iter().all(|report| report.differing == 0));
    let report = audit::replay(&bank.pool, &Codec::default(), &mut |_, _| {}).await.unwrap();
    assert_eq!(report.difference, None);
    bank.caught_up().await;
    bank.close().await;
}

#[tokio::test]
async fn an_erasure_takes_two_members_of_staff() {
    let bank = Bank::open().await;
    let her = bank.user("ada@example.com").await;
    left(&bank, "ada@example.com", &bank.bola().await).await;
    let (maker, checker) = two(&bank).await;
    let (_, other) = staff(&bank, "teller@example.com", &[AccountOps]).await;
    erase(&other, her).await.problem(403, "PERMISSION_DENIED");
    let before = bank.events().await;
    let nobody = "usr_0192f0c1a00070008000000000000abc".parse().unwrap();
    erase(&maker, nobody).await.problem(404, "NOT_FOUND");
    maker.post(&path(her), &json!({})).await.is(400);
    assert_eq!(bank.events().await, before);
    let asked = erase(&maker, her).await.is(200);
    assert_eq!((asked.text_at("status"), asked.body["approvedBy"].is_null()), ("PENDING_APPROVAL", true));
    erase(&maker, her).await.problem(403, "APPROVER_IS_MAKER");
    let body = json!({"reason": "Asked for it in writing"});
    let done =
        checker.request(reqwest::Method::POST, &path(her)).key("agree").json(&body).send().await.is(200);
    assert_ne!(done.body["requestedBy"], done.body["approvedBy"]);
    assert_eq!(done.body["requestedBy"], asked.body["requestedBy"]);
    // The same request once more is told the same; another one is too late.
    let again =
        checker.request(reqwest::Method::POST, &path(her)).key("agree").json(&body).send().await.is(200);
    assert_eq!((again.header("idempotent-replayed"), again.text.as_str()), ("true", done.text.as_str()));
    assert_eq!(erase(&maker, her).await.problem(409, "INVALID_STATE").body["currentState"], "ERASED");
    bank.caught_up().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_is_seen_by_every_server_at_once() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let there = ada.client.at(address);
    // Both servers have her key and her token.
    let body = transfer(&ada.current, &bola.current, 100);
    let send = |n: usize| {
        there.request(reqwest::Method::POST, "/v1/payments/transfer/internal").key(&format!("t{n}"))
    };
    let mut named = body.clone();
    named["destinationName"] = json!("Funmilayo Canary");
    send(1).json(&named).send().await.is(201);
    let her = bank.user("ada@example.com").await;
    left(&bank, "ada@example.com", &bola).await;
    let (maker, checker) = two(&bank).await;
    erase(&maker, her).await.is(200);
    erase(&checker, her).await.is(200);
    // The other server has followed before it writes anything, and follows on its own within moments.
    bola.client.at(address).pay(&bola.current, &ada.current, 1, "follow").await.is(201);
    there.get("/v1/accounts").await.problem(401, "UNAUTHENTICATED");
    send(2).json(&named).send().await.problem(401, "UNAUTHENTICATED");
    // Nothing personal of hers is recorded any more, whoever asks.
    let tag = bursar_domain::tags::TagsCommand::Create(Box::new(bursar_domain::tags::Tag {
        id: "tag_0192f0c1a00070008000000000000abc".parse().unwrap(),
        name: bursar_domain::Personal::new("Canary tag".to_owned()),
        color: None,
        icon: None,
        description: None,
        is_default: false,
        is_active: true,
    }));
    for app in [&bank.app, &second] {
        let unit = bursar_commands::Unit::new(bursar_commands::Context::default()).step(her, tag.clone());
        let refused = app.journal.submit(unit).await.unwrap_err();
        assert!(
            matches!(&refused, bursar_commands::SubmitError::Refused(r) if r.code() == "SUBJECT_ERASED"),
            "{refused}"
        );
    }
    let key: (Option<Vec<u8>>, bool) =
        sqlx::query_as("SELECT wrapped, erased_at IS NOT NULL FROM data_keys WHERE subject = $1")
            .bind(her.to_string())
            .fetch_one(&bank.pool)
            .await
            .unwrap();
    assert_eq!(key, (None, true));
    // Until they have followed, the read models still show her.
    bank.caught_up().await;
    second.close().await;
    bank.caught_up().await;
    bank.close().await;
}

#[tokio::test]
async fn an_old_request_is_answered_without_the_name() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let her = bank.user("ada@example.com").await;
    let (maker, checker) = two(&bank).await;
    let registered = bank.registered("again").await;
    left(&bank, "ada@example.com", &bola).await;
    erase(&maker, her).await.is(200);
    erase(&checker, her).await.is(200);
    let user = bank.app.journal.load::<bursar_domain::users::User>(&her.to_string()).await.unwrap().0;
    assert_eq!(user, bursar_domain::users::User::Erased);
    // Her address is free: somebody else may have it, and it is them whom it names.
    let theirs = bank.registered("ada").await;
    assert_eq!(bank.user("ada@example.com").await, theirs);
    assert!(theirs != her && registered != her);
    // Money goes to her account as before.
    bola.client.pay(&bola.current, &ada.current, 1, "after").await.is(201);
    let session = bank.session(her, &[PiiErase]).await;
    let token = bank.token(her, session, &[PiiErase], 0);
    bank.client().with_token(&token).get("/v1/accounts").await.problem(401, "UNAUTHENTICATED");
    bank.caught_up().await;
    bank.close().await;
}
