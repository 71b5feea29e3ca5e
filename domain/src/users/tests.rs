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
    UserEvent::Registered(Box::new(ada().into_event()))
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
fn a_pending_user_may_nothing() {
    let mut user = User::default();
    user.evolve(&registered());
    assert!(user.permissions().is_empty());
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
