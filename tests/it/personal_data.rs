//! What the bank knows of people: sealed in the log, erased with a key, gone from every table.

mod at_work;
mod erasure;
mod rotation;

use bursar_api::app::App;
use bursar_commands::messages::notice;
use bursar_commands::{Context, Unit};
use bursar_domain::kernel::Permission::{self, PiiErase};
use bursar_domain::kernel::UserId;
use bursar_domain::messages::{Category, MessagesCommand};
use serde_json::{Value, json};

use crate::support::client::{Answer, transfer};
use crate::support::leaving::leaves;
use crate::support::secrets::tables_with;
use crate::support::{Bank, Client, Person};

/// What Ada has told the bank about herself and others, none of which anybody else has said.
pub const HERS: [&str; 12] = [
    "Okafor",
    "ada@example.com",
    "Funmilayo Canary",
    "Aunt Canary",
    "+2348055512345",
    "0001119998",
    "Canary tag",
    "Canary note",
    "CANARY HOLDER",
    "Canary Kin",
    "12 Canary Close",
    "Canary letter",
];

/// Ada does everything that leaves something personal behind. Answers a transaction of hers.
pub async fn everything(bank: &Bank, ada: &Person, bola: &Person) -> String {
    let mut named = transfer(&ada.current, &bola.current, 1_000);
    named["destinationName"] = json!("Funmilayo Canary");
    let paid = ada.client.post("/v1/payments/transfer/internal", &named).await.is(201);
    let id = paid.text_at("transactionId").to_owned();
    let kept = json!({
        "accountNumber": "0001119998", "bankCode": "000013", "accountName": "Funmilayo Canary", "nickname": "Aunt Canary",
    });
    ada.client.post("/v1/payments/beneficiaries/external", &kept).await.is(201);
    let wallet = json!({
        "sourceAccount": ada.current, "walletProvider": "OPAY", "phoneNumber": "+2348055512345", "amount": 500,
        "currency": "NGN",
    });
    ada.client.post("/v1/payments/transfer/mwallet", &wallet).await.is(201);
    let tag = ada.client.post("/v1/transactions/tags", &json!({"tagName": "Canary tag"})).await.is(201);
    let put = json!({"tagIds": [tag.text_at("tagId")], "notes": "Canary note"});
    ada.client.post(&format!("/v1/transactions/{id}/tag"), &put).await.is(200);
    let card = json!({"cardNumber": "4242424242424242", "expiryDate": "12/60", "cvv": "123", "cardHolderName": "CANARY HOLDER"});
    ada.client.post("/v1/cards/external", &card).await.is(201);
    let dispute =
        json!({"disputeAmount": 700, "contactPhone": "+2348055512345", "contactEmail": "ada@example.com"});
    ada.client.post(&format!("/v1/transactions/{id}/dispute"), &dispute).await.is(201);
    let kin = json!({"relationship": "SPOUSE", "firstName": "Canary Kin", "lastName": "Okafor", "phoneNumber": "+2348055512345"});
    ada.client.post("/v1/compliance/kin", &kin).await.is(201);
    let home = json!({"addressType": "RESIDENTIAL", "streetAddress": "12 Canary Close", "city": "Ikeja", "country": "NG"});
    ada.client.post("/v1/compliance/address", &home).await.is(201);
    let letter = notice(bank.app.journal.sources(), Category::General, "News", "Canary letter".into());
    let post = MessagesCommand::Post(Box::new(letter));
    let unit = Unit::new(Context::default()).step(bank.user("ada@example.com").await, post);
    bank.app.journal.submit(unit).await.unwrap();
    // Others write her name down, too.
    let keeps = json!({"accountNumber": ada.current, "accountName": "Ada Okafor"});
    bola.client.post("/v1/payments/beneficiaries/internal", &keeps).await.is(201);
    let mut back = transfer(&bola.current, &ada.current, 100);
    back["destinationName"] = json!("Ada Okafor");
    bola.client.post("/v1/payments/transfer/internal", &back).await.is(201);
    bank.caught_up().await;
    id
}

/// A client of somebody who may do exactly this.
pub async fn staff(bank: &Bank, email: &str, permissions: &[Permission]) -> (UserId, Client) {
    let user = bank.user(email).await;
    let session = bank.session(user, permissions).await;
    (user, bank.client().with_token(&bank.token(user, session, permissions, 0)))
}

/// Nothing is theirs any more: disputes are over, accounts closed or empty, and all of it is the heir's.
async fn left(bank: &Bank, email: &str, heir: &Person) {
    // What is on its way arrives.
    bank.later(120).await;
    let (_, one) = staff(bank, "teller@example.com", &[Permission::AccountOps]).await;
    let (_, other) = staff(bank, "approver@example.com", &[Permission::AccountOps]).await;
    leaves(&bank.person(email).await, &heir.current, (&one, &other)).await;
}

/// Two who may erase people.
async fn two(bank: &Bank) -> (Client, Client) {
    (
        staff(bank, "teller@example.com", &[PiiErase]).await.1,
        staff(bank, "approver@example.com", &[PiiErase]).await.1,
    )
}

fn path(user: UserId) -> String {
    format!("/v1/staff/subjects/{user}/erase")
}

async fn erase(client: &Client, user: UserId) -> Answer {
    client.post(&path(user), &json!({"reason": "Asked for it in writing"})).await
}

/// How often `text` is in the payloads of the log.
async fn payloads_with(bank: &Bank, text: &str) -> i64 {
    let sql = "SELECT count(*) FROM events WHERE position($1 IN payload::text) > 0";
    sqlx::query_scalar(sql).bind(text).fetch_one(&bank.pool).await.unwrap()
}

#[tokio::test]
async fn what_is_personal_is_ciphertext_in_the_log() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    everything(&bank, &ada, &bola).await;
    for secret in HERS {
        assert_eq!(payloads_with(&bank, secret).await, 0, "{secret}");
        let tables = tables_with(&bank, secret).await;
        assert!(tables.iter().all(|table| table.starts_with("read.")), "{secret}: {tables:?}");
    }
    // The control: what is not personal is there to be found, and so is what should not be.
    assert!(payloads_with(&bank, "OPAY").await > 0);
    assert!(payloads_with(&bank, r#""sealed":"1.usr_"#).await > 10);
    assert_eq!(payloads_with(&bank, r#""personal":"#).await, 0);
    sqlx::query("UPDATE events SET payload = '{\"x\":\"Canary note\"}' WHERE position = 1")
        .execute(&bank.pool)
        .await
        .unwrap();
    assert_eq!(payloads_with(&bank, "Canary note").await, 1);
    let (pool, database) = bank.stop().await;
    pool.close().await;
    database.drop_now().await.unwrap();
}

#[tokio::test]
async fn sealed_data_open_where_they_were_sealed_and_nowhere_else() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.user("ada@example.com").await, bank.user("bola@example.com").await);
    let reads = async || bank.second_through(bank.url()).await;
    let ids = [ada.to_string(), bola.to_string()];
    let swap = async |sql: &str| {
        sqlx::query(sql).bind(&ids[0]).bind(&ids[1]).execute(&bank.pool).await.unwrap();
    };
    let password_of = async |app: &App, user: UserId| {
        let read = app.journal.load::<bursar_domain::users::User>(&user.to_string()).await;
        read.map(|(user, _)| user.person().unwrap().password_hash.clone())
    };
    let app = reads().await;
    assert!(password_of(&app, ada).await.unwrap().unwrap().get().is_some(), "the control");
    app.close().await;
    // Bola's password under Ada's name would let Bola in as Ada.
    swap(
        "UPDATE events e SET payload = (SELECT payload FROM events b WHERE b.aggregate_id = $2
                                            AND b.event_type = 'user.password_set')
           WHERE e.aggregate_id = $1 AND e.event_type = 'user.password_set'",
    )
    .await;
    let app = reads().await;
    let error = password_of(&app, ada).await.unwrap_err().to_string();
    assert!(error.contains("changed or moved"), "{error}");
    // So would it with the key relabelled, and from one field of an event to another.
    swap(
        "UPDATE events SET payload = replace(payload::text, $2, $1)::json
           WHERE aggregate_id = $1 AND event_type = 'user.password_set'",
    )
    .await;
    assert!(password_of(&app, ada).await.is_err());
    swap(
        r#"UPDATE events SET payload = replace(replace(replace(payload::text, 'first_name', 'x'), 'last_name',
                                                  'first_name'), '"x"', '"last_name"')::json
             WHERE aggregate_id = $2 AND event_type = 'user.registered' AND $1 <> ''"#,
    )
    .await;
    assert!(password_of(&app, bola).await.unwrap_err().to_string().contains("changed or moved"));
    app.close().await;
    let (pool, database) = bank.stop().await;
    pool.close().await;
    database.drop_now().await.unwrap();
}

#[tokio::test]
async fn files_are_sealed_for_one_person_and_one_purpose() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.user("ada@example.com").await, bank.user("bola@example.com").await);
    let vault = bank.app.journal.vault();
    let file = b"%PDF-1.7 canary".as_slice();
    let sealed = vault.seal(ada, "document:1", file).await.unwrap();
    assert!(!sealed.windows(6).any(|bytes| bytes == b"canary"));
    assert_eq!(vault.open(ada, "document:1", &sealed).await.unwrap(), file);
    assert!(vault.open(ada, "document:2", &sealed).await.is_err());
    assert!(vault.open(bola, "document:1", &sealed).await.is_err());
    assert!(
        vault.open(ada, "document:1", &sealed[1..]).await.is_err() && vault.open(ada, "", b"").await.is_err()
    );
    let nobody = "usr_0192f0c1a00070008000000000000abc".parse().unwrap();
    assert_eq!(vault.seal(nobody, "document:1", file).await.unwrap_err().code(), Some("NOT_FOUND"));
    // Another process reads it, and cannot any more once the person is erased.
    let second = bank.second_through(bank.url()).await;
    assert_eq!(second.journal.vault().open(ada, "document:1", &sealed).await.unwrap(), file);
    left(&bank, "ada@example.com", &bank.bola().await).await;
    let (maker, checker) = two(&bank).await;
    erase(&maker, ada).await.is(200);
    erase(&checker, ada).await.is(200);
    let code = vault.open(ada, "document:1", &sealed).await.unwrap_err().code();
    assert_eq!(code, Some("SUBJECT_ERASED"));
    assert_eq!(vault.seal(ada, "document:1", file).await.unwrap_err().code(), Some("SUBJECT_ERASED"));
    second.close().await;
    bank.caught_up().await;
    bank.close().await;
}

/// The texts of a JSON value.
fn texts(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::String(text) => into.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| texts(value, into)),
        Value::Object(members) => members.values().for_each(|value| texts(value, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
