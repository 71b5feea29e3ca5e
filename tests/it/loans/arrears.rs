//! Loans that are not paid, and loans that nobody takes up: what the bank does by itself.

use bursar_commands::loans::CollectLoans;
use bursar_commands::processes::{Done, Task as _, Work};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::{DAY, owed, question, read, tries, until};
use crate::ratchet::lending::applies;
use crate::support::Bank;

#[tokio::test]
async fn what_is_due_is_collected_as_far_as_it_goes_and_the_rest_on_the_days_after() {
    let bank = Bank::open().await;
    let loan = owed(&bank).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = read(&ada.client, &loan).await;
    let (payment, first) =
        (before["monthlyPayment"].as_i64().unwrap(), before["repaymentSchedule"][0].clone());
    // All but a part of the instalment leaves.
    let has = ada.client.balance(&ada.current).await;
    ada.client.pay(&ada.current, &bola.current, has - 500_000, "gone").await.is(201);
    until(&bank, &first["dueDate"]).await;
    let ada = bank.ada().await;
    assert_eq!(ada.client.balance(&ada.current).await, 0);
    let seen = read(&ada.client, &loan).await;
    assert_eq!(
        (&seen["arrearsStatus"], &seen["nextPaymentAmount"]),
        (&json!("DUE"), &json!(payment - 500_000))
    );
    assert_eq!(bank.events_of("loan.missed").await, 1);
    let told = ada.client.get("/v1/users/messages").await.is(200);
    let subject = "Your loan payment could not be collected";
    assert_eq!(told.list_at("messages").iter().filter(|one| one["subject"] == subject).count(), 1);
    for (days, status, bucket, missed) in [
        (1, "DUE", "1-30", 2),
        (7, "OVERDUE", "1-30", 3),
        (32, "OVERDUE", "31-60", 4),
        (91, "DEFAULTED", "90+", 5),
    ] {
        let since: Timestamp = first["dueDate"].as_str().unwrap().parse().unwrap();
        until(&bank, &json!((since + SignedDuration::from_secs(days * DAY)).to_string())).await;
        let seen = read(&bank.ada().await.client, &loan).await;
        assert_eq!((&seen["arrearsStatus"], &seen["daysPastDue"]), (&json!(status), &json!(days)));
        let buckets: Vec<String> = question(&bank, "SELECT bucket FROM loan_portfolio").await;
        assert_eq!(
            (buckets, bank.events_of("loan.missed").await),
            (vec![bucket.to_owned()], missed),
            "{days}"
        );
    }
    // Money comes in, and on the next day what is due is paid with it; another instalment may be due by then.
    let paid = async || {
        let path = format!("/v1/loans/{loan}/statement");
        bank.ada().await.client.get(&path).await.is(200).number_at("totalPaid")
    };
    let (enough, before) = (10 * payment, paid().await);
    let bola = bank.bola().await;
    bola.client.pay(&bola.current, &ada.current, enough, "back").await.is(201);
    bank.later(DAY).await;
    bank.caught_up().await;
    let ada = bank.ada().await;
    let seen = read(&ada.client, &loan).await;
    assert_eq!((&seen["arrearsStatus"], &seen["daysPastDue"]), (&json!("CURRENT"), &json!(0)));
    assert_eq!(ada.client.balance(&ada.current).await, enough - (paid().await - before));
    let buckets: Vec<String> = question(&bank, "SELECT bucket FROM loan_portfolio").await;
    assert_eq!(buckets, ["0"]);
    bank.close().await;
}

#[tokio::test]
async fn work_that_was_held_up_collects_nothing_in_the_name_of_a_day_that_is_over() {
    let bank = Bank::open().await;
    let loan = owed(&bank).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let has = ada.client.balance(&ada.current).await;
    ada.client.pay(&ada.current, &bola.current, has, "gone").await.is(201);
    until(&bank, &read(&ada.client, &loan).await["repaymentSchedule"][0]["dueDate"]).await;
    let held_up = bank.app.journal.sources().clock.now();
    bank.later(2 * DAY).await;
    bank.caught_up().await;
    let bola = bank.bola().await;
    bola.client.pay(&bola.current, &ada.current, 500_000, "back").await.is(201);
    let collects = CollectLoans::new(bank.app.journal.clone());
    let (events, now) = (bank.events().await, bank.app.journal.sources().clock.now());
    let work = |now| Work { subject: loan.clone(), due_at: held_up, now, attempt: 1 };
    let late = work(held_up + SignedDuration::from_secs(DAY));
    assert!(matches!(collects.run(&late).await.unwrap(), Done::Again(at) if at >= now));
    assert_eq!(bank.events().await, events);
    // Looked at again, it is work of today.
    collects.run(&work(now)).await.unwrap();
    assert_eq!(bank.ada().await.client.balance(&ada.current).await, 0);
    bank.close().await;
}

#[tokio::test]
async fn a_loan_that_is_given_up_is_the_banks_loss_and_is_collected_no_more() {
    let bank = Bank::open().await;
    let loan = owed(&bank).await;
    let ada = bank.ada().await;
    let seen = read(&ada.client, &loan).await;
    let first = seen["repaymentSchedule"][0].clone();
    let (has, bola) = (ada.client.balance(&ada.current).await, bank.bola().await);
    ada.client.pay(&ada.current, &bola.current, has, "gone").await.is(201);
    until(&bank, &first["dueDate"]).await;
    let approver = bank.approver().await;
    let off = tries(&approver.client, &loan, "write-off").await.is(200);
    assert_eq!(off.body["applicationStatus"], "WRITTEN_OFF");
    let interest = first["interest"].as_i64().unwrap();
    assert_eq!((bank.internal("loan_principal").await, bank.internal("loan_interest").await), (0, 0));
    assert_eq!(bank.internal("loan_losses").await, -10_000_000 - interest);
    tries(&approver.client, &loan, "write-off").await.problem(409, "INVALID_STATE");
    let (repaid, missed) = (bank.events_of("loan.repaid").await, bank.events_of("loan.missed").await);
    bank.later(90 * DAY).await;
    assert_eq!((bank.events_of("loan.repaid").await, bank.events_of("loan.missed").await), (repaid, missed));
    bank.caught_up().await;
    let ada = bank.ada().await;
    let seen = read(&ada.client, &loan).await;
    assert_eq!((&seen["applicationStatus"], &seen["remainingBalance"]), (&json!("WRITTEN_OFF"), &json!(0)));
    assert_eq!(question::<String>(&bank, "SELECT bucket FROM loan_portfolio").await, [""; 0]);
    bank.close().await;
}

#[tokio::test]
async fn an_approval_that_nobody_uses_ends_after_thirty_days() {
    let bank = Bank::open().await;
    let (ada, teller, approver) = (bank.ada().await, bank.teller().await, bank.approver().await);
    let loan = applies(&ada).await;
    tries(&teller.client, &loan, "start-review").await.is(200);
    tries(&approver.client, &loan, "approve").await.is(200);
    bank.later(30 * DAY - 60).await;
    assert_eq!(bank.events_of("loan.expired").await, 0);
    bank.later(120).await;
    assert_eq!(bank.events_of("loan.expired").await, 1);
    let late = tries(&bank.teller().await.client, &loan, "disburse").await.problem(409, "INVALID_STATE");
    assert_eq!(late.body["currentState"], "EXPIRED");
    let ada = bank.ada().await;
    let (withdrawn, refused) = (applies(&ada).await, applies(&ada).await);
    let path = format!("/v1/loans/{withdrawn}/withdraw");
    bank.bola().await.client.post(&path, &json!({})).await.problem(404, "NOT_FOUND");
    ada.client.post(&path, &json!({"reason": "Found the money"})).await.is(200);
    let approver = bank.approver().await;
    tries(&approver.client, &refused, "reject").await.is(200);
    bank.caught_up().await;
    let listed = async |query: &str| {
        let list = ada.client.get(&format!("/v1/loans{query}")).await.is(200);
        list.list_at("loans").iter().map(|one| one["loanId"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(listed("").await, [json!(refused), json!(withdrawn), json!(loan)]);
    assert_eq!(listed("?status=WITHDRAWN").await, [json!(withdrawn)]);
    assert_eq!(read(&ada.client, &refused).await["reviewerComments"], "Because");
    for (loan, state) in [(&withdrawn, "WITHDRAWN"), (&refused, "REJECTED"), (&loan, "EXPIRED")] {
        let teller = bank.teller().await;
        let refused = tries(&teller.client, loan, "start-review").await.problem(409, "INVALID_STATE");
        assert_eq!(refused.body["currentState"], state);
    }
    bank.close().await;
}
