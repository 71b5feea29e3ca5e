//! Values that may exist once, and how their holders let go of them.

use bursar_commands::{Committed, Context, SubmitError, Unit};
use bursar_domain::kernel::UserId;
use bursar_domain::users::UserCommand;
use futures_util::future::join_all;

use crate::support::Bank;

const VALUE: [u8; 32] = [7; 32];

/// A unit with an event, for a claim goes into the log's commit.
fn unit(user: UserId) -> Unit {
    Unit::new(Context::default()).step(user, UserCommand::SetPassword { hash: "not a hash".to_owned() })
}

fn claims(user: UserId) -> Unit {
    unit(user).claim("test", VALUE, user, "VALUE_TAKEN")
}

fn releases(user: UserId) -> Unit {
    unit(user).release("test", VALUE, user)
}

async fn holder(bank: &Bank) -> Option<String> {
    bank.app.journal.holder("test", &VALUE).await.unwrap()
}

/// Submits the units while the head is held, so that they are one batch (but for the first).
async fn at_once(bank: &Bank, units: Vec<Unit>) -> Vec<Result<Committed, SubmitError>> {
    let mut held = bank.pool.begin().await.unwrap();
    sqlx::query("SELECT FROM head FOR UPDATE").execute(&mut *held).await.unwrap();
    let journal = bank.app.journal.clone();
    let first = tokio::spawn({
        let (journal, ada) = (journal.clone(), bank.user("ada@example.com").await);
        async move { journal.submit(unit(ada)).await }
    });
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let rest = units.into_iter().map(|unit| journal.submit(unit));
    let rest = tokio::join!(join_all(rest), async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        held.rollback().await.unwrap();
    });
    first.await.unwrap().unwrap();
    rest.0
}

fn is_taken(outcome: &Result<Committed, SubmitError>) -> bool {
    matches!(outcome, Err(SubmitError::Refused(refusal)) if refusal.code() == "VALUE_TAKEN")
}

#[tokio::test]
async fn a_released_value_is_free_for_others() {
    let bank = Bank::open().await;
    let journal = &bank.app.journal;
    let (ada, bola) = (bank.user("ada@example.com").await, bank.user("bola@example.com").await);
    journal.submit(claims(ada)).await.unwrap();
    assert!(is_taken(&journal.submit(claims(bola)).await));
    // What is somebody else's cannot be released.
    journal.submit(releases(bola)).await.unwrap();
    assert_eq!(holder(&bank).await, Some(ada.to_string()));
    journal.submit(releases(ada)).await.unwrap();
    assert_eq!(holder(&bank).await, None);
    journal.submit(claims(bola)).await.unwrap();
    assert_eq!(holder(&bank).await, Some(bola.to_string()));
    bank.close().await;
}

#[tokio::test]
async fn within_one_batch_a_release_counts_at_once() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.user("ada@example.com").await, bank.user("bola@example.com").await);
    bank.app.journal.submit(claims(ada)).await.unwrap();
    let outcomes =
        at_once(&bank, vec![claims(bola), releases(bola), releases(ada), claims(bola), claims(ada)]).await;
    let taken: Vec<_> = outcomes.iter().map(is_taken).collect();
    assert_eq!(taken, [true, false, false, false, true], "{outcomes:?}");
    assert_eq!(holder(&bank).await, Some(bola.to_string()));
    // Claimed and let go in the same batch: nobody's. A refused unit lets go of nothing.
    let refused = releases(bola).claim("test", [8; 32], bola, "VALUE_TAKEN");
    bank.app.journal.submit(unit(ada).claim("test", [8; 32], ada, "VALUE_TAKEN")).await.unwrap();
    assert!(is_taken(&bank.app.journal.submit(refused).await));
    assert_eq!(holder(&bank).await, Some(bola.to_string()));
    at_once(&bank, vec![releases(bola), claims(ada), releases(ada)]).await;
    assert_eq!(holder(&bank).await, None);
    bank.close().await;
}
