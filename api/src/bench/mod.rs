//! `bursar bench`: what this machine gives, beside what pgbench gives on the same Postgres in the same minute.
//!
//! Absolute figures drift with the machine; the ratio to pgbench's TPC-B-like script is what to compare.

#![allow(clippy::print_stdout, reason = "a command line prints")]
#![allow(
    clippy::float_arithmetic,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    reason = "rates and times of a benchmark; no money is reckoned here"
)]

mod bank;
mod http;
mod load;
mod pgbench;
mod server;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bursar_commands::audit;
use bursar_domain::codec::Codec;
use bursar_projections::{Log, Projections};
use clap::Args;

use crate::cli::{Bar, Outcome};
use crate::config::Config;
use crate::sources;
use bank::Bank;
use load::{Measured, Shape};
use server::Server;

/// Flags of `bursar bench`.
#[derive(Debug, Args)]
pub struct BenchArgs {
    /// Seconds each measurement takes
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Clients that pay at once, one measurement each
    #[arg(long, value_delimiter = ',', default_value = "16,64,256")]
    clients: Vec<usize>,
}

/// Runs every measurement on a database of its own, which is dropped afterwards.
pub(crate) async fn run(config: Config, args: BenchArgs) -> Outcome {
    let server = Server::start(&config).await?;
    let measured = measure(&config, &server, &args).await;
    server.stop().await?;
    measured?;
    Ok(ExitCode::SUCCESS)
}

type Error = Box<dyn std::error::Error + Send + Sync>;

async fn measure(config: &Config, server: &Server, args: &BenchArgs) -> Result<(), Error> {
    let seconds = Duration::from_secs(args.seconds.max(1));
    println!("{} processors, {}", processors(), server.description().await?);
    let pgbench = pgbench::tpcb(server, seconds).await?;
    match pgbench {
        Some(rate) => println!("pgbench, TPC-B-like, 16 clients, prepared: {rate:.0} transactions/s"),
        None => println!("pgbench is not installed: no ratios"),
    }
    heading();
    let bank = Bank::found(server, config).await?;
    let report = |what: &str, measured: &Measured| line(what, measured, pgbench);
    each(args, |clients, shape| {
        let bank = &bank;
        async move {
            report("journal", &load::journal(bank, clients, shape, seconds, None).await?);
            Ok(())
        }
    })
    .await?;
    let projections = Projections::start(bank.pool.clone(), bank.codec().await?, bank.journal.head());
    bank.caught_up(&projections).await?;
    each(args, |clients, shape| {
        let (bank, projections) = (&bank, &projections);
        async move {
            let measured = load::journal(bank, clients, shape, seconds, Some(projections)).await?;
            report("journal + projections", &measured);
            Ok(())
        }
    })
    .await?;
    projections.stop().await;
    let codec = bank.codec().await?;
    let site = http::Site::open(bank, config).await?;
    each(args, |clients, shape| {
        let site = &site;
        async move {
            report("HTTP", &http::load(site, clients, shape, seconds).await?);
            Ok(())
        }
    })
    .await?;
    site.close().await?;
    reading(server, codec).await
}

/// Every number of clients, uniform and on one hot account.
async fn each<F: Future<Output = Result<(), Error>>>(
    args: &BenchArgs,
    measure: impl Fn(usize, Shape) -> F,
) -> Result<(), Error> {
    for &clients in &args.clients {
        for shape in [Shape::Uniform, Shape::Hot] {
            measure(clients, shape).await?;
        }
    }
    Ok(())
}

/// How fast the log is read back: all read models anew, and the audit.
async fn reading(server: &Server, codec: Arc<Codec>) -> Result<(), Error> {
    let pool = server.pool();
    let names: Vec<&str> = bursar_projections::catalogue().iter().map(|entry| entry.name).collect();
    let started = Instant::now();
    let (sources, _) = sources::system();
    let log = Log { pool: &pool, codec: &codec, clock: &*sources.clock };
    bursar_projections::rebuild(log, &names, &()).await?;
    let rebuilt = started.elapsed();
    let mut bar = Bar::new("replay");
    let mut progress = |done: i64, total: i64| bar.at(done.unsigned_abs(), total.unsigned_abs());
    let report = audit::replay(&pool, &Codec::default(), &mut progress).await?;
    let replayed = bar.finish();
    let rate = |took: Duration| report.events as f64 / took.as_secs_f64();
    println!();
    println!("rebuild of all read models  {:>10} events  {:>9.0} events/s", report.events, rate(rebuilt));
    println!("audit replay                {:>10} events  {:>9.0} events/s", report.events, rate(replayed));
    if let Some(difference) = report.difference {
        return Err(format!("the audit found a difference at {difference}").into());
    }
    pool.close().await;
    Ok(())
}

fn heading() {
    println!();
    println!(
        "{:<22} {:>7} {:>8} {:>12} {:>9} {:>9} {:>9}",
        "transfers", "clients", "accounts", "committed/s", "p50 ms", "p99 ms", "x TPC-B"
    );
}

fn line(what: &str, measured: &Measured, pgbench: Option<f64>) {
    let millis = |quantile| measured.latency.value_at_quantile(quantile) as f64 / 1000.0;
    let ratio = pgbench.map_or_else(|| "-".to_owned(), |rate| format!("{:.2}", measured.rate() / rate));
    println!(
        "{what:<22} {:>7} {:>8} {:>12.0} {:>9.2} {:>9.2} {ratio:>9}",
        measured.clients,
        measured.shape.as_str(),
        measured.rate(),
        millis(0.50),
        millis(0.99),
    );
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
