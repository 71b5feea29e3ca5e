//! The live runner.

use std::time::Duration;

use super::bank::number;
use super::{Bank, Scratch};
use crate::{Freshness, Lagging, ModelState, Projections, RebuildError, catalogue, rebuild, retry, verify};
use bursar_domain::{Event, Kind, Recorded};

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

/// The row sets that a model has left behind.
fn left_behind(projections: &Projections, model: &str) -> Vec<String> {
    let found = projections.status().into_iter().find(|status| status.name == model).unwrap();
    found.parked.into_iter().map(|rows| rows.row_set).collect()
}

#[tokio::test]
async fn a_fold_that_refuses_an_event_parks_only_the_rows_that_cannot_take_it() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    scratch.append(&bank.history(4, 50)).await;
    // Money for an account whose opening is not in the log: accounts, daily balances and transactions notice.
    let mut other = Bank::default();
    other.open(9, &number(10));
    other.position = bank.position;
    let stray = other.deposit(&number(10), 5);
    scratch.append(std::slice::from_ref(&stray)).await;
    bank.position += 1;
    // A transfer that does not fit: its payee has had something else in between, as far as the log knows.
    let (payer, payee) = (number(0), number(1));
    let broken = bank.transfer(&payer, &payee, 7);
    scratch.append(std::slice::from_ref(&broken)).await;
    off_by(&scratch, &broken, 100).await;
    scratch.append(&bank.payments(4, 50)).await;

    let projections = scratch.start();
    projections.freshness().wait(&[], bank.position, LONG).await.unwrap();
    assert_eq!(parked(&projections), [""; 0], "every model goes on");
    let (stray_id, payee_name) = (stray.stream.id.to_string(), payee.to_string());
    let expected = [payee_name.clone(), number(10).to_string()];
    let mut found = left_behind(&projections, "accounts");
    found.sort();
    assert_eq!(found, expected);
    assert_eq!(left_behind(&projections, "transactions"), [stray_id]);
    assert_eq!(left_behind(&projections, "statement_entries"), [""; 0]);
    let reason: String =
        scratch.value("SELECT reason FROM parked WHERE model = 'accounts' AND row_set = '1000000010'").await;
    assert_eq!(reason, "account 1000000010 was never opened");
    // The rows that could not take it are as they were before, all others as the ledger has them.
    let stands = |account| format!("SELECT last_position FROM accounts WHERE account_number = '{account}'");
    assert!(scratch.value::<i64>(&stands(payee_name.clone())).await < broken.position);
    for account in [0, 2, 3].map(number) {
        let sql = format!("SELECT ledger_balance FROM accounts WHERE account_number = '{account}'");
        assert_eq!(scratch.value::<i64>(&sql).await, bank.balance(&account), "{account}");
        let sql = format!(
            "SELECT ledger_balance FROM daily_balances WHERE account_number = '{account}' ORDER BY day DESC LIMIT 1"
        );
        assert_eq!(scratch.value::<i64>(&sql).await, bank.balance(&account), "{account}");
    }
    // A check says what is the matter instead of agreeing.
    let refused = verify(scratch.log(), &["accounts"], &()).await;
    assert!(
        matches!(refused, Err(RebuildError::Poison { position, .. }) if position == stray.position),
        "{refused:?}"
    );

    // As long as the event is what it is, another chance changes nothing but the word about it.
    let retried = retry(scratch.log(), "accounts").await.unwrap();
    assert_eq!((retried.caught_up.len(), retried.parked.len()), (0, 2));
    // Mended, the rows are up with the others, without a restart and while the bank goes on.
    off_by(&scratch, &broken, -100).await;
    let retried = retry(scratch.log(), "accounts").await.unwrap();
    assert_eq!((retried.caught_up, retried.parked.len()), (vec![payee_name.clone()], 1));
    scratch.append(&bank.payments(4, 50)).await;
    projections.freshness().wait(&[], bank.position, LONG).await.unwrap();
    let sql = format!("SELECT ledger_balance FROM accounts WHERE account_number = '{payee}'");
    assert_eq!(scratch.value::<i64>(&sql).await, bank.balance(&payee));
    // So does a rebuild, once nothing is left that cannot be taken: the stray one never happened.
    scratch
        .execute(&format!(
            "UPDATE events SET aggregate_type = 'tags', event_type = 'tags.created' WHERE position = {}",
            stray.position
        ))
        .await;
    scratch.execute("DELETE FROM statement_entries WHERE account_number = '1000000010'").await;
    projections.stop().await;
    let refused = rebuild(scratch.log(), &["tags"], &()).await;
    assert!(refused.is_err(), "what is left of it is no event of tags");
    let models = ["accounts", "daily_balances", "transactions"];
    let reports = rebuild(scratch.log(), &models, &()).await.unwrap();
    assert_eq!(reports[0].differing, 0, "what was caught up with is what a rebuild makes");
    let projections = scratch.start();
    projections.freshness().wait(&models, bank.position, LONG).await.unwrap();
    assert_eq!(models.map(|model| left_behind(&projections, model).len()), [0; 3]);
    projections.stop().await;
    scratch.drop().await;
}

/// Changes the balance after a transfer that its payee is told.
async fn off_by(scratch: &Scratch, transfer: &Recorded, change: i64) {
    let sql = format!(
        "UPDATE events SET payload = jsonb_set(payload::jsonb, '{{completed,postings,1,balance}}',
                to_jsonb((payload->'completed'->'postings'->1->>'balance')::bigint + {change}))::json
          WHERE position = {}",
        transfer.position
    );
    scratch.execute(&sql).await;
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
    // Nobody knows whose payment it was.
    let readers = catalogue().iter().filter(|entry| entry.reads.contains(&Kind::Payment));
    assert_eq!(parked(&projections), readers.map(|entry| entry.name).collect::<Vec<_>>());
    projections.stop().await;
    scratch.drop().await;
}

#[tokio::test]
async fn rows_that_the_database_refuses_are_parked_at_the_event() {
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
    projections.freshness().wait(&[], bank.position, LONG).await.unwrap();
    assert_eq!(parked(&projections), [""; 0]);
    let poison = &events[200];
    let Event::Payment(payment) = &poison.event else { unreachable!() };
    let mut parties: Vec<String> = payment.movement().unwrap().accounts().map(ToString::to_string).collect();
    parties.sort();
    let mut found = left_behind(&projections, "statement_entries");
    found.sort();
    assert_eq!(found, parties, "the statements of both");
    assert_eq!(left_behind(&projections, "transactions"), [poison.stream.id.to_string()], "this one only");
    let at = "SELECT DISTINCT position FROM parked";
    assert_eq!(scratch.value::<i64>(at).await, poison.position);
    let sql = format!("SELECT count(*) FROM transactions WHERE position > {}", poison.position);
    assert_eq!(scratch.value::<i64>(&sql).await, bank.position - poison.position);
    let sql = format!(
        "SELECT count(*) FROM statement_entries WHERE position > {} AND account_number = ANY('{{{}}}')",
        poison.position,
        parties.join(",")
    );
    assert_eq!(scratch.value::<i64>(&sql).await, 0, "nothing behind a gap");
    let sql = format!("SELECT count(*) FROM statement_entries WHERE position > {}", poison.position);
    assert!(scratch.value::<i64>(&sql).await > 0, "the others go on");
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
