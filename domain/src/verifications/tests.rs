use super::*;
use crate::aggregate::given::given;
use crate::kernel::Personal;
use crate::messages::Channel;

const POLICY: Policy = Policy { lifetime: 600, tries: 5, resend_after: 60, a_day: 5 };

fn id(n: u32) -> VerificationId {
    format!("ver_0192f0c1a0007000800000000000{n:04}").parse().unwrap()
}

fn at(second: i64) -> Timestamp {
    let noon: Timestamp = "2026-11-01T12:00:00Z".parse().unwrap();
    add_seconds(noon, second)
}

fn new(n: u32, second: i64) -> NewVerification {
    NewVerification {
        id: id(n),
        purpose: Purpose::Identity,
        channel: Channel::Sms,
        destination: "+2348031000101".into(),
        bound_to: String::new(),
        at: at(second),
        policy: POLICY,
    }
}

fn issue(n: u32, second: i64) -> VerificationsCommand {
    VerificationsCommand::Issue(Box::new(new(n, second)))
}

fn issued(n: u32, second: i64) -> VerificationsEvent {
    VerificationsEvent::Issued(Box::new(new(n, second).into_event()))
}

fn guess(n: u32, second: i64) -> VerificationsCommand {
    VerificationsCommand::Try { id: id(n), at: at(second) }
}

fn confirm(n: u32, second: i64) -> VerificationsCommand {
    VerificationsCommand::Confirm { id: id(n), at: at(second) }
}

fn tried(n: u32) -> VerificationsEvent {
    VerificationsEvent::Tried { id: id(n) }
}

fn confirmed(n: u32) -> VerificationsEvent {
    VerificationsEvent::Confirmed { id: id(n), purpose: Purpose::Identity }
}

fn resent(n: u32, resends: u32, second: i64) -> VerificationsEvent {
    VerificationsEvent::Resent(Resent {
        id: id(n),
        purpose: Purpose::Identity,
        resends,
        sent_at: at(second),
        resend_at: at(second + 60),
        expires_at: at(second + 600),
    })
}

#[test]
fn a_code_is_tried_and_then_confirmed_once() {
    given::<Verifications>(&[issued(1, 0)]).when(guess(1, 10)).then(&[tried(1)]);
    given::<Verifications>(&[issued(1, 0), tried(1)]).when(confirm(1, 10)).then(&[confirmed(1)]);
    let done = [issued(1, 0), tried(1), confirmed(1)];
    given::<Verifications>(&done).when(confirm(1, 11)).then_refused("INVALID_STATE");
    given::<Verifications>(&done).when(guess(1, 11)).then_refused("INVALID_STATE");
}

#[test]
fn the_fifth_try_may_be_right_and_there_is_no_sixth() {
    let mut events = vec![issued(1, 0)];
    events.extend((0..5).map(|_| tried(1)));
    given::<Verifications>(&events).when(guess(1, 20)).then_refused("INVALID_STATE");
    given::<Verifications>(&events).when(confirm(1, 20)).then(&[confirmed(1)]);
    given::<Verifications>(&events)
        .when(VerificationsCommand::Resend { id: id(1), at: at(100), policy: POLICY })
        .then_refused("INVALID_STATE");
}

#[test]
fn an_old_code_does_not_count() {
    given::<Verifications>(&[issued(1, 0)]).when(guess(1, 599)).then(&[tried(1)]);
    given::<Verifications>(&[issued(1, 0)]).when(guess(1, 600)).then_refused("INVALID_STATE");
    given::<Verifications>(&[issued(1, 0), tried(1)]).when(confirm(1, 600)).then_refused("INVALID_STATE");
}

#[test]
fn the_newest_wins() {
    let both = [issued(1, 0), issued(2, 5)];
    given::<Verifications>(&both).when(guess(1, 10)).then_refused("NOT_FOUND");
    given::<Verifications>(&both).when(guess(2, 10)).then(&[tried(2)]);
    given::<Verifications>(&[]).when(guess(1, 10)).then_refused("NOT_FOUND");
}

#[test]
fn a_code_is_sent_again_after_a_while_with_its_tries_spent() {
    let resend = |second| VerificationsCommand::Resend { id: id(1), at: at(second), policy: POLICY };
    given::<Verifications>(&[issued(1, 0)]).when(resend(59)).then_refused("RESEND_TOO_SOON");
    given::<Verifications>(&[issued(1, 0)]).when(resend(60)).then(&[resent(1, 1, 60)]);
    // An expired one comes to life again.
    given::<Verifications>(&[issued(1, 0)]).when(resend(700)).then(&[resent(1, 1, 700)]);
    let mut state = Verifications::default();
    [issued(1, 0), tried(1), tried(1), resent(1, 1, 60)].iter().for_each(|event| state.evolve(event));
    let verification = state.get(id(1)).unwrap();
    assert_eq!((verification.remaining_tries(), verification.resends), (3, 1));
    assert_eq!(verification.status(at(659)), VerificationStatus::Pending);
    assert_eq!(verification.status(at(660)), VerificationStatus::Expired);
}

#[test]
fn so_many_codes_a_day_and_no_more() {
    let events = [issued(1, 0), issued(2, 1), issued(3, 2), resent(3, 1, 62), resent(3, 2, 122)];
    given::<Verifications>(&events).when(issue(4, 200)).then_refused("TOO_MANY_CODES");
    given::<Verifications>(&events)
        .when(VerificationsCommand::Resend { id: id(3), at: at(200), policy: POLICY })
        .then_refused("TOO_MANY_CODES");
    // Another purpose has its own count, and tomorrow is another day.
    let mut other = new(4, 200);
    other.purpose = Purpose::Email;
    let event = VerificationsEvent::Issued(Box::new(other.clone().into_event()));
    given::<Verifications>(&events).when(VerificationsCommand::Issue(Box::new(other))).then(&[event]);
    given::<Verifications>(&events).when(issue(4, 12 * 3600)).then(&[issued(4, 12 * 3600)]);
}

#[test]
fn a_refusal_says_how_long_to_wait() {
    let mut state = Verifications::default();
    (0..5).for_each(|n| state.evolve(&issued(n, 0)));
    let refusal = state.decide(issue(9, 0)).unwrap_err();
    assert_eq!(refusal, VerificationsError::TooMany { allowed: 5, retry_after: 12 * 3600 + 1 });
}

#[test]
fn a_destination_is_never_printed() {
    let event = issued(1, 0);
    assert!(!format!("{event:?}").contains("+234"));
    assert_eq!(new(1, 0).into_event().destination, Personal::new("+2348031000101".into()));
}

#[test]
fn offers_of_devices_stand_beside_each_other_and_nothing_else_does() {
    let about = |n: u32, second: i64, purpose: Purpose, what: &str| {
        let new = NewVerification { purpose, bound_to: what.into(), ..new(n, second) };
        VerificationsEvent::Issued(Box::new(new.into_event()))
    };
    let offer = |n, second, what| about(n, second, Purpose::DeviceTransfer, what);
    let two = [offer(1, 0, "one"), offer(2, 1, "another")];
    for n in [1, 2] {
        given::<Verifications>(&two).when(guess(n, 10)).then(&[tried(n)]);
    }
    // The same one anew takes the place of the old one, and what is too old goes.
    let anew = [offer(1, 0, "one"), offer(2, 1, "one"), offer(3, 700, "another")];
    given::<Verifications>(&anew[..2]).when(guess(1, 10)).then_refused("NOT_FOUND");
    given::<Verifications>(&anew[..2]).when(guess(2, 10)).then(&[tried(2)]);
    given::<Verifications>(&anew).when(guess(2, 701)).then_refused("NOT_FOUND");
    let devices = [about(1, 0, Purpose::PinReset, "one"), about(2, 1, Purpose::PinReset, "another")];
    given::<Verifications>(&devices).when(guess(1, 10)).then_refused("NOT_FOUND");
}
