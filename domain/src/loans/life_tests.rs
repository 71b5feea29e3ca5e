//! The life of a loan: who may move it where, and that what is owed is exact whatever is paid when.

use jiff::civil::date;
use jiff::{SignedDuration, ToSpan as _};
use proptest::prelude::*;
use rust_decimal::Decimal;

use super::*;
use crate::aggregate::given::given;
use crate::kernel::{
    Amount, Currency, FileType, Personal, Rejection as _, StoredFile, TransactionId, midnight,
};
use crate::loan_products::{LoanTerms, LoanType};

fn person(n: u8) -> UserId {
    format!("usr_0192f0c1a00070008000000000000a{n:02}").parse().unwrap()
}

/// Borrower, reviewer, approver, who pays it out.
fn people() -> [UserId; 4] {
    [person(1), person(2), person(3), person(4)]
}

fn txn() -> TransactionId {
    "txn_0192f0c1a0007000800000000000000c".parse().unwrap()
}

fn guarantor() -> Guarantor {
    Guarantor {
        id: "gua_0192f0c1a0007000800000000000000c".parse().unwrap(),
        owner: people()[0],
        first_name: Personal::new("Bola".into()),
        last_name: Personal::new("Adeyemi".into()),
        email: None,
        phone_number: None,
        relationship: None,
        employment_type: None,
        monthly_income: None,
        employer_name: None,
        address: None,
    }
}

fn collateral() -> Collateral {
    Collateral {
        id: "col_0192f0c1a0007000800000000000000c".parse().unwrap(),
        owner: people()[0],
        collateral_type: CollateralType::Vehicle,
        description: "A lorry".into(),
        estimated_value: amount(5_000_000),
        location: None,
        ownership_document: None,
        document_number: None,
        insurance: None,
        valuation_report: None,
        valuation_date: None,
    }
}

fn document() -> LoanDocument {
    LoanDocument {
        id: "doc_0192f0c1a0007000800000000000000c".parse().unwrap(),
        owner: people()[0],
        document_type: LoanDocumentType::Payslip,
        name: None,
        description: None,
        file: StoredFile {
            id: "file_0192f0c1a0007000800000000000000c".parse().unwrap(),
            file_type: FileType::Pdf,
            sha256: "ab".repeat(32),
        },
        size: 5,
    }
}

fn amount(minor: i64) -> Amount {
    Amount::try_from(minor).unwrap()
}

fn terms() -> LoanTerms {
    LoanTerms {
        name: "Personal loan".into(),
        loan_type: LoanType::Personal,
        currency: Currency::NGN,
        min_amount: 100,
        max_amount: 10_000_000,
        interest_rate: Decimal::from(12),
        min_tenure: 1,
        max_tenure: 24,
        processing_fee: Decimal::ONE,
        insurance_fee: Decimal::new(5, 1),
        eligibility_criteria: vec![],
        required_documents: vec![],
        guarantor_required: false,
        is_active: true,
    }
}

fn application() -> Application {
    Application {
        owner: people()[0],
        product_id: "LN-PER-001".into(),
        terms: terms(),
        amount: amount(1_000_000),
        tenure: 12,
        account: "1000000008".into(),
        purpose: None,
        employment_type: Some(EmploymentType::Employed),
        monthly_income: amount(300_000),
        employer_name: None,
        employment_duration: None,
        existing_loans: vec![],
        collateral_type: CollateralType::None,
        guarantor_required: false,
    }
}

/// Paid out on the last day of January.
fn day_one() -> Timestamp {
    midnight(date(2026, 1, 31))
}

fn day(after: i32) -> Date {
    date(2026, 1, 31).checked_add(after.days()).unwrap()
}

/// What was done to a loan.
#[derive(Default)]
struct Told {
    loan: Loan,
    events: Vec<LoanEvent>,
}

impl Told {
    fn tell(&mut self, command: LoanCommand) -> Result<Vec<LoanEvent>, LoanError> {
        let events = self.loan.decide(command)?;
        for event in &events {
            self.loan.evolve(event);
        }
        self.events.extend(events.iter().cloned());
        Ok(events)
    }

    fn case(&self) -> &Case {
        self.loan.case().unwrap()
    }

    fn pay(&mut self, minor: i64, today: Date) -> Result<Vec<LoanEvent>, LoanError> {
        let Repayment { shares, ahead } = self.loan.repayment(minor, today)?;
        let ahead = Amount::try_from(ahead).ok().map(|ahead| (ahead, txn()));
        self.tell(LoanCommand::Repay(Box::new(Repay {
            amount: amount(minor),
            transaction_id: txn(),
            shares,
            ahead,
            today,
            collected: false,
            payment_type: None,
        })))
    }

    fn accrue(&mut self, today: Date) {
        if let Ok(amount) = Amount::try_from(self.case().book.to_accrue(today)) {
            self.tell(LoanCommand::Accrue { transaction_id: txn(), amount, today }).unwrap();
        }
    }
}

fn commands() -> Vec<(&'static str, LoanCommand)> {
    let [_, reviewer, approver, disburser] = people();
    let repay = |minor| {
        LoanCommand::Repay(Box::new(Repay {
            amount: amount(minor),
            transaction_id: txn(),
            shares: vec![],
            ahead: None,
            today: day(0),
            collected: false,
            payment_type: None,
        }))
    };
    vec![
        ("apply", LoanCommand::Apply(Box::new(application()))),
        ("guarantor", LoanCommand::AddGuarantor(Box::new(guarantor()))),
        ("collateral", LoanCommand::AddCollateral(Box::new(collateral()))),
        ("document", LoanCommand::AddDocument(Box::new(document()))),
        (
            "check",
            LoanCommand::Check {
                item: Item::Guarantor(guarantor().id),
                outcome: CheckOutcome::Verified,
                note: None,
                by: reviewer,
            },
        ),
        ("review", LoanCommand::StartReview { by: reviewer, note: None }),
        ("ask", LoanCommand::RequestInfo { by: reviewer, note: "Payslip".into() }),
        ("approve", LoanCommand::Approve { by: approver, note: None, now: day_one() }),
        ("reject", LoanCommand::Reject { by: approver, reason: "No".into() }),
        ("withdraw", LoanCommand::Withdraw { reason: None }),
        ("expire", LoanCommand::Expire { now: midnight(day(40)) }),
        (
            "disburse",
            LoanCommand::Disburse { by: disburser, note: None, transaction_id: txn(), now: day_one() },
        ),
        ("accrue", LoanCommand::Accrue { transaction_id: txn(), amount: amount(10_000), today: day(28) }),
        ("repay", repay(1_000_000_000)),
        ("miss", LoanCommand::Miss { today: day(28), code: "INSUFFICIENT_FUNDS".into() }),
        (
            "write off",
            LoanCommand::WriteOff {
                by: approver,
                reason: "Gone".into(),
                transaction_id: txn(),
                principal: 1_000_000,
                interest: 0,
            },
        ),
    ]
}

/// A loan to which these were told.
fn after(names: &[&str]) -> Told {
    let mut told = Told::default();
    for name in names {
        let command = commands().into_iter().find(|(known, _)| known == name).unwrap().1;
        told.tell(command).unwrap();
    }
    told
}

fn running() -> Told {
    after(&["apply", "review", "approve", "disburse"])
}

/// A running loan that has a verified collateral.
fn secured() -> Told {
    let mut told = after(&["apply", "collateral"]);
    let item = Item::Collateral(collateral().id);
    let check = LoanCommand::Check { item, outcome: CheckOutcome::Verified, note: None, by: person(2) };
    told.tell(check).unwrap();
    for name in ["review", "approve", "disburse"] {
        let command = commands().into_iter().find(|(known, _)| *known == name).unwrap().1;
        told.tell(command).unwrap();
    }
    told
}

/// Which commands each state takes; every other one is refused with the state it is in.
#[test]
fn every_move_that_is_not_in_the_table_is_refused_with_the_state() {
    let mut paid = running();
    let payoff = paid.case().book.payoff();
    paid.pay(payoff, day(0)).unwrap();
    let table: [(Told, &str, &[&str]); 10] = [
        (Told::default(), "", &["apply"]),
        (
            after(&["apply", "guarantor"]),
            "PENDING",
            &["guarantor", "collateral", "document", "check", "review", "reject", "withdraw"],
        ),
        (
            after(&["apply", "guarantor", "review"]),
            "UNDER_REVIEW",
            &["guarantor", "collateral", "document", "check", "ask", "approve", "reject", "withdraw"],
        ),
        (after(&["apply", "review", "approve"]), "APPROVED", &["expire", "disburse"]),
        (after(&["apply", "reject"]), "REJECTED", &[]),
        (after(&["apply", "withdraw"]), "WITHDRAWN", &[]),
        (after(&["apply", "review", "approve", "expire"]), "EXPIRED", &[]),
        // More is paid than is owed, which is another refusal: see below.
        (running(), "DISBURSED", &["accrue", "repay", "miss", "write off"]),
        (paid, "CLOSED", &[]),
        (after(&["apply", "review", "approve", "disburse", "write off"]), "WRITTEN_OFF", &[]),
    ];
    for (told, state, allowed) in table {
        assert_eq!(told.loan.status().map_or("", LoanStatus::as_str), state);
        for (name, command) in commands() {
            match (told.loan.decide(command), allowed.contains(&name)) {
                (Ok(events), true) => assert!(!events.is_empty(), "{state}: {name}"),
                (Err(LoanError::Overpayment { .. }), true) => assert_eq!(name, "repay"),
                (Err(LoanError::Unknown), false) => assert_eq!(state, ""),
                (Err(LoanError::InvalidState { state: known }), false) => {
                    assert_eq!(known, state, "{name}");
                }
                (other, _) => panic!("{state}: {name}: {other:?}"),
            }
        }
    }
}

#[test]
fn more_information_sends_an_application_back_to_be_reviewed_once_more() {
    let told = after(&["apply", "review", "ask"]);
    assert_eq!(told.loan.status(), Some(LoanStatus::Pending));
    let told = after(&["apply", "review", "ask", "review", "approve"]);
    assert_eq!(told.loan.status(), Some(LoanStatus::Approved));
}

#[test]
fn each_step_needs_somebody_else() {
    let [owner, reviewer, approver, _] = people();
    let reviewed = after(&["apply", "review"]).events;
    for by in [owner, reviewer] {
        let approve = LoanCommand::Approve { by, note: None, now: day_one() };
        given::<Loan>(&reviewed).when(approve).then_refused("SAME_PERSON");
    }
    let approved = after(&["apply", "review", "approve"]).events;
    for by in [owner, approver] {
        let disburse = LoanCommand::Disburse { by, note: None, transaction_id: txn(), now: day_one() };
        given::<Loan>(&approved).when(disburse).then_refused("SAME_PERSON");
    }
    let applied = after(&["apply"]).events;
    given::<Loan>(&applied)
        .when(LoanCommand::StartReview { by: owner, note: None })
        .then_refused("SAME_PERSON");
    given::<Loan>(&applied)
        .when(LoanCommand::Reject { by: owner, reason: "No".into() })
        .then_refused("SAME_PERSON");
}

#[test]
fn approval_needs_the_documents_and_a_guarantor_who_was_verified() {
    let approve = || LoanCommand::Approve { by: person(3), note: None, now: day_one() };
    let mut told = Told::default();
    let vouched = Application { guarantor_required: true, ..application() };
    told.tell(LoanCommand::Apply(Box::new(vouched))).unwrap();
    told.tell(LoanCommand::StartReview { by: person(2), note: None }).unwrap();
    assert_eq!(told.tell(approve()), Err(LoanError::GuarantorMissing));
    told.tell(LoanCommand::AddGuarantor(Box::new(guarantor()))).unwrap();
    assert_eq!(told.tell(approve()), Err(LoanError::GuarantorMissing));
    let item = Item::Guarantor(guarantor().id);
    let check = LoanCommand::Check { item, outcome: CheckOutcome::Verified, note: None, by: person(2) };
    told.tell(check.clone()).unwrap();
    assert_eq!(told.tell(check).unwrap_err().code(), "INVALID_STATE");
    told.tell(approve()).unwrap();

    let mut told = Told::default();
    let documented = LoanTerms { required_documents: vec![LoanDocumentType::Payslip], ..terms() };
    told.tell(LoanCommand::Apply(Box::new(Application { terms: documented, ..application() }))).unwrap();
    told.tell(LoanCommand::StartReview { by: person(2), note: None }).unwrap();
    let missing = Err(LoanError::DocumentsMissing { missing: vec!["PAYSLIP"] });
    assert_eq!(told.tell(approve()), missing);
    told.tell(LoanCommand::AddDocument(Box::new(document()))).unwrap();
    assert_eq!(told.case().missing_documents(), []);
    let item = Item::Document(document().id);
    told.tell(LoanCommand::Check { item, outcome: CheckOutcome::Rejected, note: None, by: person(2) })
        .unwrap();
    assert_eq!(told.tell(approve()), missing);
    let again = LoanDocument { id: "doc_0192f0c1a0007000800000000000000d".parse().unwrap(), ..document() };
    told.tell(LoanCommand::AddDocument(Box::new(again))).unwrap();
    told.tell(approve()).unwrap();
}

#[test]
fn what_the_product_does_not_lend_is_refused() {
    for (wrong, code) in [
        (Application { amount: amount(99), ..application() }, "AMOUNT_OUT_OF_RANGE"),
        (Application { amount: amount(10_000_001), ..application() }, "AMOUNT_OUT_OF_RANGE"),
        (Application { tenure: 0, ..application() }, "TENURE_OUT_OF_RANGE"),
        (Application { tenure: 25, ..application() }, "TENURE_OUT_OF_RANGE"),
    ] {
        given::<Loan>(&[]).when(LoanCommand::Apply(Box::new(wrong))).then_refused(code);
    }
}

#[test]
fn an_approval_is_good_for_thirty_days() {
    let told = after(&["apply", "review", "approve"]);
    let last = day_one() + SignedDuration::from_hours(24 * 30);
    let before = last - SignedDuration::from_secs(1);
    let disburse = |now| LoanCommand::Disburse { by: person(4), note: None, transaction_id: txn(), now };
    assert_eq!(told.loan.decide(LoanCommand::Expire { now: before }), Err(LoanError::NotExpired));
    assert!(told.loan.decide(disburse(before)).is_ok());
    assert_eq!(told.loan.decide(disburse(last)), Err(LoanError::InvalidState { state: "EXPIRED" }));
    assert_eq!(told.loan.decide(LoanCommand::Expire { now: last }), Ok(vec![LoanEvent::Expired]));
}

#[test]
fn overdue_interest_is_paid_before_overdue_principal_and_that_before_what_is_due() {
    let mut told = running();
    // Due on 28 February, 31 March and 30 April; the third of them a day ago.
    let today = date(2026, 5, 1);
    told.accrue(today);
    let rows = told.case().book.rows().to_vec();
    let sums = |events: &[LoanEvent]| match events {
        [LoanEvent::Repaid(repaid)] => repaid.shares.clone(),
        other => panic!("{other:?}"),
    };
    let (first, second, third) = (&rows[0], &rows[1], &rows[2]);
    let paid = sums(&told.pay(first.interest + 5, today).unwrap());
    assert_eq!(
        paid,
        [
            Share { number: 1, principal: 0, interest: first.interest },
            Share { number: 2, principal: 0, interest: 5 },
        ]
    );
    let paid = sums(&told.pay(second.interest - 5 + first.principal + 7, today).unwrap());
    assert_eq!(
        paid,
        [
            Share { number: 1, principal: first.principal, interest: 0 },
            Share { number: 2, principal: 7, interest: second.interest - 5 },
        ]
    );
    let paid = sums(&told.pay(second.principal - 7 + third.interest, today).unwrap());
    assert_eq!(
        paid,
        [
            Share { number: 2, principal: second.principal - 7, interest: 0 },
            Share { number: 3, principal: 0, interest: third.interest },
        ]
    );
    assert_eq!(told.case().book.arrears(today).status, ArrearsStatus::Due);
}

#[test]
fn what_is_paid_ahead_accrues_when_it_is_paid_and_not_once_more() {
    let mut told = running();
    let first = told.case().book.rows()[0];
    let events = told.pay(first.interest + first.principal, day(1)).unwrap();
    assert!(matches!(events[0], LoanEvent::Accrued { amount, .. } if amount.minor() == first.interest));
    assert_eq!((told.case().book.interest(), told.case().book.to_accrue(day(28))), (0, 0));
    assert_eq!(told.case().book.arrears(day(28)).status, ArrearsStatus::Current);
}

#[test]
fn more_than_the_payoff_is_refused_and_the_payoff_closes_the_loan() {
    let mut told = secured();
    let payoff = told.case().book.payoff();
    assert_eq!(payoff, told.case().applied.cost.total_amount);
    assert_eq!(told.pay(payoff + 1, day(3)), Err(LoanError::Overpayment { payoff }));
    let events = told.pay(payoff, day(3)).unwrap();
    let released = LoanEvent::CollateralReleased { collateral_id: collateral().id };
    assert_eq!(&events[2..], [released, LoanEvent::Closed]);
    assert_eq!(told.case().items, [(Item::Collateral(collateral().id), ItemStatus::Released)]);
    assert_eq!(told.loan.status(), Some(LoanStatus::Closed));
}

#[test]
fn bookings_that_are_no_longer_right_are_refused() {
    let mut told = running();
    let Repayment { shares, ahead } = told.loan.repayment(50_000, day(1)).unwrap();
    told.pay(20_000, day(1)).unwrap();
    let repay = Repay {
        amount: amount(50_000),
        transaction_id: txn(),
        shares,
        ahead: Amount::try_from(ahead).ok().map(|ahead| (ahead, txn())),
        today: day(1),
        collected: false,
        payment_type: None,
    };
    assert_eq!(told.tell(LoanCommand::Repay(Box::new(repay))), Err(LoanError::Changed));
    let off = LoanCommand::WriteOff {
        by: person(3),
        reason: "Gone".into(),
        transaction_id: txn(),
        principal: 1_000_000,
        interest: 0,
    };
    assert_eq!(told.tell(off), Err(LoanError::Changed));
}

#[test]
fn arrears_grow_by_the_day_and_are_recorded_once_a_stage() {
    let mut told = running();
    let mut stages = Vec::new();
    for days in 27..130 {
        told.accrue(day(days));
        let miss = LoanCommand::Miss { today: day(days), code: "INSUFFICIENT_FUNDS".into() };
        for event in told.tell(miss).unwrap() {
            let LoanEvent::Missed { since, days, .. } = event else { panic!("{event:?}") };
            assert_eq!(since, date(2026, 2, 28));
            stages.push(days);
        }
    }
    assert_eq!(stages, [0, 1, 7, 31, 61, 90, 91]);
    let status = |days| told.case().book.arrears(day(days)).status;
    assert_eq!(
        [27, 28, 34, 35, 117, 118].map(status),
        [
            ArrearsStatus::Current,
            ArrearsStatus::Due,
            ArrearsStatus::Due,
            ArrearsStatus::Overdue,
            ArrearsStatus::Overdue,
            ArrearsStatus::Defaulted,
        ]
    );
    // Cured by payment.
    let owed = told.case().book.arrears(day(130)).owed;
    told.pay(owed, day(130)).unwrap();
    assert_eq!(told.case().book.arrears(day(130)).status, ArrearsStatus::Current);
    assert_eq!(
        [0, 1, 30, 31, 60, 61, 90, 91].map(Arrears::bucket),
        ["0", "1-30", "1-30", "31-60", "31-60", "61-90", "61-90", "90+"]
    );
}

proptest! {
    /// Whatever is paid when: every kobo of principal and interest is paid once, and the last one closes the loan.
    #[test]
    fn any_sequence_of_payments_is_exact_and_closes_at_zero(
        payments in prop::collection::vec((1_i64..400_000, 0_i32..40, any::<bool>()), 1..60)
    ) {
        let mut told = running();
        let (principal, total) = (1_000_000, told.case().applied.cost.total_interest);
        let (mut paid_principal, mut paid_interest, mut accrued, mut today) = (0, 0, 0, 0);
        let mut pays = payments.into_iter();
        while told.loan.status() == Some(LoanStatus::Disbursed) {
            let (minor, later, runs) = pays.next().unwrap_or((i64::MAX, 40, true));
            today += later;
            if runs {
                told.accrue(day(today));
            }
            let minor = minor.min(told.case().book.payoff());
            let before = told.events.len();
            told.pay(minor, day(today)).unwrap();
            for event in &told.events[before..] {
                if let LoanEvent::Repaid(repaid) = event {
                    prop_assert_eq!(principal_of(&repaid.shares) + interest_of(&repaid.shares), minor);
                    paid_principal += principal_of(&repaid.shares);
                    paid_interest += interest_of(&repaid.shares);
                    prop_assert_eq!(repaid.principal_left, principal - paid_principal);
                }
            }
            let book = &told.case().book;
            prop_assert_eq!(book.principal(), principal - paid_principal);
            prop_assert_eq!(book.payoff(), principal + total - paid_principal - paid_interest);
            prop_assert!(book.interest() >= 0);
            prop_assert!(book.rows().iter().all(|row| row.owed() >= 0));
        }
        for event in &told.events {
            if let LoanEvent::Accrued { amount, .. } = event {
                accrued += amount.minor();
            }
        }
        prop_assert_eq!((paid_principal, paid_interest, accrued), (principal, total, total));
        prop_assert_eq!((told.case().book.payoff(), told.loan.status()), (0, Some(LoanStatus::Closed)));
    }
}
