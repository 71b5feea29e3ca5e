//! Auditors and support: what was edited by hand is found and named.

use bursar_commands::audit;
use bursar_domain::codec::Codec;
use serde_json::json;

use crate::support::{Bank, forge, rebuild, verify};

async fn difference(bank: &Bank) -> Option<audit::Difference> {
    audit::replay(&bank.pool, &Codec::default(), &mut |_, _| {}).await.unwrap().difference
}

#[tokio::test]
async fn a_balance_edited_by_hand_is_named() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    ada.client.pay(&ada.current, &bola.current, 100, "one").await.is(201);
    assert_eq!(difference(&bank).await, None);
    let edit = |by: i64| {
        sqlx::query("UPDATE ledger_accounts SET balance = balance + $1 WHERE account = $2")
            .bind(by)
            .bind(&ada.current)
    };
    edit(1).execute(&bank.pool).await.unwrap();
    let found = difference(&bank).await.unwrap();
    assert!(found.subject.contains(&ada.current) && found.position > 0, "{found}");
    edit(-1).execute(&bank.pool).await.unwrap();
    bank.close().await;
}

/// Nothing is wrong with the ledger, and yet nobody can say whose money it is.
#[tokio::test]
async fn a_settlement_account_that_its_payments_do_not_explain_is_named() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let body = json!({
        "sourceAccount": ada.current, "destinationAccount": "0123456789", "bankCode": "058", "amount": 5_000,
        "currency": "NGN",
    });
    ada.client.post("/v1/payments/transfer/external", &body).await.is(201);
    assert_eq!(difference(&bank).await, None);
    let mut connection = bank.pool.acquire().await.unwrap().detach();
    let (id, from) = ("txn_0192f0c1a00070008000000000000abc", "bank:settlement.banks:NGN");
    forge::payment(&mut connection, id, from, &ada.current, 1).await.unwrap();
    let found = difference(&bank).await.unwrap();
    assert_eq!(
        (&*found.subject, &*found.expected, &*found.found),
        ("open items of bank:settlement.banks:NGN", "5000", "4999")
    );
    // What a test leaves behind is checked, too.
    forge::payment(&mut connection, "txn_0192f0c1a00070008000000000000abd", &ada.current, from, 1)
        .await
        .unwrap();
    bank.close().await;
}

#[tokio::test]
async fn every_kind_of_tampering_with_the_log_is_found() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    for n in 0..5 {
        ada.client.pay(&ada.current, &bola.current, 100, &format!("t{n}")).await.is(201);
    }
    // The read models have taken the events as they were.
    ada.client.get("/v1/accounts").await.is(200);
    ada.client.get(&format!("/v1/accounts/{}/statement", ada.current)).await.is(200);
    ada.client.get(&format!("/v1/accounts/{}/history", ada.current)).await.is(200);
    let last = bank.events().await;
    let tampering = [
        // An amount.
        (
            r#"UPDATE events SET payload = replace(payload::text, '-100,', '-101,')::json WHERE position = $1"#,
            last - 2,
        ),
        // A balance.
        (
            r#"UPDATE events SET payload = regexp_replace(payload::text, '"balance":(\d+)', '"balance":1\1')::json WHERE position = $1"#,
            last - 1,
        ),
        // An event gone.
        ("DELETE FROM events WHERE position = $1", last - 3),
        // The newest gone.
        ("DELETE FROM events WHERE position = $1", last),
        // An event of a type that is not.
        ("UPDATE events SET payload = '{\"vanished\":{}}' WHERE position = $1", last - 1),
        // Its time.
        ("UPDATE events SET recorded_at = recorded_at - interval '1 year' WHERE position = $1", last - 1),
        // Its place in its stream.
        ("UPDATE events SET sequence = 7 WHERE position = $1", last - 1),
    ];
    sqlx::query("CREATE TABLE kept AS TABLE events").execute(&bank.pool).await.unwrap();
    for (sql, position) in tampering {
        let touched = sqlx::query(sql).bind(position).execute(&bank.pool).await.unwrap();
        assert_eq!(touched.rows_affected(), 1, "{sql}");
        let found = difference(&bank).await.unwrap_or_else(|| panic!("not found: {sql}"));
        assert!((position - 1..=position + 1).contains(&found.position), "{sql}: {found}");
        sqlx::query("TRUNCATE events").execute(&bank.pool).await.unwrap();
        sqlx::query("INSERT INTO events SELECT * FROM kept").execute(&bank.pool).await.unwrap();
    }
    bank.close().await;
}

#[tokio::test]
async fn a_read_model_edited_by_hand_is_found_and_mended_by_a_rebuild() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let paid = ada.client.pay(&ada.current, &bola.current, 100, "one").await.is(201);
    // Read our own write, so that the read models are there.
    ada.client.get(&format!("/v1/accounts/{}/statement", ada.current)).await.is(200);
    let sql = "UPDATE statement_entries SET amount = amount - 1 WHERE account_number = $1 AND position = $2";
    let position: i64 = paid.header("bursar-position").parse().unwrap();
    let edited = sqlx::query(sql).bind(&ada.current).bind(position).execute(&bank.pool).await.unwrap();
    assert_eq!(edited.rows_affected(), 1);
    let verified = verify(&bank.pool, &["statement_entries"]).await.unwrap();
    assert_eq!(verified[0].differing, 1);
    rebuild(&bank.pool, &["statement_entries"]).await.unwrap();
    // And the live runner goes on in the new table.
    ada.client.pay(&ada.current, &bola.current, 100, "two").await.is(201);
    let statement = ada.client.get(&format!("/v1/accounts/{}/statement?size=2", ada.current)).await.is(200);
    assert_eq!(statement.body["transactions"][1]["amount"], -100);
    bank.close().await;
}
