//! Receipts: for those who paid or were paid, as JSON and as a page to be printed.

use base64::Engine as _;
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::client::{Answer, transfer};
use crate::support::{Bank, Person};

const UNKNOWN: &str = "/v1/transactions/txn_0192f0c1a00070008000000000000abc/receipt";
/// What a browser sends.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// Pays, and answers where the receipt is.
async fn pay(from: &Person, to: &Person, change: impl Fn(&mut Value)) -> String {
    let mut body = transfer(&from.current, &to.current, 123_456_789);
    change(&mut body);
    let paid = from.client.post("/v1/payments/transfer/internal", &body).await.is(201);
    paid.text_at("receiptUrl").to_owned()
}

async fn page(person: &Person, path: &str, accept: &str) -> Answer {
    person.client.request(Method::GET, path).header("Accept", accept).send().await
}

#[tokio::test]
async fn both_sides_have_a_receipt_and_nobody_else_can_tell_that_there_is_one() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let deposit = json!({"amount": 200_000_000, "currency": "NGN"});
    let teller = bank.teller().await;
    teller.client.post(&format!("/v1/staff/accounts/{}/deposit", ada.current), &deposit).await.is(201);
    let path = pay(&ada, &bola, |body| body["destinationName"] = json!("My friend B.")).await;
    bank.caught_up().await;
    let receipt = ada.client.get(&path).await.is(200);
    assert_eq!(receipt.header("content-type"), "application/json");
    assert_eq!(
        receipt.body["to"],
        json!({"name": "My friend B.", "accountNumber": bola.current, "institution": null})
    );
    assert_eq!((&receipt.body["amount"], &receipt.body["status"]), (&json!(123_456_789), &json!("SUCCESS")));
    assert_eq!((receipt.number_at("totalAmount"), receipt.text_at("reference")), (123_456_789, "LUNCH"));
    let payer = receipt.body["from"]["name"].clone();
    assert!(payer.is_string());

    // Bola learns who paid her, and not what Ada calls her.
    let hers = bola.client.get(&path).await.is(200);
    assert_eq!((&hers.body["from"]["name"], hers.text.contains("My friend")), (&payer, false));
    assert_ne!(hers.body["to"]["name"], Value::Null);

    for accept in ["application/json", BROWSER] {
        let (strangers, unknown) = (
            chidi.client.request(Method::GET, &path).header("Accept", accept).header("X-Request-Id", "r"),
            chidi.client.request(Method::GET, UNKNOWN).header("Accept", accept).header("X-Request-Id", "r"),
        );
        let (strangers, unknown) = (strangers.send().await, unknown.send().await.problem(404, "NOT_FOUND"));
        assert_eq!((strangers.status, &strangers.text), (404, &unknown.text));
        for header in ["content-type", "cache-control", "etag", "vary", "content-security-policy"] {
            assert_eq!(strangers.header(header), unknown.header(header), "{header}");
        }
        let nobody = bank.client().request(Method::GET, &path).header("Accept", accept).send().await;
        nobody.problem(401, "UNAUTHENTICATED");
    }
    assert_eq!(page(&ada, &path, "application/pdf").await.status, 406);
    bank.close().await;
}

#[tokio::test]
async fn a_printed_receipt_says_what_was_paid_and_runs_nothing() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let evil =
        "</style></dd><script>alert(1)</script><img src=//evil onerror=x> & 'quoted' \"twice\" {{ 7*7 }}";
    let path = pay(&ada, &bola, |body| {
        body["amount"] = json!(1_234_567);
        body["narration"] = json!(evil);
        body["reference"] = json!("</title><script>alert(2)</script>");
        body["destinationName"] = json!("<b onclick=alert(3)>Bola</b>");
    })
    .await;
    bank.caught_up().await;
    for person in [&ada, &bola] {
        let receipt = page(person, &path, BROWSER).await.is(200);
        assert_eq!(receipt.header("content-type"), "text/html; charset=utf-8");
        let html = &receipt.text;
        assert!(html.contains("12,345.67 NGN") && html.contains(&ada.current), "{html}");
        // What people wrote is text: the page has the tags of its template and no others.
        for tag in ["<script", "<img", "<b ", "</style></dd>"] {
            assert!(!html.contains(tag), "{tag} in {html}");
        }
        assert_eq!(html.matches("</style>").count(), 1);
        assert_eq!(html.matches("</title>").count(), 1);
        assert!(html.contains("&#60;script&#62;alert(1)") && html.contains("{{ 7*7 }}"), "{html}");
        // And it fetches nothing.
        for outside in ["src=\"", "href=", "url(", "@import"] {
            assert!(!html.contains(outside), "{outside} in {html}");
        }
        let policy = receipt.header("content-security-policy");
        for part in ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"]
        {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        // The one style that the policy allows is the one on the page.
        let style = html.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
        assert!(style.contains("@media print"));
        let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, style.as_bytes());
        let hash = base64::engine::general_purpose::STANDARD.encode(hash);
        assert!(policy.contains(&format!("style-src 'sha256-{hash}'")), "{policy}");
        for (header, value) in
            [("x-content-type-options", "nosniff"), ("cache-control", "no-store"), ("vary", "accept")]
        {
            assert_eq!(receipt.header(header), value, "{header}");
        }
        let again = person.client.request(Method::GET, &path).header("Accept", BROWSER);
        assert_eq!(again.header("If-None-Match", receipt.header("etag")).send().await.status, 304);
    }
    assert!(page(&ada, &path, BROWSER).await.text.contains("Bola&#60;/b&#62;"));
    assert!(!page(&bola, &path, BROWSER).await.text.contains("onclick"));
    bank.close().await;
}

#[tokio::test]
async fn a_receipt_tells_what_became_of_the_payment() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let body = json!({
        "sourceAccount": ada.current, "destinationAccount": "9000000001", "destinationName": "Bola Adeyemi",
        "bankCode": "000013", "bankName": "Guaranty Trust Bank", "amount": 5_000, "currency": "NGN",
    });
    let sent = ada.client.post("/v1/payments/transfer/external", &body).await.is(201);
    let path = sent.text_at("receiptUrl").to_owned();
    let before = page(&ada, &path, "text/html").await.is(200);
    assert!(
        before.text.contains("Successful")
            && before.text.contains("Bola Adeyemi · 9000000001 · Guaranty Trust Bank")
    );
    bank.later(61).await;
    bank.caught_up().await;
    let after = page(&ada, &path, "text/html").await.is(200);
    assert!(after.text.contains("Came back"), "{}", after.text);
    assert_ne!(after.header("etag"), before.header("etag"));
    // Cash over the counter has the bank on the other side.
    let teller = bank.teller().await;
    let deposit = json!({"amount": 500, "currency": "NGN"});
    teller.client.post(&format!("/v1/staff/accounts/{}/deposit", ada.current), &deposit).await.is(201);
    bank.caught_up().await;
    let rows = ada.client.get("/v1/transactions?type=DEPOSIT&size=1").await.is(200);
    let cash = rows.list_at("transactions")[0]["receiptUrl"].as_str().unwrap();
    let cash = page(&ada, cash, "text/html").await.is(200);
    assert!(cash.text.contains("<dt>From</dt><dd>The bank</dd>"), "{}", cash.text);
    bank.close().await;
}
