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
fn nobody_is_paid_whose_number_was_erased() {
    let to = |phone_number| {
        let outside = Some(Outside::Wallet { provider: "OPAY".into(), phone_number });
        Pay { outside, ..pay(PaymentKind::Mwallet, "1000000008", "bank:settlement.wallet.OPAY:NGN") }.check()
    };
    assert!(to("+2348030000001".to_owned().into()).is_ok());
    assert_eq!(to(crate::Personal::Erased), Err(PaymentError::PayeeErased));
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
        tie: None,
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
        (vec![sent, PaymentEvent::Reversed { by, reason: None, tie: None }], false),
    ] {
        let mut payment = Payment::default();
        events.iter().for_each(|event| payment.evolve(event));
        assert_eq!(payment.has_left(), has_left, "{}", payment.state());
    }
}

mod undone {
    use crate::ledger::{Bond, Tie};
    use jiff::SignedDuration;

    use super::*;
    use crate::kernel::{DisputeId, TransactionId};
    use crate::ledger::{Channel, Internal};
    use crate::payments::{Cleared, Outside, Party};

    fn by() -> TransactionId {
        "txn_0192f0c1a0007000800000000000000c".parse().unwrap()
    }

    fn dispute_id() -> DisputeId {
        "dsp_0192f0c1a0007000800000000000000d".parse().unwrap()
    }

    fn reverse(party: Party, minutes: i64) -> PaymentCommand {
        PaymentCommand::Reverse { by: by(), party, age: SignedDuration::from_mins(minutes), reason: None }
    }

    fn dispute(amount: i64, days: i64) -> PaymentCommand {
        let amount = Amount::try_from(amount).unwrap();
        PaymentCommand::Dispute {
            dispute_id: dispute_id(),
            amount,
            age: SignedDuration::from_hours(24 * days),
        }
    }

    fn end(refunded_by: Option<TransactionId>) -> PaymentCommand {
        PaymentCommand::EndDispute { dispute_id: dispute_id(), refunded_by }
    }

    fn made(kind: PaymentKind) -> PaymentEvent {
        let (from, to) = match kind {
            PaymentKind::Deposit => ("bank:cash:NGN", "1000000008"),
            PaymentKind::External => ("1000000008", "bank:settlement.banks:NGN"),
            _ => ("1000000008", "1000000016"),
        };
        let outside = (kind == PaymentKind::External).then(|| Outside::Bank {
            bank_code: "058".into(),
            bank_name: "Bank".into(),
            account_number: crate::kernel::Personal::new("0123456789".into()),
        });
        let pay = Pay { outside, ..pay(kind, from, to) };
        PaymentEvent::Completed(Box::new(pay.check().unwrap()))
    }

    fn cleared() -> Box<Cleared> {
        let reference = "RENT".to_owned();
        Box::new(Cleared { reference, reason: None, release: None, tie: None, postings: Postings::default() })
    }

    /// What binds the payer's account.
    fn tie(bond: Bond) -> Tie {
        Tie::new("1000000008".into(), bond)
    }

    fn disputed(minor: i64) -> PaymentEvent {
        PaymentEvent::Disputed {
            dispute_id: dispute_id(),
            amount: Amount::try_from(minor).unwrap(),
            tie: Some(tie(Bond::Dispute)),
        }
    }

    fn ended(minor: Option<i64>) -> PaymentEvent {
        let refund = minor.map(|minor| Refund { by: by(), amount: Amount::try_from(minor).unwrap() });
        PaymentEvent::DisputeEnded { dispute_id: dispute_id(), refund, tie: Some(tie(Bond::Dispute).end()) }
    }

    #[test]
    fn the_payer_has_thirty_minutes_inside_the_bank_and_the_others_are_in_no_hurry() {
        let internal = || given::<Payment>(&[made(PaymentKind::Internal)]);
        let reversed = || [PaymentEvent::Reversed { by: by(), reason: None, tie: None }];
        internal().when(reverse(Party::Payer, 30)).then(&reversed());
        internal().when(reverse(Party::Payer, 31)).then_refused("REVERSAL_WINDOW_CLOSED");
        internal().when(reverse(Party::Payee, 100_000)).then(&reversed());
        internal().when(reverse(Party::Staff, 100_000)).then(&reversed());
        given::<Payment>(&[made(PaymentKind::Own)]).when(reverse(Party::Payer, 100_000)).then(&reversed());
        given::<Payment>(&[made(PaymentKind::Deposit)])
            .when(reverse(Party::Staff, 1))
            .then_refused("NOT_REVERSIBLE");
    }

    #[test]
    fn out_of_the_bank_it_is_undone_until_it_has_arrived() {
        let sent = made(PaymentKind::External);
        given::<Payment>(std::slice::from_ref(&sent))
            .when(reverse(Party::Payer, 100_000))
            .then(&[PaymentEvent::Reversed { by: by(), reason: None, tie: Some(tie(Bond::Payment).end()) }]);
        for end in [PaymentEvent::Settled(cleared()), PaymentEvent::Returned(cleared())] {
            given::<Payment>(&[sent.clone(), end])
                .when(reverse(Party::Payer, 1))
                .then_refused("INVALID_STATE");
        }
    }

    #[test]
    fn nobody_gets_the_money_back_twice() {
        let paid = made(PaymentKind::Internal);
        let reversed = PaymentEvent::Reversed { by: by(), reason: None, tie: None };
        given::<Payment>(&[paid.clone(), reversed.clone()])
            .when(reverse(Party::Payer, 1))
            .then_refused("INVALID_STATE");
        given::<Payment>(&[paid.clone(), reversed]).when(dispute(1, 1)).then_refused("INVALID_STATE");
        given::<Payment>(&[paid.clone(), disputed(500)])
            .when(reverse(Party::Payee, 1))
            .then_refused("INVALID_STATE");
        given::<Payment>(&[paid.clone(), disputed(500)]).when(dispute(1, 1)).then_refused("INVALID_STATE");
        let refunded = [paid.clone(), disputed(300), ended(Some(300))];
        given::<Payment>(&refunded).when(reverse(Party::Payee, 1)).then_refused("INVALID_STATE");
        given::<Payment>(&refunded).when(dispute(201, 1)).then_refused("AMOUNT_OUT_OF_RANGE");
        given::<Payment>(&refunded).when(dispute(200, 1)).then(&[disputed(200)]);
        // A payment that came back while the bank was looking into it is not refunded on top.
        let sent = made(PaymentKind::External);
        let back = [sent, disputed(500), PaymentEvent::Returned(cleared())];
        given::<Payment>(&back).when(end(Some(by()))).then_refused("INVALID_STATE");
        given::<Payment>(&back).when(end(None)).then(&[ended(None)]);
    }

    #[test]
    fn a_payment_is_disputed_for_120_days() {
        let paid = || given::<Payment>(&[made(PaymentKind::Internal)]);
        paid().when(dispute(500, 120)).then(&[disputed(500)]);
        paid().when(dispute(500, 121)).then_refused("DISPUTE_WINDOW_CLOSED");
        paid().when(dispute(501, 1)).then_refused("AMOUNT_OUT_OF_RANGE");
        given::<Payment>(&[made(PaymentKind::Own)]).when(dispute(1, 1)).then_refused("NOT_DISPUTABLE");
    }

    #[test]
    fn a_refund_comes_out_of_the_banks_own_money() {
        let refund = |source: &str| {
            let undoes = Some(by());
            PaymentCommand::Pay(Box::new(Pay { undoes, ..pay(PaymentKind::Refund, source, "1000000008") }))
        };
        given::<Payment>(&[]).when(refund("1000000016")).then_refused("WRONG_ACCOUNTS");
        let channel = Internal::Settlement(Channel::Banks).account(Currency::NGN);
        given::<Payment>(&[]).when(refund(channel.as_str())).then_refused("WRONG_ACCOUNTS");
        let chargebacks = Internal::Chargebacks.account(Currency::NGN);
        assert!(Payment::Absent.decide(refund(chargebacks.as_str())).is_ok());
    }
}
