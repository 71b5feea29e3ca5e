//! Erasing a person.

use bursar_commands::audit;
use bursar_domain::codec::Codec;
use bursar_domain::kernel::Permission::{AccountOps, PiiErase};
use bursar_domain::kernel::{midnight, utc_date};
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::json;

use super::{HERS, erase, everything, left, path, staff, texts, two};
use crate::ratchet::closing::opens;
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
    let chidi = bank.chidi().await.current;
    bola.client.at(address).pay(&bola.current, &chidi, 1, "follow").await.is(201);
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
async fn what_accounts_are_left_are_closed_once_nothing_is_in_them() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let her = bank.user("ada@example.com").await;
    let (maker, checker) = two(&bank).await;
    let (_, teller) = staff(&bank, "teller@example.com", &[AccountOps]).await;
    left(&bank, "ada@example.com", &bola).await;
    let closed = ["account.closed", "closure.cancelled", "mandate.cancelled", "user.erased"];
    let counts = async || join_all(closed.map(|name| bank.events_of(name))).await;
    let before = counts().await;
    // A standing instruction, an application that nobody has decided about, and an account that nobody may pay from.
    let tomorrow = bank.app.journal.sources().clock.now() + SignedDuration::from_hours(24);
    let order = json!({
        "amount": 1_000, "currency": "NGN", "frequency": "DAILY", "sourceAccount": ada.current,
        "startDate": midnight(utc_date(tomorrow)), "beneficiaryAccount": bola.current,
    });
    ada.client.post("/v1/mandates", &order).await.is(201);
    let close = json!({"closureReason": "Leaving", "acknowledgeTerms": true});
    ada.client.post(&format!("/v1/accounts/{}/close", ada.current), &close).await.is(201);
    erase(&maker, her).await.is(200);
    bola.client.pay(&bola.current, &ada.current, 1, "meanwhile").await.is(201);
    erase(&checker, her).await.problem(409, "ACCOUNT_NOT_EMPTY");
    assert_eq!(counts().await, before);
    ada.client.pay(&ada.current, &bola.current, 1, "back").await.is(201);
    let freeze = format!("/v1/staff/accounts/{}/freeze", ada.current);
    teller.post(&freeze, &json!({"reason": "Somebody else has her phone"})).await.is(200);
    erase(&checker, her).await.is(200);
    assert_eq!(counts().await, before.iter().map(|count| count + 1).collect::<Vec<_>>());
    bank.caught_up().await;
    // Nobody loses money in it.
    let refused = bola.client.pay(&bola.current, &ada.current, 1, "after").await;
    assert!(refused.problem(409, "INVALID_STATE").text.contains("CLOSED"));
    let waiting = teller.get("/v1/staff/account-closures?status=PENDING").await.is(200);
    assert!(!waiting.text.contains(&ada.current), "{}", waiting.text);
    bank.close().await;
}

#[tokio::test]
async fn what_an_account_has_earned_is_paid_before_it_is_closed() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let her = bank.user("ada@example.com").await;
    left(&bank, "ada@example.com", &bola).await;
    // An account that may be emptied, and bears interest until then.
    bola.client.pay(&bola.current, &ada.current, 5_000_000, "back").await.is(201);
    let pot = opens(&ada, "TSV-001", 5_000_000).await;
    bank.later(3 * 24 * 60 * 60).await;
    let empties = async |amount: i64| {
        let ada = bank.ada().await;
        ada.client.pay(&pot, &bola.current, amount, &format!("all of it: {amount}")).await.is(201);
    };
    empties(5_000_000).await;
    let agrees = async || {
        let (maker, checker) = two(&bank).await;
        erase(&maker, her).await;
        erase(&checker, her).await
    };
    agrees().await.problem(409, "ACCOUNT_NOT_EMPTY");
    // Until it is hers.
    bank.later(32 * 24 * 60 * 60).await;
    let earned = bank.ada().await.client.balance(&pot).await;
    assert!(earned > 0);
    empties(earned).await;
    assert_eq!(agrees().await.is(200).text_at("status"), "ERASED");
    bank.later(32 * 24 * 60 * 60).await;
    assert_eq!(bank.app.journal.ledger_account(&pot.as_str().into()).await.unwrap().unwrap().balance, 0);
    bank.close().await;
}

#[tokio::test]
async fn an_old_request_is_answered_without_the_name() {
    let bank = Bank::open().await;
    let bola = bank.bola().await;
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
    let session = bank.session(her, &[PiiErase]).await;
    let token = bank.token(her, session, &[PiiErase], 0);
    bank.client().with_token(&token).get("/v1/accounts").await.problem(401, "UNAUTHENTICATED");
    bank.caught_up().await;
    bank.close().await;
}
