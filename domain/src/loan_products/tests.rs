use super::*;
use crate::aggregate::given::given;

fn terms() -> LoanTerms {
    LoanTerms {
        name: "Personal loan".into(),
        loan_type: LoanType::Personal,
        currency: Currency::NGN,
        min_amount: 100,
        max_amount: 1_000_000,
        interest_rate: Decimal::from(12),
        min_tenure: 3,
        max_tenure: 24,
        processing_fee: Decimal::ONE,
        insurance_fee: Decimal::new(5, 1),
        eligibility_criteria: vec![],
        required_documents: vec![LoanDocumentType::Identity],
        guarantor_required: false,
        is_active: true,
    }
}

fn define(terms: LoanTerms) -> LoanProductCommand {
    LoanProductCommand::Define(Box::new(terms))
}

#[test]
fn new_terms_are_news_and_the_same_ones_are_not() {
    let event = |terms| LoanProductEvent::Defined(Box::new(terms));
    given::<LoanProduct>(&[]).when(define(terms())).then(&[event(terms())]);
    given::<LoanProduct>(&[event(terms())]).when(define(terms())).then(&[]);
    let dearer = LoanTerms { interest_rate: Decimal::from(13), ..terms() };
    given::<LoanProduct>(&[event(terms())]).when(define(dearer.clone())).then(&[event(dearer)]);
}

#[test]
fn terms_that_no_loan_can_have_are_refused() {
    for (wrong, code) in [
        (LoanTerms { min_amount: 0, ..terms() }, "AMOUNT_OUT_OF_RANGE"),
        (LoanTerms { min_amount: 1_000_001, ..terms() }, "AMOUNT_OUT_OF_RANGE"),
        (LoanTerms { max_amount: LARGEST + 1, ..terms() }, "AMOUNT_OUT_OF_RANGE"),
        (LoanTerms { min_tenure: 0, ..terms() }, "TENURE_OUT_OF_RANGE"),
        (LoanTerms { min_tenure: 25, ..terms() }, "TENURE_OUT_OF_RANGE"),
        (LoanTerms { max_tenure: 481, ..terms() }, "TENURE_OUT_OF_RANGE"),
        (LoanTerms { interest_rate: Decimal::from(101), ..terms() }, "RATE_OUT_OF_RANGE"),
        (LoanTerms { processing_fee: Decimal::from(-1), ..terms() }, "RATE_OUT_OF_RANGE"),
        (
            LoanTerms { processing_fee: Decimal::from(60), insurance_fee: Decimal::from(41), ..terms() },
            "RATE_OUT_OF_RANGE",
        ),
    ] {
        given::<LoanProduct>(&[]).when(define(wrong)).then_refused(code);
    }
}

#[test]
fn fees_are_a_share_of_the_amount_rounded_half_to_even() {
    let cost = |amount| terms().cost(amount, 12).unwrap();
    assert_eq!((cost(1_000_000).processing_fee, cost(1_000_000).insurance_fee), (10_000, 5_000));
    // 0.5 percent of 100 and of 300 are 0.5 and 1.5.
    assert_eq!((cost(100).insurance_fee, cost(300).insurance_fee), (0, 2));
    let cost = cost(1_000_000);
    assert_eq!((cost.monthly_payment, cost.total_amount - cost.total_interest), (88_849, 1_000_000));
}

#[test]
fn a_withdrawn_product_cannot_be_applied_for() {
    assert_eq!(LoanProduct::Defined(LoanTerms { is_active: false, ..terms() }).on_offer(), None);
    assert_eq!(LoanProduct::Absent.on_offer(), None);
    assert_eq!(LoanProduct::Defined(terms()).on_offer(), Some(terms()));
}

#[test]
fn only_what_is_new_is_created_and_only_what_is_there_changes() {
    let there = || LoanProductEvent::Defined(Box::new(terms()));
    given::<LoanProduct>(&[]).when(LoanProductCommand::Create(Box::new(terms()))).then(&[there()]);
    given::<LoanProduct>(&[there()])
        .when(LoanProductCommand::Create(Box::new(terms())))
        .then_refused("PRODUCT_EXISTS");
    given::<LoanProduct>(&[]).when(LoanProductCommand::Change(Box::new(terms()))).then_refused("NOT_FOUND");
    given::<LoanProduct>(&[there()]).when(LoanProductCommand::Change(Box::new(terms()))).then(&[]);
    let mut other = Box::new(terms());
    other.is_active = false;
    given::<LoanProduct>(&[there()])
        .when(LoanProductCommand::Change(other.clone()))
        .then(&[LoanProductEvent::Defined(other)]);
}
