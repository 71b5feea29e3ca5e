//! The checkers are found to work: whatever they look for is put into a healthy bank, and they must say so.
//!
//! What a whole test looks for has its control beside it: a server, a writer, a follower that does it wrong.

use bursar_api::postgres::TestDatabase;
use bursar_domain::kernel::TransactionId;
use sqlx::PgPool;

use crate::support::Bank;
use crate::support::invariants::{Acknowledged, QUESTIONS, none, red, violations};
use crate::support::{client::Answer, forge};

/// How the violation begins, the table that is edited, and the edit.
const TAMPERING: [(&str, &str, &str); 15] = [
    (
        "I1: the postings at position ",
        "events",
        "UPDATE events SET payload = replace(payload::text, '-100,', '-101,')::json WHERE position = $1 - 2",
    ),
    (
        "I1: the ledger sums to ",
        "ledger_accounts",
        "UPDATE ledger_accounts SET balance = balance + 1 WHERE account = (SELECT max(account) FROM ledger_accounts)
            AND $1 > 0",
    ),
    (
        "I2: ledger account ",
        "ledger_accounts",
        "UPDATE ledger_accounts SET balance = balance + CASE account WHEN low THEN 1 ELSE -1 END
           FROM (SELECT min(account) AS low, max(account) AS high FROM ledger_accounts WHERE balance > 1) e
          WHERE account IN (low, high) AND $1 > 0",
    ),
    (
        "I2: 1 rows of accounts",
        "accounts",
        "UPDATE accounts SET ledger_balance = ledger_balance + 1 WHERE last_position = (SELECT max(last_position)
           FROM accounts) AND account_number = (SELECT min(account_number) FROM accounts WHERE last_position =
           (SELECT max(last_position) FROM accounts)) AND $1 > 0",
    ),
    ("I6: one key for ", "idempotency_keys", "INSERT INTO idempotency_keys SELECT '2001-01-01', key, fingerprint, first_position,
             last_position FROM idempotency_keys WHERE last_position = $1"),
    (
        "I6: two keys for the events ",
        "idempotency_keys",
        "UPDATE idempotency_keys SET first_position = first_position - 1 WHERE last_position = $1",
    ),
    (
        "I6: no single request are the events ",
        "idempotency_keys",
        "UPDATE idempotency_keys SET last_position = last_position + 1 WHERE last_position = $1",
    ),
    ("I8: after position ", "events", "DELETE FROM events WHERE position = $1 - 3"),
    ("I8: the head is at ", "events", "DELETE FROM events WHERE position = $1"),
    ("I8: event ", "events", "UPDATE events SET sequence = 7 WHERE position = $1 - 1"),
    (
        "I8: time goes back at position ",
        "events",
        "UPDATE events SET recorded_at = recorded_at - interval '1 year' WHERE position = $1 - 1",
    ),
    (
        "I10: the log says at position ",
        "events",
        r#"UPDATE events SET payload = regexp_replace(payload::text, '"balance":(\d+)', '"balance":1\1')::json
            WHERE position = $1 - 1"#,
    ),
    (
        "I10: the statement of ",
        "statement_entries",
        "UPDATE statement_entries SET balance = balance + 1 WHERE position = $1 - 2 AND line = 0",
    ),
    ("audit: position ", "events", "UPDATE events SET payload = '{\"vanished\":{}}' WHERE position = $1 - 1"),
    (
        "I9: read models cannot be made",
        "events",
        "UPDATE events SET payload = '{\"vanished\":{}}' WHERE position = $1 - 1",
    ),
];

/// A bank whose last five events are payments of 100 kobo by Ada, and which rests.
async fn bank_at_rest() -> (PgPool, TestDatabase, Vec<Answer>) {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let mut answers = Vec::new();
    for n in 0..5 {
        answers.push(ada.client.pay(&ada.current, &bola.current, 100, &format!("t{n}")).await.is(201));
    }
    // The read models have taken them.
    ada.client.get("/v1/accounts").await.is(200);
    ada.client.get(&format!("/v1/accounts/{}/statement", ada.current)).await.is(200);
    ada.client.get(&format!("/v1/accounts/{}/history", ada.current)).await.is(200);
    let (pool, database) = bank.stop().await;
    (pool, database, answers)
}

async fn head(pool: &PgPool) -> i64 {
    sqlx::query_scalar("SELECT position FROM head").fetch_one(pool).await.unwrap()
}

#[tokio::test]
async fn every_invariant_that_is_broken_by_hand_is_named() {
    let (pool, database, _) = bank_at_rest().await;
    let last = head(&pool).await;
    let earlier_day = "CREATE TABLE earlier_keys PARTITION OF idempotency_keys
                       FOR VALUES FROM ('2001-01-01') TO ('2001-01-02')";
    sqlx::query(earlier_day).execute(&pool).await.unwrap();
    none(&violations(&pool).await);
    for (found, table, edit) in TAMPERING {
        sqlx::query(&format!("CREATE TABLE kept AS TABLE {table}")).execute(&pool).await.unwrap();
        let edited = sqlx::query(edit).bind(last).execute(&pool).await.unwrap();
        assert!(edited.rows_affected() > 0, "{edit}");
        red(&violations(&pool).await, found);
        let restore = format!("TRUNCATE {table}; INSERT INTO {table} SELECT * FROM kept; DROP TABLE kept");
        sqlx::raw_sql(&restore).execute(&pool).await.unwrap();
    }
    none(&violations(&pool).await);
    pool.close().await;
    database.drop_now().await.unwrap();
}

#[tokio::test]
async fn a_debit_that_the_ledger_never_saw_is_named() {
    let (pool, database, _) = bank_at_rest().await;
    let sql =
        "SELECT account, balance FROM ledger_accounts WHERE owner IS NOT NULL ORDER BY balance DESC LIMIT 2";
    let rich: Vec<(String, i64)> = sqlx::query_as(sql).fetch_all(&pool).await.unwrap();
    let ((from, has), (to, _)) = (&rich[0], &rich[1]);
    let (sources, _) = bursar_api::sources::system();
    let mut tx = pool.begin().await.unwrap();
    let mut spend = async |from: &str, to: &str, amount: i64| {
        let id = TransactionId::mint(&sources).to_string();
        forge::payment(&mut tx, &id, from, to, amount).await.unwrap();
    };
    // Nobody can tell a forged payment from another one as long as there is money for it ...
    spend(from, to, *has).await;
    spend(to, from, *has).await;
    tx.commit().await.unwrap();
    none(&violations(&pool).await);
    // ... and when there is not, it shows for ever, however soon the money is put back.
    let mut tx = pool.begin().await.unwrap();
    for (from, to) in [(from, to), (to, from)] {
        let id = TransactionId::mint(&sources).to_string();
        forge::payment(&mut tx, &id, from, to, has + 1).await.unwrap();
    }
    tx.commit().await.unwrap();
    red(&violations(&pool).await, OVERDRAWN);
    pool.close().await;
    database.drop_now().await.unwrap();
}

const OVERDRAWN: &str = "I3: a debit at position ";

#[test]
fn every_question_of_the_checker_has_a_control() {
    for (invariant, question) in QUESTIONS {
        let (_, text) = question.split_once("format('").unwrap();
        let begins = format!("{invariant}: {}", text.split('%').next().unwrap());
        let controlled = TAMPERING.iter().any(|(found, ..)| *found == begins) || begins == OVERDRAWN;
        assert!(controlled, "nothing shows that this is ever found: {begins}");
    }
}

#[tokio::test]
async fn what_was_acknowledged_and_what_is_in_the_log_are_held_against_each_other() {
    let (pool, database, answers) = bank_at_rest().await;
    let mut acknowledged = Acknowledged::since(head(&pool).await - 5);
    for (n, answer) in answers.iter().enumerate() {
        acknowledged.note(format!("t{n}"), answer.text_at("transactionId"), &answer.text);
    }
    none(&acknowledged.violations(&pool).await);
    let first = answers[0].text_at("transactionId");

    // Acknowledged, and not there: a guess, or a commit that was lost.
    let mut lost = acknowledged.clone();
    lost.note("t5", "txn_0192f0c1a0007000800000000000000a", "");
    red(&lost.violations(&pool).await, "I5: txn_0192f0c1a0007000800000000000000a was acknowledged");
    red(&lost.violations_so_far(&pool).await, "I5: txn_0192f0c1a0007000800000000000000a was acknowledged");
    // There, and never acknowledged: paid twice for one request. While requests are under way it may be one of those.
    let mut twice = Acknowledged::since(head(&pool).await - 5);
    for (n, answer) in answers.iter().enumerate().skip(1) {
        twice.note(format!("t{n}"), answer.text_at("transactionId"), &answer.text);
    }
    red(&twice.violations(&pool).await, &format!("I5: {first} is in the log and was never acknowledged"));
    none(&twice.violations_so_far(&pool).await);
    // One key, two transactions; one key, two answers; two keys, one transaction.
    let mut other = acknowledged.clone();
    other.note("t1", first, &answers[0].text);
    red(&other.violations(&pool).await, "I6: t1 was answered in 2 ways");
    let mut reworded = acknowledged.clone();
    reworded.note("t0", first, "paid");
    red(&reworded.violations(&pool).await, "I6: t0 was answered in 2 ways");
    let mut shared = acknowledged.clone();
    shared.note("t5", first, &answers[0].text);
    red(&shared.violations(&pool).await, "I6: t5 and t0 are both");
    // In the log twice under one id.
    let sql =
        "INSERT INTO events SELECT position + 100, 2, recorded_at, aggregate_type, aggregate_id, event_type,
               event_version, payload, metadata FROM events WHERE aggregate_id = $1";
    sqlx::query(sql).bind(first).execute(&pool).await.unwrap();
    red(
        &acknowledged.violations(&pool).await,
        &format!("I5: {first} was acknowledged and is in the log 2 times"),
    );
    pool.close().await;
    database.drop_now().await.unwrap();
}
