use std::collections::HashMap;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::kernel::{Amount, Currency, Rejection, UserId};

#[derive(Default, Clone)]
struct Map(HashMap<AccountNumber, LedgerAccount>);

impl Book for Map {
    fn get(&self, number: &AccountNumber) -> Option<&LedgerAccount> {
        self.0.get(number)
    }

    fn put(&mut self, number: &AccountNumber, account: LedgerAccount) {
        self.0.insert(number.clone(), account);
    }
}

fn at(day: i8) -> Timestamp {
    let date = jiff::civil::date(2026, 11, day);
    date.at(12, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp()
}

fn owner() -> UserId {
    "usr_0192f0c1a0007000800000000000000a".parse().unwrap()
}

fn terms() -> Terms {
    Terms {
        owner: owner(),
        currency: Currency::NGN,
        overdraft_limit: 0,
        minimum_balance: 0,
        maximum_balance: None,
        daily_limit: None,
        monthly_limit: None,
    }
}

fn number(n: usize) -> AccountNumber {
    AccountNumber::from(["1000000008", "1000000016", "1000000024"][n])
}

fn bank(terms: &Terms) -> Map {
    let mut book = Map::default();
    for n in 0..3 {
        apply(&mut book, Effect::Open { number: number(n), terms: terms.clone() }, at(1)).unwrap();
    }
    book
}

fn move_money(
    book: &mut Map,
    from: &AccountNumber,
    to: &AccountNumber,
    minor: i64,
    checks: Checks,
    day: i8,
) -> Result<(), LedgerError> {
    let amount = Amount::try_from(minor).unwrap();
    let mut postings = Postings::transfer(from, to, amount, Currency::NGN);
    apply(book, Effect::Post { postings: &mut postings, checks, hold: None, tie: None }, at(day))
}

fn fund(book: &mut Map, n: usize, minor: i64) {
    move_money(book, &Internal::Cash.account(Currency::NGN), &number(n), minor, Checks::Limited, 1).unwrap();
}

fn code(result: Result<(), LedgerError>) -> &'static str {
    result.map_or_else(|e| e.code(), |()| "OK")
}

#[test]
fn each_posting_is_stamped_with_the_balance_after_it() {
    let mut book = bank(&terms());
    fund(&mut book, 0, 1000);
    let amount = Amount::try_from(300).unwrap();
    let mut postings = Postings::transfer(&number(0), &number(1), amount, Currency::NGN);
    apply(
        &mut book,
        Effect::Post { postings: &mut postings, checks: Checks::Limited, hold: None, tie: None },
        at(1),
    )
    .unwrap();
    assert_eq!(postings.iter().map(|p| p.balance).collect::<Vec<_>>(), [700, 300]);
}

#[test]
fn a_debit_takes_at_most_what_is_available() {
    let mut book = bank(&Terms { overdraft_limit: 50, minimum_balance: 20, ..terms() });
    fund(&mut book, 0, 100);
    assert_eq!(book.get(&number(0)).unwrap().available(), 130);
    let refused = move_money(&mut book.clone(), &number(0), &number(1), 131, Checks::Limited, 1);
    assert_eq!(
        refused,
        Err(LedgerError::InsufficientFunds { account: number(0), available: 130, currency: Currency::NGN })
    );
    assert_eq!(code(move_money(&mut book, &number(0), &number(1), 130, Checks::Limited, 1)), "OK");
}

#[test]
fn daily_and_monthly_limits_start_afresh() {
    let limits = Terms { daily_limit: Some(100), monthly_limit: Some(150), ..terms() };
    let mut book = bank(&limits);
    fund(&mut book, 0, 10_000);
    let (a, b) = (number(0), number(1));
    assert_eq!(code(move_money(&mut book, &a, &b, 100, Checks::Limited, 1)), "OK");
    assert_eq!(code(move_money(&mut book, &a, &b, 1, Checks::Limited, 1)), "LIMIT_EXCEEDED");
    assert_eq!(code(move_money(&mut book, &a, &b, 50, Checks::Limited, 2)), "OK");
    let monthly = move_money(&mut book, &a, &b, 1, Checks::Limited, 3);
    assert!(matches!(monthly, Err(LedgerError::LimitExceeded { limit: "monthlyLimit", remaining: 0, .. })));
    // An own transfer does not count, and is not stopped.
    assert_eq!(code(move_money(&mut book, &a, &b, 500, Checks::Unlimited, 3)), "OK");
    let december = jiff::civil::date(2026, 12, 1).at(0, 0, 0, 0);
    let december = december.to_zoned(jiff::tz::TimeZone::UTC).unwrap().timestamp();
    let mut postings = Postings::transfer(&a, &b, Amount::try_from(100).unwrap(), Currency::NGN);
    let result = apply(
        &mut book,
        Effect::Post { postings: &mut postings, checks: Checks::Limited, hold: None, tie: None },
        december,
    );
    assert_eq!(code(result), "OK");
}

#[test]
fn a_frozen_account_receives_and_does_not_pay() {
    let mut book = bank(&terms());
    fund(&mut book, 0, 100);
    let freeze = Effect::SetStatus { number: number(0), status: AccountStatus::Frozen };
    apply(&mut book, freeze, at(1)).unwrap();
    assert_eq!(code(move_money(&mut book, &number(0), &number(1), 1, Checks::Limited, 1)), "INVALID_STATE");
    fund(&mut book, 0, 1);
}

/// Or money would be neither in the account nor outside.
#[test]
fn what_has_happened_outside_is_refused_by_no_account_but_a_closed_one() {
    let mut book = bank(&Terms { maximum_balance: Some(100), minimum_balance: 50, ..terms() });
    fund(&mut book, 0, 100);
    let freeze = Effect::SetStatus { number: number(0), status: AccountStatus::Frozen };
    apply(&mut book, freeze, at(1)).unwrap();
    let rail = Internal::Settlement(Channel::Banks).account(Currency::NGN);
    assert_eq!(code(move_money(&mut book, &rail, &number(0), 10, Checks::Unlimited, 1)), "LIMIT_EXCEEDED");
    assert_eq!(code(move_money(&mut book, &rail, &number(0), 10, Checks::Happened, 1)), "OK");
    assert_eq!(code(move_money(&mut book, &number(0), &rail, 110, Checks::Unlimited, 1)), "INVALID_STATE");
    assert_eq!(code(move_money(&mut book, &number(0), &rail, 110, Checks::Happened, 1)), "OK");
    let close = Effect::SetStatus { number: number(0), status: AccountStatus::Closed };
    apply(&mut book, close, at(1)).unwrap();
    assert_eq!(code(move_money(&mut book, &rail, &number(0), 10, Checks::Happened, 1)), "INVALID_STATE");
}

#[test]
fn a_closed_account_stays_closed_and_empty() {
    let mut book = bank(&terms());
    fund(&mut book, 0, 100);
    let close = |n| Effect::SetStatus { number: number(n), status: AccountStatus::Closed };
    assert_eq!(code(apply(&mut book, close(0), at(1))), "ACCOUNT_NOT_EMPTY");
    apply(&mut book, close(1), at(1)).unwrap();
    assert_eq!(code(move_money(&mut book, &number(0), &number(1), 1, Checks::Limited, 1)), "INVALID_STATE");
    let reopen = Effect::SetStatus { number: number(1), status: AccountStatus::Active };
    assert_eq!(code(apply(&mut book, reopen, at(1))), "INVALID_STATE");
}

#[test]
fn postings_that_do_not_balance_never_enter() {
    let line = |n, amount, currency| Posting { account: number(n), amount, currency, balance: 0 };
    let dollars = Currency::try_from("USD").unwrap();
    for lines in [
        vec![],
        vec![line(0, 0, Currency::NGN), line(1, 0, Currency::NGN)],
        vec![line(0, 5, Currency::NGN)],
        vec![line(0, -5, Currency::NGN), line(1, 6, Currency::NGN)],
        vec![line(0, -5, Currency::NGN), line(1, 5, dollars)],
    ] {
        let mut postings = Postings::from_lines(lines);
        let effect = Effect::Post { postings: &mut postings, checks: Checks::Limited, hold: None, tie: None };
        assert_eq!(code(apply(&mut bank(&terms()), effect, at(1))), "UNBALANCED");
    }
}

#[test]
fn the_payer_does_not_learn_how_full_the_payees_account_is() {
    let mut book = bank(&Terms { maximum_balance: Some(100), ..terms() });
    fund(&mut book, 0, 90);
    fund(&mut book, 1, 90);
    let refused = move_money(&mut book, &number(0), &number(1), 11, Checks::Limited, 1).unwrap_err();
    assert_eq!(refused.code(), "LIMIT_EXCEEDED");
    assert!(!refused.to_string().contains("90") && refused.members().len() == 1);
}

#[test]
fn only_accounts_of_the_chart_open_by_themselves() {
    let mut book = bank(&terms());
    let stray = AccountNumber::from("bank:slush:NGN");
    assert_eq!(code(move_money(&mut book, &stray, &number(0), 1, Checks::Limited, 1)), "NOT_FOUND");
    assert_eq!(code(move_money(&mut book, &number(0), &stray, 1, Checks::Limited, 1)), "INSUFFICIENT_FUNDS");
}

#[test]
fn a_foreign_currency_is_refused() {
    let mut book = bank(&terms());
    let dollars = Currency::try_from("USD").unwrap();
    let cash = Internal::Cash.account(dollars);
    let mut postings = Postings::transfer(&cash, &number(0), Amount::try_from(5).unwrap(), dollars);
    let result = apply(
        &mut book,
        Effect::Post { postings: &mut postings, checks: Checks::Limited, hold: None, tie: None },
        at(1),
    );
    assert_eq!(code(result), "CURRENCY_MISMATCH");
}

#[test]
fn a_balance_never_wraps() {
    let mut book = bank(&terms());
    let mut full = book.get(&number(1)).unwrap().clone();
    full.balance = i64::MAX;
    book.put(&number(1), full);
    let mut poor = book.get(&number(0)).unwrap().clone();
    poor.balance = 10;
    book.put(&number(0), poor);
    let result = move_money(&mut book, &number(0), &number(1), 1, Checks::Limited, 1);
    assert_eq!(code(result), "AMOUNT_OUT_OF_RANGE");
}

/// Any number, and those where arithmetic is about to go wrong.
fn edge() -> impl Strategy<Value = i64> {
    let near = (0_i64..3, any::<bool>()).prop_map(|(n, up)| if up { i64::MAX - n } else { i64::MIN + n });
    prop_oneof![any::<i64>(), near, -2_i64..=2, Just(Amount::MAX), Just(-Amount::MAX)]
}

proptest! {
    /// A payment between accounts that hold, reserve and may owe whatever a number can say.
    #[test]
    fn at_the_edges_a_balance_is_exact_or_untouched(
        balances in (edge(), edge()),
        holds in 0..=i64::MAX,
        terms_of in (0..=i64::MAX, 0..=i64::MAX, prop::option::of(0..=i64::MAX)),
        minor in prop_oneof![1..=Amount::MAX, Just(1), Just(Amount::MAX)],
        limited in any::<bool>(),
    ) {
        let (overdraft_limit, minimum_balance, daily_limit) = terms_of;
        let mut book = bank(&Terms { overdraft_limit, minimum_balance, daily_limit, ..terms() });
        for (n, balance) in [balances.0, balances.1].into_iter().enumerate() {
            let mut account = book.get(&number(n)).unwrap().clone();
            (account.balance, account.holds) = (balance, holds);
            book.put(&number(n), account);
        }
        // Saturating, and never a panic.
        let available = book.get(&number(0)).unwrap().available();
        let exact = i128::from(balances.0) - i128::from(holds) + i128::from(overdraft_limit) - i128::from(minimum_balance);
        prop_assert!(i128::from(available) == exact || i64::try_from(exact).is_err());
        let checks = if limited { Checks::Limited } else { Checks::Unlimited };
        let mut tried = book.clone();
        if move_money(&mut tried, &number(0), &number(1), minor, checks, 1).is_ok() {
            let after = |n: usize| i128::from(tried.get(&number(n)).unwrap().balance);
            prop_assert_eq!(after(0), i128::from(balances.0) - i128::from(minor));
            prop_assert_eq!(after(1), i128::from(balances.1) + i128::from(minor));
            prop_assert!(exact >= i128::from(minor));
        }
    }

    /// Whatever is asked, in whatever order: the ledger sums to zero and nobody is overdrawn.
    #[test]
    fn the_ledger_always_sums_to_zero(
        steps in prop::collection::vec((0_usize..4, 0_usize..4, 1_i64..2_000, any::<bool>()), 1..200)
    ) {
        let mut book = bank(&Terms { overdraft_limit: 500, ..terms() });
        let account = |n: usize| {
            if n == 3 { Internal::Cash.account(Currency::NGN) } else { number(n) }
        };
        for (from, to, minor, limited) in steps {
            // As the journal does: a refusal's traces are discarded.
            let mut tried = book.clone();
            let checks = if limited { Checks::Limited } else { Checks::Unlimited };
            if move_money(&mut tried, &account(from), &account(to), minor, checks, 1).is_ok() {
                book = tried;
            }
            prop_assert_eq!(book.0.values().map(|a| a.balance).sum::<i64>(), 0);
            for n in 0..3 {
                prop_assert!(book.get(&number(n)).unwrap().available() >= 0);
            }
        }
    }
}

fn bind(book: &mut Map, tie: Tie) -> &'static str {
    code(apply(book, Effect::Bind(tie), at(1)))
}

fn require(book: &mut Map, n: usize, condition: Condition) -> &'static str {
    code(apply(book, Effect::Require { accounts: vec![number(n)], condition }, at(1)))
}

#[test]
fn an_account_that_something_needs_is_neither_closed_nor_given_up() {
    for bond in [Bond::Payment, Bond::Loan, Bond::Dispute] {
        let mut book = bank(&terms());
        let tie = Tie::new(number(0), bond);
        let close = || Effect::SetStatus { number: number(0), status: AccountStatus::Closed };
        assert_eq!(require(&mut book, 0, Condition::Closable), "OK");
        assert_eq!(bind(&mut book, tie.clone()), "OK");
        assert_eq!(bind(&mut book, tie.clone()), "OK");
        assert_eq!(bind(&mut book, tie.end()), "OK");
        for condition in [Condition::Closable, Condition::Settled] {
            assert_eq!(require(&mut book, 0, condition), "ACCOUNT_BOUND", "{bond}");
        }
        assert_eq!(code(apply(&mut book, close(), at(1))), "ACCOUNT_BOUND", "{bond}");
        assert_eq!(bind(&mut book, tie.end()), "OK");
        assert_eq!(
            bind(&mut book.clone(), tie.end()),
            "AMOUNT_OUT_OF_RANGE",
            "what was not begun does not end"
        );
        assert_eq!(require(&mut book, 0, Condition::Settled), "OK");
        assert_eq!(code(apply(&mut book, close(), at(1))), "OK", "{bond}");
        assert_eq!(bind(&mut book, tie), "INVALID_STATE", "a closed account is needed for nothing new");
    }
}

#[test]
fn whoever_has_money_is_not_settled_and_a_frozen_account_is_not_closable() {
    let mut book = bank(&terms());
    fund(&mut book, 0, 1);
    assert_eq!(require(&mut book, 0, Condition::Settled), "ACCOUNT_NOT_EMPTY");
    assert_eq!(require(&mut book, 0, Condition::Closable), "OK");
    let freeze = Effect::SetStatus { number: number(1), status: AccountStatus::Frozen };
    apply(&mut book, freeze, at(1)).unwrap();
    assert_eq!(require(&mut book, 1, Condition::Settled), "OK");
    assert_eq!(require(&mut book, 1, Condition::Closable), "INVALID_STATE");
}

#[test]
fn the_last_debit_takes_the_minimum_balance_and_no_overdraft() {
    let mut book = bank(&Terms { minimum_balance: 100, overdraft_limit: 0, ..terms() });
    fund(&mut book, 0, 150);
    let (a, b) = (number(0), number(1));
    assert_eq!(code(move_money(&mut book.clone(), &a, &b, 150, Checks::Unlimited, 1)), "INSUFFICIENT_FUNDS");
    assert_eq!(code(move_money(&mut book.clone(), &a, &b, 151, Checks::Last, 1)), "INSUFFICIENT_FUNDS");
    assert_eq!(code(move_money(&mut book, &a, &b, 150, Checks::Last, 1)), "OK");
}

#[test]
fn what_the_bank_books_by_itself_is_no_sign_of_life() {
    let mut book = bank(&terms());
    let interest = Internal::FeeIncome.account(Currency::NGN);
    move_money(&mut book, &interest, &number(0), 5, Checks::Bookkeeping, 9).unwrap();
    assert_eq!(book.get(&number(0)).unwrap().last_active_at, Some(at(1)), "when it was opened");
    assert_eq!(book.get(&number(0)).unwrap().last_posted_at, Some(at(9)));
    move_money(&mut book, &interest, &number(0), 5, Checks::Unlimited, 10).unwrap();
    assert_eq!(book.get(&number(0)).unwrap().last_active_at, Some(at(10)));
}
