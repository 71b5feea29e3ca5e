//! Webhooks are told everything at least once, in time, and by whom they think.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bursar_commands::webhooks::{Deliverer, DeliveryOptions, Lookup};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::SignedDuration;
use serde_json::json;

use super::sink::{Say, Sink};
use crate::support::client::Answer;
use crate::support::{Bank, Client, Person, config};

/// A webhook at a sink, and the staff who made it.
#[derive(Clone)]
pub struct Told {
    admin: Client,
    path: String,
    pub id: String,
    pub secret: String,
}

impl Told {
    pub async fn at(bank: &Bank, url: &str, types: &[&str]) -> Self {
        let admin = bank.approver().await.client;
        let body = json!({"url": url, "eventTypes": types});
        let made = admin.post("/v1/staff/webhooks", &body).await.is(201);
        let (id, secret) = (made.text_at("webhookId").to_owned(), made.text_at("secret").to_owned());
        Self { path: format!("/v1/staff/webhooks/{id}"), admin, id, secret }
    }

    async fn deliveries(&self) -> Vec<serde_json::Value> {
        self.admin.get(&format!("{}/deliveries", self.path)).await.is(200).list_at("deliveries").to_vec()
    }

    /// What became of telling the event at a position.
    pub async fn delivery(&self, position: i64) -> serde_json::Value {
        let path = format!("{}/deliveries?after={}&limit=1", self.path, position - 1);
        self.admin.get(&path).await.is(200).list_at("deliveries")[0].clone()
    }

    async fn ask(&self, step: &str, body: serde_json::Value) -> Answer {
        self.admin.post(&format!("{}/{step}", self.path), &body).await
    }

    /// Staff log in anew when days have passed.
    async fn renewed(self, bank: &Bank) -> Self {
        Self { admin: bank.approver().await.client, ..self }
    }
}

pub async fn pays(from: &Person, to: &Person, amount: i64) -> i64 {
    let paid = from.client.pay(&from.current, &to.current, amount, &format!("hook-{amount}")).await.is(201);
    paid.header("bursar-position").parse().unwrap()
}

async fn deliver(bank: &Bank) {
    bank.app.webhooks.run_due().await.unwrap();
}

async fn after(bank: &Bank, seconds: i64) {
    bank.advance(SignedDuration::from_secs(seconds));
    deliver(bank).await;
}

#[tokio::test]
async fn a_payment_is_told_signed_and_without_a_word_that_anybody_wrote() {
    let (bank, sink) = (Bank::open().await, Sink::open().await);
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    pays(&ada, &bola, 1).await;
    let told = Told::at(&bank, &sink.url(), &["payment.*"]).await;
    let position = pays(&ada, &bola, 2_500).await;
    deliver(&bank).await;
    let heard = sink.heard();
    // What was before it was made is not told.
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].id, format!("{}_{position}", told.id));
    assert!(heard[0].is_signed_by(&told.secret));
    let said = heard[0].json();
    assert_eq!((&said["type"], &said["data"]["position"]), (&json!("payment.completed"), &json!(position)));
    let attributes = &said["data"]["attributes"];
    assert_eq!((&attributes["amount"], &attributes["source"]), (&json!(2_500), &json!(ada.current)));
    for word in ["hook-2500", "Bola", "Adeyemi", "balance"] {
        assert!(!heard[0].body.contains(word), "{}", heard[0].body);
    }
    // A body, an id or a time of somebody else's making is found out, and so is another secret.
    let mut forged = heard[0].clone();
    forged.body = forged.body.replace("2500", "9500");
    assert!(!forged.is_signed_by(&told.secret));
    let late = super::sink::Heard { timestamp: "1".into(), ..heard[0].clone() };
    let other = super::sink::Heard { id: "other".into(), ..heard[0].clone() };
    assert!(!late.is_signed_by(&told.secret) && !other.is_signed_by(&told.secret));
    let elsewhere = Told::at(&bank, &sink.url(), &["card.*"]).await;
    assert!(!heard[0].is_signed_by(&elsewhere.secret));
    let delivered = told.deliveries().await;
    assert_eq!(
        (&delivered[0]["status"], &delivered[0]["responseStatus"]),
        (&json!("DELIVERED"), &json!(204))
    );
    // Once it is taken it is not told again.
    after(&bank, 400_000).await;
    assert_eq!(sink.heard().len(), 1);
    bank.close().await;
}

#[tokio::test]
async fn what_is_not_taken_is_tried_again_with_the_same_id_and_a_new_signature() {
    let (bank, sink) = (Bank::open().await, Sink::open().await);
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let told = Told::at(&bank, &sink.url(), &["*"]).await;
    sink.next(&[Say::Status(500), Say::Redirect, Say::Flood, Say::Status(302)]);
    pays(&ada, &bola, 100).await;
    deliver(&bank).await;
    let delivery = &told.deliveries().await[0];
    assert_eq!(
        (&delivery["status"], &delivery["attempts"], &delivery["responseStatus"], &delivery["response"]),
        (&json!("PENDING"), &json!(1), &json!(500), &json!("said so"))
    );
    deliver(&bank).await;
    assert_eq!(sink.heard().len(), 1, "nothing is due yet");
    for (tries, seconds) in [(2, 6), (3, 331), (4, 1_981), (5, 7_921)] {
        after(&bank, seconds).await;
        assert_eq!(sink.heard().len(), tries);
    }
    let told = told.renewed(&bank).await;
    let delivery = &told.deliveries().await[0];
    assert_eq!((&delivery["status"], &delivery["attempts"]), (&json!("DELIVERED"), &json!(5)));
    let heard = sink.heard();
    assert!(heard.iter().all(|one| one.id == heard[0].id && one.body == heard[0].body));
    assert!(heard.iter().all(|one| one.is_signed_by(&told.secret)));
    assert!(
        heard[4].timestamp.parse::<i64>().unwrap() >= heard[0].timestamp.parse::<i64>().unwrap() + 10_000
    );
    bank.close().await;
}

#[tokio::test]
async fn who_is_busy_is_left_alone_for_as_long_as_they_ask_and_no_longer_than_a_day() {
    let (bank, sink) = (Bank::open().await, Sink::open().await);
    let told = Told::at(&bank, &sink.url(), &["card.*"]).await;
    let in_an_hour = bank.app.journal.sources().clock.now() + SignedDuration::from_mins(70);
    let date = in_an_hour.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    // What is no answer of a server that is busy, and what nobody understands, changes nothing.
    for (says, early, late) in [
        (Say::Busy(429, "100".into()), 80, 31),
        (Say::Busy(503, date), 3_800, 800),
        (Say::Busy(500, "9999".into()), 0, 6),
        (Say::Busy(503, "soon".into()), 0, 6),
        (Say::Busy(429, "1".into()), 0, 6),
        (Say::Busy(503, "99999999999999999999".into()), 86_000, 9_100),
    ] {
        let before = sink.heard().len();
        sink.next(&[says]);
        let told = Told { admin: bank.approver().await.client, ..told.clone() };
        told.ask("test", json!({})).await.is(200);
        deliver(&bank).await;
        assert_eq!(sink.heard().len(), before + 1);
        after(&bank, early).await;
        assert_eq!(sink.heard().len(), before + 1, "{early} seconds are too early");
        after(&bank, late).await;
        assert_eq!(sink.heard().len(), before + 2, "{early} seconds and {late} are enough");
    }
    bank.close().await;
}

#[tokio::test]
async fn who_takes_nothing_for_three_days_is_told_no_more_and_hears_it_all_when_they_are_back() {
    let (bank, sink) = (Bank::open().await, Sink::open().await);
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let told = Told::at(&bank, &sink.url(), &["payment.completed"]).await;
    sink.always(Say::Status(503));
    pays(&ada, &bola, 100).await;
    deliver(&bank).await;
    for _ in 0..9 {
        after(&bank, 100_000).await;
    }
    let told = told.renewed(&bank).await;
    bank.later(0).await;
    let read = told.admin.get(&told.path).await.is(200);
    assert_eq!((read.text_at("status"), read.text_at("disabledReason")), ("DISABLED", "FAILING"));
    assert_eq!(told.deliveries().await[0]["status"], "FAILED");
    assert_eq!(sink.heard().len(), 10);
    let news = told.admin.get("/v1/users/messages").await.is(200);
    assert!(news.text.contains("A webhook is disabled") && news.text.contains(&told.id));
    // What happens meanwhile waits.
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    pays(&ada, &bola, 200).await;
    after(&bank, 100).await;
    assert_eq!(sink.heard().len(), 10);
    sink.always(Say::Status(200));
    told.ask("enable", json!({})).await.is(200);
    deliver(&bank).await;
    // Interest was paid meanwhile.
    let said =
        sink.heard()[10..].iter().map(|one| one.json()["data"]["attributes"].clone()).collect::<Vec<_>>();
    let paid = said.iter().filter(|payment| payment["kind"] == "INTERNAL");
    let amounts: Vec<_> = paid.map(|payment| payment["amount"].as_i64().unwrap()).collect();
    assert_eq!(amounts, [100, 200]);
    bank.close().await;
}

#[tokio::test]
async fn who_says_that_they_are_gone_is_told_no_more() {
    let (bank, sink) = (Bank::open().await, Sink::open().await);
    let told = Told::at(&bank, &sink.url(), &["payment.*"]).await;
    sink.next(&[Say::Status(410)]);
    told.ask("test", json!({})).await.is(200);
    deliver(&bank).await;
    bank.caught_up().await;
    assert_eq!(told.admin.get(&told.path).await.is(200).text_at("disabledReason"), "GONE");
    told.ask("test", json!({})).await.problem(409, "INVALID_STATE");
    after(&bank, 100).await;
    assert_eq!((sink.heard().len(), sink.heard()[0].event_type()), (1, "webhook.tested".to_owned()));
    bank.close().await;
}

#[tokio::test]
async fn both_secrets_sign_for_a_day_and_then_the_new_one() {
    let (bank, sink) = (Bank::open().await, Sink::open().await);
    let told = Told::at(&bank, &sink.url(), &["payment.*"]).await;
    let new = told.ask("rotate-secret", json!({})).await.is(200).text_at("secret").to_owned();
    told.ask("test", json!({})).await.is(200);
    deliver(&bank).await;
    let both = sink.heard()[0].clone();
    assert!(both.is_signed_by(&told.secret) && both.is_signed_by(&new));
    bank.advance(SignedDuration::from_hours(25));
    let told = told.renewed(&bank).await;
    told.ask("test", json!({})).await.is(200);
    deliver(&bank).await;
    let one = sink.heard()[1].clone();
    assert!(!one.is_signed_by(&told.secret) && one.is_signed_by(&new));
    bank.close().await;
}

#[tokio::test]
async fn what_was_told_is_told_again_one_by_one_or_from_a_position_on() {
    let (bank, sink) = (Bank::open().await, Sink::open().await);
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = pays(&ada, &bola, 1).await;
    let told = Told::at(&bank, &sink.url(), &["payment.completed"]).await;
    let (first, second) = (pays(&ada, &bola, 2).await, pays(&ada, &bola, 3).await);
    deliver(&bank).await;
    let heard = |from: usize| -> Vec<i64> {
        let mut positions: Vec<_> =
            sink.heard()[from..].iter().map(|one| one.json()["data"]["position"].as_i64().unwrap()).collect();
        positions.sort_unstable();
        positions
    };
    assert_eq!(heard(0), [first, second]);
    told.ask(&format!("deliveries/{first}/replay"), json!({})).await.is(200);
    deliver(&bank).await;
    assert_eq!(heard(2), [first]);
    told.ask(&format!("deliveries/{before}/replay"), json!({})).await.problem(404, "NOT_FOUND");
    // Also what happened before it was made.
    told.ask("replay", json!({"after": before - 1})).await.is(200);
    deliver(&bank).await;
    assert_eq!(heard(3), [before, first, second]);
    let all = sink.heard();
    let ids: std::collections::BTreeSet<_> = all.iter().map(|one| &one.id).collect();
    assert_eq!(ids.len(), 3);
    // The list goes on where it stopped.
    let page = told.admin.get(&format!("{}/deliveries?limit=2", told.path)).await.is(200);
    assert_eq!(page.body["nextAfter"], json!(first));
    let rest =
        told.admin.get(&format!("{}/deliveries?after={first}&status=DELIVERED", told.path)).await.is(200);
    assert_eq!(rest.list_at("deliveries").len(), 1);
    assert_eq!(rest.list_at("deliveries")[0]["messageId"], json!(format!("{}_{second}", told.id)));
    bank.close().await;
}

#[tokio::test]
async fn a_server_that_dies_before_it_has_written_down_what_it_sent_sends_it_again_under_the_same_id() {
    let (bank, sink) = (Bank::open().await, Sink::open().await);
    let told = Told::at(&bank, &sink.url(), &["payment.*"]).await;
    told.ask("test", json!({})).await.is(200);
    sink.next(&[Say::Late(Duration::from_secs(60))]);
    let webhooks = bank.app.webhooks.clone();
    let dying = tokio::spawn(async move { webhooks.run_due().await });
    sink.hears(1).await;
    dying.abort();
    assert!(dying.await.unwrap_err().is_cancelled());
    // Nobody else has it while it may still be on its way.
    after(&bank, 50).await;
    assert_eq!(sink.heard().len(), 1);
    after(&bank, 20).await;
    let heard = sink.heard();
    assert_eq!((heard.len(), &heard[0].id), (2, &heard[1].id));
    assert_eq!(told.deliveries().await[0]["status"], "DELIVERED");
    bank.close().await;
}

#[tokio::test]
async fn who_is_slow_holds_nobody_up() {
    let (bank, slow, quick) = (Bank::open().await, Sink::open().await, Sink::open().await);
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let _slow = Told::at(&bank, &slow.url(), &["payment.*"]).await;
    let _quick = Told::at(&bank, &quick.url(), &["payment.*"]).await;
    slow.always(Say::Late(Duration::from_secs(60)));
    for n in 1..=8 {
        pays(&ada, &bola, n).await;
    }
    let begun = Instant::now();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let working = bank.app.webhooks.start(stopped);
    quick.hears(8).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    // A few at once, and no more.
    assert!((1..=4).contains(&slow.hears(1).await.len()));
    stop.send_replace(true);
    working.await.unwrap();
    bank.close().await;
}

#[tokio::test]
async fn two_servers_tell_everything_once() {
    let (bank, sink) = (Bank::open().await, Sink::open().await);
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let _told = Told::at(&bank, &sink.url(), &["payment.completed"]).await;
    let second = bank.second_through(bank.url()).await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let working = [bank.app.webhooks.start(stopped.clone()), second.webhooks.start(stopped)];
    for n in 1..=30 {
        pays(&ada, &bola, n).await;
    }
    sink.hears(30).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut ids: Vec<_> = sink.heard().into_iter().map(|one| one.id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!((sink.heard().len(), ids.len()), (30, 30));
    stop.send_replace(true);
    for working in working {
        working.await.unwrap();
    }
    second.close().await;
    bank.close().await;
}

/// Says that every name stands for one machine.
pub struct AllAre(pub SocketAddr);

impl Lookup for AllAre {
    fn lookup(&self, _: String) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>> {
        let address = self.0;
        async move { Ok(vec![address]) }.boxed()
    }
}

pub fn deliverer(bank: &Bank, lookup: Arc<dyn Lookup>, private_addresses: bool) -> Deliverer {
    let options = DeliveryOptions { lookup, private_addresses, keep: SignedDuration::from_hours(24) };
    Deliverer::new(bank.app.journal.clone(), bank.pool.clone(), Arc::clone(&bank.app.keys), options).unwrap()
}

#[tokio::test]
async fn a_name_that_stands_for_a_machine_of_the_banks_is_not_called() {
    let (bank, sink) = (Bank::configured(config()).await, Sink::open().await);
    let port = sink.address.port();
    let mut told = Vec::new();
    for host in ["hooks.example", "127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "[::1]", "169.254.169.254"]
    {
        told.push(Told::at(&bank, &format!("http://{host}:{port}/hooks"), &["payment.*"]).await);
        told.last().unwrap().ask("test", json!({})).await.is(200);
    }
    let lookup: Arc<dyn Lookup> = Arc::new(AllAre(SocketAddr::new([127, 0, 0, 1].into(), 0)));
    deliverer(&bank, Arc::clone(&lookup), false).run_due().await.unwrap();
    for told in &told {
        let delivery = &told.deliveries().await[0];
        assert_eq!((&delivery["error"], &delivery["response"]), (&json!("BLOCKED_ADDRESS"), &json!(null)));
    }
    assert!(sink.heard().is_empty());
    // Where they may be called, the name leads to the very machine that it stands for.
    bank.advance(SignedDuration::from_secs(10));
    for other in told.drain(2..) {
        other.admin.delete(&other.path).await.is(200);
    }
    deliverer(&bank, lookup, true).run_due().await.unwrap();
    assert!(sink.heard().len() >= 2);
    for told in &told {
        assert_eq!(told.deliveries().await[0]["status"], "DELIVERED");
    }
    bank.close().await;
}
