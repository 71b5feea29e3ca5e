//! The live runner.

use std::time::Duration;

use super::bank::number;
use super::{Bank, Scratch};
use crate::{Freshness, Lagging, ModelState, Projections, catalogue, verify};
use bursar_domain::Kind;

const LONG: Duration = Duration::from_secs(20);
const NAMES: &[&str] =
    &["accounts", "daily_balances", "products", "statement_entries", "tags", "transactions"];

/// The names of the models that differ from what the log says.
pub(super) async fn wrong(scratch: &Scratch) -> Vec<&'static str> {
    let reports = verify(scratch.log(), NAMES, &()).await.unwrap();
    reports.iter().filter(|report| report.differing > 0).map(|report| report.model).collect()
}

fn parked(projections: &Projections) -> Vec<&'static str> {
    let parked = |status: &crate::ModelStatus| matches!(status.state, ModelState::Parked { .. });
    projections.status().into_iter().filter(parked).map(|status| status.name).collect()
}

#[tokio::test]
async fn the_runner_follows_the_log_and_equals_a_rebuild() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let events = bank.history(20, 12_000);
    scratch.append(&events[..7_000]).await;
    let projections = scratch.start();
    scratch.append(&events[7_000..]).await;
    projections.freshness().wait(&[], bank.position, LONG).await.unwrap();

    let sum: i64 = scratch.value("SELECT sum(amount)::bigint FROM statement_entries").await;
    assert_eq!(sum, 0);
    assert_eq!(scratch.value::<i64>("SELECT count(*) FROM statement_entries").await, 2 * 12_020);
    for (account, known) in bank.ledger().filter(|(account, _)| !account.is_internal()) {
        let sql = format!("SELECT ledger_balance FROM accounts WHERE account_number = '{account}'");
        assert_eq!(scratch.value::<i64>(&sql).await, known.balance);
    }
    assert_eq!(wrong(&scratch).await, [""; 0]);
    assert!(projections.status().iter().all(|status| status.lag == 0));
    projections.stop().await;
    scratch.drop().await;
}

#[tokio::test]
async fn a_reader_waits_for_its_own_write_and_no_longer() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let projections = scratch.start();
    let freshness = projections.freshness();
    for _ in 0..20 {
        scratch.append(&[bank.define("A", bank.position)]).await;
        freshness.wait(&["products"], bank.position, Freshness::PATIENCE).await.unwrap();
        let sql = "SELECT minimum_deposit FROM products WHERE product_id = 'A'";
        assert_eq!(scratch.value::<i64>(sql).await, bank.position - 1);
    }
    let future = bank.position + 1;
    let refused = freshness.wait(&["products"], future, Duration::from_millis(50)).await;
    assert_eq!(refused, Err(Lagging { wanted: future, reached: bank.position }));
    projections.stop().await;
    scratch.drop().await;
}

#[tokio::test]
async fn a_fold_that_refuses_an_event_parks_only_its_models() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    scratch.append(&bank.history(4, 50)).await;
    // Money for an account whose opening is not in the log: accounts, daily balances and transactions notice.
    let mut other = Bank::default();
    other.open(9, &number(10));
    other.position = bank.position;
    scratch.append(&[other.deposit(&number(10), 5)]).await;
    bank.position += 1;
    scratch.append(&bank.payments(4, 50)).await;

    let projections = scratch.start();
    let freshness = projections.freshness();
    freshness.wait(&["statement_entries", "products"], bank.position, LONG).await.unwrap();
    let refused = freshness.wait(&["accounts"], bank.position, LONG).await;
    assert_eq!(refused, Err(Lagging { wanted: bank.position, reached: 59 }));
    assert_eq!(parked(&projections), ["accounts", "daily_balances", "transactions"]);
    let reason: String = scratch.value("SELECT reason FROM checkpoints WHERE model = 'accounts'").await;
    assert_eq!(reason, "account 1000000010 was never opened");
    // What came before the poison is there, and right.
    assert_eq!(wrong(&scratch).await, [""; 0]);
    projections.stop().await;
    scratch.drop().await;
}

#[tokio::test]
async fn an_unreadable_event_parks_the_models_that_read_its_noun() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    scratch.append(&bank.history(4, 10)).await;
    scratch.execute("UPDATE events SET payload = '{\"vanished\":1}' WHERE position = 12").await;
    let projections = scratch.start();
    projections.freshness().wait(&["products"], bank.position, LONG).await.unwrap();
    projections.freshness().wait(&["statement_entries"], 11, LONG).await.unwrap();
    let readers = catalogue().iter().filter(|entry| entry.reads.contains(&Kind::Payment));
    assert_eq!(parked(&projections), readers.map(|entry| entry.name).collect::<Vec<_>>());
    projections.stop().await;
    scratch.drop().await;
}

#[tokio::test]
async fn rows_that_the_database_refuses_park_their_model_at_the_event() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let mut events = bank.history(4, 300);
    // Postgres keeps no NUL in a text; only statements and transactions carry the narration.
    if let bursar_domain::Event::Payment(bursar_domain::payments::PaymentEvent::Completed(payment)) =
        &mut events[200].event
    {
        payment.narration = Some("nul \0".into());
    }
    scratch.append(&events).await;
    let projections = scratch.start();
    projections.freshness().wait(&["accounts", "daily_balances"], bank.position, LONG).await.unwrap();
    projections.freshness().wait(&["statement_entries"], 200, LONG).await.unwrap();
    while parked(&projections).len() < 2 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(parked(&projections), ["statement_entries", "transactions"]);
    let poison = "SELECT poison FROM checkpoints WHERE model = 'statement_entries'";
    assert_eq!(scratch.value::<i64>(poison).await, events[200].position);
    projections.stop().await;
    scratch.drop().await;
}

#[tokio::test]
async fn a_second_process_watches_and_takes_over() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let first = scratch.start();
    scratch.append(&bank.history(4, 10)).await;
    first.freshness().wait(&[], bank.position, LONG).await.unwrap();
    let second = scratch.start();
    second.freshness().wait(&[], bank.position, LONG).await.unwrap();
    scratch.append(&bank.payments(4, 10)).await;
    second.freshness().wait(&[], bank.position, LONG).await.unwrap();
    first.stop().await;
    scratch.append(&bank.payments(4, 10)).await;
    second.freshness().wait(&[], bank.position, LONG).await.unwrap();
    assert_eq!(wrong(&scratch).await, [""; 0]);
    second.stop().await;
    scratch.drop().await;
}

#[tokio::test]
async fn a_lost_session_is_opened_again() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let projections = scratch.start();
    scratch.append(&bank.history(4, 10)).await;
    projections.freshness().wait(&[], bank.position, LONG).await.unwrap();
    let killed: i64 = scratch
        .value(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
        )
        .await;
    assert_eq!(killed, 1);
    scratch.append(&bank.payments(4, 10)).await;
    projections.freshness().wait(&[], bank.position, LONG).await.unwrap();
    projections.stop().await;
    scratch.drop().await;
}

#[tokio::test]
async fn a_model_that_was_added_later_catches_up_by_itself() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    scratch.append(&bank.history(4, 12_000)).await;
    let projections = scratch.start();
    projections.freshness().wait(&[], bank.position, LONG).await.unwrap();
    projections.stop().await;
    scratch
        .execute("TRUNCATE statement_entries; DELETE FROM checkpoints WHERE model = 'statement_entries'")
        .await;
    let projections = scratch.start();
    scratch.append(&bank.payments(4, 100)).await;
    projections.freshness().wait(&["accounts"], bank.position, LONG).await.unwrap();
    projections.freshness().wait(&[], bank.position, LONG).await.unwrap();
    assert_eq!(wrong(&scratch).await, [""; 0]);
    projections.stop().await;
    scratch.drop().await;
}
