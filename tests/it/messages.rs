//! What the bank tells its customers: in the app, by mail, and once.

use bursar_commands::journal::JournalOptions;
use bursar_commands::messages::{Channel, DeliverMessages, Message, Messenger, NotSent, notice};
use bursar_commands::processes::{Task as _, Work};
use bursar_commands::vault::Vault;
use bursar_commands::{Context, Journal, Unit};
use bursar_domain::messages::{Category, MessagesCommand, Notice};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, ready};
use jiff::SignedDuration;
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::support::{Bank, master_key};

/// Tells the person with this address something; the id of the message.
pub async fn tell(bank: &Bank, email: &str, subject: &str) -> String {
    let user = bank.user(email).await;
    let news = notice(bank.app.journal.sources(), Category::General, subject, "Read it in the app.".into());
    let id = news.id.to_string();
    let post = MessagesCommand::Post(Box::new(news));
    bank.app.journal.submit(Unit::new(Context::default()).step(user, post)).await.unwrap();
    bank.caught_up().await;
    id
}

#[tokio::test]
async fn a_message_is_in_the_app_and_in_the_mail() {
    let bank = Bank::open().await;
    let ada = bank.ada().await;
    let id = tell(&bank, "ada@example.com", "New opening hours").await;
    bank.app.processes.run_due().await.unwrap();
    bank.caught_up().await;
    let list = ada.client.get("/v1/users/messages").await.is(200);
    assert_eq!(list.body["pagination"]["total"], 1);
    let message = &list.body["messages"][0];
    assert_eq!(message["messageId"], json!(id));
    assert_eq!(message["subject"], "New opening hours");
    assert_eq!((&message["category"], &message["sentBy"]), (&json!("GENERAL"), &json!(["EMAIL"])));
    let mail = bank.client().get("/v1/sandbox/messages?to=ada@example.com").await.is(200);
    assert_eq!(mail.body["messages"][0]["data"]["messageId"], json!(id));
    // Nothing is left to be done, and nothing is done twice.
    bank.later(100_000).await;
    let again = bank.client().get("/v1/sandbox/messages?to=ada@example.com").await.is(200);
    assert_eq!(again.list_at("messages").len(), 1);
    bank.close().await;
}

#[tokio::test]
async fn messages_are_found_sorted_and_deleted_by_their_reader_only() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let first = tell(&bank, "ada@example.com", "About 100% of cards").await;
    let second = tell(&bank, "ada@example.com", "About loans").await;
    let ids = |list: &crate::support::client::Answer| -> Vec<String> {
        list.list_at("messages").iter().map(|m| m["messageId"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(&ada.client.get("/v1/users/messages").await.is(200)), [&*second, &*first]);
    assert_eq!(ids(&ada.client.get("/v1/users/messages?sort=createdAt").await.is(200)), [&*first, &*second]);
    assert_eq!(ids(&ada.client.get("/v1/users/messages?q=0%25%20OF").await.is(200)), [&*first]);
    assert_eq!(ids(&ada.client.get("/v1/users/messages?category=SECURITY").await.is(200)).len(), 0);
    assert_eq!(ids(&ada.client.get("/v1/users/messages?size=1&page=2").await.is(200)), [&*first]);
    ada.client.get("/v1/users/messages?category=GOSSIP").await.problem(400, "VALIDATION_FAILED");
    assert_eq!(ids(&bola.client.get("/v1/users/messages").await.is(200)).len(), 0);

    let path = format!("/v1/users/messages/{first}");
    bola.client.delete(&path).await.problem(404, "NOT_FOUND");
    ada.client.delete(&path).await.is(200);
    ada.client.delete(&path).await.problem(404, "NOT_FOUND");
    assert_eq!(ids(&ada.client.get("/v1/users/messages").await.is(200)), [second]);
    // The log keeps what its reader does not want to see.
    assert_eq!(bank.events_of("messages.posted").await, 2);
    bank.close().await;
}

/// Takes nothing the first `refusals` times.
#[derive(Default)]
struct Moody {
    refusals: AtomicUsize,
    taken: Mutex<Vec<String>>,
}

impl Messenger for Moody {
    fn carries(&self, channel: Channel) -> bool {
        channel == Channel::Email
    }

    fn send(&self, message: Message) -> BoxFuture<'_, Result<(), NotSent>> {
        let left = self.refusals.load(Ordering::SeqCst);
        if left > 0 {
            self.refusals.store(left - 1, Ordering::SeqCst);
            return ready(Err(NotSent)).boxed();
        }
        self.taken.lock().unwrap().push(message.id);
        ready(Ok(())).boxed()
    }
}

#[tokio::test]
async fn a_message_that_nobody_takes_is_tried_again_and_given_up_after_a_day() {
    let bank = Bank::open().await;
    let user = bank.user("ada@example.com").await;
    // The server's own process must not be faster.
    bank.app.close().await;
    let sources = bank.app.journal.sources().clone();
    let vault = Vault::new(&master_key(), Arc::clone(&sources.entropy));
    let journal = Journal::open(bank.pool.clone(), sources.clone(), vault.into(), JournalOptions::default());
    let journal = journal.await.unwrap();
    let moody = Arc::new(Moody::default());
    let task = DeliverMessages::new(journal.clone(), Arc::clone(&moody) as Arc<dyn Messenger>);
    let run = async || {
        let now = sources.clock.now();
        task.run(&Work { subject: user.to_string(), due_at: now, now, attempt: 1 }).await
    };
    let post = async |channels: &[Channel]| {
        let channels = channels.iter().copied().collect();
        let news = notice(&sources, Category::General, "Once", "Once.".into());
        let id = news.id;
        let post = MessagesCommand::Post(Box::new(Notice { channels, ..news }));
        journal.submit(Unit::new(Context::default()).step(user, post)).await.unwrap();
        id
    };
    let id = post(&[Channel::Email, Channel::Sms]).await;
    moody.refusals.store(2, Ordering::SeqCst);
    assert!(run().await.is_err() && run().await.is_err());
    assert!(run().await.is_ok() && run().await.is_ok());
    assert_eq!(
        *moody.taken.lock().unwrap(),
        [format!("{id}:EMAIL")],
        "once, and nobody carries short messages"
    );
    assert_eq!(bank.events_of("messages.delivered").await, 1);
    assert_eq!(bank.events_of("messages.undelivered").await, 1);

    post(&[Channel::Email]).await;
    moody.refusals.store(usize::MAX, Ordering::SeqCst);
    assert!(run().await.is_err());
    bank.advance(SignedDuration::from_secs(86_401));
    assert!(run().await.is_ok());
    assert_eq!(bank.events_of("messages.undelivered").await, 2);
    journal.close().await;
    bank.close().await;
}
