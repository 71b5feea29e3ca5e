//! Measurements, run by hand:
//! `cargo test --release -p bursar-projections -- --ignored --nocapture --test-threads 1 bench`

use std::time::{Duration, Instant};

use super::{Bank, Scratch};
use crate::{catalogue, rebuild, verify};

const ACCOUNTS: usize = 1_000;

/// CPU time this process has used, milliseconds.
fn cpu() -> u64 {
    cpu_of("self")
}

/// CPU time a process on this machine has used, milliseconds; 0 when it is not on this machine.
fn cpu_of(pid: &str) -> u64 {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return 0 };
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    // utime and stime, in ticks of 10 ms.
    (fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap()) * 10
}

async fn filled(scratch: &Scratch, payments: usize) -> Bank {
    let mut bank = Bank::default();
    for chunk in bank.history(ACCOUNTS, payments).chunks(20_000) {
        scratch.append(chunk).await;
    }
    scratch.execute("VACUUM ANALYZE events").await;
    bank
}

fn report(what: &str, events: i64, began: (Instant, u64)) {
    let (wall, cpu) = (began.0.elapsed(), cpu() - began.1);
    let rate = u128::from(events.unsigned_abs()) * 1_000 / wall.as_millis().max(1);
    let each = cpu * 1_000_000 / events.unsigned_abs();
    println!("{what}: {events} events in {wall:.2?}, {rate}/s, {each} ns of our CPU each");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn bench_rebuild() {
    let Some(scratch) = Scratch::new().await else { return };
    let bank = filled(&scratch, 300_000).await;
    let names: Vec<_> = catalogue().iter().map(|entry| entry.name).collect();
    let began = (Instant::now(), cpu());
    rebuild(scratch.log(), &names, &()).await.unwrap();
    report("rebuild from nothing", bank.position, began);
    let began = (Instant::now(), cpu());
    rebuild(scratch.log(), &names, &()).await.unwrap();
    report("rebuild with comparison", bank.position, began);
    let began = (Instant::now(), cpu());
    verify(scratch.log(), &names, &()).await.unwrap();
    report("verify", bank.position, began);
    scratch.drop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn bench_live() {
    let Some(scratch) = Scratch::new().await else { return };
    let mut bank = filled(&scratch, 100_000).await;
    let projections = scratch.start();
    let began = (Instant::now(), cpu());
    projections.freshness().wait(&[], bank.position, Duration::from_secs(60)).await.unwrap();
    report("live runner catching up in full batches", bank.position, began);

    // 20 batches a second of 800 payments, as the journal would append them.
    let paced: Vec<_> = (0..200).map(|_| bank.payments(ACCOUNTS, 800)).collect();
    let mut slowest = Duration::ZERO;
    let mut tick = tokio::time::interval(Duration::from_millis(50));
    let server = "SELECT pid::text FROM pg_locks WHERE locktype = 'advisory'
                  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    let server: String = scratch.value(server).await;
    let served = cpu_of(&server);
    let began = (Instant::now(), cpu());
    for batch in &paced {
        tick.tick().await;
        scratch.append(batch).await;
        let lag = projections.status().iter().map(|status| status.lag).max().unwrap();
        slowest = slowest.max(Duration::from_millis(lag.unsigned_abs() / 16));
    }
    projections.freshness().wait(&[], bank.position, Duration::from_secs(60)).await.unwrap();
    report("live at 16,000/s, including the appending test", 160_000, began);
    println!("the server's: {} ns each", (cpu_of(&server) - served) * 1_000_000 / 160_000);
    println!("longest lag about {slowest:?}");
    projections.stop().await;
    scratch.drop().await;
}
