use super::*;
use crate::aggregate::given::given;

fn person(last: char) -> UserId {
    format!("usr_0192f0c1a0007000800000000000000{last}").parse().unwrap()
}

fn requested() -> Box<Requested> {
    Box::new(Requested {
        owner: person('a'),
        account: "1000000008".into(),
        reason: "Moving".into(),
        preferred_date: None,
        transfer_account: Some("1000000016".into()),
        comments: None,
    })
}

fn approve(by: UserId) -> ClosureCommand {
    ClosureCommand::Approve { by, note: None }
}

fn approved() -> [ClosureEvent; 2] {
    [ClosureEvent::Requested(requested()), ClosureEvent::Approved { by: person('b'), note: None }]
}

fn finish(by: UserId) -> ClosureCommand {
    ClosureCommand::Finalize(Box::new(Completed { by, note: None, swept: None }))
}

#[test]
fn one_approves_and_another_finishes() {
    let asked = ClosureEvent::Requested(requested());
    given::<Closure>(std::slice::from_ref(&asked)).when(approve(person('b'))).then(&approved()[1..]);
    given::<Closure>(&approved()).when(finish(person('b'))).then_refused("SAME_PERSON");
    let done = ClosureEvent::Completed(Box::new(Completed { by: person('c'), note: None, swept: None }));
    given::<Closure>(&approved()).when(finish(person('c'))).then(&[done]);
}

#[test]
fn nobody_decides_about_their_own() {
    let asked = ClosureEvent::Requested(requested());
    let reject = ClosureCommand::Reject { by: person('a'), reason: "No".into() };
    for command in [approve(person('a')), reject] {
        given::<Closure>(std::slice::from_ref(&asked)).when(command).then_refused("SAME_PERSON");
    }
    given::<Closure>(&approved()).when(finish(person('a'))).then_refused("SAME_PERSON");
}

#[test]
fn every_move_that_a_state_does_not_have_is_refused() {
    let asked = ClosureEvent::Requested(requested());
    let ends = [
        ClosureEvent::Rejected { by: person('b'), reason: "No".into() },
        ClosureEvent::Cancelled,
        ClosureEvent::Completed(Box::new(Completed { by: person('c'), note: None, swept: None })),
    ];
    let reject = || ClosureCommand::Reject { by: person('c'), reason: "No".into() };
    for end in ends {
        for command in [approve(person('d')), reject(), ClosureCommand::Cancel, finish(person('d'))] {
            let [first, second] = approved();
            given::<Closure>(&[first, second, end.clone()]).when(command).then_refused("INVALID_STATE");
        }
    }
    given::<Closure>(&[asked]).when(finish(person('d'))).then_refused("INVALID_STATE");
    given::<Closure>(&approved()).when(approve(person('d'))).then_refused("INVALID_STATE");
    for command in [approve(person('d')), reject(), ClosureCommand::Cancel, finish(person('d'))] {
        given::<Closure>(&[]).when(command).then_refused("NOT_FOUND");
    }
}

#[test]
fn it_can_be_taken_back_until_it_is_done() {
    let asked = ClosureEvent::Requested(requested());
    given::<Closure>(&[asked]).when(ClosureCommand::Cancel).then(&[ClosureEvent::Cancelled]);
    given::<Closure>(&approved()).when(ClosureCommand::Cancel).then(&[ClosureEvent::Cancelled]);
}
