use jiff::ToSpan as _;
use jiff::civil::date;

use super::*;
use crate::aggregate::given::given;
use crate::aggregate::{AggregateEvent as _, When};
use crate::kernel::{Amount, Frequency, TransactionId, midnight};

const JAN: Date = date(2026, 1, 31);
const FEB: Date = date(2026, 2, 28);
const MAR: Date = date(2026, 3, 31);
const APR: Date = date(2026, 4, 30);

fn transaction() -> TransactionId {
    "txn_0192f0c1a0007000800000000000000c".parse().unwrap()
}

fn amount() -> Amount {
    1_000.try_into().unwrap()
}

/// Month ends from 31 January 2026 on.
fn new() -> NewMandate {
    NewMandate {
        owner: "usr_0192f0c1a0007000800000000000000a".parse().unwrap(),
        mandate_type: MandateType::Payment,
        source: "1000000008".into(),
        target: Target::Account { account_number: "1000000016".into() },
        payee_name: None,
        currency: Currency::NGN,
        plan: Plan {
            name: "Rent".into(),
            amount: amount(),
            calendar: Calendar::new(Frequency::Monthly, JAN, None, None).unwrap(),
            starts_at: midnight(JAN),
            ends_at: None,
            description: None,
        },
        is_active: true,
        today: date(2026, 1, 10),
        origin: None,
    }
}

fn begun() -> MandateEvent {
    new().set_up().unwrap()
}

fn executed(due: Date, next: Option<Date>) -> MandateEvent {
    MandateEvent::Executed { due, by: transaction(), amount: amount(), next }
}

fn failed(due: Date, next: Option<Date>) -> MandateEvent {
    MandateEvent::Failed { due, code: "INSUFFICIENT_FUNDS".into(), amount: amount(), next }
}

fn refuse_at(due: Date, now: Timestamp) -> MandateCommand {
    MandateCommand::Refuse { due, code: "INSUFFICIENT_FUNDS".into(), now }
}

/// The try of a day that was missed.
fn refuse_late(due: Date) -> MandateCommand {
    refuse_at(due, midnight(due.tomorrow().unwrap()))
}

fn edits() -> Edits {
    Edits {
        name: None,
        amount: None,
        frequency: None,
        execution_day: None,
        ends_at: None,
        description: None,
        is_active: None,
        today: date(2026, 1, 10),
    }
}

fn change(edits: Edits) -> MandateCommand {
    MandateCommand::Change(Box::new(edits))
}

fn hours(day: Date, hours: i64) -> Timestamp {
    midnight(day) + SignedDuration::from_hours(hours)
}

fn cancelled() -> MandateEvent {
    MandateEvent::Cancelled { name: "Rent".into(), reason: None }
}

fn refused(due: Date, again_at: Timestamp) -> MandateEvent {
    MandateEvent::Refused { due, code: "INSUFFICIENT_FUNDS".into(), again_at }
}

#[test]
fn a_day_is_tried_three_times_and_then_has_failed() {
    let (first, second, third) = (hours(JAN, 0), hours(JAN, 4), hours(JAN, 8));
    given::<Mandate>(&[begun()]).when(refuse_at(JAN, first)).then(&[refused(JAN, second)]);
    let once = [begun(), refused(JAN, second)];
    given::<Mandate>(&once).when(refuse_at(JAN, second)).then(&[refused(JAN, third)]);
    let twice = [begun(), refused(JAN, second), refused(JAN, third)];
    given::<Mandate>(&twice).when(refuse_at(JAN, third)).then(&[failed(JAN, Some(FEB))]);
    // A payment in between counts, and the next day has three tries again.
    let execute = MandateCommand::Execute { due: JAN, by: transaction() };
    given::<Mandate>(&once).when(execute).then(&[executed(JAN, Some(FEB))]);
    let next = [begun(), refused(JAN, second), refused(JAN, third), executed(JAN, Some(FEB))];
    given::<Mandate>(&next).when(refuse_at(FEB, hours(FEB, 0))).then(&[refused(FEB, hours(FEB, 4))]);
}

#[test]
fn all_tries_are_on_the_day_itself_and_one_that_comes_later_is_the_last() {
    given::<Mandate>(&[begun()]).when(refuse_at(JAN, hours(JAN, 19))).then(&[refused(JAN, hours(JAN, 23))]);
    given::<Mandate>(&[begun()]).when(refuse_at(JAN, hours(JAN, 20))).then(&[failed(JAN, Some(FEB))]);
    given::<Mandate>(&[begun()]).when(refuse_late(JAN)).then(&[failed(JAN, Some(FEB))]);
}

#[test]
fn a_day_is_done_once_and_in_order() {
    let execute = |due| MandateCommand::Execute { due, by: transaction() };
    given::<Mandate>(&[begun()]).when(execute(FEB)).then_refused("NOT_DUE");
    let once = [begun(), executed(JAN, Some(FEB))];
    given::<Mandate>(&once).when(execute(JAN)).then_refused("NOT_DUE");
    given::<Mandate>(&once).when(refuse_late(JAN)).then_refused("NOT_DUE");
    given::<Mandate>(&once).when(execute(FEB)).then(&[executed(FEB, Some(MAR))]);
}

#[test]
fn three_failed_days_in_a_row_pause_it_and_a_payment_between_them_does_not() {
    let twice = [begun(), failed(JAN, Some(FEB)), failed(FEB, Some(MAR))];
    let paused = MandateEvent::Paused { reason: PauseReason::Failures };
    given::<Mandate>(&twice).when(refuse_late(MAR)).then(&[failed(MAR, Some(APR)), paused]);
    let mixed = [begun(), failed(JAN, Some(FEB)), executed(FEB, Some(MAR))];
    given::<Mandate>(&mixed).when(refuse_late(MAR)).then(&[failed(MAR, Some(APR))]);
}

#[test]
fn what_was_passed_over_while_it_was_paused_is_said_when_it_goes_on() {
    let paused = MandateEvent::Paused { reason: PauseReason::Requested };
    let history = [begun(), executed(JAN, Some(FEB)), paused];
    let resume = Edits { is_active: Some(true), today: date(2026, 4, 1), ..edits() };
    let changed = MandateEvent::Changed { plan: new().plan, next: None };
    let resumed = MandateEvent::Resumed { next: APR, skipped: vec![FEB, MAR] };
    given::<Mandate>(&history).when(change(resume.clone())).then(&[changed.clone(), resumed.clone()]);
    // On the day that was done already, that day stays done, and none was passed over.
    let same_day = Edits { today: JAN, ..resume.clone() };
    let next = MandateEvent::Resumed { next: FEB, skipped: Vec::new() };
    given::<Mandate>(&history).when(change(same_day)).then(&[changed.clone(), next]);
    // Said twice, it is so already.
    let again = [history.to_vec(), vec![changed, resumed]].concat();
    let changed = MandateEvent::Changed { plan: new().plan, next: Some(APR) };
    given::<Mandate>(&again).when(change(resume)).then(&[changed]);
}

#[test]
fn edits_change_what_they_name_and_nothing_else() {
    let ten = Edits { amount: Some(10.try_into().unwrap()), name: Some("Less rent".into()), ..edits() };
    let plan = Plan { amount: 10.try_into().unwrap(), name: "Less rent".into(), ..new().plan };
    given::<Mandate>(&[begun()])
        .when(change(ten))
        .then(&[MandateEvent::Changed { plan: plan.clone(), next: Some(JAN) }]);
    let weekly = Edits { frequency: Some(Frequency::Weekly), ..edits() };
    let calendar = Calendar::new(Frequency::Weekly, JAN, None, None).unwrap();
    given::<Mandate>(&[begun()])
        .when(change(weekly))
        .then(&[MandateEvent::Changed { plan: Plan { calendar, ..new().plan }, next: Some(JAN) }]);
    let end = Edits { ends_at: Some(Some(midnight(MAR))), ..edits() };
    let calendar = Calendar::new(Frequency::Monthly, JAN, Some(31), Some(MAR)).unwrap();
    let plan = Plan { calendar, ends_at: Some(midnight(MAR)), ..new().plan };
    given::<Mandate>(&[begun()]).when(change(end)).then(&[MandateEvent::Changed { plan, next: Some(JAN) }]);
    for (edits, code) in [
        (Edits { frequency: Some(Frequency::Weekly), execution_day: Some(8), ..edits() }, "DAY_OUT_OF_RANGE"),
        (Edits { ends_at: Some(Some(midnight(date(2026, 1, 30)))), ..edits() }, "NOTHING_TO_EXECUTE"),
    ] {
        given::<Mandate>(&[begun()]).when(change(edits)).then_refused(code);
    }
    let over = Edits { ends_at: Some(Some(midnight(JAN))), ..edits() };
    given::<Mandate>(&[begun(), executed(JAN, Some(FEB))])
        .when(change(over))
        .then_refused("NOTHING_TO_EXECUTE");
}

#[test]
fn a_missed_day_survives_a_change_that_is_not_about_days() {
    let late = Edits { amount: Some(10.try_into().unwrap()), today: MAR, ..edits() };
    let plan = Plan { amount: 10.try_into().unwrap(), ..new().plan };
    given::<Mandate>(&[begun()]).when(change(late)).then(&[MandateEvent::Changed { plan, next: Some(JAN) }]);
    let other_days = Edits { execution_day: Some(15), today: MAR, ..edits() };
    let calendar = Calendar::new(Frequency::Monthly, JAN, Some(15), None).unwrap();
    let plan = Plan { calendar, ..new().plan };
    given::<Mandate>(&[begun()])
        .when(change(other_days))
        .then(&[MandateEvent::Changed { plan, next: Some(date(2026, 4, 15)) }]);
}

#[test]
fn over_is_over() {
    let cancel = || MandateCommand::Cancel { reason: None };
    given::<Mandate>(&[begun()]).when(cancel()).then(&[cancelled()]);
    for over in [executed(JAN, None), cancelled()] {
        let over = [begun(), over];
        for command in [cancel(), change(edits()), refuse_late(JAN)] {
            given::<Mandate>(&over).when(command).then_refused("INVALID_STATE");
        }
    }
    given::<Mandate>(&[]).when(cancel()).then_refused("NOT_FOUND");
}

#[test]
fn each_event_orders_the_next_try_or_takes_it_back() {
    let when = |event: &MandateEvent| event.dues()[0].when.clone();
    assert_eq!(when(&begun()), When::At(midnight(JAN)));
    assert_eq!(when(&executed(JAN, Some(FEB))), When::At(midnight(FEB)));
    assert_eq!(when(&refused(JAN, hours(JAN, 4))), When::At(hours(JAN, 4)));
    for over in [executed(JAN, None), failed(JAN, None), cancelled()] {
        assert_eq!(when(&over), When::Never);
    }
    let paused = NewMandate { is_active: false, ..new() }.set_up().unwrap();
    assert_eq!(when(&paused), When::Never);
}

#[test]
fn a_long_pause_keeps_the_latest_days() {
    let daily = Calendar::new(Frequency::Daily, JAN, None, None).unwrap();
    let plan = Plan { calendar: daily, ..new().plan };
    let begun = NewMandate { plan, is_active: false, ..new() }.set_up().unwrap();
    let mut mandate = Mandate::default();
    mandate.evolve(&begun);
    let today = JAN.checked_add(1_000.days()).unwrap();
    let events = mandate.decide(change(Edits { is_active: Some(true), today, ..edits() })).unwrap();
    let [_, MandateEvent::Resumed { next, skipped }] = &events[..] else { panic!("{events:?}") };
    assert_eq!((*next, skipped.len()), (today, MOST_SKIPPED));
    assert_eq!(skipped.last().copied(), today.yesterday().ok());
}
