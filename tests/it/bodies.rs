//! Request bodies that no app would send.

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::client::{Answer, transfer};
use crate::support::{Bank, Person};

const INTERNAL: &str = "/v1/payments/transfer/internal";

#[tokio::test]
async fn a_body_must_be_json_and_of_a_bearable_size() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let events = bank.events().await;
    let body = transfer(&ada.current, &ada.savings, 5).to_string();
    let post = async |content_type: &str, body: Vec<u8>| {
        ada.client.request(Method::POST, INTERNAL).raw(content_type, body).send().await
    };
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "json", ""] {
        post(content_type, body.clone().into()).await.problem(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    let without = ada.client.request(Method::POST, INTERNAL).send().await;
    without.problem(415, "UNSUPPORTED_MEDIA_TYPE");
    for content_type in ["application/json", "Application/JSON; charset=utf-8"] {
        post(content_type, vec![b' '; 1024 * 1024 + 1]).await.problem(413, "TOO_LARGE");
        post(content_type, vec![b' '; 1024 * 1024]).await.problem(400, "VALIDATION_FAILED");
    }
    // A body whose length nobody says beforehand.
    let mut stream = tokio::net::TcpStream::connect(bank.address).await.unwrap();
    let head = format!(
        "POST {INTERNAL} HTTP/1.1\r\nhost: bank\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         transfer-encoding: chunked\r\n\r\n",
        ada.client.token(),
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x1_0000));
    // The server stops reading after a megabyte, so the last chunk may not get through.
    for _ in 0..17 {
        drop(stream.write_all(chunk.as_bytes()).await);
    }
    let mut status = [0; 12];
    stream.read_exact(&mut status).await.unwrap();
    assert_eq!(status, *b"HTTP/1.1 413");
    assert_eq!(bank.events().await, events);
    bank.close().await;
}

/// Sends a transfer whose text is `template` with SOURCE and DESTINATION filled in.
async fn raw_transfer(ada: &Person, template: &str) -> Answer {
    let text = template.replace("SOURCE", &ada.current).replace("DESTINATION", &ada.savings);
    ada.client.request(Method::POST, INTERNAL).raw("application/json", text).send().await
}

#[tokio::test]
async fn strange_json_is_refused_and_named() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let events = bank.events().await;
    let fields = r#""sourceAccount":"SOURCE","destinationAccount":"DESTINATION","currency":"NGN""#;
    for (member, pointer) in [
        (r#""amount":5,"narration":"nul \u0000 here""#, "/narration"),
        (r#""amount":5,"narration":"bell \u0007""#, "/narration"),
        (r#""amount":5,"narration":"line\nbreak""#, "/narration"),
        (r#""amount":5,"narration":"""#, "/narration"),
        (r#""amount":5,"reference":{"$gt":""}"#, "/reference"),
        (r#""amount":5,"saveAsBeneficiary":"yes""#, "/saveAsBeneficiary"),
        (r#""amount":99999999999999999999999999"#, "/amount"),
        (r#""amount":-9223372036854775808"#, "/amount"),
        (r#""amount":9223372036854775807"#, "/amount"),
        (r#""amount":1e3"#, "/amount"),
        (r#""amount":5.0"#, "/amount"),
        (r#""amount":"5""#, "/amount"),
        (r#""amount":[5]"#, "/amount"),
        (r#""amount":null"#, "/amount"),
    ] {
        let answer = raw_transfer(&ada, &format!("{{{fields},{member}}}")).await;
        assert_eq!(answer.problem(400, "VALIDATION_FAILED").pointers(), [pointer], "{member}");
    }
    let nested = |open: &str, close: &str| {
        format!(r#"{{"amount":5,"x":{}{}}}"#, open.repeat(100_000), close.repeat(100_000))
    };
    for malformed in [
        nested("[", "]"),
        nested(r#"{"a":"#, "}"),
        r#"{"narration":"\ud800"}"#.to_owned(),
        r#"{"amount":1e999}"#.to_owned(),
        r#"{"amount":05}"#.to_owned(),
        r#"{"amount":5,}"#.to_owned(),
        "{} {}".to_owned(),
        "\u{feff}{}".to_owned(),
    ] {
        let answer = raw_transfer(&ada, &malformed).await.problem(400, "VALIDATION_FAILED");
        assert_eq!(answer.pointers(), [""], "{}", &malformed[..malformed.len().min(40)]);
    }
    let invalid = ada
        .client
        .request(Method::POST, INTERNAL)
        .raw("application/json", b"{\"narration\":\"\xff\"}".to_vec());
    invalid.send().await.problem(400, "VALIDATION_FAILED");
    assert_eq!(bank.events().await, events);
    bank.close().await;
}

#[tokio::test]
async fn fields_that_nobody_knows_change_nothing() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let text = r#"{"sourceAccount":"SOURCE","destinationAccount":"DESTINATION","currency":"NGN","amount":7,
        "fee":-5,"status":"FAILED","transactionId":"txn_1","sourceOwner":"bola","kind":"DEPOSIT","narration":"Émile 💸"}"#;
    let paid = raw_transfer(&ada, text).await.is(201);
    assert_eq!((paid.text_at("status"), paid.number_at("amount")), ("SUCCESS", 7));
    assert_eq!((paid.text_at("transferType"), paid.text_at("narration")), ("INTERNAL", "Émile 💸"));
    assert_ne!(paid.text_at("transactionId"), "txn_1");
    bank.close().await;
}

#[tokio::test]
async fn a_field_given_twice_means_one_thing() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let had = ada.client.balance(&ada.current).await;
    let text = r#"{"sourceAccount":"SOURCE","destinationAccount":"DESTINATION","currency":"NGN","amount":1,"amount":2}"#;
    let paid = raw_transfer(&ada, text).await.is(201);
    let left = ada.client.balance(&ada.current).await;
    assert_eq!(left, had - paid.number_at("amount"), "what is answered is what was paid");
    bank.close().await;
}

#[tokio::test]
async fn no_customer_can_stop_a_read_model_with_what_they_write() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let most = "\u{10ffff}".repeat(140);
    for (field, value) in [
        ("maturityDate", json!("9999-12-31T23:59:59.999999999Z")),
        ("maturityDate", json!("-009999-01-03T00:00:00Z")),
        ("maturityDate", json!("2026-01-01T00:00:00.123456789+01:00")),
        ("accountName", json!(most)),
        ("accountName", json!("'; DROP TABLE accounts; --")),
        ("accountName", json!("{1,2}\\x00 NULL \\N")),
        ("savingsGoal", json!(1_000_000_000_000_000_i64)),
    ] {
        let mut body = json!({"productId": "TSV-001", "currency": "NGN"});
        body[field] = value;
        let opened = ada.client.post("/v1/accounts", &body).await;
        // Some days cannot be, and others are over.
        if [400, 422].contains(&opened.status) {
            continue;
        }
        let read = ada.client.get(opened.is(201).header("location")).await;
        assert_eq!(read.status, 200, "{body}: {}", read.text);
    }
    bank.client().get("/readyz").await.is(200);
    bank.close().await;
}
