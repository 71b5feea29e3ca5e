//! Cards of the bank's own: on their way, activated by staff, and no way to bring money from elsewhere.

use bursar_domain::cards::CardNumber;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{DAILY, MONTHLY, fund, link, read, remove};
use crate::support::client::Answer;
use crate::support::secrets::tables_with;
use crate::support::{Bank, Person};

const INTERNAL: &str = "/v1/cards/internal";

fn virtual_card(account: &str) -> Value {
    json!({"cardType": "VIRTUAL", "linkedAccount": account})
}

fn physical(account: &str) -> Value {
    let address = json!({"streetAddress": "12 Broad Street", "city": "Lagos", "country": "Nigeria"});
    json!({
        "cardType": "PHYSICAL", "cardBrand": "Verve", "linkedAccount": account, "cardHolderName": "ADA OKAFOR",
        "deliveryAddress": address, "isDefault": true, "dailyLimit": 500_000, "monthlyLimit": 2_000_000,
    })
}

async fn ask(person: &Person, body: &Value) -> Answer {
    person.client.post(INTERNAL, body).await
}

async fn activate(bank: &Bank, card: &str) -> Answer {
    // What the holder has done is not waited for.
    bank.caught_up().await;
    let path = format!("/v1/staff/cards/{card}/activate");
    bank.teller().await.client.post(&path, &json!({"note": "Fetched at the till"})).await
}

#[tokio::test]
async fn an_activation_is_answered_as_then_also_when_the_card_was_removed_in_between() {
    let bank = Bank::open().await;
    let (ada, teller) = (bank.ada().await, bank.teller().await.client);
    let id = ask(&ada, &physical(&ada.current)).await.is(201).text_at("cardId").to_owned();
    let path = format!("/v1/staff/cards/{id}/activate");
    let first = teller.post_with_key(&path, "fetched", &json!({})).await.is(200);
    remove(&ada, &id).await.is(200);
    let late = teller.post_with_key(&path, "fetched", &json!({})).await.is(200);
    assert_eq!((late.header("idempotent-replayed"), &late.text), ("true", &first.text));
    teller.post_with_key(&path, "again", &json!({})).await.problem(404, "NOT_FOUND");
    bank.close().await;
}

#[tokio::test]
async fn a_card_is_asked_for_activated_and_shows_the_account_it_spends() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let asked = ask(&ada, &physical(&ada.current)).await.is(201);
    let id = asked.text_at("cardId").to_owned();
    assert_eq!(asked.header("location"), format!("/v1/cards/{id}"));
    for (member, value) in [
        ("status", json!("SUCCESS")),
        ("cardType", json!("PHYSICAL")),
        ("cardBrand", json!("VERVE")),
        ("cardStatus", json!("PENDING")),
        ("dailyLimit", json!(500_000)),
        ("monthlyLimit", json!(2_000_000)),
    ] {
        assert_eq!(asked.body[member], value, "{member}");
    }
    assert!(asked.text_at("requestId").starts_with("crq_"));
    let requested: jiff::Timestamp = asked.text_at("requestedAt").parse().unwrap();
    let day = requested.to_zoned(jiff::tz::TimeZone::UTC).date();
    assert_eq!(
        asked.text_at("estimatedDeliveryDate"),
        day.saturating_add(jiff::Span::new().days(7)).to_string()
    );
    let pending = read(&ada, &id).await.is(200);
    assert_eq!((&pending.body["cardStatus"], &pending.body["isDefault"]), (&json!("PENDING"), &json!(false)));

    // Nothing but to be removed can become of it before staff say so.
    let hotlist = format!("/v1/cards/{id}/hotlist");
    ada.client.post(&hotlist, &json!({"action": "BLOCK"})).await.problem(409, "INVALID_STATE");
    ada.client
        .post(&format!("/v1/staff/cards/{id}/activate"), &json!({}))
        .await
        .problem(403, "PERMISSION_DENIED");
    let active = activate(&bank, &id).await.is(200);
    assert_eq!((&active.body["cardId"], &active.body["cardStatus"]), (&json!(id), &json!("ACTIVE")));
    assert_eq!(activate(&bank, &id).await.problem(409, "INVALID_STATE").body["currentState"], "ACTIVE");
    activate(&bank, "card_0192f0c1a00070008000000000000abc").await.problem(404, "NOT_FOUND");
    let linked = link(&ada, "4111111111111111").await;
    activate(&bank, &linked).await.problem(409, "INVALID_STATE");

    let details = read(&ada, &id).await.is(200);
    let balance = ada.client.get(&format!("/v1/accounts/{}/balance", ada.current)).await.is(200);
    for (member, value) in [
        ("cardStatus", json!("ACTIVE")),
        ("cardType", json!("DEBIT")),
        ("cardForm", json!("PHYSICAL")),
        ("isDefault", json!(true)),
        ("linkedAccount", json!(ada.current)),
        ("currentBalance", balance.body["ledgerBalance"].clone()),
        ("availableBalance", balance.body["availableBalance"].clone()),
        ("cardHolderName", json!("ADA OKAFOR")),
        ("issuingBank", json!("Bursar Demo Bank")),
        ("cardFeatures", json!(["CONTACTLESS", "ONLINE_PAYMENTS", "ATM_WITHDRAWALS"])),
        ("cvv", json!("***")),
    ] {
        assert_eq!(details.body[member], value, "{member}");
    }
    // Ada is told.
    bank.caught_up().await;
    let told = ada.client.get("/v1/users/messages").await.is(200);
    assert!(told.text.contains("Card activated"), "{}", told.text);
    // It spends an account here: there is nothing to bring from it.
    fund(&ada, &id, 100).await.problem(422, "OWN_CARD");
    ada.client
        .post(&hotlist, &json!({"action": "BLOCK", "temporary": true, "duration": "PT1H"}))
        .await
        .is(200);
    bank.later(3_601).await;
    let ada = bank.ada().await;
    bank.caught_up().await;
    assert_eq!(read(&ada, &id).await.is(200).body["cardStatus"], "ACTIVE");
    remove(&ada, &id).await.is(200);
    activate(&bank, &id).await.problem(404, "NOT_FOUND");
    bank.close().await;
}

#[tokio::test]
async fn the_bank_says_what_it_issues_and_how_much_may_be_spent() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let with = |member: &str, value: Value| {
        let mut body = virtual_card(&ada.current);
        body[member] = value;
        body
    };
    ask(&ada, &with("cardBrand", json!("AMEX"))).await.problem(422, "CARD_NOT_OFFERED");
    for (limit, allowed) in [("dailyLimit", DAILY), ("monthlyLimit", MONTHLY)] {
        let refused = ask(&ada, &with(limit, json!(allowed + 1))).await.problem(422, "LIMIT_TOO_HIGH");
        assert_eq!((&refused.body["limit"], &refused.body["allowed"]), (&json!(limit), &json!(allowed)));
        ask(&ada, &with(limit, json!(-1))).await.problem(400, "VALIDATION_FAILED");
    }
    let sent = ask(&ada, &with("cardType", json!("PHYSICAL"))).await.problem(400, "VALIDATION_FAILED");
    assert_eq!(sent.pointers(), ["/deliveryAddress"]);
    // Somebody else's account is none.
    ask(&ada, &virtual_card(&bola.current)).await.problem(404, "NOT_FOUND");
    assert_eq!(bank.events_of("card.requested").await, 0);
    let asked = ask(&ada, &virtual_card(&ada.current)).await.is(201);
    assert_eq!((asked.number_at("dailyLimit"), asked.number_at("monthlyLimit")), (DAILY, MONTHLY));
    bank.close().await;
}

#[tokio::test]
async fn one_card_is_the_default_whoever_issued_it() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let body =
        json!({"cardNumber": "4111111111111111", "expiryDate": "12/60", "cvv": "123", "isDefault": true});
    let linked = ada.client.post("/v1/cards/external", &body).await.is(201).text_at("cardId").to_owned();
    let own = ask(&ada, &physical(&ada.current)).await.is(201).text_at("cardId").to_owned();
    // A card that is on its way is no default.
    assert_eq!(read(&ada, &linked).await.body["isDefault"], true);
    activate(&bank, &own).await.is(200);
    bank.caught_up().await;
    assert_eq!(read(&ada, &own).await.body["isDefault"], true);
    assert_eq!(read(&ada, &linked).await.body["isDefault"], false);
    bank.close().await;
}

#[tokio::test]
async fn the_number_of_a_card_is_kept_nowhere_and_no_two_have_the_same() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let body = virtual_card(&ada.current);
    let answers = join_all((0..20).map(|_| ask(&ada, &body))).await;
    let mut numbers = Vec::new();
    for answer in answers {
        let asked = answer.is(201);
        let id = asked.text_at("cardId").parse().unwrap();
        let number = CardNumber::issue("506198", bank.app.keys.card_serial(id)).unwrap();
        assert!(asked.text_at("cardNumber").ends_with(number.last_four()));
        assert!(tables_with(&bank, number.digits()).await.is_empty());
        numbers.push(number.digits().to_owned());
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 20);
    assert!(!tables_with(&bank, "506198").await.is_empty(), "it is looked for where it would be");
    // Nor the street that it is sent to, but sealed.
    ask(&ada, &physical(&ada.current)).await.is(201);
    assert!(tables_with(&bank, "12 Broad Street").await.is_empty());
    bank.close().await;
}
