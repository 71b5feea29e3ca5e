//! What the exports are made of, without a bank.

use bursar_domain::ledger::{Channel, Internal};
use bursar_domain::{AccountNumber, Currency};

use super::parquet::scaled;
use super::text::name;

fn named(role: Internal) -> String {
    name(&role.account(Currency::NGN), Currency::NGN).unwrap()
}

#[test]
fn accounts_have_names_that_every_program_takes() {
    assert_eq!(named(Internal::Cash), "Assets:Cash:NGN");
    assert_eq!(named(Internal::LoanPrincipal), "Assets:Loan-Principal:NGN");
    assert_eq!(named(Internal::FeeIncome), "Income:Fee-Income:NGN");
    assert_eq!(named(Internal::InterestExpense), "Expenses:Interest-Expense:NGN");
    assert_eq!(named(Internal::Settlement(Channel::Banks)), "Liabilities:Settlement:Banks:NGN");
    let number = AccountNumber::from("7300000017");
    assert_eq!(name(&number, Currency::NGN).unwrap(), "Liabilities:Customers:7300000017");
    assert!(name(&"bank:slush:NGN".into(), Currency::NGN).is_err());
}

#[test]
fn two_codes_never_share_a_name() {
    let codes = ["A_B", "A-B", "A-_B", "A_-B", "A__B", "A--B", "_A", "-A", "A-D-B"];
    let mut names: Vec<String> =
        codes.map(|code| named(Internal::Settlement(Channel::Wallet(code.into())))).to_vec();
    assert_eq!(names[0], "Liabilities:Settlement:Wallet-A-B:NGN");
    names.sort();
    names.dedup();
    assert_eq!(names.len(), codes.len(), "{names:?}");
}

#[test]
fn a_decimal_has_the_same_places_in_every_currency() {
    for (code, minor, expected) in [
        ("NGN", -5, -500),
        ("JPY", 7, 70_000),
        ("KWD", 1, 10),
        ("UYW", 3, 3),
        ("USD", i64::MIN, -922_337_203_685_477_580_800),
    ] {
        assert_eq!(scaled(minor, code.parse().unwrap()), expected, "{code}");
    }
}
