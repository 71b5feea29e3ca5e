//! T1: the bank's ordinary work, payments and reads mixed, by many clients at once; and the same as load under other faults.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use sqlx::PgPool;
use tokio::task::JoinHandle;

use crate::support::chance::{Chance, did, scaled};
use crate::support::client::{Answer, Request, transfer};
use crate::support::invariants::{Acknowledged, none};
use crate::support::{Bank, Client, person_at, quiet};

/// Whose accounts they are.
const PEOPLE: [&str; 3] = ["ada@example.com", "bola@example.com", "chidi@example.com"];
/// Clients at work at once.
const CLIENTS: usize = 16;
/// Payments and reads of a usual run.
const OPERATIONS: usize = 1_000;

/// Clients at work, until they have done enough or are told to stop.
pub struct Workload {
    shared: Arc<Shared>,
    lanes: Vec<JoinHandle<()>>,
}

struct Shared {
    /// Where the server is now.
    address: Mutex<SocketAddr>,
    /// Whose, in the order of [`PEOPLE`], and which.
    accounts: Vec<(usize, String)>,
    most: usize,
    stop: AtomicBool,
    done: AtomicUsize,
    /// Requests that were answered 503, or not at all.
    unavailable: AtomicUsize,
    told: Mutex<Acknowledged>,
}

impl Workload {
    /// At most so many operations by so many clients, of the people of a demo bank whose log ends at `before`.
    pub async fn start(address: SocketAddr, before: i64, lanes: usize, most: usize) -> Self {
        let (mut accounts, mut clients) = (Vec::new(), Vec::new());
        for (owner, email) in PEOPLE.into_iter().enumerate() {
            let person = person_at(address, email).await;
            accounts.extend([(owner, person.current), (owner, person.savings)]);
            if owner < 2 {
                let body = json!({"productId": "CUR-001", "currency": "NGN"});
                let opened = person.client.post("/v1/accounts", &body).await.is(201);
                accounts.push((owner, opened.text_at("accountNumber").to_owned()));
            }
            clients.push(Some(person.client));
        }
        let shared = Arc::new(Shared {
            address: Mutex::new(address),
            accounts,
            most,
            stop: AtomicBool::new(false),
            done: AtomicUsize::new(0),
            unavailable: AtomicUsize::new(0),
            told: Mutex::new(Acknowledged::since(before)),
        });
        let mut chance = Chance::new();
        let lanes = (0..lanes).map(|lane| {
            let chance = Chance::quietly(chance.between(0, u64::MAX - 1));
            tokio::spawn(Lane { shared: Arc::clone(&shared), lane, chance, clients: clients.clone() }.work())
        });
        let lanes = lanes.collect();
        Self { shared, lanes }
    }

    /// The accounts that it moves money between.
    pub fn accounts(&self) -> Vec<String> {
        self.shared.accounts.iter().map(|(_, number)| number.clone()).collect()
    }

    /// The server is somewhere else now.
    pub fn moved_to(&self, address: SocketAddr) {
        *self.shared.address.lock().unwrap() = address;
    }

    pub fn done(&self) -> usize {
        self.shared.done.load(Ordering::SeqCst)
    }

    pub fn unavailable(&self) -> usize {
        self.shared.unavailable.load(Ordering::SeqCst)
    }

    pub fn told_so_far(&self) -> Acknowledged {
        self.shared.told.lock().unwrap().clone()
    }

    pub fn is_over(&self) -> bool {
        self.lanes.iter().all(JoinHandle::is_finished)
    }

    /// How long it takes until that many more operations are done; `patience` at most.
    pub async fn does(&self, more: usize, patience: Duration) -> Duration {
        let (began, enough) = (Instant::now(), self.done() + more);
        while self.done() < enough && !self.is_over() {
            assert!(began.elapsed() < patience, "the bank does not come back");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        began.elapsed()
    }

    /// Everybody gets an answer to their last request, and stops.
    pub async fn finish(self) -> Acknowledged {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.wait().await
    }

    /// Everybody has done enough.
    pub async fn wait(self) -> Acknowledged {
        for lane in self.lanes {
            lane.await.unwrap();
        }
        self.shared.told.lock().unwrap().clone()
    }
}

/// One client after the other is asked until it is answered.
struct Lane {
    shared: Arc<Shared>,
    lane: usize,
    chance: Chance,
    /// Who is logged in.
    clients: Vec<Option<Client>>,
}

impl Lane {
    async fn work(mut self) {
        for n in 0.. {
            if self.shared.stop.load(Ordering::SeqCst)
                || self.shared.done.load(Ordering::SeqCst) >= self.shared.most
            {
                break;
            }
            let choice = self.chance.between(0, 99);
            let which =
                usize::try_from(self.chance.between(0, self.shared.accounts.len() as u64 - 1)).unwrap();
            let (owner, account) = self.shared.accounts[which].clone();
            if choice < 60 {
                self.pay(owner, &account, n).await;
            } else {
                let path = match choice {
                    60..75 => format!("/v1/accounts/{account}/statement?size=10"),
                    75..90 => format!("/v1/accounts/{account}/balance"),
                    _ => "/v1/accounts".to_owned(),
                };
                self.asked(owner, |client| client.request(reqwest::Method::GET, &path)).await.is(200);
            }
            self.shared.done.fetch_add(1, Ordering::SeqCst);
        }
    }

    async fn pay(&mut self, owner: usize, source: &str, n: usize) {
        let others = self.shared.accounts.iter().filter(|(_, number)| number != source);
        let others: Vec<_> = others.cloned().collect();
        let (payee, destination) =
            &others[usize::try_from(self.chance.between(0, others.len() as u64 - 1)).unwrap()];
        let path = if *payee == owner { "self" } else { "internal" };
        let (path, key) = (format!("/v1/payments/transfer/{path}"), format!("work-{}-{n}", self.lane));
        let body = transfer(source, destination, i64::try_from(self.chance.between(1, 500)).unwrap());
        let post = |client: &Client| client.request(reqwest::Method::POST, &path).key(&key).json(&body);
        let paid = self.asked(owner, post).await;
        if paid.status == 201 {
            let id = paid.text_at("transactionId").to_owned();
            self.shared.told.lock().unwrap().note(&key, &id, &paid.text);
            if n.is_multiple_of(8) {
                // A read that starts after the answer sees it, also where the server has been another one.
                let path = format!("/v1/accounts/{source}/statement?size=100");
                let position = paid.header("bursar-position").to_owned();
                let read = |client: &Client| {
                    client.request(reqwest::Method::GET, &path).header("Bursar-Min-Position", &position)
                };
                let seen = self.asked(owner, read).await.is(200);
                let is_there =
                    seen.list_at("transactions").iter().any(|row| row["transactionId"] == id.as_str());
                assert!(is_there, "I14: {id} was acknowledged and is not in the statement of {source}");
            }
        } else {
            let code = paid.is(422).text_at("code").to_owned();
            assert!(["INSUFFICIENT_FUNDS", "LIMIT_EXCEEDED"].contains(&code.as_str()), "{code}");
        }
    }

    /// Asks until there is an answer: a server without a store says so, and one that is not there says nothing.
    async fn asked(&mut self, owner: usize, request: impl Fn(&Client) -> Request) -> Answer {
        loop {
            let address = *self.shared.address.lock().unwrap();
            let Some(client) = &self.clients[owner] else {
                self.clients[owner] = self.logged_in(address, owner).await;
                continue;
            };
            match request(&client.at(address)).try_send().await {
                // Tokens end after a quarter of an hour.
                Some(answer) if answer.status == 401 => self.clients[owner] = None,
                Some(answer) if answer.status == 503 => {
                    assert!(!answer.header("retry-after").is_empty(), "I15: {}", answer.text);
                    self.pause().await;
                }
                Some(answer) => return answer,
                None => self.pause().await,
            }
        }
    }

    async fn logged_in(&self, address: SocketAddr, owner: usize) -> Option<Client> {
        let client = Client::new(address);
        let body = json!({
            "username": PEOPLE[owner], "password": crate::support::client::PASSWORD,
            "deviceInfo": {"deviceId": format!("lane-{}", self.lane), "deviceType": "DESKTOP"},
        });
        let login =
            client.request(reqwest::Method::POST, "/v1/users/password/login").json(&body).try_send().await;
        match login {
            Some(answer) if answer.status == 200 => Some(client.with_token(answer.text_at("accessToken"))),
            Some(answer) if answer.status != 503 => panic!("{}: {}", answer.status, answer.text),
            _ => {
                self.pause().await;
                None
            }
        }
    }

    async fn pause(&self) {
        self.shared.unavailable.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// What all accounts have together, read in one snapshot: of the ledger, and of the read model.
const TOGETHER: [&str; 2] = [
    "SELECT sum(balance)::bigint FROM ledger_accounts WHERE account = ANY($1)",
    "SELECT sum(ledger_balance)::bigint FROM accounts WHERE account_number = ANY($1)",
];

async fn total(pool: &PgPool, sql: &'static str, accounts: &[String]) -> i64 {
    sqlx::query_scalar(sql).bind(accounts).fetch_one(pool).await.unwrap()
}

/// What is read so often as the workload goes on; and control: of those who add up account by account, somebody is wrong.
async fn audit(pool: &PgPool, work: &Workload, opening: i64) -> (usize, usize) {
    let accounts = work.accounts();
    let (mut reads, mut wrong) = (0, 0);
    while !work.is_over() {
        for sql in TOGETHER {
            assert_eq!(total(pool, sql, &accounts).await, opening, "I4: {sql}");
        }
        let mut one_by_one = 0;
        for account in &accounts {
            one_by_one += total(pool, TOGETHER[0], std::slice::from_ref(account)).await;
        }
        wrong += usize::from(one_by_one != opening);
        reads += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    (reads, wrong)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bank_at_work_is_right_at_every_moment() {
    let bank = Bank::configured(quiet()).await;
    let before = bank.events().await;
    let work = Workload::start(bank.address, before, CLIENTS, scaled(OPERATIONS)).await;
    let opening = total(&bank.pool, TOGETHER[0], &work.accounts()).await;
    let (reads, wrong) = audit(&bank.pool, &work, opening).await;
    assert_eq!(work.unavailable(), 0, "I15");
    did(work.done(), "payments and reads");
    let told = work.wait().await;
    println!("{} payments; {wrong} of {reads} sums taken one by one were wrong", told.count());
    assert!(wrong > 0, "nobody would have noticed");
    none(&told.violations(&bank.pool).await);
    bank.caught_up().await;
    bank.close().await;
}
