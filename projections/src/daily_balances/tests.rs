use super::*;
use crate::tests::{Bank, MINIMUM, OVERDRAFT, number};

fn folded(events: &[Recorded]) -> DailyBalances {
    let mut model = DailyBalances::default();
    events.iter().for_each(|event| model.fold(event).unwrap());
    model
}

/// The rows the model would save for an account, oldest first.
fn days(model: &DailyBalances, account: &AccountNumber) -> Vec<DailyBalance> {
    let over = model.over.iter().map(|(account, row)| (account, row));
    let mut days: Vec<_> = over
        .chain(model.latest.changed())
        .filter(|(of, _)| *of == account)
        .map(|(_, row)| row.balance)
        .collect();
    days.sort_by_key(|row| row.day);
    days
}

#[test]
fn each_day_with_movements_has_a_row() {
    let mut bank = Bank::default();
    let mut events = vec![bank.open(1, &number(1)), bank.open(2, &number(2)), bank.deposit(&number(1), 500)];
    bank.pass(1);
    events.push(bank.transfer(&number(1), &number(2), 200));
    bank.pass(48);
    events.push(bank.transfer(&number(2), &number(1), 50));
    let seen: Vec<_> = days(&folded(&events), &number(1))
        .iter()
        .map(|row| (row.day.to_string(), row.ledger_balance, row.turnover_in, row.turnover_out))
        .collect();
    let expected = [("2026-01-31", 500, 500, 0), ("2026-02-01", 300, 0, 200), ("2026-02-03", 350, 50, 0)];
    assert_eq!(seen, expected.map(|(day, a, b, c)| (day.to_owned(), a, b, c)));
}

#[test]
fn the_last_day_ends_as_the_ledger_does_and_turnover_explains_every_day() {
    let mut bank = Bank::default();
    let model = folded(&bank.history(20, 3_000));
    for (account, known) in bank.ledger() {
        let days = days(&model, account);
        let mut before = 0;
        for day in &days {
            assert_eq!(day.ledger_balance, before + day.turnover_in - day.turnover_out);
            before = day.ledger_balance;
        }
        assert_eq!((before, days.last().unwrap().available_balance), (known.balance, known.available()));
    }
}

#[test]
fn an_account_is_available_from_its_opening_on() {
    let mut bank = Bank::default();
    let row = days(&folded(&[bank.open(1, &number(1))]), &number(1))[0];
    assert_eq!((row.ledger_balance, row.available_balance), (0, OVERDRAFT - MINIMUM));
}
