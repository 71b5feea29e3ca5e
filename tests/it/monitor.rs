//! The monitor: a bank that is wrong stops.

use std::time::Duration;

use bursar_commands::audit::monitor::{Monitor, accept, breaches};
use jiff::SignedDuration;
use sqlx::PgPool;

use crate::support::proxy::in_front_of;
use crate::support::{Bank, Person, forge, pool};

async fn looked_at(pool: &PgPool) -> i64 {
    sqlx::query_scalar("SELECT position FROM monitor").fetch_one(pool).await.unwrap()
}

/// The rules that are broken, and where.
async fn broken(bank: &Bank, monitor: &mut Monitor) -> Vec<(String, i64)> {
    monitor.look().await.unwrap();
    let found = breaches(&bank.pool).await.unwrap();
    found.into_iter().map(|breach| (breach.invariant, breach.position)).collect()
}

/// A payment of one kobo between Ada's accounts, as no bank writes it.
async fn forge(bank: &Bank, ada: &Person, id: &str, amount: i64) -> i64 {
    let mut connection = bank.pool.acquire().await.unwrap();
    forge::payment(&mut connection, id, &ada.current, &ada.savings, amount).await.unwrap();
    sqlx::query_scalar("SELECT position FROM head").fetch_one(&bank.pool).await.unwrap()
}

/// The bank is not what it was: its database goes without being looked at.
async fn throw_away(bank: Bank) {
    let (pool, database) = bank.stop().await;
    pool.close().await;
    database.drop_now().await.unwrap();
}

#[tokio::test]
async fn a_bank_at_work_breaks_no_rule_and_is_looked_at_once() {
    let bank = Bank::open().await;
    let (second, _) = bank.second().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (mut here, mut there) = (
        Monitor::new(bank.app.journal.clone(), bank.pool.clone()),
        Monitor::new(second.journal.clone(), second.pool.clone()),
    );
    for round in 0..6 {
        ada.client.pay(&ada.current, &bola.current, 1_000, &format!("a{round}")).await.is(201);
        bola.client.pay(&bola.current, &ada.current, 10, &format!("b{round}")).await.is(201);
        // They take turns, and both remember what is old by then.
        let monitor = if round % 2 == 0 { &mut here } else { &mut there };
        assert_eq!(broken(&bank, monitor).await, []);
        assert_eq!(looked_at(&bank.pool).await, bank.events().await);
    }
    second.close().await;
    bank.close().await;
}

/// What a look that failed has remembered is not what the next one begins with: a bank must not stop for it.
#[tokio::test(flavor = "multi_thread")]
async fn a_look_that_is_cut_off_anywhere_is_no_breach() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (through, faults) = in_front_of(bank.url()).await;
    let mut monitor = Monitor::new(bank.app.journal.clone(), pool(&through));
    assert_eq!(broken(&bank, &mut monitor).await, []);
    let mut cut = 0;
    for n in 1..=30 {
        for payment in 0..2 {
            let key = format!("cut-{n}-{payment}");
            ada.client.pay(&ada.current, &bola.current, 1, &key).await.is(201);
        }
        faults.cut_at_message(n);
        cut += usize::from(monitor.look().await.is_err());
        faults.calm();
        // The store keeps the turn for a connection that is gone until it notices.
        let head = bank.events().await;
        let looking = async {
            while looked_at(&bank.pool).await < head {
                assert_eq!(broken(&bank, &mut monitor).await, [], "cut at message {n}");
            }
        };
        tokio::time::timeout(Duration::from_secs(60), looking).await.unwrap();
    }
    assert!(cut > 5, "{cut} looks were cut off");
    bank.close().await;
}

#[tokio::test]
async fn whatever_breaks_a_rule_is_found() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let mut monitor = Monitor::new(bank.app.journal.clone(), bank.pool.clone());
    ada.client.pay(&ada.current, &bola.current, 1_000, "fair").await.is(201);
    assert_eq!(broken(&bank, &mut monitor).await, []);
    let has = ada.client.balance(&ada.current).await;
    let mut expected = Vec::new();
    let mut connection = bank.pool.acquire().await.unwrap();

    // More than there is.
    let at = forge(&bank, &ada, "txn_0192f0c1a00070008000000000000a01", has + 1).await;
    expected.push(("FUNDED".to_owned(), at));
    assert_eq!(broken(&bank, &mut monitor).await, expected);

    // One side says another sum.
    forge::payment(&mut connection, "txn_0192f0c1a00070008000000000000a02", &ada.savings, &ada.current, 7)
        .await
        .unwrap();
    let at = at + 1;
    let sql = r#"UPDATE events SET payload = replace(payload::text, '"amount" : -7', '"amount" : -9')::json
                  WHERE position = $1"#;
    sqlx::query(sql).bind(at).execute(&mut *connection).await.unwrap();
    let found = broken(&bank, &mut monitor).await;
    assert!(found.contains(&("BALANCED".to_owned(), at)), "{found:?}");

    // Written in the log, and not in the balances.
    let before = found.len();
    forge::record(&mut connection, "txn_0192f0c1a00070008000000000000a03", &ada.savings, &ada.current, 7)
        .await
        .unwrap();
    let found = broken(&bank, &mut monitor).await;
    assert_eq!(found[before..], [("CONTINUOUS".to_owned(), at + 1), ("CONTINUOUS".to_owned(), at + 1)]);

    // Written in the balances, and not in the log: seen when they are added up, which is not each time.
    let sql = "UPDATE ledger_accounts SET balance = balance + 1 WHERE account = $1";
    sqlx::query(sql).bind(&ada.savings).execute(&mut *connection).await.unwrap();
    let before = found.len();
    assert_eq!(broken(&bank, &mut monitor).await.len(), before);
    bank.advance(SignedDuration::from_mins(6));
    let found = broken(&bank, &mut monitor).await;
    assert_eq!(found[before..], [("BALANCED".to_owned(), at + 1)]);

    // Gone.
    let sql = "UPDATE head SET position = position + 2";
    sqlx::query(sql).execute(&mut *connection).await.unwrap();
    let sql = "INSERT INTO events SELECT position + 2, sequence, recorded_at, aggregate_type, aggregate_id || '0', event_type,
                      event_version, payload, metadata FROM events WHERE position = $1";
    sqlx::query(sql).bind(at + 1).execute(&mut *connection).await.unwrap();
    let found = broken(&bank, &mut monitor).await;
    assert!(found.contains(&("GAPLESS".to_owned(), at + 2)), "{found:?}");
    drop(connection);
    throw_away(bank).await;
}

#[tokio::test]
async fn an_event_that_cannot_be_read_is_passed_over_and_what_comes_after_it_is_watched() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let mut monitor = Monitor::new(bank.app.journal.clone(), bank.pool.clone());
    ada.client.pay(&ada.current, &ada.savings, 1_000, "before").await.is(201);
    assert_eq!(broken(&bank, &mut monitor).await, []);
    for (n, (from, to)) in [("completed", "vanished"), ("NGN", "naira")].into_iter().enumerate() {
        // Money has moved, and nobody here can say which.
        let at = forge(&bank, &ada, &format!("txn_0192f0c1a00070008000000000000b0{n}"), 7).await;
        let sql = "UPDATE events SET payload = replace(payload::text, $2, $3)::json WHERE position = $1";
        sqlx::query(sql).bind(at).bind(from).bind(to).execute(&bank.pool).await.unwrap();
        // On the same page as what comes after it, and by itself.
        if n == 1 {
            assert_eq!(broken(&bank, &mut monitor).await, []);
        }
        ada.client.pay(&ada.current, &ada.savings, 10, &format!("after-{n}")).await.is(201);
        assert_eq!(broken(&bank, &mut monitor).await, []);
        assert_eq!(looked_at(&bank.pool).await, at + 1);
    }
    bola.client.pay(&bola.current, &ada.current, 1, "goes on").await.is(201);
    assert_eq!(broken(&bank, &mut monitor).await, []);
    // The control: it watches as before.
    let mut connection = bank.pool.acquire().await.unwrap();
    forge::record(&mut connection, "txn_0192f0c1a00070008000000000000b09", &ada.current, &ada.savings, 7)
        .await
        .unwrap();
    let at = looked_at(&bank.pool).await + 1;
    let continuous = ("CONTINUOUS".to_owned(), at);
    assert_eq!(broken(&bank, &mut monitor).await, [continuous.clone(), continuous]);
    drop(connection);
    throw_away(bank).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bank_that_is_wrong_writes_nothing_until_somebody_answers_for_it() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let ready = async |client: &crate::support::Client| client.get("/readyz").await;
    assert_eq!(ready(&bank.client()).await.is(200).body["ledger"], true);
    let mut monitor = Monitor::new(bank.app.journal.clone(), bank.pool.clone());
    let has = ada.client.balance(&ada.current).await;
    forge(&bank, &ada, "txn_0192f0c1a00070008000000000000a01", has + 1).await;
    monitor.look().await.unwrap();
    let events = bank.events().await;

    ada.client.pay(&ada.current, &bola.current, 1, "halted").await.problem(503, "UNAVAILABLE");
    assert_eq!(ready(&bank.client()).await.is(503).body["ledger"], false);
    // It can still be read, and a server that starts now knows it too.
    ada.client.get("/v1/accounts").await.is(200);
    let (second, address) = bank.second().await;
    bola.client.at(address).pay(&bola.current, &ada.current, 1, "halted").await.problem(503, "UNAVAILABLE");
    assert_eq!(bank.events().await, events);

    let open = breaches(&bank.pool).await.unwrap();
    assert_eq!((open.len(), &*open[0].invariant), (1, "FUNDED"));
    let now = bank.app.journal.sources().clock.now();
    assert!(accept(&bank.pool, open[0].id, "Ticket 4711", now).await.unwrap());
    assert!(!accept(&bank.pool, open[0].id, "Ticket 4711", now).await.unwrap(), "once");
    monitor.look().await.unwrap();
    bola.client.pay(&bola.current, &ada.current, 1, "halted").await.is(201);
    assert_eq!(ready(&bank.client()).await.is(200).body["ledger"], true);
    second.close().await;
    throw_away(bank).await;
}
