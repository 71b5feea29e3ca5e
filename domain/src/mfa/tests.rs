use super::*;
use crate::aggregate::given::given;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn id(last: char) -> EnrolmentId {
    format!("enr_0192f0c1a0007000800000000000000{last}").parse().unwrap()
}

fn session(n: usize) -> SessionId {
    format!("ses_0192f0c1a000700080000000000000{n:02}").parse().unwrap()
}

fn tried(session_: usize, seconds: i64) -> MfaEvent {
    MfaEvent::Tried { session: session(session_), at: at(seconds) }
}

fn try_it(session_: usize, seconds: i64) -> MfaCommand {
    MfaCommand::Try { session: session(session_), at: at(seconds) }
}

fn passed(step: Option<i64>) -> Passed {
    Passed { step, device: "phone".into() }
}

fn enrolled() -> Vec<MfaEvent> {
    vec![MfaEvent::TotpEnrolled { id: id('a') }, MfaEvent::TotpConfirmed { id: id('a'), step: 10 }]
}

#[test]
fn an_app_counts_once_it_has_shown_a_code() {
    let confirm = |id_| MfaCommand::ConfirmTotp { id: id(id_), step: 10 };
    let enrol = |id_| MfaCommand::EnrolTotp { id: id(id_) };
    given::<Mfa>(&[]).when(enrol('a')).then(&enrolled()[..1]);
    given::<Mfa>(&enrolled()[..1]).when(confirm('a')).then(&enrolled()[1..]);
    // The newest secret is the only one.
    let newer = [enrolled()[0].clone(), MfaEvent::TotpEnrolled { id: id('b') }];
    given::<Mfa>(&newer).when(confirm('a')).then_refused("INVALID_STATE");
    given::<Mfa>(&enrolled()).when(confirm('a')).then_refused("INVALID_STATE");
    given::<Mfa>(&enrolled()).when(enrol('b')).then_refused("INVALID_STATE");
    let mut mfa = Mfa::default();
    mfa.evolve(&enrolled()[0]);
    assert!(!mfa.is_required());
    mfa.evolve(&enrolled()[1]);
    assert!(mfa.is_required());
}

#[test]
fn a_code_of_an_app_is_good_once() {
    let pass = |step| MfaCommand::Pass(passed(Some(step)));
    given::<Mfa>(&enrolled()).when(pass(10)).then_refused("INVALID_CODE");
    given::<Mfa>(&enrolled()).when(pass(11)).then(&[MfaEvent::Passed(passed(Some(11)))]);
    let log = [enrolled(), vec![MfaEvent::Passed(passed(Some(12)))]].concat();
    given::<Mfa>(&log).when(pass(11)).then_refused("INVALID_CODE");
    given::<Mfa>(&log).when(pass(12)).then_refused("INVALID_CODE");
    given::<Mfa>(&log).when(MfaCommand::RemoveTotp { step: 12 }).then_refused("INVALID_CODE");
    given::<Mfa>(&log).when(MfaCommand::RemoveTotp { step: 13 }).then(&[MfaEvent::TotpRemoved]);
    given::<Mfa>(&[]).when(MfaCommand::RemoveTotp { step: 13 }).then_refused("INVALID_STATE");
}

#[test]
fn there_are_five_tries_in_a_session_and_twenty_in_a_day() {
    let five: Vec<_> = (0..5).map(|n| tried(1, n)).collect();
    given::<Mfa>(&five[..4]).when(try_it(1, 4)).then(&five[4..]);
    given::<Mfa>(&five).when(try_it(1, 5)).then_refused("TRIES_EXHAUSTED");
    given::<Mfa>(&five).when(try_it(2, 5)).then(&[tried(2, 5)]);
    let twenty: Vec<_> = (0..20).map(|n| tried(n / 5, i64::try_from(n).unwrap())).collect();
    given::<Mfa>(&twenty).when(try_it(9, 20)).then_refused("TOO_MANY_TRIES");
    given::<Mfa>(&twenty).when(try_it(9, 86_400)).then(&[tried(9, 86_400)]);
    // A right one forgives the wrong ones.
    let right = [twenty, vec![MfaEvent::Passed(passed(None))]].concat();
    given::<Mfa>(&right).when(try_it(9, 20)).then(&[tried(9, 20)]);
}

#[test]
fn short_messages_are_asked_for_or_not() {
    given::<Mfa>(&[]).when(MfaCommand::EnrolSms).then(&[MfaEvent::SmsEnrolled]);
    given::<Mfa>(&[MfaEvent::SmsEnrolled]).when(MfaCommand::EnrolSms).then_refused("INVALID_STATE");
    given::<Mfa>(&[MfaEvent::SmsEnrolled]).when(MfaCommand::RemoveSms).then(&[MfaEvent::SmsRemoved]);
    given::<Mfa>(&[]).when(MfaCommand::RemoveSms).then_refused("INVALID_STATE");
}

#[test]
fn a_device_that_was_let_in_is_known_until_many_others_were() {
    let mut mfa = Mfa::default();
    mfa.evolve(&MfaEvent::Passed(passed(None)));
    assert!(mfa.knows("phone") && !mfa.knows("laptop"));
    for n in 0..DEVICES {
        mfa.evolve(&MfaEvent::Passed(Passed { step: None, device: n.to_string() }));
    }
    assert!(!mfa.knows("phone") && mfa.knows("0"));
}
