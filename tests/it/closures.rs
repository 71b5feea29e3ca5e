//! The end of accounts: asked for, decided by two, all or nothing, whatever races with it.

mod life;

use bursar_domain::kernel::Permission::AccountOps;
use futures_util::future::{join, join_all};
use reqwest::Method;
use serde_json::{Value, json};

use crate::personal_data::staff;
use crate::ratchet::closing::{application, asks, opens};
use crate::ratchet::lending;
use crate::support::client::Answer;
use crate::support::{Bank, Client, Person};

async fn tries(client: &Client, application: &str, step: &str) -> Answer {
    let path = format!("/v1/staff/account-closures/{application}/{step}");
    client.post(&path, &json!({"note": "Seen", "reason": "Because"})).await
}

async fn asking(person: &Person, account: &str, body: &Value) -> Answer {
    person.client.post(&format!("/v1/accounts/{account}/close"), body).await
}

async fn status(person: &Person, account: &str) -> String {
    let answer = person.client.get(&format!("/v1/accounts/{account}")).await.is(200);
    answer.text_at("accountStatus").to_owned()
}

async fn sends(person: &Person, from: &str, number: &str) -> Answer {
    let body = json!({
        "sourceAccount": from, "destinationAccount": number, "destinationName": "Bola Adeyemi", "bankCode": "000013",
        "bankName": "Guaranty Trust Bank", "amount": 5_000, "currency": "NGN",
    });
    person.client.post("/v1/payments/transfer/external", &body).await
}

/// An account of Ada's that may be closed by somebody else.
async fn approved(ada: &Person, account: &str, approver: &Person) -> String {
    let application = asks(ada, account, &ada.current).await;
    tries(&approver.client, &application, "approve").await.is(200);
    application
}

#[tokio::test]
async fn what_savings_have_earned_goes_with_what_is_left() {
    let bank = Bank::open().await;
    let account = opens(&bank.ada().await, "SAV-001", 10_000_000).await;
    bank.later(10 * 24 * 60 * 60).await;
    let (ada, teller, approver) = (bank.ada().await, bank.teller().await, bank.approver().await);
    let paid = bank.events_of("payment.completed").await;
    let id = approved(&ada, &account, &approver).await;
    let done = tries(&teller.client, &id, "finalize").await.is(200);
    assert!(done.number_at("transferredAmount") > 10_000_000, "{}", done.text);
    assert!(bank.events_of("payment.completed").await >= paid + 2, "the interest, and the sweep");
    bank.caught_up().await;
    assert_eq!(ada.client.balance(&account).await, 0);
    // Nothing is earned any more, and nothing is posted twice: the audit works it out again when the bank closes.
    bank.later(40 * 24 * 60 * 60).await;
    assert_eq!(bank.ada().await.client.balance(&account).await, 0);
    bank.close().await;
}

#[tokio::test]
async fn an_account_is_closed_by_two_and_what_is_left_goes_where_its_holder_said() {
    let bank = Bank::open().await;
    let (ada, teller, approver) = (bank.ada().await, bank.teller().await, bank.approver().await);
    let account = opens(&ada, "SAV-001", 150_000).await;
    let before = ada.client.balance(&ada.current).await;
    let asked = asking(&ada, &account, &application(&ada.current)).await.is(201);
    let place = format!("/v1/accounts/{account}/close");
    assert_eq!(asked.header("location"), place);
    assert_eq!((asked.text_at("status"), asked.text_at("applicationStatus")), ("SUCCESS", "PENDING"));
    for field in
        ["applicationId", "submittedAt", "estimatedProcessingTime", "message", "preferredClosureDate"]
    {
        assert!(!asked.text_at(field).is_empty(), "{field}");
    }
    let id = asked.text_at("applicationId");
    let mandate = json!({
        "amount": 1_000, "currency": "NGN", "frequency": "YEARLY", "startDate": "2099-01-01T00:00:00Z",
        "sourceAccount": account, "beneficiaryAccount": ada.current,
    });
    let mandate = ada.client.post("/v1/mandates", &mandate).await.is(201).text_at("mandateId").to_owned();
    // It is open until it is closed.
    ada.client.pay(&ada.current, &account, 50_000, "more").await.is(201);
    assert_eq!(tries(&approver.client, id, "approve").await.is(200).text_at("applicationStatus"), "APPROVED");
    tries(&approver.client, id, "finalize").await.problem(403, "SAME_PERSON");
    let path = format!("/v1/staff/account-closures/{id}/finalize");
    let finish = || teller.client.request(Method::POST, &path).key("finish").json(&json!({"note": "Done"}));
    let events = bank.events().await;
    let done = finish().send().await.is(200);
    assert_eq!(
        (done.text_at("applicationStatus"), done.number_at("transferredAmount")),
        ("COMPLETED", 200_000)
    );
    assert_eq!(done.text_at("transferAccount"), ada.current);
    let written = bank.events().await - events;
    let again = finish().send().await.is(200);
    assert_eq!((again.header("idempotent-replayed"), &again.text), ("true", &done.text));
    assert_eq!(bank.events().await - events, written);
    // Below the minimum balance of the product, to the last kobo.
    bank.caught_up().await;
    assert_eq!(status(&ada, &account).await, "CLOSED");
    bank.caught_up().await;
    assert_eq!(ada.client.balance(&account).await, 0);
    bank.caught_up().await;
    assert_eq!(ada.client.balance(&ada.current).await, before + 150_000);
    let read = ada.client.get(&place).await.is(200);
    assert_eq!((read.text_at("applicationStatus"), read.text_at("note")), ("COMPLETED", "Done"));
    assert_eq!(read.text_at("transactionId"), done.text_at("transactionId"));
    let statement = ada.client.get(&format!("/v1/accounts/{account}/statement")).await.is(200);
    assert_eq!(statement.number_at("closingBalance"), 0);
    let ended = ada.client.get(&format!("/v1/mandates/{mandate}")).await.is(200);
    assert_eq!(ended.text_at("status"), "CANCELLED", "{}", ended.text);
    // Nothing happens to it any more.
    let paid = ada.client.pay(&ada.current, &account, 1, "late").await.problem(409, "INVALID_STATE");
    assert_eq!(paid.body["currentState"], "CLOSED");
    asking(&ada, &account, &application(&ada.current)).await.problem(409, "INVALID_STATE");
    let settings = json!({"statementDelivery": "EMAIL"});
    ada.client
        .put(&format!("/v1/accounts/{account}/configure"), &settings)
        .await
        .problem(409, "INVALID_STATE");
    let reason = json!({"reason": "x"});
    for step in ["freeze", "unfreeze", "reactivate"] {
        let path = format!("/v1/staff/accounts/{account}/{step}");
        teller.client.post(&path, &reason).await.problem(409, "INVALID_STATE");
    }
    bank.caught_up().await;
    let told = bank.client().get("/v1/sandbox/messages?to=ada@example.com").await.is(200);
    let told: Vec<&str> = told.list_at("messages").iter().filter_map(|m| m["subject"].as_str()).collect();
    assert!(
        told.contains(&"Your account is closed") && told.contains(&"Your account will be closed"),
        "{told:?}"
    );
    bank.close().await;
}

#[tokio::test]
async fn every_state_refuses_what_it_does_not_have() {
    let bank = Bank::open().await;
    let (ada, teller, approver) = (bank.ada().await, bank.teller().await, bank.approver().await);
    let body = application(&ada.current);
    let opened = async || opens(&ada, "SAV-001", 150_000).await;
    let first = opened().await;
    let pending = asks(&ada, &first, &ada.current).await;
    asking(&ada, &first, &body).await.problem(409, "CLOSURE_OPEN");
    let refused = tries(&teller.client, &pending, "finalize").await.problem(409, "INVALID_STATE");
    assert_eq!(refused.body["currentState"], "PENDING");
    // Taken back, and asked once more.
    let place = format!("/v1/accounts/{first}/close");
    assert_eq!(ada.client.delete(&place).await.is(200).text_at("applicationStatus"), "CANCELLED");
    ada.client.delete(&place).await.problem(404, "NOT_FOUND");
    for step in ["approve", "reject", "finalize"] {
        let refused = tries(&teller.client, &pending, step).await.problem(409, "INVALID_STATE");
        assert_eq!(refused.body["currentState"], "CANCELLED", "{step}");
    }
    let second = asks(&ada, &first, &ada.current).await;
    assert_eq!(tries(&teller.client, &second, "reject").await.is(200).text_at("note"), "Because");
    let third = approved(&ada, &first, &approver).await;
    let refused = tries(&teller.client, &third, "approve").await.problem(409, "INVALID_STATE");
    assert_eq!(refused.body["currentState"], "APPROVED");
    tries(&teller.client, &third, "finalize").await.is(200);
    for step in ["approve", "reject", "finalize"] {
        let refused = tries(&teller.client, &third, step).await.problem(409, "INVALID_STATE");
        assert_eq!(refused.body["currentState"], "COMPLETED", "{step}");
    }
    // A frozen account stays: a court may have asked for it. So does one that is at rest.
    let frozen = opened().await;
    let waiting = approved(&ada, &frozen, &approver).await;
    let freeze = format!("/v1/staff/accounts/{frozen}/freeze");
    teller.client.post(&freeze, &json!({"reason": "Court order"})).await.is(200);
    let refused = tries(&teller.client, &waiting, "finalize").await.problem(409, "INVALID_STATE");
    assert_eq!(refused.body["currentState"], "FROZEN");
    let dormant = crate::ratchet::closing::rests(&bank, &ada).await;
    let refused = asking(&ada, &dormant, &body).await.problem(409, "INVALID_STATE");
    assert_eq!(refused.body["currentState"], "DORMANT");
    bank.close().await;
}

#[tokio::test]
async fn the_form_is_checked_before_anything_is_asked() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let account = opens(&ada, "SAV-001", 150_000).await;
    let with = |name: &str, value: Value| {
        let mut body = application(&ada.current);
        body[name] = value;
        body
    };
    let events = bank.events().await;
    let unread = asking(&ada, &account, &with("acknowledgeTerms", json!(false))).await;
    assert_eq!(unread.problem(400, "VALIDATION_FAILED").pointers(), ["/acknowledgeTerms"]);
    asking(&ada, &account, &with("transferAccount", json!(account))).await.problem(422, "SAME_ACCOUNT");
    asking(&ada, &account, &with("transferAccount", json!(bola.current))).await.problem(404, "NOT_FOUND");
    asking(&bola, &account, &application(&bola.current)).await.problem(404, "NOT_FOUND");
    assert_eq!(bank.events().await, events);
    bank.close().await;
}

#[tokio::test]
async fn money_needs_somewhere_to_go() {
    let bank = Bank::open().await;
    let (ada, teller, approver) = (bank.ada().await, bank.teller().await, bank.approver().await);
    let account = opens(&ada, "TSV-001", 1_000).await;
    let body = json!({"closureReason": "Enough", "acknowledgeTerms": true});
    let asked = asking(&ada, &account, &body).await.is(201);
    let id = asked.text_at("applicationId");
    tries(&approver.client, id, "approve").await.is(200);
    let refused = tries(&teller.client, id, "finalize").await.problem(422, "TRANSFER_ACCOUNT_REQUIRED");
    assert_eq!(refused.number_at("ledgerBalance"), 1_000);
    let body = json!({
        "sourceAccount": account, "destinationAccount": ada.current, "amount": 1_000, "currency": "NGN",
    });
    ada.client.post("/v1/payments/transfer/self", &body).await.is(201);
    let done = tries(&teller.client, id, "finalize").await.is(200);
    assert!(done.body["transferredAmount"].is_null() && done.body["transactionId"].is_null());
    bank.close().await;
}

/// Asking and finishing are both refused, by what binds the account.
async fn bound(bank: &Bank, ada: &Person, account: &str, application: &str, by: &str) {
    let finished = tries(&bank.teller().await.client, application, "finalize").await;
    assert_eq!(finished.problem(409, "ACCOUNT_BOUND").text_at("boundBy"), by);
    ada.client.delete(&format!("/v1/accounts/{account}/close")).await.is(200);
    let asked = asking(ada, account, &crate::ratchet::closing::application(&ada.savings)).await;
    assert_eq!(asked.problem(409, "ACCOUNT_BOUND").text_at("boundBy"), by);
}

#[tokio::test]
async fn a_payment_on_its_way_keeps_an_account_open() {
    let bank = Bank::open().await;
    let (teller, approver) = (bank.teller().await, bank.approver().await);
    // Arrives, or comes back.
    for number in ["0123456789", "9000000002"] {
        let ada = bank.ada().await;
        let account = opens(&ada, "TSV-001", 50_000).await;
        let application = approved(&ada, &account, &approver).await;
        sends(&ada, &account, number).await.is(201);
        bound(&bank, &ada, &account, &application, "PAYMENT_ON_ITS_WAY").await;
        bank.later(61).await;
        let application = approved(&bank.ada().await, &account, &approver).await;
        tries(&teller.client, &application, "finalize").await.is(200);
    }
    // Called back by the payer.
    let ada = bank.ada().await;
    let account = opens(&ada, "TSV-001", 50_000).await;
    let sent = sends(&ada, &account, "0123456789").await.is(201);
    asking(&ada, &account, &application(&ada.current)).await.problem(409, "ACCOUNT_BOUND");
    let path = format!("/v1/transactions/{}/reverse", sent.text_at("transactionId"));
    ada.client.post(&path, &json!({"reason": "Changed my mind", "acknowledgeTerms": true})).await.is(201);
    asks(&ada, &account, &ada.current).await;
    bank.close().await;
}

#[tokio::test]
async fn a_dispute_keeps_the_account_open_that_the_money_would_come_back_to() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (teller, approver) = (bank.teller().await, bank.approver().await);
    let account = opens(&ada, "TSV-001", 50_000).await;
    let paid = ada.client.pay(&account, &bola.current, 5_000, "disputed").await.is(201);
    let dispute = format!("/v1/transactions/{}/dispute", paid.text_at("transactionId"));
    let waiting = approved(&ada, &account, &approver).await;
    let begun = ada.client.post(&dispute, &json!({"disputeAmount": 700})).await.is(201);
    bound(&bank, &ada, &account, &waiting, "OPEN_DISPUTE").await;
    let path = format!("/v1/staff/disputes/{}", begun.text_at("disputeId"));
    approver.client.post(&format!("{path}/start-review"), &json!({})).await.is(200);
    asking(&ada, &account, &application(&ada.current)).await.problem(409, "ACCOUNT_BOUND");
    approver.client.post(&format!("{path}/resolve"), &json!({"outcome": "WON"})).await.is(200);
    let id = approved(&ada, &account, &approver).await;
    assert_eq!(tries(&teller.client, &id, "finalize").await.is(200).number_at("transferredAmount"), 45_700);
    // Over: nothing could come back.
    let late = ada.client.post(&dispute, &json!({"disputeAmount": 700})).await.problem(409, "INVALID_STATE");
    assert_eq!(late.body["currentState"], "CLOSED");
    bank.close().await;
}

#[tokio::test]
async fn a_loan_keeps_the_account_open_that_it_is_collected_from_until_it_is_paid_back() {
    let bank = Bank::open().await;
    let (ada, teller, approver) = (bank.ada().await, bank.teller().await, bank.approver().await);
    let account = opens(&ada, "TSV-001", 50_000).await;
    let waiting = approved(&ada, &account, &approver).await;
    let mut wanted = lending::application();
    wanted["disbursementAccount"] = json!(account);
    let loan = ada.client.post("/v1/loans", &wanted).await.is(201).text_at("loanId").to_owned();
    lending::staff(&teller.client, &loan, "start-review", &json!({})).await;
    lending::staff(&approver.client, &loan, "approve", &json!({})).await;
    lending::staff(&teller.client, &loan, "disburse", &json!({})).await;
    bound(&bank, &ada, &account, &waiting, "LIVE_LOAN").await;
    bank.caught_up().await;
    let owed = ada.client.get(&format!("/v1/loans/{loan}")).await.is(200);
    let pay = json!({
        "amount": owed.number_at("payoffAmount"), "currency": "NGN", "paymentType": "FULL",
        "sourceAccount": ada.current,
    });
    let paid = ada.client.post(&format!("/v1/payments/loans/{loan}"), &pay).await;
    assert_eq!(paid.status, 201, "{}", paid.text);
    bank.caught_up().await;
    let left = ada.client.get(&format!("/v1/loans/{loan}")).await.is(200);
    assert_eq!(left.text_at("applicationStatus"), "CLOSED", "{}", left.text);
    let id = approved(&ada, &account, &approver).await;
    tries(&teller.client, &id, "finalize").await.is(200);
    // One that is approved and not paid out binds nothing, and cannot be paid out any more.
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_who_close_an_account_at_once_one_does() {
    let bank = Bank::open().await;
    let (ada, teller, approver) = (bank.ada().await, bank.teller().await, bank.approver().await);
    let third = staff(&bank, "auditor@example.com", &[AccountOps]).await.1;
    for _ in 0..10 {
        let account = opens(&ada, "SAV-001", 150_000).await;
        let before = ada.client.balance(&ada.current).await;
        let id = approved(&ada, &account, &approver).await;
        let racers = [&teller.client, &third, &teller.client, &third];
        let answers = join_all(racers.map(|client| tries(client, &id, "finalize"))).await;
        let won = answers.iter().filter(|answer| answer.status == 200).count();
        assert_eq!(won, 1, "{:?}", answers.iter().map(|answer| &answer.text).collect::<Vec<_>>());
        for lost in answers.into_iter().filter(|answer| answer.status != 200) {
            assert_eq!(lost.problem(409, "INVALID_STATE").body["currentState"], "COMPLETED");
        }
        bank.caught_up().await;
        assert_eq!(ada.client.balance(&ada.current).await, before + 150_000);
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payment_that_races_with_the_closing_is_in_what_is_left_or_refused() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (teller, approver) = (bank.teller().await, bank.approver().await);
    let (mut came, mut left) = (0, 0);
    for round in 0..20_i64 {
        let account = opens(&ada, "TSV-001", 100_000).await;
        let id = approved(&ada, &account, &approver).await;
        // In, by somebody else; and out of the bank, which may come back.
        let (into, key) = (round % 2 == 0, format!("race {round}"));
        let pays = async {
            if into {
                bola.client.pay(&bola.current, &account, 700, &key).await
            } else {
                sends(&ada, &account, "0123456789").await
            }
        };
        let (paid, closed) = join(pays, tries(&teller.client, &id, "finalize")).await;
        match (into, paid.status, closed.status) {
            (true, 201, 200) => {
                came += 1;
                assert!([100_000, 100_700].contains(&closed.number_at("transferredAmount")));
                assert_eq!(
                    closed.number_at("transferredAmount"),
                    100_700,
                    "nothing is lost in a closed account"
                );
            }
            (_, 409, 200) => {
                assert_eq!(paid.body["currentState"], "CLOSED");
                assert_eq!(closed.number_at("transferredAmount"), 100_000);
            }
            (false, 201, 409) => {
                left += 1;
                assert_eq!(closed.body["boundBy"], "PAYMENT_ON_ITS_WAY");
            }
            _ => panic!("{} {}", paid.text, closed.text),
        }
        if closed.status == 200 {
            bank.caught_up().await;
            assert_eq!(ada.client.balance(&account).await, 0);
        }
    }
    println!("{came} came in time, {left} left in time");
    bank.close().await;
}
