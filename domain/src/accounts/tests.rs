use rust_decimal::Decimal;

use super::*;
use crate::aggregate::given::given;
use crate::kernel::Currency;
use crate::products::{AccountType, ProductTerms};

fn owner() -> UserId {
    "usr_0192f0c1a0007000800000000000000a".parse().unwrap()
}

fn current() -> ProductTerms {
    ProductTerms {
        name: "Current".into(),
        account_type: AccountType::Current,
        description: String::new(),
        currency: Currency::NGN,
        interest_rate: Decimal::ZERO,
        minimum_balance: 0,
        minimum_deposit: 0,
        maximum_balance: None,
        overdraft_limit: 0,
        daily_limit: None,
        monthly_limit: None,
        features: vec![],
        eligibility_criteria: vec![],
        is_active: true,
    }
}

fn open(product: ProductTerms, account_type: AccountType, deposit: Option<i64>) -> AccountCommand {
    AccountCommand::Open(Box::new(OpenAccount {
        owner: owner(),
        name: "Ada".into(),
        product_id: "CUR-001".into(),
        product,
        account_type,
        initial_deposit: deposit,
        plan: None,
    }))
}

fn opened() -> AccountEvent {
    let AccountCommand::Open(open) = open(current(), AccountType::Current, None) else { unreachable!() };
    AccountEvent::Opened(open.check().unwrap())
}

#[test]
fn an_account_is_opened_on_the_terms_of_its_product() {
    given::<Account>(&[]).when(open(current(), AccountType::Current, None)).then(&[opened()]);
}

#[test]
fn a_number_is_used_once() {
    given::<Account>(&[opened()])
        .when(open(current(), AccountType::Current, None))
        .then_refused("ACCOUNT_EXISTS");
}

#[test]
fn the_product_decides_the_kind() {
    given::<Account>(&[]).when(open(current(), AccountType::Savings, None)).then_refused("WRONG_PRODUCT");
}

#[test]
fn a_withdrawn_product_opens_nothing() {
    let withdrawn = ProductTerms { is_active: false, ..current() };
    given::<Account>(&[])
        .when(open(withdrawn, AccountType::Current, None))
        .then_refused("PRODUCT_NOT_OFFERED");
}

#[test]
fn the_initial_deposit_reaches_the_minimum() {
    let wants_more = ProductTerms { minimum_deposit: 500, ..current() };
    given::<Account>(&[])
        .when(open(wants_more, AccountType::Current, Some(499)))
        .then_refused("BELOW_MINIMUM_DEPOSIT");
}

#[test]
fn a_plan_belongs_to_target_savings() {
    let AccountCommand::Open(mut command) = open(current(), AccountType::Current, None) else {
        unreachable!()
    };
    command.plan = Some(SavingsPlan::default());
    given::<Account>(&[]).when(AccountCommand::Open(command)).then_refused("PLAN_NOT_ALLOWED");
}

#[test]
fn freezing_and_unfreezing_alternate() {
    let freeze = AccountCommand::Freeze { reason: "court order".into() };
    let unfreeze = AccountCommand::Unfreeze { reason: "lifted".into() };
    let frozen = AccountEvent::Frozen { reason: "court order".into() };
    let unfrozen = AccountEvent::Unfrozen { reason: "lifted".into() };
    given::<Account>(&[opened()]).when(freeze.clone()).then(std::slice::from_ref(&frozen));
    given::<Account>(&[opened()]).when(unfreeze.clone()).then_refused("INVALID_STATE");
    given::<Account>(&[opened(), frozen.clone()]).when(freeze.clone()).then_refused("INVALID_STATE");
    given::<Account>(&[opened(), frozen]).when(unfreeze).then(&[unfrozen]);
    given::<Account>(&[]).when(freeze).then_refused("NOT_FOUND");
}

fn target(maturity: &str) -> AccountEvent {
    let AccountEvent::Opened(mut opened) = opened() else { unreachable!() };
    opened.account_type = AccountType::TargetSavings;
    opened.plan =
        Some(SavingsPlan { maturity_date: Some(maturity.parse().unwrap()), ..SavingsPlan::default() });
    AccountEvent::Opened(opened)
}

fn leave(now: &str) -> AccountCommand {
    AccountCommand::Leave { now: now.parse().unwrap() }
}

fn configure(configure: Configure) -> AccountCommand {
    AccountCommand::Configure(Box::new(Configure { today: jiff::civil::date(2026, 11, 18), ..configure }))
}

fn configured(settings: Settings, next: Option<(&str, &str)>) -> AccountEvent {
    let next_statement =
        next.map(|(from, at)| NextStatement { from: from.parse().unwrap(), at: at.parse().unwrap() });
    AccountEvent::Configured(Box::new(Configured { settings, next_statement }))
}

#[test]
fn every_move_that_a_state_does_not_have_is_refused() {
    let closure_id = Some("cls_0192f0c1a0007000800000000000000c".parse().unwrap());
    let since = "2026-01-01T00:00:00Z".parse().unwrap();
    let freeze = || AccountCommand::Freeze { reason: "x".into() };
    let unfreeze = || AccountCommand::Unfreeze { reason: "x".into() };
    let sleep = || AccountCommand::FallDormant { silent_since: since };
    let wake = || AccountCommand::Reactivate { reason: "x".into() };
    let close = || AccountCommand::Close { closure_id };
    let leaves = || leave("2026-11-18T00:00:00Z");
    let sets = || configure(Configure::default());
    let active = vec![opened()];
    let frozen = vec![opened(), AccountEvent::Frozen { reason: "x".into() }];
    let dormant = vec![opened(), AccountEvent::WentDormant { silent_since: since }];
    let closed = vec![opened(), AccountEvent::Closed { closure_id }];
    let table: [(Vec<AccountEvent>, Vec<AccountCommand>); 4] = [
        (active.clone(), vec![unfreeze(), wake()]),
        (frozen.clone(), vec![freeze(), sleep(), wake(), close(), leaves()]),
        (dormant.clone(), vec![freeze(), unfreeze(), sleep(), close(), leaves()]),
        (closed.clone(), vec![freeze(), unfreeze(), sleep(), wake(), close(), leaves(), sets()]),
    ];
    for (events, commands) in table {
        for command in commands {
            given::<Account>(&events).when(command).then_refused("INVALID_STATE");
        }
    }
    // Whoever is erased cannot wake it up, or have it thawed.
    for events in [active, frozen, dormant] {
        let over = AccountEvent::Closed { closure_id: None };
        given::<Account>(&events).when(AccountCommand::Close { closure_id: None }).then(&[over]);
    }
    let again = AccountCommand::Close { closure_id: None };
    given::<Account>(&closed).when(again).then_refused("INVALID_STATE");
    for command in [freeze(), unfreeze(), sleep(), wake(), close(), leaves(), sets()] {
        given::<Account>(&[]).when(command).then_refused("NOT_FOUND");
    }
    let reactivated = AccountEvent::Reactivated { reason: "x".into() };
    given::<Account>(&[opened(), AccountEvent::WentDormant { silent_since: since }])
        .when(wake())
        .then(&[reactivated]);
}

#[test]
fn whoever_has_bound_themselves_waits_for_the_end_of_the_plan() {
    let plan = target("2027-01-01T00:00:00Z");
    given::<Account>(std::slice::from_ref(&plan)).when(leave("2026-11-18T00:00:00Z")).then(&[]);
    let plan_only = Settings {
        plan: Some(SavingsPlan {
            maturity_date: Some("2027-01-01T00:00:00Z".parse().unwrap()),
            ..SavingsPlan::default()
        }),
        early_closure_allowed: false,
        ..Settings::default()
    };
    let bound = configured(plan_only, None);
    let no_way_out = Configure { early_closure_allowed: Some(false), ..Configure::default() };
    given::<Account>(std::slice::from_ref(&plan))
        .when(configure(no_way_out))
        .then(std::slice::from_ref(&bound));
    given::<Account>(&[plan.clone(), bound.clone()])
        .when(leave("2026-12-31T23:59:59Z"))
        .then_refused("EARLY_CLOSURE_NOT_ALLOWED");
    given::<Account>(&[plan, bound]).when(leave("2027-01-01T00:00:00Z")).then(&[]);
}

#[test]
fn only_target_savings_have_a_plan_to_set_up() {
    let goal = SavingsPlan { goal: Some(1), ..SavingsPlan::default() };
    for change in [
        Configure { plan: goal, ..Configure::default() },
        Configure { early_closure_allowed: Some(true), ..Configure::default() },
    ] {
        given::<Account>(&[opened()]).when(configure(change)).then_refused("PLAN_NOT_ALLOWED");
    }
}

#[test]
fn statements_follow_one_another_without_a_gap_and_none_is_sent_twice() {
    let (delivery, weekly) = (StatementDelivery::Email, StatementFrequency::Weekly);
    let monthly = Settings { statement_delivery: delivery, ..Settings::default() };
    let begun = configured(monthly.clone(), Some(("2026-11-18", "2026-12-01T00:00:00Z")));
    let wants = Configure { statement_delivery: Some(delivery), ..Configure::default() };
    given::<Account>(&[opened()]).when(configure(wants)).then(std::slice::from_ref(&begun));
    // More often: the days that no statement has had yet are in the next one. 18 November 2026 is a Wednesday.
    let more = Configure { statement_frequency: Some(weekly), ..Configure::default() };
    let weekly = Settings { statement_frequency: weekly, ..monthly };
    given::<Account>(&[opened(), begun.clone()])
        .when(configure(more))
        .then(&[configured(weekly, Some(("2026-11-18", "2026-11-23T00:00:00Z")))]);
    let day = |text: &str| text.parse().unwrap();
    let send = |from: &str, to: &str, today: &str| AccountCommand::SendStatement {
        from: day(from),
        to: day(to),
        today: day(today),
    };
    let sent = AccountEvent::StatementSent {
        from: day("2026-11-18"),
        to: day("2026-11-30"),
        next: "2027-01-01T00:00:00Z".parse().unwrap(),
    };
    let in_time = || send("2026-11-18", "2026-11-30", "2026-12-01");
    given::<Account>(&[opened(), begun.clone()]).when(in_time()).then(std::slice::from_ref(&sent));
    given::<Account>(&[opened(), begun.clone(), sent]).when(in_time()).then_refused("NOT_DUE");
    given::<Account>(&[opened(), begun])
        .when(send("2026-11-18", "2026-11-30", "2026-11-30"))
        .then_refused("NOT_DUE");
    given::<Account>(&[opened()]).when(in_time()).then_refused("NOT_DUE");
}
