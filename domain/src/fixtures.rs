//! Every event version ever written must load for ever: see `domain/docs/changing-an-event.md`.

mod cards;
mod closing;
mod compliance;
mod lending;
mod outside;
mod payments;
mod people;
mod standing;

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use crate::accounts::{AccountEvent, Opened, SavingsFrequency, SavingsPlan};
use crate::beneficiaries::{BeneficiariesEvent, Beneficiary, Payee};
use crate::codec::{self, Codec, Stored};
use crate::kernel::{Currency, Permission, Personal};
use crate::ledger::Terms;
use crate::messages::{Category, Channel, MessagesEvent, Notice, Recipient};
use crate::mfa::{MfaEvent, Passed};
use crate::products::{AccountType, ProductEvent, ProductTerms};
use crate::rebuilds::{self, RebuildEvent};
use crate::resets::{Requested, ResetsEvent};
use crate::sessions::{EndReason, Issued, SecondFactor, SessionEvent, Started};
use crate::tags::{Placed, PlacedTag, Tag, TagsEvent};
use crate::users::{Erased, Registered, SessionsEndReason, SessionsEnded, UserEvent};
use crate::verifications::{self, Purpose, VerificationsEvent};
use crate::{Event, Kind, StreamId};

use payments::{bill, cleared, completed, dispute, transaction};

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
        ProductEvent::Defined(Box::new(product())).into(),
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
    let others = compliance::samples().into_iter().chain(others).chain(people::samples()).chain(lending);
    others
        .chain(cards::samples())
        .chain(payments::samples())
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
