//! Taking another bank's customers over: all of it or nothing, once, and with the past that they had there.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bursar_api::config::Config;
use bursar_api::database::Database;
use bursar_api::import::{self, Checked, Import, ImportError};
use bursar_commands::imports::Names;
use bursar_commands::journal::imported;
use bursar_domain::Currency;
use bursar_domain::cards::CardLimits;
use bursar_domain::kernel::{half_even, midnight, utc_date};
use jiff::ToSpan as _;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::support::process::{bursar, directory, run};
use crate::support::{Bank, Client, Scratch, check, pool};

const GOLDEN: &str = "fixtures/import";
const PASSWORD: &str = "a-password-of-the-new-bank";

fn import<'a>(bank: &'a Bank, dir: &Path) -> Import<'a> {
    let keys = Arc::clone(&bank.app.keys);
    Import {
        dir: dir.to_owned(),
        journal: &bank.app.journal,
        pool: &bank.pool,
        names: Names::new(Arc::clone(&keys), "old".to_owned()),
        keys,
        places: bank.app.places,
        reference: bank.app.reference,
        card_limits: CardLimits { currency: Currency::NGN, daily: 20_000_000, monthly: 200_000_000 },
        minimum_age: 16,
        now: bank.app.journal.sources().clock.now(),
        resumed: false,
    }
}

async fn checked(bank: &Bank, dir: &Path) -> Checked {
    import::check(&import(bank, dir), &mut |_, _| {}).await.unwrap()
}

/// Takes over what is in `dir`, all of which is right.
async fn taken(bank: &Bank, dir: &Path) -> u64 {
    let import = import(bank, dir);
    let checked = import::check(&import, &mut |_, _| {}).await.unwrap();
    let wrong: Vec<String> = checked.problems.lines().collect();
    assert_eq!(wrong, [""; 0]);
    let written = import::post(&import, &checked, &mut |_, _| {}).await.unwrap();
    assert_eq!(import::differences(&import, &checked).await.unwrap(), []);
    bank.caught_up().await;
    written
}

/// The golden files, in a directory of the test's own.
fn golden() -> Scratch {
    let dir = Scratch::new("import");
    for file in std::fs::read_dir(GOLDEN).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), dir.path().join(file.file_name())).unwrap();
    }
    dir
}

fn edit(dir: &Scratch, file: &str, from: &str, to: &str) {
    let path = dir.path().join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    std::fs::write(path, text.replacen(from, to, 1)).unwrap();
}

/// Logs a customer in who has no password yet, by the way that is documented.
async fn first_login(bank: &Bank, email: &str) -> Client {
    let client = bank.client();
    client.post("/v1/users/password/reset", &json!({"username": email})).await.is(200);
    bank.app.processes.run_due().await.unwrap();
    let sent = client.get(&format!("/v1/sandbox/messages?to={email}")).await.is(200);
    let token = sent.list_at("messages").iter().find_map(|sent| sent["data"]["token"].as_str()).unwrap();
    let confirm = json!({"resetToken": token, "newPassword": PASSWORD, "confirmPassword": PASSWORD});
    client.post("/v1/users/password/confirm", &confirm).await.is(200);
    let login = json!({"username": email, "password": PASSWORD, "deviceInfo": {"deviceId": "phone"}});
    let session = client.post("/v1/users/password/login", &login).await.is(200);
    client.with_token(session.text_at("accessToken"))
}

async fn number_of(pool: &PgPool, source: &str) -> String {
    let sql = "SELECT account_number FROM accounts WHERE source_id = $1";
    sqlx::query_scalar(sql).bind(source).fetch_one(pool).await.unwrap()
}

async fn statement(client: &Client, account: &str, range: &str) -> Value {
    client.get(&format!("/v1/accounts/{account}/statement?sort=transactionDate&{range}")).await.is(200).body
}

/// Date, amount and balance of each entry.
fn entries(statement: &Value) -> Vec<(String, i64, i64)> {
    let entries = statement["transactions"].as_array().unwrap();
    let entry = |entry: &Value| {
        let date = entry["transactionDate"].as_str().unwrap()[..10].to_owned();
        (date, entry["amount"].as_i64().unwrap(), entry["balance"].as_i64().unwrap())
    };
    entries.iter().map(entry).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn customers_of_another_bank_find_their_past_log_in_and_pay() {
    let bank = Bank::open().await;
    assert_eq!(taken(&bank, Path::new(GOLDEN)).await, 18);
    let ada = first_login(&bank, "ada@old.example").await;
    let accounts = ada.get("/v1/accounts?type=CURRENT").await.is(200);
    let account = &accounts.list_at("accounts")[0];
    assert_eq!(account["accountNumber"], "1234567897");
    assert_eq!(ada.balance("1234567897").await, 750_000);

    let february = statement(&ada, "1234567897", "from=2025-02-01&to=2025-02-28").await;
    assert_eq!(
        (february["openingBalance"].as_i64(), february["closingBalance"].as_i64()),
        (Some(39_750_000), Some(750_000))
    );
    let (first, second) =
        (("2025-02-01".to_owned(), -40_000_000, -250_000), ("2025-02-14".to_owned(), 1_000_000, 750_000));
    assert_eq!(entries(&february), [first, second]);
    let begins = statement(&ada, "1234567897", "from=2025-01-01&to=2025-01-01").await;
    assert_eq!(entries(&begins), [("2025-01-01".to_owned(), 15_000_000, 15_000_000)]);
    let then = ada.get("/v1/accounts/1234567897/balance?asOf=2025-01-20T00:00:00Z").await.is(200);
    assert_eq!(then.number_at("ledgerBalance"), 14_750_000);
    let days = ada.get("/v1/accounts/1234567897/history?from=2025-01-30&to=2025-02-02").await.is(200);
    let balances: Vec<_> =
        days.list_at("balanceHistory").iter().map(|day| day["ledgerBalance"].as_i64().unwrap()).collect();
    assert_eq!(balances, [-250_000, -250_000, 39_750_000, 14_750_000]);

    let bola = number_of(&bank.pool, "A-3").await;
    ada.pay("1234567897", &bola, 500_000, "first").await.is(201);
    assert_eq!(ada.balance("1234567897").await, 250_000);
    // Chidi's account came frozen, and nobody knows who he is.
    let chidi = number_of(&bank.pool, "A-4").await;
    let sql = "SELECT u.status || ' ' || a.status FROM users u JOIN accounts a ON a.owner = u.user_id
                WHERE a.account_number = $1";
    let state: String = sqlx::query_scalar(sql).bind(chidi).fetch_one(&bank.pool).await.unwrap();
    assert_eq!(state, "PENDING FROZEN");
    assert_eq!(bank.internal("opening_balances").await, 900_000 - (750_000 + 50_100_055 + 2_005));
    assert_eq!(bank.internal("loan_principal").await, -900_000);
    bank.caught_up().await;
    check(&bank.pool).await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_files_again_change_nothing_and_other_files_are_told_apart() {
    let bank = Bank::open().await;
    let dir = golden();
    taken(&bank, dir.path()).await;
    let head = bank.events().await;
    assert_eq!(checked(&bank, dir.path()).await.new_rows(), 0);
    assert_eq!(taken(&bank, dir.path()).await, 0);
    assert_eq!(bank.events().await, head);
    for (file, from, to, problem) in [
        ("customers.csv", "Okafor", "Okoro", "customers.csv:2 id: CHANGED"),
        ("accounts.csv", ",500000.00,", ",500000.01,", "accounts.csv:3 id: CHANGED"),
        ("accounts.csv", "A-2,C-1", "A-2,C-2", "accounts.csv:3 id: CHANGED"),
        ("transactions.csv", "Market", "Markets", "transactions.csv:2 id: CHANGED"),
        ("loans.csv", "A roof", "A house", "loans.csv:2 id: CHANGED"),
        ("mandates.csv", "Allowance", "Allowances", "mandates.csv:3 id: CHANGED"),
        ("cards.csv", "12/49", "11/49", "cards.csv:2 id: CHANGED"),
        ("transactions.csv", "T-7", "T-8", "transactions.csv:8 id: NEW_ROW"),
    ] {
        let dir = golden();
        edit(&dir, file, from, to);
        let wrong: Vec<String> = checked(&bank, dir.path()).await.problems.lines().collect();
        assert!(wrong.iter().any(|line| line.starts_with(problem)), "{problem}: {wrong:?}");
    }
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_wrong_row_is_named_and_nothing_is_written() {
    let bank = Bank::open().await;
    let head = bank.events().await;
    let (customers, accounts, transactions) = ("customers.csv", "accounts.csv", "transactions.csv");
    let (loans, mandates, cards) = ("loans.csv", "mandates.csv", "cards.csv");
    for (file, from, to, expected) in [
        (customers, "language,since", "tongue,since", "customers.csv:1: UNKNOWN_COLUMN"),
        (customers, "email,phone", "email,email", "customers.csv:1 phone: MISSING_COLUMN"),
        (customers, "C-2,Bola", ",Bola", "customers.csv:3 id: REQUIRED"),
        (customers, "C-2,Bola", "C-1,Bola", "customers.csv:3 id: DUPLICATE"),
        (customers, "bola@old.example", "ada@old.example", "customers.csv:3 email: DUPLICATE"),
        (customers, "bola@old.example", "bola@example.com", "customers.csv:3 email: EMAIL_TAKEN"),
        (customers, "bola@old.example", "bola at home", "customers.csv:3 email: MALFORMED"),
        (customers, "+234 803 100 0102", "0803", "customers.csv:3 phone: MALFORMED"),
        (customers, "1985-11-02", "02.11.1985", "customers.csv:3 date_of_birth: MALFORMED"),
        (customers, "1985-11-02", "2035-11-02", "customers.csv:3 date_of_birth: OUT_OF_RANGE"),
        (customers, "1985-11-02,NG", "1985-11-02,QQ", "customers.csv:3 country: UNKNOWN_VALUE"),
        (customers, "NONE,PENDING", "NONE,ACTIVE", "customers.csv:4 state: KYC_STATE"),
        (customers, "FULL,ACTIVE", "GOLD,ACTIVE", "customers.csv:2 kyc_level: "),
        (customers, "2019-03-01", "2119-03-01", "customers.csv:2 since: IN_THE_FUTURE"),
        (customers, "1985-11-02,NG,FULL,,,", "1985-11-02,NG,FULL,,", "customers.csv:3: WRONG_WIDTH"),
        (accounts, "A-3,C-2", "A-3,C-9", "accounts.csv:4 customer_id: UNKNOWN_CUSTOMER"),
        (accounts, "C-2,CUR-001", "C-2,CUR-999", "accounts.csv:4 product: UNKNOWN_PRODUCT"),
        (
            accounts,
            "CUR-001,NGN,2024-06",
            "CUR-001,USD,2024-06",
            "accounts.csv:4 currency: CURRENCY_MISMATCH",
        ),
        (accounts, "A-3,C-2", "A-1,C-2", "accounts.csv:4 id: DUPLICATE"),
        (accounts, "1234567897", "1234567898", "accounts.csv:2 number: MALFORMED"),
        (accounts, "2024-06-15", "2124-06-15", "accounts.csv:4 opened_on: IN_THE_FUTURE"),
        (accounts, "20.05,", "20.05,2025-02-28", "accounts.csv:5 opening_balance_on: BEFORE_OPENING"),
        (accounts, "20.05", "20.055", "accounts.csv:5 opening_balance: INEXACT"),
        (accounts, "20.05", "-20.05", "accounts.csv:5 opening_balance: OVERDRAWN"),
        (accounts, "FROZEN", "CLOSED", "accounts.csv:5 status: CLOSED"),
        (transactions, "T-2,A-3", "T-2,A-9", "transactions.csv:3 account_id: UNKNOWN_ACCOUNT"),
        (transactions, "T-2,A-3", "T-1,A-3", "transactions.csv:3 id: DUPLICATE line 2 has this id too"),
        (transactions, "-400000.00,NGN", "-400000.00,USD", "transactions.csv:5 currency: CURRENCY_MISMATCH"),
        (transactions, "1000.55", "1000.555", "transactions.csv:6 amount: INEXACT"),
        (transactions, "1000.55", "a lot", "transactions.csv:6 amount: MALFORMED"),
        (transactions, "1000.55", "0.00", "transactions.csv:6 amount: ZERO"),
        (transactions, "2025-02-03", "2025-02-30", "transactions.csv:6 booked_at: MALFORMED"),
        (transactions, "2025-02-03", "2125-02-03", "transactions.csv:6 booked_at: IN_THE_FUTURE"),
        (transactions, "2025-02-03", "2024-12-31", "transactions.csv:6 booked_at: BEFORE_OPENING"),
        (transactions, "2025-02-14", "2025-01-14", "transactions.csv:7 booked_at: OUT_OF_ORDER"),
        (
            transactions,
            "-400000.00,NGN,-2500.00",
            "-402500.01,NGN,-5000.01",
            "transactions.csv:5 amount: OVERDRAWN",
        ),
        (loans, "A-1,LN-PER-001", "A-9,LN-PER-001", "loans.csv:2 account_id: UNKNOWN_ACCOUNT"),
        (loans, "LN-PER-001", "LN-X", "loans.csv:2 product: UNKNOWN_PRODUCT"),
        (loans, ",9000.00", ",90000.00", "loans.csv:2 outstanding_principal: OUT_OF_RANGE"),
        (loans, ",12,2025", ",a lot,2025", "loans.csv:2 interest_rate: MALFORMED"),
        (loans, "12,3,2030", "12,12,2030", "loans.csv:2 paid_instalments: OUT_OF_RANGE"),
        (loans, "2030-01-15", "2025-01-15", "loans.csv:2 next_due_on: BEFORE_OPENING"),
        (mandates, "A-3,,,,", "A-9,,,,", "mandates.csv:2 to_account_id: UNKNOWN_ACCOUNT"),
        (mandates, "A-3,,,,", "A-1,,,,", "mandates.csv:2 to_account_id: SAME_ACCOUNT"),
        (mandates, "A-3,,,,", ",,,,", "mandates.csv:2 to_account_id: NO_PAYEE"),
        (mandates, "MONTHLY", "OFTEN", "mandates.csv:2 frequency: "),
        (mandates, "2030-01-31,31,", "2030-01-31,32,", "mandates.csv:2 day: OUT_OF_RANGE"),
        (mandates, "-31,31,,", "-31,31,2025-01-01,", "mandates.csv:2 ends_on: NOTHING_TO_EXECUTE"),
        (mandates, ",058,", ",XXX,", "mandates.csv:3 to_bank: UNKNOWN_VALUE"),
        (cards, "1111,12/49", "1112,12/49", "cards.csv:2 number: MALFORMED"),
        (cards, "12/49", "12/19", "cards.csv:2 expiry: CARD_EXPIRED"),
        (cards, "K-1,C-1", "K-1,C-9", "cards.csv:2 customer_id: UNKNOWN_CUSTOMER"),
        (
            transactions,
            "397500.00",
            "397500.01",
            "transactions.csv:4 balance: BALANCE_DIFFERS the rows before it come to another (expected 397500.00, given 397500.01)",
        ),
    ] {
        let dir = golden();
        edit(&dir, file, from, to);
        let found = checked(&bank, dir.path()).await.problems;
        let wrong: Vec<String> = found.lines().collect();
        assert!(wrong.iter().any(|line| line.starts_with(expected)), "{expected}: {wrong:?}");
    }
    let empty = Scratch::new("import");
    let nothing = import::check(&import(&bank, empty.path()), &mut |_, _| {}).await;
    assert!(matches!(nothing, Err(ImportError::Nothing(_))));
    assert_eq!(bank.events().await, head);
    // The control: the same files, as they are.
    assert_eq!(checked(&bank, Path::new(GOLDEN)).await.problems.count(), 0);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_somebody_in_the_bank_has_already_is_told_with_its_rows_and_nothing_is_written() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let dir = golden();
    edit(&dir, "accounts.csv", "1234567897", &ada.current);
    edit(&dir, "accounts.csv", "2024-06-15,,", &format!("2024-06-15,{},", ada.savings));
    edit(&dir, "customers.csv", "chidi@old.example", "chidi@example.com");
    let head = bank.events().await;
    let wrong: Vec<String> = checked(&bank, dir.path()).await.problems.lines().collect();
    let taken_number = "NUMBER_TAKEN an account of this bank has this number";
    assert_eq!(
        wrong,
        [
            "customers.csv:4 email: EMAIL_TAKEN a customer of this bank has this address".to_owned(),
            format!("accounts.csv:2 number: {taken_number}"),
            format!("accounts.csv:4 number: {taken_number}"),
        ]
    );
    assert_eq!(bank.events().await, head);

    // What another bank has brought is somebody else's too, though that bank gave it the same name.
    taken(&bank, Path::new(GOLDEN)).await;
    let dir = golden();
    for name in ["Ada@Old", "bola@old", "chidi@old"] {
        edit(&dir, "customers.csv", name, &name.to_lowercase().replace("old", "other"));
    }
    let names = Names::new(Arc::clone(&bank.app.keys), "other".to_owned());
    let other = Import { names, ..import(&bank, dir.path()) };
    let problems = import::check(&other, &mut |_, _| {}).await.unwrap().problems;
    let wrong: Vec<String> = problems.lines().collect();
    assert_eq!(wrong, [format!("accounts.csv:2 number: {taken_number}")]);
    // The control: without that number all of it is new.
    edit(&dir, "accounts.csv", "1234567897", "");
    let new = import::check(&other, &mut |_, _| {}).await.unwrap();
    assert_eq!((new.problems.count(), new.new_rows()), (0, new.rows()));
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn accounts_that_bring_no_number_get_different_ones_whatever_is_drawn() {
    let bank = Bank::open().await;
    let names = import(&bank, Path::new(GOLDEN)).names;
    // Two accounts for which the same number is drawn first: some of 150,000 do.
    let mut drawn = std::collections::HashMap::new();
    let (one, two) = (0..)
        .find_map(|n| {
            let id = format!("D-{n}");
            drawn.insert(names.number(&id, 0), id.clone()).map(|first| (first, id))
        })
        .unwrap();
    let dir = Scratch::new("import");
    std::fs::copy(format!("{GOLDEN}/customers.csv"), dir.path().join("customers.csv")).unwrap();
    let brought = names.number("D-first", 0);
    let rows = [
        "id,customer_id,product,currency,opened_on,number,opening_balance".to_owned(),
        format!("{one},C-1,CUR-001,NGN,2024-01-10,,1.00"),
        format!("{two},C-1,CUR-001,NGN,2024-01-10,,2.00"),
        "D-first,C-1,CUR-001,NGN,2024-01-10,,3.00".to_owned(),
        // A later line brings what an earlier one would have got.
        format!("D-brought,C-2,CUR-001,NGN,2024-01-10,{brought},4.00"),
    ];
    let path = dir.path().join("accounts.csv");
    std::fs::write(&path, rows.join("\n")).unwrap();
    assert_eq!(taken(&bank, dir.path()).await, 3 + 4);
    assert_eq!(number_of(&bank.pool, "D-brought").await, brought.to_string());
    assert_eq!(number_of(&bank.pool, &one).await, names.number(&one, 0).to_string());
    assert_eq!(number_of(&bank.pool, &two).await, names.number(&two, 1).to_string());
    // The same files again find all of them, in another order too.
    assert_eq!(taken(&bank, dir.path()).await, 0);
    let [heading, one, two, first, brought] = rows;
    std::fs::write(&path, [heading, brought, two, first, one].join("\n")).unwrap();
    assert_eq!(taken(&bank, dir.path()).await, 0);
    check(&bank.pool).await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn many_problems_of_one_kind_are_counted_and_each_difference_is_told_where_it_arises() {
    let bank = Bank::open().await;
    let dir = golden();
    edit(&dir, "transactions.csv", "397500.00", "397500.01");
    let wrong: Vec<String> = checked(&bank, dir.path()).await.problems.lines().collect();
    // The row after it goes on from what was said.
    let arises = "transactions.csv:5 balance: BALANCE_DIFFERS the rows before it come to another (expected -2499.99, given -2500.00)";
    assert_eq!((wrong.len(), &*wrong[1]), (2, arises), "{wrong:?}");
    let mut rows = std::fs::read_to_string(dir.path().join("transactions.csv")).unwrap();
    for n in 0..500 {
        rows.push_str(&format!("U-{n},A-9,2025-03-03,1.00,,,,\n"));
    }
    std::fs::write(dir.path().join("transactions.csv"), rows).unwrap();
    let problems = checked(&bank, dir.path()).await.problems;
    assert_eq!(problems.count(), 502);
    assert!(problems.lines().any(|line| line == "... and 480 more of UNKNOWN_ACCOUNT"));
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn savings_that_were_taken_over_earn_from_that_day_on() {
    let bank = Bank::open().await;
    taken(&bank, Path::new(GOLDEN)).await;
    let today = utc_date(bank.app.journal.sources().clock.now());
    let next = today.first_of_month().checked_add(1.month()).unwrap();
    bank.client().post("/v1/sandbox/clock", &json!({"to": midnight(next)})).await.is(200);
    bank.caught_up().await;
    let number = number_of(&bank.pool, "A-2").await;
    let sql = "SELECT (payload->'completed'->>'amount')::bigint, payload->'completed'->'earned'->>'from'
                 FROM events WHERE payload->'completed'->>'kind' = 'SAVINGS_INTEREST'
                  AND payload->'completed'->>'destination' = $1";
    let posted: Vec<(i64, String)> = sqlx::query_as(sql).bind(number).fetch_all(&bank.pool).await.unwrap();
    let days = (next - today).get_days();
    let earned = half_even(50_100_055_i128 * 425 * i128::from(days), 3_650_000).unwrap();
    assert_eq!(posted, [(i64::try_from(earned).unwrap(), today.to_string())]);
    bank.caught_up().await;
    check(&bank.pool).await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn loans_mandates_and_cards_go_on_where_they_were() {
    let bank = Bank::open().await;
    let dir = golden();
    let day = |n: i32| utc_date(bank.app.journal.sources().clock.now()).checked_add(n.days()).unwrap();
    let (rent, instalment) = (day(3), day(5));
    edit(&dir, "mandates.csv", "2030-01-31,31", &format!("{rent},"));
    edit(&dir, "loans.csv", "2030-01-15", &instalment.to_string());
    taken(&bank, dir.path()).await;
    let ada = first_login(&bank, "ada@old.example").await;
    let cards = ada.get("/v1/cards").await.is(200);
    assert!(cards.text.contains("**** **** **** 1111"), "{}", cards.text);
    // The number came as far as the file and no further.
    let anywhere = "SELECT count(*) FROM events WHERE payload::text LIKE '%41111111%' OR payload::text LIKE '%4111 1111%'";
    assert_eq!(sqlx::query_scalar::<_, i64>(anywhere).fetch_one(&bank.pool).await.unwrap(), 0);
    let loan = "SELECT status || ' ' || amount || ' ' || principal_outstanding || ' ' || submitted_at::date FROM loans
                 WHERE account_number = '1234567897'";
    let stands = async || sqlx::query_scalar::<_, String>(loan).fetch_one(&bank.pool).await.unwrap();
    assert_eq!(stands().await, "DISBURSED 1200000 900000 2025-06-15");

    bank.client().post("/v1/sandbox/clock", &json!({"to": midnight(rent)})).await.is(200);
    bank.caught_up().await;
    let ada = first_login(&bank, "ada@old.example").await;
    assert_eq!(ada.balance("1234567897").await, 650_000);
    bank.client().post("/v1/sandbox/clock", &json!({"to": midnight(instalment)})).await.is(200);
    bank.caught_up().await;
    // Nine equal payments of 900,000 kobo at one percent a month.
    let paid = 105_066;
    let ada = first_login(&bank, "ada@old.example").await;
    assert_eq!(ada.balance("1234567897").await, 650_000 - paid);
    assert_eq!(stands().await, format!("DISBURSED 1200000 {} 2025-06-15", 900_000 - (paid - 9_000)));
    bank.caught_up().await;
    check(&bank.pool).await;
    bank.close().await;
}

/// What was taken over, in the order of the log: everything but when it was recorded, which is when customers come, and what is
/// made of a bank's own key.
async fn contents(pool: &PgPool) -> Vec<(String, Option<String>, String)> {
    let sql = "SELECT e.event_type, o.origin ->> 'id',
                      concat_ws(' ', CASE WHEN aggregate_type <> 'user' THEN o.origin ->> 'at' END,
                                payload->'completed'->>'amount', payload->'completed'->>'narration',
                                jsonb_path_query_array(payload::jsonb, '$.completed.postings[*].balance'))
                 FROM events e, LATERAL (SELECT value -> 'origin' AS origin FROM json_each(payload) LIMIT 1) o
                WHERE metadata->>'actor' = 'system:import' AND event_type <> 'user.activated' ORDER BY position";
    sqlx::query_as(sql).fetch_all(pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_import_that_is_killed_goes_on_where_it_was() {
    let (files, killed, whole) =
        (Scratch::new("import"), directory("import-killed"), directory("import-whole"));
    let csv = files.path().join("bank");
    let csv = csv.to_str().unwrap();
    assert_eq!(run(bursar(&["import", csv, "--generate", "12000"])).await.code, 0);
    for dir in [&killed, &whole] {
        std::fs::write(dir.join("master.key"), crate::support::MASTER_KEY).unwrap();
    }
    let arguments = |dir: &Path| {
        ["import".to_owned(), csv.to_owned(), "--data-dir".to_owned(), dir.to_str().unwrap().to_owned()]
    };
    let on = |dir: &Path| bursar(&arguments(dir).each_ref().map(String::as_str));

    let at_once = run(on(&whole)).await;
    assert_eq!((at_once.code, at_once.out.contains("every balance is equal")), (0, true), "{at_once:?}");

    let mut command = on(&killed);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let began = Instant::now();
    let url = loop {
        assert!(began.elapsed() < Duration::from_secs(60), "it does not begin");
        tokio::time::sleep(Duration::from_millis(20)).await;
        let dir = killed.clone();
        let url = tokio::task::spawn_blocking(move || {
            bursar_api::postgres::EmbeddedPostgres::attach(&dir, "bursar")
        });
        if let Some(url) = url.await.unwrap() {
            break url;
        }
    };
    let count = "SELECT count(*) FROM events WHERE metadata->>'actor' = 'system:import' AND aggregate_type = 'payment'";
    let straight = pool(&url);
    loop {
        assert!(began.elapsed() < Duration::from_secs(60), "it does not come on");
        let some: i64 = sqlx::query_scalar(count).fetch_one(&straight).await.unwrap_or(0);
        if some > 2_000 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    straight.close().await;

    // Nobody opens a bank that is half there.
    let refused =
        run(bursar(&["serve", "--listen", "127.0.0.1:0", "--data-dir", killed.to_str().unwrap()])).await;
    assert!(refused.code == 2 && refused.err.contains("is not finished"), "{refused:?}");

    let again = run(on(&killed)).await;
    assert_eq!((again.code, again.out.contains("every balance is equal")), (0, true), "{again:?}");
    let third = run(on(&killed)).await;
    assert!(third.code == 0 && third.out.contains("nothing is new"), "{third:?}");

    let mut found = Vec::new();
    for dir in [&killed, &whole] {
        let replayed = run(bursar(&["audit", "replay", "--data-dir", dir.to_str().unwrap()])).await;
        assert_eq!(replayed.code, 0, "{replayed:?}");
        let compared =
            run(bursar(&["projections", "verify", "--all", "--data-dir", dir.to_str().unwrap()])).await;
        assert_eq!(compared.code, 0, "{compared:?}");
        let config = Config { data_dir: dir.clone(), ..Config::default() };
        let database = Database::open(&config).await.unwrap();
        assert_eq!(imported::unfinished(&database.pool).await.unwrap(), None);
        found.push(contents(&database.pool).await);
        database.close().await;
    }
    let differs = found[0].iter().zip(&found[1]).find(|(killed, whole)| killed != whole);
    assert_eq!(differs, None, "the two banks differ");
    assert_eq!(found[0].len(), found[1].len());
    assert_eq!(found[0].iter().filter(|(what, ..)| what.starts_with("payment")).count(), 12_120);
    for dir in [killed, whole] {
        std::fs::remove_dir_all(dir).unwrap();
    }
}
