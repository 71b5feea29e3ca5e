//! The endpoint ratchet: every operation, tried by everybody who must not and in every way it must not.
//!
//! A new route without a row here fails [`rows_routes_and_document_are_one_set`]; the row then brings it under every
//! other test of this file.

mod repeat;

use std::collections::BTreeSet;
use std::path::Path;

use bursar_api::auth::AccessTokens;
use bursar_domain::kernel::Permission::{self, AccountOps, ReadAccount, WriteTransactions};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::client::{Answer, PASSWORD, Request};
use crate::support::{Bank, Client, Person};

/// Who may call an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Public,
    /// Any token of ours, its session ended or not: enough to log out.
    Signed,
    /// Any caller who is logged in.
    LoggedIn,
    Needs(Permission),
}

/// Whose account the operation names, in its path or its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    Nothing,
    /// One of the caller's own.
    Own,
    /// Staff: anybody's.
    Anybodys,
}

/// One operation.
pub struct Row {
    method: Method,
    pub path: &'static str,
    access: Access,
    names: Names,
    /// A body that is accepted; none for a read. The text is the account it names.
    body: Option<fn(&World, &str) -> Value>,
    /// The account that a good request names.
    account: fn(&World) -> &str,
    /// Whether a repeat of a key must be answered from the log.
    pub replays: bool,
}

/// A bank in which every operation can succeed once.
pub struct World {
    pub bank: Bank,
    ada: Person,
    bola: Person,
    chidi: Person,
    teller: Person,
    /// The refresh token of a session of Ada's that nothing else uses.
    refresh: String,
}

/// A number that is well-formed and nobody's.
const UNKNOWN: &str = "1000000008";

impl World {
    /// Chidi's savings account is frozen.
    async fn new() -> Self {
        Self::of(Bank::open().await).await
    }

    pub async fn of(bank: Bank) -> Self {
        let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
        let teller = bank.teller().await;
        let freeze = format!("/v1/staff/accounts/{}/freeze", chidi.savings);
        teller.client.post(&freeze, &json!({"reason": "Court order"})).await.is(200);
        let session = bank.client().session("ada@example.com", "spare").await;
        let refresh = session["refreshToken"].as_str().unwrap().to_owned();
        Self { bank, ada, bola, chidi, teller, refresh }
    }

    /// Somebody who may call the operation.
    fn caller(&self, row: &Row) -> Client {
        match (row.access, row.names) {
            (Access::Public, _) => self.bank.client(),
            (_, Names::Anybodys) => self.teller.client.clone(),
            _ => self.ada.client.clone(),
        }
    }
}

pub fn rows() -> Vec<Row> {
    let get = |path, access, names| Row {
        method: Method::GET,
        path,
        access,
        names,
        body: None,
        account: |world| &world.ada.current,
        replays: false,
    };
    let post = |path, access, names, body| Row {
        method: Method::POST,
        body: Some(body),
        replays: true,
        ..get(path, access, names)
    };
    let (read, write, staff) =
        (Access::Needs(ReadAccount), Access::Needs(WriteTransactions), Access::Needs(AccountOps));
    let cash = |_: &World, _: &str| json!({"amount": 500, "currency": "NGN", "narration": "Till", "reference": "SLIP"});
    let reason = |_: &World, _: &str| json!({"reason": "Asked for by phone"});
    vec![
        get("/healthz", Access::Public, Names::Nothing),
        get("/readyz", Access::Public, Names::Nothing),
        get("/metrics", Access::Public, Names::Nothing),
        get("/.well-known/jwks.json", Access::Public, Names::Nothing),
        get("/v1/sandbox/messages", Access::Public, Names::Nothing),
        // Moves the clock, which is not in the log: nothing could answer a repeat.
        Row {
            replays: false,
            ..post("/v1/sandbox/clock", Access::Public, Names::Nothing, |_, _| json!({"advance": "PT1S"}))
        },
        post(
            "/v1/users/password/login",
            Access::Public,
            Names::Nothing,
            |_, _| json!({"username": "bola@example.com", "password": PASSWORD, "deviceInfo": {"deviceId": "d"}}),
        ),
        post(
            "/v1/users/token/refresh",
            Access::Public,
            Names::Nothing,
            |world, _| json!({"refreshToken": world.refresh, "deviceId": "spare"}),
        ),
        post(
            "/v1/users/token/revoke",
            Access::Signed,
            Names::Nothing,
            |world, _| json!({"refreshToken": world.refresh, "deviceId": "spare"}),
        ),
        get("/v1/account/products/types", Access::LoggedIn, Names::Nothing),
        get("/v1/accounts", read, Names::Nothing),
        post(
            "/v1/accounts",
            write,
            Names::Own,
            |_, account| json!({"productId": "SAV-001", "currency": "NGN", "initialDeposit": 150_000, "sourceAccount": account}),
        ),
        get("/v1/accounts/{accountNo}", read, Names::Own),
        get("/v1/accounts/{accountNo}/balance", read, Names::Own),
        get("/v1/accounts/{accountNo}/history", read, Names::Own),
        get("/v1/accounts/{accountNo}/statement", read, Names::Own),
        post(
            "/v1/payments/transfer/internal",
            write,
            Names::Own,
            |world, account| json!({"sourceAccount": account, "destinationAccount": world.bola.savings, "amount": 100, "currency": "NGN"}),
        ),
        post(
            "/v1/payments/transfer/self",
            write,
            Names::Own,
            |world, account| json!({"sourceAccount": account, "destinationAccount": world.ada.savings, "amount": 100, "currency": "NGN"}),
        ),
        post("/v1/staff/accounts/{accountNo}/deposit", staff, Names::Anybodys, cash),
        post("/v1/staff/accounts/{accountNo}/withdraw", staff, Names::Anybodys, cash),
        Row {
            account: |world| &world.chidi.current,
            ..post("/v1/staff/accounts/{accountNo}/freeze", staff, Names::Anybodys, reason)
        },
        Row {
            account: |world| &world.chidi.savings,
            ..post("/v1/staff/accounts/{accountNo}/unfreeze", staff, Names::Anybodys, reason)
        },
    ]
}

impl Row {
    /// A good request about `account`.
    fn request(&self, client: &Client, world: &World, account: &str) -> Request {
        let request = client.request(self.method.clone(), &self.path.replace("{accountNo}", account));
        let request = request.header("X-Request-Id", "ratchet");
        match self.body {
            Some(body) => request.json(&body(world, account)),
            None => request,
        }
    }

    /// A good request by `client`.
    async fn tried_by(&self, client: &Client, world: &World) -> Answer {
        self.request(client, world, (self.account)(world)).send().await
    }

    fn is_private(&self) -> bool {
        self.access != Access::Public
    }
}

impl std::fmt::Display for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

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
            let answer =
                bank.client().request(method.clone(), &path.replace("{accountNo}", UNKNOWN)).send().await;
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
    let expired = bank.token(user, session, all, 900);
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

    let events = bank.events().await;
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
    assert_eq!(bank.events().await, events);
    world.bank.close().await;
}

#[tokio::test]
async fn without_the_permission_it_is_denied_by_name() {
    let world = World::new().await;
    let user = world.bank.user("ada@example.com").await;
    let mut events = world.bank.events().await;
    for row in rows() {
        let Access::Needs(needed) = row.access else { continue };
        let others: Vec<Permission> =
            Permission::ALL.iter().copied().filter(|other| *other != needed).collect();
        let session = world.bank.session(user, &others).await;
        events += 1;
        let caller = world.bank.client().with_token(&world.bank.token(user, session, &others, 0));
        let denied = row.tried_by(&caller, &world).await.problem(403, "PERMISSION_DENIED");
        assert_eq!(denied.body["permission"], needed.as_str(), "{row}");
        assert!(denied.text_at("detail").contains(needed.as_str()), "{row}");
        assert_eq!(world.bank.events().await, events, "{row}");
    }
    world.bank.close().await;
}

#[tokio::test]
async fn a_strangers_account_is_answered_like_one_that_does_not_exist() {
    let world = World::new().await;
    let events = world.bank.events().await;
    for row in rows().iter().filter(|row| row.names != Names::Nothing) {
        let caller = world.caller(row);
        let about = async |account: &str| row.request(&caller, &world, account).send().await;
        let unknown = about(UNKNOWN).await.problem(404, "NOT_FOUND");
        if row.names == Names::Own {
            let strangers = about(&world.bola.current).await;
            assert_eq!((strangers.status, &strangers.text), (404, &unknown.text), "{row}");
        }
        // What cannot be an account number is in a path nothing, and in a body a 400 of its own.
        for malformed in ["0", "1000000009", "10000000080", "bank:cash:NGN", "%00", "%F0%9F%92%B8"] {
            let answer = about(malformed).await;
            let expected = if row.path.contains('{') { "NOT_FOUND" } else { "VALIDATION_FAILED" };
            assert_eq!(answer.body["code"], expected, "{row}: {malformed}: {}", answer.text);
        }
    }
    assert_eq!(world.bank.events().await, events);
    world.bank.close().await;
}

#[tokio::test]
async fn a_bad_body_is_told_every_field_that_is_wrong() {
    let world = World::new().await;
    let events = world.bank.events().await;
    for row in rows() {
        let Some(body) = row.body else { continue };
        let (caller, account) = (world.caller(&row), (row.account)(&world));
        let path = row.path.replace("{accountNo}", account);
        let mut wrong = body(&world, account);
        let fields = wrong.as_object_mut().unwrap();
        fields.values_mut().for_each(|value| *value = json!([]));
        let mut expected: Vec<String> = fields.keys().map(|name| format!("/{name}")).collect();
        let answer = caller.post(&path, &wrong).await.problem(400, "VALIDATION_FAILED");
        let mut pointers = answer.pointers();
        pointers.sort_unstable();
        expected.sort_unstable();
        assert_eq!(pointers, expected, "{row}");
        for garbage in ["", "{", "[]", "null", "\"text\"", "{\"a\":}"] {
            let raw = caller.request(row.method.clone(), &path).raw("application/json", garbage).send().await;
            assert!(!raw.problem(400, "VALIDATION_FAILED").pointers().is_empty(), "{row}: {garbage}");
        }
    }
    assert_eq!(world.bank.events().await, events);
    world.bank.close().await;
}

#[tokio::test]
async fn a_repeated_key_is_answered_from_the_log() {
    let world = World::new().await;
    for row in rows().iter().filter(|row| row.replays) {
        let (caller, account) = (world.caller(row), (row.account)(&world));
        let send = async || row.request(&caller, &world, account).key("ratchet 1").send().await;
        let before = world.bank.events().await;
        let first = send().await;
        assert!(first.status < 300, "{row}: {}", first.text);
        assert_eq!(first.header("idempotent-replayed"), "", "{row}");
        let after = world.bank.events().await;
        assert!(after > before, "{row} wrote nothing");
        let again = send().await;
        assert_eq!((again.status, &again.text), (first.status, &first.text), "{row}");
        assert_eq!(again.header("idempotent-replayed"), "true", "{row}");
        for header in ["location", "bursar-position", "content-type", "cache-control"] {
            assert_eq!(again.header(header), first.header(header), "{row}: {header}");
        }
        assert_eq!(world.bank.events().await, after, "{row} wrote twice");
    }
    world.bank.close().await;
}
