//! Accounts: opened, listed, read, frozen.

use serde_json::{Value, json};

use crate::support::client::transfer;
use crate::support::{Bank, Person};

/// What a customer asks for who wants an account on this product.
fn wanted(product: &str, currency: &str) -> Value {
    json!({"productId": product, "currency": currency})
}

/// `body` with more fields.
fn with(mut body: Value, more: &Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

/// `ada` with so many more current accounts; their numbers, oldest first.
async fn open_more(ada: &Person, count: usize) -> Vec<String> {
    let mut numbers = Vec::new();
    for n in 0..count {
        let body = with(wanted("CUR-001", "NGN"), &json!({"accountName": format!("Pot {n:03}")}));
        let opened = ada.client.post("/v1/accounts", &body).await.is(201);
        numbers.push(opened.text_at("accountNumber").to_owned());
    }
    numbers
}

fn numbers(list: &Value) -> Vec<String> {
    let accounts = list["accounts"].as_array().unwrap();
    accounts.iter().map(|account| account["accountNumber"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn an_account_can_be_opened_on_each_product_on_its_terms() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let products = ada.client.get("/v1/account/products/types").await.is(200);
    let products = products.list_at("products");
    let ids: Vec<&str> = products.iter().map(|product| product["productId"].as_str().unwrap()).collect();
    assert_eq!(ids, ["CUR-001", "CUR-002", "SAV-001", "TSV-001"]);
    for product in products {
        let mut body = wanted(product["productId"].as_str().unwrap(), product["currency"].as_str().unwrap());
        // The customer's own wish for a rate does not count.
        body["interestRate"] = json!(99.5);
        let opened = ada.client.post("/v1/accounts", &body).await.is(201);
        let number = opened.text_at("accountNumber");
        assert_eq!(opened.header("location"), format!("/v1/accounts/{number}"));
        assert_eq!(opened.body["status"], "SUCCESS");
        assert_eq!(opened.body["accountStatus"], "ACTIVE");
        assert_eq!(opened.body["accountType"], product["productType"]);
        assert_eq!(opened.body["interestRate"], product["interestRate"]);
        assert_eq!(opened.body["initialDeposit"], 0);
        let read = ada.client.get(opened.header("location")).await.is(200);
        assert_eq!(read.body["openedAt"], opened.body["openedAt"]);
        assert_eq!(read.body["productName"], product["productName"]);
        assert_eq!(read.body["minimumBalance"], product["minimumBalance"]);
        assert_eq!(read.body["accountFeatures"], product["features"]);
        assert_eq!((read.number_at("ledgerBalance"), &read.body["lastTransactionDate"]), (0, &Value::Null));
    }
    bank.close().await;
}

#[tokio::test]
async fn a_target_savings_account_keeps_its_plan() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let plan = json!({
        "accountType": "TARGET_SAVINGS", "accountName": "A roof", "savingsGoal": 9_000_000,
        "savingsFrequency": "MONTHLY", "savingsAmount": 750_000, "maturityDate": "2031-06-30T00:00:00Z",
    });
    let opened = ada.client.post("/v1/accounts", &with(wanted("TSV-001", "NGN"), &plan)).await.is(201);
    let read = ada.client.get(opened.header("location")).await.is(200);
    for (field, value) in plan.as_object().unwrap() {
        assert_eq!((&opened.body[field], &read.body[field]), (value, value), "{field}");
    }
    let elsewhere = with(wanted("SAV-001", "NGN"), &json!({"savingsGoal": 5}));
    ada.client.post("/v1/accounts", &elsewhere).await.problem(422, "PLAN_NOT_ALLOWED");
    bank.close().await;
}

#[tokio::test]
async fn the_initial_deposit_comes_with_the_account_or_neither_does() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let had = ada.client.balance(&ada.current).await;
    let from = |source: &str, amount: i64| {
        with(wanted("SAV-001", "NGN"), &json!({"initialDeposit": amount, "sourceAccount": source}))
    };
    let before = bank.events().await;
    let opened = ada.client.post("/v1/accounts", &from(&ada.current, 250_000)).await.is(201);
    assert_eq!(bank.events().await, before + 2, "the opening and the payment");
    assert_eq!(opened.header("bursar-position"), (before + 2).to_string());
    assert_eq!(opened.number_at("initialDeposit"), 250_000);
    assert_eq!(ada.client.balance(opened.text_at("accountNumber")).await, 250_000);
    assert_eq!(ada.client.balance(&ada.current).await, had - 250_000);

    let refused = [
        (from(&ada.current, had), 422, "INSUFFICIENT_FUNDS"),
        (from(&bola.current, 1), 404, "NOT_FOUND"),
        (from("1000000008", 1), 404, "NOT_FOUND"),
        (
            with(wanted("CUR-002", "USD"), &json!({"initialDeposit": 5, "sourceAccount": ada.current})),
            422,
            "CURRENCY_MISMATCH",
        ),
        (with(wanted("SAV-001", "NGN"), &json!({"initialDeposit": 5})), 400, "VALIDATION_FAILED"),
        (
            with(wanted("SAV-001", "NGN"), &json!({"initialDeposit": -5, "sourceAccount": ada.current})),
            400,
            "VALIDATION_FAILED",
        ),
    ];
    for (body, status, code) in refused {
        ada.client.post("/v1/accounts", &body).await.problem(status, code);
    }
    assert_eq!(bank.events().await, before + 2, "a refused opening leaves neither account nor payment");
    bank.close().await;
}

#[tokio::test]
async fn what_no_product_offers_is_not_opened() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let events = bank.events().await;
    let open = async |body: Value| ada.client.post("/v1/accounts", &body).await;
    open(wanted("NO-SUCH", "NGN")).await.problem(404, "NOT_FOUND");
    open(wanted("CUR-001", "USD")).await.problem(422, "CURRENCY_MISMATCH");
    let as_savings = with(wanted("CUR-001", "NGN"), &json!({"accountType": "SAVINGS"}));
    open(as_savings).await.problem(422, "WRONG_PRODUCT");
    let wrong = json!({"accountType": "GOLD", "currency": "ngn", "savingsFrequency": "DAILY", "maturityDate": "soon"});
    let answer = open(wrong).await;
    let mut pointers = answer.pointers();
    pointers.sort_unstable();
    assert_eq!(pointers, ["/accountType", "/currency", "/maturityDate", "/productId", "/savingsFrequency"]);
    assert_eq!(bank.events().await, events);
    bank.close().await;
}

#[tokio::test]
async fn pages_follow_the_rules() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    open_more(&ada, 23).await;
    let page = async |query: &str| ada.client.get(&format!("/v1/accounts{query}")).await;
    let shape = |list: &Value| {
        let p = &list["pagination"];
        json!([
            list["accounts"].as_array().unwrap().len(),
            p["page"],
            p["size"],
            p["total"],
            p["hasNext"],
            p["hasPrevious"]
        ])
    };
    for (query, expected) in [
        ("", json!([20, 1, 20, 25, true, false])),
        ("?page=2", json!([5, 2, 20, 25, false, true])),
        ("?size=10&page=3", json!([5, 3, 10, 25, false, true])),
        ("?size=25", json!([25, 1, 25, 25, false, false])),
        ("?size=101", json!([25, 1, 100, 25, false, false])),
        ("?size=9223372036854775807", json!([25, 1, 100, 25, false, false])),
        ("?page=3", json!([0, 3, 20, 25, false, true])),
        ("?page=4294967295&size=100", json!([0, 4_294_967_295_u32, 100, 25, false, true])),
        // Numbers beyond ours are numbers: past the end, and clamped.
        ("?page=99999999999999999999", json!([0, 4_294_967_295_u32, 20, 25, false, true])),
        ("?size=99999999999999999999", json!([25, 1, 100, 25, false, false])),
    ] {
        assert_eq!(shape(&page(query).await.is(200).body), expected, "{query}");
    }
    for wrong in ["0", "-1", "1.5", "x", "", "1e3", "%00"] {
        assert_eq!(page(&format!("?page={wrong}")).await.pointers(), ["/page"], "{wrong}");
        assert_eq!(page(&format!("?size={wrong}")).await.pointers(), ["/size"], "{wrong}");
    }
    assert_eq!(page("?page=0&size=0&sort=owner").await.pointers().len(), 3, "all at once");
    // All pages together are the whole list, nothing twice.
    let mut seen = Vec::new();
    for n in 1..=9 {
        seen.extend(numbers(&page(&format!("?size=3&page={n}")).await.body));
    }
    assert_eq!(seen, numbers(&page("?size=100").await.body));
    bank.close().await;
}

#[tokio::test]
async fn the_list_is_filtered_and_sorted_by_what_is_allowed() {
    let bank = Bank::open().await;
    let (ada, teller) = (bank.ada().await, bank.teller().await);
    let pots = open_more(&ada, 3).await;
    let dollars = ada.client.post("/v1/accounts", &wanted("CUR-002", "USD")).await.is(201);
    let dollars = dollars.text_at("accountNumber").to_owned();
    let freeze = format!("/v1/staff/accounts/{}/freeze", pots[1]);
    teller.client.post(&freeze, &json!({"reason": "Lost phone"})).await.is(200);
    let list =
        async |query: &str| numbers(&ada.client.get(&format!("/v1/accounts?{query}")).await.is(200).body);

    let oldest_first =
        [&ada.current, &ada.savings, &pots[0], &pots[1], &pots[2], &dollars].map(String::clone);
    assert_eq!(list("sort=openedAt").await, oldest_first);
    let newest_first: Vec<String> = oldest_first.iter().rev().cloned().collect();
    assert_eq!(list("sort=-openedAt").await, newest_first);
    assert_eq!(list("").await, newest_first);
    assert_eq!(list("sort=-ledgerBalance&size=2").await, [&*ada.current, &ada.savings]);
    assert_eq!(list("sort=accountName&q=pot%200").await, pots);

    assert_eq!(list("status=FROZEN").await, pots[1..2]);
    assert_eq!(list("type=SAVINGS").await, [&*ada.savings]);
    assert_eq!(list("currency=USD").await, [&*dollars]);
    assert_eq!(
        list("status=ACTIVE&type=CURRENT&currency=NGN&q=Pot&sort=openedAt").await,
        [&*pots[0], &pots[2]]
    );
    assert_eq!(list(&format!("q={}", ada.savings)).await, [&*ada.savings]);
    // Wildcards of the database and quotes mean themselves.
    for q in ["%25", "_", "%27%20OR%201=1--", "%5C"] {
        assert_eq!(list(&format!("q={q}")).await, [""; 0], "{q}");
    }
    for (query, pointer) in [
        ("sort=owner", "/sort"),
        ("sort=openedAt;DROP", "/sort"),
        ("sort=--openedAt", "/sort"),
        ("status=frozen", "/status"),
        ("type=GOLD", "/type"),
        ("currency=naira", "/currency"),
        ("q=%00", "/q"),
    ] {
        assert_eq!(ada.client.get(&format!("/v1/accounts?{query}")).await.pointers(), [pointer], "{query}");
    }
    bank.close().await;
}

#[tokio::test]
async fn an_account_shows_its_terms_and_what_can_be_spent() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let savings = ada.client.get(&format!("/v1/accounts/{}", ada.savings)).await.is(200);
    assert_eq!(savings.body["linkedAccounts"], json!([ada.current]));
    assert_eq!(savings.body["productId"], "SAV-001");
    assert_eq!(savings.body["interestRate"], json!(4.25));
    // What must stay in a savings account cannot be spent.
    let (ledger, minimum) = (savings.number_at("ledgerBalance"), savings.number_at("minimumBalance"));
    assert_eq!(savings.number_at("availableBalance"), ledger - minimum);
    let interest = savings.text_at("nextInterestDate");
    assert!(interest.ends_with("-01T00:00:00Z"), "{interest}");
    let transfer_all = transfer(&ada.savings, &ada.current, ledger - minimum + 1);
    let refused = ada.client.post("/v1/payments/transfer/self", &transfer_all).await;
    assert_eq!(refused.problem(422, "INSUFFICIENT_FUNDS").number_at("availableBalance"), ledger - minimum);

    let balance = ada.client.get(&format!("/v1/accounts/{}/balance", ada.savings)).await.is(200);
    for (field, value) in balance.body.as_object().unwrap() {
        assert_eq!(&savings.body[field], value, "{field}");
    }
    let list = ada.client.get("/v1/accounts?sort=openedAt").await.is(200);
    let default: Vec<&Value> = list.list_at("accounts").iter().map(|account| &account["isDefault"]).collect();
    assert_eq!(default, [true, false]);
    bank.close().await;
}

#[tokio::test]
async fn an_unchanged_account_is_not_sent_again() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    for path in ["", "/balance", "/statement", "/history"] {
        let path = format!("/v1/accounts/{}{path}", ada.current);
        let first = ada.client.get(&path).await.is(200);
        let tag = first.header("etag").to_owned();
        assert!(tag.starts_with('"') && tag.ends_with('"'), "{path}: {tag}");
        let again = async || {
            ada.client.request(reqwest::Method::GET, &path).header("If-None-Match", &tag).send().await
        };
        let unchanged = again().await.is(304);
        assert_eq!((&*unchanged.text, unchanged.header("etag")), ("", &*tag));
        ada.client.pay(&ada.current, &bola.current, 100, &path).await.is(201);
        let changed = again().await.is(200);
        assert_ne!(changed.header("etag"), tag, "{path}");
    }
    bank.close().await;
}

#[tokio::test]
async fn a_frozen_account_takes_money_in_and_lets_none_out() {
    let bank = Bank::open().await;
    let (ada, bola, teller) = (bank.ada().await, bank.bola().await, bank.teller().await);
    let (freeze, unfreeze) = (
        format!("/v1/staff/accounts/{}/freeze", ada.current),
        format!("/v1/staff/accounts/{}/unfreeze", ada.current),
    );
    let reason = json!({"reason": "Court order 17"});
    teller.client.post(&unfreeze, &reason).await.problem(409, "INVALID_STATE");
    let frozen = teller.client.post(&freeze, &reason).await.is(200);
    assert_eq!((frozen.text_at("accountStatus"), frozen.text_at("reason")), ("FROZEN", "Court order 17"));
    let twice = teller.client.post(&freeze, &reason).await.problem(409, "INVALID_STATE");
    assert_eq!(twice.text_at("currentState"), "FROZEN");

    let read = ada.client.get(&format!("/v1/accounts/{}", ada.current)).await.is(200);
    assert_eq!(read.text_at("accountStatus"), "FROZEN");
    let events = bank.events().await;
    let cash = json!({"amount": 1_000, "currency": "NGN"});
    let till = |what: &str| format!("/v1/staff/accounts/{}/{what}", ada.current);
    let out = [
        ada.client.pay(&ada.current, &bola.current, 100, "out").await,
        ada.client.post("/v1/payments/transfer/self", &transfer(&ada.current, &ada.savings, 100)).await,
        teller.client.post(&till("withdraw"), &cash).await,
    ];
    for refused in out {
        assert_eq!(refused.problem(409, "INVALID_STATE").text_at("currentState"), "FROZEN");
    }
    assert_eq!(bank.events().await, events);
    bola.client.pay(&bola.current, &ada.current, 100, "in").await.is(201);
    teller.client.post(&till("deposit"), &cash).await.is(201);
    teller.client.post(&unfreeze, &reason).await.is(200);
    ada.client.pay(&ada.current, &bola.current, 100, "out").await.is(201);
    bank.close().await;
}

#[tokio::test]
async fn daily_limits_count_payments_to_others_until_midnight() {
    let bank = Bank::open().await;
    let (ada, bola, teller) = (bank.ada().await, bank.bola().await, bank.teller().await);
    let deposit = format!("/v1/staff/accounts/{}/deposit", ada.current);
    let plenty = json!({"amount": 2_000_000_000, "currency": "NGN"});
    teller.client.post(&deposit, &plenty).await.is(201);
    let read = ada.client.get(&format!("/v1/accounts/{}", ada.current)).await.is(200);
    let limit = read.number_at("dailyLimit");
    ada.client.pay(&ada.current, &bola.current, limit - 10, "most").await.is(201);
    ada.client
        .post("/v1/payments/transfer/self", &transfer(&ada.current, &ada.savings, 50_000))
        .await
        .is(201);
    let refused =
        ada.client.pay(&ada.current, &bola.current, 11, "over").await.problem(422, "LIMIT_EXCEEDED");
    assert_eq!((refused.text_at("limit"), refused.number_at("remaining")), ("dailyLimit", 10));
    ada.client.pay(&ada.current, &bola.current, 10, "rest").await.is(201);
    bank.advance(jiff::SignedDuration::from_hours(24));
    let ada = bank.ada().await;
    ada.client.pay(&ada.current, &bola.current, limit, "tomorrow").await.is(201);
    bank.close().await;
}
