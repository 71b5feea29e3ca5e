use super::*;
use crate::aggregate::given::given;
use crate::kernel::{Amount, Currency, TransactionId};

fn opened() -> Box<Opened> {
    Box::new(Opened {
        owner: "usr_0192f0c1a0007000800000000000000a".parse().unwrap(),
        transaction_id: transaction(),
        reason: DisputeReason::Unauthorized,
        amount: Amount::try_from(500).unwrap(),
        currency: Currency::NGN,
        reference: "00000000000D".into(),
        description: None,
        supporting_documents: Vec::new(),
        contact_phone: None,
        contact_email: None,
    })
}

fn transaction() -> TransactionId {
    "txn_0192f0c1a0007000800000000000000c".parse().unwrap()
}

fn win() -> DisputeCommand {
    DisputeCommand::Win { refunded_by: transaction(), note: None }
}

fn start() -> DisputeCommand {
    DisputeCommand::StartReview { note: None }
}

fn started() -> DisputeEvent {
    DisputeEvent::ReviewStarted { note: None }
}

fn begun() -> DisputeEvent {
    DisputeEvent::Opened(opened())
}

#[test]
fn staff_look_into_it_before_they_decide() {
    given::<Dispute>(&[begun()]).when(win()).then_refused("INVALID_STATE");
    given::<Dispute>(&[begun()]).when(DisputeCommand::Lose { note: None }).then_refused("INVALID_STATE");
    given::<Dispute>(&[begun()]).when(start()).then(&[started()]);
    given::<Dispute>(&[begun(), started()])
        .when(win())
        .then(&[DisputeEvent::Won { refunded_by: transaction(), note: None }]);
    given::<Dispute>(&[begun(), started()]).when(start()).then_refused("INVALID_STATE");
}

#[test]
fn the_payer_takes_it_back_until_it_is_decided() {
    let withdraw = || DisputeCommand::Withdraw { reason: None };
    let withdrawn = || DisputeEvent::Withdrawn { reason: None };
    given::<Dispute>(&[begun()]).when(withdraw()).then(&[withdrawn()]);
    given::<Dispute>(&[begun(), started()]).when(withdraw()).then(&[withdrawn()]);
    let decided = DisputeEvent::Lost { note: None };
    given::<Dispute>(&[begun(), started(), decided]).when(withdraw()).then_refused("INVALID_STATE");
}

#[test]
fn what_is_over_stays_over() {
    for end in [
        DisputeEvent::Won { refunded_by: transaction(), note: None },
        DisputeEvent::Lost { note: None },
        DisputeEvent::Withdrawn { reason: None },
    ] {
        for command in [
            DisputeCommand::Open(opened()),
            start(),
            win(),
            DisputeCommand::Lose { note: None },
            DisputeCommand::Withdraw { reason: None },
        ] {
            let history = [begun(), started(), end.clone()];
            given::<Dispute>(&history).when(command).then_refused("INVALID_STATE");
        }
    }
}

#[test]
fn nothing_can_be_done_to_what_is_not_there() {
    given::<Dispute>(&[]).when(start()).then_refused("NOT_FOUND");
    given::<Dispute>(&[]).when(DisputeCommand::Open(opened())).then(&[begun()]);
}
