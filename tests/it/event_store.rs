//! The journal as a cqrs-es `EventStore`: what is built on cqrs-es gets no further than anybody else.

use std::collections::HashMap;

use bursar_domain::accounts::{Account, AccountCommand, AccountEvent};
use bursar_domain::ledger::{AccountStatus, Posting, Postings};
use bursar_domain::payments::{Completed, Payment, PaymentEvent, PaymentKind};
use bursar_domain::{Amount, Currency};
use cqrs_es::{AggregateContext, AggregateError, CqrsFramework, EventStore};

use crate::support::Bank;

fn metadata() -> HashMap<String, String> {
    HashMap::from([
        ("actor".to_owned(), "system:test".to_owned()),
        ("correlation_id".to_owned(), "cqrs".to_owned()),
    ])
}

#[tokio::test]
async fn a_cqrs_framework_freezes_an_account_for_the_whole_bank() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let framework = CqrsFramework::<Account, _>::new(bank.app.journal.clone(), vec![], ());
    let freeze = || AccountCommand::Freeze { reason: "court order".to_owned() };
    framework.execute_with_metadata(&ada.current, freeze(), metadata()).await.unwrap();
    let again = framework.execute(&ada.current, freeze()).await;
    assert!(matches!(again, Err(AggregateError::UserError(_))), "{again:?}");
    // The ledger knows: the freeze went through it.
    let number = ada.current.as_str().into();
    let account = bank.app.journal.ledger_account(&number).await.unwrap().unwrap();
    assert_eq!(account.status, AccountStatus::Frozen);
    ada.client.pay(&ada.current, &bola.current, 1, "frozen").await.problem(409, "INVALID_STATE");
    bank.close().await;
}

#[tokio::test]
async fn a_commit_on_an_old_version_is_a_conflict() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let store = &bank.app.journal;
    let context = EventStore::<Account>::load_aggregate(store, &ada.current).await.unwrap();
    let mut late = context.clone();
    assert!(matches!(late.aggregate(), Account::Active(_)));
    let frozen = || vec![AccountEvent::Frozen { reason: "one".to_owned() }];
    let recorded = EventStore::<Account>::commit(store, frozen(), context, metadata()).await.unwrap();
    assert_eq!((recorded.len(), recorded[0].metadata["correlation_id"].as_str()), (1, "cqrs"));
    let conflict = EventStore::<Account>::commit(store, frozen(), late, metadata()).await;
    assert!(matches!(conflict, Err(AggregateError::AggregateConflict)));
    bank.close().await;
}

#[tokio::test]
async fn no_event_with_postings_gets_around_the_ledger() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let line = |amount| Posting {
        account: ada.current.as_str().into(),
        amount,
        currency: Currency::NGN,
        balance: 0,
    };
    let store = &bank.app.journal;
    let (events, id) = (bank.events().await, "txn_0192f0c1a0007000800000000000000a");
    for postings in [
        // Money from nothing, and more than there is.
        Postings::from_lines(vec![line(1_000), line(1_000)]),
        Postings::transfer(
            &ada.current.as_str().into(),
            &ada.savings.as_str().into(),
            Amount::try_from(Amount::MAX).unwrap(),
            Currency::NGN,
        ),
    ] {
        let forged = PaymentEvent::Completed(Box::new(Completed {
            kind: PaymentKind::Internal,
            payer: None,
            source: ada.current.as_str().into(),
            destination: ada.savings.as_str().into(),
            destination_name: None,
            outside: None,
            fee: None,
            undoes: None,
            loan: None,
            earned: None,
            tie: None,
            origin: None,
            amount: Amount::try_from(1).unwrap(),
            currency: Currency::NGN,
            narration: None,
            reference: "FORGED".to_owned(),
            save_as_beneficiary: false,
            postings,
        }));
        let context = EventStore::<Payment>::load_aggregate(store, id).await.unwrap();
        assert!(EventStore::<Payment>::commit(store, vec![forged], context, metadata()).await.is_err());
    }
    assert_eq!(bank.events().await, events);
    bank.close().await;
}
