//! Every event version ever written must load for ever: see `domain/docs/changing-an-event.md`.

mod closing;
mod lending;
mod outside;
mod people;
mod standing;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use crate::accounts::{AccountEvent, Opened, SavingsFrequency, SavingsPlan};
use crate::beneficiaries::{BeneficiariesEvent, Beneficiary, Payee};
use crate::cards::{
    self, Activated, Block, CardEvent, CardForm, CardLimits, CardType, Charge, DeliveryAddress, Linked,
};
use crate::codec::{self, Codec, Stored};
use crate::compliance::{
    Address, AddressType, Changed, ComplianceEvent, Details, EmergencyContact, Employment, EmploymentType,
    Kin, Priority, RecordId, VerificationStatus,
};
use crate::disputes::{self, DisputeEvent, DisputeReason};
use crate::kernel::{
    AccountNumber, Amount, Calendar, Currency, DisputeId, Frequency, PauseReason, Permission, Personal,
    TransactionId,
};
use crate::ledger::{Hold, Internal, Postings, Terms};
use crate::messages::{Category, Channel, MessagesEvent, Notice, Recipient};
use crate::mfa::{MfaEvent, Passed};
use crate::payments::{Cleared, Completed, Outside, PaymentEvent, PaymentKind, Refund};
use crate::products::{AccountType, ProductEvent, ProductTerms};
use crate::rebuilds::{self, RebuildEvent};
use crate::recurrences::{self, RecurrenceEvent};
use crate::resets::{Requested, ResetsEvent};
use crate::savings::{Began, Contributions, PlanEvent};
use crate::sessions::{EndReason, Issued, SecondFactor, SessionEvent, Started};
use crate::tags::{Placed, PlacedTag, Tag, TagsEvent};
use crate::users::{Erased, Registered, SessionsEndReason, SessionsEnded, UserEvent};
use crate::verifications::{self, Purpose, VerificationsEvent};
use crate::{Event, Kind, StreamId};

fn user() -> crate::kernel::UserId {
    "usr_0192f0c1a0007000800000000000000a".parse().unwrap()
}

fn session() -> crate::kernel::SessionId {
    "ses_0192f0c1a0007000800000000000000f".parse().unwrap()
}

fn enrolment() -> crate::kernel::EnrolmentId {
    "enr_0192f0c1a00070008000000000000010".parse().unwrap()
}

fn at() -> jiff::Timestamp {
    "2026-11-01T09:30:00.000001Z".parse().unwrap()
}

fn issued() -> Issued {
    Issued {
        generation: 1,
        jti: "0192f0c1a00070008000000000000001".into(),
        refresh_hash: "ab".repeat(32),
        issued_at: at(),
        refresh_expires_at: at(),
    }
}

fn opened() -> Opened {
    Opened {
        name: Personal::new("Ada Okafor".into()),
        account_type: AccountType::TargetSavings,
        product_id: "TSV-001".into(),
        product_name: "Target Savings".into(),
        interest_rate: rust_decimal::Decimal::new(65, 1),
        features: vec!["INTEREST_EARNING".into()],
        initial_deposit: 100_000,
        plan: Some(SavingsPlan {
            goal: Some(1_000_000),
            frequency: Some(SavingsFrequency::Monthly),
            amount: Some(50_000),
            maturity_date: Some(at()),
        }),
        terms: Terms {
            owner: user(),
            currency: Currency::NGN,
            overdraft_limit: 0,
            minimum_balance: 1_000,
            maximum_balance: Some(50_000_000),
            daily_limit: Some(1_000_000),
            monthly_limit: Some(10_000_000),
        },
        origin: None,
    }
}

fn completed() -> Completed {
    let (source, destination) = (AccountNumber::from("1000000008"), AccountNumber::from("1000000016"));
    let amount = Amount::try_from(2_500).unwrap();
    Completed {
        kind: PaymentKind::Internal,
        payer: Some(user()),
        postings: Postings::transfer(&source, &destination, amount, Currency::NGN),
        source,
        destination,
        destination_name: Some(Personal::new("Bola Adeyemi".into())),
        outside: None,
        fee: None,
        undoes: None,
        loan: None,
        earned: None,
        tie: None,
        origin: None,
        amount,
        currency: Currency::NGN,
        narration: Some("Lunch".into()),
        reference: "LUNCH".into(),
        save_as_beneficiary: true,
    }
}

/// Nobody in particular pays.
fn by_nobody() -> Completed {
    Completed { payer: None, destination_name: None, ..completed() }
}

fn bill() -> Completed {
    let biller = Outside::Biller {
        biller_id: "SBX_POWER".into(),
        biller_name: "Sandbox Power".into(),
        account_number: Personal::new("1234567890".into()),
        payment_type: Some("POSTPAID".into()),
    };
    Completed {
        kind: PaymentKind::Bills,
        destination: Internal::Settlement(biller.channel()).account(Currency::NGN),
        outside: Some(biller),
        fee: Some(Amount::try_from(100).unwrap()),
        undoes: Some(transaction()),
        ..completed()
    }
}

fn cleared(reason: Option<&str>) -> Cleared {
    Cleared {
        reference: "LUNCH".into(),
        reason: reason.map(str::to_owned),
        release: Some(Hold { account: "1000000008".into(), change: -2_500 }),
        tie: None,
        postings: completed().postings,
    }
}

fn transaction() -> TransactionId {
    "txn_0192f0c1a0007000800000000000000c".parse().unwrap()
}

fn dispute() -> DisputeId {
    "dsp_0192f0c1a0007000800000000000000d".parse().unwrap()
}

fn repeated() -> recurrences::SetUp {
    let start = jiff::civil::date(2026, 11, 30);
    recurrences::SetUp {
        owner: user(),
        transaction_id: transaction(),
        calendar: Calendar::new(Frequency::Monthly, start, Some(31), Some(jiff::civil::date(2027, 11, 30)))
            .unwrap(),
        starts_at: at(),
        ends_at: Some(at()),
        description: Some("Rent".into()),
        next: Some(start),
    }
}

fn plan() -> Began {
    Began {
        owner: user(),
        contributions: Some(Contributions {
            source: AccountNumber::from("1000000008"),
            amount: Amount::try_from(500_000).unwrap(),
            calendar: repeated().calendar,
            next: repeated().next,
        }),
        matures_at: Some(at()),
    }
}

fn complaint() -> disputes::Opened {
    disputes::Opened {
        owner: user(),
        transaction_id: transaction(),
        reason: DisputeReason::Unauthorized,
        amount: completed().amount,
        currency: Currency::NGN,
        reference: "00000000000D".into(),
        description: Some("I was asleep".into()),
        supporting_documents: vec!["statement.pdf".into()],
        contact_phone: Some(Personal::new("+2348030000001".into())),
        contact_email: Some(Personal::new("ada@example.com".into())),
    }
}

fn beneficiary() -> Beneficiary {
    Beneficiary {
        id: "ben_0192f0c1a0007000800000000000000b".parse().unwrap(),
        payee: Payee::External {
            bank_code: "058152".into(),
            account_number: Personal::new("0123456789".into()),
        },
        name: Some(Personal::new("Bola Adeyemi".into())),
        institution: Some("Guaranty Trust Bank".into()),
        nickname: Some(Personal::new("Bola".into())),
        is_favorite: true,
    }
}

fn address() -> Address {
    Address {
        address_type: AddressType::Residential,
        street_address: Personal::new("12 Marina Road".into()),
        city: Personal::new("Lagos".into()),
        state: Some(Personal::new("Lagos".into())),
        postal_code: Some(Personal::new("101001".into())),
        country: Personal::new("Nigeria".into()),
        is_primary: true,
        valid_from: Some(Personal::new(jiff::civil::date(2020, 1, 1))),
        valid_to: Some(Personal::new(jiff::civil::date(2030, 12, 31))),
        country_code: "NG".into(),
        state_code: Some(Personal::new("NG-LA".into())),
        validated: true,
        geocoded: true,
    }
}

fn kin() -> Kin {
    Kin {
        relationship: "SPOUSE".into(),
        first_name: Personal::new("Bola".into()),
        last_name: Personal::new("Adeyemi".into()),
        phone_number: Personal::new("+2348030000002".into()),
        email: Some(Personal::new("bola@example.com".into())),
        address: Some(Personal::new("12 Marina Road, Lagos".into())),
        is_primary: true,
        date_of_birth: Some(Personal::new(jiff::civil::date(1989, 3, 2))),
        nationality: Some(Personal::new("Nigerian".into())),
    }
}

fn employment() -> Employment {
    Employment {
        company_name: Personal::new("Lagoon Traders".into()),
        position: Personal::new("Accountant".into()),
        employment_type: EmploymentType::FullTime,
        start_date: Personal::new(jiff::civil::date(2019, 9, 1)),
        end_date: Some(Personal::new(jiff::civil::date(2024, 8, 31))),
        salary: Some(Personal::new("450000 a month".into())),
        company_address: Some(Personal::new("1 Broad Street, Lagos".into())),
        company_phone: Some(Personal::new("+2348030000009".into())),
        supervisor_name: Some(Personal::new("Chidi Eze".into())),
        is_current: false,
    }
}

fn emergency_contact() -> EmergencyContact {
    let Kin { relationship, first_name, last_name, phone_number, email, address, date_of_birth, .. } = kin();
    let priority = Priority::Primary;
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

/// A record of each kind.
fn records() -> [(RecordId, Details); 4] {
    let id = |prefix: &str| format!("{prefix}_0192f0c1a0007000800000000000000f").parse().unwrap();
    [
        (id("addr"), Details::Address(address())),
        (id("kin"), Details::Kin(kin())),
        (id("emp"), Details::Employment(employment())),
        (id("ect"), Details::EmergencyContact(emergency_contact())),
    ]
}

fn compliance() -> Vec<Event> {
    let (id, details) = records()[1].clone();
    let updated_fields = vec!["email".to_owned(), "address".to_owned()];
    let status = VerificationStatus::Pending;
    let changed = Changed { id, details, updated_fields, status };
    let added =
        records().map(|(id, details)| ComplianceEvent::Added { id, details: Box::new(details) }.into());
    let others = [
        ComplianceEvent::Changed(Box::new(changed)),
        ComplianceEvent::Removed { id, reason: Some(Personal::new("Moved away".into())), remaining: 2 },
        ComplianceEvent::Verified { id, note: Some(Personal::new("Seen the certificate".into())) },
        ComplianceEvent::Rejected { id, reason: Personal::new("Nobody answers there".into()) },
    ];
    added.into_iter().chain(others.map(Event::from)).collect()
}

fn tag() -> Tag {
    Tag {
        id: "tag_0192f0c1a0007000800000000000000e".parse().unwrap(),
        name: Personal::new("Food".into()),
        color: Some("#FF8800".into()),
        icon: Some("utensils".into()),
        description: Some(Personal::new("Eating out".into())),
        is_default: true,
        is_active: true,
    }
}

fn placed() -> Placed {
    let tags = vec![PlacedTag { id: tag().id, name: tag().name }];
    Placed { transaction_id: transaction(), tags, notes: Some(Personal::new("With Bola".into())) }
}

fn card() -> Linked {
    Linked {
        owner: user(),
        token: Personal::new("ab".repeat(32)),
        bin: "411111".into(),
        last_four: "1111".into(),
        brand: "VISA".into(),
        card_type: CardType::Debit,
        expiry: "12/30".parse().unwrap(),
        holder_name: Some(Personal::new("ADA OKAFOR".into())),
        issuing_bank: Some("Guaranty Trust Bank".into()),
        is_default: true,
        limits: CardLimits { currency: Currency::NGN, daily: 20_000_000, monthly: 200_000_000 },
        origin: None,
    }
}

fn own_card() -> cards::Requested {
    let address = DeliveryAddress {
        street_address: "12 Broad Street".into(),
        city: "Lagos".into(),
        state: Some("NG-LA".into()),
        postal_code: Some("101241".into()),
        country: "NG".into(),
    };
    cards::Requested {
        owner: user(),
        request_id: "crq_0192f0c1a0007000800000000000000a".parse().unwrap(),
        form: CardForm::Physical,
        linked_account: "1000000008".into(),
        bin: "506100".into(),
        last_four: "1234".into(),
        brand: "VERVE".into(),
        expiry: "12/30".parse().unwrap(),
        holder_name: Some(Personal::new("ADA OKAFOR".into())),
        deliver_to: Some(Personal::new(address)),
        deliver_by: jiff::civil::date(2026, 7, 8),
        is_default: true,
        limits: card().limits,
    }
}

fn block() -> Block {
    Block { owner: user(), reason: Some("STOLEN".into()), until: Some(at()), is_final: true }
}

fn charge() -> Charge {
    Charge {
        owner: user(),
        transaction_id: transaction(),
        amount: Amount::try_from(2_500).unwrap(),
        day: jiff::civil::date(2026, 11, 1),
        spent_today: 2_500,
        spent_this_month: 7_500,
    }
}

fn product() -> ProductTerms {
    ProductTerms {
        name: "Classic Savings".into(),
        account_type: AccountType::Savings,
        description: "Earns interest.".into(),
        currency: Currency::NGN,
        interest_rate: rust_decimal::Decimal::new(425, 2),
        minimum_balance: 1_000,
        minimum_deposit: 0,
        maximum_balance: Some(50_000_000),
        overdraft_limit: 0,
        daily_limit: Some(1_000_000),
        monthly_limit: Some(10_000_000),
        features: vec!["INTEREST_EARNING".into()],
        eligibility_criteria: vec!["Identity verified".into()],
        is_active: true,
    }
}

/// One of each event.
fn notice() -> Notice {
    Notice {
        id: "msg_0192f0c1a00070008000000000000001".parse().unwrap(),
        category: Category::Security,
        subject: "Your address was changed".into(),
        body: Personal::new("Mail goes to another address from now on.".into()),
        channels: [Channel::Email].into(),
        to: Some(Recipient { email: Some(Personal::new("old@example.com".into())), phone_number: None }),
        about: [("field".into(), "email".into())].into(),
    }
}

fn verification() -> verifications::Issued {
    verifications::Issued {
        id: "ver_0192f0c1a00070008000000000000001".parse().unwrap(),
        purpose: Purpose::SecondFactor,
        channel: Channel::Sms,
        destination: Personal::new("+2348031000101".into()),
        bound_to: "ses_0192f0c1a0007000800000000000000b".into(),
        tries: 5,
        issued_at: at(),
        resend_at: at(),
        expires_at: at(),
    }
}

fn samples() -> Vec<Event> {
    let code = verification();
    let resent = verifications::Resent {
        id: code.id,
        purpose: code.purpose,
        resends: 1,
        sent_at: at(),
        resend_at: at(),
        expires_at: at(),
    };
    let registered = Registered {
        origin: None,
        first_name: Personal::new("Ada".into()),
        last_name: Personal::new("Okafor".into()),
        email: Personal::new("ada@example.com".into()),
        phone_number: Personal::new("+2348030000001".into()),
        date_of_birth: Personal::new(jiff::civil::date(1990, 5, 17)),
        country_code: "NG".into(),
        preferred_language: Some("en".into()),
    };
    let started = Started {
        user_id: user(),
        device_id: "phone".into(),
        permissions: Permission::CUSTOMER.to_vec(),
        first: issued(),
        absolute_expires_at: at(),
        refresh_seconds: 86_400,
        epoch: 0,
        awaits: None,
    };
    let half_open = Started {
        epoch: 2,
        awaits: Some(SecondFactor { expires_at: at(), remember_me: true }),
        ..started.clone()
    };
    let others: Vec<Event> = vec![
        AccountEvent::Opened(Box::new(opened())).into(),
        AccountEvent::Frozen { reason: "court order".into() }.into(),
        AccountEvent::Unfrozen { reason: "lifted".into() }.into(),
        BeneficiariesEvent::Added(Box::new(beneficiary())).into(),
        BeneficiariesEvent::Removed { id: beneficiary().id }.into(),
        DisputeEvent::Opened(Box::new(complaint())).into(),
        DisputeEvent::ReviewStarted { note: Some("Asked the shop".into()) }.into(),
        DisputeEvent::Won { refunded_by: transaction(), note: Some("Not their signature".into()) }.into(),
        DisputeEvent::Lost { note: Some("Paid with their PIN".into()) }.into(),
        DisputeEvent::Withdrawn { reason: Some("It was my brother".into()) }.into(),
        CardEvent::Linked(Box::new(card())).into(),
        CardEvent::Requested(Box::new(own_card())).into(),
        CardEvent::Activated(Activated {
            owner: user(),
            note: Some("Fetched at the till".into()),
            is_default: true,
        })
        .into(),
        CardEvent::Charged(charge()).into(),
        CardEvent::ChargeReturned(charge()).into(),
        CardEvent::Blocked(block()).into(),
        CardEvent::Unblocked { owner: user() }.into(),
        CardEvent::Removed { owner: user() }.into(),
        PaymentEvent::Completed(Box::new(completed())).into(),
        PaymentEvent::Completed(Box::new(bill())).into(),
        PaymentEvent::Completed(Box::new(by_nobody())).into(),
        PaymentEvent::Completed(Box::new(lending::payment())).into(),
        PaymentEvent::Settled(Box::new(cleared(None))).into(),
        PaymentEvent::Returned(Box::new(cleared(Some("AC04: closed account")))).into(),
        PaymentEvent::Reversed { by: transaction(), reason: None, tie: None }.into(),
        PaymentEvent::Reversed { by: transaction(), reason: Some("Paid twice".into()), tie: None }.into(),
        PaymentEvent::Disputed { dispute_id: dispute(), amount: completed().amount, tie: None }.into(),
        PaymentEvent::DisputeEnded {
            dispute_id: dispute(),
            refund: Some(Refund { by: transaction(), amount: completed().amount }),
            tie: None,
        }
        .into(),
        ProductEvent::Defined(Box::new(product())).into(),
        RecurrenceEvent::SetUp(Box::new(repeated())).into(),
        RecurrenceEvent::Executed { due: repeated().next.unwrap(), by: transaction(), next: repeated().next }
            .into(),
        RecurrenceEvent::Failed {
            due: repeated().next.unwrap(),
            code: "INSUFFICIENT_FUNDS".into(),
            next: repeated().next,
        }
        .into(),
        RecurrenceEvent::Paused { reason: PauseReason::Failures }.into(),
        RecurrenceEvent::Resumed { next: repeated().next.unwrap() }.into(),
        RecurrenceEvent::Cancelled.into(),
        PlanEvent::Began(Box::new(plan())).into(),
        PlanEvent::Contributed { due: repeated().next.unwrap(), by: transaction(), next: repeated().next }
            .into(),
        PlanEvent::Skipped {
            due: repeated().next.unwrap(),
            code: "INSUFFICIENT_FUNDS".into(),
            next: repeated().next,
        }
        .into(),
        PlanEvent::Matured.into(),
        PlanEvent::Ended.into(),
        MfaEvent::TotpEnrolled { id: enrolment() }.into(),
        MfaEvent::TotpConfirmed { id: enrolment(), step: 58_000_000 }.into(),
        MfaEvent::TotpRemoved.into(),
        MfaEvent::SmsEnrolled.into(),
        MfaEvent::SmsRemoved.into(),
        MfaEvent::Tried { session: session(), at: at() }.into(),
        MfaEvent::Passed(Passed { step: Some(58_000_001), device: "ab".repeat(32) }).into(),
        RebuildEvent::Ordered(rebuilds::Ordered { by: user(), at: at(), verify: false }).into(),
        ResetsEvent::Requested(Requested { user: Some(user()), at: at(), expires_at: at() }).into(),
        SessionEvent::Started(Box::new(started)).into(),
        SessionEvent::Started(Box::new(half_open)).into(),
        SessionEvent::Refreshed(issued()).into(),
        SessionEvent::Reissued(issued()).into(),
        SessionEvent::Ended { reason: EndReason::TokenReused }.into(),
        TagsEvent::Created(Box::new(tag())).into(),
        TagsEvent::Changed(Box::new(tag())).into(),
        TagsEvent::Removed { id: tag().id, name: tag().name, transactions: 2 }.into(),
        TagsEvent::Placed(Box::new(placed())).into(),
        MessagesEvent::Posted(Box::new(notice())).into(),
        MessagesEvent::Delivered { id: notice().id, channel: Channel::Email }.into(),
        MessagesEvent::Undelivered { id: notice().id, channel: Channel::Sms }.into(),
        MessagesEvent::Deleted { id: notice().id }.into(),
        UserEvent::Registered(Box::new(registered)).into(),
        UserEvent::Activated.into(),
        VerificationsEvent::Tried { id: code.id }.into(),
        VerificationsEvent::Confirmed { id: code.id, purpose: code.purpose }.into(),
        VerificationsEvent::Resent(resent).into(),
        VerificationsEvent::Issued(Box::new(code)).into(),
        UserEvent::PasswordSet { hash: Personal::new("$argon2id$...".into()) }.into(),
        UserEvent::PermissionsGranted { permissions: Permission::CUSTOMER.iter().copied().collect() }.into(),
        UserEvent::PermissionsRevoked { permissions: Permission::CUSTOMER.iter().copied().collect() }.into(),
        UserEvent::SessionsEnded(SessionsEnded {
            reason: SessionsEndReason::PasswordChanged,
            except: Some(session()),
            sessions: 2,
        })
        .into(),
        UserEvent::ErasureRequested { by: user(), reason: "They asked for it".into() }.into(),
        UserEvent::Erased(Box::new(Erased {
            requested_by: user(),
            approved_by: "usr_0192f0c1a0007000800000000000000b".parse().unwrap(),
            reason: "They asked for it".into(),
            accounts: vec!["1000000008".into()],
            settled: false,
        }))
        .into(),
    ];
    let lending = lending::events();
    let devices = crate::devices::samples::all().into_iter().map(Event::from);
    let others = compliance().into_iter().chain(others).chain(people::samples()).chain(lending);
    others
        .chain(devices)
        .chain(standing::events())
        .chain(closing::samples())
        .chain(outside::samples())
        .collect()
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures")
}

fn stream(event: &Event) -> StreamId {
    StreamId::new(event.kind(), "some-id")
}

#[test]
fn every_event_has_a_sample() {
    let sampled: BTreeSet<_> = samples().iter().map(Event::name).collect();
    let known: BTreeSet<_> = Kind::ALL.iter().flat_map(|kind| kind.event_names()).copied().collect();
    assert_eq!(sampled, known);
}

#[test]
fn every_event_with_personal_parts_has_somebody_to_seal_them_for() {
    let mut sealed = 0;
    for event in samples() {
        if codec::has_personal(&event.write().unwrap()) {
            // Users, tags and beneficiaries are streams that are named by a person's id.
            assert_eq!(event.subject(&user().to_string()), Some(user()), "{}", event.name());
            sealed += 1;
        }
    }
    assert!(sealed >= 10, "{sealed}");
}

#[test]
fn every_event_is_written_as_its_fixture_says() {
    let codec = Codec::default();
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for event in samples() {
        // A second sample of an event shows the fields that the first leaves out.
        let nth = seen.entry(event.name()).and_modify(|n| *n += 1).or_insert(1);
        let tag = if *nth == 1 { String::new() } else { format!(".{nth}") };
        let file = directory().join(format!("{}.{}{tag}.json", event.name(), event.version()));
        let written = codec.encode(&stream(&event), 1, &event).unwrap();
        if !file.exists() && std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(&file, format!("{written}\n")).unwrap();
        }
        let fixture =
            std::fs::read_to_string(&file).unwrap_or_else(|_| panic!("no fixture {}", file.display()));
        assert_eq!(written, fixture.trim_end(), "{} changed its shape without a new version", event.name());
    }
}

#[test]
fn every_fixture_ever_written_loads() {
    let codec = Codec::default();
    let mut files = 0;
    for entry in std::fs::read_dir(directory()).unwrap() {
        let name = entry.as_ref().unwrap().file_name().into_string().unwrap();
        let payload = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        let parts: Vec<&str> = name.split('.').collect();
        let ([noun, event, version, "json"] | [noun, event, version, _, "json"]) = parts[..] else {
            panic!("{name}")
        };
        let stored = Stored {
            position: 1,
            recorded_at: at(),
            sequence: 1,
            aggregate_type: noun,
            aggregate_id: "some-id",
            event_type: &format!("{noun}.{event}"),
            event_version: version,
            payload: payload.trim_end(),
            metadata: r#"{"actor":"usr_1","correlation_id":"req-1"}"#,
        };
        let recorded = codec.read(&stored).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(recorded.event.name(), stored.event_type);
        files += 1;
    }
    assert!(files >= samples().len());
}

#[test]
fn the_independent_reader_loads_them_too() {
    // cqrs-es reads from a serde_json::Value, which cannot lend its strings: types must not insist on borrowing.
    for event in samples() {
        let value: serde_json::Value = serde_json::from_str(&event.write().unwrap()).unwrap();
        assert_eq!(event.kind().read(value).unwrap(), event);
    }
}

#[test]
fn an_unreadable_event_is_named_without_its_content() {
    let stream = StreamId::new(crate::Kind::User, "usr_1");
    let payload = r#"{"registered":{"first_name":{"personal":"Ada"}}}"#;
    let error = Codec::default().decode(&stream, 3, ("user.registered", "1"), payload).unwrap_err();
    assert!(error.to_string().contains("sequence 3") && !error.to_string().contains("Ada"), "{error}");
}
