//! What the bank offers: said by staff or by a file, and never changed for what runs already.

use serde_json::json;

use crate::ratchet::offers::{account_terms, coded, loan_terms};
use crate::support::Bank;
use crate::support::process::{Server, bursar, directory, run};

#[tokio::test]
async fn a_product_that_changes_alters_nothing_that_runs_on_it() {
    let bank = Bank::open().await;
    let (ada, approver) = (bank.ada().await, bank.approver().await);
    let new = coded("STU-1", account_terms());
    let made = approver.client.post("/v1/staff/account-products", &new).await.is(201);
    assert_eq!(made.header("location"), "/v1/staff/account-products/STU-1");
    approver.client.post("/v1/staff/account-products", &new).await.problem(409, "PRODUCT_EXISTS");
    let opens = async || {
        let body = json!({"productId": "STU-1", "currency": "NGN"});
        ada.client.post("/v1/accounts", &body).await.is(201).text_at("accountNumber").to_owned()
    };
    let before = opens().await;
    let mut dearer = account_terms();
    (dearer["interestRate"], dearer["dailyLimit"]) = (json!(2.25), json!(1));
    let path = "/v1/staff/account-products/STU-1";
    assert!(approver.client.put(path, &dearer).await.is(200).body["updatedAt"].is_string());
    let events = bank.events().await;
    assert!(approver.client.put(path, &dearer).await.is(200).body["updatedAt"].is_null());
    assert_eq!(bank.events().await, events, "what is so already is not news");
    let after = opens().await;
    for (account, rate, limit) in [(&before, 5.5, 10_000_000), (&after, 2.25, 1)] {
        let seen = ada.client.get(&format!("/v1/accounts/{account}")).await.is(200);
        assert_eq!((seen.body["interestRate"].as_f64(), seen.number_at("dailyLimit")), (Some(rate), limit));
    }
    // Withdrawn: what was opened on it goes on.
    dearer["isActive"] = json!(false);
    approver.client.put(path, &dearer).await.is(200);
    let body = json!({"productId": "STU-1", "currency": "NGN"});
    ada.client.post("/v1/accounts", &body).await.problem(422, "PRODUCT_NOT_OFFERED");
    ada.client.pay(&ada.current, &before, 500, "goes on").await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn a_loan_keeps_the_terms_that_it_was_applied_for_on() {
    let bank = Bank::open().await;
    let (ada, approver) = (bank.ada().await, bank.approver().await);
    approver.client.post("/v1/staff/loan-products", &coded("LN-HARVEST", loan_terms())).await.is(201);
    let applies = async || {
        let body = json!({"productId": "LN-HARVEST", "amount": 10_000_000, "tenure": 6, "monthlyIncome": 40_000_000});
        ada.client.post("/v1/loans", &body).await.is(201).text_at("loanId").to_owned()
    };
    let before = applies().await;
    let mut dearer = loan_terms();
    dearer["interestRate"] = json!(30);
    approver.client.put("/v1/staff/loan-products/LN-HARVEST", &dearer).await.is(200);
    let after = applies().await;
    for (loan, rate) in [(&before, 18.25), (&after, 30.0)] {
        let seen = ada.client.get(&format!("/v1/loans/{loan}")).await.is(200);
        assert_eq!(seen.body["interestRate"].as_f64(), Some(rate));
    }
    approver.client.put("/v1/staff/loan-products/LN-NONE", &dearer).await.problem(404, "NOT_FOUND");
    let mut odd = dearer;
    (odd["minTenure"], odd["interestRate"]) = (json!(13), json!(101));
    approver.client.put("/v1/staff/loan-products/LN-HARVEST", &odd).await.problem(422, "TENURE_OUT_OF_RANGE");
    odd["speed"] = json!(1);
    let unknown = approver.client.put("/v1/staff/loan-products/LN-HARVEST", &odd).await;
    assert_eq!(unknown.problem(400, "VALIDATION_FAILED").pointers(), ["/speed"]);
    bank.close().await;
}

#[tokio::test]
async fn a_file_of_products_is_imported_whole_or_not_at_all_and_once() {
    if std::env::var_os("TEST_DATABASE_URL").is_some() {
        return;
    }
    let dir = directory("products");
    let data = dir.join("data");
    assert_eq!(Server::start_with(&data, |_| {}).await.stop().await, 0);
    let file = dir.join("products.json");
    let import = async |content: serde_json::Value| {
        std::fs::write(&file, content.to_string()).unwrap();
        let arguments = ["products", "import", file.to_str().unwrap(), "--data-dir", data.to_str().unwrap()];
        run(bursar(&arguments)).await
    };
    let good = json!({
        "accountProducts": [coded("STU-1", account_terms()), coded("STU-2", account_terms())],
        "loanProducts": [coded("LN-HARVEST", loan_terms())],
    });
    let mut wrong = good.clone();
    wrong["accountProducts"][0]["interestRate"] = json!("5");
    wrong["accountProducts"][1]["speed"] = json!(1);
    wrong["loanProducts"][0]["currency"] = json!("naira");
    let refused = import(wrong).await;
    assert_eq!(refused.code, 2, "{refused:?}");
    for place in ["/accountProducts/0/interestRate", "/accountProducts/1/speed", "/loanProducts/0/currency"] {
        assert!(refused.err.contains(place), "{place}: {refused:?}");
    }
    let done = import(good.clone()).await;
    assert!(done.code == 0 && done.out.contains("3 of 3 products changed"), "{done:?}");
    let again = import(good).await;
    assert!(again.code == 0 && again.out.contains("0 of 3 products changed"), "{again:?}");
    std::fs::remove_dir_all(dir).unwrap();
}
