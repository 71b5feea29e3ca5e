//! Secrets that sing: every secret that a client can send, and every one the bank gives out, is looked for in every table
//! and in everything that is logged or traced, at the most talkative level.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;
use std::sync::{Arc, Mutex, Once, PoisonError};

use serde_json::{Map, Value, json};
use tracing_subscriber::filter::dynamic_filter_fn;
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

use crate::ratchet::{Row, World, rows};
use crate::support::client::{Answer, PASSWORD};
use crate::support::secrets::tables_with;
use crate::support::{Bank, quiet};

/// Members whose values are secrets, wherever they are sent.
const SECRETS: &[&str] = &[
    "password",
    "currentPassword",
    "newPassword",
    "confirmPassword",
    "pin",
    "confirmPin",
    "currentPin",
    "newPin",
    "confirmNewPin",
    "code",
    "verificationCode",
    "acceptanceCode",
    "resetToken",
    "accessToken",
    "refreshToken",
    "cvv",
    "cardNumber",
    "certificate",
    "fileContent",
    "secret",
    "inviteCode",
];

thread_local! {
    /// Who hears what is logged on this thread.
    static EAR: RefCell<Option<Heard>> = const { RefCell::new(None) };
}

/// Everything that is logged on this thread, which is every task of a test's runtime, with the fields of all spans: what a
/// collector of traces would get too.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl Heard {
    /// One subscriber for all threads, because what a callsite is told about who listens is remembered for all of them.
    fn listen(&self) {
        static INSTALLED: Once = Once::new();
        INSTALLED.call_once(|| {
            let heard = || EAR.with_borrow(|ear| ear.clone().unwrap_or_default());
            let lines = fmt::layer()
                .with_ansi(false)
                .with_span_events(FmtSpan::NEW | FmtSpan::CLOSE)
                .with_writer(heard)
                .with_filter(dynamic_filter_fn(|_, _| EAR.with_borrow(Option::is_some)));
            tracing_subscriber::registry().with(lines).init();
        });
        EAR.set(Some(self.clone()));
    }

    fn stop() {
        EAR.set(None);
    }

    fn lines_with(&self, text: &str) -> Vec<String> {
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = String::from_utf8_lossy(&heard).into_owned();
        lines.lines().filter(|line| line.contains(text)).map(str::to_owned).collect()
    }
}

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Where the secret is, besides with whom it belongs.
async fn leaks(bank: &Bank, heard: &Heard, secret: &str) -> Vec<String> {
    let mut leaks = tables_with(bank, secret).await;
    leaks.extend(heard.lines_with(secret));
    leaks
}

/// The texts in `value` under names of secrets.
fn secrets(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) if SECRETS.contains(&name.as_str()) || name == "token" => {
                        // Six digits are part of some time of day, and what is masked is no secret.
                        if text.len() > 8 && !text.contains('*') {
                            found.insert(text.clone());
                        }
                    }
                    other => secrets(other, found),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| secrets(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// `body` with other values under the names of secrets it has, and the names it has not; `n` tells the values apart.
fn singing(body: &Value, n: usize) -> (Value, Value) {
    let own = body.as_object().unwrap();
    let song = |name: &str| json!(format!("CANARY-{n}-{name}-sings"));
    let more: Map<String, Value> = SECRETS
        .iter()
        .filter(|name| !own.contains_key(**name))
        .map(|name| ((*name).to_owned(), song(name)))
        .collect();
    let mut replaced = own.clone();
    for (name, value) in &mut replaced {
        if SECRETS.contains(&name.as_str()) {
            *value = song(name);
        }
    }
    let mut added = own.clone();
    added.extend(more);
    (Value::Object(added), Value::Object(replaced))
}

/// Sends the body, as the caller of the row.
async fn sent(world: &World, row: &Row, body: &Value) -> Answer {
    let (caller, id) = (world.caller(row), (row.own)(world));
    caller.request(row.method.clone(), &row.path(id)).json(body).send().await
}

#[tokio::test]
async fn no_secret_is_in_a_table_or_in_a_log() {
    let heard = Heard::default();
    heard.listen();
    let mut world = World::of(Bank::configured(quiet()).await).await;
    let mut known = BTreeSet::from([PASSWORD.to_owned(), "4242424242424242".to_owned()]);
    for (n, row) in rows().iter().enumerate() {
        (row.ready)(&mut world).await;
        let good = row.good_request(&world).key(&format!("CANARY-{n}-key-sings")).send().await;
        assert!(good.status < 300, "{row}: {}", good.text);
        secrets(&good.body, &mut known);
        let Some(body) = row.body else { continue };
        let body = body(&world, (row.own)(&world));
        secrets(&body, &mut known);
        let (added, replaced) = singing(&body, n);
        for body in [added, replaced] {
            (row.ready)(&mut world).await;
            let answer = sent(&world, row, &body).await;
            assert!(answer.status < 500, "{row}: {}", answer.text);
            assert!(!answer.text.contains("CANARY"), "{row} sings: {}", answer.text);
        }
        // To revoke a token that is none is to log out.
        world.ada.client = world.bank.ada().await.client;
        let forger = world.bank.client().with_token(&format!("CANARY-{n}-token-sings"));
        let refused = row.request(&forger, &world, (row.own)(&world)).send().await;
        assert!(!row.is_private() || refused.status == 401, "{row}: {}", refused.text);
    }
    world.bank.app.processes.run_due().await.unwrap();
    world.bank.caught_up().await;
    let mail = world.bank.client().get("/v1/sandbox/messages").await.is(200);
    secrets(&mail.body, &mut known);
    Heard::stop();
    assert!(known.len() > 5, "{}", known.len());
    assert!(heard.lines_with("answered").len() > 100, "nothing was heard");
    let found = leaks(&world.bank, &heard, "CANARY-").await;
    assert!(found.is_empty(), "{found:#?}");
    for secret in known {
        let found = leaks(&world.bank, &heard, &secret).await;
        assert!(found.is_empty(), "{secret}: {found:#?}");
    }
    world.bank.close().await;
}

#[tokio::test]
async fn a_secret_that_is_logged_or_stored_on_purpose_is_found() {
    let heard = Heard::default();
    heard.listen();
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    assert!(leaks(&bank, &heard, "CANARY-").await.is_empty());
    // A request id is logged, and a name of a tag is stored.
    let id = ada.client.request(reqwest::Method::GET, "/v1/accounts").header("X-Request-Id", "CANARY-logged");
    id.send().await.is(200);
    assert!(!leaks(&bank, &heard, "CANARY-logged").await.is_empty());
    let card = json!({"sourceAccount": ada.current, "destinationAccount": ada.savings, "amount": 1, "currency": "NGN",
        "narration": "CANARY-stored"});
    ada.client.post("/v1/payments/transfer/self", &card).await.is(201);
    bank.caught_up().await;
    assert!(leaks(&bank, &heard, "CANARY-stored").await.contains(&"journal.events".to_owned()));
    let span = tracing::info_span!("request", password = "CANARY-traced");
    span.in_scope(|| tracing::trace!("quietly"));
    assert!(!leaks(&bank, &heard, "CANARY-traced").await.is_empty());
    Heard::stop();
    bank.close().await;
}

#[tokio::test]
async fn what_staff_look_at_is_in_the_log_with_who_looked() {
    let heard = Heard::default();
    heard.listen();
    let bank = Bank::open().await;
    let (ada, approver) = (bank.ada().await, bank.approver().await);
    let user = bank.user("ada@example.com").await;
    approver.client.get(&format!("/v1/staff/customers/{user}?q=Ada")).await.is(200);
    ada.client.get("/v1/accounts").await.is(200);
    Heard::stop();
    let staff = bank.user("approver@example.com").await.to_string();
    let looked = heard.lines_with(&format!("/v1/staff/customers/{user}"));
    let told = looked.iter().filter(|line| line.contains(&staff) && line.contains("answered")).count();
    assert_eq!(told, 1, "{looked:#?}");
    // What is searched for may be a name; and what people do with what is theirs has its own traces.
    assert!(looked.iter().all(|line| !line.contains("q=Ada")), "{looked:#?}");
    let own = heard.lines_with("answered");
    assert!(own.iter().all(|line| !line.contains(&format!("staff={user}"))), "{own:#?}");
    bank.close().await;
}

/// Every name that any request or answer of the document knows.
async fn known_fields(bank: &Bank) -> BTreeSet<String> {
    let document = bank.client().get("/openapi.json").await.is(200).body;
    let schemas = document["components"]["schemas"].as_object().unwrap().values();
    schemas.filter_map(|schema| schema["properties"].as_object()).flat_map(|p| p.keys().cloned()).collect()
}

#[tokio::test]
async fn a_field_that_is_not_asked_for_changes_nothing() {
    let mut world = World::of(Bank::configured(quiet()).await).await;
    let document = world.bank.client().get("/openapi.json").await.is(200).body;
    let fields = known_fields(&world.bank).await;
    assert!(fields.len() > 200, "{}", fields.len());
    for row in rows() {
        let Some(body) = row.body else { continue };
        // Its proof covers the body, byte for byte.
        if row.path == "/v1/users/certificate/login" {
            continue;
        }
        (row.ready)(&mut world).await;
        let own = asked_for(&document, &row);
        let mut body = body(&world, (row.own)(&world));
        let members = body.as_object_mut().unwrap();
        for field in fields.iter().filter(|field| !own.contains(*field)) {
            members.insert(field.clone(), json!(format!("UNASKED-{field}")));
        }
        let answer = sent(&world, &row, &body).await;
        // A profile says so, a product, whose terms must not lack a field that was misspelled, and a webhook, whose secret is
        // not the caller's to choose; everybody else passes it over.
        let says_so = matches!(row.method.as_str(), "PUT" | "PATCH")
            || row.path.ends_with("-products")
            || row.path.ends_with("/webhooks");
        let refused = answer.status == 400 && says_so;
        assert!(answer.status < 300 || refused, "{row}: {}", answer.text);
        assert!(refused || !answer.text.contains("UNASKED"), "{row}: {}", answer.text);
    }
    world.bank.app.processes.run_due().await.unwrap();
    world.bank.caught_up().await;
    assert_eq!(tables_with(&world.bank, "UNASKED-").await, [""; 0]);
    world.bank.close().await;
}

/// The members of the operation's own body.
fn asked_for(document: &Value, row: &Row) -> BTreeSet<String> {
    let method = row.method.as_str().to_lowercase();
    let body = document["paths"][row.path][&method]["requestBody"].to_string();
    let (_, name) = body.split_once("#/components/schemas/").unwrap_or_else(|| panic!("{row} has no body"));
    let name = name.split('"').next().unwrap();
    document["components"]["schemas"][name]["properties"].as_object().unwrap().keys().cloned().collect()
}
