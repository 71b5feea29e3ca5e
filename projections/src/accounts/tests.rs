use super::*;
use crate::tests::{Bank, MINIMUM, OVERDRAFT, cash, number};

fn folded(events: &[Recorded]) -> Accounts {
    let mut model = Accounts::default();
    events.iter().for_each(|event| model.fold(event).unwrap());
    model
}

#[test]
fn an_account_begins_with_its_terms() {
    let mut bank = Bank::default();
    let model = folded(&[bank.open(1, &number(1)), bank.open(1, &number(2)), bank.open(2, &number(3))]);
    let defaults: Vec<_> = model.opened.iter().map(|account| account.is_default).collect();
    assert_eq!(defaults, [true, false, true], "the first of each owner");
    let first = &model.opened[0];
    assert_eq!((first.ledger_balance, first.available_balance), (0, OVERDRAFT - MINIMUM));
    assert_eq!((first.account_name.as_str(), first.last_transaction_at), ("Ada Obi", None));
}

#[test]
fn balances_follow_the_ledger() {
    let mut bank = Bank::default();
    let mut model = folded(&bank.history(20, 3_000));
    for (account, known) in bank.ledger().filter(|(account, _)| !account.is_internal()) {
        let standing = model.standing(account).unwrap();
        assert_eq!((standing.ledger_balance, standing.available_balance), (known.balance, known.available()));
        assert_eq!(standing.last_transaction_at, known.last_posted_at);
    }
    assert!(model.standing(&cash()).is_err(), "the bank's own are no customer accounts");
}

#[test]
fn a_frozen_account_shows_it() {
    let mut bank = Bank::default();
    let mut model = folded(&[bank.open(1, &number(1)), bank.freeze(&number(1))]);
    let standing = model.standing(&number(1)).unwrap();
    assert_eq!((standing.status, standing.last_position), (AccountStatus::Frozen, 2));
}

#[test]
fn a_balance_that_does_not_follow_is_refused() {
    let mut bank = Bank::default();
    let mut events =
        vec![bank.open(1, &number(1)), bank.deposit(&number(1), 500), bank.deposit(&number(1), 1)];
    let mut model = folded(&events);
    events.remove(1);
    // Control: all three fold, without the second they do not.
    assert_eq!(model.standing(&number(1)).unwrap().ledger_balance, 501);
    let mut model = folded(&events[..1]);
    let (account, expected, found) = (number(1), 1, 501);
    assert_eq!(model.fold(&events[1]), Err(FoldError::BrokenBalance { account, expected, found }));
}
