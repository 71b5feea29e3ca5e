use std::sync::LazyLock;

use jiff::civil::date;

use super::*;
use crate::aggregate::given::given;
use crate::kernel::time::tests::sources;
use crate::kernel::{ContactId, EmploymentId, KinId, Personal, Sources};

static SOURCES: LazyLock<Sources> = LazyLock::new(sources);
const TODAY: Date = date(2026, 11, 21);

fn text(text: &str) -> Personal<String> {
    Personal::new(text.to_owned())
}

fn kin(name: &str, is_primary: bool) -> Kin {
    Kin {
        relationship: "SIBLING".to_owned(),
        first_name: text(name),
        last_name: text("Okafor"),
        phone_number: text("+2348030000002"),
        email: None,
        address: None,
        is_primary,
        date_of_birth: None,
        nationality: None,
    }
}

fn address(address_type: AddressType, street: &str) -> Address {
    Address {
        address_type,
        street_address: text(street),
        city: text("Lagos"),
        state: None,
        postal_code: None,
        country: text("Nigeria"),
        is_primary: false,
        valid_from: None,
        valid_to: None,
        country_code: "NG".to_owned(),
        state_code: None,
        validated: false,
        geocoded: true,
    }
}

fn employment(start_date: Date, end_date: Option<Date>, is_current: bool) -> Employment {
    Employment {
        company_name: text("Lagoon Traders"),
        position: text("Accountant"),
        employment_type: EmploymentType::FullTime,
        start_date: Personal::new(start_date),
        end_date: end_date.map(Personal::new),
        salary: None,
        company_address: None,
        company_phone: None,
        supervisor_name: None,
        is_current,
    }
}

fn contact(priority: Priority) -> EmergencyContact {
    let Kin { relationship, first_name, last_name, phone_number, email, address, date_of_birth, .. } =
        kin("Bola", false);
    EmergencyContact {
        relationship,
        first_name,
        last_name,
        phone_number,
        email,
        priority,
        address,
        date_of_birth,
    }
}

fn kin_id() -> RecordId {
    KinId::mint(&SOURCES).into()
}

fn address_id() -> AddressId {
    AddressId::mint(&SOURCES)
}

fn keep(id: RecordId, details: Details) -> ComplianceCommand {
    ComplianceCommand::Keep { id, details: Box::new(details), in_place_of: None, today: TODAY }
}

fn change(id: RecordId, change: Change) -> ComplianceCommand {
    ComplianceCommand::Change { id, change: Box::new(change), today: TODAY }
}

fn remove(id: RecordId) -> ComplianceCommand {
    ComplianceCommand::Remove { id, reason: None }
}

fn added(id: RecordId, details: Details) -> ComplianceEvent {
    ComplianceEvent::Added { id, details: Box::new(details) }
}

fn changed(id: RecordId, details: Details, fields: &[&str], status: VerificationStatus) -> ComplianceEvent {
    let updated_fields = fields.iter().map(|&name| name.to_owned()).collect();
    ComplianceEvent::Changed(Box::new(Changed { id, details, updated_fields, status }))
}

fn removed(id: RecordId, remaining: usize) -> ComplianceEvent {
    ComplianceEvent::Removed { id, reason: None, remaining }
}

#[test]
fn the_first_of_a_kind_is_primary_until_another_is_made_it() {
    let (ada, bola) = (kin_id(), kin_id());
    let one = [added(ada, Details::Kin(kin("Ada", true)))];
    given::<Compliance>(&[]).when(keep(ada, Details::Kin(kin("Ada", false)))).then(&one);
    given::<Compliance>(&one)
        .when(keep(bola, Details::Kin(kin("Bola", false))))
        .then(&[added(bola, Details::Kin(kin("Bola", false)))]);
    let passed = changed(ada, Details::Kin(kin("Ada", false)), &["isPrimary"], VerificationStatus::Pending);
    let two = [one[0].clone(), added(bola, Details::Kin(kin("Bola", true))), passed];
    given::<Compliance>(&one).when(keep(bola, Details::Kin(kin("Bola", true)))).then(&two[1..]);
    // One of another kind has nothing to do with it.
    let home = RecordId::Address(address_id());
    let mut first = address(AddressType::Residential, "12 Marina Road");
    first.is_primary = true;
    given::<Compliance>(&two)
        .when(keep(home, Details::Address(address(AddressType::Residential, "12 Marina Road"))))
        .then(&[added(home, Details::Address(first))]);
    // Nobody stops being primary but by another.
    let no_more = KinChange { is_primary: Some(false), ..KinChange::default() };
    given::<Compliance>(&two).when(change(bola, Change::Kin(no_more))).then(&[changed(
        bola,
        Details::Kin(kin("Bola", true)),
        &[],
        VerificationStatus::Pending,
    )]);
}

#[test]
fn when_the_primary_one_is_removed_the_oldest_left_takes_its_place() {
    let ids = [kin_id(), kin_id(), kin_id()];
    let three = [
        added(ids[0], Details::Kin(kin("Ada", false))),
        added(ids[1], Details::Kin(kin("Bola", false))),
        added(ids[2], Details::Kin(kin("Chidi", true))),
    ];
    let next = changed(ids[0], Details::Kin(kin("Ada", true)), &["isPrimary"], VerificationStatus::Pending);
    given::<Compliance>(&three).when(remove(ids[2])).then(&[removed(ids[2], 2), next]);
    given::<Compliance>(&three).when(remove(ids[0])).then(&[removed(ids[0], 2)]);
    given::<Compliance>(&three[..1]).when(remove(ids[0])).then(&[removed(ids[0], 0)]);
    given::<Compliance>(&three).when(remove(kin_id())).then_refused("NOT_FOUND");
}

#[test]
fn one_emergency_contact_is_called_first_and_there_may_be_none() {
    let (one, other) = (ContactId::mint(&SOURCES).into(), ContactId::mint(&SOURCES).into());
    let second = [added(one, Details::EmergencyContact(contact(Priority::Secondary)))];
    given::<Compliance>(&[])
        .when(keep(one, Details::EmergencyContact(contact(Priority::Secondary))))
        .then(&second);
    let first = added(one, Details::EmergencyContact(contact(Priority::Primary)));
    let pending = VerificationStatus::Pending;
    let after = changed(one, Details::EmergencyContact(contact(Priority::Secondary)), &["priority"], pending);
    given::<Compliance>(std::slice::from_ref(&first))
        .when(keep(other, Details::EmergencyContact(contact(Priority::Primary))))
        .then(&[added(other, Details::EmergencyContact(contact(Priority::Primary))), after]);
    // The order is the customer's: nobody moves up.
    let third = added(other, Details::EmergencyContact(contact(Priority::Tertiary)));
    given::<Compliance>(&[first, third]).when(remove(one)).then(&[removed(one, 1)]);
}

#[test]
fn a_change_tells_what_is_different_and_a_fact_is_verified_anew() {
    let id = kin_id();
    let verified = [added(id, Details::Kin(kin("Bola", true))), ComplianceEvent::Verified { id, note: None }];
    let given = || given::<Compliance>(&verified);
    let with = |change: KinChange| super::ComplianceCommand::Change {
        id,
        change: Box::new(Change::Kin(change)),
        today: TODAY,
    };
    let renamed = KinChange {
        first_name: Some(text("Bolaji")),
        last_name: Some(text("Okafor")),
        email: Some(Some(text("bola@example.com"))),
        nationality: Some(None),
        ..KinChange::default()
    };
    let mut bolaji = kin("Bolaji", true);
    bolaji.email = Some(text("bola@example.com"));
    let (pending, still) = (VerificationStatus::Pending, VerificationStatus::Verified);
    let event = changed(id, Details::Kin(bolaji.clone()), &["firstName", "email"], pending);
    given().when(with(renamed)).then(std::slice::from_ref(&event));
    given().when(with(KinChange::default())).then(&[changed(
        id,
        Details::Kin(kin("Bola", true)),
        &[],
        still,
    )]);
    // What is there can be taken away.
    let cleared = KinChange { email: Some(None), ..KinChange::default() };
    bolaji.email = None;
    crate::aggregate::given::given::<Compliance>(&[verified[0].clone(), event])
        .when(with(cleared))
        .then(&[changed(id, Details::Kin(bolaji), &["email"], pending)]);
}

#[test]
fn which_one_comes_first_needs_no_verification() {
    let (ada, bola) = (kin_id(), kin_id());
    let both = [
        added(ada, Details::Kin(kin("Ada", true))),
        added(bola, Details::Kin(kin("Bola", false))),
        ComplianceEvent::Verified { id: ada, note: None },
        ComplianceEvent::Verified { id: bola, note: None },
    ];
    let first = KinChange { is_primary: Some(true), ..KinChange::default() };
    let verified = VerificationStatus::Verified;
    given::<Compliance>(&both).when(change(bola, Change::Kin(first))).then(&[
        changed(bola, Details::Kin(kin("Bola", true)), &["isPrimary"], verified),
        changed(ada, Details::Kin(kin("Ada", false)), &["isPrimary"], verified),
    ]);
}

#[test]
fn staff_decide_once_until_something_changes() {
    let id = kin_id();
    let reason = text("Nobody answers");
    let reject = || ComplianceCommand::Reject { id, reason: reason.clone() };
    let verify = || ComplianceCommand::Verify { id, note: None };
    let pending = [added(id, Details::Kin(kin("Bola", true)))];
    let rejected = ComplianceEvent::Rejected { id, reason: reason.clone() };
    given::<Compliance>(&pending).when(verify()).then(&[ComplianceEvent::Verified { id, note: None }]);
    given::<Compliance>(&pending).when(reject()).then(std::slice::from_ref(&rejected));
    for decided in [ComplianceEvent::Verified { id, note: None }, rejected.clone()] {
        let events = [pending[0].clone(), decided];
        given::<Compliance>(&events).when(verify()).then_refused("INVALID_STATE");
        given::<Compliance>(&events).when(reject()).then_refused("INVALID_STATE");
    }
    let again = changed(id, Details::Kin(kin("Bolaji", true)), &["firstName"], VerificationStatus::Pending);
    given::<Compliance>(&[pending[0].clone(), rejected, again])
        .when(verify())
        .then(&[ComplianceEvent::Verified { id, note: None }]);
    given::<Compliance>(&[]).when(verify()).then_refused("NOT_FOUND");
}

#[test]
fn there_is_one_address_of_a_type_and_a_new_one_takes_its_place() {
    let (home, office, unused) = (address_id(), address_id(), address_id());
    let details = |address_type, street, is_primary| {
        Details::Address(Address { is_primary, ..address(address_type, street) })
    };
    let both = [
        added(home.into(), details(AddressType::Residential, "12 Marina Road", true)),
        added(office.into(), details(AddressType::Business, "1 Broad Street", false)),
    ];
    let keep = |details, in_place_of| ComplianceCommand::Keep {
        id: unused.into(),
        details: Box::new(details),
        in_place_of,
        today: TODAY,
    };
    let moved = details(AddressType::Residential, "3 Bank Road", false);
    let after = changed(
        home.into(),
        details(AddressType::Residential, "3 Bank Road", true),
        &["streetAddress"],
        VerificationStatus::Pending,
    );
    for named in [None, Some(home)] {
        given::<Compliance>(&both).when(keep(moved.clone(), named)).then(std::slice::from_ref(&after));
    }
    // One that is named may become of another type, unless there is one.
    given::<Compliance>(&both).when(keep(moved.clone(), Some(office))).then_refused("ADDRESS_EXISTS");
    given::<Compliance>(&both)
        .when(keep(details(AddressType::Mailing, "1 Broad Street", false), Some(office)))
        .then(&[changed(
            office.into(),
            details(AddressType::Mailing, "1 Broad Street", false),
            &["addressType"],
            VerificationStatus::Pending,
        )]);
    // One that is not theirs is unknown before anything else is said about it.
    for unknown in [details(AddressType::Mailing, "P. O. Box 1", false), moved] {
        given::<Compliance>(&both).when(keep(unknown, Some(address_id()))).then_refused("NOT_FOUND");
    }
}

#[test]
fn days_fit_together() {
    let id = EmploymentId::mint(&SOURCES).into();
    let (start, end) = (date(2019, 9, 1), date(2024, 8, 31));
    let refused = |details: Details| match Compliance::default().decide(keep(id, details)).unwrap_err() {
        ComplianceError::Misfits { errors } => errors.iter().map(|error| error.pointer).collect::<Vec<_>>(),
        other => panic!("{other}"),
    };
    assert_eq!(refused(Details::Employment(employment(end, Some(start), false))), ["/endDate"]);
    assert_eq!(refused(Details::Employment(employment(start, Some(end), true))), ["/endDate"]);
    let mut unborn = kin("Bola", false);
    unborn.date_of_birth = Some(Personal::new(TODAY.tomorrow().unwrap()));
    assert_eq!(refused(Details::Kin(unborn)), ["/dateOfBirth"]);
    let mut backwards = address(AddressType::Temporary, "Hotel");
    backwards.valid_from = Some(Personal::new(end));
    backwards.valid_to = Some(Personal::new(start));
    assert_eq!(refused(Details::Address(backwards)), ["/validTo"]);
    // What ends today is current today; one day counts.
    for (start, end, is_current) in
        [(start, Some(TODAY), true), (end, Some(end), false), (start, None, false)]
    {
        let details = Details::Employment(employment(start, end, is_current));
        given::<Compliance>(&[]).when(keep(id, details.clone())).then(&[added(id, details)]);
    }
}

#[test]
fn a_job_that_has_ended_is_not_current() {
    let id: RecordId = EmploymentId::mint(&SOURCES).into();
    let (start, end) = (date(2019, 9, 1), date(2024, 8, 31));
    let at_work = [added(id, Details::Employment(employment(start, None, true)))];
    let ended = EmploymentChange { end_date: Some(Some(Personal::new(end))), ..EmploymentChange::default() };
    let left = Details::Employment(employment(start, Some(end), false));
    let event = changed(id, left, &["endDate", "isCurrent"], VerificationStatus::Pending);
    given::<Compliance>(&at_work)
        .when(change(id, Change::Employment(ended.clone())))
        .then(std::slice::from_ref(&event));
    let both = EmploymentChange { is_current: Some(true), ..ended };
    given::<Compliance>(&at_work)
        .when(change(id, Change::Employment(both)))
        .then_refused("VALIDATION_FAILED");
    let back = EmploymentChange { is_current: Some(true), ..EmploymentChange::default() };
    let after = [at_work[0].clone(), event];
    given::<Compliance>(&after)
        .when(change(id, Change::Employment(back.clone())))
        .then_refused("VALIDATION_FAILED");
    given::<Compliance>(&after)
        .when(change(id, Change::Employment(EmploymentChange { end_date: Some(None), ..back })))
        .then(&[changed(
            id,
            Details::Employment(employment(start, None, true)),
            &["endDate", "isCurrent"],
            VerificationStatus::Pending,
        )]);
}

#[test]
fn there_are_at_most_so_many_of_a_kind() {
    let full: Vec<_> = (0..MOST).map(|n| added(kin_id(), Details::Kin(kin("Bola", n == 0)))).collect();
    given::<Compliance>(&full)
        .when(keep(kin_id(), Details::Kin(kin("Chidi", false))))
        .then_refused("LIMIT_EXCEEDED");
    let id = ContactId::mint(&SOURCES).into();
    let details = Details::EmergencyContact(contact(Priority::Primary));
    given::<Compliance>(&full).when(keep(id, details.clone())).then(&[added(id, details)]);
}

#[test]
fn an_id_says_what_it_names() {
    let ids: [RecordId; 4] = [
        address_id().into(),
        KinId::mint(&SOURCES).into(),
        EmploymentId::mint(&SOURCES).into(),
        ContactId::mint(&SOURCES).into(),
    ];
    let kinds = ids.map(RecordId::kind);
    assert_eq!(
        kinds,
        [RecordKind::Address, RecordKind::Kin, RecordKind::Employment, RecordKind::EmergencyContact]
    );
    assert_eq!(ids.map(|id| id.to_string().parse::<RecordId>().unwrap()), ids);
    assert!("txn_0192f0c1a0007000800000000000000c".parse::<RecordId>().is_err());
}
