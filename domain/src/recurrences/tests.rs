use jiff::civil::date;

use super::*;
use crate::aggregate::given::given;
use crate::aggregate::{AggregateEvent as _, When};
use crate::kernel::{Calendar, Frequency, midnight};

fn transaction() -> TransactionId {
    "txn_0192f0c1a0007000800000000000000c".parse().unwrap()
}

/// Month ends from 31 January 2026 to `last`.
fn new(last: Option<Date>) -> NewRecurrence {
    let start = date(2026, 1, 31);
    NewRecurrence {
        owner: "usr_0192f0c1a0007000800000000000000a".parse().unwrap(),
        transaction_id: transaction(),
        calendar: Calendar::new(Frequency::Monthly, start, None, last).unwrap(),
        starts_at: midnight(start),
        ends_at: last.map(midnight),
        description: None,
        is_paused: false,
        today: date(2026, 1, 10),
    }
}

fn set_up(new: NewRecurrence) -> RecurrenceEvent {
    new.set_up().unwrap()
}

fn begun() -> RecurrenceEvent {
    set_up(new(None))
}

fn execute(due: Date) -> RecurrenceCommand {
    RecurrenceCommand::Execute { due, by: transaction() }
}

fn executed(due: Date, next: Option<Date>) -> RecurrenceEvent {
    RecurrenceEvent::Executed { due, by: transaction(), next }
}

fn fail(due: Date) -> RecurrenceCommand {
    RecurrenceCommand::Fail { due, code: "INSUFFICIENT_FUNDS".into() }
}

fn failed(due: Date, next: Option<Date>) -> RecurrenceEvent {
    RecurrenceEvent::Failed { due, code: "INSUFFICIENT_FUNDS".into(), next }
}

const JAN: Date = date(2026, 1, 31);
const FEB: Date = date(2026, 2, 28);
const MAR: Date = date(2026, 3, 31);
const APR: Date = date(2026, 4, 30);

#[test]
fn a_day_is_done_once_and_in_order() {
    given::<Recurrence>(&[begun()]).when(execute(JAN)).then(&[executed(JAN, Some(FEB))]);
    given::<Recurrence>(&[begun()]).when(execute(FEB)).then_refused("NOT_DUE");
    let once = [begun(), executed(JAN, Some(FEB))];
    given::<Recurrence>(&once).when(execute(JAN)).then_refused("NOT_DUE");
    given::<Recurrence>(&once).when(fail(JAN)).then_refused("NOT_DUE");
    given::<Recurrence>(&once).when(execute(FEB)).then(&[executed(FEB, Some(MAR))]);
}

#[test]
fn after_the_last_day_it_is_complete() {
    let begun = set_up(new(Some(FEB)));
    given::<Recurrence>(&[begun.clone(), executed(JAN, Some(FEB))])
        .when(execute(FEB))
        .then(&[executed(FEB, None)]);
    let over = [begun, executed(JAN, Some(FEB)), executed(FEB, None)];
    let refused = |command| given::<Recurrence>(&over).when(command).then_refused("INVALID_STATE");
    [execute(FEB), RecurrenceCommand::Pause, RecurrenceCommand::Cancel].into_iter().for_each(refused);
    let late = NewRecurrence { today: MAR, ..new(Some(FEB)) };
    given::<Recurrence>(&[])
        .when(RecurrenceCommand::SetUp(Box::new(late)))
        .then_refused("NOTHING_TO_EXECUTE");
}

#[test]
fn nothing_is_done_for_days_before_it_was_set_up() {
    let late = NewRecurrence { today: date(2026, 3, 1), ..new(None) };
    let RecurrenceEvent::SetUp(set_up) = set_up(late) else { panic!() };
    assert_eq!(set_up.next, Some(MAR));
}

#[test]
fn three_refusals_in_a_row_pause_it_and_a_payment_between_them_does_not() {
    let twice = [begun(), failed(JAN, Some(FEB)), failed(FEB, Some(MAR))];
    let paused = RecurrenceEvent::Paused { reason: PauseReason::Failures };
    given::<Recurrence>(&twice).when(fail(MAR)).then(&[failed(MAR, Some(APR)), paused.clone()]);
    let mixed = [begun(), failed(JAN, Some(FEB)), executed(FEB, Some(MAR))];
    given::<Recurrence>(&mixed).when(fail(MAR)).then(&[failed(MAR, Some(APR))]);
    // Resumed, it has three tries again.
    let resumed = RecurrenceEvent::Resumed { next: APR };
    let again =
        [begun(), failed(JAN, Some(FEB)), failed(FEB, Some(MAR)), failed(MAR, Some(APR)), paused, resumed];
    given::<Recurrence>(&again).when(fail(APR)).then(&[failed(APR, Some(date(2026, 5, 31)))]);
}

#[test]
fn what_was_due_while_it_was_paused_is_passed_over_and_nothing_is_done_twice() {
    let paused = RecurrenceEvent::Paused { reason: PauseReason::Requested };
    let history = [begun(), executed(JAN, Some(FEB)), paused.clone()];
    let resume = |today| RecurrenceCommand::Resume { today };
    given::<Recurrence>(&history)
        .when(resume(date(2026, 3, 2)))
        .then(&[RecurrenceEvent::Resumed { next: MAR }]);
    // On the day that was done already.
    given::<Recurrence>(&history).when(resume(JAN)).then(&[RecurrenceEvent::Resumed { next: FEB }]);
    given::<Recurrence>(&history).when(execute(FEB)).then_refused("INVALID_STATE");
    let over = [set_up(new(Some(FEB))), paused];
    given::<Recurrence>(&over).when(resume(MAR)).then_refused("NOTHING_TO_EXECUTE");
}

#[test]
fn each_event_orders_the_next_day_or_takes_it_back() {
    let when = |event: &RecurrenceEvent| event.dues()[0].when.clone();
    assert_eq!(when(&begun()), When::At(midnight(JAN)));
    assert_eq!(when(&executed(JAN, Some(FEB))), When::At(midnight(FEB)));
    for over in [executed(JAN, None), failed(JAN, None), RecurrenceEvent::Cancelled] {
        assert_eq!(when(&over), When::Never);
    }
    assert_eq!(when(&RecurrenceEvent::Paused { reason: PauseReason::Failures }), When::Never);
    let paused = set_up(NewRecurrence { is_paused: true, ..new(None) });
    assert_eq!(when(&paused), When::Never);
    given::<Recurrence>(&[paused])
        .when(RecurrenceCommand::Resume { today: JAN })
        .then(&[RecurrenceEvent::Resumed { next: JAN }]);
}
