//! kill -9 under load. What was acknowledged is in the log exactly once, and everything else agrees with the log.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bursar_api::config::Config;
use bursar_api::database::Database;

use crate::support::client::transfer;
use crate::support::process::{Server, directory};
use crate::support::{Client, check};

/// Acknowledged transaction ids, as clients saw them.
async fn load(
    client: Client,
    source: String,
    destination: String,
    n: usize,
    stop: Arc<AtomicBool>,
) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for i in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let request = client
            .request(reqwest::Method::POST, "/v1/payments/transfer/internal")
            .key(&format!("kill-{n}-{i}"))
            .json(&transfer(&source, &destination, 1));
        // Once the server is gone there is no answer, and so no acknowledgement.
        let Some(answer) = request.try_send().await else { break };
        if answer.status == 201 {
            acknowledged.push(answer.body["transactionId"].as_str().unwrap().to_owned());
        }
    }
    acknowledged
}

async fn account(client: &Client) -> String {
    let accounts = client.get("/v1/accounts?type=CURRENT").await.is(200);
    accounts.body["accounts"][0]["accountNumber"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_kill_nine() {
    let dir = directory("kill");
    let mut acknowledged = HashSet::new();
    let mut attempts = 0;
    for round in 0..4_u64 {
        let server = Server::start(&dir).await;
        let anybody = Client::new(server.address);
        let (ada, bola) = (anybody.login("ada@example.com").await, anybody.login("bola@example.com").await);
        let (source, destination) = (account(&ada).await, account(&bola).await);
        let stop = Arc::new(AtomicBool::new(false));
        let clients: Vec<_> = (0..8)
            .map(|n| {
                let name = attempts + n;
                let job = load(ada.clone(), source.clone(), destination.clone(), name, Arc::clone(&stop));
                tokio::spawn(job)
            })
            .collect();
        attempts += clients.len();
        tokio::time::sleep(Duration::from_millis(300 + 170 * round)).await;
        server.kill();
        stop.store(true, Ordering::Relaxed);
        for client in clients {
            acknowledged.extend(client.await.unwrap());
        }
    }
    let config = Config { data_dir: dir.clone(), ..Config::default() };
    let database = Database::open(&config).await.unwrap();
    let recorded: Vec<String> =
        sqlx::query_scalar("SELECT aggregate_id FROM events WHERE event_type = 'payment.completed'")
            .fetch_all(&database.pool)
            .await
            .unwrap();
    let unique: HashSet<&String> = recorded.iter().collect();
    assert_eq!(unique.len(), recorded.len(), "a payment is in the log once");
    let lost: Vec<_> = acknowledged.iter().filter(|id| !unique.contains(id)).collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    assert!(acknowledged.len() > 50, "too little load to mean anything: {}", acknowledged.len());
    check(&database.pool).await;
    database.close().await;
    std::fs::remove_dir_all(dir).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_hangs_up_has_paid_all_the_same() {
    use tokio::io::AsyncWriteExt;
    let bank = crate::support::Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = bank.events_of("payment.completed").await;
    let body = transfer(&ada.current, &bola.current, 5).to_string();
    for n in 0..20 {
        let request = format!(
            "POST /v1/payments/transfer/internal HTTP/1.1\r\nhost: bank\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\nidempotency-key: hang-{n}\r\ncontent-length: {}\r\n\r\n{body}",
            ada.client.token(),
            body.len(),
        );
        let mut stream = tokio::net::TcpStream::connect(bank.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        // Sent whole, and gone before the answer.
        tokio::time::sleep(Duration::from_micros(200 * n)).await;
        drop(stream);
    }
    // Each is asked for again: it was carried out then, or is now; never twice.
    for n in 0..20 {
        ada.client.pay(&ada.current, &bola.current, 5, &format!("hang-{n}")).await;
    }
    assert_eq!(bank.events_of("payment.completed").await, before + 20);
    bank.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_cut_at_any_moment_lose_and_double_nothing() {
    let bank = crate::support::Bank::open().await;
    let (ada, bola) = (bank.ada().await, bank.bola().await);
    let before = bank.events_of("payment.completed").await;
    let stop = Arc::new(AtomicBool::new(false));
    let payers: Vec<_> = (0..8)
        .map(|n| {
            let (client, stop) = (ada.client.clone(), Arc::clone(&stop));
            let (source, destination) = (ada.current.clone(), bola.current.clone());
            tokio::spawn(async move {
                let mut paid = 0;
                for i in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let key = format!("cut-{n}-{i}");
                    // Asked again until it is answered, as an app does; the key makes sure that it is paid once.
                    while client.pay(&source, &destination, 1, &key).await.status != 201 {}
                    paid += 1;
                }
                paid
            })
        })
        .collect();
    let mut cuts = 0;
    for n in 0..40_u64 {
        tokio::time::sleep(Duration::from_millis(10 + 7 * (n % 5))).await;
        // Every session of the bank but ours, in the middle of whatever it does: also between COMMIT and its answer.
        let cut = sqlx::query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid()
                AND (query LIKE '%head%' OR query = 'COMMIT')",
        );
        cuts += cut.fetch_all(&bank.pool).await.map_or(0, |rows| rows.len());
    }
    stop.store(true, Ordering::Relaxed);
    let mut paid = 0;
    for payer in payers {
        paid += payer.await.unwrap();
    }
    assert!(cuts > 10 && paid > 100, "too little happened to mean anything: {cuts} cuts, {paid} payments");
    assert_eq!(bank.events_of("payment.completed").await, before + paid);
    bank.close().await;
}

/// SIGKILL to a Postgres and all its children, as a power cut would.
fn cut_power(data_dir: &Path) {
    let pid_file = std::fs::read_to_string(data_dir.join("postgres/postmaster.pid")).unwrap();
    let postmaster = pid_file.lines().next().unwrap();
    for (program, arguments) in [("pkill", ["-9", "-P"].as_slice()), ("kill", &["-9"])] {
        let status = std::process::Command::new(program).args(arguments).arg(postmaster).status();
        assert!(status.unwrap().success(), "{program}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_the_death_of_postgres() {
    let dir = directory("power");
    let server = Server::start(&dir).await;
    let anybody = Client::new(server.address);
    let (ada, bola) = (anybody.login("ada@example.com").await, anybody.login("bola@example.com").await);
    let (source, destination) = (account(&ada).await, account(&bola).await);
    let stop = Arc::new(AtomicBool::new(false));
    let payers: Vec<_> = (0..8)
        .map(|n| {
            let (client, stop) = (ada.clone(), Arc::clone(&stop));
            let (source, destination) = (source.clone(), destination.clone());
            tokio::spawn(async move {
                let mut acknowledged = Vec::new();
                for i in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    // As an app does: the same key until there is an answer. A server without a store says 503.
                    let answer = loop {
                        let answer = client.pay(&source, &destination, 1, &format!("power-{n}-{i}")).await;
                        match answer.status {
                            201 => break answer,
                            503 => assert!(!answer.header("retry-after").is_empty()),
                            other => panic!("{other}: {}", answer.text),
                        }
                    };
                    acknowledged.push(answer.body["transactionId"].as_str().unwrap().to_owned());
                }
                acknowledged
            })
        })
        .collect();
    for n in 0..5 {
        tokio::time::sleep(Duration::from_millis(400 + 150 * n)).await;
        cut_power(&dir);
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    stop.store(true, Ordering::Relaxed);
    let mut acknowledged = Vec::new();
    for payer in payers {
        acknowledged.extend(payer.await.unwrap());
    }
    server.kill();
    let config = Config { data_dir: dir.clone(), ..Config::default() };
    let database = Database::open(&config).await.unwrap();
    let sql = "SELECT count(*), count(DISTINCT aggregate_id) FROM events
                WHERE event_type = 'payment.completed' AND metadata->>'actor' LIKE 'usr_%'";
    let recorded: (i64, i64) = sqlx::query_as(sql).fetch_one(&database.pool).await.unwrap();
    // Every payment was asked for until it was acknowledged: neither more nor fewer are in the log.
    let paid = i64::try_from(acknowledged.len()).unwrap();
    assert_eq!(recorded, (paid, paid));
    assert!(paid > 50, "too little load to mean anything: {paid}");
    check(&database.pool).await;
    database.close().await;
    std::fs::remove_dir_all(dir).unwrap();
}
