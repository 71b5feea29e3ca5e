use jiff::Timestamp;

use super::*;
use crate::aggregate::given::given;
use crate::kernel::Permission;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn issued(generation: u32, hash: &str, seconds: i64) -> Issued {
    Issued {
        generation,
        jti: format!("jti-{generation}"),
        refresh_hash: hash.into(),
        issued_at: at(seconds),
        refresh_expires_at: at(seconds + 1000),
    }
}

fn started() -> SessionEvent {
    SessionEvent::Started(Box::new(Started {
        user_id: "usr_0192f0c1a0007000800000000000000a".parse().unwrap(),
        device_id: "phone".into(),
        permissions: Permission::CUSTOMER.to_vec(),
        first: issued(0, "h0", 0),
        absolute_expires_at: at(2000),
        refresh_seconds: 1000,
        epoch: 0,
        awaits: None,
    }))
}

fn half_open() -> SessionEvent {
    let SessionEvent::Started(mut started) = started() else { panic!() };
    started.awaits = Some(SecondFactor { expires_at: at(300), remember_me: false });
    SessionEvent::Started(started)
}

fn refresh(presented: &str, device: &str, seconds: i64) -> SessionCommand {
    SessionCommand::Refresh(Box::new(Refresh {
        presented_hash: presented.into(),
        device_id: device.into(),
        successor_hash: "next".into(),
        jti: "jti-next".into(),
        at: at(seconds),
        expires_at: at(seconds + 1000),
    }))
}

fn ended(reason: EndReason) -> SessionEvent {
    SessionEvent::Ended { reason }
}

fn next(generation: u32, seconds: i64) -> Issued {
    Issued { jti: "jti-next".into(), ..issued(generation, "next", seconds) }
}

#[test]
fn a_refresh_token_is_exchanged_for_the_next() {
    given::<Session>(&[started()])
        .when(refresh("h0", "phone", 10))
        .then(&[SessionEvent::Refreshed(next(1, 10))]);
}

#[test]
fn a_lost_answer_is_given_again_within_a_minute() {
    let refreshed = SessionEvent::Refreshed(issued(1, "h1", 10));
    let again = Issued { jti: "jti-next".into(), ..issued(1, "h1", 10) };
    given::<Session>(&[started(), refreshed.clone()])
        .when(refresh("h0", "phone", 70))
        .then(&[SessionEvent::Reissued(again)]);
    given::<Session>(&[started(), refreshed])
        .when(refresh("h0", "phone", 71))
        .then(&[ended(EndReason::TokenReused)]);
}

#[test]
fn a_token_two_generations_old_ends_the_family() {
    let log = [
        started(),
        SessionEvent::Refreshed(issued(1, "h1", 10)),
        SessionEvent::Refreshed(issued(2, "h2", 20)),
    ];
    given::<Session>(&log).when(refresh("h0", "phone", 21)).then(&[ended(EndReason::TokenReused)]);
}

#[test]
fn a_token_from_another_device_ends_the_family() {
    given::<Session>(&[started()]).when(refresh("h0", "laptop", 1)).then(&[ended(EndReason::ForeignDevice)]);
    let refreshed = SessionEvent::Refreshed(issued(1, "h1", 10));
    given::<Session>(&[started(), refreshed])
        .when(refresh("h0", "laptop", 11))
        .then(&[ended(EndReason::TokenReused)]);
}

#[test]
fn nothing_refreshes_an_expired_or_ended_session() {
    given::<Session>(&[started()]).when(refresh("h0", "phone", 1000)).then_refused("INVALID_TOKEN");
    given::<Session>(&[started(), ended(EndReason::Revoked)])
        .when(refresh("h0", "phone", 1))
        .then_refused("INVALID_TOKEN");
    given::<Session>(&[]).when(refresh("h0", "phone", 1)).then_refused("INVALID_TOKEN");
}

#[test]
fn no_refresh_reaches_beyond_the_absolute_end() {
    let log = [started(), SessionEvent::Refreshed(issued(1, "h1", 900))];
    let last = Issued { refresh_expires_at: at(2000), ..next(2, 1500) };
    given::<Session>(&log).when(refresh("h1", "phone", 1500)).then(&[SessionEvent::Refreshed(last)]);
}

#[test]
fn ending_twice_is_ending_once() {
    let end = SessionCommand::End { reason: EndReason::Revoked };
    given::<Session>(&[started()]).when(end.clone()).then(&[ended(EndReason::Revoked)]);
    given::<Session>(&[started(), ended(EndReason::Revoked)]).when(end.clone()).then(&[]);
    given::<Session>(&[]).when(end).then_refused("INVALID_TOKEN");
}

#[test]
fn a_second_factor_is_given_once_and_in_time() {
    let complete = |seconds| SessionCommand::Complete { at: at(seconds) };
    given::<Session>(&[half_open()]).when(complete(299)).then(&[ended(EndReason::Completed)]);
    given::<Session>(&[half_open()]).when(complete(300)).then_refused("INVALID_TOKEN");
    given::<Session>(&[half_open(), ended(EndReason::Completed)])
        .when(complete(1))
        .then_refused("INVALID_TOKEN");
    given::<Session>(&[started()]).when(complete(1)).then_refused("INVALID_TOKEN");
    given::<Session>(&[]).when(complete(1)).then_refused("INVALID_TOKEN");
}

#[test]
fn what_waits_for_a_second_factor_cannot_be_refreshed() {
    given::<Session>(&[half_open()]).when(refresh("h0", "phone", 1)).then_refused("INVALID_TOKEN");
}
