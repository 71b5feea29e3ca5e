//! T2 and T3: kill -9 under load, of the server and of the whole Postgres. What was acknowledged is in the log exactly
//! once, nothing else is, and everything agrees with the log.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bursar_api::postgres::{EmbeddedPostgres, Options};
use bursar_api::{database, demo, sources};
use bursar_commands::journal::JournalOptions;
use bursar_commands::vault::Vault;
use bursar_commands::{Context, Journal, Unit};
use bursar_domain::kernel::TransactionId;
use bursar_domain::payments::{Pay, PaymentCommand, PaymentKind};
use bursar_domain::{Amount, Currency};
use sqlx::PgPool;
use tokio::task::JoinHandle;

use crate::support::chance::{Chance, did, scaled};
use crate::support::invariants::{Acknowledged, none, red};
use crate::support::payer::{Payer, transaction};
use crate::support::process::{Server, directory};
use crate::support::{Bank, Client, build, check, config, master_key, pool};

const PAYERS: usize = 8;

/// Apps that pay one kobo after another, each asking with the same key until there is an answer.
struct Payers {
    address: Arc<Mutex<SocketAddr>>,
    stop: Arc<AtomicBool>,
    told: Arc<Mutex<Acknowledged>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Payers {
    /// Of Ada's at a demo bank.
    async fn start(server: &Server, before: i64) -> Self {
        let anybody = Client::new(server.address);
        let (ada, bola) = (anybody.login("ada@example.com").await, anybody.login("bola@example.com").await);
        let (source, destination) = (account(&ada).await, account(&bola).await);
        let (address, stop) = (Arc::new(Mutex::new(server.address)), Arc::new(AtomicBool::new(false)));
        let told = Arc::new(Mutex::new(Acknowledged::since(before)));
        let tasks = (0..PAYERS).map(|n| {
            let (ada, source, destination) = (ada.clone(), source.clone(), destination.clone());
            let (address, stop, told) = (Arc::clone(&address), Arc::clone(&stop), Arc::clone(&told));
            tokio::spawn(async move {
                for i in 0.. {
                    if stop.load(Ordering::SeqCst) {
                        break;
                    }
                    let key = format!("kill-{n}-{i}");
                    loop {
                        let client = ada.at(*address.lock().unwrap());
                        match client.try_pay(&source, &destination, 1, &key).await {
                            Some(answer) if answer.status == 201 => {
                                let id = answer.text_at("transactionId");
                                break told.lock().unwrap().note(&key, id, &answer.text);
                            }
                            // A server without a store says so.
                            Some(answer) => assert!(!answer.is(503).header("retry-after").is_empty()),
                            // A server that is not there says nothing.
                            None => tokio::time::sleep(Duration::from_millis(5)).await,
                        }
                    }
                }
            })
        });
        let tasks = tasks.collect();
        Self { address, stop, told, tasks }
    }

    /// Where the server is now.
    fn moved_to(&self, server: &Server) {
        *self.address.lock().unwrap() = server.address;
    }

    /// Returns when they are being paid: each once more.
    async fn at_work(&self) {
        let told = self.told.lock().unwrap().count();
        self.answered(told + PAYERS).await;
    }

    /// Returns when that many requests were answered, which takes as long as the machine needs.
    async fn answered(&self, enough: usize) {
        let patience = Instant::now() + Duration::from_secs(60);
        while self.told.lock().unwrap().count() < enough {
            assert!(Instant::now() < patience, "the bank does not come back");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    fn told_so_far(&self) -> Acknowledged {
        self.told.lock().unwrap().clone()
    }

    /// Everybody gets an answer to their last request, and stops.
    async fn finish(self) -> Acknowledged {
        self.stop.store(true, Ordering::SeqCst);
        for task in self.tasks {
            task.await.unwrap();
        }
        Arc::into_inner(self.told).unwrap().into_inner().unwrap()
    }
}

async fn account(client: &Client) -> String {
    let accounts = client.get("/v1/accounts?type=CURRENT").await.is(200);
    accounts.list_at("accounts")[0]["accountNumber"].as_str().unwrap().to_owned()
}

/// The way to the Postgres that a server runs on `dir`.
async fn straight(dir: &Path) -> PgPool {
    let dir = dir.to_owned();
    let url = tokio::task::spawn_blocking(move || EmbeddedPostgres::attach(&dir, "bursar")).await.unwrap();
    pool(&url.expect("no Postgres runs"))
}

async fn head(pool: &PgPool) -> i64 {
    sqlx::query_scalar("SELECT position FROM head").fetch_one(pool).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_the_death_of_the_server() {
    let mut chance = Chance::new();
    let dir = directory("kill");
    let mut server = Server::start(&dir).await;
    let database = straight(&dir).await;
    let payers = Payers::start(&server, head(&database).await).await;
    database.close().await;
    for round in 0..scaled(20) {
        tokio::time::sleep(chance.millis(100, 1_000)).await;
        server.kill();
        let told = payers.told_so_far();
        server = Server::start(&dir).await;
        let database = straight(&dir).await;
        none(&told.violations_so_far(&database).await);
        // The whole log is read for it: the longer it is, the less often.
        if (round + 1).is_power_of_two() {
            check(&database).await;
        }
        database.close().await;
        payers.moved_to(&server);
    }
    // Fewer would mean little.
    payers.answered(500).await;
    did(scaled(20), "kills of the server");
    let told = payers.finish().await;
    println!("{} payments", told.count());
    let database = straight(&dir).await;
    none(&told.violations(&database).await);
    check(&database).await;
    database.close().await;
    assert_eq!(server.stop().await, 0);
    std::fs::remove_dir_all(dir).unwrap();
}

/// Control: a server that acknowledges what it has put into its queue, and is killed before it is written.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_acknowledges_before_it_commits_is_found_out() {
    let bank = Bank::open().await;
    let (ada, bola) = (bank.ada().await.current, bank.bola().await.current);
    let mut told = Acknowledged::since(bank.events().await);
    // Somebody else holds the head for a moment, so that nothing can be written before the end.
    let mut lock = bank.pool.begin().await.unwrap();
    sqlx::query("SELECT FROM head FOR UPDATE").execute(&mut *lock).await.unwrap();
    let url = bank.url().to_owned();
    let dying = tokio::task::spawn_blocking(move || {
        let server = tokio::runtime::Runtime::new().unwrap();
        let acknowledged = server.block_on(async {
            let (sources, _) = sources::system();
            let (vault, options) =
                (Vault::new(&master_key(), Arc::clone(&sources.entropy)), JournalOptions::default());
            let journal = Journal::open(pool(&url), sources.clone(), Arc::new(vault), options).await.unwrap();
            let queued = (0..10).map(|_| {
                let id = TransactionId::mint(&sources);
                let unit = Unit::new(Context::default()).create(id, pay(&ada, &bola));
                let journal = journal.clone();
                tokio::spawn(async move { journal.submit(unit).await.is_ok() });
                id.to_string()
            });
            let queued: Vec<String> = queued.collect();
            tokio::time::sleep(Duration::from_millis(50)).await;
            queued
        });
        server.shutdown_background();
        acknowledged
    });
    for id in dying.await.unwrap() {
        told.note(&id, &id, "");
    }
    lock.rollback().await.unwrap();
    red(&told.violations(&bank.pool).await, "I5: txn_");
    bank.close().await;
}

fn pay(source: &str, destination: &str) -> PaymentCommand {
    let (amount, reference) = (Amount::try_from(1).unwrap(), "EAGER".to_owned());
    let (source, destination) = (source.into(), destination.into());
    let pay = Pay::between(PaymentKind::Internal, source, destination, amount, Currency::NGN, reference);
    PaymentCommand::Pay(Box::new(pay))
}

/// SIGKILL to a Postgres and all its children, as a power cut would; to the next one when it has just died.
pub async fn cut_power(data_dir: &Path) {
    let killed = |program: &str, arguments: &[&str]| {
        std::process::Command::new(program).args(arguments).status().unwrap().success()
    };
    for _ in 0..200 {
        let pid_file = std::fs::read_to_string(data_dir.join("postgres/postmaster.pid")).unwrap_or_default();
        if let Some(postmaster) = pid_file.lines().next() {
            // It may have no children yet.
            killed("pkill", &["-9", "-P", postmaster]);
            if killed("kill", &["-9", postmaster]) {
                return;
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("no Postgres to kill");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_the_death_of_postgres() {
    let mut chance = Chance::new();
    let dir = directory("power");
    let server = Server::start(&dir).await;
    let database = straight(&dir).await;
    let payers = Payers::start(&server, head(&database).await).await;
    database.close().await;
    for _ in 0..scaled(5) {
        payers.at_work().await;
        tokio::time::sleep(chance.millis(100, 1_000)).await;
        cut_power(&dir).await;
    }
    payers.answered(50).await;
    did(scaled(5), "kills of Postgres");
    payers.at_work().await;
    let told = payers.finish().await;
    println!("{} payments", told.count());
    let database = straight(&dir).await;
    none(&told.violations(&database).await);
    check(&database).await;
    database.close().await;
    assert_eq!(server.stop().await, 0);
    std::fs::remove_dir_all(dir).unwrap();
}

/// What clients were told before the power went, held against what is there when it is back.
async fn over_a_power_cut(name: &str, synchronous_commit: &str) -> Vec<String> {
    let dir = directory(name);
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    // Nobody writes to the disk by chance, and nobody brings the server back before we look.
    let settings =
        vec![setting("synchronous_commit", synchronous_commit), setting("wal_writer_delay", "10s")];
    let options = Options { restart_on_crash: false, durable: false, settings, ..Options::new(&dir) };
    let start = async || {
        let options = options.clone();
        tokio::task::spawn_blocking(|| EmbeddedPostgres::start(options)).await.unwrap().unwrap()
    };
    let postgres = start().await;
    database::migrate(&postgres.url("bursar").parse().unwrap()).await.unwrap();
    let (app, clock) = build(pool(&postgres.url("bursar")), config()).await;
    demo::people(&app, &clock).await.unwrap();
    let (ada, bola) = (Payer::at(&app, "ada@example.com").await, Payer::at(&app, "bola@example.com").await);
    sqlx::query("CHECKPOINT").execute(&app.pool).await.unwrap();
    let mut told = Acknowledged::since(head(&app.pool).await);
    for n in 0..20 {
        told.note(format!("power-{n}"), transaction(&ada.pay(&bola, 1, None).await.unwrap()), "");
    }
    postgres.kill_everything();
    app.close().await;
    drop(postgres);
    let postgres = start().await;
    let straight = pool(&postgres.url("bursar"));
    let found = told.violations(&straight).await;
    check(&straight).await;
    straight.close().await;
    tokio::task::spawn_blocking(|| postgres.stop()).await.unwrap();
    std::fs::remove_dir_all(dir).unwrap();
    found
}

/// Control, and the reason why `bursar serve` refuses such a server.
#[tokio::test(flavor = "multi_thread")]
async fn a_postgres_that_does_not_wait_for_its_disk_is_found_out() {
    none(&over_a_power_cut("durable", "on").await);
    let (mut kills, mut found) = (0, Vec::new());
    // Its writer may have come by just before, every ten seconds.
    while kills < scaled(1) || (found.is_empty() && kills < 5) {
        found.extend(over_a_power_cut("forgetful", "off").await);
        kills += 1;
    }
    did(kills, "power cuts of a Postgres that forgets");
    red(&found, "I5: txn_");
}
