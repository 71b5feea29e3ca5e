//! T36: somebody goes through a list, page by page, while it grows. What is there is compared with what was answered.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::support::chance::{Chance, did, scaled};
use crate::support::client::transfer;
use crate::support::{Bank, Client, quiet};

const WALKS: usize = 30;
const WORDS: [&str; 5] = ["Zebra", "quartz", "VORTEX", "jigsaw", "Kiosk"];

/// What was answered for a payment.
#[derive(Debug, Clone)]
struct Paid {
    id: String,
    at: String,
    amount: i64,
    word: &'static str,
    own: bool,
}

/// What is asked of the list.
#[derive(Debug)]
struct Wanted {
    least: i64,
    most: i64,
    word: Option<&'static str>,
    own: Option<bool>,
}

impl Wanted {
    fn drawn(chance: &mut Chance) -> Self {
        let least = i64::try_from(chance.between(1, 400)).unwrap();
        let word = chance.one_of(&WORDS);
        Self {
            least,
            most: least + i64::try_from(chance.between(50, 900)).unwrap(),
            word: chance.one_of(&[None, Some(word)]),
            own: chance.one_of(&[None, None, Some(true), Some(false)]),
        }
    }

    fn has(&self, paid: &Paid) -> bool {
        (self.least..=self.most).contains(&paid.amount)
            && self.word.is_none_or(|word| word == paid.word)
            && self.own.is_none_or(|own| own == paid.own)
    }

    fn query(&self) -> String {
        let mut query = format!("minAmount={}&maxAmount={}", self.least, self.most);
        if let Some(word) = self.word {
            // In other letters, and not all of them.
            query.push_str(&format!("&q={}", word[1..].to_lowercase()));
        }
        if let Some(own) = self.own {
            query.push_str(if own { "&type=SELF" } else { "&type=INTERNAL" });
        }
        query
    }
}

/// Every row, page by page, in the order of the pages.
async fn walked(client: &Client, query: &str, size: u64) -> Vec<String> {
    let mut seen = Vec::new();
    for page in 1.. {
        let path = format!("/v1/transactions?{query}&size={size}&page={page}");
        let answer = client.get(&path).await.is(200);
        let rows = answer.list_at("transactions");
        seen.extend(rows.iter().map(|row: &Value| row["transactionId"].as_str().unwrap().to_owned()));
        if answer.body["pagination"]["hasNext"] == false {
            break;
        }
    }
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn a_walk_over_a_list_that_grows_sees_each_row_once() {
    let mut chance = Chance::new();
    let bank = Bank::configured(quiet()).await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let (made, stop) = (Arc::new(Mutex::new(Vec::<Paid>::new())), Arc::new(AtomicBool::new(false)));
    let writer = tokio::spawn({
        let (ada, payee, made, stop) =
            (ada.clone(), bola.current.clone(), Arc::clone(&made), Arc::clone(&stop));
        let mut chance = Chance::quietly(chance.between(0, 1 << 40));
        async move {
            while !stop.load(Ordering::SeqCst) {
                let (word, own) = (chance.one_of(&WORDS), chance.one_of(&[true, false]));
                let amount = i64::try_from(chance.between(1, 1_000)).unwrap();
                let (path, to) = if own { ("self", &ada.savings) } else { ("internal", &payee) };
                let mut body = transfer(&ada.current, to, amount);
                body["narration"] = json!(format!("For the {word}"));
                let path = format!("/v1/payments/transfer/{path}");
                let answer = ada.client.post(&path, &body).await.is(201);
                let (id, at) = (answer.text_at("transactionId"), answer.text_at("processedAt"));
                made.lock().unwrap().push(Paid { id: id.to_owned(), at: at.to_owned(), amount, word, own });
                tokio::time::sleep(chance.millis(0, 10)).await;
            }
        }
    });
    let (mut rows, mut twice) = (0, 0);
    let mut walks = 0;
    while walks < scaled(WALKS) {
        tokio::time::sleep(chance.millis(5, 40)).await;
        let so_far = made.lock().unwrap().clone();
        let Some(last) = so_far.last().filter(|_| so_far.len() > 20) else { continue };
        let from =
            &so_far[so_far.len() - usize::try_from(chance.between(2, 100)).unwrap().min(so_far.len())].at;
        let (wanted, size) = (Wanted::drawn(&mut chance), chance.between(3, 9));
        // Up to a moment that is over: in either order, whatever is written meanwhile.
        let sort = chance.one_of(&["processedAt", "-processedAt"]);
        let query = format!("from={from}&to={}&{}", last.at, wanted.query());
        let mut seen = walked(&ada.client, &format!("{query}&sort={sort}"), size).await;
        if sort == "-processedAt" {
            seen.reverse();
        }
        // As moments: as texts, a second's tenth comes after its hundredths.
        let moment = |text: &str| text.parse::<jiff::Timestamp>().unwrap();
        let range = moment(from)..moment(&last.at);
        let expected = so_far.iter().filter(|paid| range.contains(&moment(&paid.at)) && wanted.has(paid));
        let expected: Vec<&str> = expected.map(|paid| paid.id.as_str()).collect();
        assert_eq!(seen, expected, "{query} by {size}, {sort}");
        rows += seen.len();
        // Control: without an end, what comes in front pushes rows from one page to the next.
        let mut open = walked(&ada.client, &format!("from={from}"), 9).await;
        let all = open.len();
        open.sort_unstable();
        open.dedup();
        twice += all - open.len();
        walks += 1;
    }
    stop.store(true, Ordering::SeqCst);
    writer.await.unwrap();
    did(walks, "walks");
    did(rows, "rows");
    assert!(twice > 0 && rows > 100, "{twice} rows seen twice, {rows} compared");
    bank.caught_up().await;
    bank.close().await;
}
