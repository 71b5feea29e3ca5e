use jiff::civil::date;
use proptest::prelude::*;
use rust_decimal::Decimal;
use serde_json::Value;

use super::*;
use crate::kernel::Amount;

fn number(value: &Value) -> i64 {
    value.as_i64().unwrap()
}

fn decimal(value: &Value) -> Decimal {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned).parse().unwrap()
}

fn annuity(vector: &Value) -> Annuity {
    Annuity::new(decimal(&vector["annualRatePercent"]), number(&vector["months"]).try_into().unwrap())
        .unwrap()
}

#[test]
fn every_schedule_equals_its_vector_row_by_row() {
    let vectors: Value = serde_json::from_str(include_str!("../../vectors/loan_schedules.json")).unwrap();
    let vectors = vectors.as_array().unwrap();
    assert!(vectors.len() >= 9);
    for vector in vectors {
        let (annuity, principal) = (annuity(vector), number(&vector["principal"]));
        let rows = annuity.schedule(principal).unwrap();
        assert_eq!(annuity.payment(principal), number(&vector["monthlyPayment"]), "{}", vector["id"]);
        let expected = vector["rows"].as_array().unwrap();
        assert_eq!(rows.len(), expected.len(), "{}", vector["id"]);
        for (row, expected) in rows.iter().zip(expected) {
            let row = [i64::from(row.number), row.principal, row.interest, row.total(), row.remaining];
            let names = ["installmentNumber", "principal", "interest", "totalPayment", "remainingBalance"];
            assert_eq!(row, names.map(|name| number(&expected[name])), "{}", vector["id"]);
        }
        let interest: i64 = rows.iter().map(|row| row.interest).sum();
        assert_eq!(interest, number(&vector["totalInterest"]), "{}", vector["id"]);
        assert_eq!(principal + interest, number(&vector["totalAmount"]), "{}", vector["id"]);
        assert_eq!(rows.last().unwrap().total(), number(&vector["lastPayment"]), "{}", vector["id"]);
    }
}

#[test]
fn every_verdict_equals_its_vector() {
    let vectors: Value = serde_json::from_str(include_str!("../../vectors/loan_eligibility.json")).unwrap();
    let limits = &vectors["limits"];
    let range = Range { least: number(&limits["minAmount"]), most: number(&limits["maxAmount"]) };
    for row in vectors["rows"].as_array().unwrap() {
        let household = Household {
            income: Amount::try_from(number(&row["monthlyIncome"])).unwrap(),
            existing: number(&row["existingMonthly"]),
            credit_score: None,
        };
        let verdict = assess(&annuity(row), range, household, number(&row["amount"]));
        assert_eq!(Value::from(verdict.eligible), row["eligible"], "{row}");
        assert_eq!(verdict.eligible_amount, number(&row["eligibleAmount"]), "{row}");
        assert_eq!(verdict.ratio, decimal(&row["debtToIncomeRatio"]), "{row}");
    }
}

#[test]
fn a_low_score_and_a_loan_out_of_range_are_not_eligible() {
    let annuity = Annuity::new(Decimal::from(12), 12).unwrap();
    let range = Range { least: 50_000, most: 5_000_000 };
    let household =
        Household { income: Amount::try_from(300_000).unwrap(), existing: 20_000, credit_score: Some(600) };
    assert!(assess(&annuity, range, household, 1_000_000).eligible);
    let poor = Household { credit_score: Some(599), ..household };
    let verdict = assess(&annuity, range, poor, 1_000_000);
    assert_eq!((verdict.eligible, verdict.eligible_amount), (false, 0));
    assert!(!assess(&annuity, range, household, 49_999).eligible);
    assert!(!assess(&annuity, Range { most: 500_000, ..range }, household, 1_000_000).eligible);
    let broke = Household { existing: i64::MAX, ..household };
    assert_eq!(assess(&annuity, range, broke, 1_000_000).eligible_amount, 0);
}

#[test]
fn what_is_no_loan_has_no_schedule() {
    let rate = |text: &str| Annuity::new(text.parse().unwrap(), 12).err();
    assert_eq!(
        (rate("-1"), rate("100.1"), rate("1.2345678")),
        (Some(NoSchedule::Rate), Some(NoSchedule::Rate), Some(NoSchedule::Rate))
    );
    assert_eq!((rate("100"), rate("0"), rate("1.500000000")), (None, None, None));
    for months in [0, 481] {
        assert_eq!(Annuity::new(Decimal::ONE, months).err(), Some(NoSchedule::Months));
    }
    let annuity = Annuity::new(Decimal::ONE, 12).unwrap();
    for principal in [0, -1, LARGEST + 1] {
        assert_eq!(annuity.schedule(principal), Err(NoSchedule::Principal));
    }
}

#[test]
fn instalments_are_due_on_the_day_that_the_month_has() {
    assert_eq!(
        due_dates(date(2026, 1, 31), 4),
        [date(2026, 2, 28), date(2026, 3, 31), date(2026, 4, 30), date(2026, 5, 31)]
    );
    assert_eq!(due_dates(date(2027, 11, 29), 4)[3], date(2028, 3, 29));
    assert_eq!(due_dates(date(2027, 12, 31), 2)[1], date(2028, 2, 29));
    assert_eq!(due_dates(date(2026, 1, 1), 480).len(), 480);
}

proptest! {
    #[test]
    fn a_schedule_pays_the_principal_and_nothing_is_negative(
        principal in 1_i64..=1_000_000_000_000,
        rate in 0_i64..=10_000,
        months in 1_u32..=LONGEST,
    ) {
        let annuity = Annuity::new(Decimal::new(rate, 2), months).unwrap();
        let rows = annuity.schedule(principal).unwrap();
        prop_assert_eq!(rows.iter().map(|row| row.principal).sum::<i64>(), principal);
        prop_assert_eq!(rows.last().unwrap().remaining, 0);
        let mut before = principal;
        for row in &rows {
            prop_assert!(row.principal >= 0 && row.interest >= 0 && row.remaining >= 0);
            prop_assert_eq!(before - row.principal, row.remaining);
            before = row.remaining;
        }
    }

    #[test]
    fn the_affordable_amount_is_the_largest(payment in 0_i64..=10_000_000, rate in 0_i64..=5_000, months in 1_u32..=120) {
        let annuity = Annuity::new(Decimal::new(rate, 2), months).unwrap();
        let most = annuity.affordable(i128::from(payment) * 10, LARGEST);
        prop_assert!(annuity.payment(most) <= payment);
        // What is one more rounds to the same payment at the least.
        prop_assert!(annuity.payment(most + 1) >= payment || most == LARGEST);
    }
}
