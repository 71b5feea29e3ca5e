use jiff::civil::date;

use super::*;
use crate::accounts::SavingsFrequency;
use crate::aggregate::given::given;
use crate::aggregate::{AggregateEvent as _, When};
use crate::kernel::{Amount, TransactionId, midnight};

fn new(frequency: SavingsFrequency, matures_at: Option<&str>) -> PlanCommand {
    PlanCommand::Begin(Box::new(NewPlan {
        owner: "usr_0192f0c1a0007000800000000000000a".parse().unwrap(),
        contributions: Some(NewContributions {
            source: "1000000008".into(),
            amount: Amount::try_from(5_000).unwrap(),
            frequency,
        }),
        matures_at: matures_at.map(|at| at.parse().unwrap()),
        now: "2026-01-31T09:00:00Z".parse().unwrap(),
    }))
}

fn began(frequency: SavingsFrequency, matures_at: Option<&str>) -> PlanEvent {
    Plan::Absent.decide(new(frequency, matures_at)).unwrap().remove(0)
}

fn by() -> TransactionId {
    "txn_0192f0c1a00070008000000000000001".parse().unwrap()
}

/// The days on which a plan contributes, at most so many.
fn days(frequency: SavingsFrequency, matures_at: Option<&str>, most: usize) -> Vec<String> {
    let mut plan = Plan::default();
    plan.evolve(&began(frequency, matures_at));
    let mut days = Vec::new();
    while let Some(due) = plan.saving().unwrap().contributions.as_ref().unwrap().next
        && days.len() < most
    {
        let event = plan.decide(PlanCommand::Contribute { due, by: by() }).unwrap().remove(0);
        plan.evolve(&event);
        days.push(due.to_string());
    }
    days
}

#[test]
fn contributions_keep_the_day_on_which_the_account_was_opened() {
    let months = ["2026-02-28", "2026-03-31", "2026-04-30", "2026-05-31"];
    assert_eq!(days(SavingsFrequency::Monthly, None, 4), months);
    assert_eq!(days(SavingsFrequency::Weekly, None, 3), ["2026-02-07", "2026-02-14", "2026-02-21"]);
}

#[test]
fn nothing_is_contributed_once_the_plan_is_over() {
    let until = |at| days(SavingsFrequency::Monthly, Some(at), 9);
    assert_eq!(until("2026-03-31T00:00:00Z"), ["2026-02-28"]);
    assert_eq!(until("2026-03-31T00:00:01Z"), ["2026-02-28", "2026-03-31"]);
    assert_eq!(until("2026-02-01T00:00:00Z"), [""; 0]);
}

#[test]
fn a_plan_that_is_over_before_it_begins_is_refused() {
    given::<Plan>(&[])
        .when(new(SavingsFrequency::Weekly, Some("2026-01-31T09:00:00Z")))
        .then_refused("MATURITY_PASSED");
}

#[test]
fn a_day_is_done_once_whether_paid_or_skipped() {
    let due = date(2026, 2, 28);
    let skipped =
        PlanEvent::Skipped { due, code: "INSUFFICIENT_FUNDS".into(), next: Some(date(2026, 3, 31)) };
    given::<Plan>(&[began(SavingsFrequency::Monthly, None)])
        .when(PlanCommand::Skip { due, code: "INSUFFICIENT_FUNDS".into() })
        .then(std::slice::from_ref(&skipped));
    given::<Plan>(&[began(SavingsFrequency::Monthly, None), skipped])
        .when(PlanCommand::Contribute { due, by: by() })
        .then_refused("NOT_DUE");
}

#[test]
fn a_plan_matures_on_its_date_and_then_nothing_is_due() {
    let began = began(SavingsFrequency::Monthly, Some("2026-06-01T00:00:00Z"));
    let at = |text: &str| PlanCommand::Mature { now: text.parse().unwrap() };
    given::<Plan>(std::slice::from_ref(&began)).when(at("2026-05-31T23:59:59Z")).then_refused("NOT_DUE");
    given::<Plan>(std::slice::from_ref(&began)).when(at("2026-06-01T00:00:00Z")).then(&[PlanEvent::Matured]);
    given::<Plan>(&[began.clone(), PlanEvent::Matured]).when(PlanCommand::End).then_refused("INVALID_STATE");
    assert!(PlanEvent::Matured.dues().iter().all(|due| due.when == When::Never));
    assert_eq!(began.dues()[0].when, When::At(midnight(date(2026, 2, 28))));
}
