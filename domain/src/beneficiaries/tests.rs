use std::sync::LazyLock;

use super::*;
use crate::aggregate::given::given;
use crate::kernel::Sources;
use crate::kernel::time::tests::sources;

/// Each entry has an id of its own.
fn somebody(number: &str) -> Box<Beneficiary> {
    static SOURCES: LazyLock<Sources> = LazyLock::new(sources);
    Box::new(Beneficiary {
        id: BeneficiaryId::mint(&SOURCES),
        payee: Payee::Internal { account_number: number.into() },
        name: None,
        institution: None,
        nickname: None,
        is_favorite: false,
    })
}

#[test]
fn a_payee_is_kept_once() {
    let bola = somebody("1000000008");
    let kept = [BeneficiariesEvent::Added(bola.clone())];
    given::<Beneficiaries>(&[]).when(BeneficiariesCommand::Add(bola.clone())).then(&kept);
    given::<Beneficiaries>(&kept)
        .when(BeneficiariesCommand::Add(somebody("1000000008")))
        .then_refused("BENEFICIARY_EXISTS");
    // Somebody who was paid again is not news.
    given::<Beneficiaries>(&kept).when(BeneficiariesCommand::Keep(somebody("1000000008"))).then(&[]);
}

#[test]
fn whoever_was_taken_out_can_come_back() {
    let bola = somebody("1000000008");
    let id = bola.id;
    let gone = [BeneficiariesEvent::Added(bola), BeneficiariesEvent::Removed { id }];
    given::<Beneficiaries>(&gone[..1])
        .when(BeneficiariesCommand::Remove { id })
        .then(&[BeneficiariesEvent::Removed { id }]);
    given::<Beneficiaries>(&gone).when(BeneficiariesCommand::Remove { id }).then_refused("NOT_FOUND");
    let again = somebody("1000000008");
    given::<Beneficiaries>(&gone)
        .when(BeneficiariesCommand::Add(again.clone()))
        .then(&[BeneficiariesEvent::Added(again)]);
}

#[test]
fn a_full_list_refuses_one_more_but_not_a_payment() {
    let full: Vec<_> = (0..MOST).map(|n| BeneficiariesEvent::Added(somebody(&format!("{n:010}")))).collect();
    given::<Beneficiaries>(&full)
        .when(BeneficiariesCommand::Add(somebody("1000000008")))
        .then_refused("LIMIT_EXCEEDED");
    given::<Beneficiaries>(&full).when(BeneficiariesCommand::Keep(somebody("1000000008"))).then(&[]);
}
