mod profile;

use super::*;
use crate::aggregate::given::given;

fn ada() -> RegisterUser {
    RegisterUser {
        first_name: "Ada".into(),
        last_name: "Obi".into(),
        email: "ada@example.com".into(),
        phone_number: "+2348030000001".into(),
        date_of_birth: jiff::civil::date(1990, 5, 17),
        country_code: "NG".into(),
        preferred_language: None,
    }
}

fn registered() -> UserEvent {
    UserEvent::Registered(Box::new(ada().into_event(None)))
}

fn grant(permission: Permission) -> UserCommand {
    UserCommand::Grant { permissions: BTreeSet::from([permission]) }
}

#[test]
fn a_user_registers_once() {
    let register = UserCommand::Register(Box::new(ada()));
    given::<User>(&[]).when(register.clone()).then(&[registered()]);
    given::<User>(&[registered()]).when(register).then_refused("INVALID_STATE");
}

#[test]
fn a_pending_user_may_only_prove_who_they_are() {
    let mut user = User::default();
    assert!(user.permissions().is_empty());
    user.evolve(&registered());
    assert_eq!(user.permissions(), [Permission::ManageProfile]);
    user.evolve(&UserEvent::Activated);
    assert_eq!(user.permissions(), Permission::CUSTOMER);
}

#[test]
fn activation_happens_once() {
    given::<User>(&[registered()]).when(UserCommand::Activate).then(&[UserEvent::Activated]);
    given::<User>(&[registered(), UserEvent::Activated])
        .when(UserCommand::Activate)
        .then_refused("INVALID_STATE");
    given::<User>(&[]).when(UserCommand::Activate).then_refused("NOT_FOUND");
}

#[test]
fn what_was_granted_before_is_not_news() {
    let active = [registered(), UserEvent::Activated];
    let granted = UserEvent::PermissionsGranted { permissions: BTreeSet::from([Permission::AccountOps]) };
    given::<User>(&active).when(grant(Permission::AccountOps)).then(std::slice::from_ref(&granted));
    given::<User>(&[active[0].clone(), active[1].clone(), granted])
        .when(grant(Permission::AccountOps))
        .then(&[]);
    given::<User>(&[registered()]).when(grant(Permission::AccountOps)).then_refused("INVALID_STATE");
}

#[test]
fn a_command_never_prints_its_secrets() {
    let command = UserCommand::SetPassword { hash: "$argon2id$secret".into() };
    assert_eq!(format!("{command:?}"), "SetPassword");
}

fn staff(last: char) -> crate::kernel::UserId {
    format!("usr_0192f0c1a0007000800000000000000{last}").parse().unwrap()
}

fn erase(by: char) -> UserCommand {
    let accounts = vec!["1000000008".into()];
    UserCommand::Erase(Box::new(EraseUser { by: staff(by), reason: "They asked".into(), accounts }))
}

fn requested() -> UserEvent {
    UserEvent::ErasureRequested { by: staff('1'), reason: "They asked".into() }
}

fn erased() -> UserEvent {
    UserEvent::Erased(Box::new(Erased {
        requested_by: staff('1'),
        approved_by: staff('2'),
        reason: "They asked".into(),
        accounts: vec!["1000000008".into()],
        settled: true,
    }))
}

#[test]
fn an_erasure_takes_two() {
    given::<User>(&[registered()]).when(erase('1')).then(&[requested()]);
    given::<User>(&[registered(), requested()]).when(erase('1')).then_refused("APPROVER_IS_MAKER");
    given::<User>(&[registered(), UserEvent::Activated, requested()]).when(erase('2')).then(&[erased()]);
    given::<User>(&[]).when(erase('1')).then_refused("NOT_FOUND");
}

#[test]
fn nothing_is_left_of_whoever_was_erased() {
    let mut user = User::default();
    [registered(), UserEvent::Activated, requested(), erased()].iter().for_each(|event| user.evolve(event));
    assert_eq!(user, User::Erased);
    assert!(user.permissions().is_empty() && user.person().is_none());
    let before = [registered(), requested(), erased()];
    for command in [
        erase('2'),
        UserCommand::Activate,
        UserCommand::Register(Box::new(ada())),
        UserCommand::SetPassword { hash: "$argon2id$".into() },
        grant(Permission::AccountOps),
    ] {
        given::<User>(&before).when(command).then_refused("INVALID_STATE");
    }
}

fn session(last: char) -> SessionId {
    format!("ses_0192f0c1a0007000800000000000000{last}").parse().unwrap()
}

fn ended(except: Option<char>) -> UserEvent {
    let reason = SessionsEndReason::PasswordChanged;
    UserEvent::SessionsEnded(SessionsEnded { reason, except: except.map(session), sessions: 3 })
}

fn end_sessions(seen: u32) -> UserCommand {
    let UserEvent::SessionsEnded(ended) = ended(None) else { panic!() };
    UserCommand::EndSessions { seen, ended }
}

#[test]
fn what_was_revoked_is_gone_and_so_are_the_sessions_that_had_it() {
    let granted = UserEvent::PermissionsGranted { permissions: BTreeSet::from([Permission::AccountOps]) };
    let revoke = |permission| UserCommand::Revoke { permissions: BTreeSet::from([permission]), sessions: 2 };
    let log = [registered(), UserEvent::Activated, granted];
    let reason = SessionsEndReason::PermissionsRevoked;
    given::<User>(&log).when(revoke(Permission::AccountOps)).then(&[
        UserEvent::PermissionsRevoked { permissions: BTreeSet::from([Permission::AccountOps]) },
        UserEvent::SessionsEnded(SessionsEnded { reason, except: None, sessions: 2 }),
    ]);
    given::<User>(&log).when(revoke(Permission::CardOps)).then(&[]);
    // A customer's own are not staff's to give or take.
    given::<User>(&log).when(revoke(Permission::ReadAccount)).then(&[]);
    given::<User>(&[]).when(revoke(Permission::AccountOps)).then_refused("NOT_FOUND");
}

#[test]
fn a_new_epoch_ends_every_session_but_the_one_that_is_kept() {
    let admit = |session, epoch| UserCommand::Admit { session, epoch };
    let log = [registered(), UserEvent::Activated, ended(Some('a'))];
    given::<User>(&log[..2]).when(admit(Some(session('a')), 0)).then(&[]);
    given::<User>(&log).when(admit(Some(session('a')), 0)).then(&[]);
    given::<User>(&log).when(admit(Some(session('b')), 0)).then_refused("NOT_ADMITTED");
    given::<User>(&log).when(admit(None, 0)).then_refused("NOT_ADMITTED");
    given::<User>(&log).when(admit(None, 1)).then(&[]);
    // Whoever was kept once is not kept for ever.
    let again = [log[0].clone(), log[1].clone(), log[2].clone(), ended(None)];
    given::<User>(&again).when(admit(Some(session('a')), 0)).then_refused("NOT_ADMITTED");
    given::<User>(&[]).when(admit(None, 0)).then_refused("NOT_ADMITTED");
}

#[test]
fn of_two_who_end_sessions_at_once_the_second_must_look_again() {
    given::<User>(&[registered()]).when(end_sessions(0)).then(&[ended(None)]);
    given::<User>(&[registered(), ended(None)]).when(end_sessions(0)).then_refused("OVERTAKEN");
    given::<User>(&[]).when(end_sessions(0)).then_refused("NOT_FOUND");
}
