//! What people call transactions by.

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::client::Answer;
use crate::support::{Bank, Person};

const TAGS: &str = "/v1/transactions/tags";
const UNKNOWN: &str = "tag_0192f0c1a00070008000000000000abc";

async fn create(person: &Person, name: &str) -> String {
    let made = person.client.post(TAGS, &json!({"tagName": name})).await.is(201);
    made.text_at("tagId").to_owned()
}

async fn pay(from: &Person, to: &Person, key: &str) -> String {
    let paid = from.client.pay(&from.current, &to.current, 100, key).await.is(201);
    paid.text_at("transactionId").to_owned()
}

async fn place(person: &Person, transaction: &str, tags: &[&str]) -> Answer {
    person.client.post(&format!("/v1/transactions/{transaction}/tag"), &json!({"tagIds": tags})).await
}

/// Names and counts, by name.
async fn counts(person: &Person) -> Vec<(String, i64)> {
    let listed = person.client.get(&format!("{TAGS}?sort=tagName")).await.is(200);
    let count = |tag: &Value| {
        (tag["tagName"].as_str().unwrap().to_owned(), tag["transactionCount"].as_i64().unwrap())
    };
    listed.list_at("tags").iter().map(count).collect()
}

/// The names on a transaction, as somebody sees them.
async fn on(person: &Person, transaction: &str) -> Vec<String> {
    let read = person.client.get(&format!("/v1/transactions/{transaction}")).await.is(200);
    read.list_at("tags").iter().map(|tag| tag["tagName"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_tag_is_made_listed_changed_and_removed() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let body = json!({
        "tagName": "  Food  ", "tagColor": "#FF8800", "tagIcon": "🍲", "description": "Eating out", "isDefault": true,
    });
    let made = ada.client.post(TAGS, &body).await.is(201);
    let id = made.text_at("tagId");
    assert_eq!(made.header("location"), format!("{TAGS}/{id}"));
    assert_eq!((&made.body["status"], &made.body["tagName"]), (&json!("SUCCESS"), &json!("Food")));
    let listed = ada.client.get(TAGS).await.is(200);
    let expected = json!({
        "tagId": id, "tagName": "Food", "tagColor": "#FF8800", "tagIcon": "🍲", "description": "Eating out",
        "isDefault": true, "isActive": true, "transactionCount": 0, "createdAt": made.body["createdAt"],
    });
    assert_eq!(listed.list_at("tags"), [expected]);
    assert_eq!(bola.client.get(TAGS).await.is(200).list_at("tags").len(), 0);

    // Only what is there changes.
    let path = format!("{TAGS}/{id}");
    let changed = ada.client.put(&path, &json!({"tagColor": "orange", "isActive": false})).await.is(200);
    assert_eq!((&changed.body["tagName"], &changed.body["isActive"]), (&json!("Food"), &json!(false)));
    let listed = ada.client.get(&format!("{TAGS}?isActive=false&q=EATING")).await.is(200);
    assert_eq!(listed.list_at("tags")[0]["tagColor"], "orange");
    assert_eq!(listed.list_at("tags")[0]["isDefault"], true);

    bola.client.put(&path, &json!({"tagName": "Mine"})).await.problem(404, "NOT_FOUND");
    bola.client.delete(&path).await.problem(404, "NOT_FOUND");
    let removed = ada.client.delete(&path).await.is(200);
    assert_eq!(
        (&removed.body["tagName"], &removed.body["affectedTransactions"]),
        (&json!("Food"), &json!(0))
    );
    ada.client.delete(&path).await.problem(404, "NOT_FOUND");
    assert_eq!(ada.client.get(TAGS).await.is(200).list_at("tags").len(), 0);
    bank.close().await;
}

#[tokio::test]
async fn a_name_is_somebodys_once_whatever_its_case() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (food, fun) = (create(&ada, "Äpfel").await, create(&ada, "Fun").await);
    let taken = ada.client.post(TAGS, &json!({"tagName": " äPFEL "})).await.problem(409, "TAG_EXISTS");
    assert_eq!(taken.body["tagId"], food);
    let renamed = ada.client.put(&format!("{TAGS}/{fun}"), &json!({"tagName": "äpfel"})).await;
    renamed.problem(409, "TAG_EXISTS");
    // Its own name in other letters, somebody else's name, and a name that is free again.
    ada.client.put(&format!("{TAGS}/{food}"), &json!({"tagName": "ÄPFEL"})).await.is(200);
    create(&bola, "Fun").await;
    ada.client.delete(&format!("{TAGS}/{fun}")).await.is(200);
    create(&ada, "fun").await;

    for (field, wrong) in [
        ("tagName", json!("   ")),
        ("tagName", json!("x".repeat(51))),
        ("tagName", json!("a\u{0}b")),
        ("tagColor", json!("red;background:url(//evil)")),
        ("tagColor", json!("#12345")),
    ] {
        let mut body = json!({"tagName": "Other"});
        body[field] = wrong;
        assert_eq!(ada.client.post(TAGS, &body).await.pointers(), [format!("/{field}")], "{body}");
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_those_who_race_for_a_name_one_gets_it() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let ada = bank.ada().await;
    let spellings = ["food", "Food", "FOOD", "fOOd", " food"];
    let tries = (0..20).map(|n| {
        let client = if n % 2 == 0 { ada.client.clone() } else { ada.client.at(address) };
        async move { client.post(TAGS, &json!({"tagName": spellings[n % 5]})).await }
    });
    let answers = join_all(tries).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
    assert_eq!(answers.iter().filter(|answer| answer.body["code"] == "TAG_EXISTS").count(), 19);
    assert_eq!(bank.events_of("tags.created").await, 1);
    second.close().await;
    bank.close().await;
}

#[tokio::test]
async fn each_side_of_a_transaction_has_tags_of_its_own() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let lunch = pay(&ada, &bola, "lunch").await;
    let (food, fun) = (create(&ada, "Food").await, create(&ada, "Fun").await);
    let income = create(&bola, "Income").await;
    let path = format!("/v1/transactions/{lunch}/tag");
    let body = json!({"tagIds": [fun, food, fun], "notes": "Jollof <with> Bola"});
    let tagged = ada.client.post(&path, &body).await.is(200);
    assert_eq!((&tagged.body["status"], &tagged.body["transactionId"]), (&json!("SUCCESS"), &json!(lunch)));
    assert_eq!(tagged.body["tagIds"], json!([fun, food]));
    assert_eq!(tagged.body["tagNames"], json!(["Fun", "Food"]));
    assert_eq!(tagged.body["notes"], "Jollof <with> Bola");
    place(&bola, &lunch, &[&income]).await.is(200);
    bank.caught_up().await;
    assert_eq!(on(&ada, &lunch).await, ["Fun", "Food"]);
    assert_eq!(on(&bola, &lunch).await, ["Income"]);
    let read =
        async |person: &Person| person.client.get(&format!("/v1/transactions/{lunch}")).await.is(200).body;
    assert_eq!(read(&ada).await["notes"], "Jollof <with> Bola");
    assert_eq!(read(&bola).await["notes"], Value::Null);
    assert_eq!(counts(&bola).await, [("Income".to_owned(), 1)]);

    // Nobody puts another's tag on anything, or anything on what is not theirs.
    let unknown = place(&ada, &lunch, &[UNKNOWN]).await.problem(404, "NOT_FOUND");
    let bolas = place(&ada, &lunch, &[&income]).await;
    assert_eq!((bolas.status, bolas.text.len()), (404, unknown.text.len()));
    let nothing = place(&chidi, "txn_0192f0c1a00070008000000000000abc", &[]).await.problem(404, "NOT_FOUND");
    let not_his = place(&chidi, &lunch, &[]).await.problem(404, "NOT_FOUND");
    assert_eq!(not_his.body["detail"], nothing.body["detail"]);
    assert_eq!(on(&ada, &lunch).await, ["Fun", "Food"]);

    // What is placed replaces what was there.
    place(&ada, &lunch, &[&food]).await.is(200);
    assert_eq!(counts(&ada).await, [("Food".to_owned(), 1), ("Fun".to_owned(), 0)]);
    assert_eq!(read(&ada).await["notes"], Value::Null);
    place(&ada, &lunch, &[]).await.is(200);
    assert_eq!(counts(&ada).await, [("Food".to_owned(), 0), ("Fun".to_owned(), 0)]);
    assert_eq!(on(&bola, &lunch).await, ["Income"]);
    bank.close().await;
}

#[tokio::test]
async fn a_tag_that_goes_leaves_every_transaction_and_says_how_many() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (food, fun) = (create(&ada, "Food").await, create(&ada, "Fun").await);
    let mut paid = Vec::new();
    for n in 0..3 {
        paid.push(pay(&ada, &bola, &format!("paid {n}")).await);
        place(&ada, &paid[n], &[&food, &fun]).await.is(200);
    }
    place(&ada, &paid[0], &[&fun]).await.is(200);
    assert_eq!(counts(&ada).await, [("Food".to_owned(), 2), ("Fun".to_owned(), 3)]);
    let tagged = async |tag: &str| {
        let listed = ada.client.get(&format!("/v1/transactions?tagId={tag}")).await.is(200);
        listed.list_at("transactions").iter().map(|row| row["transactionId"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(tagged(&food).await, [json!(paid[2]), json!(paid[1])]);
    let removed = ada.client.delete(&format!("{TAGS}/{food}")).await.is(200);
    assert_eq!(removed.body["affectedTransactions"], 2);
    assert_eq!(counts(&ada).await, [("Fun".to_owned(), 3)]);
    assert_eq!(tagged(&food).await, [Value::Null; 0]);
    assert_eq!(on(&ada, &paid[1]).await, ["Fun"]);
    // A tag of the same name is another one.
    create(&ada, "Food").await;
    assert_eq!(counts(&ada).await, [("Food".to_owned(), 0), ("Fun".to_owned(), 3)]);
    bank.close().await;
}

#[tokio::test]
async fn an_inactive_tag_stays_where_it_is() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (one, other) = (pay(&ada, &bola, "one").await, pay(&ada, &bola, "other").await);
    let old = create(&ada, "Old").await;
    place(&ada, &one, &[&old]).await.is(200);
    ada.client.put(&format!("{TAGS}/{old}"), &json!({"isActive": false})).await.is(200);
    let refused = place(&ada, &other, &[&old]).await.problem(409, "INVALID_STATE");
    assert_eq!((&refused.body["currentState"], &refused.body["tagId"]), (&json!("INACTIVE"), &json!(old)));
    place(&ada, &one, &[&old]).await.is(200);
    assert_eq!(on(&ada, &one).await, ["Old"]);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn counts_are_right_whoever_is_first() {
    let bank = Bank::open().await;
    let (second, address) = bank.second().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let food = create(&ada, "Food").await;
    let mut paid = Vec::new();
    for n in 0..16 {
        paid.push(pay(&ada, &bola, &format!("paid {n}")).await);
    }
    // Sixteen transactions get the tag, each twice, while it is removed.
    let tagging = paid.iter().chain(&paid).enumerate().map(|(n, transaction)| {
        let client = if n % 2 == 0 { ada.client.clone() } else { ada.client.at(address) };
        let body = json!({"tagIds": [food]});
        async move { client.post(&format!("/v1/transactions/{transaction}/tag"), &body).await }
    });
    let path = format!("{TAGS}/{food}");
    let (tagged, removed) = tokio::join!(join_all(tagging), async {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        ada.client.delete(&path).await
    });
    let removed = removed.is(200);
    assert!(tagged.iter().all(|answer| [200, 404].contains(&answer.status)));
    // What was answered 200 came before, and is what the removal counted: each transaction once.
    let got: std::collections::BTreeSet<&str> = tagged
        .iter()
        .filter(|answer| answer.status == 200)
        .map(|answer| answer.text_at("transactionId"))
        .collect();
    assert_eq!(removed.body["affectedTransactions"], got.len());
    bank.caught_up().await;
    assert!(counts(&ada).await.is_empty());
    for transaction in &paid {
        assert!(on(&ada, transaction).await.is_empty());
    }
    second.close().await;
    bank.close().await;
}
