//! The endpoint ratchet: every operation, tried by everybody who must not and in every way it must not.
//!
//! A new route without a row in [`table`] fails [`rows_routes_and_document_are_one_set`]; the row then brings it under
//! every other test of this file.

pub mod closing;
pub mod communities;
pub mod compliance;
mod desk;
mod devices;
mod factors;
mod hooks;
pub mod lending;
pub mod offers;
pub mod people;
mod repeat;
mod row;
mod standing;
mod table;
mod undoing;
mod world;

use std::collections::BTreeSet;
use std::path::Path;

use bursar_api::auth::AccessTokens;
use bursar_domain::kernel::{Permission, Spelled as _};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::Bank;
pub use row::Row;
use row::{Access, Names, Thing};
pub use table::rows;
pub use world::World;

/// `METHOD path` of every documented operation.
fn documented(document: &Value) -> BTreeSet<String> {
    let paths = document["paths"].as_object().unwrap().iter();
    let operations = paths.flat_map(|(path, item)| {
        item.as_object().unwrap().keys().map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    operations.collect()
}

#[tokio::test]
async fn rows_routes_and_document_are_one_set() {
    let bank = Bank::open().await;
    let document = bank.client().get("/openapi.json").await.is(200).body;
    let operations = documented(&document);
    let rows: BTreeSet<String> = rows().iter().map(Row::to_string).collect();
    assert_eq!(rows, operations, "this table and the document");
    // A documented path answers to its documented methods and to no other.
    for path in document["paths"].as_object().unwrap().keys() {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let known = operations.contains(&format!("{method} {path}"));
            let answer = bank
                .client()
                .request(method.clone(), &row::path(path, Thing::Account.unknown()))
                .send()
                .await;
            assert_eq!(answer.status != 405, known, "{method} {path}: {}", answer.text);
        }
    }
    // And there is no way into the router but the documented one.
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../api/src")) {
        let text = std::fs::read_to_string(&file).unwrap();
        for call in [".route(", ".route_service(", ".nest(", ".nest_service("] {
            assert!(!text.contains(call), "{} registers a route past the document: {call}", file.display());
        }
    }
    bank.close().await;
}

fn sources(dir: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

#[tokio::test]
async fn every_operation_works_for_those_who_may_and_answers_as_documented() {
    let world = World::new().await;
    let document = world.bank.client().get("/openapi.json").await.body;
    for row in rows() {
        let answer = row.tried_by(&world.caller(&row), &world).await;
        assert!(answer.status < 300, "{row}: {}", answer.text);
        let method = row.method.as_str().to_lowercase();
        let responses = &document["paths"][row.path][method.as_str()]["responses"];
        assert!(
            responses.get(answer.status.to_string()).is_some(),
            "{row}: {} is not documented",
            answer.status
        );
        assert_eq!(answer.header("x-request-id"), "ratchet", "{row}");
    }
    world.bank.close().await;
}

#[tokio::test]
async fn without_a_good_token_nobody_gets_in_and_all_are_told_the_same() {
    let world = World::new().await;
    let (bank, anybody) = (&world.bank, world.bank.client());
    let user = bank.user("ada@example.com").await;
    let all = Permission::ALL;
    let session = bank.session(user, all).await;
    let expired = bank.token(user, session, all, bank.app.config.auth.access_seconds);
    let forger = AccessTokens::new(&[7; 32], "bursar", "bursar", 900).unwrap();
    let now = bank.app.journal.sources().clock.now();
    let forged = forger.sign(user, session, "test", now, all).unwrap();
    let somebody_elses = bank.token(bank.user("bola@example.com").await, session, all, 0);
    let good = bank.token(user, session, all, 0);
    let (head, _) = good.rsplit_once('.').unwrap();
    let unsigned = format!("{head}.");
    let revoked = bank.client().session("ada@example.com", "gone").await;
    let revoked = revoked["accessToken"].as_str().unwrap().to_owned();
    bank.client().with_token(&revoked).post("/v1/users/token/revoke", &json!({})).await.is(200);

    let events = bank.done().await;
    for row in rows().iter().filter(|row| row.is_private()) {
        let nobody = row.tried_by(&anybody, &world).await.problem(401, "UNAUTHENTICATED");
        assert_eq!(nobody.header("www-authenticate"), "Bearer", "{row}");
        let mut bad = vec!["garbage", "a.b.c", &expired, &forged, &unsigned];
        if row.access != Access::Signed {
            bad.extend([&*revoked, &somebody_elses]);
        }
        for token in bad {
            let refused = row.tried_by(&anybody.with_token(token), &world).await;
            assert_eq!((refused.status, &refused.text), (401, &nobody.text), "{row} with {token}");
        }
    }
    assert_eq!(bank.done().await, events);
    world.bank.close().await;
}

#[tokio::test]
async fn without_the_permission_it_is_denied_by_name() {
    let world = World::new().await;
    let user = world.bank.user("ada@example.com").await;
    let mut events = world.bank.done().await;
    for row in rows() {
        let Access::Needs(needed) = row.access else { continue };
        let others = Permission::ALL.iter().copied();
        let others: Vec<Permission> =
            others.filter(|other| *other != needed && !row.or.contains(other)).collect();
        let session = world.bank.session(user, &others).await;
        events += 1;
        let caller = world.bank.client().with_token(&world.bank.token(user, session, &others, 0));
        let denied = row.tried_by(&caller, &world).await.problem(403, "PERMISSION_DENIED");
        assert_eq!(denied.body["permission"], needed.as_str(), "{row}");
        assert!(denied.text_at("detail").contains(needed.as_str()), "{row}");
        assert_eq!(world.bank.done().await, events, "{row}");
    }
    world.bank.close().await;
}

#[tokio::test]
async fn what_is_a_strangers_is_answered_like_what_does_not_exist() {
    let world = World::new().await;
    let events = world.bank.done().await;
    for row in rows() {
        let (Names::Own(thing) | Names::Anybodys(thing) | Names::Everybodys(thing)) = row.names else {
            continue;
        };
        let caller = world.caller(&row);
        let about = async |id: &str| row.request(&caller, &world, id).send().await;
        let unknown = about(thing.unknown()).await.problem(404, "NOT_FOUND");
        if row.names == Names::Own(thing) {
            let strangers = about((row.strangers)(&world)).await;
            assert_eq!((strangers.status, &strangers.text), (404, &unknown.text), "{row}");
        }
        // What cannot be an id is in a path nothing, and in a body a 400 of its own.
        for malformed in thing.malformed() {
            let answer = about(malformed).await;
            let expected = if row.path.contains('{') { "NOT_FOUND" } else { "VALIDATION_FAILED" };
            assert_eq!(answer.body["code"], expected, "{row}: {malformed}: {}", answer.text);
        }
    }
    assert_eq!(world.bank.done().await, events);
    world.bank.close().await;
}

#[tokio::test]
async fn a_bad_body_is_told_every_field_that_is_wrong() {
    let world = World::new().await;
    let events = world.bank.done().await;
    for row in rows() {
        let Some(body) = row.body else { continue };
        let (caller, id) = (world.caller(&row), (row.own)(&world));
        let path = row.path(id);
        let mut wrong = body(&world, id);
        let fields = wrong.as_object_mut().unwrap();
        // What no field of the kind can hold.
        fields.values_mut().for_each(|value| *value = if value.is_array() { json!({}) } else { json!([]) });
        let mut expected: Vec<String> = fields.keys().map(|name| format!("/{name}")).collect();
        let answer = caller.request(row.method.clone(), &path).json(&wrong).send().await;
        let answer = answer.problem(400, "VALIDATION_FAILED");
        let mut pointers = answer.pointers();
        pointers.sort_unstable();
        expected.sort_unstable();
        assert_eq!(pointers, expected, "{row}");
        for garbage in ["", "{", "[]", "null", "\"text\"", "{\"a\":}"] {
            let raw = caller.request(row.method.clone(), &path).raw("application/json", garbage).send().await;
            assert!(!raw.problem(400, "VALIDATION_FAILED").pointers().is_empty(), "{row}: {garbage}");
        }
    }
    assert_eq!(world.bank.done().await, events);
    world.bank.close().await;
}

#[tokio::test]
async fn a_repeated_key_is_answered_from_the_log() {
    let world = World::new().await;
    for row in rows().iter().filter(|row| row.replays) {
        let (caller, id) = (world.caller(row), (row.own)(&world));
        let send = async || row.request(&caller, &world, id).key("ratchet 1").send().await;
        let before = world.bank.done().await;
        let first = send().await;
        assert!(first.status < 300, "{row}: {}", first.text);
        assert_eq!(first.header("idempotent-replayed"), "", "{row}");
        let after = world.bank.done().await;
        assert!(after > before, "{row} wrote nothing");
        let again = send().await;
        assert_eq!((again.status, &again.text), (first.status, &first.text), "{row}");
        assert_eq!(again.header("idempotent-replayed"), "true", "{row}");
        for header in ["location", "bursar-position", "content-type", "cache-control"] {
            assert_eq!(again.header(header), first.header(header), "{row}: {header}");
        }
        assert_eq!(world.bank.done().await, after, "{row} wrote twice");
    }
    world.bank.close().await;
}
