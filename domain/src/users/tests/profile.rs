//! What a person says about themselves, and what of it counts.

use super::*;
use crate::kernel::VerificationId;

fn pending() -> Vec<UserEvent> {
    vec![registered()]
}

fn active() -> Vec<UserEvent> {
    vec![registered(), UserEvent::Activated]
}

fn verification(last: char) -> VerificationId {
    format!("ver_0192f0c1a0007000800000000000000{last}").parse().unwrap()
}

fn after(events: &[UserEvent]) -> User {
    let mut user = User::default();
    events.iter().for_each(|event| user.evolve(event));
    user
}

fn decided(before: &[UserEvent], command: ProfileCommand) -> Vec<UserEvent> {
    after(before).decide(UserCommand::Profile(command)).unwrap()
}

fn refused(before: &[UserEvent], command: ProfileCommand) -> &'static str {
    crate::Rejection::code(&after(before).decide(UserCommand::Profile(command)).unwrap_err())
}

/// Decides and lets it happen.
fn then(before: &[UserEvent], command: ProfileCommand) -> Vec<UserEvent> {
    [before, &decided(before, command)].concat()
}

fn update(change: impl FnOnce(&mut ProfileUpdate)) -> ProfileCommand {
    let mut update = ProfileUpdate::default();
    change(&mut update);
    ProfileCommand::Update(Box::new(update))
}

fn renamed(name: &str) -> ProfileCommand {
    update(|update| update.last_name = Some(name.to_owned()))
}

fn look_up(last: char) -> ProfileCommand {
    ProfileCommand::LookUpIdentity(Box::new(IdentityLookup {
        identity_type: IdentityType::Nin,
        country: "NG".into(),
        token: Personal::new("ab".into()),
        last_four: Personal::new("8901".into()),
        verification_id: verification(last),
    }))
}

fn verify(last: char) -> ProfileCommand {
    ProfileCommand::VerifyIdentity { verification_id: verification(last) }
}

fn name_of(user: &User) -> &str {
    user.person().unwrap().last_name.get().unwrap()
}

#[test]
fn whoever_is_not_known_yet_changes_their_name_at_once() {
    let after = after(&then(&pending(), renamed("Eze")));
    assert_eq!(name_of(&after), "Eze");
}

#[test]
fn the_name_of_whoever_is_verified_changes_when_the_new_one_is() {
    let waits = then(&active(), renamed("Eze"));
    assert_eq!(name_of(&after(&waits)), "Obi");
    assert_eq!(after(&waits).person().unwrap().names_to_verify().1.get().unwrap(), "Eze");
    let looked_up = then(&waits, look_up('1'));
    assert_eq!(name_of(&after(&looked_up)), "Obi");
    let verified = after(&then(&looked_up, verify('1')));
    assert_eq!(name_of(&verified), "Eze");
    assert!(verified.person().unwrap().profile.waiting.fields().is_empty());
}

#[test]
fn a_code_for_other_names_than_those_of_now_verifies_nobody() {
    let looked_up = then(&pending(), look_up('1'));
    assert_eq!(refused(&then(&looked_up, renamed("Eze")), verify('1')), "IDENTITY_CHANGED");
    assert_eq!(refused(&then(&looked_up, look_up('2')), verify('1')), "IDENTITY_CHANGED");
    assert_eq!(refused(&pending(), verify('1')), "IDENTITY_CHANGED");
    let verified = then(&looked_up, verify('1'));
    assert!(matches!(after(&verified), User::Active(person) if person.profile.is_phone_verified));
    assert_eq!(refused(&verified, verify('1')), "IDENTITY_CHANGED");
}

#[test]
fn what_is_so_already_is_no_news() {
    let same = update(|update| {
        update.first_name = Some("Ada".into());
        update.email = Some("ada@example.com".into());
        update.phone_number = Some("+2348030000001".into());
        update.preferences = Some(Preferences::default());
    });
    assert_eq!(decided(&active(), same), []);
}

#[test]
fn an_address_is_changed_field_by_field() {
    let lives = |change: fn(&mut PostalAddress)| {
        let mut address = PostalAddress::default();
        change(&mut address);
        update(|update| update.address = Some(address))
    };
    let marina = then(&pending(), lives(|address| address.street = Some("12 Marina".into())));
    let lagos = then(&marina, lives(|address| address.city = Some("Lagos".into())));
    let profile = after(&lagos).person().unwrap().profile.clone();
    let expected = PostalAddress {
        street: Some("12 Marina".into()),
        city: Some("Lagos".into()),
        ..PostalAddress::default()
    };
    assert_eq!(profile.address.unwrap().get(), Some(&expected));
    assert_eq!(decided(&lagos, lives(|address| address.city = Some("Lagos".into()))), []);
}

#[test]
fn a_mailbox_counts_once_it_is_proven() {
    let moves = |email: &str| update(|update| update.email = Some(email.to_owned()));
    let proves = |email: &str| ProfileCommand::ConfirmEmail { email: email.to_owned() };
    let waits = then(&active(), moves("ada.obi@example.com"));
    let email = |events: &[UserEvent]| after(events).person().unwrap().email.get().unwrap().clone();
    assert_eq!(email(&waits), "ada@example.com");
    assert_eq!(email(&then(&waits, proves("ada.obi@example.com"))), "ada.obi@example.com");
    // Proving the old one does not bring the new one.
    assert_eq!(email(&then(&waits, proves("ada@example.com"))), "ada@example.com");
    let again = then(&waits, moves("other@example.com"));
    assert_eq!(refused(&again, proves("ada.obi@example.com")), "CONTACT_CHANGED");
    assert_eq!(refused(&active(), proves("ada.obi@example.com")), "CONTACT_CHANGED");
}

#[test]
fn a_new_phone_takes_a_lookup_along() {
    let moves = update(|update| update.phone_number = Some("+2348030000009".into()));
    let waits = then(&then(&pending(), moves), look_up('1'));
    let moved = then(&waits, ProfileCommand::ConfirmPhone { phone_number: "+2348030000009".into() });
    let person = after(&moved).person().unwrap().clone();
    assert_eq!(person.phone_number.get().unwrap(), "+2348030000009");
    assert!(person.profile.is_phone_verified);
    assert_eq!(refused(&moved, verify('1')), "IDENTITY_CHANGED");
}

#[test]
fn onboarding_changes_neither_names_nor_contact_data() {
    let said = ProfileUpdate {
        first_name: Some("Eve".into()),
        last_name: Some("Thief".into()),
        email: Some("eve@example.com".into()),
        phone_number: Some("+2348030000666".into()),
        address: Some(PostalAddress { city: Some("Lagos".into()), ..PostalAddress::default() }),
        preferences: None,
    };
    let onboard =
        || ProfileCommand::Onboard { account_number: "1000000008".into(), update: Box::new(said.clone()) };
    let User::Active(person) = after(&then(&pending(), onboard())) else { panic!("not active") };
    assert_eq!(name_of(&after(&pending())), person.last_name.get().unwrap());
    assert_eq!(person.email.get().unwrap(), "ada@example.com");
    assert!(person.profile.waiting.fields().is_empty());
    assert!(person.profile.address.is_some() && !person.profile.is_phone_verified);
    given::<User>(&[]).when(UserCommand::Profile(onboard())).then_refused("NOT_FOUND");
}

#[test]
fn a_profile_command_never_prints_what_it_holds() {
    assert_eq!(format!("{:?}", UserCommand::Profile(renamed("Secret"))), "Update");
}
