//! Why a number is what it is: the steps add up to what everybody else is told.

use serde_json::{Value, json};

use crate::accounting::lived;
use crate::support::process::{Server, bursar, directory, run};
use crate::support::{Bank, Client};

/// The explanation of a number: its steps lead from the opening to the result.
async fn explained(auditor: &Client, path: &str) -> Value {
    let body = auditor.get(&format!("/v1/audit/explain/{path}")).await.is(200).body;
    let mut sum = body["opening"].as_i64().unwrap();
    let mut before = 0;
    for step in body["steps"].as_array().unwrap() {
        sum += step["added"].as_i64().unwrap();
        assert_eq!(step["result"], sum, "{path}: {body}");
        assert!(step["position"].as_i64().unwrap() > before, "{body}");
        before = step["position"].as_i64().unwrap();
    }
    assert_eq!(body["result"], sum, "{path}: {body}");
    body
}

/// Money that is reserved, a mandate that runs, on top of everything that a bank has lived through.
async fn busy() -> Bank {
    let bank = lived().await;
    let ada = bank.ada().await;
    let body = json!({
        "walletProvider": "mtn_momo", "phoneNumber": "+2348031000101", "destinationAccount": ada.current,
        "amount": 3_000, "currency": "NGN",
    });
    ada.client.post("/v1/payments/fund/via/mwallet", &body).await.is(201);
    bank.caught_up().await;
    bank
}

#[tokio::test]
async fn every_number_that_is_explained_is_the_number_that_is_told() {
    let bank = busy().await;
    let auditor = bank.person("auditor@example.com").await.client;
    let (mut accounts, mut loans, mut held) = (0, 0, 0);
    for person in [bank.ada().await, bank.bola().await, bank.chidi().await] {
        for account in person.client.get("/v1/accounts?size=100").await.is(200).list_at("accounts") {
            let number = account["accountNumber"].as_str().unwrap();
            let told = person.client.get(&format!("/v1/accounts/{number}/balance")).await.is(200).body;
            let number = format!("accounts/{number}");
            for field in ["ledgerBalance", "availableBalance"] {
                let found = explained(&auditor, &format!("{number}?field={field}&limit=1000")).await;
                assert_eq!((&found["result"], &found["field"]), (&told[field], &json!(field)), "{number}");
            }
            held += explained(&auditor, &format!("{number}?field=holds")).await["result"].as_i64().unwrap();
            accounts += 1;
        }
        for loan in person.client.get("/v1/loans?size=100").await.is(200).list_at("loans") {
            let id = loan["loanId"].as_str().unwrap();
            let told = person.client.get(&format!("/v1/loans/{id}")).await.is(200).body;
            for field in ["remainingBalance", "payoffAmount"] {
                let found = explained(&auditor, &format!("loans/{id}?field={field}")).await;
                assert_eq!(found["result"], told[field], "{id}");
            }
            let due = explained(&auditor, &format!("loans/{id}?field=nextInstalment")).await;
            assert_eq!(due["result"], told["nextPaymentAmount"]);
            loans += 1;
        }
    }
    assert!(accounts >= 6 && loans >= 1 && held == 3_000, "{accounts} {loans} {held}");
    bank.close().await;
}

#[tokio::test]
async fn a_long_history_begins_with_what_came_before() {
    let bank = busy().await;
    let (ada, auditor) = (bank.ada().await, bank.person("auditor@example.com").await.client);
    let path = format!("accounts/{}?field=ledgerBalance", ada.current);
    let all = explained(&auditor, &format!("{path}&limit=1000")).await;
    let steps = all["steps"].as_array().unwrap();
    assert!(steps.len() > 5 && all["earlierEvents"] == 0 && all["opening"] == 0, "{all}");
    let last = explained(&auditor, &format!("{path}&limit=2")).await;
    assert_eq!(last["earlierEvents"], steps.len() - 2);
    assert_eq!(last["steps"].as_array().unwrap()[..], steps[steps.len() - 2..]);
    assert_eq!(last["result"], all["result"]);
    // As it was in between.
    let middle = &steps[steps.len() - 3];
    let then = explained(&auditor, &format!("{path}&asOfPosition={}", middle["position"])).await;
    assert_eq!(then["result"], middle["result"]);
    let none = auditor.get(&format!("/v1/audit/explain/{path}&limit=0")).await;
    assert_eq!(none.pointers(), ["/limit"]);
    let wrong = format!("/v1/audit/explain/accounts/{}?field=happiness", ada.current);
    assert_eq!(auditor.get(&wrong).await.pointers(), ["/field"]);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_is_explained_on_the_command_line() {
    let dir = directory("explain");
    let server = Server::start(&dir).await;
    let ada = Client::new(server.address).login("ada@example.com").await;
    let accounts = ada.get("/v1/accounts?type=CURRENT").await.is(200);
    let account = &accounts.list_at("accounts")[0];
    let (number, balance) = (account["accountNumber"].as_str().unwrap(), &account["ledgerBalance"]);
    let data_dir = dir.to_str().unwrap();
    let arguments = ["explain", "account", number, "ledgerBalance", "--data-dir", data_dir];
    let said = run(bursar(&arguments)).await;
    assert_eq!((said.code, &*said.err), (0, ""), "{said:?}");
    let last = said.out.lines().find(|line| line.contains("it is")).unwrap();
    assert!(last.ends_with(&balance.to_string()), "{}", said.out);
    assert!(said.out.contains("payment.completed"), "{}", said.out);
    let unknown = run(bursar(&["explain", "account", "1000000008", "--data-dir", data_dir])).await;
    assert_eq!(unknown.code, 2, "{unknown:?}");
    assert_eq!(server.stop().await, 0);
    std::fs::remove_dir_all(dir).unwrap();
}
