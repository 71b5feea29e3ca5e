//! `bursar audit ...`: for people who trust the log and nothing else.

use std::io::ErrorKind;
use std::process::ExitCode;

use bursar_commands::audit::{self, Report};
use bursar_commands::journal::StoreError;
use bursar_domain::codec::Codec;
use clap::Subcommand;

use super::{Bar, Outcome};
use crate::config::Config;
use crate::database::Database;

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Rebuild every aggregate and every balance from the log and compare
    Replay,
    /// Print events as JSON lines
    Events {
        /// Start after this position
        #[arg(long, default_value_t = 0, value_name = "POSITION")]
        after: i64,
        /// Stop after so many events
        #[arg(long, value_name = "N")]
        limit: Option<i64>,
    },
}

pub(super) async fn run(config: &Config, command: Command) -> Outcome {
    let database = Database::open_existing(config).await?;
    let outcome = match command {
        Command::Replay => replay(&database).await,
        Command::Events { after, limit } => {
            let mut out = std::io::BufWriter::new(std::io::stdout());
            match audit::write_events(&database.pool, after, limit, &mut out).await {
                // Whoever reads has read enough.
                Err(StoreError::Output(error)) if error.kind() == ErrorKind::BrokenPipe => {
                    Ok(ExitCode::SUCCESS)
                }
                other => Ok(other.map(|()| ExitCode::SUCCESS)?),
            }
        }
    };
    database.close().await;
    outcome
}

async fn replay(database: &Database) -> Outcome {
    let mut bar = Bar::new("replay");
    let mut progress = |done: i64, total: i64| bar.at(done.unsigned_abs(), total.unsigned_abs());
    let report = audit::replay(&database.pool, &Codec::default(), &mut progress).await?;
    let took = bar.finish();
    print(&report);
    match &report.difference {
        None => {
            println!(
                "equal: {} events, {} aggregates, {} ledger accounts, checked in {:.1} s",
                report.events,
                report.aggregates,
                report.accounts,
                took.as_secs_f64()
            );
            Ok(ExitCode::SUCCESS)
        }
        Some(difference) => {
            println!("DIFFERENT at {difference}");
            Ok(ExitCode::FAILURE)
        }
    }
}

/// The trial balance: one line an account of the bank's own, one for all customers, and the sum.
fn print(report: &Report) {
    for (currency, lines) in &report.trial_balance {
        let width = lines.keys().map(String::len).max().unwrap_or(0);
        println!("trial balance, {currency}, minor units");
        for (line, balance) in lines {
            println!("  {line:<width$} {balance:>24}");
        }
        println!("  {:<width$} {:>24}", "total", report.total(*currency));
    }
}
