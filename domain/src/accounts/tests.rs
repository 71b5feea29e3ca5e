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
