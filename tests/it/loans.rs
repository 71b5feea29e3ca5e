//! Loans from the application to the last instalment: who may move them where, and that every kobo is accounted for.

mod arrears;
mod notices;

use bursar_commands::{Context, loan_products};
use bursar_domain::Currency;
use bursar_domain::kernel::{Permission, Spelled as _};
use bursar_domain::loan_products::{LoanTerms, LoanType};
use futures_util::future::join_all;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::documents::PDF;
use crate::ratchet::lending::{application, applies, collateral, document, guarantor, staff};
use crate::support::client::Answer;
use crate::support::{Bank, Client, Person};

const DAY: i64 = 24 * 60 * 60;

async fn read(client: &Client, loan: &str) -> Value {
    client.get(&format!("/v1/loans/{loan}")).await.is(200).body
}

/// What staff are told who try this.
async fn tries(client: &Client, loan: &str, step: &str) -> Answer {
    let body = json!({"note": "Seen", "reason": "Because"});
    client.post(&format!("/v1/staff/loans/{loan}/{step}"), &body).await
}

async fn pays(person: &Person, loan: &str, amount: i64, key: &str) -> Answer {
    let body = json!({
        "amount": amount, "currency": "NGN", "paymentType": "SCHEDULED", "sourceAccount": person.current,
    });
    person.client.post_with_key(&format!("/v1/payments/loans/{loan}"), key, &body).await
}

/// A loan of Ada's that was paid out.
async fn owed(bank: &Bank) -> String {
    let (ada, teller, approver) = (bank.ada().await, bank.teller().await, bank.approver().await);
    let loan = applies(&ada).await;
    staff(&teller.client, &loan, "start-review", &json!({})).await;
    staff(&approver.client, &loan, "approve", &json!({})).await;
    staff(&teller.client, &loan, "disburse", &json!({})).await;
    loan
}

/// Lets time pass until an hour after `moment`, and what is due by then be done.
async fn until(bank: &Bank, moment: &Value) {
    let moment: Timestamp = moment.as_str().unwrap().parse().unwrap();
    let now = bank.app.journal.sources().clock.now();
    let ahead = moment.duration_since(now) + SignedDuration::from_hours(1);
    bank.later(ahead.as_secs()).await;
    bank.caught_up().await;
}

async fn question<T>(bank: &Bank, sql: &str) -> Vec<T>
where
    T: Send + Unpin,
    (T,): for<'r> sqlx::FromRow<'r, sqlx::postgres::PgRow>,
{
    sqlx::query_scalar::<_, T>(sql).fetch_all(&bank.pool).await.unwrap()
}

#[tokio::test]
async fn the_calculator_says_what_the_vectors_say_row_by_row() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let vectors = include_str!("../../domain/vectors/loan_schedules.json");
    let vectors: Vec<Value> = serde_json::from_str(vectors).unwrap();
    for vector in &vectors {
        let rate = &vector["annualRatePercent"];
        let rate = rate.as_str().map_or_else(|| rate.to_string(), str::to_owned);
        let terms = LoanTerms {
            name: "Any loan".into(),
            loan_type: LoanType::Personal,
            currency: Currency::NGN,
            min_amount: 1,
            max_amount: 1_000_000_000_000_000,
            interest_rate: rate.parse().unwrap(),
            min_tenure: 1,
            max_tenure: 480,
            processing_fee: "1".parse().unwrap(),
            insurance_fee: "0.5".parse().unwrap(),
            eligibility_criteria: vec![],
            required_documents: vec![],
            guarantor_required: false,
            is_active: true,
        };
        loan_products::define(&bank.app.journal, Context::default(), "LN-ANY", terms).await.unwrap();
        let body = json!({
            "productId": "LN-ANY", "amount": vector["principal"], "tenure": vector["months"],
            "monthlyIncome": 1_000_000_000_000_000_i64,
        });
        let offer = ada.client.post("/v1/loans/calculator", &body).await.is(200).body;
        for field in ["monthlyPayment", "totalInterest", "totalAmount"] {
            assert_eq!(offer[field], vector[field], "{}: {field}", vector["id"]);
        }
        let (rows, expected) =
            (offer["repaymentSchedule"].as_array().unwrap(), vector["rows"].as_array().unwrap());
        assert_eq!(rows.len(), expected.len());
        for (row, expected) in rows.iter().zip(expected) {
            for field in ["installmentNumber", "principal", "interest", "totalPayment", "remainingBalance"] {
                assert_eq!(row[field], expected[field], "{}: {field}", vector["id"]);
            }
        }
    }
    bank.close().await;
}

#[tokio::test]
async fn the_calculator_tells_who_can_afford_what() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let asked = async |change: Value| {
        let mut body = json!({
            "productId": "LN-PER-001", "amount": 10_000_000, "tenure": 12, "monthlyIncome": 3_000_000,
            "existingLoans": [{"lender": "Another bank", "amount": 1, "monthlyPayment": 200_000}],
        });
        for (name, value) in change.as_object().unwrap() {
            body[name] = value.clone();
        }
        ada.client.post("/v1/loans/calculator", &body).await
    };
    let offer = asked(json!({})).await.is(200).body;
    assert_eq!((&offer["eligibility"], &offer["interestRate"]), (&json!(true), &json!(21.5)));
    assert_eq!((&offer["processingFee"], &offer["insuranceFee"]), (&json!(100_000), &json!(50_000)));
    // (200,000 + payment) / 3,000,000, to four decimals.
    let payment = offer["monthlyPayment"].as_i64().unwrap();
    let ratio = ((200_000 + payment) * 10_000 + 1_500_000) / 3_000_000;
    let ratio = format!("0.{ratio:04}");
    assert_eq!(offer["debtToIncomeRatio"].to_string(), ratio.trim_end_matches('0'));
    for (change, amount) in [
        (json!({"monthlyIncome": 1_000_000}), None),
        (json!({"creditScore": 599}), Some(0)),
        (json!({"tenure": 25}), Some(0)),
        (json!({"amount": 1}), None),
    ] {
        let offer = asked(change.clone()).await.is(200).body;
        assert_eq!(offer["eligibility"], false, "{change}");
        assert!(amount.is_none_or(|amount| offer["eligibleAmount"] == amount), "{change}: {offer}");
    }
    asked(json!({"productId": "LN-NONE"})).await.problem(404, "NOT_FOUND");
    let wrong = asked(json!({"tenure": 481, "amount": 0, "existingLoans": [{}], "creditScore": -1})).await;
    let mut pointers: Vec<_> = wrong.pointers().into_iter().map(str::to_owned).collect();
    pointers.sort();
    assert_eq!(pointers, ["/amount", "/creditScore", "/existingLoans/0/monthlyPayment", "/tenure"]);
    let products = ada.client.get("/v1/loans/products?size=2").await.is(200).body;
    assert_eq!(
        (products["products"].as_array().unwrap().len(), &products["pagination"]["total"]),
        (2, &json!(3))
    );
    bank.close().await;
}

#[tokio::test]
async fn a_loan_is_walked_from_its_application_to_its_last_instalment() {
    let bank = Bank::open().await;
    let (ada, teller, approver) = (bank.ada().await, bank.teller().await, bank.approver().await);
    let has = ada.client.balance(&ada.current).await;
    let mut body = application();
    body["guarantorRequired"] = json!(true);
    let applied = ada.client.post("/v1/loans", &body).await.is(201);
    let loan = applied.text_at("loanId").to_owned();
    assert_eq!(applied.header("location"), format!("/v1/loans/{loan}"));
    assert_eq!(applied.body["applicationStatus"], "PENDING");
    for step in ["request-info", "approve", "write-off"] {
        let who = if step == "request-info" { &teller } else { &approver };
        let refused = tries(&who.client, &loan, step).await.problem(409, "INVALID_STATE");
        assert_eq!(refused.body["currentState"], "PENDING", "{step}");
    }
    tries(&teller.client, &loan, "disburse").await.problem(409, "INVALID_STATE");
    pays(&ada, &loan, 1, "early").await.problem(409, "INVALID_STATE");
    let path = format!("/v1/loans/{loan}");
    let vouches = ada.client.post(&format!("{path}/guarantors"), &guarantor()).await.is(201);
    assert_eq!(vouches.body["firstName"], "Chidi");
    assert!(vouches.body.get("address").is_none());
    let secures = ada.client.post(&format!("{path}/collateral"), &collateral()).await.is(201);
    tries(&teller.client, &loan, "start-review").await.is(200);
    tries(&approver.client, &loan, "approve").await.problem(422, "GUARANTOR_NOT_VERIFIED");
    let (vouches, secures) = (vouches.text_at("guarantorId"), secures.text_at("collateralId"));
    let verify = format!("guarantors/{vouches}/verify");
    assert_eq!(tries(&teller.client, &loan, &verify).await.is(200).body["verificationStatus"], "VERIFIED");
    let again = tries(&teller.client, &loan, &verify).await.problem(409, "INVALID_STATE");
    assert_eq!(again.body["currentState"], "VERIFIED");
    tries(&teller.client, &loan, &format!("collateral/{secures}/verify")).await.is(200);
    tries(&teller.client, &loan, "request-info").await.is(200);
    tries(&teller.client, &loan, "start-review").await.is(200);
    assert_eq!(tries(&approver.client, &loan, "approve").await.is(200).body["applicationStatus"], "APPROVED");
    for (what, body) in [("guarantors", guarantor()), ("collateral", collateral())] {
        ada.client.post(&format!("{path}/{what}"), &body).await.problem(409, "INVALID_STATE");
    }
    ada.client.post(&format!("{path}/withdraw"), &json!({})).await.problem(409, "INVALID_STATE");
    let paid_out = tries(&teller.client, &loan, "disburse").await.is(200);
    assert_eq!(paid_out.body["applicationStatus"], "DISBURSED");
    // 1 % and 0.5 % of 100,000 naira.
    assert_eq!(ada.client.balance(&ada.current).await, has + 10_000_000 - 150_000);
    assert_eq!(
        (bank.internal("loan_principal").await, bank.internal("fee_income").await),
        (-10_000_000, 150_000)
    );
    tries(&teller.client, &loan, "disburse").await.problem(409, "INVALID_STATE");
    // Somebody else has written it.
    bank.caught_up().await;
    let statement = format!("/v1/accounts/{}/statement", ada.current);
    let entries = ada.client.get(&statement).await.is(200);
    let said: Vec<_> =
        entries.list_at("transactions").iter().take(3).map(|entry| &entry["description"]).collect();
    assert_eq!(said, ["Fee", "Fee", "Loan paid out"]);
    let transaction = format!("/v1/transactions/{}", paid_out.text_at("transactionId"));
    let transaction = ada.client.get(&transaction).await.is(200).body;
    assert_eq!(
        (&transaction["type"], &transaction["direction"], &transaction["fee"]),
        (&json!("LOAN_DISBURSEMENT"), &json!("CREDIT"), &json!(150_000))
    );
    let receipt = ada.client.get(transaction["receiptUrl"].as_str().unwrap()).await;
    assert_eq!(receipt.is(200).body["totalAmount"], 10_000_000 - 150_000);

    let seen = read(&ada.client, &loan).await;
    let total = seen["totalAmount"].as_i64().unwrap();
    assert_eq!((&seen["arrearsStatus"], &seen["payoffAmount"]), (&json!("CURRENT"), &json!(total)));
    assert_eq!(
        (&seen["collateral"]["status"], &seen["guarantors"][0]["status"]),
        (&json!("VERIFIED"), &json!("VERIFIED"))
    );
    let rows = seen["repaymentSchedule"].as_array().unwrap();
    for (done, row) in rows.iter().enumerate() {
        until(&bank, &row["dueDate"]).await;
        assert_eq!(bank.events_of("loan.repaid").await, i64::try_from(done).unwrap() + 1);
    }
    let ada = bank.ada().await;
    let seen = read(&ada.client, &loan).await;
    assert_eq!(
        (&seen["applicationStatus"], &seen["remainingBalance"], &seen["nextPaymentDate"]),
        (&json!("CLOSED"), &json!(0), &Value::Null)
    );
    assert_eq!(seen["collateral"]["status"], "RELEASED");
    assert_eq!(ada.client.balance(&ada.current).await, has + 10_000_000 - 150_000 - total);
    let interest = seen["totalInterest"].as_i64().unwrap();
    assert_eq!((bank.internal("loan_principal").await, bank.internal("loan_interest").await), (0, 0));
    assert_eq!(bank.internal("interest_income").await, interest);
    let statement =
        format!("{path}/statement?size=100&from={}", &seen["disbursedAt"].as_str().unwrap()[..10]);
    let statement = ada.client.get(&statement).await.is(200);
    let entries = statement.list_at("transactions");
    assert_eq!((statement.number_at("totalPaid"), entries.len()), (total, 1 + 2 * rows.len()));
    let mut balance = 0;
    for entry in entries.iter().rev() {
        balance += entry["amount"].as_i64().unwrap();
        assert_eq!(entry["balance"], balance);
    }
    assert_eq!((balance, statement.number_at("currentBalance")), (0, 0));
    pays(&ada, &loan, 1, "late").await.problem(409, "INVALID_STATE");
    bank.close().await;
}

#[tokio::test]
async fn nobody_takes_two_steps_and_nobody_decides_about_a_loan_of_their_own() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let all = Permission::ALL;
    let mut clients = Vec::new();
    for email in ["ada@example.com", "teller@example.com", "approver@example.com"] {
        let user = bank.user(email).await;
        let session = bank.session(user, all).await;
        clients.push(bank.client().with_token(&bank.token(user, session, all, 0)));
    }
    let [borrower, one, other] = &clients[..] else { panic!() };
    let loan = applies(&ada).await;
    tries(borrower, &loan, "start-review").await.problem(403, "SAME_PERSON");
    tries(one, &loan, "start-review").await.is(200);
    let events = bank.events().await;
    for who in [borrower, one] {
        tries(who, &loan, "approve").await.problem(403, "SAME_PERSON");
    }
    tries(borrower, &loan, "reject").await.problem(403, "SAME_PERSON");
    assert_eq!(bank.events().await, events);
    tries(other, &loan, "approve").await.is(200);
    for who in [borrower, other] {
        tries(who, &loan, "disburse").await.problem(403, "SAME_PERSON");
    }
    tries(one, &loan, "disburse").await.is(200);
    tries(borrower, &loan, "write-off").await.problem(403, "SAME_PERSON");
    bank.close().await;
}

#[tokio::test]
async fn what_the_product_does_not_lend_and_what_is_missing_is_refused() {
    let bank = Bank::open().await;
    let (ada, teller, approver) = (bank.ada().await, bank.teller().await, bank.approver().await);
    let asked = async |change: Value| {
        let mut body = application();
        for (name, value) in change.as_object().unwrap() {
            body[name] = value.clone();
        }
        ada.client.post("/v1/loans", &body).await
    };
    asked(json!({"productId": "LN-NONE"})).await.problem(404, "NOT_FOUND");
    let much = asked(json!({"amount": 50_000_001})).await.problem(422, "AMOUNT_OUT_OF_RANGE");
    assert_eq!((&much.body["minAmount"], &much.body["maxAmount"]), (&json!(1_000_000), &json!(50_000_000)));
    asked(json!({"tenure": 7})).await.problem(422, "TENURE_OUT_OF_RANGE");
    let bola = bank.bola().await;
    asked(json!({"disbursementAccount": bola.current})).await.problem(404, "NOT_FOUND");
    let wrong = asked(json!({"employmentType": "BORED", "collateralType": 1, "monthlyIncome": 0})).await;
    let mut pointers: Vec<_> = wrong.pointers().into_iter().map(str::to_owned).collect();
    pointers.sort();
    assert_eq!(pointers, ["/collateralType", "/employmentType", "/monthlyIncome"]);
    let documented = asked(json!({"productId": "LN-PER-001", "tenure": 12})).await.is(201);
    let loan = documented.text_at("loanId");
    assert_eq!(read(&ada.client, loan).await["missingDocuments"], json!(["EMPLOYMENT_LETTER", "PAYSLIP"]));
    tries(&teller.client, loan, "start-review").await.is(200);
    let refused = tries(&approver.client, loan, "approve").await.problem(422, "DOCUMENTS_MISSING");
    assert_eq!(refused.body["missingDocuments"], json!(["EMPLOYMENT_LETTER", "PAYSLIP"]));
    // What was rejected is missing again.
    let hands_in = async |kind: &str| {
        let mut body = document();
        body["documentType"] = json!(kind);
        ada.client.post(&format!("/v1/loans/{loan}/documents"), &body).await
    };
    let letter = hands_in("EMPLOYMENT_LETTER").await.is(201);
    assert_eq!(
        (&letter.body["verificationStatus"], &letter.body["documentName"]),
        (&json!("PENDING"), &json!("October"))
    );
    assert_eq!(read(&ada.client, loan).await["missingDocuments"], json!(["PAYSLIP"]));
    let of_letter = format!("documents/{}", letter.text_at("documentId"));
    let content = teller.client.get(&format!("/v1/staff/loans/{loan}/{of_letter}/content")).await.is(200);
    assert_eq!(content.text.as_bytes(), PDF);
    tries(&teller.client, loan, &format!("{of_letter}/reject")).await.is(200);
    hands_in("PAYSLIP").await.is(201);
    let refused = tries(&approver.client, loan, "approve").await.problem(422, "DOCUMENTS_MISSING");
    assert_eq!(refused.body["missingDocuments"], json!(["EMPLOYMENT_LETTER"]));
    let mut other = document();
    other["fileType"] = json!("PNG");
    let path = format!("/v1/loans/{loan}/documents");
    ada.client.post(&path, &other).await.problem(422, "FILE_TYPE_MISMATCH");
    bank.bola().await.client.post(&path, &document()).await.problem(404, "NOT_FOUND");
    hands_in("EMPLOYMENT_LETTER").await.is(201);
    tries(&approver.client, loan, "approve").await.is(200);
    hands_in("PAYSLIP").await.problem(409, "INVALID_STATE");
    // Terms that change later are not this loan's.
    let before = read(&ada.client, loan).await["interestRate"].clone();
    let sql = "SELECT payload->'defined' FROM events WHERE aggregate_id = 'LN-PER-001'";
    let terms: Value = question(&bank, sql).await.pop().unwrap();
    let mut terms: LoanTerms = serde_json::from_value(terms).unwrap();
    (terms.interest_rate, terms.is_active) = ("99".parse().unwrap(), false);
    loan_products::define(&bank.app.journal, Context::default(), "LN-PER-001", terms).await.unwrap();
    bank.caught_up().await;
    assert_eq!(read(&ada.client, loan).await["interestRate"], before);
    asked(json!({"productId": "LN-PER-001", "tenure": 12})).await.problem(404, "NOT_FOUND");
    bank.close().await;
}

#[tokio::test]
async fn a_payment_is_counted_once_at_most_the_payoff_and_only_by_the_borrower() {
    let bank = Bank::open().await;
    let loan = owed(&bank).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let unknown = "loan_0192f0c1a00070008000000000000abc";
    let nobodys = pays(&bola, unknown, 1, "x").await.problem(404, "NOT_FOUND");
    let strangers = pays(&bola, &loan, 1, "y").await.problem(404, "NOT_FOUND");
    let without_id = |answer: &Answer| {
        let mut body = answer.body.clone();
        body["traceId"] = Value::Null;
        body
    };
    assert_eq!(without_id(&nobodys), without_id(&strangers));
    for path in ["", "/statement"] {
        bola.client.get(&format!("/v1/loans/{loan}{path}")).await.problem(404, "NOT_FOUND");
    }
    let body = json!({"amount": 1, "currency": "USD", "sourceAccount": ada.current});
    let foreign = ada.client.post(&format!("/v1/payments/loans/{loan}"), &body).await;
    foreign.problem(422, "CURRENCY_MISMATCH");
    let theirs = json!({"amount": 1, "currency": "NGN", "sourceAccount": bola.current});
    ada.client.post(&format!("/v1/payments/loans/{loan}"), &theirs).await.problem(404, "NOT_FOUND");

    let before = read(&ada.client, &loan).await;
    let (total, payment) =
        (before["payoffAmount"].as_i64().unwrap(), before["monthlyPayment"].as_i64().unwrap());
    let over = pays(&ada, &loan, total + 1, "over").await.problem(422, "OVERPAYMENT");
    assert_eq!(over.body["payoffAmount"], total);
    let first = &before["repaymentSchedule"][0];
    let paid = pays(&ada, &loan, payment, "first").await.is(201);
    assert_eq!(
        (paid.number_at("interestPaid"), paid.number_at("principalPaid")),
        (first["interest"].as_i64().unwrap(), first["principal"].as_i64().unwrap())
    );
    assert_eq!(paid.number_at("remainingBalance"), 10_000_000 - first["principal"].as_i64().unwrap());
    assert_eq!(paid.body["nextPaymentDate"], before["repaymentSchedule"][1]["dueDate"]);
    assert_eq!(
        (&paid.body["paymentType"], &paid.body["loanNumber"]),
        (&json!("SCHEDULED"), &before["loanNumber"])
    );
    let again = pays(&ada, &loan, payment, "first").await.is(201);
    assert_eq!(
        (again.text, again.headers["idempotent-replayed"].as_bytes()),
        (paid.text.clone(), &b"true"[..])
    );
    let entry = format!("/v1/transactions/{}", paid.text_at("transactionId"));
    let seen = ada.client.get(&entry).await.is(200).body;
    assert_eq!((&seen["type"], &seen["direction"]), (&json!("LOAN_REPAYMENT"), &json!("DEBIT")));
    let reverse = json!({"reason": "Mine", "acknowledgeTerms": true});
    ada.client.post(&format!("{entry}/reverse"), &reverse).await.problem(422, "NOT_REVERSIBLE");

    // The month that was paid ahead is not collected again.
    until(&bank, &first["dueDate"]).await;
    assert_eq!(bank.events_of("loan.repaid").await, 1);
    let ada = bank.ada().await;
    let rest = pays(&ada, &loan, total - payment, "rest").await.is(201);
    assert_eq!((rest.number_at("remainingBalance"), &rest.body["nextPaymentDate"]), (0, &Value::Null));
    assert_eq!(read(&ada.client, &loan).await["applicationStatus"], "CLOSED");
    let again = pays(&ada, &loan, total - payment, "rest").await.is(201);
    assert_eq!(again.text, rest.text);
    pays(&ada, &loan, 1, "more").await.problem(409, "INVALID_STATE");
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_at_once_pay_different_instalments() {
    let bank = Bank::open().await;
    let loan = owed(&bank).await;
    let ada = bank.ada().await;
    let (_, other) = bank.second().await;
    let elsewhere = Person { client: ada.client.at(other), ..ada.clone() };
    let payment = read(&ada.client, &loan).await["monthlyPayment"].as_i64().unwrap();
    let keys: Vec<String> = (0..5).map(|n| format!("at-once-{n}")).collect();
    let pay = |n: usize| pays(if n.is_multiple_of(2) { &ada } else { &elsewhere }, &loan, payment, &keys[n]);
    let all = join_all((0..keys.len()).map(pay)).await;
    // One that has lost the race again and again says so, and has paid nothing.
    let paid = all.iter().filter(|answer| answer.status == 201).count();
    assert!(all.iter().all(|answer| answer.status == 201 || answer.body["code"] == "LOAN_CHANGED"));
    bank.caught_up().await;
    let seen = read(&ada.client, &loan).await;
    let whole = seen["repaymentSchedule"].as_array().unwrap().iter();
    let whole = whole.filter(|row| row["paid"] == row["totalPayment"]).count();
    assert_eq!(whole, paid, "{seen}");
    bank.close().await;
}
