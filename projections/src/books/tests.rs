use std::collections::BTreeSet;

use super::*;
use crate::tests::{Bank, number};

fn folded(events: &[Recorded]) -> Vec<TrialRow> {
    let mut books = Books::default();
    events.iter().for_each(|event| books.fold(event).unwrap());
    let mut rows = std::mem::take(&mut books.over);
    rows.extend(books.rows());
    rows
}

fn on<'a>(rows: &'a [TrialRow], day: &str) -> Vec<(&'a str, i64, i64, i64)> {
    let day: Date = day.parse().unwrap();
    let of_day = rows.iter().filter(|row| row.day == day);
    of_day.map(|row| (row.ledger_account.as_str(), row.debits, row.credits, row.balance)).collect()
}

#[test]
fn a_day_has_every_account_and_a_quiet_one_is_like_the_day_before() {
    let mut bank = Bank::default();
    let mut events = vec![bank.open(1, &number(1)), bank.open(2, &number(2)), bank.deposit(&number(1), 500)];
    bank.pass(72);
    // Bola's account goes below zero: no longer what the bank owes, but what it is owed.
    events.push(bank.transfer(&number(1), &number(2), 200));
    events.push(bank.transfer(&number(2), &number(1), 800));
    let rows = folded(&events);
    let first = [("cash", 500, 0, -500), (DEPOSITS, 0, 500, 500)];
    assert_eq!(on(&rows, "2026-01-31"), first);
    for quiet in ["2026-02-01", "2026-02-02"] {
        assert_eq!(on(&rows, quiet), [("cash", 0, 0, -500), (DEPOSITS, 0, 0, 500)]);
    }
    let last = [("cash", 0, 0, -500), (DEPOSITS, 400, 1_000, 1_100), (OVERDRAFTS, 600, 0, -600)];
    assert_eq!(on(&rows, "2026-02-03"), last);
    let sheet = sheet(&rows);
    let last: Vec<_> =
        sheet.iter().rev().take(3).map(|row| (row.side, row.line.as_str(), row.amount)).collect();
    assert_eq!(last, [("ASSET", OVERDRAFTS, 600), ("LIABILITY", DEPOSITS, 1_100), ("ASSET", "cash", 500)]);
}

#[test]
fn every_day_sums_to_zero_and_the_last_is_the_ledger() {
    let mut bank = Bank::default();
    let rows = folded(&bank.history(20, 3_000));
    let days: BTreeSet<Date> = rows.iter().map(|row| row.day).collect();
    assert!(days.len() >= 3);
    for day in &days {
        let of_day = rows.iter().filter(|row| row.day == *day);
        assert_eq!(of_day.map(|row| row.balance).sum::<i64>(), 0, "{day}");
        let sides: i64 = sheet(&rows)
            .iter()
            .filter(|row| row.day == *day)
            .map(|row| if row.side == "ASSET" { row.amount } else { -row.amount })
            .sum();
        assert_eq!(sides, 0, "{day}");
    }
    let cash = bank.balance(&crate::tests::cash());
    let last = rows.iter().rfind(|row| row.ledger_account == "cash").unwrap();
    assert_eq!(last.balance, cash);
}
