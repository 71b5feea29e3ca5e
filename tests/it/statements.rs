//! What happened on an account: statements, histories, and both as they were.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use serde_json::{Value, json};

use crate::support::client::{Answer, transfer};
use crate::support::{Bank, Person};

/// A bank at noon of a day on which nothing has happened, and that day: no test meets midnight by chance.
async fn bank_at_noon() -> (Bank, Date) {
    let bank = Bank::open().await;
    let tomorrow = date(now(&bank)).tomorrow().unwrap();
    let noon = tomorrow.at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp();
    bank.advance(noon.duration_since(now(&bank)));
    (bank, tomorrow)
}

fn now(bank: &Bank) -> Timestamp {
    bank.app.journal.sources().clock.now()
}

fn date(at: Timestamp) -> Date {
    at.to_zoned(TimeZone::UTC).date()
}

async fn statement(person: &Person, query: &str) -> Answer {
    person.client.get(&format!("/v1/accounts/{}/statement?{query}", person.current)).await
}

fn amounts(statement: &Answer) -> Vec<i64> {
    statement.list_at("transactions").iter().map(|entry| entry["amount"].as_i64().unwrap()).collect()
}

/// Pays `amount` and tells when and at which position it was recorded.
async fn pay(from: &Person, to: &Person, amount: i64) -> (Timestamp, i64) {
    let body = transfer(&from.current, &to.current, amount);
    let paid = from.client.post("/v1/payments/transfer/internal", &body).await.is(201);
    (paid.text_at("processedAt").parse().unwrap(), paid.header("bursar-position").parse().unwrap())
}

#[tokio::test]
async fn a_range_begins_with_from_and_ends_before_to_or_with_its_day() {
    let (bank, today) = bank_at_noon().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (at, _) = pay(&ada, &bola, 777).await;
    let (before, after) = (at - SignedDuration::from_micros(1), at + SignedDuration::from_micros(1));
    let (yesterday, tomorrow) = (today.yesterday().unwrap(), today.tomorrow().unwrap());
    // The same moment on a clock an hour ahead.
    let lagos = |at: Timestamp| {
        let text = (at + SignedDuration::from_hours(1)).to_string();
        text.replace('Z', "%2B01:00")
    };
    for (range, inside) in [
        (format!("from={at}"), true),
        (format!("from={after}"), false),
        (format!("from={yesterday}&to={at}"), false),
        (format!("from={yesterday}&to={after}"), true),
        (format!("from={before}&to={after}"), true),
        (format!("from={at}&to={at}"), false),
        (format!("from={today}&to={today}"), true),
        (format!("from={yesterday}&to={yesterday}"), false),
        (format!("from={tomorrow}&to={tomorrow}"), false),
        (format!("to={today}"), true),
        (format!("from={}", lagos(at)), true),
        (format!("from={}", lagos(after)), false),
        (format!("from={yesterday}&to={}", lagos(at)), false),
        (String::new(), true),
    ] {
        let found = amounts(&statement(&ada, &range).await.is(200)).contains(&-777);
        assert_eq!(found, inside, "{range}");
    }
    bank.close().await;
}

#[tokio::test]
async fn a_range_that_cannot_be_is_a_400() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    for path in ["statement", "history"] {
        let ask =
            async |query: &str| ada.client.get(&format!("/v1/accounts/{}/{path}?{query}", ada.current)).await;
        ask("from=2025-01-01&to=2026-01-01").await.is(200);
        for (query, pointer) in [
            ("from=2025-01-01&to=2026-01-02", "/from"),
            ("from=2026-01-02&to=2026-01-01", "/from"),
            ("from=2026-01-01T00:00:01Z&to=2026-01-01T00:00:00Z", "/from"),
            ("from=2026-02-30", "/from"),
            ("from=yesterday", "/from"),
            ("to=2026-01-01T25:00:00Z", "/to"),
            ("to=1767225600", "/to"),
            ("from=", "/from"),
        ] {
            assert_eq!(ask(query).await.pointers(), [pointer], "{path}?{query}");
        }
    }
    let all = "from=x&to=y&type=z&minAmount=-1&maxAmount=1.5&sort=balance&page=0&size=0&asOf=now";
    assert_eq!(statement(&ada, all).await.pointers().len(), 9);
    bank.close().await;
}

#[tokio::test]
async fn the_ends_of_time_are_dates_too() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    for query in [
        "from=9999-01-01&to=9999-12-31",
        "from=0001-01-01&to=0001-01-02",
        "from=-004712-01-01&to=-004712-01-02",
        "from=-009999-01-03&to=-009999-01-04",
        "to=-009999-01-02",
        "to=9999-12-31T23:59:59Z",
        "asOf=-009999-01-03T00:00:00Z",
    ] {
        for path in ["statement", "history", "balance"] {
            let answer = ada.client.get(&format!("/v1/accounts/{}/{path}?{query}", ada.current)).await;
            assert!([200, 400].contains(&answer.status), "{path}?{query}: {}", answer.text);
        }
    }
    bank.close().await;
}

#[tokio::test]
async fn closing_is_opening_plus_everything_in_between() {
    let (bank, _) = bank_at_noon().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let had = ada.client.balance(&ada.current).await;
    let (first, _) = pay(&ada, &bola, 100).await;
    for n in 1..=12 {
        pay(&ada, &bola, n * 1_000).await;
        pay(&bola, &ada, n * 300).await;
    }
    let (last, _) = pay(&bola, &ada, 100).await;
    bank.caught_up().await;
    // Without the first and the last.
    let range = format!("from={}&to={last}", first + SignedDuration::from_micros(1));
    let all = statement(&ada, &format!("{range}&size=100&sort=transactionDate")).await.is(200);
    assert_eq!(all.number_at("openingBalance"), had - 100);
    assert_eq!(all.list_at("transactions").len(), 24);
    let mut balance = all.number_at("openingBalance");
    for entry in all.list_at("transactions") {
        balance += entry["amount"].as_i64().unwrap();
        assert_eq!(entry["balance"], balance);
        assert_eq!(entry["type"], if entry["amount"].as_i64() < Some(0) { "DEBIT" } else { "CREDIT" });
        assert_eq!((&entry["narration"], &entry["reference"]), (&json!("Lunch"), &json!("LUNCH")));
    }
    assert_eq!(all.number_at("closingBalance"), balance);
    // Whatever part of it is listed, opening and closing are those of the range.
    for part in ["page=2&size=5", "page=9", "type=CREDIT", "q=nothing", "sort=amount"] {
        let part = statement(&ada, &format!("{range}&{part}")).await.is(200);
        assert_eq!(part.body["openingBalance"], all.body["openingBalance"]);
        assert_eq!(part.body["closingBalance"], all.body["closingBalance"]);
    }
    let quiet = statement(&ada, &format!("from={last}&to={last}")).await.is(200);
    assert_eq!(quiet.number_at("openingBalance"), quiet.number_at("closingBalance"));
    assert_eq!(quiet.number_at("openingBalance"), balance);
    bank.close().await;
}

#[tokio::test]
async fn entries_are_filtered_and_sorted() {
    let (bank, today) = bank_at_noon().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    for (payer, payee, amount, narration) in
        [(&ada, &bola, 300, "Rent 100%"), (&ada, &bola, 100, "taxi_home"), (&bola, &ada, 200, "Change")]
    {
        let mut body = transfer(&payer.current, &payee.current, amount);
        body["narration"] = json!(narration);
        payer.client.post("/v1/payments/transfer/internal", &body).await.is(201);
    }
    bank.caught_up().await;
    for (query, expected) in [
        ("sort=-transactionDate", vec![200, -100, -300]),
        ("sort=transactionDate", vec![-300, -100, 200]),
        ("sort=amount", vec![-100, 200, -300]),
        ("sort=-amount", vec![-300, 200, -100]),
        ("", vec![200, -100, -300]),
        ("type=DEBIT", vec![-100, -300]),
        ("type=CREDIT", vec![200]),
        ("minAmount=200", vec![200, -300]),
        ("maxAmount=200", vec![200, -100]),
        ("minAmount=101&maxAmount=299", vec![200]),
        ("minAmount=300&maxAmount=100", vec![]),
        ("q=rent", vec![-300]),
        ("q=%25", vec![-300]),
        ("q=_", vec![-100]),
        ("q=%27", vec![]),
        ("q=LUNCH", vec![200, -100, -300]),
        ("type=DEBIT&q=TAXI&size=1", vec![-100]),
        ("size=1&page=2", vec![-100]),
    ] {
        let answer = statement(&ada, &format!("from={today}&{query}")).await.is(200);
        assert_eq!(amounts(&answer), expected, "{query}");
    }
    let counted = statement(&ada, &format!("from={today}&type=DEBIT&size=1")).await.is(200);
    let expected = json!({"page": 1, "size": 1, "total": 2, "hasNext": true, "hasPrevious": false});
    assert_eq!(counted.body["pagination"], expected);
    bank.close().await;
}

#[tokio::test]
async fn a_history_has_a_row_for_every_day_quiet_or_not() {
    let (bank, today) = bank_at_noon().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let had = ada.client.balance(&ada.current).await;
    pay(&ada, &bola, 100).await;
    bank.advance(SignedDuration::from_hours(3 * 24));
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    pay(&ada, &bola, 50).await;
    let history = async |query: &str| {
        ada.client.get(&format!("/v1/accounts/{}/history?{query}", ada.current)).await.is(200)
    };
    let rows = |answer: &Answer| -> Vec<(String, i64)> {
        let rows = answer.list_at("balanceHistory").iter();
        rows.map(|row| (row["date"].as_str().unwrap().to_owned(), row["ledgerBalance"].as_i64().unwrap()))
            .collect()
    };
    let day = |n: i64| today.checked_add(n.days()).unwrap();
    let row = |n: i64, balance: i64| (format!("{}T00:00:00Z", day(n)), balance);
    let expected = [row(3, had - 150), row(2, had - 100), row(1, had - 100), row(0, had - 100), row(-1, had)];
    // Days that have not begun have no row.
    let found = history(&format!("from={}&to={}", day(-1), day(9))).await;
    assert_eq!(rows(&found), expected);
    let page = history(&format!("from={}&to={}&page=2&size=2", day(-1), day(9))).await;
    assert_eq!(rows(&page), expected[2..4]);
    assert_eq!(page.body["pagination"]["total"], 5);
    // Nor have the days before it was opened.
    let opened = ada.client.get(&format!("/v1/accounts/{}", ada.current)).await;
    let opened: Timestamp = opened.text_at("openedAt").parse().unwrap();
    let all = history(&format!("from={}&to={}&size=100", day(-300), day(3))).await;
    let days = i64::from((day(3) - date(opened)).get_days()) + 1;
    assert_eq!(all.body["pagination"]["total"], days);
    assert_eq!(rows(&history("").await)[0], row(3, had - 150));
    assert_eq!(rows(&history(&format!("from={}&to={}", day(5), day(7))).await), []);
    bank.close().await;
}

#[tokio::test]
async fn the_balance_at_every_past_position_is_what_it_was() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    for n in 1..=4 {
        pay(&ada, &bola, n * 10).await;
        pay(&bola, &ada, n * 7).await;
    }
    let moved: Vec<(i64, i64)> = sqlx::query_as(
        "SELECT position, (line ->> 'amount')::bigint
         FROM events, json_array_elements(payload -> 'completed' -> 'postings') line
         WHERE event_type = 'payment.completed' AND line ->> 'account' = $1",
    )
    .bind(&ada.current)
    .fetch_all(&bank.pool)
    .await
    .unwrap();
    for position in 0..=bank.events().await {
        let then: i64 = moved.iter().filter(|(at, _)| *at <= position).map(|(_, amount)| amount).sum();
        let path = format!("/v1/accounts/{}/balance?asOfPosition={position}", ada.current);
        let answer = ada.client.get(&path).await.is(200);
        assert_eq!(answer.number_at("ledgerBalance"), then, "position {position}");
        assert_eq!(answer.number_at("availableBalance"), then, "position {position}");
        let listed = statement(&ada, &format!("asOfPosition={position}")).await.is(200);
        assert_eq!(listed.number_at("closingBalance"), then, "position {position}");
        let count = moved.iter().filter(|(at, _)| *at <= position).count();
        assert_eq!(listed.body["pagination"]["total"], count, "position {position}");
    }
    bank.close().await;
}

#[tokio::test]
async fn as_of_a_time_includes_what_was_recorded_at_it() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let had = ada.client.balance(&ada.current).await;
    let (at, position) = pay(&ada, &bola, 100).await;
    pay(&ada, &bola, 900).await;
    let balance =
        async |query: &str| ada.client.get(&format!("/v1/accounts/{}/balance?{query}", ada.current)).await;
    let before = at - SignedDuration::from_micros(1);
    assert_eq!(balance(&format!("asOf={at}")).await.number_at("ledgerBalance"), had - 100);
    assert_eq!(balance(&format!("asOf={before}")).await.number_at("ledgerBalance"), had);
    assert_eq!(balance("").await.number_at("ledgerBalance"), had - 1_000);

    let (head, later) = (bank.events().await, now(&bank) + SignedDuration::from_mins(1));
    for (query, pointer) in [
        (format!("asOf={at}&asOfPosition={position}"), "/asOf"),
        (format!("asOf={later}"), "/asOf"),
        (format!("asOfPosition={}", head + 1), "/asOfPosition"),
        (format!("asOfPosition={}", i64::MAX), "/asOfPosition"),
        ("asOfPosition=-1".to_owned(), "/asOfPosition"),
        ("asOfPosition=latest".to_owned(), "/asOfPosition"),
        ("asOf=2026-01-01".to_owned(), "/asOf"),
    ] {
        assert_eq!(balance(&query).await.pointers(), [pointer], "{query}");
        assert_eq!(statement(&ada, &query).await.pointers(), [pointer], "{query}");
    }
    bank.close().await;
}

#[tokio::test]
async fn an_answer_about_the_past_knows_nothing_that_came_later() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (at, position) = pay(&ada, &bola, 100).await;
    let before = ada.client.get(&format!("/v1/accounts/{}/balance", ada.current)).await.is(200);
    // There and back: the balance is what it was, and yet something has happened.
    pay(&ada, &bola, 50).await;
    pay(&bola, &ada, 50).await;
    for query in [format!("asOf={at}"), format!("asOfPosition={position}")] {
        let then = ada.client.get(&format!("/v1/accounts/{}/balance?{query}", ada.current)).await.is(200);
        assert_eq!(then.body["ledgerBalance"], before.body["ledgerBalance"]);
        let last = &then.body["lastTransactionDate"];
        assert!(
            *last == Value::Null || *last == before.body["lastTransactionDate"],
            "{query}: {last}, after {at}"
        );
    }
    bank.close().await;
}
