//! Whatever goes wrong on the way, everything is told: at least once, under one id, signed, and to nobody inside.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use bursar_commands::webhooks::Deliverer;
use jiff::SignedDuration;
use serde_json::json;
use tokio::time::sleep;

use super::delivery::{AllAre, Told, deliverer, pays};
use super::sink::{Heard, Say, Sink};
use crate::support::chance::{Chance, did, scaled};
use crate::support::{Bank, quiet};

/// Payments that a usual run tells of.
const PAYMENTS: usize = 20;
/// Machines that nobody outside may have the bank call. The sink is the first of them.
const INSIDE: [&str; 7] =
    ["127.0.0.1", "::ffff:127.0.0.1", "::1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "fd00::1"];

/// Two servers that tell, and one to whom every name stands for a machine inside.
struct Tellers {
    two: [Deliverer; 2],
    misled: [Deliverer; INSIDE.len()],
}

impl Tellers {
    fn of(bank: &Bank) -> Self {
        let to = |address: &str, inside_too: bool| {
            let address = SocketAddr::new(address.parse::<IpAddr>().unwrap(), 0);
            deliverer(bank, Arc::new(AllAre(address)), inside_too)
        };
        Self { two: [(); 2].map(|()| to(INSIDE[0], true)), misled: INSIDE.map(|address| to(address, false)) }
    }

    async fn both(&self) {
        let [one, other] = &self.two;
        tokio::try_join!(one.run_due(), other.run_due()).unwrap();
    }
}

/// What went wrong.
#[derive(Default)]
struct Wrong {
    refused: usize,
    deaths: usize,
    blocked: usize,
}

/// How the other side refuses the next requests; none, and it takes them.
fn refusals(chance: &mut Chance) -> Vec<Say> {
    let count = chance.between(0, 2);
    let one = |chance: &mut Chance| match chance.between(0, 4) {
        0 => Say::Status(500),
        1 => Say::Redirect,
        2 => Say::Flood,
        3 => Say::Busy(429, chance.between(0, 600).to_string()),
        _ => Say::Status(404),
    };
    (0..count).map(|_| one(chance)).collect()
}

/// A payment is told of, or is not: by somebody misled, by both at once, by one, or by one who dies over it, each in turn.
async fn one_turn(
    (tellers, sink, told): (&Tellers, &Sink, &Told),
    (turn, position): (usize, i64),
    chance: &mut Chance,
    wrong: &mut Wrong,
) {
    if turn == 0 {
        chance.one_of(&tellers.misled.each_ref()).run_due().await.unwrap();
        assert!(!told_of(&sink.heard()).contains(&position), "nobody inside is called");
        let delivery = told.delivery(position).await;
        assert_eq!((&delivery["status"], &delivery["error"]), (&json!("PENDING"), &json!("BLOCKED_ADDRESS")));
        wrong.blocked += 1;
        return;
    }
    if turn == 3 {
        // Not before they are dead.
        sink.next(&[Say::Late(Duration::from_millis(50))]);
    }
    let says = refusals(chance);
    wrong.refused += says.len();
    sink.next(&says);
    match turn {
        1 => tellers.both().await,
        2 => chance.one_of(&tellers.two.each_ref()).run_due().await.unwrap(),
        _ => {
            let teller = chance.one_of(&tellers.two.each_ref()).clone();
            let dying = tokio::spawn(async move { teller.run_due().await });
            sleep(chance.millis(0, 20)).await;
            dying.abort();
            wrong.deaths += usize::from(dying.await.is_err());
        }
    }
}

/// The positions that somebody has heard of.
fn told_of(heard: &[Heard]) -> BTreeSet<i64> {
    heard.iter().map(|one| one.json()["data"]["position"].as_i64().unwrap()).collect()
}

/// One that the bank did not send, made of one that it did.
fn forged(heard: &Heard, chance: &mut Chance) -> Heard {
    let mut forged = heard.clone();
    match chance.between(0, 3) {
        0 => forged.body = forged.body.replacen("\"amount\":", "\"amount\":1", 1),
        1 => forged.id.push('0'),
        2 => forged.timestamp = (heard.timestamp.parse::<i64>().unwrap() + 1).to_string(),
        _ => forged.signature = forged.signature.replacen("v1,", "v1,A", 1),
    }
    forged
}

#[tokio::test]
async fn whatever_goes_wrong_everything_is_told_and_known_again() {
    let (bank, sink) = (Bank::configured(quiet()).await, Sink::open().await);
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (tellers, mut chance, mut wrong) = (Tellers::of(&bank), Chance::new(), Wrong::default());
    let url = format!("http://hooks.example:{}/hooks", sink.address.port());
    let told = Told::at(&bank, &url, &["payment.completed"]).await;
    let mut paid = BTreeSet::new();
    for n in 1..=scaled(PAYMENTS) {
        let position = pays(&ada, &bola, i64::try_from(n).unwrap()).await;
        paid.insert(position);
        one_turn((&tellers, &sink, &told), (n % 4, position), &mut chance, &mut wrong).await;
        bank.advance(SignedDuration::from_secs(i64::try_from(chance.between(0, 200)).unwrap()));
    }
    // Whoever died may have sent what nobody heard of yet.
    sleep(Duration::from_millis(100)).await;
    for _ in 0..10 {
        bank.advance(SignedDuration::from_hours(27));
        tellers.both().await;
    }
    let heard = sink.heard();
    assert_eq!(told_of(&heard), paid);
    // A refusal is one more request; a death is no more than the few that were on their way.
    let Wrong { refused, deaths, blocked } = wrong;
    assert!(heard.len() <= paid.len() + refused + 4 * deaths, "{} of {}", heard.len(), paid.len());
    assert!(refused > 0 && deaths > 0 && blocked > 0, "{refused} {deaths} {blocked}");
    let mut known: BTreeMap<&str, &str> = BTreeMap::new();
    for one in &heard {
        assert_eq!(one.id, format!("{}_{}", told.id, one.json()["data"]["position"]));
        assert_eq!(*known.entry(&one.id).or_insert(&one.body), one.body);
        assert!(one.is_signed_by(&told.secret));
        let forged = forged(one, &mut chance);
        assert!(!forged.is_signed_by(&told.secret), "{forged:?}");
    }
    did(paid.len(), "events told");
    did(refused, "answers that are none");
    did(deaths, "deaths of a teller");
    did(blocked, "addresses inside");
    did(heard.len(), "forgeries");
    bank.close().await;
}

#[tokio::test]
async fn what_is_never_told_is_found_out() {
    let (bank, sink) = (Bank::open().await, Sink::open().await);
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let told = Told::at(&bank, &sink.url(), &["payment.completed"]).await;
    bank.app.webhooks.run_due().await.unwrap();
    let paid = BTreeSet::from([pays(&ada, &bola, 1).await, pays(&ada, &bola, 2).await]);
    // A cursor that is ahead of what was ordered.
    let forgets = sqlx::query("UPDATE webhook_cursors SET position = $2 WHERE webhook_id = $1");
    forgets.bind(&told.id).bind(paid.first().unwrap()).execute(&bank.pool).await.unwrap();
    bank.app.webhooks.run_due().await.unwrap();
    let missing: Vec<_> = paid.difference(&told_of(&sink.heard())).copied().collect();
    assert_eq!(missing, [*paid.first().unwrap()]);
    bank.close().await;
}
