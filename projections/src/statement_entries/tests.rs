use super::*;
use crate::tests::Bank;
use crate::tests::number;

fn lines(event: &Recorded) -> Vec<Row<'_>> {
    let Event::Payment(payment) = &event.event else { return Vec::new() };
    payment.movement().into_iter().flat_map(|moved| rows(event, moved)).collect()
}

#[test]
fn a_transfer_is_a_debit_here_and_a_credit_there() {
    let mut bank = Bank::default();
    bank.open(1, &number(1));
    bank.open(2, &number(2));
    bank.deposit(&number(1), 500);
    let event = bank.transfer(&number(1), &number(2), 200);
    let seen: Vec<_> = lines(&event)
        .iter()
        .map(|row| {
            (
                row.line,
                row.account_number,
                row.counterparty,
                row.kind,
                row.amount,
                row.balance,
                row.description,
            )
        })
        .collect();
    let (payer, payee) = ("1000000001", "1000000002");
    assert_eq!(
        seen,
        [
            (0, payer, payee, EntryType::Debit, -200, 300, "Transfer sent"),
            (1, payee, payer, EntryType::Credit, 200, 200, "Transfer received"),
        ]
    );
    assert!(lines(&event).iter().all(|row| row.position == 4 && row.transaction_id.starts_with("txn_")));
}

#[test]
fn cash_has_a_statement_too() {
    let mut bank = Bank::default();
    bank.open(1, &number(1));
    let event = bank.deposit(&number(1), 500);
    let rows = lines(&event);
    assert_eq!((rows[0].account_number, rows[0].balance), ("bank:cash:NGN", -500));
    assert_eq!((rows[1].description, rows[1].balance), ("Cash deposit", 500));
}

#[test]
fn the_balance_of_the_last_entry_is_the_balance_of_the_account() {
    let mut bank = Bank::default();
    let events = bank.history(20, 3_000);
    for (account, known) in bank.ledger() {
        let mut entries = events.iter().flat_map(lines).filter(|row| row.account_number == account.as_str());
        // Each is the one before plus the amount, from zero on.
        let last =
            entries.try_fold(0, |before, row| (before + row.amount == row.balance).then_some(row.balance));
        assert_eq!(last, Some(known.balance));
    }
}

#[test]
fn every_event_adds_up_to_zero() {
    let mut bank = Bank::default();
    let events = bank.history(5, 200);
    assert!(events.iter().all(|event| lines(event).iter().map(|row| row.amount).sum::<i64>() == 0));
}

#[test]
fn entries_of_an_account_are_numbered_from_one_on() {
    let mut bank = Bank::default();
    let (events, mut model) = (bank.history(3, 200), StatementEntries::default());
    events.iter().for_each(|event| model.fold(event).unwrap());
    for (account, _) in bank.ledger() {
        let entries = events.iter().flat_map(lines).filter(|row| row.account_number == account.as_str());
        let number = model.numbers.get(account).copied().unwrap_or_default();
        assert_eq!(number, i64::try_from(entries.count()).unwrap(), "{account}");
    }
    assert!(model.numbers.len() > 3);
}
