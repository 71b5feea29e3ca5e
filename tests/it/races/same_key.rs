//! T13: six clients send the same key at the same moment. One payment, and all six are told the same.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures_util::future::{BoxFuture, join_all};
use tokio::sync::Barrier;

use crate::support::Bank;
use crate::support::chance::{did, scaled};
use crate::support::invariants::{Acknowledged, none, red};
use crate::support::payer::{Payer, transaction};

/// Clients with one key.
const CLIENTS: usize = 6;
/// Keys asked for side by side.
const LANES: usize = 10;
/// Keys one after another, each when its six clients are all there.
const KEYS: usize = 500;

/// Answers the transaction and the words that a client is told.
type Ask = Arc<dyn Fn(usize, String) -> BoxFuture<'static, (String, String)> + Send + Sync>;

/// All clients ask for each key at once; what they were told.
async fn six_at_once(lanes: usize, keys: usize, before: i64, ask: Ask) -> Acknowledged {
    let clients = (0..lanes).flat_map(|lane| {
        let barrier = Arc::new(Barrier::new(CLIENTS));
        let ask = &ask;
        (0..CLIENTS).map(move |client| {
            let (barrier, ask) = (Arc::clone(&barrier), Arc::clone(ask));
            tokio::spawn(async move {
                let mut told = Acknowledged::since(before);
                for n in 0..keys {
                    let key = format!("same-{lane}-{n}");
                    barrier.wait().await;
                    let (transaction, words) = ask(client, key.clone()).await;
                    told.note(key, &transaction, &words);
                }
                told
            })
        })
    });
    let mut all = Acknowledged::since(before);
    for told in join_all(clients).await {
        all.extend(told.unwrap());
    }
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn six_clients_with_one_key_make_one_payment_whichever_servers_they_ask() {
    let bank = Bank::open().await;
    let (second, _) = bank.second().await;
    let bola = Payer::at(&bank.app, "bola@example.com").await;
    let ada = [&bank.app, &second].map(|app| Payer::at(app, "ada@example.com"));
    let ada = join_all(ada).await;
    let before = bank.events().await;
    let ask: Ask = Arc::new(move |client, key| {
        let (ada, bola) = (ada[client % 2].clone(), bola.clone());
        Box::pin(async move {
            let committed = ada.pay(&bola, 1, Some(&key)).await.unwrap();
            (transaction(&committed).to_owned(), format!("{:?}", committed.events))
        })
    });
    let keys = scaled(KEYS);
    let told = six_at_once(LANES, keys, before, ask).await;
    assert_eq!(told.count(), LANES * keys);
    did(told.count(), "keys");
    none(&told.violations(&bank.pool).await);
    second.close().await;
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn six_apps_with_one_key_are_answered_in_the_same_words() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = bank.events().await;
    let ask: Ask = Arc::new(move |_, key| {
        let (ada, payee) = (ada.clone(), bola.current.clone());
        Box::pin(async move {
            let answer = ada.client.pay(&ada.current, &payee, 1, &key).await.is(201);
            (answer.text_at("transactionId").to_owned(), answer.text)
        })
    });
    let told = six_at_once(3, 50, before, ask).await;
    assert_eq!(told.count(), 150);
    none(&told.violations(&bank.pool).await);
    bank.close().await;
}

/// Control: a bank that looks whether it knows the key, and pays, and remembers the key; one after the other.
struct LooksFirst {
    known: Mutex<HashMap<String, (String, String)>>,
    payer: Payer,
    payee: Payer,
}

impl LooksFirst {
    async fn ask(&self, key: String) -> (String, String) {
        if let Some(answer) = self.known.lock().unwrap().get(&key) {
            return answer.clone();
        }
        let committed = self.payer.pay(&self.payee, 1, None).await.unwrap();
        let answer = (transaction(&committed).to_owned(), format!("{:?}", committed.events));
        self.known.lock().unwrap().insert(key, answer.clone());
        answer
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bank_that_looks_before_it_pays_is_found_out() {
    let bank = Bank::open().await;
    let payer = Payer::at(&bank.app, "ada@example.com").await;
    let payee = Payer::at(&bank.app, "bola@example.com").await;
    let before = bank.events().await;
    let naive = Arc::new(LooksFirst { known: Mutex::default(), payer, payee });
    let ask: Ask = Arc::new(move |_, key| {
        let naive = Arc::clone(&naive);
        Box::pin(async move { naive.ask(key).await })
    });
    let told = six_at_once(1, 20, before, ask).await;
    red(&told.violations(&bank.pool).await, "I6: same-0-");
    bank.close().await;
}

#[tokio::test]
async fn a_bank_that_forgets_its_keys_is_found_out() {
    let bank = Bank::open().await;
    let ada = Payer::at(&bank.app, "ada@example.com").await;
    let bola = Payer::at(&bank.app, "bola@example.com").await;
    let mut told = Acknowledged::since(bank.events().await);
    for _ in 0..2 {
        let committed = ada.pay(&bola, 1, Some("forgotten")).await.unwrap();
        told.note("forgotten", transaction(&committed), "");
        sqlx::query("TRUNCATE idempotency_keys").execute(&bank.pool).await.unwrap();
    }
    red(&told.violations(&bank.pool).await, "I6: forgotten was answered in 2 ways");
    bank.close().await;
}
