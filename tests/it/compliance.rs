//! What people say about themselves and those close to them, and what staff think of it.

mod staff;

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::ratchet::compliance::{address, contact, employment, kin};
use crate::support::client::Answer;
use crate::support::{Bank, Client, Person};

const ADDRESS: &str = "/v1/compliance/address";
const KIN: &str = "/v1/compliance/kin";
const EMPLOYMENT: &str = "/v1/compliance/employment";
const CONTACTS: &str = "/v1/compliance/emergency_contact";

/// `body` with other values.
fn with(mut body: Value, other: Value) -> Value {
    let Value::Object(other) = other else { panic!("{other}") };
    body.as_object_mut().unwrap().extend(other);
    body
}

async fn list(client: &Client, path: &str, records: &str) -> Vec<Value> {
    client.get(path).await.is(200).list_at(records).to_vec()
}

async fn add_kin(person: &Person, name: &str) -> String {
    let added = person.client.post(KIN, &with(kin(), json!({"firstName": name, "isPrimary": false}))).await;
    added.is(201).text_at("kinId").to_owned()
}

/// Given names, and whether they come first.
async fn names(person: &Person, query: &str) -> Vec<(String, bool)> {
    let all = list(&person.client, &format!("{KIN}?{query}"), "kin").await;
    let name = |one: &Value| (one["firstName"].as_str().unwrap().to_owned(), one["isPrimary"] == true);
    all.iter().map(name).collect()
}

#[tokio::test]
async fn an_address_is_validated_listed_and_replaced_by_one_of_its_type() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let home = ada.client.post(ADDRESS, &with(address(), json!({"isPrimary": false}))).await.is(201);
    let id = home.text_at("addressId");
    assert_eq!(home.header("location"), format!("{ADDRESS}?addressId={id}"));
    let expected = json!({
        "addressId": id, "status": "SUCCESS", "addressType": "RESIDENTIAL", "validated": true, "geocoded": true,
        "isPrimary": true, "verificationStatus": "PENDING", "verificationRequired": true,
        "createdAt": home.body["createdAt"], "message": "Address added",
    });
    assert_eq!(home.body, expected);
    let [listed] = &list(&ada.client, home.header("location"), "addresses").await[..] else { panic!() };
    let expected = json!({
        "addressId": id, "status": "PENDING", "verificationStatus": "PENDING", "rejectionReason": null,
        "createdAt": home.body["createdAt"], "updatedAt": listed["updatedAt"], "isPrimary": true,
        "countryCode": "NG", "stateCode": "NG-LA", "validated": true, "geocoded": true,
    });
    assert_eq!(*listed, with(address(), expected));
    assert!(list(&bola.client, ADDRESS, "addresses").await.is_empty());

    // The same type again: the same address, and what is absent is gone.
    let moved = json!({
        "addressType": "RESIDENTIAL", "streetAddress": "1 Nowhere", "city": "Atlantis", "state": "Lagos", "country": "nga",
    });
    let replaced = ada.client.post(ADDRESS, &moved).await.is(200);
    assert_eq!((replaced.text_at("addressId"), &replaced.body["createdAt"]), (id, &home.body["createdAt"]));
    assert_eq!((&replaced.body["validated"], &replaced.body["geocoded"]), (&json!(true), &json!(false)));
    let [listed] = &list(&ada.client, ADDRESS, "addresses").await[..] else { panic!() };
    assert_eq!((&listed["postalCode"], &listed["isPrimary"]), (&Value::Null, &json!(true)));
    assert_eq!((&listed["country"], &listed["countryCode"]), (&json!("nga"), &json!("NG")));

    // Another type, which comes first from now on; and one that is named.
    let office = json!({
        "addressType": "BUSINESS", "streetAddress": "1 Broad Street", "city": "paris", "country": "France",
        "isPrimary": true,
    });
    let office = ada.client.post(ADDRESS, &office).await.is(201);
    assert_eq!((&office.body["validated"], &office.body["geocoded"]), (&json!(false), &json!(true)));
    let [first] = &list(&ada.client, &format!("{ADDRESS}?addressType=BUSINESS"), "addresses").await[..]
    else {
        panic!()
    };
    assert_eq!((&first["addressId"], &first["isPrimary"]), (&office.body["addressId"], &json!(true)));
    let taken = with(moved.clone(), json!({"addressId": office.body["addressId"]}));
    let taken = ada.client.post(ADDRESS, &taken).await.problem(409, "ADDRESS_EXISTS");
    assert_eq!(taken.text_at("addressId"), id);
    let mailing = with(moved, json!({"addressId": office.body["addressId"], "addressType": "MAILING"}));
    ada.client.post(ADDRESS, &mailing).await.is(200);
    let types = list(&ada.client, &format!("{ADDRESS}?sort=createdAt"), "addresses").await;
    assert_eq!(
        types.iter().map(|one| one["addressType"].clone()).collect::<Vec<_>>(),
        ["RESIDENTIAL", "MAILING"]
    );
    bank.close().await;
}

#[tokio::test]
async fn next_of_kin_are_kept_changed_and_removed() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let added = ada.client.post(KIN, &kin()).await.is(201);
    let id = added.text_at("kinId").to_owned();
    assert_eq!(
        (&added.body["relationship"], &added.body["verificationRequired"]),
        (&json!("SPOUSE"), &json!(true))
    );
    let [listed] = &list(&ada.client, added.header("location"), "kin").await[..] else { panic!() };
    let expected = json!({
        "kinId": id, "status": "PENDING", "verificationStatus": "PENDING", "rejectionReason": null,
        "createdAt": added.body["createdAt"], "updatedAt": listed["updatedAt"],
    });
    assert_eq!(*listed, with(kin(), expected));

    // What is sent and is the same is no change; null takes away; what is absent stays.
    let change = json!({
        "kinId": id, "firstName": " Bola ", "lastName": "Okafor", "phoneNumber": "+234 803 100 0102", "email": null,
        "dateOfBirth": "1989-03-03",
    });
    let changed = ada.client.put(KIN, &change).await.is(200);
    assert_eq!(changed.body["updatedFields"], json!(["lastName", "email", "dateOfBirth"]));
    let now = &list(&ada.client, KIN, "kin").await[0];
    let expected = json!({
        "lastName": "Okafor", "email": null, "dateOfBirth": "1989-03-03", "updatedAt": changed.body["updatedAt"],
    });
    assert_eq!(*now, with(listed.clone(), expected));
    let nothing = ada.client.put(KIN, &change).await.is(200);
    assert_eq!(nothing.body["updatedFields"], json!([]));
    let unchanged = ada.client.put(KIN, &json!({"kinId": id, "firstName": null})).await.is(200);
    assert_eq!(unchanged.body["updatedFields"], json!([]));

    // Removed: by the query, by the body, by both; once.
    let others = [add_kin(&ada, "Chidi").await, add_kin(&ada, "Dayo").await];
    assert_eq!(names(&ada, "sort=createdAt").await[0], ("Bola".to_owned(), true));
    let by_query = format!("{KIN}?kinId={id}&reason=Moved%20away");
    let delete = || ada.client.request(Method::DELETE, &by_query).key("once");
    let gone = delete().send().await.is(200);
    let expected = json!({
        "kinId": id, "status": "SUCCESS", "removedAt": gone.body["removedAt"], "reason": "Moved away",
        "message": "Next of kin removed", "remainingContacts": 2,
    });
    assert_eq!(gone.body, expected);
    assert_eq!(names(&ada, "sort=createdAt").await[0], ("Chidi".to_owned(), true));
    let by_body = json!({"kinId": others[1]});
    let body =
        |query: &str| ada.client.request(Method::DELETE, &format!("{KIN}{query}")).json(&by_body).send();
    let conflict = body(&format!("?kinId={}", others[0])).await;
    assert_eq!(conflict.pointers(), ["/kinId"]);
    let gone_too = body(&format!("?kinId={}", others[1])).await.is(200);
    assert_eq!(
        (&gone_too.body["reason"], &gone_too.body["remainingContacts"]),
        (&json!("Removed by the customer"), &json!(1))
    );
    body("").await.problem(404, "NOT_FOUND");
    assert_eq!(ada.client.delete(KIN).await.pointers(), ["/kinId"]);
    assert_eq!(ada.client.delete(&format!("{KIN}?kinId=x")).await.pointers(), ["/kinId"]);
    bank.client().delete(&format!("{KIN}?kinId=x")).await.problem(401, "UNAUTHENTICATED");
    // What was answered then is answered again, whatever has happened since; and the key is for that one only.
    let again = delete().send().await.is(200);
    assert_eq!((&again.text, again.header("idempotent-replayed")), (&gone.text, "true"));
    let other =
        ada.client.request(Method::DELETE, &format!("{KIN}?kinId={}", others[0])).key("once").send().await;
    other.problem(422, "IDEMPOTENCY_KEY_REUSED");
    bank.close().await;
}

#[tokio::test]
async fn employments_have_days_that_fit_together() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let add = async |other: Value| ada.client.post(EMPLOYMENT, &with(employment(), other)).await;
    assert_eq!(add(json!({"endDate": "2019-08-31"})).await.pointers(), ["/endDate"]);
    assert_eq!(add(json!({"isCurrent": true})).await.pointers(), ["/endDate"]);
    let past = add(json!({"isCurrent": null})).await.is(201);
    assert_eq!(
        (&past.body["companyName"], &past.body["isCurrent"]),
        (&json!("Lagoon Traders"), &json!(false))
    );
    let now = add(json!({"isCurrent": null, "endDate": null})).await.is(201);
    assert_eq!(now.body["isCurrent"], true);
    let put = async |change: Value| {
        ada.client.put(EMPLOYMENT, &with(json!({"employmentId": now.body["employmentId"]}), change)).await
    };
    let ended = put(json!({"endDate": "2025-01-31", "position": "Accountant"})).await.is(200);
    assert_eq!(ended.body["updatedFields"], json!(["endDate", "isCurrent"]));
    assert_eq!(put(json!({"startDate": "2025-02-01"})).await.pointers(), ["/endDate"]);
    let back = put(json!({"endDate": null, "isCurrent": true, "employmentType": "CONTRACT"})).await.is(200);
    assert_eq!(back.body["updatedFields"], json!(["employmentType", "endDate", "isCurrent"]));
    let contracts = list(&ada.client, &format!("{EMPLOYMENT}?employmentType=CONTRACT"), "employment").await;
    assert_eq!(contracts.len(), 1);
    assert_eq!(contracts[0]["employmentId"], now.body["employmentId"]);
    let id = past.text_at("employmentId");
    let removed = ada.client.delete(&format!("{EMPLOYMENT}?employmentId={id}")).await.is(200);
    assert_eq!(removed.body["remainingRecords"], 1);
    bank.close().await;
}

#[tokio::test]
async fn one_emergency_contact_is_called_first() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let add = async |name: &str, priority: &str| {
        let body = with(contact(), json!({"firstName": name, "priority": priority}));
        ada.client.post(CONTACTS, &body).await.is(201)
    };
    let priorities = async || {
        let all = list(&ada.client, &format!("{CONTACTS}?sort=createdAt"), "contacts").await;
        all.iter().map(|one| one["priority"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let third = add("Ada", "TERTIARY").await;
    assert_eq!((third.text_at("priority"), third.text_at("relationship")), ("TERTIARY", "FRIEND"));
    let bola = add("Bola", "PRIMARY").await;
    add("Chidi", "PRIMARY").await;
    assert_eq!(priorities().await, ["TERTIARY", "SECONDARY", "PRIMARY"]);
    let up = json!({"contactId": bola.body["contactId"], "priority": "PRIMARY"});
    assert_eq!(ada.client.put(CONTACTS, &up).await.is(200).body["updatedFields"], json!(["priority"]));
    assert_eq!(priorities().await, ["TERTIARY", "PRIMARY", "SECONDARY"]);
    let id = bola.text_at("contactId");
    let removed = ada.client.delete(&format!("{CONTACTS}?contactId={id}")).await.is(200);
    assert_eq!(removed.body["remainingContacts"], 2);
    assert_eq!(priorities().await, ["TERTIARY", "SECONDARY"]);
    bank.close().await;
}

#[tokio::test]
async fn what_is_wrong_is_told_all_at_once_and_changes_nothing() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let events = bank.events().await;
    let wrong = async |path: &str, body: Value| {
        let answer = ada.client.post(path, &body).await.problem(400, "VALIDATION_FAILED");
        answer.pointers().into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let required = json!({});
    assert_eq!(
        wrong(ADDRESS, required.clone()).await,
        ["/addressType", "/streetAddress", "/city", "/country"]
    );
    assert_eq!(
        wrong(KIN, required.clone()).await,
        ["/relationship", "/firstName", "/lastName", "/phoneNumber"]
    );
    assert_eq!(
        wrong(EMPLOYMENT, required.clone()).await,
        ["/companyName", "/position", "/employmentType", "/startDate"]
    );
    assert_eq!(
        wrong(CONTACTS, required).await,
        ["/relationship", "/firstName", "/lastName", "/phoneNumber", "/priority"]
    );
    let places =
        with(address(), json!({"country": "Wakanda", "addressType": "residential", "validFrom": "1 May"}));
    assert_eq!(wrong(ADDRESS, places).await, ["/addressType", "/country", "/validFrom"]);
    let backwards = with(address(), json!({"validFrom": "2026-01-02", "validTo": "2026-01-01"}));
    assert_eq!(wrong(ADDRESS, backwards).await, ["/validTo"]);
    let words = json!({
        "relationship": "NEMESIS", "firstName": "  ", "phoneNumber": "0803 100 0102", "email": "bola@example",
        "dateOfBirth": "1989-03-02T00:00:00Z",
    });
    let pointers = ["/relationship", "/firstName", "/phoneNumber", "/email", "/dateOfBirth"];
    assert_eq!(wrong(KIN, with(kin(), words)).await, pointers);
    for email in
        ["@example.com", "a b@example.com", "a@-x.com", "a@x..com", "a@b@example.com", "a@x.com>", ".a@x.com"]
    {
        assert_eq!(wrong(KIN, with(kin(), json!({"email": email}))).await, ["/email"], "{email}");
    }
    assert_eq!(wrong(KIN, with(kin(), json!({"dateOfBirth": "9999-12-31"}))).await, ["/dateOfBirth"]);
    assert_eq!(
        wrong(CONTACTS, with(contact(), json!({"dateOfBirth": "9999-12-31"}))).await,
        ["/dateOfBirth"]
    );
    assert_eq!(bank.events().await, events);
    bank.close().await;
}

#[tokio::test]
async fn what_is_the_banks_to_say_is_not_the_customers() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let server_owned = json!({
        "status": "VERIFIED", "verificationStatus": "VERIFIED", "verificationRequired": false, "rejectionReason": "x",
        "owner": bank.user("bola@example.com").await.to_string(), "userId": "usr_1",
        "createdAt": "2001-01-01T00:00:00Z", "updatedAt": "2001-01-01T00:00:00Z", "updatedFields": ["lastName"],
    });
    let own_id = json!({"kinId": "kin_0192f0c1a00070008000000000000abc"});
    let added = ada.client.post(KIN, &with(with(kin(), server_owned.clone()), own_id)).await.is(201);
    let id = added.text_at("kinId");
    assert_ne!(id, "kin_0192f0c1a00070008000000000000abc");
    let listed = list(&ada.client, KIN, "kin").await;
    assert_eq!((listed.len(), &listed[0]["verificationStatus"]), (1, &json!("PENDING")));
    assert!(listed[0]["createdAt"].as_str().unwrap() > "2026");
    let changed = ada.client.put(KIN, &with(json!({"kinId": id}), server_owned)).await.is(200);
    assert_eq!(
        (&changed.body["updatedFields"], &changed.body["verificationStatus"]),
        (&json!([]), &json!("PENDING"))
    );
    assert!(list(&bola.client, KIN, "kin").await.is_empty());
    let facts = json!({"validated": true, "geocoded": true, "countryCode": "NG", "stateCode": "NG-LA", "city": "Nowhere", "state": "Nowhere"});
    let placed = ada.client.post(ADDRESS, &with(address(), facts)).await.is(201);
    assert_eq!((&placed.body["validated"], &placed.body["geocoded"]), (&json!(false), &json!(false)));
    assert_eq!(list(&ada.client, ADDRESS, "addresses").await[0]["stateCode"], Value::Null);
    bank.close().await;
}

#[tokio::test]
async fn somebody_elses_record_and_none_are_answered_alike() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let theirs = add_kin(&bola, "Dayo").await;
    let events = bank.events().await;
    let unknown = "kin_0192f0c1a00070008000000000000abc";
    let put = async |id: &str| {
        let request = ada.client.request(Method::PUT, KIN).header("X-Request-Id", "same");
        request.json(&json!({"kinId": id, "firstName": "Mallory"})).send().await
    };
    let delete = async |id: &str| {
        let path = format!("{KIN}?kinId={id}");
        ada.client.request(Method::DELETE, &path).header("X-Request-Id", "same").send().await
    };
    assert_eq!(put(&theirs).await.problem(404, "NOT_FOUND").text, put(unknown).await.text);
    assert_eq!(delete(&theirs).await.problem(404, "NOT_FOUND").text, delete(unknown).await.text);
    let seen = ada.client.get(&format!("{KIN}?kinId={theirs}")).await.is(200);
    assert_eq!(seen.body["pagination"]["total"], 0);
    assert_eq!(bank.events().await, events);
    assert_eq!(names(&bola, "").await, [("Dayo".to_owned(), true)]);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_all_that_are_made_primary_at_once_one_is_and_the_limit_holds() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let (_, second) = bank.second().await;
    let clients = [ada.client.clone(), ada.client.at(second)];
    let add = async |n: usize| clients[n % 2].post(KIN, &kin()).await;
    let answers: Vec<Answer> = join_all((0..25).map(add)).await;
    let (added, refused): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 201);
    assert_eq!(added.len(), 20);
    for answer in refused {
        assert_eq!(answer.problem(422, "LIMIT_EXCEEDED").body["allowed"], 20);
    }
    bank.caught_up().await;
    let first = async || {
        let all = names(&ada, "size=100").await;
        (all.len(), all.iter().filter(|(_, first)| *first).count())
    };
    assert_eq!(first().await, (20, 1));
    let put = async |n: usize| {
        let change = json!({"kinId": added[n].body["kinId"], "isPrimary": true});
        clients[n % 2].put(KIN, &change).await.is(200)
    };
    join_all((0..20).map(put)).await;
    bank.caught_up().await;
    assert_eq!(first().await, (20, 1));
    bank.close().await;
}

#[tokio::test]
async fn lists_are_paged_sorted_and_filtered() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let mut ids = Vec::new();
    for name in ["Ada", "Bola", "Chidi"] {
        ids.push(add_kin(&ada, name).await);
    }
    let change = json!({"kinId": ids[0], "relationship": "PARENT"});
    ada.client.put(KIN, &change).await.is(200);
    let only = async |query: &str| -> Vec<String> {
        names(&ada, query).await.into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(only("").await, ["Chidi", "Bola", "Ada"]);
    assert_eq!(only("sort=createdAt&size=2").await, ["Ada", "Bola"]);
    assert_eq!(only("sort=createdAt&size=2&page=2").await, ["Chidi"]);
    assert!(only("page=3").await.is_empty());
    assert_eq!(only("sort=-updatedAt&size=1").await, ["Ada"]);
    assert_eq!(only("relationship=PARENT").await, ["Ada"]);
    assert_eq!(only(&format!("kinId={}", ids[1])).await, ["Bola"]);
    assert!(only("verificationStatus=VERIFIED").await.is_empty());
    let page = ada.client.get(&format!("{KIN}?size=2")).await.is(200);
    let expected = json!({"page": 1, "size": 2, "total": 3, "hasNext": true, "hasPrevious": false});
    assert_eq!(page.body["pagination"], expected);
    let wrong = format!("{KIN}?kinId=1&relationship=X&verificationStatus=Y&sort=firstName&page=0");
    let wrong = ada.client.get(&wrong).await;
    assert_eq!(wrong.pointers(), ["/kinId", "/relationship", "/verificationStatus", "/sort", "/page"]);
    bank.close().await;
}
