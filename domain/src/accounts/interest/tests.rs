use jiff::ToSpan as _;
use jiff::civil::date;
use proptest::prelude::*;
use serde_json::Value;

use super::*;

#[test]
fn every_month_equals_its_vector_day_by_day() {
    let vectors: Value =
        serde_json::from_str(include_str!("../../../vectors/savings_interest.json")).unwrap();
    for vector in vectors.as_array().unwrap() {
        let rate = vector["ratePercent"].to_string().parse().unwrap();
        let mut accrual = Accrual::new(rate, vector["minimumBalance"].as_i64().unwrap());
        let mut days = Vec::new();
        for stretch in vector["balances"].as_array().unwrap() {
            let [first, last, balance] = [0, 1, 2].map(|n| stretch[n].as_i64().unwrap());
            days.extend((first..=last).map(|_| accrual.day(balance)));
        }
        assert_eq!(Value::from(days.len()), vector["days"]);
        assert_eq!(Value::from(accrual.due()), vector["posted"], "{}", vector["id"]);
        for (day, expected) in vector["firstDays"].as_array().into_iter().flatten().enumerate() {
            assert_eq!(Value::from(days[day]), *expected, "{} day {}", vector["id"], day + 1);
        }
        for (day, expected) in vector["day"].as_object().into_iter().flatten() {
            let index = day.parse::<usize>().unwrap() - 1;
            assert_eq!(Value::from(days[index]), *expected, "{} day {day}", vector["id"]);
        }
    }
}

#[test]
fn a_day_below_the_minimum_earns_nothing() {
    let mut accrual = Accrual::new(Decimal::from(10), 1_000_000);
    assert_eq!((accrual.day(999_999), accrual.day(1_000_000)), (0, 274));
    let mut overdrawn = Accrual::new(Decimal::from(10), 0);
    assert_eq!(overdrawn.day(-1_000_000), 0);
}

proptest! {
    #[test]
    fn the_days_add_up_to_the_posting(
        rate in 0_i64..=10_000,
        balances in prop::collection::vec(0_i64..=1_000_000_000_000, 28..=31),
    ) {
        let mut accrual = Accrual::new(Decimal::new(rate, 2), 500);
        let shown: i64 = balances.iter().map(|balance| accrual.day(*balance)).sum();
        prop_assert_eq!(shown, accrual.due());
    }
}

fn contract(rate: Decimal, minimum_balance: i64, ends: &[(Date, i64)]) -> Earner {
    Earner {
        account: "1000000008".into(),
        currency: Currency::NGN,
        rate,
        minimum_balance,
        ends: ends.iter().map(|(day, balance)| DayEnd { day: *day, balance: *balance }).collect(),
        posted: Vec::new(),
    }
}

fn stretch(from: Date, through: Date) -> Stretch {
    Stretch { from, through }
}

#[test]
fn a_leap_year_has_a_day_more_and_is_divided_by_as_many() {
    let feb = |year| stretch(date(year, 2, 1), date(year, 2, 1).last_of_month());
    let earner = contract(Decimal::new(365, 1), 0, &[(date(2023, 1, 1), 1_000_000)]);
    // 36.5 percent of 1,000,000 is 1,000 a day.
    assert_eq!(earner.days(feb(2027)), [1_000; 28]);
    assert_eq!(earner.days(feb(2028)), [1_000; 29]);
    assert_eq!(earner.days(feb(2100)), [1_000; 28]);
    let year = |year| earner.owed(stretch(date(year, 1, 1), date(year, 12, 31)));
    let sum = |year_: i16| year(year_).iter().map(|owed| owed.amount).sum::<i64>();
    assert_eq!((sum(2027), sum(2028)), (365_000, 366_000));
}

#[test]
fn an_account_earns_from_the_day_it_was_opened_and_each_month_is_posted_by_itself() {
    let rate = Decimal::new(45, 1);
    let mut earner = contract(rate, 0, &[(date(2026, 1, 30), 1_000_000)]);
    let owed = earner.owed(stretch(Date::MIN, date(2026, 3, 10)));
    let expected = [
        (date(2026, 1, 30), date(2026, 1, 31), 247),
        (date(2026, 2, 1), date(2026, 2, 28), 3_452),
        (date(2026, 3, 1), date(2026, 3, 10), 1_233),
    ];
    let seen: Vec<_> = owed.iter().map(|o| (o.stretch.from, o.stretch.through, o.amount)).collect();
    assert_eq!(seen, expected);
    // What was posted is not owed again, and what comes after it begins anew.
    earner.posted.push(date(2026, 2, 28));
    assert_eq!(earner.owed(stretch(Date::MIN, date(2026, 3, 10))), owed[2..]);
    earner.posted.push(date(2026, 3, 10));
    assert_eq!(earner.owed(stretch(Date::MIN, date(2026, 3, 10))), []);
    let rest = earner.owed(stretch(Date::MIN, date(2026, 3, 31)));
    assert_eq!((rest[0].stretch, rest[0].amount), (stretch(date(2026, 3, 11), date(2026, 3, 31)), 2_589));
    let days = earner.days(stretch(date(2026, 3, 1), date(2026, 3, 31)));
    assert_eq!((days[..10].iter().sum::<i64>(), days[10..].iter().sum::<i64>()), (1_233, 2_589));
}

#[test]
fn months_that_earn_nothing_are_not_posted() {
    let earner = contract(
        Decimal::from(10),
        500,
        &[(date(2026, 1, 1), 499), (date(2026, 2, 28), 1_000_000), (date(2026, 3, 1), 0)],
    );
    let owed = earner.owed(stretch(Date::MIN, date(2026, 4, 30)));
    assert_eq!(owed, [Owed { stretch: stretch(date(2026, 2, 1), date(2026, 2, 28)), amount: 274 }]);
}

/// Changes of the balance on some of the days of three years, one of them a leap year.
fn balances() -> impl Strategy<Value = Vec<(Date, i64)>> {
    let change = (0_i32..1_096, prop_oneof![Just(0), Just(499), Just(500), 0_i64..=1_000_000_000_000_000]);
    prop::collection::btree_map(change.0, change.1, 1..60).prop_map(|changes| {
        let first = date(2027, 1, 1);
        changes.into_iter().map(|(day, balance)| (first.saturating_add(day.days()), balance)).collect()
    })
}

proptest! {
    /// Against the definition, in whole numbers: the sum of balance * rate over the days, divided once.
    #[test]
    fn every_month_is_the_exact_sum_of_its_days(rate in 1_i64..=10_000, changes in balances(), month in 0_i32..36) {
        let earner = contract(Decimal::new(rate, 2), 500, &changes);
        let from = date(2027, 1, 1).saturating_add(month.months());
        let month = stretch(from, from.last_of_month());
        let mut exact = 0_i128;
        for day in from.series(1.day()).take_while(|day| *day <= month.through) {
            let held = changes.iter().rev().find(|(on, _)| *on <= day).map_or(0, |(_, balance)| *balance);
            exact += if held >= 500 { i128::from(held) * i128::from(rate) } else { 0 };
        }
        let posted = half_even(exact, 3_650_000).unwrap();
        let days = earner.days(month);
        prop_assert_eq!(days.len(), usize::try_from(from.days_in_month()).unwrap());
        prop_assert!(days.iter().all(|day| *day >= 0));
        prop_assert_eq!(i128::from(days.iter().sum::<i64>()), posted);
        let owed: Vec<i128> = earner.owed(month).iter().map(|owed| owed.amount.into()).collect();
        prop_assert_eq!(owed, if posted > 0 { vec![posted] } else { vec![] });
    }

    /// Posting month by month, or all of it after years of downtime: the same stretches and the same amounts.
    #[test]
    fn whether_posted_at_once_or_month_by_month_it_is_the_same(rate in 1_i64..=2_000, changes in balances()) {
        let earner = contract(Decimal::new(rate, 2), 0, &changes);
        let last = date(2029, 12, 31);
        let at_once = earner.owed(stretch(Date::MIN, last));
        let mut by_month = earner.clone();
        let mut posted = Vec::new();
        for month in 0..36 {
            let from = date(2027, 1, 1).saturating_add(month.months());
            let owed = by_month.owed(stretch(from, from.last_of_month()));
            by_month.posted.extend(owed.iter().map(|owed| owed.stretch.through));
            posted.extend(owed);
        }
        prop_assert_eq!(&posted, &at_once);
        prop_assert_eq!(by_month.owed(stretch(Date::MIN, last)), []);
        // The history that the customer sees adds up to what was paid.
        let days = by_month.days(stretch(date(2027, 1, 1), last));
        prop_assert_eq!(days.iter().sum::<i64>(), posted.iter().map(|owed| owed.amount).sum::<i64>());
    }

    /// A day that is said again changes nothing: quiet days carry the balance forward.
    #[test]
    fn a_quiet_day_is_like_the_one_before(rate in 1_i64..=2_000, changes in balances()) {
        let whole = stretch(date(2027, 1, 1), date(2029, 12, 31));
        let earner = contract(Decimal::new(rate, 2), 500, &changes);
        let mut said = contract(Decimal::new(rate, 2), 500, &changes[..1]);
        let mut held = changes[0].1;
        for day in changes[0].0.series(1.day()).take_while(|day| *day <= whole.through) {
            held = changes.iter().find(|(on, _)| *on == day).map_or(held, |(_, balance)| *balance);
            said.holds(day, held);
        }
        prop_assert_eq!(said.days(whole), earner.days(whole));
    }
}
