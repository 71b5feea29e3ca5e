//! What borrowers are told, and when.

use serde_json::{Value, json};

use super::{DAY, pays, tries};
use crate::ratchet::lending::applies;
use crate::support::{Bank, Person};

/// Subjects and words of what the bank told somebody about a loan, oldest first.
async fn told(bank: &Bank, person: &Person, loan: &str) -> Vec<(String, String)> {
    bank.caught_up().await;
    let list = person.client.get("/v1/users/messages?size=100").await.is(200);
    let mut told: Vec<_> = list
        .list_at("messages")
        .iter()
        .filter(|message| message["about"]["loanId"] == loan)
        .map(|message| {
            let text = |member: &str| message[member].as_str().unwrap().to_owned();
            (text("subject"), text("body"))
        })
        .collect();
    told.reverse();
    told
}

fn subjects(told: &[(String, String)]) -> Vec<&str> {
    told.iter().map(|(subject, _)| subject.as_str()).collect()
}

#[tokio::test]
async fn a_borrower_is_told_of_every_decision_once_and_by_mail_too() {
    let bank = Bank::open().await;
    let (ada, teller, approver) = (bank.ada().await, bank.teller().await, bank.approver().await);
    let loan = applies(&ada).await;
    assert_eq!(told(&bank, &ada, &loan).await, []);
    tries(&teller.client, &loan, "start-review").await.is(200);
    // Looking into it is nothing to be told.
    assert_eq!(told(&bank, &ada, &loan).await, []);
    let ask = json!({"note": "Your latest payslip, please", "reason": "Your latest payslip, please"});
    teller.client.post(&format!("/v1/staff/loans/{loan}/request-info"), &ask).await.is(200);
    let asked = told(&bank, &ada, &loan).await;
    assert_eq!(subjects(&asked), ["We need to know more"]);
    assert!(asked[0].1.contains("Your latest payslip, please"), "{asked:?}");
    tries(&teller.client, &loan, "start-review").await.is(200);
    // Whoever may not decide tells nobody anything.
    tries(&teller.client, &loan, "approve").await;
    assert_eq!(told(&bank, &ada, &loan).await.len(), 1);
    tries(&approver.client, &loan, "approve").await.is(200);
    tries(&teller.client, &loan, "disburse").await.is(200);
    let all = told(&bank, &ada, &loan).await;
    assert_eq!(subjects(&all), ["We need to know more", "Your loan is approved", "Your loan was paid out"]);
    assert!(
        all[1..].iter().all(|(_, body)| body.contains("100000.00 NGN") && body.contains("LN-")),
        "{all:?}"
    );
    let mail = bank.client().get("/v1/sandbox/messages?to=ada@example.com").await.is(200);
    let mailed: Vec<&Value> = mail.list_at("messages").iter().map(|message| &message["subject"]).collect();
    for (subject, _) in &all {
        assert_eq!(mailed.iter().filter(|mailed| **mailed == subject).count(), 1, "{subject}");
    }
    // Nobody else hears of it.
    let bola = bank.bola().await;
    assert_eq!(told(&bank, &bola, &loan).await, []);
    // Paying on time is nothing to be told either.
    pays(&ada, &loan, 100, "on-time").await.is(201);
    bank.later(DAY).await;
    let ada = bank.ada().await;
    assert_eq!(told(&bank, &ada, &loan).await.len(), 3);
    bank.close().await;
}

#[tokio::test]
async fn whoever_is_refused_is_told_why() {
    let bank = Bank::open().await;
    let (ada, teller, approver) = (bank.ada().await, bank.teller().await, bank.approver().await);
    let loan = applies(&ada).await;
    tries(&teller.client, &loan, "start-review").await.is(200);
    let reason = json!({"reason": "Your income is too small for this sum"});
    approver.client.post(&format!("/v1/staff/loans/{loan}/reject"), &reason).await.is(200);
    let told = told(&bank, &ada, &loan).await;
    assert_eq!(subjects(&told), ["Your application was not approved"]);
    assert!(told[0].1.contains("Your income is too small for this sum"), "{told:?}");
    bank.close().await;
}
