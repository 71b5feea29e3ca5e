use std::time::Duration;

use bursar_domain::Amount;
use bursar_domain::payments::PaymentKind;
use serde_json::json;

use super::query::listed;
use super::*;
use crate::page::{Page, Sort};
use crate::tests::{Bank, Scratch, number, user};
use crate::verify;

const LONG: Duration = Duration::from_secs(20);

fn everything() -> TransactionFilter {
    TransactionFilter {
        from: Timestamp::UNIX_EPOCH,
        to: "2027-01-01T00:00:00Z".parse().unwrap(),
        kind: None,
        status: None,
        tag: None,
        account: None,
        min_amount: None,
        max_amount: None,
        q: None,
    }
}

/// Everything of somebody's, newest first.
async fn all(scratch: &Scratch, owner: u64, filter: &TransactionFilter) -> Vec<Transaction> {
    let page = Page { page: 1, size: 100 };
    let found = of_owner(&scratch.pool, user(owner), filter, Sort::default(), page).await.unwrap();
    assert_eq!(found.total, i64::try_from(found.items.len()).unwrap());
    found.items
}

/// Runs the log through the live runner; true when a rebuild would give the same.
async fn followed(scratch: &Scratch, batches: &[&[Recorded]]) -> bool {
    let projections = scratch.start();
    for batch in batches {
        scratch.append(batch).await;
        let head = batch.last().unwrap().position;
        projections.freshness().wait(&["transactions"], head, LONG).await.unwrap();
    }
    projections.stop().await;
    let reports = verify(scratch.log(), &["transactions"], &()).await.unwrap();
    reports.iter().all(|report| report.differing == 0)
}

#[test]
fn what_is_final_is_told_before_what_is_open() {
    let at = Some(Timestamp::UNIX_EPOCH);
    let fresh = Fate::default();
    assert_eq!(fresh.status(), TransactionStatus::Success);
    let settled = Fate { settled_at: at, ..fresh };
    assert_eq!(settled.status(), TransactionStatus::Settled);
    let disputed = Fate { dispute_id: Some("dsp".into()), ..settled };
    assert_eq!(disputed.status(), TransactionStatus::Disputed);
    let returned = Fate { returned_at: at, ..disputed };
    assert_eq!(returned.status(), TransactionStatus::Returned);
    let reversed = Fate { reversed_by: Some("txn".into()), ..returned };
    assert_eq!(reversed.status(), TransactionStatus::Reversed);
}

#[tokio::test]
async fn a_payment_is_listed_for_both_sides_and_for_nobody_else() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    // Two accounts of Ada's (1), one of Bola's (2), one of Chidi's (3).
    let mut events = vec![bank.open(1, &number(1)), bank.open(1, &number(2))];
    events.extend([bank.open(2, &number(3)), bank.open(3, &number(4))]);
    events.push(bank.deposit(&number(1), 10_000));
    let between = bank.transfer(&number(1), &number(2), 500);
    let paid = bank.transfer(&number(2), &number(3), 200);
    let (between_id, paid_id) = (between.stream.id.clone(), paid.stream.id.clone());
    events.extend([between, paid]);
    assert!(followed(&scratch, &[&events]).await);

    let ids = |rows: &[Transaction]| -> Vec<String> {
        rows.iter().map(|row| row.transaction_id.to_string()).collect()
    };
    let of_ada = all(&scratch, 1, &everything()).await;
    assert_eq!(ids(&of_ada)[..2], [paid_id.as_str(), between_id.as_str()]);
    assert_eq!((of_ada.len(), of_ada[2].kind, of_ada[2].payer), (3, PaymentKind::Deposit, None));
    assert_eq!(ids(&all(&scratch, 2, &everything()).await), [paid_id.as_str()]);
    assert!(all(&scratch, 3, &everything()).await.is_empty());
    let id = paid_id.parse().unwrap();
    for (who, sees) in [(1, true), (2, true), (3, false)] {
        assert_eq!(find(&scratch.pool, Some(user(who)), id).await.unwrap().is_some(), sees, "{who}");
    }
    scratch.drop().await;
}

#[tokio::test]
async fn a_dispute_is_told_to_the_payer_and_not_to_the_payee() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let mut events = vec![bank.open(1, &number(1)), bank.open(2, &number(2))];
    events.push(bank.deposit(&number(1), 10_000));
    let paid = bank.transfer(&number(1), &number(2), 200);
    let id = paid.stream.id.to_string();
    let mut later = |payload: serde_json::Value| {
        let event: PaymentEvent = serde_json::from_value(payload).unwrap();
        bank.record(Kind::Payment, &id, event)
    };
    let (dispute, undo) = ("dsp_0192f0c1a0007000800000000000000d", "txn_0192f0c1a0007000800000000000000c");
    let disputed = later(json!({"disputed": {"dispute_id": dispute, "amount": 50}}));
    let ended =
        later(json!({"dispute_ended": {"dispute_id": dispute, "refund": {"by": undo, "amount": 50}}}));
    let reversed = later(json!({"reversed": {"by": undo}}));
    // Complained about before it is in the table.
    events.extend([paid, disputed]);
    assert!(followed(&scratch, &[&events]).await);
    let with = |status| TransactionFilter { status: Some(status), ..everything() };
    let counts = async |status| {
        let of = with(status);
        (all(&scratch, 1, &of).await.len(), all(&scratch, 2, &of).await.len())
    };
    // Ada has the deposit too.
    assert_eq!(counts(TransactionStatus::Disputed).await, (1, 0));
    assert_eq!(counts(TransactionStatus::Success).await, (1, 1));

    assert!(followed(&scratch, &[&[ended]]).await);
    assert_eq!(counts(TransactionStatus::Disputed).await, (0, 0));
    let row = find(&scratch.pool, Some(user(1)), id.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((row.refunded, row.dispute_id), (Amount::try_from(50).unwrap().minor(), None));
    assert!(followed(&scratch, &[&[reversed]]).await);
    assert_eq!(counts(TransactionStatus::Reversed).await, (1, 1));
    scratch.drop().await;
}

#[tokio::test]
async fn a_page_is_read_from_the_two_indexes_and_not_further_than_it_reaches() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = Bank::default();
    let events = bank.history(20, 12_000);
    assert!(followed(&scratch, &[&events]).await);
    scratch.execute("ANALYZE transactions").await;
    let page = Page { page: 2, size: 20 };
    let explain = "EXPLAIN (ANALYZE, FORMAT JSON) SELECT to_jsonb(t)";
    let mut query = listed(explain, &user(3).to_string(), &everything(), Sort::default(), page);
    let plan: serde_json::Value = query.build_query_scalar().fetch_one(&scratch.pool).await.unwrap();
    let mut read = Vec::new();
    scans(&plan[0]["Plan"], &mut read);
    read.sort_unstable_by_key(|(index, ..)| *index);
    let indexes: Vec<_> = read.iter().map(|(index, ..)| *index).collect();
    assert_eq!(indexes, ["transactions_of_payee", "transactions_of_payer"], "{plan:#}");
    // Forty of a side at most, and of those paid to oneself a few are passed over.
    assert!(read.iter().all(|(_, rows, passed)| *rows <= 40 && *passed <= 20), "{plan:#}");
    scratch.drop().await;
}

/// Index, rows read and rows passed over of every scan in a plan.
fn scans<'a>(node: &'a serde_json::Value, found: &mut Vec<(&'a str, i64, i64)>) {
    if node["Node Type"].as_str().is_some_and(|kind| kind.contains("Scan") && kind != "Subquery Scan") {
        let rows = |name: &str| node[name].as_i64().unwrap_or(0);
        let index = node["Index Name"].as_str().unwrap_or("no index");
        found.push((index, rows("Actual Rows"), rows("Rows Removed by Filter")));
    }
    for child in node["Plans"].as_array().into_iter().flatten() {
        scans(child, found);
    }
}
