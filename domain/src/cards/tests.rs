use super::*;
use crate::aggregate::given::given;
use crate::kernel::Personal;

fn linked(expiry: &str) -> Box<Linked> {
    Box::new(Linked {
        owner: "usr_0192f0c1a0007000800000000000000a".parse().unwrap(),
        token: Personal::new("ab".repeat(32)),
        bin: "411111".into(),
        last_four: "1111".into(),
        brand: "VISA".into(),
        card_type: CardType::Debit,
        expiry: expiry.parse().unwrap(),
        holder_name: None,
        issuing_bank: None,
        is_default: false,
        limits: CardLimits { currency: Currency::NGN, daily: 1_000, monthly: 1_500 },
        origin: None,
    })
}

/// A transaction of the given UTC time.
fn transaction(at: &str) -> TransactionId {
    let millis = at.parse::<Timestamp>().unwrap().as_millisecond();
    format!("txn_{millis:012x}7000800000000000000a").parse().unwrap()
}

fn link(expiry: &str, at: &str) -> CardCommand {
    CardCommand::Link { card: linked(expiry), at: at.parse().unwrap() }
}

fn charge(at: &str, minor: i64) -> CardCommand {
    let amount = minor.try_into().unwrap();
    CardCommand::Charge { transaction_id: transaction(at), amount, currency: Currency::NGN }
}

fn counted(at: &str, day: &str, minor: i64, spent_today: i64, spent_this_month: i64) -> Charge {
    Charge {
        owner: linked("12/26").owner,
        transaction_id: transaction(at),
        amount: minor.try_into().unwrap(),
        day: day.parse().unwrap(),
        spent_today,
        spent_this_month,
    }
}

const DAY: &str = "2026-11-01T10:00:00Z";

#[test]
fn a_number_is_digits_with_a_check_digit_and_is_never_shown() {
    let number: CardNumber = "4111 1111-1111 1111".parse().unwrap();
    assert_eq!((number.bin(), number.last_four(), number.digits()), ("411111", "1111", "4111111111111111"));
    assert_eq!(format!("{number:?}"), "[card number]");
    assert_eq!(masked(number.last_four()), "**** **** **** 1111");
    for wrong in [
        "",
        "4",
        "4111111111111112",
        "0000000000",
        "41111111111111111111",
        "4111x11111111111",
        "٤111111111111111",
    ] {
        assert_eq!(wrong.parse::<CardNumber>(), Err(MalformedCardNumber), "{wrong}");
    }
}

#[test]
fn a_card_is_good_until_the_end_of_its_month() {
    let december: CardExpiry = "12/26".parse().unwrap();
    assert_eq!(december.ends_at().to_string(), "2027-01-01T00:00:00Z");
    assert_eq!("02/28".parse::<CardExpiry>().unwrap().ends_at().to_string(), "2028-03-01T00:00:00Z");
    assert_eq!(serde_json::to_string(&december).unwrap(), "\"12/26\"");
    for wrong in ["", "13/26", "00/26", "1/26", "12/2026", "12-26", "+1/26", "12/2x"] {
        assert_eq!(wrong.parse::<CardExpiry>(), Err(MalformedExpiry), "{wrong}");
    }
    given::<Card>(&[])
        .when(link("10/26", "2026-10-31T23:59:59Z"))
        .then(&[CardEvent::Linked(linked("10/26"))]);
    given::<Card>(&[]).when(link("10/26", "2026-11-01T00:00:00Z")).then_refused("CARD_EXPIRED");
    given::<Card>(&[CardEvent::Linked(linked("10/26"))]).when(charge(DAY, 1)).then_refused("CARD_EXPIRED");
}

#[test]
fn a_card_is_linked_once_and_can_come_back() {
    let events = [CardEvent::Linked(linked("12/26")), CardEvent::Removed { owner: linked("12/26").owner }];
    given::<Card>(&events[..1]).when(link("12/26", DAY)).then_refused("CARD_EXISTS");
    given::<Card>(&events[..1]).when(CardCommand::Remove).then(&events[1..]);
    given::<Card>(&events).when(CardCommand::Remove).then_refused("NOT_FOUND");
    given::<Card>(&events).when(charge(DAY, 1)).then_refused("NOT_FOUND");
    given::<Card>(&events).when(link("11/28", DAY)).then(&[CardEvent::Linked(linked("11/28"))]);
}

#[test]
fn limits_count_the_day_and_the_month() {
    let first = CardEvent::Charged(counted(DAY, "2026-11-01", 900, 900, 900));
    let spent = [CardEvent::Linked(linked("12/26")), first.clone()];
    given::<Card>(&spent[..1]).when(charge(DAY, 900)).then(&[first]);
    given::<Card>(&spent).when(charge(DAY, 101)).then_refused("LIMIT_EXCEEDED");
    let next = "2026-11-02T10:00:00Z";
    given::<Card>(&spent).when(charge(next, 601)).then_refused("LIMIT_EXCEEDED");
    let second = CardEvent::Charged(counted(next, "2026-11-02", 600, 600, 1_500));
    given::<Card>(&spent).when(charge(next, 600)).then(&[second]);
    let december = "2026-12-01T00:00:00Z";
    let third = CardEvent::Charged(counted(december, "2026-12-01", 1_000, 1_000, 1_000));
    given::<Card>(&spent).when(charge(december, 1_000)).then(&[third]);
}

#[test]
fn removing_and_linking_does_not_renew_the_limits() {
    let again = [
        CardEvent::Linked(linked("12/26")),
        CardEvent::Charged(counted(DAY, "2026-11-01", 1_000, 1_000, 1_000)),
        CardEvent::Removed { owner: linked("12/26").owner },
        CardEvent::Linked(linked("12/26")),
    ];
    given::<Card>(&again).when(charge(DAY, 1)).then_refused("LIMIT_EXCEEDED");
}

#[test]
fn a_charge_that_did_not_arrive_is_given_back_whatever_became_of_the_card() {
    let amount = 400.try_into().unwrap();
    let give_back = CardCommand::ReturnCharge { transaction_id: transaction(DAY), amount };
    let mut events = vec![
        CardEvent::Linked(linked("12/26")),
        CardEvent::Charged(counted(DAY, "2026-11-01", 1_000, 1_000, 1_000)),
    ];
    let returned = CardEvent::ChargeReturned(counted(DAY, "2026-11-01", 400, 600, 600));
    given::<Card>(&events).when(give_back.clone()).then(std::slice::from_ref(&returned));
    events.push(CardEvent::Removed { owner: linked("12/26").owner });
    given::<Card>(&events).when(give_back).then(std::slice::from_ref(&returned));
    events.extend([returned, CardEvent::Linked(linked("12/26"))]);
    given::<Card>(&events).when(charge(DAY, 401)).then_refused("LIMIT_EXCEEDED");
}

#[test]
fn a_card_is_charged_in_its_own_currency() {
    let (transaction_id, amount) = (transaction(DAY), 1.try_into().unwrap());
    let command = CardCommand::Charge { transaction_id, amount, currency: "USD".parse().unwrap() };
    given::<Card>(&[CardEvent::Linked(linked("12/26"))]).when(command).then_refused("CURRENCY_MISMATCH");
}

fn block(reason: &str, until: Option<&str>, is_final: bool) -> CardEvent {
    let until = until.map(|until| until.parse().unwrap());
    CardEvent::Blocked(Block { owner: linked("12/26").owner, reason: Some(reason.into()), until, is_final })
}

#[test]
fn a_blocked_card_pays_nothing_until_it_is_unblocked() {
    let unblocked = CardEvent::Unblocked { owner: linked("12/26").owner };
    let events = [CardEvent::Linked(linked("12/26")), block("Mislaid", None, false), unblocked.clone()];
    let command = CardCommand::Block { reason: Some("Mislaid".into()), until: None };
    given::<Card>(&events[..1]).when(command.clone()).then(&events[1..2]);
    given::<Card>(&events[..1]).when(CardCommand::Unblock).then_refused("INVALID_STATE");
    given::<Card>(&events[..2]).when(command).then_refused("INVALID_STATE");
    given::<Card>(&events[..2]).when(charge(DAY, 1)).then_refused("INVALID_STATE");
    given::<Card>(&events[..2]).when(link("12/26", DAY)).then_refused("CARD_EXISTS");
    given::<Card>(&events[..2]).when(CardCommand::Unblock).then(&[unblocked]);
    given::<Card>(&events).when(CardCommand::Unblock).then_refused("INVALID_STATE");
    given::<Card>(&[]).when(CardCommand::Unblock).then_refused("NOT_FOUND");
}

#[test]
fn a_block_for_a_while_ends_when_it_is_over_and_not_before() {
    let unblocked = CardEvent::Unblocked { owner: linked("12/26").owner };
    let events = [CardEvent::Linked(linked("12/26")), block("Mislaid", Some(DAY), false), unblocked.clone()];
    let end = |at: &str| CardCommand::EndBlock { at: at.parse().unwrap() };
    given::<Card>(&events[..2]).when(end("2026-11-01T09:59:59Z")).then(&[]);
    given::<Card>(&events[..2]).when(end(DAY)).then(std::slice::from_ref(&unblocked));
    given::<Card>(&events).when(end(DAY)).then(&[]);
    // Blocked anew, for good this time.
    let anew = [events[0].clone(), events[1].clone(), unblocked, block("Mislaid", None, false)];
    given::<Card>(&anew).when(end(DAY)).then(&[]);
}

#[test]
fn a_card_that_was_reported_lost_or_stolen_never_comes_back() {
    for reason in ["LOST", "stolen"] {
        let reported = block(reason, None, true);
        let events = [
            CardEvent::Linked(linked("12/26")),
            reported.clone(),
            CardEvent::Removed { owner: linked("12/26").owner },
        ];
        let until = Some(DAY.parse().unwrap());
        let command = CardCommand::Block { reason: Some(reason.into()), until };
        given::<Card>(&events[..1]).when(command.clone()).then(std::slice::from_ref(&reported));
        // Also after it was blocked for a while; once is enough.
        let mislaid = [events[0].clone(), block("Mislaid", Some(DAY), false)];
        given::<Card>(&mislaid).when(command.clone()).then(&[reported]);
        given::<Card>(&events[..2]).when(command).then_refused("INVALID_STATE");
        given::<Card>(&events[..2]).when(CardCommand::Unblock).then_refused("INVALID_STATE");
        given::<Card>(&events[..2]).when(CardCommand::EndBlock { at: Timestamp::MAX }).then(&[]);
        given::<Card>(&events[..2]).when(CardCommand::Remove).then(&events[2..]);
        given::<Card>(&events).when(link("12/28", DAY)).then_refused("CARD_REPORTED");
    }
}

fn requested() -> Box<Requested> {
    let card = linked("12/26");
    Box::new(Requested {
        owner: card.owner,
        request_id: "crq_0192f0c1a0007000800000000000000a".parse().unwrap(),
        form: CardForm::Virtual,
        linked_account: "1000000008".into(),
        bin: "506100".into(),
        last_four: "1234".into(),
        brand: "VERVE".into(),
        expiry: card.expiry,
        holder_name: None,
        deliver_to: None,
        deliver_by: "2026-11-01".parse().unwrap(),
        is_default: true,
        limits: card.limits,
    })
}

#[test]
fn a_card_of_the_banks_own_is_asked_for_and_activated_once() {
    let owner = requested().owner;
    let at = DAY.parse().unwrap();
    let activated = CardEvent::Activated(Activated { owner, note: None, is_default: true });
    let events = [CardEvent::Requested(requested()), activated.clone()];
    given::<Card>(&[]).when(CardCommand::Request(requested())).then(&events[..1]);
    given::<Card>(&events[..1]).when(CardCommand::Request(requested())).then_refused("CARD_EXISTS");
    given::<Card>(&events[..1]).when(CardCommand::Activate { note: None, at }).then(&[activated]);
    given::<Card>(&events[..1])
        .when(CardCommand::Activate { note: None, at: Timestamp::MAX })
        .then_refused("CARD_EXPIRED");
    given::<Card>(&events).when(CardCommand::Activate { note: None, at }).then_refused("INVALID_STATE");
    given::<Card>(&[]).when(CardCommand::Activate { note: None, at }).then_refused("NOT_FOUND");
    // Cards of other banks are not ours to activate.
    given::<Card>(&[CardEvent::Linked(linked("12/26"))])
        .when(CardCommand::Activate { note: None, at })
        .then_refused("INVALID_STATE");
}

#[test]
fn nothing_is_done_with_a_card_that_is_on_its_way_but_to_remove_it() {
    let events = [CardEvent::Requested(requested()), CardEvent::Removed { owner: requested().owner }];
    let pending = &events[..1];
    given::<Card>(pending)
        .when(CardCommand::Block { reason: None, until: None })
        .then_refused("INVALID_STATE");
    given::<Card>(pending).when(CardCommand::Unblock).then_refused("INVALID_STATE");
    given::<Card>(pending).when(charge(DAY, 1)).then_refused("INVALID_STATE");
    given::<Card>(pending).when(CardCommand::Remove).then(&events[1..]);
    given::<Card>(&events)
        .when(CardCommand::Activate { note: None, at: DAY.parse().unwrap() })
        .then_refused("NOT_FOUND");
}

#[test]
fn a_card_of_the_banks_own_brings_no_money_from_elsewhere() {
    let activated =
        CardEvent::Activated(Activated { owner: requested().owner, note: None, is_default: false });
    let events = [CardEvent::Requested(requested()), activated];
    given::<Card>(&events).when(charge(DAY, 1)).then_refused("OWN_CARD");
    let blocked = CardCommand::Block { reason: Some("Mislaid".into()), until: None };
    given::<Card>(&events).when(blocked).then(&[block("Mislaid", None, false)]);
}

#[test]
fn a_number_that_the_bank_gives_is_a_card_number() {
    let number = CardNumber::issue("506100", 98_765_432_101).unwrap();
    assert_eq!(number.digits().parse(), Ok(number.clone()));
    assert_eq!((number.bin(), &number.digits()[6..15]), ("506100", "765432101"));
    for wrong in ["", "50610", "5061000", "50610x"] {
        assert_eq!(CardNumber::issue(wrong, 1), Err(MalformedCardNumber), "{wrong}");
    }
    assert_eq!(CardExpiry::of("2029-11-30".parse().unwrap()).to_string(), "11/29");
}
