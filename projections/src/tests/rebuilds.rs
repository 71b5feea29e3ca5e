//! Rebuild and verify.

use std::sync::Mutex;
use std::time::Duration;

use super::bank::Fixed;
use super::live::wrong;
use super::scratch::append;
use super::{Bank, Scratch};
use crate::{Log, Progress, RebuildError, RebuildState, catalogue, rebuild, rebuild_status, verify};

const LONG: Duration = Duration::from_secs(20);

/// Tables that a rebuild has left.
const LEFT_BEHIND: &str =
    "SELECT count(*) FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE nspname = 'read_next'";

fn all() -> Vec<&'static str> {
    catalogue().iter().map(|entry| entry.name).collect()
}

/// A bank with some history that the runner has followed and left.
async fn followed(scratch: &Scratch, accounts: usize, payments: usize) -> Bank {
    let mut bank = Bank::default();
    scratch.append(&bank.history(accounts, payments)).await;
    let projections = scratch.start();
    projections.freshness().wait(&[], bank.position, LONG).await.unwrap();
    projections.stop().await;
    bank
}

#[tokio::test]
async fn a_row_edited_by_hand_is_named_with_its_position() {
    let Some(scratch) = Scratch::new().await else { return };
    let bank = followed(&scratch, 4, 100).await;
    assert_eq!(wrong(&scratch).await, [""; 0], "before the edit");
    scratch
        .execute("UPDATE statement_entries SET amount = amount + 1 WHERE position = 50 AND line = 1")
        .await;
    scratch
        .execute("DELETE FROM daily_balances WHERE account_number = '1000000002' AND day = '2026-02-01'")
        .await;
    scratch
        .execute(
            "INSERT INTO products SELECT 'X', 'X', 'X', '', '', 0, 0, 0, 0, 0, 0, 0, '{}', '{}', true, 7",
        )
        .await;

    let reports = verify(scratch.log(), &all(), &()).await.unwrap();
    let differing: Vec<_> = reports.iter().filter(|report| report.differing > 0).collect();
    let named: Vec<_> = differing.iter().map(|report| (report.model, report.differing)).collect();
    assert_eq!(named, [("daily_balances", 1), ("products", 1), ("statement_entries", 1)]);
    let edited = &differing[2].diffs[0];
    assert_eq!((edited.table, edited.first_diverging_position), ("statement_entries", 50));
    assert_eq!((edited.key["position"].as_i64(), edited.key["line"].as_i64()), (Some(50), Some(1)));
    let amount = |row: &Option<serde_json::Value>| row.as_ref().unwrap()["amount"].as_i64().unwrap();
    assert_eq!(amount(&edited.actual), amount(&edited.expected) + 1);
    assert!(differing[0].diffs[0].actual.is_none() && differing[0].diffs[0].expected.is_some());
    assert!(differing[1].diffs[0].expected.is_none());
    assert!(reports.iter().all(|report| report.position == bank.position));
    // A check changes nothing: it finds the same again.
    assert_eq!(verify(scratch.log(), &all(), &()).await.unwrap(), reports);
    scratch.drop().await;
}

/// Everything about the tables that a rebuild must leave as it was, but for who they are.
const CATALOGUE: &str = "SELECT string_agg(line, E'\\n' ORDER BY line) FROM (
    SELECT pg_get_indexdef(indexrelid) AS line FROM pg_index i JOIN pg_class c ON c.oid = indrelid
     WHERE relnamespace = 'read'::regnamespace
    UNION ALL SELECT conrelid::regclass || conname || pg_get_constraintdef(oid) FROM pg_constraint
     WHERE connamespace = 'read'::regnamespace
    UNION ALL SELECT relname || coalesce(reloptions::text, '') || coalesce(relacl::text, '') || obj_description(oid, 'pg_class')
      FROM pg_class WHERE relnamespace = 'read'::regnamespace AND relkind = 'r'
    UNION ALL SELECT attrelid::regclass || attname || atttypid::regtype || attnotnull || attnum || coalesce(col_description(attrelid, attnum), '')
      FROM pg_attribute JOIN pg_class c ON c.oid = attrelid WHERE relnamespace = 'read'::regnamespace AND relkind = 'r' AND attnum > 0) x";

#[tokio::test]
async fn a_rebuild_repairs_and_leaves_no_trace_of_itself() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = followed(&scratch, 10, 6_000).await;
    scratch
        .execute("GRANT SELECT ON accounts TO PUBLIC; GRANT SELECT ON statement_entries TO pg_monitor")
        .await;
    let before: String = scratch.value(CATALOGUE).await;
    scratch
        .execute(
            "UPDATE accounts SET ledger_balance = 0; DELETE FROM statement_entries WHERE position % 2 = 0",
        )
        .await;
    for differing in [6_010, 0] {
        let reports = rebuild(scratch.log(), &all(), &()).await.unwrap();
        assert_eq!(reports.iter().map(|report| report.differing).sum::<i64>(), differing);
        assert_eq!(scratch.value::<String>(CATALOGUE).await, before);
        assert_eq!(wrong(&scratch).await, [""; 0]);
    }
    assert_eq!(scratch.value::<i64>(LEFT_BEHIND).await, 0);
    // The live runner goes on from there.
    let projections = scratch.start();
    scratch.append(&bank.payments(10, 10)).await;
    projections.freshness().wait(&[], bank.position, LONG).await.unwrap();
    assert_eq!(wrong(&scratch).await, [""; 0]);
    projections.stop().await;
    scratch.drop().await;
}

#[tokio::test]
async fn a_rebuild_while_the_bank_goes_on_is_not_noticed() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    scratch.append(&bank.history(20, 20_000)).await;
    let projections = scratch.start();
    let freshness = projections.freshness();
    freshness.wait(&[], bank.position, LONG).await.unwrap();
    scratch.execute("UPDATE daily_balances SET turnover_in = 1 WHERE account_number = '1000000003'").await;

    let (pool, codec) = (scratch.pool.clone(), scratch.codec.clone());
    let (done, mut stop) = tokio::sync::oneshot::channel::<()>();
    let appending = tokio::spawn(async move {
        while stop.try_recv().is_err() {
            append(&pool, &codec, &bank.payments(20, 200)).await;
            // Its readers never notice more than a lag.
            freshness.wait(&[], bank.position, LONG).await.unwrap();
        }
        bank
    });
    for repaired in [true, false, false] {
        let reports = rebuild(scratch.log(), &all(), &()).await.unwrap();
        assert_eq!(reports.iter().any(|report| report.differing > 0), repaired);
    }
    done.send(()).unwrap();
    let bank = appending.await.unwrap();
    projections.freshness().wait(&[], bank.position, LONG).await.unwrap();
    assert!(projections.status().iter().all(|status| status.position == bank.position));
    assert_eq!(wrong(&scratch).await, [""; 0]);
    projections.stop().await;
    scratch.drop().await;
}

#[tokio::test]
async fn a_long_query_delays_a_swap_and_nobody_else() {
    let Some(scratch) = Scratch::new().await else { return };
    followed(&scratch, 4, 100).await;
    let mut own = scratch.pool.acquire().await.unwrap().detach();
    let mut analyst = sqlx::Connection::begin(&mut own).await.unwrap();
    sqlx::query("SELECT count(*) FROM accounts").execute(&mut *analyst).await.unwrap();
    let (pool, codec) = (scratch.pool.clone(), scratch.codec.clone());
    let rebuilding = tokio::spawn(async move {
        rebuild(Log { pool: &pool, codec: &codec, clock: &Fixed(0) }, &["accounts"], &()).await
    });
    for _ in 0..15 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let read = tokio::time::timeout(
            Duration::from_secs(1),
            scratch.value::<i64>("SELECT count(*) FROM accounts"),
        );
        assert_eq!(read.await.unwrap(), 4);
    }
    assert!(!rebuilding.is_finished(), "it must wait for the analyst");
    analyst.commit().await.unwrap();
    rebuilding.await.unwrap().unwrap();
    scratch.drop().await;
}

#[tokio::test]
async fn a_rebuild_meets_poison_and_leaves_the_live_tables_alone() {
    let Some(scratch) = Scratch::new().await else { return };
    followed(&scratch, 4, 100).await;
    scratch.execute("UPDATE events SET payload = '{}' WHERE position = 50").await;
    let refused = rebuild(scratch.log(), &["accounts"], &()).await;
    assert!(
        matches!(refused, Err(RebuildError::Poison { model: "accounts", position: 50, .. })),
        "{refused:?}"
    );
    assert_eq!(scratch.value::<i64>("SELECT count(*) FROM accounts").await, 4);
    assert_eq!(scratch.value::<i64>(LEFT_BEHIND).await, 0);
    assert!(rebuild(scratch.log(), &["products"], &()).await.is_ok(), "it reads no payments");
    scratch.drop().await;
}

#[tokio::test]
async fn a_new_or_parked_model_is_rebuilt_as_far_as_it_can_go() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    scratch.append(&bank.history(4, 100)).await;
    rebuild(scratch.log(), &["accounts"], &()).await.unwrap();
    let position = "SELECT position FROM checkpoints WHERE model = 'accounts'";
    assert_eq!(scratch.value::<i64>(position).await, bank.position, "new: to the head");
    scratch.execute("UPDATE checkpoints SET position = 50, poison = 51 WHERE model = 'products'").await;
    rebuild(scratch.log(), &["products"], &()).await.unwrap();
    let position = "SELECT position FROM checkpoints WHERE model = 'products'";
    assert_eq!(scratch.value::<i64>(position).await, 50, "parked: to where it is parked");
    scratch.drop().await;
}

#[tokio::test]
async fn one_at_a_time_and_only_what_exists() {
    let Some(scratch) = Scratch::new().await else { return };
    followed(&scratch, 4, 10).await;
    let unknown = verify(scratch.log(), &["ledger"], &()).await;
    assert!(matches!(unknown, Err(RebuildError::UnknownModel(name)) if name == "ledger"));
    let mut db = crate::runner::own_connection(&scratch.pool).await.unwrap();
    assert!(crate::runner::try_lock(&mut db, crate::runner::Lock::Rebuild, "accounts").await.unwrap());
    let second = verify(scratch.log(), &["accounts"], &()).await;
    assert!(matches!(second, Err(RebuildError::AlreadyRunning("accounts"))));
    drop(db);
    scratch.drop().await;
}

#[derive(Default)]
struct Seen(Mutex<Vec<(i64, i64)>>);

impl Progress for Seen {
    fn advanced(&self, done: i64, total: i64) {
        self.0.lock().unwrap().push((done, total));
    }
}

#[tokio::test]
async fn progress_grows_up_to_the_total() {
    let Some(scratch) = Scratch::new().await else { return };
    let bank = followed(&scratch, 4, 12_000).await;
    let seen = Seen::default();
    verify(scratch.log(), &all(), &seen).await.unwrap();
    let seen = seen.0.into_inner().unwrap();
    assert!(seen.len() >= 3 && seen.is_sorted());
    assert_eq!(seen.last(), Some(&(bank.position, bank.position)));
    scratch.drop().await;
}

/// Is slow from the start, so that something is written, and then tells somebody and waits to be stopped.
#[derive(Clone, Default)]
struct Halting(std::sync::Arc<(std::sync::atomic::AtomicU32, tokio::sync::Notify)>);

impl Progress for Halting {
    fn advanced(&self, _: i64, _: i64) {
        let (calls, halted) = &*self.0;
        match calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => std::thread::sleep(Duration::from_millis(2_100)),
            2 => {
                halted.notify_one();
                std::thread::sleep(Duration::from_millis(300));
            }
            _ => {}
        }
    }
}

const TWO: [&str; 2] = ["accounts", "statement_entries"];

/// A rebuild that stops in the middle, as if its process had been killed.
async fn interrupted(scratch: &Scratch) -> i64 {
    let halting = Halting::default();
    let (pool, codec, progress) = (scratch.pool.clone(), scratch.codec.clone(), halting.clone());
    let running = tokio::spawn(async move {
        rebuild(Log { pool: &pool, codec: &codec, clock: &Fixed(0) }, &TWO, &progress).await
    });
    halting.0.1.notified().await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    loop {
        let status = rebuild_status(&scratch.pool, "accounts").await.unwrap();
        if status.state == RebuildState::Interrupted {
            return status.position;
        }
        assert_eq!(status.state, RebuildState::Running);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_goes_on_where_the_one_before_was_killed_unless_that_was_another_program() {
    let Some(scratch) = Scratch::new().await else { return };
    let bank = followed(&scratch, 10, 30_000).await;
    for (change, first) in [("program = program", 15_000), ("program = 'another'", 5_000)] {
        let reached = interrupted(&scratch).await;
        assert_eq!(reached, 10_000);
        scratch.execute(&format!("UPDATE rebuilds SET {change}")).await;
        let seen = Seen::default();
        let reports = rebuild(scratch.log(), &TWO, &seen).await.unwrap();
        assert_eq!(seen.0.into_inner().unwrap().first(), Some(&(first, bank.position)), "{change}");
        assert_eq!(reports.iter().map(|report| report.differing).sum::<i64>(), 0);
        let status = rebuild_status(&scratch.pool, "statement_entries").await.unwrap();
        assert_eq!((status.state, status.position), (RebuildState::Swapped, bank.position));
        assert_eq!(scratch.value::<i64>(LEFT_BEHIND).await, 0);
        assert_eq!(wrong(&scratch).await, [""; 0]);
    }
    scratch.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_check_after_an_interrupted_rebuild_is_a_check_of_its_own() {
    let Some(scratch) = Scratch::new().await else { return };
    followed(&scratch, 10, 30_000).await;
    interrupted(&scratch).await;
    scratch.execute("UPDATE accounts SET ledger_balance = 0 WHERE account_number = '1000000003'").await;
    let reports = verify(scratch.log(), &TWO, &()).await.unwrap();
    assert_eq!(reports.iter().map(|report| report.differing).sum::<i64>(), 1);
    let status = rebuild_status(&scratch.pool, "accounts").await.unwrap();
    assert_eq!((status.state, status.differing), (RebuildState::Different, 1));
    assert_eq!(status.differences[0].columns, ["ledger_balance"]);
    assert_eq!(scratch.value::<i64>(LEFT_BEHIND).await, 0);
    assert_eq!(
        scratch.value::<i64>("SELECT ledger_balance FROM accounts WHERE account_number = '1000000003'").await,
        0
    );
    scratch.drop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_nobody_goes_on_with_for_a_day_is_gone() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = followed(&scratch, 10, 30_000).await;
    interrupted(&scratch).await;
    let left = scratch.value::<i64>(LEFT_BEHIND).await;
    assert!(left > 0);
    for (age, expected) in [("23 hours", left), ("25 hours", 0)] {
        // Time passes with the log.
        scratch.append(&bank.payments(10, 10)).await;
        let began = format!("UPDATE rebuilds SET started_at = head.recorded_at - interval '{age}' FROM head");
        scratch.execute(&began).await;
        // The server looks when it begins.
        let projections = scratch.start();
        projections.freshness().wait(&[], bank.position, LONG).await.unwrap();
        projections.stop().await;
        assert_eq!(scratch.value::<i64>(LEFT_BEHIND).await, expected, "{age}");
    }
    assert_eq!(rebuild_status(&scratch.pool, "accounts").await.unwrap().state, RebuildState::Failed);
    scratch.drop().await;
}
