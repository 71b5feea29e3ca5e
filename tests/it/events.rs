//! People hear of what is theirs as it happens: in order, once, and nobody else's.

use std::time::Duration;

use bursar_domain::kernel::Permission;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::support::{Bank, Client};

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
struct Frame {
    id: i64,
    name: String,
    data: Value,
}

/// An open stream, and what was read of it but not yet looked at.
struct Listener {
    answer: reqwest::Response,
    text: String,
}

impl Listener {
    async fn open(client: &Client, query: &str, last: Option<i64>) -> Self {
        let http = reqwest::Client::new();
        let url = client.url(&format!("/v1/events/stream{query}"));
        let mut request = http.request(Method::GET, url).bearer_auth(client.token());
        if let Some(last) = last {
            request = request.header("last-event-id", last.to_string());
        }
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Self { answer, text: String::new() }
    }

    /// The next event; none at the end of the stream.
    async fn next(&mut self) -> Option<Frame> {
        loop {
            while let Some((frame, rest)) = self.text.split_once("\n\n") {
                let (frame, rest) = (frame.to_owned(), rest.to_owned());
                self.text = rest;
                if let Some(frame) = parse(&frame) {
                    return Some(frame);
                }
            }
            let chunk = timeout(Duration::from_secs(20), self.answer.chunk()).await.expect("silence");
            self.text.push_str(std::str::from_utf8(&chunk.ok()??).unwrap());
        }
    }

    async fn take(&mut self, count: usize) -> Vec<Frame> {
        let mut frames = Vec::new();
        while frames.len() < count {
            frames.push(self.next().await.expect("an event"));
        }
        frames
    }

    async fn is_over(&mut self) -> bool {
        timeout(Duration::from_secs(10), async { while self.next().await.is_some() {} }).await.is_ok()
    }
}

fn parse(frame: &str) -> Option<Frame> {
    let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    Some(Frame {
        id: field("id:")?.parse().unwrap(),
        name: field("event:")?.to_owned(),
        data: serde_json::from_str(field("data:")?).unwrap(),
    })
}

fn amount(frame: &Frame) -> i64 {
    frame.data["data"]["attributes"]["amount"].as_i64().unwrap()
}

#[tokio::test]
async fn people_hear_of_their_own_money_in_order_and_of_nobody_elses() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let (mut adas, mut bolas) =
        (Listener::open(&ada.client, "", None).await, Listener::open(&bola.client, "", None).await);
    let first = ada.client.pay(&ada.current, &bola.current, 100, "a").await.is(201);
    chidi.client.pay(&chidi.current, &bola.current, 200, "b").await.is(201);
    bola.client.pay(&bola.current, &chidi.current, 300, "c").await.is(201);
    ada.client.pay(&ada.current, &chidi.current, 400, "d").await.is(201);
    let heard = adas.take(2).await;
    assert_eq!(heard.iter().map(amount).collect::<Vec<_>>(), [100, 400]);
    assert_eq!(
        (heard[0].id.to_string(), &*heard[0].name),
        (first.header("bursar-position").to_owned(), "payment.completed")
    );
    assert_eq!(heard[0].data["type"], "payment.completed");
    // Whoever gets money hears of it, and not what the payer has left or wrote.
    let heard = bolas.take(3).await;
    assert_eq!(heard.iter().map(amount).collect::<Vec<_>>(), [100, 200, 300]);
    assert!(!heard[0].data.to_string().contains("balance"));
    // All of the past, and the same again from where somebody was.
    let mut past = Listener::open(&bola.client, "?after=0", None).await;
    let all = past.take(4).await;
    assert!(all.is_sorted_by(|a, b| a.id < b.id));
    let mut again = Listener::open(&bola.client, "?after=0", Some(all[1].id)).await;
    assert_eq!(again.take(2).await, all[2..4]);
    bank.close().await;
}

#[tokio::test]
async fn nothing_is_missed_or_repeated_however_often_somebody_comes_back() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let before = *bank.app.journal.head().borrow();
    let payee = &bola.current;
    let paying = async {
        for round in 0..20 {
            join_all((0..6).map(|n| {
                let (payer, key) = (if n % 2 == 0 { &ada } else { &chidi }, format!("{round}-{n}"));
                async move { payer.client.pay(&payer.current, payee, 1 + round, &key).await.is(201) }
            }))
            .await;
        }
    };
    let listening = async {
        let (mut heard, mut last): (Vec<i64>, Option<i64>) = (Vec::new(), None);
        while heard.len() < 120 {
            let mut listener = Listener::open(&bola.client, &format!("?after={before}"), last).await;
            let few = 1 + heard.len() % 13;
            for frame in listener.take(few.min(120 - heard.len())).await {
                heard.push(frame.id);
                last = Some(frame.id);
            }
        }
        heard
    };
    let ((), heard) = tokio::join!(paying, listening);
    let sql = "SELECT position FROM events WHERE position > $1 AND event_type = 'payment.completed' ORDER BY position";
    let expected: Vec<i64> = sqlx::query_scalar(sql).bind(before).fetch_all(&bank.pool).await.unwrap();
    assert_eq!((heard.len(), heard), (120, expected));
    bank.close().await;
}

#[tokio::test]
async fn a_stream_ends_with_the_session_with_the_token_and_with_the_server() {
    let bank = Bank::open().await;
    let (ada, bola, chidi) = (bank.ada().await, bank.bola().await, bank.chidi().await);
    let mut adas = Listener::open(&ada.client, "", None).await;
    let mut bolas = Listener::open(&bola.client, "", None).await;
    ada.client.post("/v1/users/token/revoke", &json!({})).await.is(200);
    assert!(adas.is_over().await);
    // Control: another's goes on.
    chidi.client.pay(&chidi.current, &bola.current, 5, "on").await.is(201);
    assert_eq!(amount(&bolas.take(1).await[0]), 5);
    bank.advance(jiff::SignedDuration::from_secs(901));
    assert!(bolas.is_over().await);
    let chidi = bank.chidi().await;
    let mut last = Listener::open(&chidi.client, "", None).await;
    let begun = std::time::Instant::now();
    bank.close().await;
    assert!(last.is_over().await);
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn only_an_auditor_listens_to_others_and_nobody_has_more_streams_than_a_few() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let path = format!("/v1/events/stream?userId={}", bank.user("ada@example.com").await);
    let refused = bola.client.get(&path).await.problem(403, "PERMISSION_DENIED");
    assert!(refused.text.contains(Permission::AuditRead.as_str()));
    let auditor = bank.person("auditor@example.com").await.client;
    let query = format!("?userId={}&after=0", bank.user("ada@example.com").await);
    let mut listener = Listener::open(&auditor, &query, None).await;
    assert!(listener.next().await.is_some());
    ada.client.get("/v1/events/stream?after=-1").await.problem(400, "VALIDATION_FAILED");
    ada.client.get("/v1/events/stream?after=x").await.problem(400, "VALIDATION_FAILED");
    let mut open = Vec::new();
    for _ in 0..5 {
        open.push(Listener::open(&ada.client, "", None).await);
    }
    assert_eq!(ada.client.get("/v1/events/stream").await.status, 429);
    // Control: others have room, and so has whoever closes one.
    drop(Listener::open(&bola.client, "", None).await);
    drop(open);
    for _ in 0..100 {
        if ada.client.get("/v1/events/stream").await.status == 200 {
            bank.close().await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no seat was given back");
}
