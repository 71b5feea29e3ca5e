//! What staff find at a desk: people, accounts, payments, what waits for them, and what the log says.

use bursar_commands::proof::Outside;
use bursar_domain::kernel::Permission::{self, AccountOps, LoanApprove, LoanDisburse, LoanReview, PiiErase};
use serde_json::{Value, json};

use crate::personal_data::staff;
use crate::proof::seal;
use crate::ratchet::closing::asks;
use crate::ratchet::lending;
use crate::support::client::transfer;
use crate::support::{Bank, Client};

/// The ids of the customers that are found.
async fn found(client: &Client, q: &str) -> Vec<String> {
    let answer = client.get(&format!("/v1/staff/customers?q={q}")).await.is(200);
    answer.list_at("customers").iter().map(|who| who["userId"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_customer_is_found_by_whatever_they_say_at_the_desk() {
    let bank = Bank::open().await;
    let (ada, teller) = (bank.ada().await, bank.teller().await);
    let her = bank.user("ada@example.com").await.to_string();
    let profile = ada.client.get("/v1/users/profile").await.is(200);
    let phone = profile.text_at("phoneNumber").replace('+', "%2B");
    let queries =
        [&her, &ada.current, &ada.savings, "ada@example.com", "ADA@", &phone, "ada", "oka", "Okafor%20A"];
    for q in queries {
        assert_eq!(found(&teller.client, q).await, std::slice::from_ref(&her), "{q}");
    }
    // The beginning of a word, and not any letters; and nobody's patterns.
    for q in ["kafor", "%25", "_da", "1000000008", "%2B999", "nobody@"] {
        assert_eq!(found(&teller.client, q).await, Vec::<String>::new(), "{q}");
    }
    assert!(found(&teller.client, "").await.len() >= 6);
    // A list tells who it is, and no more.
    let listed = teller.client.get("/v1/staff/customers?q=ada").await.is(200);
    assert!(
        !listed.text.contains(profile.text_at("phoneNumber")) && !listed.text.contains("ada@example.com")
    );
    bank.close().await;
}

#[tokio::test]
async fn staff_see_an_account_as_its_holder_does_and_a_payment_from_both_sides() {
    let bank = Bank::open().await;
    let (ada, bola, teller) = (bank.ada().await, bank.bola().await, bank.teller().await);
    let mut body = transfer(&ada.current, &bola.current, 700);
    body["reference"] = json!("INVOICE 4711/a");
    let paid = ada.client.post("/v1/payments/transfer/internal", &body).await.is(201);
    bank.caught_up().await;
    let id = paid.text_at("transactionId");
    for part in ["", "/statement", "/history"] {
        let hers = ada.client.get(&format!("/v1/accounts/{}{part}", ada.current)).await.is(200);
        let mut theirs =
            teller.client.get(&format!("/v1/staff/accounts/{}{part}", ada.current)).await.is(200);
        if part.is_empty() {
            let holder = theirs.body.as_object_mut().unwrap().remove("userId").unwrap();
            assert_eq!(holder, json!(bank.user("ada@example.com").await));
        }
        assert_eq!(hers.body, theirs.body, "{part}");
    }
    for q in [id, "INVOICE%204711/a"] {
        let listed = teller.client.get(&format!("/v1/staff/transactions?q={q}")).await.is(200);
        let [row] = listed.list_at("transactions") else { panic!("{}", listed.text) };
        assert_eq!(row["transactionId"], id);
        assert_eq!(row["payerId"], json!(bank.user("ada@example.com").await));
        assert_eq!(row["payeeId"], json!(bank.user("bola@example.com").await));
        let one = teller.client.get(&format!("/v1/staff/transactions/{id}")).await.is(200);
        assert_eq!(&one.body, row);
    }
    // A part of a reference is none; and without one nothing is listed.
    for q in ["", "?q=INVOICE"] {
        let listed = teller.client.get(&format!("/v1/staff/transactions{q}")).await.is(200);
        assert_eq!(listed.list_at("transactions").len(), 0, "{q}");
    }
    let cards = format!("/v1/staff/customers/{}/cards", bank.user("ada@example.com").await);
    assert_eq!(teller.client.get(&cards).await.is(200).body["cards"], json!([]));
    bank.close().await;
}

#[tokio::test]
async fn the_events_of_a_thing_are_shown_in_order_and_what_is_personal_stays_sealed() {
    let bank = Bank::open().await;
    let (ada, bola, auditor) =
        (bank.ada().await, bank.bola().await, bank.person("auditor@example.com").await);
    let paid = ada.client.pay(&ada.current, &bola.current, 700, "one").await.is(201);
    let path = format!("/v1/audit/events?aggregateId={}", paid.text_at("transactionId"));
    let seen = auditor.client.get(&path).await.is(200);
    let [event] = seen.list_at("events") else { panic!("{}", seen.text) };
    assert_eq!((&event["eventType"], &event["sealed"]), (&json!("payment.completed"), &json!(false)));
    assert_eq!(event["actor"], json!(bank.user("ada@example.com").await));
    assert_eq!(event["position"].as_i64(), paid.header("bursar-position").parse().ok());
    seal(&bank, Outside::default()).await;
    let seen = auditor.client.get(&path).await.is(200);
    assert_eq!(seen.list_at("events")[0]["sealed"], true);
    let head = auditor.client.get("/v1/audit/head").await.is(200);
    assert_eq!(head.body["checkpoint"]["size"], seen.body["sealedTo"]);
    assert!(head.number_at("position") >= seen.number_at("sealedTo"));

    // Whoever asks: the events say whose secret it is, and nothing of it.
    let her = bank.user("ada@example.com").await.to_string();
    let hers = auditor.client.get(&format!("/v1/audit/events?aggregateId={her}")).await.is(200);
    assert_eq!(
        hers.list_at("events")[0]["payload"]["registered"]["first_name"]["sealed"],
        json!(her),
        "{}",
        hers.text
    );
    assert!(!hers.text.contains("Okafor") && !hers.text.contains("argon2"), "{}", hers.text);

    // The whole log, part by part, is the whole log.
    let (mut after, mut positions) = (0, Vec::new());
    loop {
        let part = auditor.client.get(&format!("/v1/audit/events?after={after}&limit=7")).await.is(200);
        positions.extend(part.list_at("events").iter().map(|event| event["position"].as_i64().unwrap()));
        let Some(next) = part.body["nextAfter"].as_i64() else { break };
        after = next;
    }
    assert_eq!(positions, (1..=*positions.last().unwrap()).collect::<Vec<_>>());
    for wrong in ["after=-1", "after=x", "limit=0"] {
        auditor.client.get(&format!("/v1/audit/events?{wrong}")).await.problem(400, "VALIDATION_FAILED");
    }
    bank.close().await;
}

/// What waits for somebody: each thing's stage and the names of what they can do about it.
async fn inbox(client: &Client) -> Vec<(String, Vec<String>)> {
    let answer = client.get("/v1/staff/approvals?size=100").await.is(200);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let row = |row: &Value| {
        (text(&row["stage"]), row["actions"].as_array().unwrap().iter().map(|a| text(&a["name"])).collect())
    };
    answer.list_at("approvals").iter().map(row).collect()
}

/// Somebody who may do exactly this.
async fn with(bank: &Bank, name: &str, permissions: &[Permission]) -> Client {
    staff(bank, name, permissions).await.1
}

#[tokio::test]
async fn everybody_finds_what_waits_for_them_and_can_do_it_from_there() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    lending::applies(&ada).await;
    let closing = asks(&ada, &ada.savings, &ada.current).await;
    bank.caught_up().await;
    let reviewer = with(&bank, "teller@example.com", &[LoanReview]).await;
    let approver = with(&bank, "approver@example.com", &[LoanApprove, AccountOps]).await;

    assert_eq!(inbox(&reviewer).await, [("LOAN_PENDING".to_owned(), vec!["start-review".to_owned()])]);
    let seen = reviewer.get("/v1/staff/approvals").await.is(200);
    let item = &seen.list_at("approvals")[0];
    // Names are for those who may read customers.
    assert_eq!(item["customerName"], Value::Null);
    assert_eq!(item["userId"], json!(bank.user("ada@example.com").await));
    reviewer.post(item["actions"][0]["path"].as_str().unwrap(), &json!({})).await.is(200);
    bank.caught_up().await;

    let reviewing = ("LOAN_UNDER_REVIEW".to_owned(), vec!["request-info".to_owned()]);
    assert_eq!(inbox(&reviewer).await, [reviewing]);
    let both = [
        ("LOAN_UNDER_REVIEW".to_owned(), vec!["approve".to_owned(), "reject".to_owned()]),
        ("CLOSURE_PENDING".to_owned(), vec!["approve".to_owned(), "reject".to_owned()]),
    ];
    assert_eq!(inbox(&approver).await, both);
    let seen = approver.get("/v1/staff/approvals?stage=CLOSURE_PENDING").await.is(200);
    let [item] = seen.list_at("approvals") else { panic!("{}", seen.text) };
    assert_eq!((&item["customerName"], &item["id"]), (&json!("Ada Okafor"), &json!(closing)));
    approver.post(item["actions"][0]["path"].as_str().unwrap(), &json!({})).await.is(200);
    // Who has agreed waits for another one to close.
    assert_eq!(inbox(&approver).await[1], ("CLOSURE_APPROVED".to_owned(), Vec::new()));
    bank.caught_up().await;
    let other = with(&bank, "teller@example.com", &[AccountOps]).await;
    assert_eq!(inbox(&other).await, [("CLOSURE_APPROVED".to_owned(), vec!["finalize".to_owned()])]);
    bank.close().await;
}

#[tokio::test]
async fn whoever_decides_about_a_loan_reads_it_and_nothing_else_of_loans() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let loan = lending::applies(&ada).await;
    bank.caught_up().await;
    let path = format!("/v1/staff/loans/{loan}");
    for permission in [LoanReview, LoanApprove, LoanDisburse] {
        let client = with(&bank, "teller@example.com", &[permission]).await;
        assert_eq!(client.get(&path).await.is(200).text_at("loanId"), loan);
        let list = client.get("/v1/staff/loans").await;
        let begin = client.post(&format!("{path}/request-info"), &json!({"note": "Payslips"})).await;
        if permission == LoanReview {
            list.is(200);
            // The control: there is nothing to ask yet, and whoever reviews is told so.
            begin.problem(409, "INVALID_STATE");
        } else {
            list.problem(403, "PERMISSION_DENIED");
            begin.problem(403, "PERMISSION_DENIED");
        }
    }
    let other = with(&bank, "teller@example.com", &[AccountOps]).await;
    assert_eq!(other.get(&path).await.problem(403, "PERMISSION_DENIED").body["permission"], "LOAN_REVIEW");
    bank.close().await;
}

#[tokio::test]
async fn an_erasure_waits_for_the_second_member_of_staff_and_then_no_more() {
    let bank = Bank::open().await;
    let who = bank.registered("gone").await;
    let maker = with(&bank, "teller@example.com", &[PiiErase]).await;
    let checker = with(&bank, "approver@example.com", &[PiiErase]).await;
    let path = format!("/v1/staff/subjects/{who}/erase");
    maker.post(&path, &json!({"reason": "Ticket 1"})).await.is(200);
    bank.caught_up().await;
    assert_eq!(inbox(&maker).await, [("ERASURE_PENDING".to_owned(), Vec::new())]);
    assert_eq!(inbox(&checker).await, [("ERASURE_PENDING".to_owned(), vec!["erase".to_owned()])]);
    checker.post(&path, &json!({"reason": "Ticket 1"})).await.is(200);
    bank.caught_up().await;
    assert_eq!(inbox(&maker).await, []);
    // A customer decides nothing, and is told nothing.
    let ada = bank.ada().await;
    let none = ada.client.get("/v1/staff/approvals").await.is(200);
    assert_eq!((&none.body["stages"], &none.body["approvals"]), (&json!([]), &json!([])));
    bank.close().await;
}

#[tokio::test]
async fn what_the_bank_will_do_by_itself_is_listed_soonest_first() {
    let bank = Bank::configured(crate::support::quiet()).await;
    let (ada, approver) = (bank.ada().await, bank.approver().await);
    let body = json!({
        "sourceAccount": ada.current, "destinationAccount": "0123456789", "bankCode": "000013", "amount": 5_000,
        "currency": "NGN",
    });
    let sent = ada.client.post("/v1/payments/transfer/external", &body).await.is(201);
    // Its first step is done at once, and moves the row.
    bank.events().await;
    let all = approver.client.get("/v1/staff/ops/schedule?size=100").await.is(200);
    let due: Vec<&str> = all.list_at("work").iter().map(|row| row["dueAt"].as_str().unwrap()).collect();
    assert!(due.is_sorted(), "{due:?}");
    let hers =
        all.list_at("work").iter().find(|row| row["subject"] == sent.text_at("transactionId")).unwrap();
    let task = hers["task"].as_str().unwrap();
    let one = approver.client.get(&format!("/v1/staff/ops/schedule?task={task}")).await.is(200);
    assert!(one.list_at("work").iter().all(|row| row["task"] == task) && one.list_at("work").contains(hers));
    bank.close().await;
}
