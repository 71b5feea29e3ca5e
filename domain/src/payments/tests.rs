use super::*;
use crate::aggregate::given::given;
use crate::kernel::{AccountNumber, Amount, Currency};
use crate::ledger::Postings;

fn pay(kind: PaymentKind, source: &str, destination: &str) -> Pay {
    let amount = Amount::try_from(500).unwrap();
    Pay::between(kind, source.into(), destination.into(), amount, Currency::NGN, "RENT".into())
}

fn command(kind: PaymentKind, source: &str, destination: &str) -> PaymentCommand {
    PaymentCommand::Pay(Box::new(pay(kind, source, destination)))
}

#[test]
fn a_transfer_is_one_event_with_balanced_postings() {
    let command = pay(PaymentKind::Internal, "1000000008", "1000000016");
    let completed = command.clone().check().unwrap();
    assert_eq!(completed.postings.check_balanced(), Ok(()));
    assert_eq!(
        completed.postings,
        Postings::transfer(
            &AccountNumber::from("1000000008"),
            &AccountNumber::from("1000000016"),
            command.amount,
            Currency::NGN
        )
    );
    given::<Payment>(&[])
        .when(PaymentCommand::Pay(Box::new(command)))
        .then(&[PaymentEvent::Completed(Box::new(completed))]);
}

#[test]
fn a_payment_is_made_once() {
    let made = pay(PaymentKind::Internal, "1000000008", "1000000016").check().unwrap();
    given::<Payment>(&[PaymentEvent::Completed(Box::new(made))])
        .when(command(PaymentKind::Internal, "1000000008", "1000000016"))
        .then_refused("INVALID_STATE");
}

#[test]
fn nobody_pays_themselves_from_and_to_one_account() {
    given::<Payment>(&[])
        .when(command(PaymentKind::Own, "1000000008", "1000000008"))
        .then_refused("SAME_ACCOUNT");
}

#[test]
fn a_customer_payment_never_touches_the_banks_own_accounts() {
    for (kind, source, destination) in [
        (PaymentKind::Internal, "bank:cash:NGN", "1000000008"),
        (PaymentKind::Internal, "1000000008", "bank:cash:NGN"),
        (PaymentKind::Own, "1000000008", "bank:cash:NGN"),
        (PaymentKind::Deposit, "1000000016", "1000000008"),
        (PaymentKind::Withdrawal, "1000000008", "1000000016"),
        (PaymentKind::Deposit, "bank:cash:USD", "1000000008"),
    ] {
        given::<Payment>(&[]).when(command(kind, source, destination)).then_refused("WRONG_ACCOUNTS");
    }
}

#[test]
fn cash_comes_in_and_goes_out_over_the_till() {
    assert!(pay(PaymentKind::Deposit, "bank:cash:NGN", "1000000008").check().is_ok());
    assert!(pay(PaymentKind::Withdrawal, "1000000008", "bank:cash:NGN").check().is_ok());
}

#[test]
fn a_payment_has_left_until_it_comes_back() {
    let outside = Outside::Bank {
        bank_code: "058152".into(),
        bank_name: "Guaranty Trust Bank".into(),
        account_number: "0123456789".to_owned().into(),
    };
    let sent = Pay {
        outside: Some(outside),
        ..pay(PaymentKind::External, "1000000008", "bank:settlement.banks:NGN")
    };
    let sent = PaymentEvent::Completed(Box::new(sent.check().unwrap()));
    let inside = pay(PaymentKind::Internal, "1000000008", "1000000016").check().unwrap();
    let back = Cleared {
        reference: "RENT".into(),
        reason: Some("AC04".into()),
        release: None,
        postings: Postings::default(),
    };
    let settled = PaymentEvent::Settled(Box::new(Cleared { reason: None, ..back.clone() }));
    let by = TransactionId::mint(&crate::kernel::time::tests::sources());
    for (events, has_left) in [
        (vec![], false),
        (vec![PaymentEvent::Completed(Box::new(inside))], false),
        (vec![sent.clone()], true),
        (vec![sent.clone(), settled], true),
        (vec![sent.clone(), PaymentEvent::Returned(Box::new(back))], false),
        (vec![sent, PaymentEvent::Reversed { by }], false),
    ] {
        let mut payment = Payment::default();
        events.iter().for_each(|event| payment.evolve(event));
        assert_eq!(payment.has_left(), has_left, "{}", payment.state());
    }
}
