use jiff::Timestamp;

use super::samples::*;
use super::*;
use crate::aggregate::given::given;
use crate::aggregate::{AggregateEvent as _, Due, When};

fn active() -> Vec<DevicesEvent> {
    vec![seen(), DevicesEvent::Activated(change(None))]
}

fn with(more: &[DevicesEvent]) -> Vec<DevicesEvent> {
    active().into_iter().chain(more.iter().cloned()).collect()
}

fn certified() -> Vec<DevicesEvent> {
    with(&[
        DevicesEvent::CertificateRequested(Box::new(request())),
        DevicesEvent::CertificateIssued(Box::new(certificate(1))),
    ])
}

fn rotating() -> Vec<DevicesEvent> {
    let mut events = certified();
    events.push(DevicesEvent::RotationStarted(Box::new(rotation())));
    events
}

fn state(events: &[DevicesEvent]) -> Devices {
    let mut devices = Devices::default();
    events.iter().for_each(|event| devices.evolve(event));
    devices
}

fn moved(action: DeviceAction, by: Mover) -> DevicesCommand {
    DevicesCommand::Move { device_id: PHONE.into(), action, reason: None, by }
}

fn set_pin(grounds: PinGrounds, seen: u32) -> DevicesCommand {
    let hash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA".into();
    DevicesCommand::SetPin { device_id: PHONE.into(), hash, grounds, seen }
}

fn rotate(number: u8, old: u8, force: bool, at: Timestamp) -> DevicesCommand {
    DevicesCommand::Rotate(Box::new(NewRotation {
        id: rotation().id,
        certificate: certificate(number),
        content: request().content,
        key_kind: KeyKind::Ec,
        old: certificate(old).id,
        old_until: tomorrow(),
        force,
        at,
    }))
}

#[test]
fn a_device_appears_with_a_login_and_again_only_when_it_has_changed() {
    let DevicesEvent::Seen(as_seen) = seen() else { panic!() };
    let see =
        |description: Description| DevicesCommand::See { device_id: PHONE.into(), description, at: at() };
    given::<Devices>(&[]).when(see(as_seen.description.clone())).then(&[seen()]);
    given::<Devices>(&[seen()]).when(see(as_seen.description.clone())).then(&[]);
    let newer = Description { app_version: Some("2.2".into()), ..as_seen.description.clone() };
    let again = DevicesEvent::Seen(Seen { description: newer.clone(), ..as_seen });
    given::<Devices>(&active()).when(see(newer)).then(std::slice::from_ref(&again));
    assert_eq!(state(&with(&[again])).get(PHONE).unwrap().status, DeviceStatus::Active);
}

#[test]
fn a_person_has_so_many_devices_and_no_more() {
    let login = |n: usize| {
        DevicesEvent::Seen(Seen {
            device_id: format!("device-{n}"),
            description: Description::default(),
            at: at(),
        })
    };
    let many: Vec<_> = (0..MOST).map(login).collect();
    let see = DevicesCommand::See { device_id: PHONE.into(), description: Description::default(), at: at() };
    given::<Devices>(&many[1..]).when(see.clone()).then(&[DevicesEvent::Seen(Seen {
        device_id: PHONE.into(),
        description: Description::default(),
        at: at(),
    })]);
    given::<Devices>(&many).when(see).then(&[]);
}

/// Every state, every action, the owner and staff.
#[test]
fn only_the_moves_of_the_table_are_made() {
    use DeviceAction::{Activate, Block, Deactivate, Revoke};
    use Mover::{Owner, Staff};
    let (plain, blocked) = (vec![seen()], DevicesEvent::Blocked(change(None)));
    let inactive = with(&[DevicesEvent::Deactivated(change(None))]);
    let revoked = with(&[DevicesEvent::Revoked(change(None))]);
    let states = [plain, active(), inactive, with(&[blocked]), revoked];
    // PENDING, ACTIVE, INACTIVE, BLOCKED, REVOKED
    for (action, by, allowed) in [
        (Activate, Owner, [true, false, true, false, false]),
        (Activate, Staff, [true, false, true, true, false]),
        (Deactivate, Owner, [false, true, false, false, false]),
        (Deactivate, Staff, [false, true, false, false, false]),
        (Block, Owner, [true, true, true, false, false]),
        (Block, Staff, [true, true, true, false, false]),
        (Revoke, Owner, [false; 5]),
        (Revoke, Staff, [true, true, true, true, false]),
    ] {
        for (events, allowed) in states.iter().zip(allowed) {
            let command = moved(action, by);
            match state(events).decide(command) {
                Ok(made) => assert!(allowed && made.len() == 1, "{action} {by:?} {made:?}"),
                Err(refused) => {
                    assert!(!allowed, "{action} {by:?} {refused}");
                    assert_eq!(crate::Rejection::code(&refused), "INVALID_STATE");
                }
            }
        }
    }
    given::<Devices>(&[]).when(moved(Activate, Owner)).then_refused("NOT_FOUND");
}

#[test]
fn nothing_but_an_active_device_gets_certificates_pins_and_owners() {
    let stopped = [
        vec![seen()],
        with(&[DevicesEvent::Deactivated(change(None))]),
        with(&[DevicesEvent::Blocked(change(None))]),
        with(&[DevicesEvent::Revoked(change(None))]),
    ];
    for events in &stopped {
        for command in [
            DevicesCommand::Request(Box::new(request())),
            set_pin(PinGrounds::First, 0),
            DevicesCommand::TryPin { device_id: PHONE.into() },
            DevicesCommand::RequestTransfer(Box::new(transfer())),
            rotate(2, 1, false, at()),
        ] {
            given::<Devices>(events).when(command).then_refused("INVALID_STATE");
        }
    }
    let stopped = with(&[
        DevicesEvent::CertificateRequested(Box::new(request())),
        DevicesEvent::Deactivated(change(None)),
    ]);
    given::<Devices>(&stopped)
        .when(DevicesCommand::Certify(Box::new(certificate(1))))
        .then_refused("INVALID_STATE");
}

#[test]
fn a_request_is_signed_once_and_only_the_newest() {
    let requested = DevicesEvent::CertificateRequested(Box::new(request()));
    let certify = || DevicesCommand::Certify(Box::new(certificate(1)));
    given::<Devices>(&active())
        .when(DevicesCommand::Request(Box::new(request())))
        .then(std::slice::from_ref(&requested));
    given::<Devices>(&active()).when(certify()).then_refused("NOT_FOUND");
    given::<Devices>(&with(std::slice::from_ref(&requested)))
        .when(certify())
        .then(&[DevicesEvent::CertificateIssued(Box::new(certificate(1)))]);
    given::<Devices>(&certified()).when(certify()).then_refused("INVALID_STATE");
    let newer = SigningRequest { id: "csr_0192f0c1a00070008000000000000002".parse().unwrap(), ..request() };
    let events = with(&[requested, DevicesEvent::CertificateRequested(Box::new(newer))]);
    assert_eq!(state(&events).request(request().id).unwrap().1.status, RequestStatus::Rejected);
    given::<Devices>(&events).when(certify()).then_refused("INVALID_STATE");
}

#[test]
fn a_second_certificate_revokes_the_first() {
    let newer = SigningRequest { id: "csr_0192f0c1a00070008000000000000002".parse().unwrap(), ..request() };
    let mut events = certified();
    events.push(DevicesEvent::CertificateRequested(Box::new(newer.clone())));
    let second = Certificate { request_id: newer.id, ..certificate(2) };
    given::<Devices>(&events).when(DevicesCommand::Certify(Box::new(second.clone()))).then(&[
        DevicesEvent::CertificateIssued(Box::new(Certificate { revokes: vec![certificate(1).id], ..second })),
    ]);
}

#[test]
fn a_certificate_is_good_from_its_first_second_to_its_last() {
    let proves = |events: &[DevicesEvent], number: u8, at: Timestamp| {
        state(events).get(PHONE).unwrap().has_certificate(&certificate(number).fingerprint, at)
    };
    assert!(proves(&certified(), 1, at()));
    assert!(!proves(&certified(), 2, at()));
    assert!(!proves(&certified(), 1, certificate(1).valid_to));
    let second = Timestamp::from_second(at().as_second() - 1).unwrap();
    assert!(!proves(&certified(), 1, second));
    let status = |events: &[DevicesEvent], at| state(events).get(PHONE).unwrap().certificate_status(at);
    assert_eq!(status(&active(), at()), CertificateStatus::None);
    assert_eq!(status(&certified(), at()), CertificateStatus::Valid);
    assert_eq!(status(&certified(), certificate(1).valid_to), CertificateStatus::Expired);
    for stop in [DevicesEvent::Deactivated(change(None)), DevicesEvent::Blocked(change(None))] {
        let mut events = certified();
        events.push(stop);
        assert_eq!(status(&events, at()), CertificateStatus::Valid);
    }
    let revoked = Change { revokes: vec![certificate(1).id], ..change(None) };
    given::<Devices>(&certified())
        .when(moved(DeviceAction::Revoke, Mover::Staff))
        .then(&[DevicesEvent::Revoked(revoked.clone())]);
    let mut events = certified();
    events.push(DevicesEvent::Revoked(revoked));
    assert_eq!(status(&events, at()), CertificateStatus::Revoked);
}

#[test]
fn a_rotation_leaves_the_old_certificate_a_day_and_no_more() {
    let started = DevicesEvent::RotationStarted(Box::new(rotation()));
    given::<Devices>(&certified()).when(rotate(2, 1, false, at())).then(std::slice::from_ref(&started));
    assert_eq!(started.dues(), [Due { task: FINISH_ROTATIONS, when: When::At(tomorrow()) }]);
    let proves = |number: u8, at: Timestamp| {
        state(&rotating()).get(PHONE).unwrap().has_certificate(&certificate(number).fingerprint, at)
    };
    let before = Timestamp::from_second(tomorrow().as_second() - 1).unwrap();
    assert!(proves(1, before) && proves(2, before));
    // By the clock, whether or not the process has come by.
    assert!(!proves(1, tomorrow()) && proves(2, tomorrow()));
    let finish = |at| DevicesCommand::FinishRotations { at };
    given::<Devices>(&rotating()).when(finish(before)).then(&[]);
    let completed = DevicesEvent::RotationCompleted(rotation_end());
    given::<Devices>(&rotating()).when(finish(tomorrow())).then(std::slice::from_ref(&completed));
    let mut events = rotating();
    events.push(completed);
    given::<Devices>(&events).when(finish(tomorrow())).then(&[]);
}

#[test]
fn a_rotation_under_way_is_cut_short_only_by_force() {
    given::<Devices>(&rotating()).when(rotate(3, 2, false, at())).then_refused("INVALID_STATE");
    let forced = Rotation {
        old: certificate(2).id,
        new: Certificate { revokes: vec![certificate(1).id], ..certificate(3) },
        ..rotation()
    };
    given::<Devices>(&rotating())
        .when(rotate(3, 2, true, at()))
        .then(&[DevicesEvent::RotationStarted(Box::new(forced))]);
    given::<Devices>(&rotating()).when(rotate(3, 1, true, at())).then_refused("OVERTAKEN");
    given::<Devices>(&active()).when(rotate(2, 1, false, at())).then_refused("INVALID_STATE");
    let over = certificate(1).valid_to;
    given::<Devices>(&certified()).when(rotate(2, 1, false, over)).then_refused("INVALID_STATE");
}

#[test]
fn a_rotation_whose_new_certificate_is_revoked_fails() {
    let mut events = rotating();
    events.push(DevicesEvent::Revoked(Change {
        revokes: vec![certificate(2).id, certificate(1).id],
        ..change(None)
    }));
    given::<Devices>(&events)
        .when(DevicesCommand::FinishRotations { at: tomorrow() })
        .then(&[DevicesEvent::RotationFailed(RotationEnd { revokes: Vec::new(), ..rotation_end() })]);
}

#[test]
fn a_pin_is_guessed_five_times() {
    let tried = DevicesEvent::PinTried { device_id: PHONE.into() };
    let guess = || DevicesCommand::TryPin { device_id: PHONE.into() };
    given::<Devices>(&active()).when(guess()).then_refused("NO_PIN");
    let mut events = with(&[pin_set(PinGrounds::First)]);
    for _ in 0..TRIES {
        given::<Devices>(&events).when(guess()).then(std::slice::from_ref(&tried));
        events.push(tried.clone());
    }
    given::<Devices>(&events).when(guess()).then_refused("PIN_LOCKED");
    // The fifth guess may have been right.
    given::<Devices>(&events).when(set_pin(PinGrounds::Known, 0)).then(&[pin_set(PinGrounds::Known)]);
    events.push(pin_set(PinGrounds::Code));
    given::<Devices>(&events).when(guess()).then(&[tried]);
    // But not against the PIN that has come since.
    given::<Devices>(&events).when(set_pin(PinGrounds::Known, 0)).then_refused("OVERTAKEN");
    given::<Devices>(&events).when(set_pin(PinGrounds::Known, 1)).then(&[pin_set(PinGrounds::Known)]);
}

#[test]
fn a_first_pin_is_set_once() {
    given::<Devices>(&active()).when(set_pin(PinGrounds::First, 0)).then(&[pin_set(PinGrounds::First)]);
    let events = with(&[pin_set(PinGrounds::First)]);
    given::<Devices>(&events).when(set_pin(PinGrounds::First, 0)).then_refused("PIN_EXISTS");
    given::<Devices>(&active()).when(set_pin(PinGrounds::Code, 0)).then_refused("NO_PIN");
    given::<Devices>(&[]).when(set_pin(PinGrounds::First, 0)).then_refused("NOT_FOUND");
}

#[test]
fn a_device_is_given_away_in_time_and_takes_nothing_along() {
    let requested = DevicesEvent::TransferRequested(Box::new(transfer()));
    let release = |at: &str| DevicesCommand::Release { transfer_id: transfer().id, at: at.parse().unwrap() };
    let mut events = certified();
    given::<Devices>(&events).when(release("2026-11-01T13:00:00Z")).then_refused("NOT_FOUND");
    events.push(requested);
    given::<Devices>(&events).when(release("2026-11-01T11:59:59Z")).then_refused("NOT_YET_EFFECTIVE");
    given::<Devices>(&events).when(release("2026-11-04T09:30:00Z")).then_refused("INVALID_STATE");
    let released = DevicesEvent::Released(Released {
        device_id: PHONE.into(),
        transfer_id: transfer().id,
        new_owner: bola(),
        revokes: vec![certificate(1).id],
    });
    given::<Devices>(&events).when(release("2026-11-01T12:00:00Z")).then(std::slice::from_ref(&released));
    let mut blocked = events.clone();
    blocked.push(DevicesEvent::Blocked(change(None)));
    given::<Devices>(&blocked).when(release("2026-11-01T13:00:00Z")).then_refused("INVALID_STATE");
    events.push(released);
    given::<Devices>(&events).when(release("2026-11-01T13:00:00Z")).then_refused("NOT_FOUND");
    assert!(state(&events).get(PHONE).is_none());
    let own = Transfer { new_owner: ada(), ..transfer() };
    given::<Devices>(&active())
        .when(DevicesCommand::RequestTransfer(Box::new(own)))
        .then_refused("OWN_DEVICE");
}

#[test]
fn whoever_shall_have_it_receives_it_once_and_keeps_what_they_have() {
    let receive = || DevicesCommand::Receive {
        transfer_id: transfer().id,
        description: Description::default(),
        at: at(),
    };
    let offered = DevicesEvent::Offered(Box::new(offer()));
    given::<Devices>(&[]).when(receive()).then_refused("NOT_FOUND");
    let received = DevicesEvent::Received(Box::new(Received {
        device_id: PHONE.into(),
        transfer_id: transfer().id,
        from: ada(),
        description: Description::default(),
        at: at(),
    }));
    given::<Devices>(std::slice::from_ref(&offered)).when(receive()).then(std::slice::from_ref(&received));
    // They have logged in from it: nothing is lost.
    given::<Devices>(&[offered.clone(), seen()]).when(receive()).then(std::slice::from_ref(&received));
    given::<Devices>(&with(std::slice::from_ref(&offered))).when(receive()).then_refused("DEVICE_EXISTS");
    given::<Devices>(&[offered, received]).when(receive()).then_refused("NOT_FOUND");
}
