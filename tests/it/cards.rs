//! Cards of other banks: linked, listed, removed, and money brought from them. The bank's own: asked for, and activated.

mod hotlist;
mod own;

use bursar_api::config::Config;
use futures_util::future::join_all;
use jiff::SignedDuration;
use serde_json::{Value, json};

use crate::support::client::Answer;
use crate::support::secrets::tables_with;
use crate::support::{Bank, Person, config};

const EXTERNAL: &str = "/v1/cards/external";
const FUND: &str = "/v1/payments/fund/via/card";
const VISA: &str = "4111111111111111";
/// What a card may be charged a day and a month, unless the bank says otherwise.
const DAILY: i64 = 20_000_000;
const MONTHLY: i64 = 200_000_000;

fn card(number: &str) -> Value {
    json!({
        "cardNumber": number, "expiryDate": "12/60", "cvv": "123", "cardHolderName": "ADA OKAFOR",
        "cardType": "CREDIT", "cardBrand": "whatever", "issuingBank": "GTBank", "isDefault": false,
    })
}

async fn link(person: &Person, number: &str) -> String {
    person.client.post(EXTERNAL, &card(number)).await.is(201).text_at("cardId").to_owned()
}

fn funding(person: &Person, card: &str, amount: i64) -> Value {
    json!({
        "cardId": card, "destinationAccount": person.current, "amount": amount, "currency": "NGN",
        "narration": "Top up", "reference": "TOPUP",
    })
}

async fn fund(person: &Person, card: &str, amount: i64) -> Answer {
    person.client.post(FUND, &funding(person, card, amount)).await
}

async fn read(person: &Person, card: &str) -> Answer {
    person.client.get(&format!("/v1/cards/{card}")).await
}

async fn remove(person: &Person, card: &str) -> Answer {
    person.client.delete(&format!("/v1/cards/{card}")).await
}

/// Ledger and available balance.
async fn balances(person: &Person) -> (i64, i64) {
    let answer = person.client.get(&format!("/v1/accounts/{}/balance", person.current)).await.is(200);
    (answer.number_at("ledgerBalance"), answer.number_at("availableBalance"))
}

#[tokio::test]
async fn a_card_is_linked_listed_read_and_removed() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let linked = ada.client.post(EXTERNAL, &card("4111 1111 1111 1111")).await.is(201);
    let id = linked.text_at("cardId").to_owned();
    assert_eq!(linked.header("location"), format!("/v1/cards/{id}"));
    let expected = json!({
        "status": "SUCCESS", "cardId": id, "cardNumber": "**** **** **** 1111", "cardType": "CREDIT",
        "cardBrand": "VISA", "cardStatus": "ACTIVE", "expiryDate": "12/60", "isDefault": false,
        "linkedAt": linked.body["linkedAt"], "message": "Card linked",
    });
    assert_eq!(linked.body, expected);
    let details = read(&ada, &id).await.is(200);
    for (member, value) in [
        ("cvv", json!("***")),
        ("cardHolderName", json!("ADA OKAFOR")),
        ("issuingBank", json!("GTBank")),
        ("linkedAccount", Value::Null),
        ("dailyLimit", json!(DAILY)),
        ("monthlyLimit", json!(MONTHLY)),
        ("lastTransactionDate", Value::Null),
        ("cardFeatures", json!(["ONLINE_PAYMENTS"])),
    ] {
        assert_eq!(details.body[member], value, "{member}");
    }
    let tag = details.header("etag").to_owned();
    let same = ada.client.request(reqwest::Method::GET, &format!("/v1/cards/{id}"));
    same.header("If-None-Match", &tag).send().await.is(304);
    let second = link(&ada, "5555555555554444").await;
    let list = ada.client.get("/v1/cards").await.is(200);
    let listed: Vec<_> = list.list_at("cards").iter().map(|card| card["cardId"].as_str().unwrap()).collect();
    assert_eq!(listed, [&*second, &*id]);
    assert_eq!(list.list_at("cards")[0]["cardBrand"], "MASTERCARD");
    let removed = remove(&ada, &id).await.is(200);
    assert_eq!((&removed.body["status"], &removed.body["cardId"]), (&json!("SUCCESS"), &json!(id)));
    assert!(removed.body["removedAt"].is_string());
    let gone = remove(&ada, &id).await.problem(404, "NOT_FOUND");
    assert_eq!(gone.body["detail"], read(&ada, &id).await.problem(404, "NOT_FOUND").body["detail"]);
    assert_eq!(ada.client.get("/v1/cards").await.is(200).body["pagination"]["total"], 1);
    bank.close().await;
}

#[tokio::test]
async fn what_is_printed_on_a_card_must_fit_together() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let events = bank.events().await;
    let with = |member: &str, value: &str| {
        let mut body = card(VISA);
        body[member] = json!(value);
        body
    };
    for (wrong, pointer) in [
        (with("cardNumber", "4111111111111112"), "/cardNumber"),
        (with("cardNumber", "41111111111114"), "/cardNumber"),
        (with("cardNumber", "4111-1111-1111-111a"), "/cardNumber"),
        (with("expiryDate", "13/30"), "/expiryDate"),
        (with("expiryDate", "2030-12"), "/expiryDate"),
        (with("cvv", "12"), "/cvv"),
        (with("cvv", "1234"), "/cvv"),
        (with("cvv", "12x"), "/cvv"),
        // American Express prints four digits.
        (with("cardNumber", "378282246310005"), "/cvv"),
        (with("cardType", "GOLD"), "/cardType"),
    ] {
        let answer = ada.client.post(EXTERNAL, &wrong).await;
        assert_eq!(answer.pointers(), [pointer], "{wrong}");
        // A trace id may hold any digits.
        let said = answer.text.replace(answer.text_at("traceId"), "");
        assert!(!said.contains("41111111") && !said.contains("1234"), "{said}");
    }
    let empty = ada.client.post(EXTERNAL, &json!({})).await;
    assert_eq!(empty.pointers(), ["/cardNumber", "/expiryDate", "/cvv"]);
    let nobodys = ada.client.post(EXTERNAL, &with("cardNumber", "9999999999999995")).await;
    nobodys.problem(422, "CARD_NOT_SUPPORTED");
    let old = ada.client.post(EXTERNAL, &with("expiryDate", "01/20")).await.problem(422, "CARD_EXPIRED");
    assert_eq!(old.body["expiryDate"], "01/20");
    assert_eq!(bank.events().await, events);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_links_a_card_once_whichever_server_they_ask() {
    let bank = Bank::open().await;
    let (_, second) = bank.second().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let body = card(VISA);
    let answers = join_all((0..20).map(|n| {
        let client = if n % 2 == 0 { ada.client.clone() } else { ada.client.at(second) };
        let body = &body;
        async move { client.post(EXTERNAL, body).await }
    }))
    .await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    for refused in answers.into_iter().filter(|answer| answer.status != 201) {
        refused.problem(409, "CARD_EXISTS");
    }
    ada.client.post(EXTERNAL, &card("4111-1111-1111-1111")).await.problem(409, "CARD_EXISTS");
    assert_eq!(bank.events_of("card.linked").await, 1);
    // Somebody else may hold it too.
    link(&bola, VISA).await;
    bank.close().await;
}

#[tokio::test]
async fn a_repeated_key_links_once_also_when_the_card_was_removed_in_between() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let first = ada.client.post_with_key(EXTERNAL, "link-1", &card(VISA)).await.is(201);
    let again = ada.client.post_with_key(EXTERNAL, "link-1", &card(VISA)).await.is(201);
    assert_eq!((again.header("idempotent-replayed"), &again.text), ("true", &first.text));
    remove(&ada, first.text_at("cardId")).await.is(200);
    let late = ada.client.post_with_key(EXTERNAL, "link-1", &card(VISA)).await.is(201);
    assert_eq!((late.header("idempotent-replayed"), &late.text), ("true", &first.text));
    read(&ada, first.text_at("cardId")).await.problem(404, "NOT_FOUND");
    let other = card("4242424242424242");
    ada.client.post_with_key(EXTERNAL, "link-1", &other).await.problem(422, "IDEMPOTENCY_KEY_REUSED");
    bank.close().await;
}

#[tokio::test]
async fn three_cards_are_linked_in_a_day_also_when_they_are_removed_in_between() {
    let mut config = config();
    config.cards.links_a_day = Config::default().cards.links_a_day;
    let bank = Bank::configured(config.clone()).await;
    let (_, elsewhere) = bank.second_configured(config).await;
    let ada = bank.ada().await;
    let numbers = [VISA, "5555555555554444", "4012888888881881", "5105105105105100"];
    let link = async |number: &str, key: &str| ada.client.post_with_key(EXTERNAL, key, &card(number)).await;
    for (number, key) in numbers.iter().zip(["one", "two", "three"]) {
        let linked = link(number, key).await.is(201);
        if key != "three" {
            // What is linked already takes nobody's place.
            link(number, "again").await.problem(409, "CARD_EXISTS");
        }
        remove(&ada, linked.text_at("cardId")).await.is(200);
    }
    let events = bank.events().await;
    let refused = link(numbers[3], "four").await.problem(429, "TOO_MANY_CARDS");
    assert_eq!(refused.body["limit"], 3);
    assert!((1..=86_400).contains(&refused.header("retry-after").parse::<i64>().unwrap()));
    link(numbers[0], "five").await.problem(429, "TOO_MANY_CARDS");
    // A repeat is told what it was told, and somebody else has a day of their own.
    link(numbers[0], "one").await.is(201);
    assert_eq!(bank.events().await, events);
    bank.bola().await.client.post(EXTERNAL, &card(VISA)).await.is(201);
    bank.advance(SignedDuration::from_hours(24));
    let ada = bank.ada().await;
    // At two servers at once no more get through.
    let there = ada.client.at(elsewhere);
    let all = join_all(
        numbers
            .iter()
            .zip([&there, &ada.client, &there, &ada.client])
            .map(async |(number, client)| client.post(EXTERNAL, &card(number)).await.status),
    );
    let mut statuses = all.await;
    statuses.sort_unstable();
    assert_eq!(statuses, [201, 201, 201, 429]);
    bank.close().await;
}

#[tokio::test]
async fn the_default_is_the_card_that_was_last_made_it() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let make_default = async |person: &Person, number: &str| {
        let mut body = card(number);
        body["isDefault"] = json!(true);
        person.client.post(EXTERNAL, &body).await.is(201).text_at("cardId").to_owned()
    };
    let first = make_default(&ada, VISA).await;
    let bolas = make_default(&bola, VISA).await;
    let second = make_default(&ada, "4242424242424242").await;
    link(&ada, "5555555555554444").await;
    let list = ada.client.get("/v1/cards").await.is(200);
    let defaults: Vec<_> = list.list_at("cards").iter().filter(|card| card["isDefault"] == true).collect();
    assert_eq!(defaults.len(), 1);
    assert_eq!(defaults[0]["cardId"], second.as_str());
    assert_eq!(read(&ada, &first).await.body["isDefault"], false);
    assert_eq!(read(&bola, &bolas).await.body["isDefault"], true);
    bank.close().await;
}

#[tokio::test]
async fn money_from_a_card_is_there_and_cannot_be_spent_until_it_has_arrived() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let id = link(&ada, VISA).await;
    let (before, available) = balances(&ada).await;
    let funded = ada.client.post_with_key(FUND, "top-up", &funding(&ada, &id, 3_000)).await.is(201);
    let again = ada.client.post_with_key(FUND, "top-up", &funding(&ada, &id, 3_000)).await.is(201);
    assert_eq!((again.header("idempotent-replayed"), &again.text), ("true", &funded.text));
    for (member, value) in [
        ("status", json!("SUCCESS")),
        ("cardId", json!(id)),
        ("cardNumber", json!("**** **** **** 1111")),
        ("destinationAccount", json!(ada.current)),
        ("amount", json!(3_000)),
        ("currency", json!("NGN")),
        ("narration", json!("Top up")),
        ("reference", json!("TOPUP")),
    ] {
        assert_eq!(funded.body[member], value, "{member}");
    }
    assert_eq!(balances(&ada).await, (before + 3_000, available));
    assert_eq!(bank.internal("settlement.cards").await, -3_000);
    assert!(read(&ada, &id).await.body["lastTransactionDate"].is_string());
    // It arrives, even when the card is the customer's no more.
    remove(&ada, &id).await.is(200);
    bank.later(61).await;
    assert_eq!(balances(&ada).await, (before + 3_000, available + 3_000));
    assert_eq!((bank.internal("settlement.cards").await, bank.events_of("payment.settled").await), (0, 1));
    bank.close().await;
}

#[tokio::test]
async fn only_a_good_card_of_ones_own_pays() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let id = link(&ada, VISA).await;
    let mut short_lived = card("4242424242424242");
    let next_month = bank.app.journal.sources().clock.now().to_zoned(jiff::tz::TimeZone::UTC).date();
    short_lived["expiryDate"] = json!(next_month.strftime("%m/%y").to_string());
    let short = ada.client.post(EXTERNAL, &short_lived).await.is(201).text_at("cardId").to_owned();
    let events = bank.events().await;
    let unknown = fund(&ada, "card_0192f0c1a00070008000000000000abc", 100).await.problem(404, "NOT_FOUND");
    let strangers = fund(&bola, &id, 100).await.problem(404, "NOT_FOUND");
    assert_eq!(strangers.body["detail"], unknown.body["detail"]);
    let mut body = funding(&ada, &id, 100);
    body["destinationAccount"] = json!(bola.current);
    ada.client.post(FUND, &body).await.problem(404, "NOT_FOUND");
    let mut dollars = funding(&ada, &id, 100);
    dollars["currency"] = json!("USD");
    ada.client.post(FUND, &dollars).await.problem(422, "CURRENCY_MISMATCH");
    fund(&ada, &id, 0).await.problem(400, "VALIDATION_FAILED");
    assert_eq!(bank.events().await, events);
    fund(&ada, &short, 100).await.is(201);
    bank.advance(SignedDuration::from_hours(32 * 24));
    let ada = bank.ada().await;
    let expired = fund(&ada, &short, 100).await.problem(422, "CARD_EXPIRED");
    assert_eq!(expired.body["expiryDate"], short_lived["expiryDate"]);
    let list = ada.client.get("/v1/cards?status=EXPIRED").await.is(200);
    assert_eq!(list.list_at("cards").len(), 1);
    assert_eq!(list.list_at("cards")[0]["cardStatus"], "EXPIRED");
    assert_eq!(ada.client.get("/v1/cards?status=ACTIVE").await.is(200).list_at("cards").len(), 1);
    remove(&ada, &id).await.is(200);
    fund(&ada, &id, 100).await.problem(404, "NOT_FOUND");
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn twenty_fundings_race_for_a_limit_that_covers_five() {
    let bank = Bank::open().await;
    let (_, second) = bank.second().await;
    let ada = bank.ada().await;
    let id = link(&ada, VISA).await;
    let (before, available) = balances(&ada).await;
    let body = funding(&ada, &id, DAILY / 5);
    let answers = join_all((0..20).map(|n| {
        let client = if n % 2 == 0 { ada.client.clone() } else { ada.client.at(second) };
        let body = &body;
        async move { client.post(FUND, body).await }
    }))
    .await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 5);
    for refused in answers.into_iter().filter(|answer| answer.status != 201) {
        let refused = refused.problem(422, "LIMIT_EXCEEDED");
        assert_eq!((&refused.body["limit"], &refused.body["allowed"]), (&json!("dailyLimit"), &json!(DAILY)));
        assert_eq!(refused.body["remaining"], 0);
    }
    bank.caught_up().await;
    assert_eq!(balances(&ada).await, (before + DAILY, available));
    assert_eq!(bank.internal("settlement.cards").await, -DAILY);
    // Another card of hers has limits of its own.
    let other = link(&ada, "4242424242424242").await;
    fund(&ada, &other, 1).await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn removing_and_linking_a_card_does_not_renew_its_limit_and_a_day_does() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let id = link(&ada, VISA).await;
    fund(&ada, &id, DAILY - 10).await.is(201);
    remove(&ada, &id).await.is(200);
    assert_eq!(link(&ada, VISA).await, id);
    let refused = fund(&ada, &id, 11).await.problem(422, "LIMIT_EXCEEDED");
    assert_eq!((&refused.body["limit"], &refused.body["remaining"]), (&json!("dailyLimit"), &json!(10)));
    bank.advance(SignedDuration::from_hours(24));
    fund(&bank.ada().await, &id, 11).await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn the_month_has_a_limit_of_its_own() {
    let mut config = crate::support::config();
    (config.cards.daily_limit, config.cards.monthly_limit) = (1_000, 1_200);
    let bank = Bank::configured(config).await;
    let ada = bank.ada().await;
    let id = link(&ada, VISA).await;
    // The second of a month, so that the day after it is in the same month.
    let today = bank.app.journal.sources().clock.now().to_zoned(jiff::tz::TimeZone::UTC).date();
    let start = today.last_of_month().day() - today.day() + 2;
    bank.advance(SignedDuration::from_hours(24 * i64::from(start)));
    fund(&bank.ada().await, &id, 1_000).await.is(201);
    bank.advance(SignedDuration::from_hours(24));
    let ada = bank.ada().await;
    let refused = fund(&ada, &id, 201).await.problem(422, "LIMIT_EXCEEDED");
    let members = ["limit", "allowed", "remaining"].map(|member| refused.body[member].clone());
    assert_eq!(members, [json!("monthlyLimit"), json!(1_200), json!(200)]);
    fund(&ada, &id, 200).await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn money_that_does_not_arrive_goes_back_and_the_limit_with_it() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let (before, available) = balances(&ada).await;
    for (number, seconds) in [("4000000000010001", 1), ("4000000000000002", 61)] {
        let ada = bank.ada().await;
        let id = link(&ada, number).await;
        let funded = fund(&ada, &id, DAILY).await.is(201);
        // What comes back within a second may be back already.
        if seconds > 1 {
            assert_eq!(balances(&ada).await, (before + DAILY, available), "{number}");
            fund(&ada, &id, 1).await.problem(422, "LIMIT_EXCEEDED");
        }
        bank.later(seconds).await;
        let ada = bank.ada().await;
        assert_eq!(balances(&ada).await, (before, available), "{number}");
        assert_eq!(bank.internal("settlement.cards").await, 0);
        let told = bank.client().get("/v1/sandbox/messages?to=ada@example.com").await.is(200);
        assert_eq!(told.list_at("messages")[0]["data"]["transactionId"], funded.body["transactionId"]);
        // Given back once, however often the rail is asked.
        bank.later(100).await;
        fund(&ada, &id, DAILY).await.is(201);
        bank.later(100).await;
    }
    assert_eq!(bank.events_of("card.charge_returned").await, 4);
    bank.close().await;
}

#[tokio::test]
async fn no_number_and_no_security_code_is_in_any_table_or_answer() {
    let (number, cvv) = ("371449635398431", "7319");
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let mut body = card("3714 496353 98431");
    body["cvv"] = json!(cvv);
    body["expiryDate"] = json!("01/20");
    let mut answers = vec![ada.client.post_with_key(EXTERNAL, "canary-1", &body).await.is(422)];
    body["expiryDate"] = json!("12/60");
    let linked = ada.client.post_with_key(EXTERNAL, "canary-2", &body).await.is(201);
    let id = linked.text_at("cardId").to_owned();
    answers.push(linked);
    body["cardNumber"] = json!(number);
    for (member, wrong) in
        [("nothing", json!(0)), ("cvv", json!("73190")), ("cardNumber", json!("371449635398432"))]
    {
        let mut body = body.clone();
        body[member] = wrong;
        answers.push(ada.client.post_with_key(EXTERNAL, "canary-3", &body).await);
    }
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [422, 201, 409, 400, 400]);
    answers.push(read(&ada, &id).await.is(200));
    answers.push(ada.client.get("/v1/cards").await.is(200));
    answers.push(fund(&ada, &id, 100).await.is(201));
    bank.later(61).await;
    answers.push(remove(&ada, &id).await.is(200));
    // The search finds what may be there: where the number begins and ends.
    assert_eq!(tables_with(&bank, "\"371449\"").await, ["journal.events"]);
    assert_eq!(tables_with(&bank, "8431").await.first().map(String::as_str), Some("journal.events"));
    for secret in [number, "3714 496353 98431", "371449635", "635398431", "49635398", "\"7319\"", "\"cvv"] {
        assert_eq!(tables_with(&bank, secret).await, [""; 0], "{secret}");
        for answer in answers.iter().filter(|answer| answer.status < 300 || secret != "\"cvv") {
            // The read shows a member of that name, with stars in it.
            let shown = answer.text.replace("\"cvv\":\"***\"", "");
            assert!(!shown.contains(secret), "{secret}: {}", answer.text);
        }
    }
    bank.close().await;
}
