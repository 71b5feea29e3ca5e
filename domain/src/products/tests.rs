use rust_decimal::Decimal;

use super::*;
use crate::aggregate::given::given;

fn savings() -> Box<ProductTerms> {
    Box::new(ProductTerms {
        name: "Everyday savings".into(),
        account_type: AccountType::Savings,
        description: "Savings with monthly interest".into(),
        currency: Currency::NGN,
        interest_rate: Decimal::new(425, 2),
        minimum_balance: 0,
        minimum_deposit: 100_000,
        maximum_balance: None,
        overdraft_limit: 0,
        daily_limit: None,
        monthly_limit: None,
        features: vec!["INTEREST_EARNING".into()],
        eligibility_criteria: vec![],
        is_active: true,
    })
}

#[test]
fn a_product_is_defined_with_its_terms() {
    given::<Product>(&[]).when(ProductCommand::Define(savings())).then(&[ProductEvent::Defined(savings())]);
}

#[test]
fn defining_the_same_terms_again_is_not_news() {
    given::<Product>(&[ProductEvent::Defined(savings())]).when(ProductCommand::Define(savings())).then(&[]);
}

#[test]
fn new_terms_are_news() {
    let dearer = Box::new(ProductTerms { minimum_deposit: 1, ..*savings() });
    given::<Product>(&[ProductEvent::Defined(savings())])
        .when(ProductCommand::Define(dearer.clone()))
        .then(&[ProductEvent::Defined(dearer)]);
}

#[test]
fn a_rate_above_a_hundred_percent_is_refused() {
    let usury = Box::new(ProductTerms { interest_rate: Decimal::new(101, 0), ..*savings() });
    given::<Product>(&[]).when(ProductCommand::Define(usury)).then_refused("RATE_OUT_OF_RANGE");
}

#[test]
fn a_maximum_below_the_minimum_is_refused() {
    let odd = Box::new(ProductTerms { minimum_balance: 2, maximum_balance: Some(1), ..*savings() });
    given::<Product>(&[]).when(ProductCommand::Define(odd)).then_refused("LIMIT_OUT_OF_RANGE");
}

#[test]
fn a_withdrawn_product_is_not_on_offer() {
    let withdrawn = ProductTerms { is_active: false, ..*savings() };
    assert!(Product::Defined(withdrawn).on_offer().is_none());
    assert!(Product::Defined(*savings()).on_offer().is_some());
}

#[test]
fn only_what_is_new_is_created_and_only_what_is_there_changes() {
    let there = || ProductEvent::Defined(savings());
    given::<Product>(&[]).when(ProductCommand::Create(savings())).then(&[there()]);
    given::<Product>(&[there()]).when(ProductCommand::Create(savings())).then_refused("PRODUCT_EXISTS");
    given::<Product>(&[]).when(ProductCommand::Change(savings())).then_refused("NOT_FOUND");
    given::<Product>(&[there()]).when(ProductCommand::Change(savings())).then(&[]);
    let mut other = savings();
    other.is_active = false;
    given::<Product>(&[there()])
        .when(ProductCommand::Change(other.clone()))
        .then(&[ProductEvent::Defined(other)]);
}
